//! Full pipes, and peers that never read or never stop writing: they block no other connection.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use mcp_adapter::Client;
use mcp_adapter::proto::Limits;
use mcp_adapter::proto::schema::{ElicitResult, Level};
use mcp_adapter_tests::{
    Runtime, call_by_hand, client, full_server, pair, raw, rows, serve_by_hand, success,
};
use serde_json::json;
use smol::channel::{bounded, unbounded};
use smol::future::{or, poll_once};

rows! {
    both_sides_send_more_than_fits,
    a_client_that_never_reads_blocks_no_other,
    a_client_that_never_stops_blocks_no_other,
    logs_wait_for_room_and_all_arrive,
    #[cfg_attr(not(unix), ignore = "TCP sockets hold all that the test sends")]
    a_call_waiting_for_room_can_be_dropped,
    notifications_arrive_in_order,
}

/// Returns a string larger than a socket's buffer.
fn large(filling: &str) -> String {
    filling.repeat(300_000)
}

/// Returns limits that are reached immediately.
fn narrow() -> Limits {
    Limits {
        outbox_bytes_max: 10_000,
        events_max: 2,
        events_bytes_max: 10_000,
        ..Limits::default()
    }
}

async fn both_sides_send_more_than_fits<R: Runtime>() {
    let (connection, serving) =
        pair::<R>(client().limits(narrow()), full_server().limits(narrow())).await;
    let (done, ended) = unbounded();
    for tool in ["echo", "echo_plain"].repeat(4) {
        let (connection, done) = (connection.clone(), done.clone());
        R::run(async move {
            for _ in 0..4 {
                let echo = connection.call_tool(tool, &json!({"text": large("x")})).await;
                assert!(success(echo) == large("x"));
            }
            drop(connection);
            done.send(()).await.unwrap();
        });
    }
    for _ in 0..8 {
        ended.recv().await.unwrap();
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn a_client_that_never_reads_blocks_no_other<R: Runtime>() {
    let server = full_server().limits(Limits { outbox_bytes_max: 10_000, ..Limits::default() });
    let (deaf, deaf_serving) = serve_by_hand::<R>(server.clone()).await;
    let deaf = call_by_hand(deaf, |deaf| {
        for id in 0..20 {
            deaf.call_tool(id, "echo", &json!({"text": large("x")}));
            deaf.call_tool(100 + id, "log", &json!({"times": 1000}));
        }
    })
    .await;
    let (connection, serving) = pair::<R>(client(), server).await;
    for tool in ["echo", "echo_plain", "who", "who_plain"].repeat(5) {
        success(connection.call_tool(tool, &json!({"text": large("y")})).await);
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
    drop(deaf);
    deaf_serving.ends_well().await;
}

/// A stream that is always readable must not starve others.
async fn a_client_that_never_stops_blocks_no_other<R: Runtime>() {
    let (loud, loud_serving) = serve_by_hand::<R>(full_server()).await;
    let enough = Arc::new(AtomicBool::new(false));
    let flooding = Arc::clone(&enough);
    let (done, ended) = bounded(1);
    thread::spawn(move || {
        let mut loud = loud;
        let text = "any".repeat(200);
        let line = json!({
            "jsonrpc": "2.0", "method": "notifications/row/any", "params": {"text": text}
        });
        let lines = format!("{line}\n").repeat(200);
        while !flooding.load(Ordering::Relaxed) {
            loud.writer.write_all(lines.as_bytes()).unwrap();
        }
        done.send_blocking(loud).unwrap();
    });
    let (connection, serving) = pair::<R>(client(), full_server()).await;
    let echo = connection.call_tool("echo", &json!({"text": "concurrent"}));
    assert_eq!(success(echo.await), "concurrent");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
    enough.store(true, Ordering::Relaxed);
    // The last piece of the flood is still unread.
    drop(ended.recv().await.unwrap());
    loud_serving.ends_well().await;
}

async fn logs_wait_for_room_and_all_arrive<R: Runtime>() {
    let server = full_server().limits(Limits { outbox_bytes_max: 10_000, ..Limits::default() });
    let (hand, serving) = serve_by_hand::<R>(server.clone()).await;
    // 3 MB of logs do not fit into a socket, so the handler waits.
    let hand = call_by_hand(hand, |hand| {
        hand.request(0, "logging/setLevel", &json!({"level": "debug"}));
        assert_eq!(hand.hear()["id"], 0);
        hand.call_tool(1, "log", &json!({"times": 1000}));
        hand.hear_notification("notifications/message");
    })
    .await;
    // During the wait, the runtime runs other tasks.
    let (connection, _serving) = pair::<R>(client(), server).await;
    for _ in 0..5 {
        success(connection.call_tool("echo", &json!({"text": "concurrent"})).await);
    }
    let hand = call_by_hand(hand, |hand| {
        for number in 1..1000 {
            assert_eq!(hand.hear_notification("notifications/message")["data"]["number"], number);
        }
        assert_eq!(hand.hear()["result"]["content"][0]["text"], "1000");
    })
    .await;
    drop(hand);
    serving.ends_well().await;
}

async fn a_call_waiting_for_room_can_be_dropped<R: Runtime>() {
    let (connection, hand) =
        mcp_adapter_tests::connect_by_hand::<R>(client().limits(narrow())).await;
    let call = |name: &'static str| connection.call_tool(name, &json!({"text": large("x")}));
    let first = call("first").start().await.unwrap();
    // The outbox is full, so the call waits; dropped now, it is never sent.
    let mut second = Box::pin(call("second").start());
    assert!(poll_once(&mut second).await.is_none());
    drop(second);
    let third = async { success(call("third").await) };
    let hearing = async {
        call_by_hand(hand, |hand| {
            for name in ["first", "third"] {
                let asked = hand.hear();
                assert_eq!(asked["params"]["name"], name);
                hand.answer(&asked, &json!({"content": [{"type": "text", "text": name}]}));
            }
        })
        .await;
        std::future::pending().await
    };
    assert_eq!(or(third, hearing).await, "third");
    assert_eq!(success(first.await), "first");
}

async fn notifications_arrive_in_order<R: Runtime>() {
    let (says, heard) = unbounded();
    let client = Client::new("row", "1.0.0")
        .on_elicitation(|| ElicitResult::accept(raw(&json!({"name": "Ada"}))))
        .on_notification(move |_, params, _| {
            let data = params.unwrap().member("data").unwrap();
            says.try_send(data.member("number").unwrap().to_string()).unwrap();
        });
    let (connection, _serving) = pair::<R>(client, full_server()).await;
    connection.set_log_level(Level::Debug).await.unwrap();
    assert_eq!(success(connection.call_tool("log", &json!({"times": 2000})).await), "2000");
    for number in 0..2000 {
        assert_eq!(heard.recv().await.unwrap(), number.to_string());
    }
}
