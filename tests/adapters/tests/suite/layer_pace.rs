//! Layers and the measurement of how quick a function is.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_adapter::layers::{Incoming, Next, Response};
use mcp_adapter::{HandlerError, Server, Tool, is_sole_driver};
use mcp_adapter_tests::{Runtime, Tokio, client, failure, on, pair, rows, server, success, tool};
use serde_json::json;

rows! {
    a_function_that_never_ran_does_not_run_on_the_driver,
    a_function_after_a_layer_that_waited_does_not_prove_quick,
}

/// The number of calls that would prove a function quick.
const CALLS: usize = 40;

/// Returns a server whose function returns whether it ran on the only driving thread.
fn telling() -> Server {
    server().add(Tool::define(tool("where"), || is_sole_driver().to_string()))
}

async fn a_function_that_never_ran_does_not_run_on_the_driver<R: Runtime>() {
    let calls = AtomicUsize::new(0);
    let server = telling().layer(move |request: Incoming, next: Next| {
        let is_refused = calls.fetch_add(1, Ordering::SeqCst) < CALLS;
        async move {
            if is_refused {
                return Response::from(HandlerError::failed("refused"));
            }
            next.run(request).await
        }
    });
    let (connection, _serving) = pair::<R>(client(), server).await;
    for _ in 0..CALLS {
        assert_eq!(failure(connection.call_tool("where", &json!({})).await), "refused");
    }
    assert_eq!(success(connection.call_tool("where", &json!({})).await), "false");
}

async fn a_function_after_a_layer_that_waited_does_not_prove_quick<R: Runtime>() {
    let calls = AtomicUsize::new(0);
    let server = telling().layer(move |request: Incoming, next: Next| {
        let waits = calls.fetch_add(1, Ordering::SeqCst) < CALLS;
        async move {
            if waits {
                request.cx().sleep(Duration::from_millis(1)).await;
            }
            next.run(request).await
        }
    });
    let (connection, _serving) = pair::<R>(client(), server).await;
    for _ in 0..=CALLS {
        assert_eq!(success(connection.call_tool("where", &json!({})).await), "false");
    }
}

async fn proves_quick<R: Runtime>() {
    let server = telling().layer(|request: Incoming, next: Next| next.run(request));
    let (connection, _serving) = pair::<R>(client(), server).await;
    for _ in 0..10_000 {
        if success(connection.call_tool("where", &json!({})).await) == "true" {
            return;
        }
    }
    panic!("the function did not prove quick");
}

#[test]
fn a_function_with_layers_proves_quick() {
    on::<Tokio, _>(proves_quick::<Tokio>);
}
