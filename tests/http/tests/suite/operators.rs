//! Options for the operation of a server: pages of other origins, health checks, idle connections,
//! time to drain, session ids.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use mcp_adapter::proto::Raw;
use mcp_adapter::proto::schema::Elicit;
use mcp_adapter::tasks::TaskPolicy;
use mcp_adapter::{Cx, Tool};
use mcp_blocking::http::{Http, HttpLimits, Principal, Refusal};
use mcp_http_tests::{
    PATIENCE, Request, Runtime, Served, Session, eventually, initialize, modern, post, rows,
    server, text, tool,
};
use serde_json::{Value, json};

rows! {
    pages_of_allowed_origins_may_ask_and_read,
    health_checks_need_neither_host_nor_credentials,
    idle_connections_end_after_their_own_time,
    a_response_that_is_read_slowly_is_complete,
    a_slow_head_does_not_delay_the_end_of_a_server,
    requests_of_both_eras_have_equal_time_to_drain,
    the_longest_times_are_accepted,
    legacy_clients_without_sessions_have_no_tasks,
    session_ids_come_from_the_application,
    an_id_that_is_taken_ends_no_session,
    legacy_clients_are_served_without_sessions,
}

const PAGE: &str = "https://app.example.com";

/// Builds the request by which a browser asks for permission.
fn preflight(origin: &str) -> Request {
    Request::new("OPTIONS")
        .field("Origin", origin)
        .field("Access-Control-Request-Method", "POST")
        .field("Access-Control-Request-Headers", "authorization,mcp-param-city")
}

fn pages_of_allowed_origins_may_ask_and_read<R: Runtime>() {
    let options = Http::new().origin(PAGE).authenticating(|head| {
        let known = head.headers.contains_key("authorization");
        Principal::new("ada")
            .filter(|_| known)
            .ok_or_else(|| Refusal::new(401, "unknown").header("www-authenticate", "Bearer"))
    });
    let served = Served::on::<R>(server(), options);
    let granted = preflight(PAGE).send(served.address);
    assert_eq!(granted.status, 204);
    assert_eq!(granted.field("access-control-allow-origin"), Some(PAGE));
    assert_eq!(granted.field("vary"), Some("Origin"));
    assert_eq!(granted.field("access-control-allow-methods"), Some("POST, GET, DELETE"));
    let headers = granted.field("access-control-allow-headers").unwrap();
    assert!(headers.contains("Authorization") && headers.ends_with("mcp-param-city"), "{headers}");
    for (request, status) in
        [(initialize(), 401), (initialize().field("Authorization", "Bearer x"), 200)]
    {
        let reply = request.clone().field("Origin", PAGE).send(served.address);
        assert_eq!(reply.status, status);
        assert_eq!(reply.field("access-control-allow-origin"), Some(PAGE));
        let exposed = reply.field("access-control-expose-headers").unwrap();
        assert!(exposed.contains("Mcp-Session-Id") && exposed.contains("WWW-Authenticate"));
        let reply = request.send(served.address);
        assert_eq!(reply.field("access-control-allow-origin"), None, "no page");
    }
    for refused in
        [preflight("https://evil.example"), preflight(PAGE).field("Host", "evil.example")]
    {
        assert_eq!(refused.send(served.address).status, 403);
    }
    assert_eq!(preflight(PAGE).path("/elsewhere").send(served.address).status, 404);
}

fn health_checks_need_neither_host_nor_credentials<R: Runtime>() {
    let options = Http::new()
        .health("/healthz")
        .authenticating(|_| Err(Refusal::new(401, "unknown").header("www-authenticate", "Bearer")));
    let served = Served::on::<R>(server(), options);
    let check = Request::new("GET").path("/healthz").field("Host", "10.0.0.7:8080");
    let mut reply = check.send(served.address);
    assert_eq!((reply.status, &*reply.text()), (200, "ok\n"));
    assert_eq!(Request::new("HEAD").path("/healthz").send(served.address).status, 200);
    assert_eq!(Request::new("POST").path("/healthz").send(served.address).status, 405);
    assert_eq!(Request::new("GET").path("/healthz/").send(served.address).status, 404);
    let served = Served::echo::<R>();
    assert_eq!(Request::new("GET").path("/healthz").send(served.address).status, 404);
}

fn idle_connections_end_after_their_own_time<R: Runtime>() {
    let ping = modern("ping", json!({}));
    // The first request has the time of a head, however short the idle time is.
    let options = Http::new().limits(HttpLimits {
        connection_idle_max: Duration::from_millis(50),
        ..HttpLimits::default()
    });
    let served = Served::on::<R>(server(), options);
    let began = Instant::now();
    assert!(ping.send(served.address).again().reply_or_end().is_none());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    // An idle connection outlives the time of a head, but a head that has begun does not.
    let served = Served::on::<R>(
        server(),
        Http::new().limits(HttpLimits {
            head_timeout: Duration::from_millis(300),
            ..HttpLimits::default()
        }),
    );
    let mut connection = ping.send(served.address).again();
    std::thread::sleep(Duration::from_millis(600));
    connection.send(&ping);
    let reply = connection.next_reply();
    assert!(reply.status < 500, "{}", reply.status);
    connection.write(b"POST /mcp HTTP/1.1\r\n");
    assert!(connection.reply_or_end().is_none_or(|reply| reply.status == 408));
}

fn a_response_that_is_read_slowly_is_complete<R: Runtime>() {
    const LEN: usize = 30 << 20;
    let server = server().add(Tool::define(tool("flood"), || "x".repeat(LEN)));
    let options = Http::new().limits(HttpLimits {
        connection_idle_max: Duration::from_millis(50),
        ..HttpLimits::default()
    });
    let served = Served::on::<R>(server, options);
    let flood = modern("tools/call", json!({"name": "flood", "arguments": {}}));
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&flood.bytes()).unwrap();
    let mut bytes = vec![0; 1 << 20];
    let mut read = 0;
    while read < LEN {
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "the connection was closed after {read} bytes");
        // Longer than a connection may be idle: this one is not.
        if read == 0 {
            std::thread::sleep(Duration::from_millis(300));
        }
        read += count;
    }
}

fn a_slow_head_does_not_delay_the_end_of_a_server<R: Runtime>() {
    let options = Http::new().limits(HttpLimits {
        head_timeout: Duration::from_millis(300),
        drain_timeout: Duration::MAX,
        ..HttpLimits::default()
    });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.write_all(b"POST ").unwrap();
    eventually("it is accepted", || (stats.connections() == 1).then_some(()));
    served.stop.stop();
    served.ends_within(PATIENCE);
}

fn the_longest_times_are_accepted<R: Runtime>() {
    let options = Http::new().limits(HttpLimits {
        connection_idle_max: Duration::MAX,
        head_timeout: Duration::MAX,
        drain_timeout: Duration::MAX,
        ..HttpLimits::default()
    });
    let served = Served::on::<R>(server(), options);
    let session = Session::open(served.address);
    assert_eq!(session.ping(), 200);
    served.stop.stop();
    served.ends_within(PATIENCE);
}

fn legacy_clients_without_sessions_have_no_tasks<R: Runtime>() {
    let server =
        server().add(Tool::define(tool("long"), || "done").as_task(TaskPolicy::optional()));
    let served = Served::on::<R>(server, Http::new().without_sessions());
    let declared = initialize().send(served.address).answer()["result"]["capabilities"].clone();
    assert!(declared.get("tasks").is_none(), "{declared}");
    // TSK-07: without the capability, `task` is ignored.
    let call = post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "long", "arguments": {}, "task": {}}}));
    let mut reply = call.field("MCP-Protocol-Version", "2025-11-25").send(served.address);
    assert_eq!(text(&reply.answer()), "done");
}

fn requests_of_both_eras_have_equal_time_to_drain<R: Runtime>() {
    let (begins, begun) = channel();
    let (go, goes) = channel::<()>();
    let (begins, goes) = (Mutex::new(begins), Mutex::new(goes));
    let server = server().add(Tool::define(tool("wait"), move || {
        begins.lock().unwrap().send(())?;
        goes.lock().unwrap().recv_timeout(PATIENCE)?;
        Ok("done")
    }));
    let served = Served::on::<R>(
        server,
        Http::new().limits(HttpLimits { drain_timeout: PATIENCE, ..HttpLimits::default() }),
    );
    let session = Session::open(served.address);
    let within = session.call(1, "wait", &json!({}));
    let alone =
        modern("tools/call", json!({"name": "wait", "arguments": {}})).start(served.address);
    begun.recv_timeout(PATIENCE).unwrap();
    begun.recv_timeout(PATIENCE).unwrap();
    served.stop.stop();
    // Longer than `Limits::drain_timeout`, which applies to byte streams only.
    std::thread::sleep(Duration::from_millis(400));
    go.send(()).unwrap();
    go.send(()).unwrap();
    for call in [within, alone] {
        let mut reply = call.reply();
        let mut answer = reply.answer();
        if answer["id"].is_null() {
            answer = reply.message().unwrap();
        }
        assert_eq!(text(&answer), "done");
    }
    served.ends_within(PATIENCE);
}

fn session_ids_come_from_the_application<R: Runtime>() {
    let count = AtomicU32::new(0);
    let new_id = move || match count.fetch_add(1, Ordering::SeqCst) {
        0 => "node-7.5f1c".to_owned(),
        1 => "node#7".to_owned(),
        2 => String::new(),
        3 => "x".repeat(257),
        _ => panic!("no more ids"),
    };
    let served = Served::on::<R>(server(), Http::new().session_ids(new_id));
    let session = Session::open(served.address);
    assert_eq!((&*session.id, session.ping()), ("node-7.5f1c", 200));
    for _ in 0..4 {
        assert_eq!(Session::try_open(served.address).unwrap_err(), 500);
    }
    let lost = post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(lost.field("Mcp-Session-Id", "not visible").send(served.address).status, 404);
}

fn an_id_that_is_taken_ends_no_session<R: Runtime>() {
    let options = Http::new()
        .limits(HttpLimits { sessions_max: 1, ..HttpLimits::default() })
        .session_ids(|| "always-this".into());
    let served = Served::on::<R>(server(), options);
    let session = Session::open(served.address);
    assert_eq!(Session::try_open(served.address).err(), Some(500));
    assert_eq!(session.ping(), 200, "it was not evicted");
}

/// Builds a POST of a legacy request without a session.
fn legacy(method: &str, params: &Value) -> Request {
    post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        .field("MCP-Protocol-Version", "2025-11-25")
}

fn legacy_clients_are_served_without_sessions<R: Runtime>() {
    let (begins, begun) = channel();
    let (begins, ends) = (Mutex::new(begins), channel());
    let cancelled = Mutex::new(ends.0);
    let server = server()
        .add(Tool::define(tool("hang"), move |cx: Cx| {
            begins.lock().unwrap().send(())?;
            cancelled.lock().unwrap().send(cx.sleep(PATIENCE).wait())?;
            Ok("never heard")
        }))
        .add(Tool::define(tool("ask"), |cx: Cx| {
            let answer: Value = cx.ask("name", Elicit::form("Who?", Raw::new(&json!({}))?))?;
            Ok(answer.to_string())
        }));
    let options = Http::new().without_sessions().sse();
    let stats = options.stats();
    let served = Served::on::<R>(server, options);
    let mut hello = initialize().send(served.address);
    assert_eq!((hello.status, hello.field("mcp-session-id")), (200, None));
    assert_eq!(hello.answer()["result"]["protocolVersion"], "2025-11-25");
    let ready = post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(ready.send(served.address).status, 202);
    let echo = json!({"name": "echo", "arguments": {"text": "x"}});
    // Also with the id of a session that another instance has had.
    for request in [
        legacy("tools/call", &echo),
        legacy("tools/call", &echo).without("MCP-Protocol-Version"),
        legacy("tools/call", &echo).field("Mcp-Session-Id", "5f1c"),
        modern("tools/call", echo.clone()),
    ] {
        assert_eq!(text(&request.send(served.address).answer()), "x");
    }
    let asked = legacy("tools/call", &json!({"name": "ask", "arguments": {}}));
    let asked = asked.send(served.address).answer();
    assert!(asked["error"].is_object() || asked["result"]["isError"] == true, "{asked}");
    for (request, status) in [
        (Request::new("GET").field("Accept", "text/event-stream"), 405),
        (Request::new("DELETE").field("Mcp-Session-Id", "5f1c"), 405),
        (Request::new("GET").path("/sse").field("Accept", "text/event-stream"), 404),
    ] {
        assert_eq!(request.send(served.address).status, status);
    }
    let hanging = legacy("tools/call", &json!({"name": "hang", "arguments": {}}));
    let hanging = hanging.start(served.address);
    begun.recv_timeout(PATIENCE).unwrap();
    drop(hanging);
    assert!(ends.1.recv_timeout(PATIENCE).unwrap(), "cancelled by disconnecting");
    assert_eq!(stats.sessions(), 0);
}
