//! Redirects, authentication challenges and credentials.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_adapter::Client;
use mcp_adapter::proto::CallError;
use mcp_adapter_tests::{client, eventually, rows, success};
use mcp_http_client_tests::{Answer, OverHttp, Request, Site, legacy, modern};
use serde_json::json;
use smol::channel::unbounded;

use crate::{failed, legacy_client, modern_client};

rows! {
    a_redirect_to_another_origin_is_not_followed_when_connecting,
    a_redirect_to_another_origin_is_not_followed_by_a_call,
    a_redirect_within_the_origin_is_followed_with_method_body_and_credentials,
    a_redirect_in_a_circle_ends_its_call,
    a_challenge_is_reported_and_the_call_fails_aut_11,
    an_unauthorized_client_learns_why_but_no_secret_is_shown_aut_11,
    every_text_of_an_error_status_is_in_the_error_but_no_secret,
    credentials_are_fetched_and_sent_with_each_request,
    missing_credentials_fail_the_request,
}

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

async fn a_redirect_to_another_origin_is_not_followed_when_connecting<R: OverHttp>() {
    let elsewhere = Site::new(modern);
    for status in STATUSES {
        let url = elsewhere.url();
        let site = Site::new(move |_, answer| answer.status(status, &[("location", &url)], ""));
        let error = R::connect_http(client(), site.remote()).await.unwrap_err().to_string();
        assert!(error.contains(&status.to_string()) && error.contains(&elsewhere.url()), "{error}");
    }
    assert_eq!(elsewhere.accepted(), 0);
}

// AUT-06
async fn a_redirect_to_another_origin_is_not_followed_by_a_call<R: OverHttp>() {
    let elsewhere = Site::new(modern);
    for status in STATUSES {
        let url = elsewhere.url() + "?key=secret";
        let site = Site::new(move |request, answer| match request.text() {
            "away" => answer.status(status, &[("location", &url)], ""),
            _ => modern(request, answer),
        });
        let remote = site.remote().authorization(|| Some("Bearer secret".into()));
        let connection = R::connect_http(modern_client(), remote).await.unwrap();
        let away = connection.call_tool("echo", &json!({"text": "away"})).await;
        let target = elsewhere.url().into();
        assert_eq!(failed(away), CallError::Redirected { status, target });
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    }
    assert_eq!(elsewhere.accepted(), 0);
}

async fn a_redirect_within_the_origin_is_followed_with_method_body_and_credentials<R: OverHttp>() {
    for (client, otherwise) in [
        (modern_client as fn() -> Client, modern as fn(&Request, &mut Answer<'_>)),
        (legacy_client, legacy),
    ] {
        for (status, location) in [(307, "/mcp/"), (308, "mcp/"), (307, "http://[]/mcp/")] {
            let site = Site::new(move |request, answer| match &*request.path {
                "/mcp/" => otherwise(request, answer),
                _ => {
                    let host = request.field("host").unwrap();
                    let location = location.replace("[]", host);
                    answer.status(status, &[("location", &location)], "<html>moved</html>");
                }
            });
            let remote = site.remote().authorization(|| Some("Bearer secret".into()));
            let connection = R::connect_http(client(), remote).await.unwrap();
            for _ in 0..10 {
                let said = connection.call_tool("echo", &json!({"text": "on"})).await;
                assert_eq!(success(said), "on");
            }
            connection.close().await.unwrap();
            let heard = site.heard();
            assert!(heard.iter().all(|it| it.field("authorization") == Some("Bearer secret")));
            let (moved, served): (Vec<_>, Vec<_>) =
                heard.into_iter().partition(|request| request.path == "/mcp");
            let words = |of: &[Request]| -> Vec<_> {
                let words = of.iter().map(|it| it.what().to_owned());
                let mut words: Vec<_> = words.filter(|word| word != "GET").collect();
                words.sort();
                words
            };
            assert_eq!(words(&moved), words(&served));
            assert!(site.accepted() <= 6, "{}", site.accepted());
        }
    }
}

async fn a_redirect_in_a_circle_ends_its_call<R: OverHttp>() {
    let site = Site::new(|request, answer| match (request.text(), &*request.path) {
        ("away", "/mcp") => answer.status(307, &[("location", "/other")], ""),
        ("away", _) => answer.status(308, &[("location", "/mcp")], ""),
        _ => modern(request, answer),
    });
    let connection = R::connect_http(modern_client(), site.remote()).await.unwrap();
    let away = connection.call_tool("echo", &json!({"text": "away"})).await;
    assert_eq!(failed(away), CallError::Redirected { status: 308, target: "/mcp".into() });
    assert_eq!(site.of("tools/call").len(), 6);
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}

async fn a_challenge_is_reported_and_the_call_fails_aut_11<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.text() {
        "401" => {
            let realm = r#"Bearer realm="shop", resource_metadata="http://a/b", Basic realm="x""#;
            answer.status(401, &[("www-authenticate", realm)], "");
        }
        "403" => {
            answer.status(403, &[("www-authenticate", r#"Bearer error="insufficient_scope""#)], "");
        }
        _ => modern(request, answer),
    });
    let (says, heard) = unbounded();
    let remote = site.remote().on_challenge(move |challenged| {
        says.try_send(challenged.clone()).unwrap();
        panic!("this is caught");
    });
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    for status in [401, 403] {
        let call = connection.call_tool("echo", &json!({"text": status.to_string()})).await;
        let reason = (status == 403).then(|| "insufficient_scope".into());
        assert_eq!(failed(call), CallError::Http { status, reason });
        let challenged = heard.recv().await.unwrap();
        assert_eq!(challenged.status, status);
        assert!(challenged.call.is_some());
        assert_eq!(challenged.challenges[0].scheme, "Bearer");
        if status == 401 {
            assert_eq!(challenged.challenges[0].param("resource_metadata"), Some("http://a/b"));
            assert_eq!(challenged.challenges[1].scheme, "Basic");
        } else {
            assert_eq!(challenged.challenges[0].param("error"), Some("insufficient_scope"));
        }
    }
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    assert!(heard.is_empty());
}

async fn an_unauthorized_client_learns_why_but_no_secret_is_shown_aut_11<R: OverHttp>() {
    let refuse = |request: &Request, answer: &mut Answer<'_>| {
        let token = request.field("authorization").unwrap_or("no token").to_owned();
        let body = json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": token}});
        let fields = [("www-authenticate", "Bearer"), ("content-type", "application/json")];
        answer.status(401, &fields, &body.to_string());
    };
    let site = Site::new(refuse);
    let error = R::connect_http(modern_client(), site.remote()).await.unwrap_err().to_string();
    assert!(error.contains("HTTP status 401: no token; pass a valid token with"), "{error}");
    assert!(error.contains("`Remote::authorization`"), "{error}");
    let remote = site.remote().authorization(|| Some("Bearer secret".into()));
    let error = R::connect_http(modern_client(), remote).await.unwrap_err().to_string();
    assert!(error.contains("401: Bearer [removed];"), "{error}");
    // A call on an open connection fails likewise.
    let site = Site::new(move |request, answer| match request.text() {
        "away" => refuse(request, answer),
        _ => modern(request, answer),
    });
    let remote = site.remote().authorization(|| Some("Bearer secret".into()));
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    let error = connection.call_tool("echo", &json!({"text": "away"})).await.unwrap_err();
    assert!(error.to_string().contains("401: Bearer [removed];"), "{error}");
    // An explanation that does not arrive is not waited for.
    let site = Site::new(|_, answer| {
        answer.raw("HTTP/1.1 401 As Played\r\ncontent-length: 10\r\n\r\nno");
        answer.sees_the_client_leave(Duration::from_secs(20));
    });
    let error = R::connect_http(modern_client(), site.remote()).await.unwrap_err().to_string();
    assert!(error.contains("401; pass a valid token"), "{error}");
}

// HTTP-61
async fn every_text_of_an_error_status_is_in_the_error_but_no_secret<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.text() {
        "on" | "" => modern(request, answer),
        body => {
            // A redirect without a target is an error, too.
            let status = if body.starts_with("moved") { 300 } else { 500 };
            answer.status(status, &[("content-type", "text/plain")], body);
        }
    });
    let remote = site.remote().authorization(|| Some("Bearer secret-token".into()));
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    for (body, text) in [
        ("out of\u{1b}[1m memory", "out of memory"),
        (r#"{"detail":"no such row"}"#, "no such row"),
        (r#"{"error":{"code":"E7","message":"no such row"}}"#, "no such row"),
        ("<html><h1>Bad Gateway</h1></html>", "Bad Gateway"),
        ("unknown: secret-token", "unknown: [removed]"),
        (r#"{"message":"secret\u002dtoken"}"#, "[removed]"),
    ] {
        let call = connection.call_tool("echo", &json!({"text": body})).await;
        let reason = Some(text.into());
        assert_eq!(failed(call), CallError::Http { status: 500, reason });
    }
    let moved = connection.call_tool("echo", &json!({"text": "moved: secret-token"})).await;
    let reason = Some("moved: [removed]".into());
    assert_eq!(failed(moved), CallError::Http { status: 300, reason });
    let foreign = r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-7,"message":"busy"}}"#;
    let call = connection.call_tool("echo", &json!({"text": foreign})).await;
    let text = failed(call).to_string();
    assert_eq!(text, "busy (HTTP status 500) (-7)");
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}

async fn credentials_are_fetched_and_sent_with_each_request<R: OverHttp>() {
    let site = Site::new(legacy);
    let asked = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&asked);
    let remote = site
        .remote()
        .authorization(move || Some(format!("Bearer {}", counts.fetch_add(1, Ordering::SeqCst))));
    let connection = R::connect_http(legacy_client(), remote).await.unwrap();
    success(connection.call_tool("echo", &json!({})).await);
    eventually("a stream is asked for", || site.of("GET").len() == 1).await;
    connection.close().await.unwrap();
    let mut said: Vec<_> = site
        .heard()
        .iter()
        .map(|request| request.field("authorization").unwrap().to_owned())
        .collect();
    said.sort();
    said.dedup();
    assert_eq!(said.len(), site.heard().len(), "each was asked for by itself");
    assert_eq!(said.len(), asked.load(Ordering::SeqCst));
    assert!(site.words().contains(&"DELETE".to_owned()));
}

async fn missing_credentials_fail_the_request<R: OverHttp>() {
    let site = Site::new(modern);
    let asked = AtomicUsize::new(0);
    let remote = site.remote().authorization(move || match asked.fetch_add(1, Ordering::SeqCst) {
        1 => panic!("the key is lost"),
        2 => Some("a\nb".into()),
        _ => Some("Bearer good".into()),
    });
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    for _ in 0..2 {
        assert_eq!(failed(connection.call_tool("echo", &json!({})).await), CallError::Unsent);
    }
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    assert!(
        site.heard().iter().all(|request| request.field("authorization") == Some("Bearer good"))
    );
}
