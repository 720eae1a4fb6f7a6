//! Calls, their results, errors and progress, with async and plain handlers.

use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter::proto::schema::CallToolResult;
use mcp_adapter::proto::{Raw, code};
use mcp_adapter::{Connection, Cx, Error, Lists, Tool};
use mcp_adapter_tests::{
    Runtime, call_by_hand, client, failure, full_server, pair, refusal, rows, serve_by_hand,
    server, success, tool,
};
use serde_json::{Value, json};
use smol::LocalExecutor;
use smol::channel::{Sender, bounded};
use smol::stream::StreamExt as _;

rows! {
    tools_are_listed_over_all_pages,
    calls_succeed_fail_and_are_refused,
    a_panic_becomes_an_error_without_its_message,
    progress_comes_in_order_and_before_the_result,
    progress_is_a_stream_that_ends_with_the_call,
    responses_may_arrive_in_any_order,
    a_blocking_handler_delays_no_other_request,
    a_handler_that_is_not_send_runs_on_a_separate_thread,
    a_clone_shares_its_connection,
    a_pending_call_outlives_the_task_that_made_it,
    a_handler_that_is_a_future_sleeps_without_its_own_runtime,
}

async fn call(connection: &Connection, tool: &str) -> Result<CallToolResult, Error> {
    connection.call_tool(tool, &json!({"text": "hello"})).await
}

async fn tools_are_listed_over_all_pages<R: Runtime>() {
    let (connection, serving) =
        pair::<R>(client(), full_server().lists(Lists::new().page_max(2))).await;
    let names: Vec<_> =
        connection.list_tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
    assert!(names.len() > 10, "{names:?}");
    assert_eq!(names[..4], ["echo", "echo_plain", "fail", "fail_plain"]);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn calls_succeed_fail_and_are_refused<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), full_server()).await;
    for kind in ["", "_plain"] {
        assert_eq!(success(call(&connection, &format!("echo{kind}")).await), "hello");
        assert_eq!(failure(call(&connection, &format!("fail{kind}")).await), "it failed");
        let error = refusal(call(&connection, &format!("refuse{kind}")).await);
        assert_eq!((error.code, &*error.message), (code::INVALID_PARAMS, "refused on request"));
    }
    assert_eq!(refusal(call(&connection, "missing").await).code, code::INVALID_PARAMS);
    let unknown = connection.call_raw("no/such/method", Raw::empty_object()).await;
    assert_eq!(refusal(unknown).code, code::METHOD_NOT_FOUND);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn a_panic_becomes_an_error_without_its_message<R: Runtime>() {
    let (hand, serving) = serve_by_hand::<R>(full_server()).await;
    let hand = call_by_hand(hand, |hand| {
        for (id, tool) in [(1, "panic"), (2, "panic_plain"), (3, "panic")] {
            hand.call_tool(id, tool, &json!({}));
            let answer = hand.hear();
            assert_eq!(
                (&answer["id"], &answer["error"]["code"]),
                (&json!(id), &json!(-32603)),
                "{answer}"
            );
            assert!(!answer.to_string().contains("secret"), "{answer}");
        }
        hand.call_tool(4, "echo", &json!({"text": "still here"}));
        assert_eq!(hand.hear()["result"]["content"][0]["text"], "still here");
    });
    drop(hand.await);
    serving.ends_well().await;
}

async fn progress_is_a_stream_that_ends_with_the_call<R: Runtime>() {
    let (connection, _serving) = pair::<R>(client(), full_server()).await;
    for tool in ["count", "count_plain"] {
        let call = connection.call_tool(tool, &json!({})).progress(|_| {});
        let mut pending = call.start().await.unwrap();
        let updates = pending.progress_updates().map(|update| update.progress);
        let heard: Vec<f64> = updates.collect().await;
        assert!(heard.is_sorted_by(|one, next| one < next), "{heard:?}");
        assert_eq!(heard.last(), Some(&100.0), "the last is never lost");
        assert_eq!(success(pending.await), "100");
    }
}

async fn progress_comes_in_order_and_before_the_result<R: Runtime>() {
    let (connection, _serving) = pair::<R>(client(), full_server()).await;
    for tool in ["count", "count_plain"] {
        let mut heard = Vec::new();
        let counting =
            connection.call_tool(tool, &json!({})).progress(|update| heard.push(update.progress));
        assert_eq!(success(counting.await), "100");
        assert!(heard.is_sorted_by(|one, next| one < next), "{heard:?}");
        assert_eq!(heard.last(), Some(&100.0), "the last is never lost");

        let mut pending =
            connection.call_tool(tool, &json!({})).progress(|_| {}).start().await.unwrap();
        let mut last = 0.0;
        while let Some(update) = pending.next_progress().await.unwrap() {
            assert!(update.progress > last);
            last = update.progress;
        }
        assert_eq!((last, success(pending.await)), (100.0, "100".to_owned()));
    }
}

async fn responses_may_arrive_in_any_order<R: Runtime>() {
    let (give, given) = bounded::<()>(1);
    let server = full_server().add(Tool::define(tool("wait"), move || {
        let given = given.clone();
        async move {
            given.recv().await?;
            Ok("waited")
        }
    }));
    let (connection, _serving) = pair::<R>(client(), server).await;
    let waiting = connection.call_tool("wait", &json!({})).start().await.unwrap();
    assert_eq!(success(call(&connection, "echo").await), "hello");
    give.send(()).await.unwrap();
    assert_eq!(success(waiting.await), "waited");
}

async fn a_blocking_handler_delays_no_other_request<R: Runtime>() {
    let (give, given) = bounded::<()>(1);
    let server = full_server().add(Tool::define(tool("wait"), move || {
        given.recv_blocking()?;
        Ok("waited")
    }));
    let (hand, serving) = serve_by_hand::<R>(server).await;
    let hand = call_by_hand(hand, move |hand| {
        let calls: Vec<_> = ["wait", "echo", "echo_plain"]
            .iter()
            .zip(1..)
            .map(|(tool, id)| {
                json!({
                    "jsonrpc": "2.0", "id": id, "method": "tools/call",
                    "params": {"name": tool, "arguments": {"text": "hello"}},
                })
            })
            .collect();
        hand.say_all(&calls);
        let mut answered = [hand.hear()["id"].as_u64(), hand.hear()["id"].as_u64()];
        answered.sort_unstable();
        assert_eq!(answered, [Some(2), Some(3)]);
        hand.call_tool(4, "echo_plain", &json!({"text": "later"}));
        assert_eq!(hand.hear()["id"], 4);
        give.send_blocking(()).unwrap();
        assert_eq!(hand.hear()["id"], 1);
    });
    drop(hand.await);
    serving.ends_well().await;
}

/// The documented way: the handler sends its work to a place where such futures can run.
async fn a_handler_that_is_not_send_runs_on_a_separate_thread<R: Runtime>() {
    let (ask, asked) = bounded::<(String, Sender<String>)>(16);
    let local = thread::spawn(move || {
        let executor = LocalExecutor::new();
        smol::block_on(executor.run(async {
            while let Ok((text, answer)) = asked.recv().await {
                let text = Rc::new(text);
                let task = async move {
                    smol::future::yield_now().await;
                    answer.send(text.repeat(2)).await
                };
                executor.spawn(task).detach();
            }
        }));
    });
    let server = server().add(Tool::define(tool("twice"), move |arguments: Value| {
        let ask = ask.clone();
        async move {
            let (answer, answered) = bounded(1);
            ask.send((arguments["text"].to_string(), answer)).await?;
            Ok(answered.recv().await?)
        }
    }));
    let (connection, serving) = pair::<R>(client(), server).await;
    assert_eq!(success(call(&connection, "twice").await), r#""hello""hello""#);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
    // The server is gone with its handler, and so is the channel's sender.
    local.join().unwrap();
}

async fn a_clone_shares_its_connection<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), full_server()).await;
    let other = connection.clone();
    drop(other);
    assert_eq!(success(call(&connection, "echo").await), "hello", "another handle remains");
    drop(connection);
    serving.ends_well().await;
}

async fn a_pending_call_outlives_the_task_that_made_it<R: Runtime>() {
    let (connection, _serving) = pair::<R>(client(), full_server()).await;
    let (done, ended) = bounded(1);
    let calling = connection.clone();
    R::run(async move {
        let pending = calling.call_tool("echo", &json!({"text": "later"})).start().await;
        drop(calling);
        done.send(pending).await.unwrap();
    });
    let pending = ended.recv().await.unwrap().unwrap();
    assert_eq!(success(pending.await), "later");
}

async fn a_handler_that_is_a_future_sleeps_without_its_own_runtime<R: Runtime>() {
    const NAP: Duration = Duration::from_millis(30);
    let server = server().add(Tool::define(tool("nap"), async |cx: Cx| {
        let began = Instant::now();
        cx.sleep(NAP).await;
        if began.elapsed() >= NAP { "slept" } else { "woke early" }
    }));
    let (connection, serving) = pair::<R>(client(), server).await;
    assert_eq!(success(call(&connection, "nap").await), "slept");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
