//! Detecting the server's era, and whether it is an MCP server at all.

use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

use mcp_adapter::http::Remote;
use mcp_adapter::proto::{CallError, CloseReason, Era, Fault};
use mcp_adapter::{Error, proto::Revision};
use mcp_adapter_tests::{client, eventually, rows, success};
use mcp_http_client_tests::{Answer, OverHttp, Request, Site, legacy, modern};
use serde_json::json;

use crate::{SOON, quick};

rows! {
    a_modern_server_is_known_by_its_answer_lif_25,
    any_legacy_answer_to_the_probe_leads_to_initialize_lif_30,
    an_unavailable_server_does_not_decide_its_era_lif_31,
    an_unauthorized_probe_is_not_repeated_aut_11,
    an_unreachable_server_is_reported_clearly,
    a_peer_without_http_is_an_error,
    a_silent_server_times_out_tmo_06_tmo_15,
}

async fn a_modern_server_is_known_by_its_answer_lif_25<R: OverHttp>() {
    let site = Site::new(modern);
    let connection = R::connect_http(client(), site.remote()).await.unwrap();
    assert_eq!(connection.revision(), Revision::V2026_07_28);
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    connection.close().await.unwrap();
    assert_eq!(site.words(), ["server/discover", "tools/call"]);
    assert!(
        site.heard()
            .iter()
            .all(|request| request.field("mcp-protocol-version") == Some("2026-07-28"))
    );
}

async fn any_legacy_answer_to_the_probe_leads_to_initialize_lif_30<R: OverHttp>() {
    type Says = fn(&Request, &mut Answer<'_>);
    const TEXT: &[(&str, &str)] = &[("content-type", "text/plain")];
    const HTML: &[(&str, &str)] = &[("content-type", "text/html")];
    const JSON: &[(&str, &str)] = &[("content-type", "application/json")];
    let says: [Says; 9] = [
        |_, answer| answer.status(400, TEXT, "no session"),
        |_, answer| answer.status(404, &[], ""),
        |_, answer| answer.status(404, HTML, "<!doctype html>"),
        |_, answer| answer.status(405, &[("allow", "GET")], ""),
        |_, answer| answer.status(500, TEXT, "oh"),
        |_, answer| answer.status(200, HTML, "<!doctype html>"),
        |_, answer| answer.status(202, &[], ""),
        |_, answer| {
            let error =
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}"#;
            answer.status(400, JSON, error);
        },
        |request, answer| {
            let error = json!({"code": -32601, "message": "no such method"});
            answer.json(&[], &json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error}));
        },
    ];
    for (nth, says) in says.into_iter().enumerate() {
        let site = Site::new(move |request, answer| match request.what() {
            "server/discover" => says(request, answer),
            _ => legacy(request, answer),
        });
        let connection = R::connect_http(client(), site.remote()).await.unwrap();
        assert_eq!(connection.era(), Era::Legacy, "{nth}");
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        connection.close().await.unwrap();
        assert_eq!(site.words()[..2], ["server/discover", "initialize"], "{nth}");
    }
}

async fn an_unavailable_server_does_not_decide_its_era_lif_31<R: OverHttp>() {
    type Fails = fn(&mut Answer<'_>);
    let fails: [Fails; 2] =
        [|answer| answer.cut(), |answer| answer.status(503, &[("retry-after", "0")], "")];
    for fail in fails {
        let site = Site::new(move |request, answer| match request.nth {
            0 => fail(answer),
            _ => modern(request, answer),
        });
        let began = Duration::from_millis(50);
        let remote = site.remote().reconnect(began, began);
        let connection = R::connect_http(client(), remote).await.unwrap();
        assert_eq!(connection.revision(), Revision::V2026_07_28);
        assert_eq!(site.words(), ["server/discover", "server/discover"]);
        // A server that stays unavailable for the probe is probed again by `reconnect`.
        let site = Site::new(move |request, answer| match request.what() {
            "server/discover" if request.nth < 3 => fail(answer),
            "server/discover" => modern(request, answer),
            _ => legacy(request, answer),
        });
        let remote = site.remote().reconnect(began, began);
        let connection = R::connect_http(client(), remote).await.unwrap();
        assert_eq!(connection.era(), Era::Legacy);
        let again = connection.reconnect().await.unwrap();
        assert_eq!(again.revision(), Revision::V2026_07_28);
    }
}

async fn an_unauthorized_probe_is_not_repeated_aut_11<R: OverHttp>() {
    let site = Site::new(|_, answer| answer.status(401, &[], ""));
    let error = R::connect_http(client(), site.remote()).await.unwrap_err();
    let Error::Start { why, .. } = &error else { panic!("{error:?}") };
    assert_eq!(
        *why,
        CloseReason::Fault(Fault::Unreachable(CallError::Http { status: 401, reason: None }))
    );
    assert_eq!(site.words(), ["server/discover"]);
    let text = error.to_string();
    assert!(text.contains(&site.url()) && text.contains("401"), "{text}");
}

async fn an_unreachable_server_is_reported_clearly<R: OverHttp>() {
    // A port that was free a moment ago.
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    for (url, expected) in [
        (format!("http://127.0.0.1:{port}/mcp"), "refused"),
        (format!("http://nowhere.invalid:{port}/mcp"), "nowhere.invalid"),
    ] {
        let began = Instant::now();
        let error = R::connect_http(client(), Remote::new(&url).unwrap()).await.unwrap_err();
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        let text = error.to_string();
        assert!(text.contains(&url) && text.contains(expected), "{text}");
        assert!(!text.contains("did not start"), "{text}");
    }
}

async fn a_peer_without_http_is_an_error<R: OverHttp>() {
    for garbage in
        ["SSH-2.0-OpenSSH_9.6\r\n", "\0\0\0\u{1}", "HTTP/9.9 200 OK\r\n\r\n", "\r\n\r\n\r\n\r\n"]
    {
        let site = Site::new(move |_, answer| {
            answer.raw(garbage);
            answer.cut();
        });
        let error = R::connect_http(client().limits(quick()), site.remote()).await.unwrap_err();
        let Error::Start { why, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*why, CloseReason::Fault(Fault::Unreachable(CallError::Lost)), "{garbage:?}");
        eventually("no connection is left", || site.open() == 0).await;
    }
}

async fn a_silent_server_times_out_tmo_06_tmo_15<R: OverHttp>() {
    let site = Site::new(|_, answer| {
        answer.sees_the_client_leave(SOON);
    });
    let began = Instant::now();
    let error = R::connect_http(client().limits(quick()), site.remote()).await.unwrap_err();
    let waited = began.elapsed();
    assert!(
        waited >= quick().probe_timeout + quick().handshake_timeout && waited < SOON,
        "{waited:?}"
    );
    let Error::Start { why, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*why, CloseReason::Fault(Fault::HandshakeTimedOut));
    assert_eq!(site.words(), ["server/discover", "initialize"]);
    eventually("no connection is left", || site.open() == 0).await;
}
