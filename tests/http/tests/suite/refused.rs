//! Requests that a local server must refuse: foreign, too long, too slow, or malformed.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use mcp_adapter::proto::{Limits, Progress};
use mcp_adapter::{Cx, Tool};
use mcp_blocking::http::{Http, HttpLimits, Principal, Refusal, Stop};
use mcp_http_tests::{
    Listener, Request, Runtime, Served, Session, get, initialize, modern, post, rows, server, text,
    tool,
};
use serde_json::json;

rows! {
    foreign_host_names_are_refused,
    foreign_origins_are_refused,
    a_listener_for_other_machines_needs_a_host,
    configured_hosts_and_origins_are_accepted,
    a_body_that_is_too_long_is_refused,
    a_body_that_takes_too_long_is_refused,
    a_body_that_is_not_json_is_refused,
    a_head_that_is_malformed_is_refused,
    the_host_of_an_absolute_target_counts,
    another_revision_than_the_negotiated_one_is_refused,
    other_transfer_codings_than_chunked_are_refused,
    header_values_are_never_echoed,
    other_paths_and_methods_are_refused,
    settings_that_match_nothing_are_refused,
    repeated_credentials_are_refused,
    json_alone_is_enough_for_one_answer,
    a_byte_order_mark_is_skipped,
}

const EVIL: &str = "evil.example.com";

/// Returns one request of each kind, of an existing session.
fn each(session: &Session) -> [Request; 4] {
    let ping = post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    let delete = Request::new("DELETE");
    [initialize(), session.within(ping), session.within(get(&session.id)), session.within(delete)]
}

fn foreign_host_names_are_refused<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    for request in each(&session) {
        for host in [EVIL, "evil.example.com:80", "localhost.evil.example.com", "192.168.0.1"] {
            assert_eq!(
                request.clone().field("Host", host).send(served.address).status,
                403,
                "{host}"
            );
        }
    }
    let call = modern("tools/call", json!({"name": "echo", "arguments": {"text": "x"}}));
    assert_eq!(call.clone().field("Host", EVIL).send(served.address).status, 403);
    assert_eq!(text(&call.field("Host", "[::1]:80").send(served.address).answer()), "x");
    assert_eq!(session.ping(), 200, "it was not deleted");
}

/// `Host: localhost` does not show that a request is from this machine.
fn a_listener_for_other_machines_needs_a_host<R: Runtime>() {
    let (stop, bound) = (Stop::new(), (Ipv4Addr::UNSPECIFIED, 0));
    let listener = || Listener::Tcp(TcpListener::bind(bound).unwrap());
    let refused = R::serve(&server(), listener(), Http::new(), &stop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    for named in ["0.0.0.0:", "127.0.0.1", "`Http::host`", "`Http::any_host`"] {
        assert!(refused.to_string().contains(named), "{named}: {refused}");
    }
    // It would continue, but is stopped.
    stop.stop();
    for options in [Http::new().host("example.com"), Http::new().any_host()] {
        R::serve(&server(), listener(), options, &stop).unwrap();
    }
}

fn foreign_origins_are_refused<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    for request in each(&session) {
        for origin in ["https://evil.example.com", "null", "http://localhost.evil.example.com", "*"]
        {
            let mut refused = request.clone().field("Origin", origin).send(served.address);
            assert_eq!(refused.status, 403, "{origin}");
            assert_eq!(refused.json()["id"], json!(null));
        }
    }
    assert_eq!(session.ping(), 200, "it was not deleted");
    let page = initialize().field("Origin", "http://localhost:5173").send(served.address);
    assert_eq!(page.status, 200);
}

fn configured_hosts_and_origins_are_accepted<R: Runtime>() {
    let options = Http::new().host("mcp.example.com").origin("https://app.example.com");
    let served = Served::on::<R>(server(), options);
    let request = initialize().field("Host", "mcp.example.com");
    assert_eq!(
        request.clone().field("Origin", "https://app.example.com").send(served.address).status,
        200
    );
    assert_eq!(
        request.field("Origin", "https://other.example.com").send(served.address).status,
        403
    );
}

fn a_body_that_is_too_long_is_refused<R: Runtime>() {
    let limits = Limits { message_bytes_max: 1024, ..Limits::default() };
    let served = Served::on::<R>(server().limits(limits), Http::new());
    let session = Session::open(served.address);
    let long =
        session.within(post(&json!({"jsonrpc": "2.0", "id": 1, "method": "x".repeat(1024)})));
    assert_eq!(long.send(served.address).status, 413);
    // None of the body has to arrive.
    let head =
        session.within(post(&json!({})).body(b"").field("Content-Length", "99999999999999999999"));
    assert!((400..=413).contains(&head.send(served.address).status));
    let chunked = session.within(post(&json!({})).body(b"").without("Content-Length"));
    let mut pending = chunked.field("Transfer-Encoding", "chunked").start(served.address);
    for _ in 0..4 {
        pending.write(b"100\r\n");
        pending.write(&[b' '; 0x100]);
        pending.write(b"\r\n");
    }
    pending.write(b"1\r\n \r\n");
    assert_eq!(pending.reply().status, 413);
    assert_eq!(session.ping(), 200);
}

fn a_body_that_takes_too_long_is_refused<R: Runtime>() {
    let options = Http::new()
        .limits(HttpLimits { body_timeout: Duration::from_millis(50), ..HttpLimits::default() });
    let served = Served::on::<R>(server(), options);
    let slow = initialize().body(b"{").field("Content-Length", "100").start(served.address);
    assert_eq!(slow.reply().status, 408);
    assert_eq!(Session::open(served.address).ping(), 200);
}

fn a_body_that_is_not_json_is_refused<R: Runtime>() {
    let served = Served::echo::<R>();
    let kind = |kind: &str| initialize().field("Content-Type", kind).send(served.address).status;
    for other in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonp",
    ] {
        assert_eq!(kind(other), 415, "{other}");
    }
    assert_eq!(kind("Application/JSON; charset=utf-8"), 200);
    assert_eq!(initialize().without("Content-Type").send(served.address).status, 415);
    let mut broken = initialize().body(b"{\"jsonrpc\"").send(served.address);
    assert_eq!((broken.status, &broken.json()["error"]["code"]), (400, &json!(-32700)));
}

fn a_head_that_is_malformed_is_refused<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    for id in ["a\rb", "a\nb", "a\0b", "a\r\n b", "\x07"] {
        let request = session.within(post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})));
        let refused = request.field("Mcp-Session-Id", id).start(served.address).reply_or_end();
        assert!(refused.is_none_or(|reply| (400..=404).contains(&reply.status)), "{id:?}");
    }
    // A repeated field is refused, even for a proxy's sake; a line break inside a value amounts to
    // one.
    let ping = post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    let twice = session.within(ping).field("Mcp-Session-Id", "a\r\nMcp-Session-Id: b");
    assert_eq!(
        session.within(get("a")).field("X", "y\r\nHost: b").send(served.address).status,
        400
    );
    assert_eq!(twice.send(served.address).status, 400);
    assert_eq!(session.ping(), 200);
}

fn header_values_are_never_echoed<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    let secret = "c0ffee";
    for (name, value) in [
        ("Mcp-Session-Id", secret),
        ("Last-Event-ID", secret),
        ("Origin", "http://c0ffee.example"),
        ("MCP-Protocol-Version", "c0ffee"),
        ("Accept", "text/c0ffee"),
    ] {
        let mut refused = session.within(get(&session.id)).field(name, value).send(served.address);
        assert!((400..=406).contains(&refused.status), "{name}");
        assert!(refused.fields.iter().all(|(_, said)| !said.contains(secret)), "{name}");
        assert!(!refused.text().contains(secret), "{name}");
    }
}

fn other_paths_and_methods_are_refused<R: Runtime>() {
    let served = Served::echo::<R>();
    for (path, is_near) in
        [("/", false), ("/mcp/", true), ("/mcp/x", false), ("/MCP", true), ("//mcp", true)]
    {
        let mut refused = initialize().path(path).send(served.address);
        assert_eq!(refused.status, 404, "{path}");
        // Others do not learn the path, which may be a secret.
        assert_eq!(refused.text().contains("\\\"/mcp\\\""), is_near, "{path}");
    }
    assert_eq!(initialize().path("/mcp?a=b").send(served.address).status, 200);
    for verb in ["PUT", "OPTIONS", "PATCH"] {
        let refused = Request::new(verb).send(served.address);
        assert_eq!(
            (refused.status, refused.field("allow")),
            (405, Some("POST, GET, DELETE")),
            "{verb}"
        );
    }
}

/// Settings under which no request would be accepted.
fn settings_that_match_nothing_are_refused<R: Runtime>() {
    let hosts = ["https://a.example", "a.example:*", "", "*", "a.example/", "*.a.example", "a b"];
    let hosts = hosts.map(|host| (Http::new().host(host), host, "any_host"));
    let origins = ["a.example", "*", "https://a.example/path", "", "https://*.a.example"];
    let origins = origins.map(|origin| (Http::new().origin(origin), origin, "https://app.example"));
    let paths = ["mcp", "", "/mcp?x", "/mcp#f", "/m cp", "/a/../mcp", "/\u{fc}", "https://a/mcp"];
    let paths = paths.map(|path| (Http::new().path(path), path, "any_path"));
    let others = [
        (Http::new().health("/healthz?x"), "/healthz?x", "Http::health"),
        (Http::new().health("/mcp"), "/mcp", "Http::health"),
        (Http::new().sse().health("/messages"), "/messages", "Http::health"),
        (Http::new().sse_at("/sse?x", "/messages"), "/sse?x", "Http::sse_at"),
    ];
    let stop = Stop::new();
    for (options, value, remedy) in hosts.into_iter().chain(origins).chain(paths).chain(others) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let refused = R::serve(&server(), Listener::Tcp(listener), options, &stop);
        let refused = refused.expect_err(value);
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        let why = refused.to_string();
        assert!(why.contains(&format!("{value:?}")) && why.contains(remedy), "{why}");
    }
    let options = Http::new()
        .host("a.example:443")
        .origin("https://app.example.com/")
        .origin("null")
        .path("/mcp/v1")
        .health("healthz");
    let served = Served::on::<R>(server(), options);
    for (host, origin) in [("a.example", "https://app.example.com"), ("localhost", "null")] {
        let request = initialize().path("/mcp/v1").field("Host", host).field("Origin", origin);
        assert_eq!(request.send(served.address).status, 200, "{host} {origin}");
    }
}

fn repeated_credentials_are_refused<R: Runtime>() {
    let options = Http::new().authenticating(|head| {
        let known = head.headers.get("authorization").is_some_and(|token| token == "Bearer a");
        let ada = Principal::new("ada").filter(|_| known);
        ada.ok_or_else(|| Refusal::new(401, "unknown").header("www-authenticate", "Bearer"))
    });
    let served = Served::on::<R>(server(), options);
    let with = |token| initialize().field("Authorization", token).send(served.address).status;
    assert_eq!((with("Bearer a"), with("Bearer b")), (200, 401));
    for twice in ["Bearer a\r\nAuthorization: Bearer b", "Bearer a\r\nauthorization: Bearer a"] {
        assert_eq!(with(twice), 400, "{twice:?}");
    }
}

fn json_alone_is_enough_for_one_answer<R: Runtime>() {
    let server = server().add(Tool::define(tool("chatty"), |cx: Cx| {
        cx.progress(Progress::new(1.0))?;
        // Longer than any response waits before it becomes an event stream.
        std::thread::sleep(Duration::from_millis(200));
        Ok("done")
    }));
    let served = Served::on::<R>(server, Http::new());
    let session = Session::open(served.address);
    let arguments = json!({"name": "chatty", "arguments": {}, "_meta": {"progressToken": 1}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments});
    let calls = [session.within(post(&call)), modern("tools/call", arguments)];
    for accept in ["application/json", "application/*", "application/json, text/event-stream;q=0"] {
        for call in &calls {
            let mut reply = call.clone().field("Accept", accept).send(served.address);
            assert_eq!(reply.status, 200, "{accept}");
            assert_eq!(text(&reply.json()), "done", "{accept}");
        }
    }
    for call in &calls {
        let mut reply = call.clone().without("Accept").send(served.address);
        assert_eq!(reply.field("content-type"), Some("text/event-stream"), "anything is accepted");
        assert!(reply.message().is_some());
    }
    let listen = modern("subscriptions/listen", json!({"notifications": {}}));
    let mut refused = listen.field("Accept", "application/json").send(served.address);
    assert_eq!((refused.status, refused.text().contains("`text/event-stream`")), (406, true));
    let mut refused = initialize().field("Accept", "text/event-stream").send(served.address);
    assert_eq!((refused.status, refused.text().contains("`application/json`")), (406, true));
    let events = session.within(get(&session.id)).without("Accept").send(served.address);
    assert_eq!(events.status, 200);
}

fn a_byte_order_mark_is_skipped<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    let marked = |message: &str| ["\u{feff}", message].concat();
    let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}).to_string();
    let request = session.within(post(&json!(null))).body(marked(&ping).as_bytes());
    assert_eq!(request.send(served.address).answer()["result"], json!({}));
    let twice = session.within(post(&json!(null))).body(marked(&marked(&ping)).as_bytes());
    assert_eq!(twice.send(served.address).status, 400);
}

/// RFC 9112, section 3.2.2: the target takes precedence over the field.
fn the_host_of_an_absolute_target_counts<R: Runtime>() {
    let served = Served::echo::<R>();
    let foreign = format!("http://{EVIL}/mcp");
    let local = initialize().path(&foreign).field("Host", "localhost");
    assert_eq!(local.send(served.address).status, 403);
    let foreign = initialize().path("http://localhost/mcp").field("Host", EVIL);
    assert_eq!(foreign.send(served.address).status, 200);
}

fn another_revision_than_the_negotiated_one_is_refused<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    let ping = || session.within(post(&json!({"jsonrpc": "2.0", "id": 7, "method": "ping"})));
    let mut refused = ping().field("MCP-Protocol-Version", "2025-06-18").send(served.address);
    assert_eq!(refused.status, 400);
    let body = refused.json();
    assert_eq!(body["id"], 7);
    assert!(body["error"]["message"].as_str().is_some_and(|why| why.contains("2025-11-25")));
    assert_eq!(ping().without("MCP-Protocol-Version").send(served.address).status, 200);
    assert_eq!(session.ping(), 200);
}

fn other_transfer_codings_than_chunked_are_refused<R: Runtime>() {
    let served = Served::echo::<R>();
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let session = Session::open(served.address);
    let chunks = format!("{:x}\r\n{message}\r\n0\r\n\r\n", message.len());
    for (coding, status) in [("chunked", 200), ("Chunked", 200), ("gzip, chunked", 501)] {
        let request = session
            .within(post(&json!(null)))
            .body(chunks.as_bytes())
            .without("Content-Length")
            .field("Transfer-Encoding", coding);
        let reply = request.send(served.address);
        assert_eq!(reply.status, status, "{coding}");
    }
}
