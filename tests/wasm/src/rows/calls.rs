//! Calls, their results, errors and progress.

use std::cell::RefCell;
use std::rc::Rc;

use mcp_wasm::Error;
use mcp_wasm::proto::{Raw, code};

use super::{content, equal, refusal, success};
use crate::shop::{json, text};
use crate::world::{Outcome, World};

pub(super) async fn tools_are_listed(world: World) -> Outcome {
    let connection = world.open().await?;
    let tools = connection.list_raw("tools/list", "tools").await.map_err(|e| e.to_string())?;
    let names: Vec<_> = tools.iter().filter_map(|tool| text(tool, "name")).collect();
    equal(names.len(), 13)?;
    equal(names[..2].join(" "), "echo echo_late".into())?;
    connection.close().await;
    Ok(())
}

pub(super) async fn every_list_is_fetched_over_all_pages(world: World) -> Outcome {
    let connection = world.open().await?;
    let list = connection.list_raw("resources/list", "resources").await;
    let list = list.map_err(|error| error.to_string())?;
    let names: Vec<_> = list.iter().filter_map(|resource| text(resource, "name")).collect();
    equal(names.join(""), "abc".into())?;
    connection.close().await;
    Ok(())
}

pub(super) async fn every_list_is_bounded(world: World) -> Outcome {
    let connection = world.open().await?;
    let endless = connection.list_raw("prompts/list", "prompts").await;
    if !matches!(endless, Err(Error::List(_))) {
        return Err(format!("the list is bounded: {endless:?}"));
    }
    connection.close().await;
    Ok(())
}

pub(super) async fn calls_succeed_fail_and_are_refused(world: World) -> Outcome {
    let connection = world.open().await?;
    let hello = || json(r#"{"text":"hello \u0001 \"ümlaut\""}"#);
    let echo = connection.call_tool_raw("echo", hello()).await;
    equal(success(echo)?, "hello \u{1} \"ümlaut\"".into())?;
    let failed = connection.call_tool_raw("fail", hello()).await.map_err(|e| e.to_string())?;
    equal(content(&failed), ("it failed".into(), true))?;
    equal(refusal(connection.call_tool_raw("refuse", hello()).await)?, code::INVALID_PARAMS)?;
    equal(refusal(connection.call_tool_raw("missing", hello()).await)?, code::INVALID_PARAMS)?;
    let unknown = connection.call_raw("no/such/method", Raw::empty_object()).await;
    equal(refusal(unknown)?, code::METHOD_NOT_FOUND)?;
    connection.close().await;
    Ok(())
}

pub(super) async fn progress_comes_in_order_and_before_the_result(world: World) -> Outcome {
    let connection = world.open().await?;
    let mut seen = Vec::new();
    let call = connection.call_tool_raw("steps", Raw::empty_object());
    let result = call.progress(|progress| seen.push((progress.progress, progress.total))).await;
    equal(success(result)?, "done".into())?;
    equal(seen, vec![(1.0, Some(3.0)), (2.0, Some(3.0)), (3.0, Some(3.0))])?;
    connection.close().await;
    Ok(())
}

pub(super) async fn progress_is_a_stream_that_ends_with_the_call(world: World) -> Outcome {
    let connection = world.open().await?;
    let call = connection.call_tool_raw("steps", Raw::empty_object()).progress(|_| {});
    let mut pending = call.start().await.map_err(|error| error.to_string())?;
    let mut steps = 0;
    while pending.next_progress().await.is_some() {
        steps += 1;
    }
    equal(steps, 3)?;
    equal(success(pending.await)?, "done".into())?;
    connection.close().await;
    Ok(())
}

pub(super) async fn responses_may_arrive_in_any_order(world: World) -> Outcome {
    let connection = world.open().await?;
    let late = json(r#"{"text":"late","ms":300}"#);
    let late = connection.call_tool_raw("echo_late", late).start().await;
    let late = late.map_err(|error| error.to_string())?;
    let soon = connection.call_tool_raw("echo", json(r#"{"text":"soon"}"#)).await;
    // A result that were held back until the earlier one would come after both.
    equal(success(soon)?, "soon".into())?;
    let ended = world.platform.now();
    equal(success(late.await)?, "late".into())?;
    let apart = world.platform.now().duration_since(ended).as_millis();
    equal(apart >= 100, true).map_err(|_| format!("{apart} ms apart"))?;
    connection.close().await;
    Ok(())
}

pub(super) async fn a_clone_shares_its_connection(world: World) -> Outcome {
    let connection = world.open().await?;
    let clone = connection.clone();
    connection.close().await;
    equal(clone.is_closed(), true)?;
    let refused = clone.call_raw("tools/list", Raw::empty_object()).await;
    equal(matches!(refused, Err(Error::Misuse(_))), true)
}

pub(super) async fn a_pending_call_outlives_the_task_that_made_it(world: World) -> Outcome {
    let connection = world.open().await?;
    let pending = {
        let clone = connection.clone();
        let call = clone.call_tool_raw("echo_late", json(r#"{"text":"here","ms":20}"#));
        call.start().await.map_err(|error| error.to_string())?
    };
    equal(success(pending.await)?, "here".into())?;
    connection.close().await;
    Ok(())
}

pub(super) async fn a_handler_that_is_a_future_sleeps(world: World) -> Outcome {
    let connection = world.open().await?;
    let began = world.platform.now();
    let slept = connection.call_tool_raw("echo_late", json(r#"{"text":"x","ms":50}"#)).await;
    equal(success(slept)?, "x".into())?;
    let waited = world.platform.now().duration_since(began).as_millis();
    equal(waited >= 49, true).map_err(|_| format!("slept for {waited} ms"))?;
    connection.close().await;
    Ok(())
}

pub(super) async fn resources_are_read(world: World) -> Outcome {
    let connection = world.open().await?;
    let read = connection.call_raw("resources/read", json(r#"{"uri":"note:a"}"#)).await;
    let read = read.map_err(|error| error.to_string())?;
    let first = read.member("contents").and_then(|contents| contents.elements().next());
    equal(first.and_then(|it| text(&it, "text")).as_deref(), Some("hello"))?;
    let missing = connection.call_raw("resources/read", json(r#"{"uri":"note:z"}"#)).await;
    equal(refusal(missing)?, code::INVALID_PARAMS)?;
    connection.close().await;
    Ok(())
}

pub(super) async fn the_metadata_of_a_request_is_available(world: World) -> Outcome {
    let connection = world.open().await?;
    let call = json(r#"{"name":"who","arguments":{},"_meta":{"x/trace":"t1"}}"#);
    let who = success(connection.call_raw("tools/call", call).await)?;
    equal(who, format!("rows {} t1", world.revision))?;
    connection.close().await;
    Ok(())
}

pub(super) async fn log_messages_have_a_callback_of_their_own(world: World) -> Outcome {
    let logged = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&logged);
    let client = world.client().on_notification(move |method, params| {
        if method == "notifications/message" {
            seen.borrow_mut().extend(params.and_then(|params| text(params, "data")));
        }
    });
    let connection = world.connect(client).await.map_err(|error| error.to_string())?;
    // A modern client names the level in each request, a legacy one for its session.
    let level = r#""_meta":{"io.modelcontextprotocol/logLevel":"warning"}"#;
    let is_modern = world.revision.era() == mcp_wasm::proto::Era::Modern;
    if !is_modern {
        let set = connection.call_raw("logging/setLevel", json(r#"{"level":"warning"}"#)).await;
        set.map_err(|error| error.to_string())?;
    }
    let meta = if is_modern { format!(",{level}") } else { String::new() };
    let call = json(&format!(r#"{{"name":"log","arguments":{{}}{meta}}}"#));
    success(connection.call_raw("tools/call", call).await)?;
    equal(logged.take().join(" "), "loud".into())?;
    connection.close().await;
    Ok(())
}

pub(super) async fn calls_fail_once_the_connection_is_closed(world: World) -> Outcome {
    let connection = world.open().await?;
    let key = world.key()?;
    let wait = connection.call_tool_raw("wait", json(&format!(r#"{{"key":"{key}"}}"#)));
    let wait = wait.start().await.map_err(|error| error.to_string())?;
    connection.close().await;
    equal(matches!(wait.await, Err(Error::Call(_))), true)
}
