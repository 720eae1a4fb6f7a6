//! The limits of requests at a server, and reports of how requests end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::layers::{
    ConcurrencyLimit, Incoming, LIMIT_EXCEEDED, Next, Outcome, RateLimit, observe,
};
use mcp_adapter::proto::code;
use mcp_adapter::{Error, Tool};
use mcp_adapter_tests::{
    Runtime, client, eventually, full_server, pair, refusal, rows, server, success, tool,
};
use serde_json::{Value, json};
use smol::channel::bounded;

rows! {
    requests_beyond_the_rate_are_refused_with_advice,
    the_time_of_a_connection_driven_by_hand_limits_no_others,
    requests_beyond_the_concurrency_are_refused,
    the_end_of_each_request_is_observed,
    a_panic_of_an_inner_layer_is_observed,
    a_panic_of_an_observer_fails_only_its_request,
}

const HOUR: Duration = Duration::from_secs(3600);

async fn requests_beyond_the_rate_are_refused_with_advice<R: Runtime>() {
    let server = full_server().layer(RateLimit::new(2, HOUR));
    let (connection, _serving) = pair::<R>(client(), server.clone()).await;
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "a"})).await), "a");
    assert_eq!(success(connection.call_tool("echo_plain", &json!({"text": "a"})).await), "a");
    // The limit is that of all connections.
    let (other, _serving) = pair::<R>(client(), server).await;
    for connection in [&connection, &other] {
        let error = refusal(connection.call_tool("echo", &json!({})).await);
        assert_eq!(error.code, LIMIT_EXCEEDED);
        assert!(
            error
                .message
                .starts_with("limit exceeded: requests are limited to 2 in 3600s, 2 together"),
            "{error}"
        );
        let advice: Value = error.data.unwrap().parse().unwrap();
        let millis = advice["retryAfterMs"].as_u64().unwrap();
        assert!((1..=HOUR.as_millis() as u64 / 2).contains(&millis), "{millis}");
    }
    let Err(Error::Call(error)) = other.list_tools().await else { panic!("not refused") };
    assert!(error.to_string().contains("limit exceeded"), "{error}");
}

async fn the_time_of_a_connection_driven_by_hand_limits_no_others<R: Runtime>() {
    let server = full_server().layer(RateLimit::new(1, HOUR));
    let mut ahead = mcp_adapter::testing::pair(&server, client()).unwrap();
    ahead.wait(1000 * HOUR);
    assert!(ahead.call_tool("echo", &json!({"text": "a"})).is_ok());
    let (connection, _serving) = pair::<R>(client(), server).await;
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "a"})).await), "a");
}

async fn requests_beyond_the_concurrency_are_refused<R: Runtime>() {
    let (begins, begun) = bounded::<()>(2);
    let (give, given) = bounded::<()>(2);
    let (plain_begins, plain_given) = (begins.clone(), given.clone());
    let server = server()
        .add(Tool::define(tool("plain"), move || {
            plain_begins.send_blocking(())?;
            plain_given.recv_blocking()?;
            Ok("done")
        }))
        .add(Tool::define(tool("async"), move || {
            let (begins, given) = (begins.clone(), given.clone());
            async move {
                begins.send(()).await?;
                given.recv().await?;
                Ok("done")
            }
        }))
        .layer(ConcurrencyLimit::new(2));
    let (connection, _serving) = pair::<R>(client(), server).await;
    for _ in 0..2 {
        let first = connection.call_tool("plain", &json!({})).start().await.unwrap();
        let second = connection.call_tool("async", &json!({})).start().await.unwrap();
        begun.recv().await.unwrap();
        begun.recv().await.unwrap();
        for name in ["plain", "async"] {
            let error = refusal(connection.call_tool(name, &json!({})).await);
            assert_eq!(error.code, LIMIT_EXCEEDED);
            assert!(error.message.contains("more than 2 requests are in progress"), "{error}");
        }
        give.send(()).await.unwrap();
        give.send(()).await.unwrap();
        assert_eq!((success(first.await), success(second.await)), ("done".into(), "done".into()));
    }
}

type Seen = Arc<Mutex<Vec<(String, Outcome, Option<i64>)>>>;

/// Returns a layer that notes what it observes.
fn noting(seen: &Seen) -> mcp_adapter::layers::Observe {
    let seen = Arc::clone(seen);
    observe(move |request| {
        assert!(request.duration() < HOUR && request.principal().is_none());
        let what = format!("{} {}", request.method(), request.name().unwrap_or_default());
        seen.lock().unwrap().push((what, request.outcome(), request.error_code()));
    })
}

async fn the_end_of_each_request_is_observed<R: Runtime>() {
    let seen = Seen::default();
    let (connection, _serving) = pair::<R>(client(), full_server().layer(noting(&seen))).await;
    for (name, outcome, error_code) in [
        ("echo", Outcome::Success, None),
        ("echo_plain", Outcome::Success, None),
        ("fail", Outcome::ToolError, None),
        ("refuse_plain", Outcome::Error, Some(code::INVALID_PARAMS)),
        ("missing", Outcome::Error, Some(code::INVALID_PARAMS)),
        ("panic_plain", Outcome::Error, Some(code::INTERNAL_ERROR)),
    ] {
        let _outcome = connection.call_tool(name, &json!({})).await;
        let expected = vec![(format!("tools/call {name}"), outcome, error_code)];
        assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), expected);
    }
    let call = connection.call_tool("hang", &json!({})).start().await.unwrap();
    // The answer to a later request shows that the call has begun.
    connection.list_tools().await.unwrap();
    call.cancel("a test cancels");
    eventually("the cancellation is observed", || seen.lock().unwrap().len() == 2).await;
    let last = seen.lock().unwrap().pop().unwrap();
    assert_eq!(last, ("tools/call hang".into(), Outcome::Cancelled, None));
}

async fn a_panic_of_an_inner_layer_is_observed<R: Runtime>() {
    let seen = Seen::default();
    let inner = |request: Incoming, next: Next| {
        assert_ne!(request.method(), "tools/call", "a panic of a layer");
        next.run(request)
    };
    let server = full_server().layer(noting(&seen)).layer(inner);
    let (connection, _serving) = pair::<R>(client(), server).await;
    for name in ["echo", "echo_plain"] {
        refusal(connection.call_tool(name, &json!({})).await);
        let expected = vec![(format!("tools/call {name}"), Outcome::Error, None)];
        assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), expected);
    }
}

async fn a_panic_of_an_observer_fails_only_its_request<R: Runtime>() {
    let server = full_server()
        .layer(observe(|request| assert_eq!(request.name(), None, "the observer panics")))
        .layer(|request: Incoming, next: Next| async move {
            // The observer then panics during a panic.
            assert_ne!(request.name().as_deref(), Some("echo"), "the inner layer panics");
            assert_ne!(request.name().as_deref(), Some("echo_plain"), "the inner layer panics");
            next.run(request).await
        });
    let (connection, serving) = pair::<R>(client(), server).await;
    for name in ["echo", "echo_plain", "fail", "fail_plain"] {
        let error = refusal(connection.call_tool(name, &json!({})).await);
        assert_eq!((error.code, &*error.message), (code::INTERNAL_ERROR, "the handler failed"));
    }
    connection.list_tools().await.unwrap();
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
