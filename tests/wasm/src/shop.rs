//! The server that the rows call.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use mcp_wasm::proto::schema::Level;
use mcp_wasm::proto::{Capability, ErrorObject, NeededInput, Progress, Raw};
use mcp_wasm::{AsyncCx, Cx, HandlerError, Server};

/// Parses JSON of this file.
#[must_use]
pub fn json(text: &str) -> Raw {
    Raw::from_text(text).unwrap_or_else(|_| Raw::empty_object())
}

/// Returns a member that is a string.
#[must_use]
pub fn text(of: &Raw, name: &str) -> Option<String> {
    of.member(name)?.to_text().map(|text| text.into_owned())
}

/// Counts the handlers that were dropped before they ended, by the key of their call.
type Dropped = Rc<RefCell<BTreeMap<String, u32>>>;

/// Counts when it is dropped.
struct Guard(String, Dropped);

impl Drop for Guard {
    fn drop(&mut self) {
        *self.1.borrow_mut().entry(self.0.clone()).or_default() += 1;
    }
}

/// Returns the server: its handlers share state that is not `Send`.
pub fn shop() -> Server {
    let dropped = Dropped::default();
    let waits = Rc::clone(&dropped);
    let object = || json(r#"{"type":"object"}"#);
    Server::new("shop", "1.0.0")
        .logging()
        .capability(Capability::Resources)
        .capability(Capability::Prompts)
        .tool_raw("echo", "Returns its text", object(), |it, _cx| {
            text(&it, "text").ok_or_else(|| HandlerError::failed("`text` is missing"))
        })
        .tool_raw_async("echo_late", "Returns its text late", object(), |it, cx| async move {
            cx.sleep(Duration::from_millis(millis(&it))).await;
            Ok(text(&it, "text").unwrap_or_default())
        })
        .tool_raw("fail", "Fails", object(), |_it, _cx| -> Result<(), _> {
            Err(HandlerError::failed("it failed"))
        })
        .tool_raw("refuse", "Refuses", object(), |_it, _cx| -> Result<(), _> {
            Err(HandlerError::refused(ErrorObject::invalid_params("refused on request")))
        })
        .tool_raw_async("steps", "Reports three steps", object(), |_it, cx| async move {
            for step in 1..=3 {
                cx.progress(Progress::new(step.into()).with_total(3.0))?;
                cx.sleep(Duration::from_millis(1)).await;
            }
            Ok("done")
        })
        .tool_raw_async("wait", "Never ends", object(), move |it, _cx| {
            let guard = Guard(text(&it, "key").unwrap_or_default(), Rc::clone(&waits));
            async move {
                pending::<()>().await;
                drop(guard);
                Ok(())
            }
        })
        .tool_raw("dropped", "Counts the dropped calls of a key", object(), move |it, _cx| {
            let key = text(&it, "key").unwrap_or_default();
            Ok(dropped.borrow().get(&key).copied().unwrap_or(0))
        })
        .tool_raw("ask", "Asks for a name", object(), ask)
        .tool_raw("ask_twice", "Asks for a name, then for a colour", object(), |it, cx| {
            let name = ask(it, cx.clone())?;
            let colour = cx.ask_any::<Raw>("colour", question("Which colour?"))?;
            Ok(format!("{name}, {}", answer_of(&colour)))
        })
        .tool_raw("ask_same", "Asks with one key twice", object(), |_it, cx| {
            cx.ask_all([("key", question("One?")), ("key", question("Two?"))])
        })
        .tool_raw("again", "Has the client come again", object(), |_it, cx| {
            if cx.state()? == Some(7) {
                return Ok("welcome back");
            }
            cx.set_state(&7)?;
            Err(cx.repeat())
        })
        .tool_raw("who", "Describes the caller", object(), |_it, cx| {
            let trace = cx.context().meta.as_ref().and_then(|meta| text(meta, "x/trace"));
            let peer = cx.peer();
            Ok(format!("{} {} {}", peer.info.name, peer.revision, trace.unwrap_or_default()))
        })
        .tool_raw_async("log", "Logs two messages", object(), |_it, cx: AsyncCx| async move {
            cx.log(Level::Debug, "too quiet").await?;
            cx.log(Level::Warning, "loud").await?;
            Ok(())
        })
        .method_raw("resources/list", |it, _cx| Ok(page(&it)))
        .method_raw("resources/read", |it, _cx| match text(&it, "uri").as_deref() {
            Some("note:a") => Ok(json(
                r#"{"contents":[{"uri":"note:a","text":"hello"}],"ttlMs":0,"cacheScope":"private"}"#,
            )),
            _ => Err(HandlerError::refused(ErrorObject::invalid_params("no such note"))),
        })
        .method_raw("prompts/list", |_it, _cx| {
            // A list without an end.
            Ok(json(r#"{"prompts":[],"nextCursor":"x","ttlMs":0,"cacheScope":"private"}"#))
        })
}

fn millis(it: &Raw) -> u64 {
    it.member("ms").and_then(|ms| ms.as_str().parse().ok()).unwrap_or(0)
}

/// One of three pages with one resource each.
fn page(params: &Raw) -> Raw {
    let (name, next) = match text(params, "cursor").as_deref() {
        None => ("a", r#","nextCursor":"1""#),
        Some("1") => ("b", r#","nextCursor":"2""#),
        Some(_) => ("c", ""),
    };
    json(&format!(
        r#"{{"resources":[{{"uri":"note:{name}","name":"{name}"}}],"ttlMs":0,"cacheScope":"private"{next}}}"#
    ))
}

fn question(message: &str) -> NeededInput {
    NeededInput::raw(
        "elicitation/create",
        json(&format!(
            r#"{{"mode":"form","message":"{message}","requestedSchema":{{"type":"object","properties":{{"value":{{"type":"string"}}}}}}}}"#
        )),
    )
}

fn answer_of(result: &Raw) -> String {
    result.member("content").and_then(|content| text(&content, "value")).unwrap_or_default()
}

fn ask(_it: Raw, cx: Cx) -> Result<String, HandlerError> {
    let name = cx.ask_any::<Raw>("name", question("Who are you?"))?;
    Ok(format!("hello {}", answer_of(&name)))
}
