//! Calls, their results, errors and progress.

use std::sync::{Arc, Mutex};

use mcp_wasm::Error;
use mcp_wasm::proto::schema::Level;
use mcp_wasm::proto::{Era, Raw, code};
use web_time::Instant;

use super::{call, close, content, equal, refusal, success};
use crate::shop::{json, text};
use crate::world::{Outcome, World};

pub(super) async fn tools_are_listed(world: World) -> Outcome {
    let connection = world.open().await?;
    let tools = connection.list_tools().await.map_err(|error| error.to_string())?;
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    equal(names.len(), 13)?;
    equal(names[..2].join(" "), "echo echo_late".into())?;
    close(connection).await
}

pub(super) async fn every_list_is_fetched_over_all_pages(world: World) -> Outcome {
    let connection = world.open().await?;
    let list = connection.list_resources().await.map_err(|error| error.to_string())?;
    let names: String = list.iter().map(|resource| &*resource.name).collect();
    equal(names.as_str(), "abcd")?;
    close(connection).await
}

pub(super) async fn every_list_is_bounded(world: World) -> Outcome {
    let connection = world.open().await?;
    let endless = connection.list_prompts().await;
    if !matches!(endless, Err(Error::List(_))) {
        return Err(format!("the list is bounded: {endless:?}"));
    }
    close(connection).await
}

pub(super) async fn calls_succeed_fail_and_are_refused(world: World) -> Outcome {
    let connection = world.open().await?;
    let hello = r#"{"text":"hello \u0001 \"ümlaut\""}"#;
    let echo = call(&connection, "echo", hello).await;
    equal(success(echo)?, "hello \u{1} \"ümlaut\"".into())?;
    let failed = call(&connection, "fail", hello).await.map_err(|e| e.to_string())?;
    equal(content(&failed), ("it failed".into(), true))?;
    equal(refusal(call(&connection, "refuse", hello).await)?, code::INVALID_PARAMS)?;
    equal(refusal(call(&connection, "missing", hello).await)?, code::INVALID_PARAMS)?;
    let unknown = connection.call_raw("no/such/method", Raw::empty_object()).await;
    equal(refusal(unknown)?, code::METHOD_NOT_FOUND)?;
    close(connection).await
}

pub(super) async fn progress_comes_in_order_and_before_the_result(world: World) -> Outcome {
    let connection = world.open().await?;
    let mut seen = Vec::new();
    let call = call(&connection, "steps", "{}");
    let result = call.progress(|progress| seen.push((progress.progress, progress.total))).await;
    equal(success(result)?, "done".into())?;
    equal(seen, vec![(1.0, Some(3.0)), (2.0, Some(3.0)), (3.0, Some(3.0))])?;
    close(connection).await
}

pub(super) async fn progress_is_a_stream_that_ends_with_the_call(world: World) -> Outcome {
    let connection = world.open().await?;
    let call = call(&connection, "steps", "{}").progress(|_| {});
    let mut pending = call.start().await.map_err(|error| error.to_string())?;
    let mut steps = 0;
    while pending.next_progress().await.is_ok_and(|step| step.is_some()) {
        steps += 1;
    }
    equal(steps, 3)?;
    equal(success(pending.await)?, "done".into())?;
    close(connection).await
}

pub(super) async fn responses_may_arrive_in_any_order(world: World) -> Outcome {
    let connection = world.open().await?;
    let late = r#"{"text":"late","ms":300}"#;
    let late = call(&connection, "echo_late", late).start().await;
    let late = late.map_err(|error| error.to_string())?;
    let soon = call(&connection, "echo", r#"{"text":"soon"}"#).await;
    // A result that were held back until the earlier one would come after both.
    equal(success(soon)?, "soon".into())?;
    let ended = Instant::now();
    equal(success(late.await)?, "late".into())?;
    let apart = ended.elapsed().as_millis();
    equal(apart >= 100, true).map_err(|_| format!("{apart} ms apart"))?;
    close(connection).await
}

pub(super) async fn a_clone_shares_its_connection(world: World) -> Outcome {
    let connection = world.open().await?;
    let clone = connection.clone();
    close(connection).await?;
    equal(clone.close_reason().is_some(), true)?;
    equal(clone.call_raw("tools/list", Raw::empty_object()).await.is_err(), true)
}

pub(super) async fn a_pending_call_outlives_the_task_that_made_it(world: World) -> Outcome {
    let connection = world.open().await?;
    let pending = {
        let clone = connection.clone();
        let call = call(&clone, "echo_late", r#"{"text":"here","ms":20}"#);
        call.start().await.map_err(|error| error.to_string())?
    };
    equal(success(pending.await)?, "here".into())?;
    close(connection).await
}

pub(super) async fn a_handler_that_is_a_future_sleeps(world: World) -> Outcome {
    let connection = world.open().await?;
    let began = Instant::now();
    let slept = call(&connection, "echo_late", r#"{"text":"x","ms":50}"#).await;
    equal(success(slept)?, "x".into())?;
    let waited = began.elapsed().as_millis();
    equal(waited >= 49, true).map_err(|_| format!("slept for {waited} ms"))?;
    close(connection).await
}

pub(super) async fn resources_are_read(world: World) -> Outcome {
    let connection = world.open().await?;
    let read = connection.call_raw("resources/read", json(r#"{"uri":"note:a"}"#)).await;
    let read = read.map_err(|error| error.to_string())?;
    let first = read.member("contents").and_then(|contents| contents.elements().next());
    equal(first.and_then(|it| text(&it, "text")).as_deref(), Some("hello"))?;
    let missing = connection.call_raw("resources/read", json(r#"{"uri":"note:z"}"#)).await;
    let is_modern = world.revision.era() == Era::Modern;
    let unknown = if is_modern { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND };
    equal(refusal(missing)?, unknown)?;
    close(connection).await
}

pub(super) async fn the_metadata_of_a_request_is_available(world: World) -> Outcome {
    let connection = world.open().await?;
    let call = json(r#"{"name":"who","arguments":{},"_meta":{"x/trace":"t1"}}"#);
    let who = success(connection.call_raw("tools/call", call).await)?;
    equal(who, format!("rows {} t1", world.revision))?;
    close(connection).await
}

pub(super) async fn log_messages_have_a_callback_of_their_own(world: World) -> Outcome {
    let logged = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&logged);
    let client = world.client().on_log(move |message, _cx| {
        if let (Ok(mut seen), Some(text)) = (seen.lock(), message.data.to_text()) {
            seen.push(text.into_owned());
        }
    });
    let connection = world.connect(client).await.map_err(|error| error.to_string())?;
    connection.set_log_level(Level::Warning).await.map_err(|error| error.to_string())?;
    success(call(&connection, "log", "{}").await)?;
    let logged = logged.lock().map_err(|error| error.to_string())?.join(" ");
    equal(logged.as_str(), "loud")?;
    close(connection).await
}

pub(super) async fn calls_fail_once_the_connection_is_closed(world: World) -> Outcome {
    let connection = world.open().await?;
    let key = world.key();
    let wait = call(&connection, "wait", &format!(r#"{{"key":"{key}"}}"#));
    let wait = wait.start().await.map_err(|error| error.to_string())?;
    close(connection).await?;
    equal(matches!(wait.await, Err(Error::Call(_))), true)
}
