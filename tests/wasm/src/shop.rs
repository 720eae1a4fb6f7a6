//! The server that the rows call.

use std::collections::BTreeMap;
use std::future::pending;
use std::time::Duration;

use mcp_wasm::kind::ToolCall;
use mcp_wasm::proto::schema::{Level, Resource};
use mcp_wasm::proto::{ErrorObject, NeededInput, Progress, Raw};
use mcp_wasm::{Cx, Handler, HandlerError, Page, Server, Tool, Unregistered};

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
///
/// In a module, handlers may share what is not `Send`.
#[cfg(target_family = "wasm")]
#[derive(Clone, Default)]
struct Dropped(std::rc::Rc<std::cell::RefCell<BTreeMap<String, u32>>>);

#[cfg(not(target_family = "wasm"))]
#[derive(Clone, Default)]
struct Dropped(std::sync::Arc<std::sync::Mutex<BTreeMap<String, u32>>>);

impl Dropped {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, u32>) -> T) -> T {
        #[cfg(target_family = "wasm")]
        return act(&mut self.0.borrow_mut());
        #[cfg(not(target_family = "wasm"))]
        return act(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }
}

/// Counts when it is dropped.
struct Guard(String, Dropped);

impl Drop for Guard {
    fn drop(&mut self) {
        self.1.with(|counts| *counts.entry(self.0.clone()).or_default() += 1);
    }
}

/// Returns a tool that takes any object.
fn tool<M>(name: &str, description: &str, handler: impl Handler<ToolCall, M>) -> Tool {
    let schema = json(r#"{"type":"object"}"#);
    Tool::new(name, handler).description(description).input_schema(schema)
}

/// Returns the server of the rows.
pub fn shop() -> Server {
    let dropped = Dropped::default();
    let waits = dropped.clone();
    let waiting = move |it: Raw| {
        let guard = Guard(text(&it, "key").unwrap_or_default(), waits.clone());
        async move {
            pending::<()>().await;
            drop(guard);
        }
    };
    let count = move |it: Raw| {
        let key = text(&it, "key").unwrap_or_default();
        dropped.with(|counts| counts.get(&key).copied().unwrap_or(0))
    };
    Server::new("shop", "1.0.0")
        .logging()
        .add(tool("echo", "Returns its text", echo))
        .add(tool("echo_late", "Returns its text late", echo_late))
        .add(tool("fail", "Fails", || Err::<(), _>(HandlerError::failed("it failed"))))
        .add(tool("refuse", "Refuses", || Err::<(), _>(refusal("refused on request"))))
        .add(tool("steps", "Reports three steps", steps))
        .add(tool("wait", "Never ends", waiting))
        .add(tool("dropped", "Counts the dropped calls of a key", count))
        .add(tool("ask", "Asks for a name", ask))
        .add(tool("ask_twice", "Asks for a name, then for a colour", |cx: Cx| {
            let name = ask(cx.clone())?;
            let colour = cx.ask_any::<Raw>("colour", question("Which colour?"))?;
            Ok::<_, HandlerError>(format!("{name}, {}", answer_of(&colour)))
        }))
        .add(tool("ask_same", "Asks with one key twice", |cx: Cx| {
            cx.ask_all([("key", question("One?")), ("key", question("Two?"))])
        }))
        .add(tool("again", "Has the client come again", again))
        .add(tool("who", "Describes the caller", |cx: Cx| {
            let trace = cx.context().meta.as_ref().and_then(|meta| text(meta, "x/trace"));
            let peer = cx.peer();
            format!("{} {} {}", peer.info.name, peer.revision, trace.unwrap_or_default())
        }))
        .add(tool("log", "Logs two messages", log))
        .resource("note:a", "a", || "hello")
        .add(Unregistered::new().list_resources(page).list_prompts(|| {
            // A list without an end.
            Page::new(Vec::new()).next("x")
        }))
}

fn refusal(why: &str) -> HandlerError {
    HandlerError::refused(ErrorObject::invalid_params(why))
}

fn echo(it: Raw) -> Result<String, HandlerError> {
    text(&it, "text").ok_or_else(|| HandlerError::failed("`text` is missing"))
}

async fn echo_late(it: Raw, cx: Cx) -> String {
    cx.sleep(Duration::from_millis(millis(&it))).await;
    text(&it, "text").unwrap_or_default()
}

async fn steps(cx: Cx) -> Result<&'static str, HandlerError> {
    for step in 1..=3 {
        cx.progress(Progress::new(step.into()).with_total(3.0))?;
        cx.sleep(Duration::from_millis(1)).await;
    }
    Ok("done")
}

fn again(cx: Cx) -> Result<&'static str, HandlerError> {
    if cx.state()? == Some(7) {
        return Ok("welcome back");
    }
    cx.set_state(&7)?;
    Err(cx.repeat())
}

async fn log(cx: Cx) -> Result<(), HandlerError> {
    cx.log(Level::Debug, "too quiet").await?;
    cx.log(Level::Warning, "loud").await?;
    Ok(())
}

fn millis(it: &Raw) -> u64 {
    it.member("ms").and_then(|ms| ms.as_str().parse().ok()).unwrap_or(0)
}

/// One of three pages with one resource each, beside the registered one.
fn page(cursor: Option<String>) -> Page<Resource> {
    let (name, next) = match cursor.as_deref() {
        None => ("b", Some("1")),
        Some("1") => ("c", Some("2")),
        Some(_) => ("d", None),
    };
    let page = Page::new(vec![Resource::new(format!("note:{name}"), name)]);
    match next {
        Some(next) => page.next(next),
        None => page,
    }
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

fn ask(cx: Cx) -> Result<String, HandlerError> {
    let name = cx.ask_any::<Raw>("name", question("Who are you?"))?;
    Ok(format!("hello {}", answer_of(&name)))
}
