//! The timeouts of requests at a server, for async and plain handlers.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::layers::{Incoming, Next, Outcome, Timeout};
use mcp_adapter::{Cx, Tool};
use mcp_adapter_tests::{
    Runtime, client, eventually, failure, full_server, pair, rows, server, success, tool,
};
use serde_json::json;
use smol::channel::{bounded, unbounded};

rows! {
    a_handler_that_takes_too_long_is_ended_and_its_request_fails,
    a_function_that_ignores_its_cancellation_gives_its_thread_back,
    outer_layers_see_the_timeout,
    a_layer_that_waits_is_ended,
    a_request_in_time_is_left_alone,
}

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(600);

/// Sends a message when dropped.
struct Guard(smol::channel::Sender<&'static str>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ignored = self.0.try_send("dropped");
    }
}

async fn a_handler_that_takes_too_long_is_ended_and_its_request_fails<R: Runtime>() {
    let (says, heard) = unbounded();
    let plain = says.clone();
    let server = server()
        .layer(Timeout::new(SHORT))
        .add(Tool::define(tool("async"), move || {
            let guard = Guard(says.clone());
            async move {
                let _guard = guard;
                pending::<Result<String, _>>().await
            }
        }))
        .add(Tool::define(tool("plain"), move |cx: Cx| {
            let is_cancelled = cx.sleep(Duration::MAX).wait();
            plain.try_send(if is_cancelled { "cancelled" } else { "slept" })?;
            Ok("late")
        }));
    let (connection, serving) = pair::<R>(client(), server).await;
    for (name, end) in [("async", "dropped"), ("plain", "cancelled")] {
        let text = failure(connection.call_tool(name, &json!({})).await);
        assert_eq!(text, format!("`{name}` did not finish within 20ms"));
        assert_eq!(heard.recv().await.unwrap(), end);
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn a_function_that_ignores_its_cancellation_gives_its_thread_back<R: Runtime>() {
    let (give, given) = bounded::<()>(1);
    let server = full_server()
        .threads_max(1)
        .layer(Timeout::new(LONG).for_tool("deaf", SHORT))
        .add(Tool::define(tool("deaf"), move || {
            given.recv_blocking()?;
            Ok("late")
        }));
    let (connection, _serving) = pair::<R>(client(), server).await;
    let text = failure(connection.call_tool("deaf", &json!({})).await);
    assert_eq!(text, "`deaf` did not finish within 20ms");
    // The only thread of the pool is still occupied, but does not count.
    let echo = connection.call_tool("echo_plain", &json!({"text": "here"}));
    assert_eq!(success(echo.await), "here");
    give.send(()).await.unwrap();
    let echo = connection.call_tool("echo_plain", &json!({"text": "again"}));
    assert_eq!(success(echo.await), "again");
}

async fn outer_layers_see_the_timeout<R: Runtime>() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let layer = Arc::clone(&seen);
    let server = full_server()
        .layer(move |request: Incoming, next: Next| {
            let layer = Arc::clone(&layer);
            async move {
                let response = next.run(request).await;
                layer.lock().unwrap().push(response.outcome());
                response
            }
        })
        .layer(Timeout::new(SHORT));
    let (connection, _serving) = pair::<R>(client(), server).await;
    for name in ["hang", "hang_plain"] {
        failure(connection.call_tool(name, &json!({})).await);
    }
    eventually("the layer sees both", || seen.lock().unwrap().len() == 2).await;
    assert_eq!(*seen.lock().unwrap(), [Outcome::ToolError, Outcome::ToolError]);
}

async fn a_layer_that_waits_is_ended<R: Runtime>() {
    let server =
        full_server().layer(Timeout::new(SHORT)).layer(|_: Incoming, next: Next| async move {
            let _next = next;
            pending().await
        });
    let (connection, _serving) = pair::<R>(client(), server).await;
    for name in ["echo", "echo_plain"] {
        let text = failure(connection.call_tool(name, &json!({})).await);
        assert_eq!(text, format!("`{name}` did not finish within 20ms"));
    }
    let error = connection.list_tools().await.unwrap_err().to_string();
    assert!(error.contains("`tools/list` did not finish within 20ms"), "{error}");
}

async fn a_request_in_time_is_left_alone<R: Runtime>() {
    let server = full_server().layer(Timeout::new(LONG)).layer(Timeout::new(LONG * 2));
    let (connection, serving) = pair::<R>(client(), server).await;
    for _ in 0..40 {
        for name in ["echo", "echo_plain"] {
            assert_eq!(success(connection.call_tool(name, &json!({"text": "a"})).await), "a");
        }
    }
    assert_eq!(success(connection.call_tool("who_plain", &json!({})).await), "Ada");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
