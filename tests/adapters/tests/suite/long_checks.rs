//! Checks of long arguments, which run on the pool so that they delay no other request.

use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

use mcp_adapter::layers::{Incoming, Next};
use mcp_adapter::proto::Raw;
use mcp_adapter::proto::schema;
use mcp_adapter::{Server, Tool};
use mcp_adapter_tests::{Runtime, client, failure, pair, rows, server, success, tool};
use serde_json::{Value, json};
use smol::channel::{Receiver, unbounded};

rows! {
    a_long_check_delays_no_other_request,
    a_call_cancelled_during_its_check_never_runs,
    long_arguments_that_do_not_match_are_a_tool_error,
    long_arguments_are_checked_in_order_with_one_thread,
}

/// Longer than what is checked in one go.
const LONG: usize = 64 * 1024;

fn long() -> Value {
    json!({"text": "x".repeat(LONG)})
}

fn short() -> Value {
    json!({"text": "x"})
}

/// The check of long arguments says that it has begun, and waits until the test lets it continue.
struct Gate {
    begun: Receiver<()>,
    open: mpsc::Sender<Result<(), String>>,
    /// The lengths of the texts for which handlers have run.
    ran: Receiver<usize>,
}

fn gated() -> (Server, Gate) {
    let (begins, begun) = unbounded();
    let (open, opened) = mpsc::channel();
    let opened = Mutex::new(opened);
    let check = move |_: &schema::Tool, arguments: &Raw| {
        if arguments.as_bytes().len() < 1000 {
            return Ok(());
        }
        begins.try_send(()).unwrap();
        // Bounded, so that a server which checks on the thread that reads fails the test.
        let opened = opened.lock().unwrap().recv_timeout(Duration::from_secs(20));
        opened.expect("the test opens the gate")
    };
    let (runs, ran) = unbounded();
    let has_run = move |arguments: &Value| {
        runs.try_send(arguments["text"].as_str().unwrap().len()).unwrap();
    };
    let future_has_run = has_run.clone();
    let server = server()
        .add(Tool::define(tool("plain"), move |arguments: Value| {
            has_run(&arguments);
            "plain"
        }))
        .add(Tool::define(tool("future"), move |arguments: Value| {
            future_has_run(&arguments);
            async { "future" }
        }))
        .check_arguments(check);
    (server, Gate { begun, open, ran })
}

async fn a_long_check_delays_no_other_request<R: Runtime>() {
    for name in ["plain", "future"] {
        let (server, gate) = gated();
        let (connection, serving) = pair::<R>(client(), server).await;
        let long_call = connection.call_tool(name, &long()).start().await.unwrap();
        gate.begun.recv().await.unwrap();
        assert_eq!(success(connection.call_tool("plain", &short()).await), "plain");
        assert_eq!(success(connection.call_tool("future", &short()).await), "future");
        gate.open.send(Ok(())).unwrap();
        assert_eq!(success(long_call.await), name);
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

async fn a_call_cancelled_during_its_check_never_runs<R: Runtime>() {
    for name in ["plain", "future"] {
        let (server, gate) = gated();
        let (connection, serving) = pair::<R>(client(), server).await;
        let long_call = connection.call_tool(name, &long()).start().await.unwrap();
        gate.begun.recv().await.unwrap();
        long_call.cancel("a test cancels");
        // The server has read the cancellation before this request.
        assert_eq!(success(connection.call_tool("plain", &short()).await), "plain");
        gate.open.send(Ok(())).unwrap();
        // The check of another call begins only after the cancelled one had its chance to run.
        let next = connection.call_tool("plain", &long()).start().await.unwrap();
        gate.begun.recv().await.unwrap();
        gate.open.send(Ok(())).unwrap();
        assert_eq!(success(next.await), "plain");
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
        let mut ran = Vec::new();
        while let Ok(length) = gate.ran.recv().await {
            ran.push(length);
        }
        assert_eq!(ran, [1, LONG], "after a cancelled call of {name}");
    }
}

// T-117
async fn long_arguments_that_do_not_match_are_a_tool_error<R: Runtime>() {
    let pass = |request: Incoming, next: Next| async move { next.run(request).await };
    let (plain, layered) = (gated(), gated());
    for (server, gate) in [plain, (layered.0.layer(pass), layered.1)] {
        let (connection, serving) = pair::<R>(client(), server).await;
        for name in ["plain", "future"] {
            gate.open.send(Err("too much text".into())).unwrap();
            assert_eq!(failure(connection.call_tool(name, &long()).await), "too much text");
            gate.open.send(Ok(())).unwrap();
            assert_eq!(success(connection.call_tool(name, &long()).await), name);
        }
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

async fn long_arguments_are_checked_in_order_with_one_thread<R: Runtime>() {
    let (server, gate) = gated();
    let (connection, serving) = pair::<R>(client(), server.threads_max(1)).await;
    gate.open.send(Ok(())).unwrap();
    let first = connection.call_tool("plain", &long()).start().await.unwrap();
    let second = connection.call_tool("plain", &short()).start().await.unwrap();
    assert_eq!((success(first.await), success(second.await)), ("plain".into(), "plain".into()));
    assert_eq!((gate.ran.recv().await.unwrap(), gate.ran.recv().await.unwrap()), (LONG, 1));
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
