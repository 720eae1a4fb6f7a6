//! Connections that are kept, closed by the server, and lost; and which requests are sent again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_adapter::http::Remote;
use mcp_adapter::proto::CallError;
use mcp_adapter_tests::{eventually, rows, success};
use mcp_http_client_tests::{OverHttp, Site, legacy, modern, said};
use serde_json::json;

use crate::{failed, legacy_client, modern_client};

rows! {
    connections_are_used_again,
    connections_are_limited_and_used_again_by_concurrent_calls,
    connections_are_limited_and_used_again_by_concurrent_responses,
    closing_idle_connections_costs_no_call,
    closing_every_connection_costs_no_call,
    lost_reads_are_repeated_once,
    sent_requests_are_not_repeated,
    a_server_that_comes_back_is_used_again,
    #[cfg_attr(not(target_os = "linux"), ignore = "reads the timers of sockets from /proc")]
    sockets_use_keep_alive,
}

async fn connections_are_used_again<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.text() {
        "events" => {
            answer.events().event(&said(request, "events")).end();
        }
        _ => modern(request, answer),
    });
    let connection = R::connect_http(modern_client(), site.remote()).await.unwrap();
    for text in ["on", "events"].repeat(25) {
        assert_eq!(success(connection.call_tool("echo", &json!({"text": text})).await), text);
    }
    // The stream may end after its response: the next call may come earlier.
    assert!(site.accepted() <= 4, "{}", site.accepted());

    let site = Site::new(legacy);
    let connection = R::connect_http(legacy_client(), site.remote()).await.unwrap();
    for _ in 0..50 {
        success(connection.call_tool("echo", &json!({})).await);
    }
    assert!(site.accepted() <= 3, "{}", site.accepted());
}

async fn connections_are_limited_and_used_again_by_concurrent_calls<R: OverHttp>() {
    for (remote, max) in [
        (Remote::concurrent_calls_max as fn(Remote, usize) -> Remote, 10),
        (|remote, _| remote, 60),
    ] {
        let site = Site::new(modern);
        let connection =
            R::connect_http(modern_client(), remote(site.remote(), max)).await.unwrap();
        for _ in 0..5 {
            let mut calls = Vec::new();
            for _ in 0..60 {
                calls.push(connection.call_tool("echo", &json!({})).start().await.unwrap());
            }
            for call in calls {
                success(call.await);
            }
        }
        assert_eq!(site.of("tools/call").len(), 300);
        assert!(site.accepted() <= max + 1, "{}", site.accepted());
    }
}

/// A server decides how many requests it sends, but not how many connections are opened.
async fn connections_are_limited_and_used_again_by_concurrent_responses<R: OverHttp>() {
    const REQUESTS: usize = 1000;
    let site = Site::new(|request, answer| match request.what() {
        "GET" => {
            let stream = answer.events();
            for id in 0..REQUESTS {
                stream.event(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
            }
        }
        _ => legacy(request, answer),
    });
    let remote = site.remote().concurrent_calls_max(1);
    let connection = R::connect_http(legacy_client(), remote).await.unwrap();
    let answers = || site.count(|request| request.body["result"].is_object());
    eventually("all requests are answered", || answers() == REQUESTS).await;
    assert!(site.accepted() <= 64 + 3, "{}", site.accepted());
    success(connection.call_tool("echo", &json!({})).await);
}

async fn closing_idle_connections_costs_no_call<R: OverHttp>() {
    let site = Site::new(modern);
    let connection = R::connect_http(modern_client(), site.remote()).await.unwrap();
    for number in 0..50 {
        assert_eq!(
            success(connection.call_tool("echo", &json!({"text": "on"})).await),
            "on",
            "{number}"
        );
        site.hang_up();
        eventually("they are closed", || site.open() == 0).await;
    }
    assert_eq!(site.of("tools/call").len(), 50);
}

async fn closing_every_connection_costs_no_call<R: OverHttp>() {
    let site = Site::new(|request, answer| {
        if request.what() == "tools/call" {
            answer.json(&[("connection", "close")], &said(request, "on"));
            answer.cut();
        } else {
            modern(request, answer);
        }
    });
    let connection = R::connect_http(modern_client(), site.remote()).await.unwrap();
    for _ in 0..50 {
        assert_eq!(success(connection.call_tool("echo", &json!({})).await), "on");
    }
    assert_eq!(site.of("tools/call").len(), 50);
}

async fn lost_reads_are_repeated_once<R: OverHttp>() {
    let (lists, cuts) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(2)));
    let every = Arc::clone(&cuts);
    let site = Site::new(move |request, answer| {
        let is_list = request.what() == "tools/list";
        let number = if is_list { lists.fetch_add(1, Ordering::SeqCst) } else { 1 };
        if number % every.load(Ordering::SeqCst) != 0 {
            return modern(request, answer);
        }
        answer.raw(match number % 3 {
            0 => "",
            1 => "HTTP/1.1 200 O",
            _ => "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
        });
        answer.cut();
    });
    let connection = R::connect_http(modern_client(), site.remote()).await.unwrap();
    for round in 1..=6 {
        // On a new connection, and on one that was used.
        connection.list_tools().await.unwrap();
        assert_eq!(site.of("tools/list").len(), 2 * round);
    }
    cuts.store(1, Ordering::SeqCst);
    let error = connection.list_tools().await.unwrap_err().to_string();
    assert!(!error.contains("may have acted"), "{error}");
    assert_eq!(site.of("tools/list").len(), 14);
}

async fn sent_requests_are_not_repeated<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.text() {
        "cut" => answer.cut(),
        "cut in the head" => {
            answer.raw("HTTP/1.1 200 O");
            answer.cut();
        }
        "cut in JSON" => {
            answer.raw(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
            );
            answer.cut();
        }
        _ => modern(request, answer),
    });
    let connection = R::connect_http(modern_client(), site.remote()).await.unwrap();
    let mut calls = 0;
    for text in ["cut", "cut in the head", "cut in JSON"] {
        for _ in 0..5 {
            assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
            let cut = connection.call_tool("echo", &json!({"text": text})).await;
            assert_eq!(failed(cut), CallError::Lost, "{text}");
            calls += 2;
            assert_eq!(site.of("tools/call").len(), calls);
        }
    }
}

async fn a_server_that_comes_back_is_used_again<R: OverHttp>() {
    let site = Site::new(modern);
    let remote = site.remote();
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    drop(site);
    // Pooled connections are lost by now, or will be found to be.
    let mut outcome = connection.call_tool("echo", &json!({})).await;
    while matches!(outcome, Err(mcp_adapter::Error::Call(CallError::Lost))) {
        outcome = connection.call_tool("echo", &json!({})).await;
    }
    assert_eq!(failed(outcome), CallError::Unsent);
    assert_eq!(connection.close_reason(), None);
}

async fn sockets_use_keep_alive<R: OverHttp>() {
    let site = Site::new(modern);
    let connection = R::connect_http(modern_client(), site.remote()).await.unwrap();
    success(connection.call_tool("echo", &json!({})).await);
    let port = format!(":{:04X}", site.port());
    // An idle socket runs no other timer.
    eventually("each socket to the server has the timer", || {
        let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
        let rows = table.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
        let timers: Vec<String> = rows
            .filter(|row| row[2].ends_with(&port) && row[3] == "01")
            .map(|row| row[5][..2].to_owned())
            .collect();
        !timers.is_empty() && timers.iter().all(|timer| timer == "02")
    })
    .await;
}
