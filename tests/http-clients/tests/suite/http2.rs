//! Connections over HTTP/2.

use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_adapter::proto::CallError;
use mcp_adapter_tests::{eventually, rows, success};
use mcp_http_client_tests::{
    Http2Site, OverHttp, Played, Request, Site, Trust, modern, result, said,
};
use serde_json::json;

use crate::{failed, modern_client, quick};

rows! {
    requests_of_a_client_share_a_connection,
    tls_chooses_http2_if_the_client_may_speak_it,
    a_connection_has_no_more_streams_than_the_server_allows,
    an_aborted_call_resets_its_stream_only,
    a_flood_over_many_streams_is_read_once_there_is_room,
    a_server_that_goes_away_costs_no_call,
    refused_requests_are_sent_again_once,
    a_request_on_a_broken_stream_is_lost,
    a_server_without_http2_is_not_used,
}

/// Answers as a modern server does, which echoes.
fn echo(request: &Request) -> Played {
    Played::Json(match request.what() {
        "server/discover" => {
            let me = json!({
                "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "played", "version": "1"},
            });
            result(request, &me)
        }
        _ => said(request, request.text()),
    })
}

/// Returns the texts of the calls so far.
fn calls(site: &Http2Site) -> Vec<Request> {
    site.heard().into_iter().filter(|request| request.what() == "tools/call").collect()
}

async fn requests_of_a_client_share_a_connection<R: OverHttp>() {
    let site = Http2Site::new(200, echo);
    let remote = site.remote("http").http2_prior_knowledge().header("x-key", "k").unwrap();
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    for _ in 0..5 {
        let mut started = Vec::new();
        for _ in 0..50 {
            let call = connection.call_tool("echo", &json!({"text": "on"}));
            started.push(call.start().await.unwrap());
        }
        for call in started {
            assert_eq!(success(call.await), "on");
        }
    }
    connection.close().await.unwrap();
    assert_eq!(calls(&site).len(), 250);
    assert_eq!(site.accepted(), 1);
    for request in site.heard() {
        assert!(request.path.starts_with("http://localhost:"), "{}", request.path);
        assert_eq!(request.field("host"), None);
        assert_eq!(request.field("x-key"), Some("k"));
    }
}

async fn tls_chooses_http2_if_the_client_may_speak_it<R: OverHttp>() {
    let trust = Trust::new();
    let site = Http2Site::secure(trust.server(&["h2"]), echo);
    let remote = site.remote("https").tls(trust.client());
    let connection = R::connect_http(modern_client(), remote.clone()).await.unwrap();
    for _ in 0..10 {
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    }
    connection.close().await.unwrap();
    assert_eq!(site.accepted(), 1);
    // Without the protocol, both have none in common.
    let remote = remote.http1_only();
    R::connect_http(modern_client().limits(quick()), remote).await.unwrap_err();
}

async fn a_connection_has_no_more_streams_than_the_server_allows<R: OverHttp>() {
    let site = Http2Site::new(2, |request| match request.text() {
        "hold" => Played::Stream(": begun\n\n".to_owned()),
        _ => echo(request),
    });
    let remote = site.remote("http").http2_prior_knowledge();
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    let mut held = Vec::new();
    for count in 1..=5 {
        let call = connection.call_tool("echo", &json!({"text": "hold"}));
        held.push(call.start().await.unwrap());
        eventually("it is held", || site.streams() == count).await;
    }
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    assert_eq!(site.accepted(), 3);
}

async fn an_aborted_call_resets_its_stream_only<R: OverHttp>() {
    let site = Http2Site::new(100, |request| match request.text() {
        "hold" => Played::Stream(": begun\n\n".to_owned()),
        _ => echo(request),
    });
    let remote = site.remote("http").http2_prior_knowledge();
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    let mut held = Vec::new();
    for _ in 0..3 {
        let call = connection.call_tool("echo", &json!({"text": "hold"}));
        held.push(call.start().await.unwrap());
    }
    eventually("they are held", || site.streams() == 3).await;
    held.pop().unwrap().cancel("enough");
    eventually("one is reset", || site.streams() == 2).await;
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    assert_eq!((site.streams(), site.accepted()), (2, 1));
}

async fn a_flood_over_many_streams_is_read_once_there_is_room<R: OverHttp>() {
    // More than the queue of notifications holds, in each of many streams.
    let log = json!({
        "jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "error", "data": "x".repeat(100)},
    });
    let flood = format!("data: {log}\n\n").repeat(4000);
    let site = Http2Site::new(100, move |request| match request.text() {
        "flood" => Played::Stream(flood.clone()),
        _ => echo(request),
    });
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = std::sync::Mutex::new(released);
    let client = modern_client().on_log(move |_, _| {
        let _is_released = released.lock().unwrap().recv();
    });
    let remote = site.remote("http").http2_prior_knowledge();
    let connection = R::connect_http(client, remote).await.unwrap();
    let mut floods = Vec::new();
    for _ in 0..40 {
        let call = connection.call_tool("echo", &json!({"text": "flood"}));
        floods.push(call.start().await.unwrap());
    }
    eventually("all have begun", || site.streams() == 40).await;
    // Requests are still sent, though the session has no room for bodies.
    let call = connection.call_tool("echo", &json!({"text": "on"})).start().await.unwrap();
    eventually("it was received", || calls(&site).len() == 41).await;
    drop(release);
    assert_eq!(success(call.await), "on");
    assert_eq!(site.accepted(), 1);
}

async fn a_server_that_goes_away_costs_no_call<R: OverHttp>() {
    let site = Http2Site::new(100, |request| match (request.text(), echo(request)) {
        ("last", Played::Json(message)) => Played::LastJson(message),
        (_, played) => played,
    });
    let remote = site.remote("http").http2_prior_knowledge();
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    for round in 0..10 {
        let mut started = Vec::new();
        for text in ["on", "last", "on", "on"] {
            let call = connection.call_tool("echo", &json!({"text": text}));
            started.push((text, call.start().await.unwrap()));
        }
        for (text, call) in started {
            assert_eq!(success(call.await), text, "{round}");
        }
    }
    assert_eq!(calls(&site).len(), 40);
    assert!(site.accepted() > 1);
}

async fn refused_requests_are_sent_again_once<R: OverHttp>() {
    let refusals = AtomicUsize::new(0);
    let site = Http2Site::new(100, move |request| match request.text() {
        "once" if refusals.fetch_add(1, Ordering::SeqCst) == 0 => {
            Played::Reset(h2::Reason::REFUSED_STREAM)
        }
        "always" => Played::Reset(h2::Reason::REFUSED_STREAM),
        _ => echo(request),
    });
    let remote = site.remote("http").http2_prior_knowledge();
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "once"})).await), "once");
    let refused = connection.call_tool("echo", &json!({"text": "always"})).await;
    assert_eq!(failed(refused), CallError::Unsent);
    let texts: Vec<_> = calls(&site).iter().map(|call| call.text().to_owned()).collect();
    assert_eq!(texts, ["once", "once", "always", "always"]);
}

async fn a_request_on_a_broken_stream_is_lost<R: OverHttp>() {
    let site = Http2Site::new(100, |request| match request.text() {
        "broken" => Played::Reset(h2::Reason::INTERNAL_ERROR),
        _ => echo(request),
    });
    let remote = site.remote("http").http2_prior_knowledge();
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    let broken = connection.call_tool("echo", &json!({"text": "broken"})).await;
    assert_eq!(failed(broken), CallError::Lost);
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    assert_eq!(calls(&site).len(), 2, "it was not sent again");
}

async fn a_server_without_http2_is_not_used<R: OverHttp>() {
    let site = Site::new(modern);
    let remote = site.remote().http2_prior_knowledge();
    R::connect_http(modern_client().limits(quick()), remote).await.unwrap_err();
    assert!(site.of("server/discover").is_empty());
}
