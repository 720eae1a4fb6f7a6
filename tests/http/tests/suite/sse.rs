//! HTTP+SSE, the transport of revision 2024-11-05, beside Streamable HTTP.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use mcp_adapter::Tool;
use mcp_adapter::proto::Limits;
use mcp_blocking::http::{Http, HttpLimits};
use mcp_http_tests::{
    Listener, Reply, Request, Runtime, Served, Session, eventually, post, rows, server, text, tool,
};
use serde_json::{Value, json};

use crate::authorized::{bearing, challenge};
use crate::limits::waiting;
use crate::principals::user;

rows! {
    a_session_runs_over_its_stream_http_57_http_58,
    a_session_ends_with_its_stream,
    the_endpoints_exist_only_on_request,
    other_methods_are_refused_lif_36,
    foreign_hosts_and_origins_are_refused_http_55,
    unknown_sessions_are_refused,
    sessions_of_both_transports_are_separate,
    a_session_belongs_to_its_principal_sec_13,
    a_message_without_the_scopes_of_its_entry_is_challenged_aut_24,
    unused_sessions_expire_sec_18,
    sessions_are_limited_sec_18,
    requests_count_for_their_address_sec_18,
    a_client_that_does_not_read_is_disconnected_sec_18,
    a_server_that_stops_ends_its_streams,
}

fn stream() -> Request {
    Request::new("GET").path("/sse").field("Accept", "text/event-stream")
}

/// A POST as old clients send it.
fn message(target: &str, body: &Value) -> Request {
    post(body).path(target).without("Accept")
}

/// A session over HTTP+SSE as its client sees it.
struct SseSession {
    address: SocketAddr,
    target: String,
    stream: Reply,
}

impl SseSession {
    fn connect(address: SocketAddr, request: &Request) -> Self {
        let mut stream = request.send(address);
        assert_eq!(stream.status, 200);
        let first = stream.event().unwrap();
        assert_eq!(first.kind.as_deref(), Some("endpoint"), "{first:?}");
        Self { address, target: first.data, stream }
    }

    fn open(address: SocketAddr) -> Self {
        let mut session = Self::connect(address, &stream());
        session.initialize(&|request| request);
        session
    }

    fn initialize(&mut self, with: &dyn Fn(Request) -> Request) {
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "row", "version": "1"},
        }});
        let sent = with(message(&self.target, &initialize)).send(self.address);
        assert_eq!(sent.status, 202);
        assert_eq!(self.stream.message().unwrap()["result"]["protocolVersion"], "2024-11-05");
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(with(message(&self.target, &initialized)).send(self.address).status, 202);
    }

    fn post(&self, body: &Value) -> u16 {
        message(&self.target, body).send(self.address).status
    }

    fn ping(&self) -> u16 {
        self.post(&json!({"jsonrpc": "2.0", "id": 99, "method": "ping"}))
    }
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": name, "arguments": arguments}})
}

// HTTP-57, HTTP-58
fn a_session_runs_over_its_stream_http_57_http_58<R: Runtime>() {
    let served = Served::on::<R>(server(), Http::new().sse());
    let mut session = SseSession::open(served.address);
    let id = session.target.strip_prefix("/messages?session_id=").unwrap();
    assert!(id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    for said in ["hi", &"x".repeat(1 << 20)] {
        assert_eq!(session.post(&call("echo", &json!({"text": said}))), 202);
        assert_eq!(text(&session.stream.message().unwrap()), said);
    }
    // Streamable HTTP is served at its own path.
    assert_eq!(Session::open(served.address).ping(), 200);
    assert_eq!(session.ping(), 202);
    assert_eq!(session.stream.message().unwrap()["id"], 99);
}

fn a_session_ends_with_its_stream<R: Runtime>() {
    let options = Http::new().sse();
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let session = SseSession::open(served.address);
    assert_eq!(stats.sessions(), 1);
    let SseSession { address, target, stream } = session;
    drop(stream);
    eventually("the session ends", || (stats.sessions() == 0).then_some(()));
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(message(&target, &ping).send(address).status, 404);
}

fn the_endpoints_exist_only_on_request<R: Runtime>() {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let served = Served::on::<R>(server(), Http::new());
    assert_eq!(stream().send(served.address).status, 404);
    assert_eq!(message("/messages?session_id=1", &ping).send(served.address).status, 404);
    let served = Served::on::<R>(server(), Http::new().sse_at("/a/old", "/a/post"));
    assert_eq!(stream().send(served.address).status, 404);
    let session = SseSession::connect(served.address, &stream().path("/a/old"));
    assert!(session.target.starts_with("/a/post?session_id="), "{}", session.target);
    assert_eq!(session.ping(), 202);
    for (stream, messages, why) in [
        ("/sse", "//evil.example/", "path of the message endpoint"),
        ("sse", "/messages", "Http::sse_at"),
        ("/sse", "/sse", "path of the HTTP+SSE stream"),
    ] {
        let invalid = R::serve(
            &server(),
            Listener::Tcp(std::net::TcpListener::bind("127.0.0.1:0").unwrap()),
            Http::new().sse_at(stream, messages),
            &mcp_blocking::http::Stop::new(),
        );
        assert!(invalid.unwrap_err().to_string().contains(why), "{stream} {messages}");
    }
}

// LIF-36: 405 to the POST of a client that tries Streamable HTTP first.
fn other_methods_are_refused_lif_36<R: Runtime>() {
    let served = Served::on::<R>(server(), Http::new().sse().authenticating(user));
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let refused = post(&ping).path("/sse").send(served.address);
    assert_eq!((refused.status, refused.field("allow")), (405, Some("GET")));
    let refused = stream().path("/messages?session_id=1").send(served.address);
    assert_eq!((refused.status, refused.field("allow")), (405, Some("POST")));
    assert_eq!(stream().send(served.address).status, 401);
    assert_eq!(message("/messages?session_id=1", &ping).send(served.address).status, 401);
}

// HTTP-55
fn foreign_hosts_and_origins_are_refused_http_55<R: Runtime>() {
    let served = Served::on::<R>(server(), Http::new().sse());
    let session = SseSession::open(served.address);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for request in [stream(), message(&session.target, &ping), post(&ping).path("/sse")] {
        for (name, value) in [("Host", "evil.example"), ("Origin", "https://evil.example")] {
            let refused = request.clone().field(name, value).send(served.address);
            assert_eq!(refused.status, 403, "{request:?} {name}");
        }
    }
    let page = stream().field("Origin", "http://localhost:6274");
    SseSession::connect(served.address, &page);
}

fn unknown_sessions_are_refused<R: Runtime>() {
    let served = Served::on::<R>(server(), Http::new().sse());
    let session = SseSession::open(served.address);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let (known, long) = (&session.target, "0".repeat(5000));
    for (target, status) in [
        (&known[..known.len() - 1], 404),
        (&*format!("{known}0"), 404),
        (&*format!("/messages?session_id={long}"), 404),
        ("/messages?session_id=", 404),
        ("/messages", 400),
        (&*format!("{known}&session_id=0"), 400),
    ] {
        assert_eq!(message(target, &ping).send(served.address).status, status, "{target}");
    }
    let not_json = Request::new("POST").path(known).body(b"{}");
    assert_eq!(not_json.send(served.address).status, 415);
    let no_message = not_json.field("Content-Type", "application/json");
    assert_eq!(no_message.send(served.address).status, 400);
    assert_eq!(session.ping(), 202);
}

fn sessions_of_both_transports_are_separate<R: Runtime>() {
    let served = Served::on::<R>(server(), Http::new().sse());
    let sse = SseSession::open(served.address);
    let id = sse.target.split('=').next_back().unwrap().to_owned();
    let as_streamable = Session { address: served.address, id };
    assert_eq!((as_streamable.ping(), as_streamable.listen(None).status), (404, 404));
    let streamable = Session::open(served.address);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let target = format!("/messages?session_id={}", streamable.id);
    assert_eq!(message(&target, &ping).send(served.address).status, 404);
    assert_eq!((sse.ping(), streamable.ping()), (202, 200));
}

// SEC-13
fn a_session_belongs_to_its_principal_sec_13<R: Runtime>() {
    let served = Served::on::<R>(server(), Http::new().sse().authenticating(user));
    let of =
        |name: &str, request: Request| request.field("Authorization", &format!("Bearer of-{name}"));
    let mut session = SseSession::connect(served.address, &of("ada", stream()));
    session.initialize(&|request| of("ada", request));
    let ping = message(&session.target, &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(of("eve", ping.clone()).send(served.address).status, 404);
    assert_eq!(of("ada", ping).send(served.address).status, 202);
}

// AUT-24
fn a_message_without_the_scopes_of_its_entry_is_challenged_aut_24<R: Runtime>() {
    let (server, runs) = crate::scopes::service();
    let served = Served::on::<R>(server, crate::scopes::options().sse());
    let mut session = SseSession::connect(served.address, &bearing("reader", stream()));
    session.initialize(&|request| bearing("reader", request));
    let guarded = message(&session.target, &call("guarded", &json!({})));
    let refused = bearing("reader", guarded.clone()).send(served.address);
    let expected = (Some("insufficient_scope".to_owned()), Some("write".to_owned()));
    assert_eq!((refused.status, challenge(&refused)), (403, expected));
    assert_eq!(runs.load(std::sync::atomic::Ordering::SeqCst), 0);
    assert_eq!(bearing("writer", guarded).send(served.address).status, 202);
    assert_eq!(text(&session.stream.message().unwrap()), "done");
}

// SEC-18
fn unused_sessions_expire_sec_18<R: Runtime>() {
    let options = Http::new()
        .sse()
        .limits(HttpLimits { unconfirmed_max: Duration::from_secs(2), ..HttpLimits::default() });
    let served = Served::on::<R>(server(), options);
    let used = SseSession::open(served.address);
    let mut unused = SseSession::connect(served.address, &stream());
    assert_eq!(unused.stream.event(), None, "the stream ends");
    assert_eq!(used.ping(), 202);
}

// SEC-18
fn sessions_are_limited_sec_18<R: Runtime>() {
    for (options, status) in [
        (
            Http::new()
                .sse()
                .limits(HttpLimits { sessions_per_address_max: 2, ..HttpLimits::default() }),
            429,
        ),
        (Http::new().sse().limits(HttpLimits { sessions_max: 2, ..HttpLimits::default() }), 503),
    ] {
        let stats = options.stats();
        let served = Served::on::<R>(server(), options);
        let (first, _second) = (SseSession::open(served.address), SseSession::open(served.address));
        let mut refused = stream().send(served.address);
        assert_eq!(refused.status, status);
        assert!(refused.text().contains("too many sessions"));
        drop(first);
        eventually("a session ends", || (stats.sessions() == 1).then_some(()));
        SseSession::open(served.address);
    }
}

// SEC-18: the POST is answered long before the request.
fn requests_count_for_their_address_sec_18<R: Runtime>() {
    let options = Http::new()
        .sse()
        .limits(HttpLimits { requests_bytes_per_address_max: 128 << 10, ..HttpLimits::default() });
    let (server, go) = waiting();
    let served = Served::on::<R>(server, options);
    let mut session = SseSession::open(served.address);
    let large = call("wait", &json!({"padding": "x".repeat(100_000)}));
    assert_eq!((session.post(&large), session.post(&large)), (202, 429));
    go.send(()).unwrap();
    assert_eq!(text(&session.stream.message().unwrap()), "done");
    go.send(()).unwrap();
    assert_eq!(session.post(&large), 202);
    assert_eq!(text(&session.stream.message().unwrap()), "done");
}

// SEC-18
fn a_client_that_does_not_read_is_disconnected_sec_18<R: Runtime>() {
    let limits = Limits { stall_timeout: Duration::from_millis(200), ..Limits::default() };
    let options = Http::new().sse();
    let stats = options.stats();
    let server = server().limits(limits).add(Tool::define(tool("flood"), || "x".repeat(30 << 20)));
    let served = Served::on::<R>(server, options);
    let session = SseSession::open(served.address);
    assert_eq!(session.post(&call("flood", &json!({}))), 202);
    eventually("the session ends", || (stats.sessions() == 0).then_some(()));
    assert_eq!(session.ping(), 404);
    // Half a request holds nothing.
    let mut half = TcpStream::connect(served.address).unwrap();
    half.write_all(b"GET /sse HTTP/1.1\r\n").unwrap();
    SseSession::open(served.address);
}

fn a_server_that_stops_ends_its_streams<R: Runtime>() {
    let served = Served::on::<R>(server(), Http::new().sse());
    let mut session = SseSession::open(served.address);
    served.stop.stop();
    assert_eq!(session.stream.event(), None);
    served.ends_within(Duration::from_secs(30));
}
