//! Limits of the connection pool.

use std::time::Duration;

use mcp_adapter_tests::{eventually, rows, success};
use mcp_http_client_tests::{OverHttp, Site, modern};
use serde_json::json;

use crate::modern_client;

rows! {
    requests_beyond_the_maximum_of_connections_wait,
    a_request_that_waits_is_sent_after_an_abort,
    idle_connections_beyond_the_maximum_are_closed,
    idle_connections_are_closed_in_time,
}

async fn requests_beyond_the_maximum_of_connections_wait<R: OverHttp>() {
    for max in [1, 3] {
        let site = Site::new(modern);
        let remote = site.remote().connections_max(max);
        let connection = R::connect_http(modern_client(), remote).await.unwrap();
        for _ in 0..3 {
            let mut calls = Vec::new();
            for _ in 0..30 {
                calls.push(connection.call_tool("echo", &json!({})).start().await.unwrap());
            }
            for call in calls {
                success(call.await);
            }
            assert!(site.open() <= max, "{}", site.open());
        }
        assert_eq!(site.of("tools/call").len(), 90);
    }
}

async fn a_request_that_waits_is_sent_after_an_abort<R: OverHttp>() {
    let site = Site::new(|request, answer| {
        if request.text() == "hold" {
            answer.events();
            answer.sees_the_client_leave(crate::SOON);
        } else {
            modern(request, answer);
        }
    });
    let remote = site.remote().connections_max(1);
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    let held = connection.call_tool("echo", &json!({"text": "hold"})).start().await.unwrap();
    eventually("it is held", || site.of("tools/call").len() == 1).await;
    let waiting = connection.call_tool("echo", &json!({"text": "on"})).start().await.unwrap();
    held.cancel("enough");
    assert_eq!(success(waiting.await), "on");
}

async fn idle_connections_beyond_the_maximum_are_closed<R: OverHttp>() {
    let site = Site::new(modern);
    let remote = site.remote().idle_connections_max(2);
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    let mut calls = Vec::new();
    for _ in 0..20 {
        calls.push(connection.call_tool("echo", &json!({})).start().await.unwrap());
    }
    for call in calls {
        success(call.await);
    }
    eventually("two are kept", || site.open() <= 2).await;
    success(connection.call_tool("echo", &json!({})).await);
}

async fn idle_connections_are_closed_in_time<R: OverHttp>() {
    let site = Site::new(modern);
    let remote = site.remote().idle_timeout(Duration::from_millis(50));
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    for _ in 0..2 {
        success(connection.call_tool("echo", &json!({})).await);
        eventually("none is left", || site.open() == 0).await;
    }
}
