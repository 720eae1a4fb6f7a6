//! Hooks around the calls of a client.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::layers::Outcome;
use mcp_adapter::proto::schema::ListTools;
use mcp_adapter::proto::{CallError, Misuse};
use mcp_adapter::{CallEnd, Client, Cx, Error, OutgoingCall, Tool};
use mcp_adapter_tests::{
    Runtime, call_by_hand, client, connect_by_hand, eventually, full_server, pair, raw, rows,
    server, success, tool,
};
use serde_json::{Value, json};

rows! {
    hooks_learn_how_calls_end,
    hooks_add_to_the_metadata_of_calls,
    a_hook_refuses_a_call,
    a_cancelled_call_and_one_that_is_not_sent_have_ends,
    a_panic_of_a_hook_does_not_keep_the_result,
}

type Notes = Arc<Mutex<Vec<String>>>;

fn take(notes: &Notes) -> Vec<String> {
    std::mem::take(&mut *notes.lock().unwrap())
}

/// Adds a hook that notes the beginning and the end of each call.
fn noting(client: Client, name: &'static str, notes: &Notes) -> Client {
    let notes = Arc::clone(notes);
    client.on_call(move |call: &mut OutgoingCall<'_>| {
        let what = call.name().map(String::from).unwrap_or_default();
        notes.lock().unwrap().push(format!("{name} {} {what}", call.method()));
        let notes = Arc::clone(&notes);
        Ok(move |end: &CallEnd<'_>| {
            let has_result = matches!(end.outcome(), Outcome::Success | Outcome::ToolError);
            assert_eq!(end.result().is_some(), has_result, "{end:?}");
            assert!(end.duration() < Duration::from_secs(600));
            notes.lock().unwrap().push(format!("{name} {}", end.outcome().as_str()));
        })
    })
}

async fn hooks_learn_how_calls_end<R: Runtime>() {
    let notes = Notes::default();
    let client = noting(noting(client(), "first", &notes), "second", &notes);
    let (connection, _serving) = pair::<R>(client, full_server()).await;
    for (name, outcome) in
        [("echo", "success"), ("fail", "tool_error"), ("refuse", "error"), ("who", "success")]
    {
        let _outcome = connection.call_tool(name, &json!({})).await;
        let expected = [
            format!("first tools/call {name}"),
            format!("second tools/call {name}"),
            format!("second {outcome}"),
            format!("first {outcome}"),
        ];
        assert_eq!(take(&notes), expected);
    }
    connection.call(ListTools::new()).await.unwrap();
    assert_eq!(take(&notes)[..2], ["first tools/list ", "second tools/list "]);
}

async fn hooks_add_to_the_metadata_of_calls<R: Runtime>() {
    let server = server().add(Tool::define(tool("meta"), |cx: Cx| {
        cx.context().meta.as_ref().map(ToString::to_string).unwrap_or_default()
    }));
    let client = client().on_call(|call| {
        call.set_meta("traceparent", "replaced")?;
        call.set_meta("traceparent", "00-1-2-01")?;
        call.set_meta("progressToken", "ours")?;
        Ok(|_: &CallEnd<'_>| {})
    });
    let (connection, _serving) = pair::<R>(client, server).await;
    let params = raw(&json!({"name": "meta", "_meta": {"traceparent": "old", "own": [1.50, "é"]}}));
    let seen = async |params| {
        let result = connection.call_raw("tools/call", params).await.unwrap();
        let text = result.member("content").unwrap().elements().next().unwrap();
        let text = text.member("text").unwrap().to_text().unwrap().into_owned();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let meta = seen(params).await;
    assert_eq!((&meta["traceparent"], &meta["own"]), (&json!("00-1-2-01"), &json!([1.50, "é"])));
    let meta = seen(raw(&json!({"name": "meta"}))).await;
    assert_eq!(meta["traceparent"], "00-1-2-01");
    let result = success(connection.call_tool("meta", &json!({})).progress(|_| {}).await);
    assert!(result.contains("00-1-2-01"), "{result}");
}

async fn a_hook_refuses_a_call<R: Runtime>() {
    let notes = Notes::default();
    let client = noting(client(), "first", &notes).on_call(|call| {
        if call.name().as_deref() == Some("echo") {
            return Err("not today".into());
        }
        Ok(|_: &CallEnd<'_>| {})
    });
    let (connection, _serving) = pair::<R>(client, full_server()).await;
    let error = connection.call_tool("echo", &json!({})).await.unwrap_err();
    assert!(matches!(&error, Error::Hook(why) if why.to_string() == "not today"), "{error:?}");
    assert_eq!(error.to_string(), "a hook refused the call: not today");
    assert_eq!(take(&notes), ["first tools/call echo", "first cancelled"]);
    let echo = connection.call_tool("echo_plain", &json!({"text": "a"}));
    assert_eq!(success(echo.await), "a");
}

async fn a_cancelled_call_and_one_that_is_not_sent_have_ends<R: Runtime>() {
    let notes = Notes::default();
    let ends: Arc<Mutex<Vec<String>>> = Arc::default();
    let errors = Arc::clone(&ends);
    let client = noting(client(), "hook", &notes).on_call(move |_| {
        let errors = Arc::clone(&errors);
        Ok(move |end: &CallEnd<'_>| {
            let error = end.error().map(ToString::to_string);
            errors.lock().unwrap().push(error.unwrap_or_default());
        })
    });
    let (connection, hand) = connect_by_hand::<R>(client).await;
    let call = connection.call_tool("any", &json!({})).start().await.unwrap();
    call.cancel("a test cancels");
    // Another thread may be dispatching events.
    eventually("the call has ended", || notes.lock().unwrap().len() == 2).await;
    assert_eq!(take(&notes), ["hook tools/call any", "hook cancelled"]);
    drop(call_by_hand(hand, |_| {}).await);
    eventually("the connection has ended", || connection.close_reason().is_some()).await;
    let unsent = connection.call_tool("any", &json!({})).await;
    assert!(matches!(unsent, Err(Error::Misuse(Misuse::Closed))), "{unsent:?}");
    assert_eq!(take(&notes), ["hook tools/call any", "hook error"]);
    let expected = [CallError::Cancelled.to_string(), Misuse::Closed.to_string()];
    assert_eq!(*ends.lock().unwrap(), expected);
}

async fn a_panic_of_a_hook_does_not_keep_the_result<R: Runtime>() {
    let client = client().on_call(|_| Ok(|_: &CallEnd<'_>| panic!("a panic of a hook")));
    let (connection, _serving) = pair::<R>(client, full_server()).await;
    for _ in 0..2 {
        let echo = connection.call_tool("echo", &json!({"text": "a"}));
        assert_eq!(success(echo.await), "a");
    }
}
