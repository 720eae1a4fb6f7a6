//! Servers that send too much, or too slowly.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use mcp_adapter::proto::{CallError, Limits};
use mcp_adapter_tests::{eventually, rows, success};
use mcp_http_client_tests::{Answer, OverHttp, Request, Site, legacy, modern, said};
use serde_json::json;
use smol::channel::unbounded;

use crate::{SOON, failed, legacy_client, modern_client};

rows! {
    a_response_that_is_too_long_fails_its_call_and_no_other,
    heads_and_lines_without_end_fail_their_calls_and_no_other,
    a_slow_body_times_out_with_its_call_tmo_01,
    an_endless_get_stream_harms_no_call,
    notifications_wait_in_the_socket_while_the_callback_runs,
}

fn small() -> Limits {
    Limits { message_bytes_max: 16 * 1024, call_timeout: SOON, ..Limits::default() }
}

/// Sends until the client disconnects.
fn forever(answer: &mut Answer<'_>, mut says: impl FnMut(&mut Answer<'_>) -> bool) {
    while says(answer) {}
    answer.cut();
}

fn hostile(request: &Request, answer: &mut Answer<'_>) -> bool {
    let long = "x".repeat(64 * 1024);
    match request.text() {
        "long JSON" => answer.json(&[], &said(request, &long)),
        "endless JSON" => {
            answer.raw("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[");
            forever(answer, |answer| answer.raw("1,".repeat(4096)));
        }
        "long event" => {
            answer.events().event(&said(request, &long)).end();
        }
        "endless line" => {
            answer.events().text("data: ");
            forever(answer, |answer| answer.text(&"x".repeat(8192)));
        }
        "endless event" => {
            answer.events();
            forever(answer, |answer| answer.text(&format!("data: {}\n", "x".repeat(1000))));
        }
        "endless head" => {
            answer.raw("HTTP/1.1 200 OK\r\n");
            forever(answer, |answer| answer.raw(format!("x-a: {}\r\n", "x".repeat(1000))));
        }
        "endless field" => {
            answer.raw("HTTP/1.1 200 OK\r\nx-a: ");
            forever(answer, |answer| answer.raw("x".repeat(8192)));
        }
        "endless explanation" => {
            answer.raw("HTTP/1.1 500 Oh\r\ncontent-type: text/plain\r\n\r\n");
            forever(answer, |answer| answer.raw("x".repeat(8192)));
        }
        _ => return false,
    }
    true
}

async fn each<R: OverHttp>(texts: &[&str], failure: fn(&CallError) -> bool) {
    for (client, otherwise) in [
        (modern_client(), modern as fn(&Request, &mut Answer<'_>)),
        (legacy_client(), legacy as fn(&Request, &mut Answer<'_>)),
    ] {
        let site = Site::new(move |request, answer| {
            if !hostile(request, answer) {
                otherwise(request, answer);
            }
        });
        let connection = R::connect_http(client.limits(small()), site.remote()).await.unwrap();
        let hanging = site.open();
        for text in texts {
            let error = failed(connection.call_tool("echo", &json!({"text": text})).await);
            assert!(failure(&error), "{text}: {error:?}");
            assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        }
        // Every connection can be used again.
        eventually("what did not end was left", || site.open() <= hanging + 2).await;
        connection.close().await.unwrap();
        eventually("no connection is left", || site.open() == 0).await;
    }
}

async fn a_response_that_is_too_long_fails_its_call_and_no_other<R: OverHttp>() {
    let texts = ["long JSON", "endless JSON", "long event", "endless line", "endless event"];
    each::<R>(&texts, |error| matches!(error, CallError::Invalid(_))).await;
}

async fn heads_and_lines_without_end_fail_their_calls_and_no_other<R: OverHttp>() {
    let texts = ["endless head", "endless field"];
    each::<R>(&texts, |error| matches!(error, CallError::Lost)).await;
    each::<R>(&["endless explanation"], |error| {
        matches!(error, CallError::Http { status: 500, .. })
    })
    .await;
}

async fn a_slow_body_times_out_with_its_call_tmo_01<R: OverHttp>() {
    const PACE: Duration = Duration::from_millis(20);
    let drips = |answer: &mut Answer<'_>, drop: &str| {
        while answer.raw(drop) && !answer.sees_the_client_leave(PACE) {}
    };
    let site = Site::new(move |request, answer| match request.text() {
        "head" => {
            answer.raw("HTTP/1.1 200 OK\r\nx-a: ");
            drips(answer, "x");
        }
        "JSON" => {
            answer.raw("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"a\":\"");
            drips(answer, "x");
        }
        "events" => {
            answer.events();
            drips(answer, "2\r\n:\n\r\n");
        }
        _ => modern(request, answer),
    });
    let connection = R::connect_http(modern_client(), site.remote()).await.unwrap();
    for text in ["head", "JSON", "events"] {
        let began = Instant::now();
        let call = connection
            .call_tool("echo", &json!({"text": text}))
            .timeout(Duration::from_millis(300));
        assert_eq!(failed(call.await), CallError::TimedOut, "{text}");
        assert!(began.elapsed() < SOON / 2, "{text}: {:?}", began.elapsed());
        eventually("what drips is left", || site.open() == 0).await;
    }
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}

async fn an_endless_get_stream_harms_no_call<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.what() {
        "GET" => {
            answer.events().text("data: ");
            forever(answer, |answer| answer.text(&"x".repeat(8192)));
        }
        _ => legacy(request, answer),
    });
    let connection = R::connect_http(legacy_client().limits(small()), site.remote()).await.unwrap();
    for _ in 0..20 {
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    }
    connection.close().await.unwrap();
    eventually("no connection is left", || site.open() == 0).await;
}

async fn notifications_wait_in_the_socket_while_the_callback_runs<R: OverHttp>() {
    // More than the queue of notifications and the buffers of the sockets hold together.
    const FLOOD: usize = 64 << 20;
    let (says, hears) = mpsc::channel();
    let has_flooded = AtomicBool::new(false);
    let site = Site::new(move |request, answer| match request.what() {
        "GET" if !has_flooded.swap(true, Ordering::SeqCst) => {
            let data = "x".repeat(8 * 1024);
            let log = json!({
                "jsonrpc": "2.0", "method": "notifications/message",
                "params": {"level": "info", "data": data},
            });
            let event = format!("data: {log}\n\n");
            let sent = answer.events().flood(&event, FLOOD, Duration::from_millis(500));
            says.send(sent).unwrap();
            answer.cut();
        }
        _ => legacy(request, answer),
    });
    let (reports, reported) = unbounded();
    let mut hears = Some(hears);
    let client = legacy_client().on_notification(move |_, _, _| {
        // The first call returns only once the server can write no more.
        if let Some(hears) = hears.take() {
            reports.try_send(hears.recv().unwrap()).unwrap();
        }
    });
    let limits = Limits { events_max: 16, ..Limits::default() };
    let connection = R::connect_http(client.limits(limits), site.remote()).await.unwrap();
    let sent = reported.recv().await.unwrap();
    assert!(sent < FLOOD / 2, "the client read {sent} bytes of notifications");
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}
