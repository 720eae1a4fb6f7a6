//! Cancelled calls and dropped connections, as the server sees them.

use std::time::{Duration, Instant};

use mcp_adapter::proto::CallError;
use mcp_adapter_tests::{eventually, rows, success};
use mcp_http_client_tests::{Answer, OverHttp, Request, Site, legacy, modern};
use serde_json::json;

use crate::{SOON, failed, legacy_client, modern_client, quick};

rows! {
    cancelling_a_modern_call_closes_its_connection_can_12,
    cancelling_a_legacy_call_posts_a_notification_can_12,
    a_call_dropped_before_it_is_sent_never_arrives,
    the_end_of_a_connection_leaves_nothing_behind,
    a_silent_server_does_not_delay_the_end,
}

/// Scripts that leave a call open: before the head, within events, within JSON.
fn holding(request: &Request, answer: &mut Answer<'_>) -> bool {
    match request.text() {
        "hang" => {}
        "events" => {
            answer.events().text(": on\n\n");
        }
        "JSON" => {
            answer.raw("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{");
        }
        _ => return false,
    }
    answer.sees_the_client_leave(SOON);
    true
}

const HOLDS: [&str; 3] = ["hang", "events", "JSON"];

fn held(otherwise: fn(&Request, &mut Answer<'_>)) -> Site {
    Site::new(move |request, answer| {
        if !holding(request, answer) {
            otherwise(request, answer);
        }
    })
}

async fn cancelling_a_modern_call_closes_its_connection_can_12<R: OverHttp>() {
    let site = held(modern);
    let connection = R::connect_http(modern_client(), site.remote()).await.unwrap();
    for (nth, text) in HOLDS.into_iter().enumerate() {
        for way in 0..3 {
            let call = connection.call_tool("echo", &json!({"text": text}));
            let call = if way == 2 { call.timeout(Duration::from_millis(100)) } else { call };
            let pending = call.start().await.unwrap();
            eventually("it is asked", || site.of("tools/call").len() == nth * 3 + way + 1).await;
            match way {
                0 => drop(pending),
                1 => pending.cancel("no more"),
                _ => assert_eq!(failed(pending.await), CallError::TimedOut),
            }
            eventually("the connection has ended", || site.open() == 0).await;
        }
    }
    assert!(site.of("notifications/cancelled").is_empty());
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}

async fn cancelling_a_legacy_call_posts_a_notification_can_12<R: OverHttp>() {
    let site = held(legacy);
    let connection = R::connect_http(legacy_client(), site.remote()).await.unwrap();
    for (nth, text) in HOLDS.into_iter().enumerate() {
        for way in 0..3 {
            let call = connection.call_tool("echo", &json!({"text": text}));
            let call = if way == 2 { call.timeout(Duration::from_millis(100)) } else { call };
            let pending = call.start().await.unwrap();
            eventually("it is asked", || site.of("tools/call").len() == nth * 3 + way + 1).await;
            match way {
                0 => drop(pending),
                1 => pending.cancel("no more"),
                _ => assert_eq!(failed(pending.await), CallError::TimedOut),
            }
            let taken_back = || site.of("notifications/cancelled");
            eventually("it is taken back", || taken_back().len() == nth * 3 + way + 1).await;
            let id = site.of("tools/call").last().unwrap().body["id"].clone();
            assert_eq!(taken_back().last().unwrap().body["params"]["requestId"], id);
        }
    }
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    // Cancellations are sent next to other calls, on pooled connections.
    eventually("what was taken back is left", || site.open() <= 4).await;
    connection.close().await.unwrap();
    eventually("no connection is left", || site.open() == 0).await;
}

async fn a_call_dropped_before_it_is_sent_never_arrives<R: OverHttp>() {
    for (client, otherwise) in [
        (modern_client(), modern as fn(&Request, &mut Answer<'_>)),
        (legacy_client(), legacy as fn(&Request, &mut Answer<'_>)),
    ] {
        let site = held(otherwise);
        let connection = R::connect_http(client, site.remote()).await.unwrap();
        for _ in 0..50 {
            drop(connection.call_tool("echo", &json!({"text": "hang"})).start().await.unwrap());
        }
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        // Up to eight idle connections are kept.
        eventually("what was sent was taken back", || site.open() <= 8).await;
        connection.close().await.unwrap();
        eventually("no connection is left", || site.open() == 0).await;
    }
}

async fn the_end_of_a_connection_leaves_nothing_behind<R: OverHttp>() {
    for (client, otherwise) in [
        (modern_client(), modern as fn(&Request, &mut Answer<'_>)),
        (legacy_client(), legacy as fn(&Request, &mut Answer<'_>)),
    ] {
        let site = held(otherwise);
        let connection = R::connect_http(client, site.remote()).await.unwrap();
        let mut open = Vec::new();
        for text in HOLDS {
            open.push(connection.call_tool("echo", &json!({"text": text})).start().await.unwrap());
        }
        eventually("they are asked", || site.of("tools/call").len() == 3).await;
        let began = Instant::now();
        drop(connection);
        for pending in open {
            assert_eq!(failed(pending.await), CallError::Lost);
        }
        assert!(began.elapsed() < SOON / 2, "{:?}", began.elapsed());
        eventually("no connection is left", || site.open() == 0).await;
    }
}

async fn a_silent_server_does_not_delay_the_end<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.what() {
        "server/discover" => modern(request, answer),
        "initialize" => legacy(request, answer),
        _ => {
            answer.sees_the_client_leave(SOON);
        }
    });
    for client in [modern_client(), legacy_client()] {
        let connection = R::connect_http(client.limits(quick()), site.remote()).await.unwrap();
        let pending = connection.call_tool("echo", &json!({"text": "x"})).start().await.unwrap();
        let began = Instant::now();
        connection.close().await.unwrap();
        assert!(began.elapsed() < SOON / 2, "{:?}", began.elapsed());
        assert_eq!(failed(pending.await), CallError::Lost);
        eventually("no connection is left", || site.open() == 0).await;
    }
}
