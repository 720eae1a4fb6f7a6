//! HTTP/2 with prior knowledge, beside HTTP/1.1 on one port.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use mcp_adapter::{Cx, Server, Tool};
use mcp_blocking::http::Http;
use mcp_http_tests::{
    Http2, PATIENCE, Runtime, Served, Session, StreamReply, call_in, eventually, modern, on_client,
    rows, server, text, tool,
};
use serde_json::{Value, json};

rows! {
    a_session_with_its_event_stream_runs_over_one_connection,
    both_versions_share_a_port_and_sessions,
    a_slow_request_holds_up_no_other,
    a_reset_stream_cancels_its_request,
    hosts_are_checked,
    requests_in_flight_are_answered_when_the_server_stops,
    a_long_response_arrives_whole,
}

fn echo(text: &str) -> Value {
    json!({"text": text})
}

fn modern_call(name: &str, arguments: &Value) -> mcp_http_tests::Request {
    modern("tools/call", json!({"name": name, "arguments": arguments}))
}

fn a_session_with_its_event_stream_runs_over_one_connection<R: Runtime>() {
    let options = Http::new();
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    on_client(async {
        let client = Http2::connect(served.address).await;
        let session = client.open_session().await;
        let mut events = client.listen(&session).await;
        assert_eq!(
            (events.status, events.headers["content-type"].to_str().unwrap()),
            (200, "text/event-stream")
        );
        for id in 1..=20 {
            let said = format!("number {id}");
            let mut reply =
                client.send(&call_in(&session, id, "echo", &echo(&said))).await.unwrap();
            assert_eq!(text(&reply.message().await.unwrap()), said);
        }
        assert_eq!((stats.connections(), stats.sessions()), (1, 1));
        served.stop.stop();
        assert_eq!(events.message().await, None, "the event stream ends with the server");
    });
}

fn both_versions_share_a_port_and_sessions<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    on_client(async {
        let client = Http2::connect(served.address).await;
        let call = call_in(&session.id, 1, "echo", &echo("over HTTP/2"));
        let mut reply = client.send(&call).await.unwrap();
        assert_eq!(text(&reply.message().await.unwrap()), "over HTTP/2");
        assert_eq!(session.ping(), 200, "over HTTP/1.1");
    });
    let mut old = session.call(2, "echo", &echo("over HTTP/1.1")).reply();
    assert_eq!(text(&old.answer()), "over HTTP/1.1");
}

/// Builds a server whose tool `wait` reports that it runs, and ends upon a signal or when it is
/// cancelled, which it reports too.
fn waiting() -> (Server, Receiver<&'static str>, Sender<()>) {
    let (reports, reported) = channel();
    let (go, goes) = channel::<()>();
    let (reports, goes) = (Mutex::new(reports), Mutex::new(goes));
    let server = server().add(Tool::define(tool("wait"), move |cx: Cx| {
        let reports = reports.lock().unwrap().clone();
        reports.send("runs")?;
        let _go_on = goes.lock().unwrap().recv_timeout(PATIENCE);
        Ok(if cx.is_cancelled() { reports.send("cancelled").map(|()| "")? } else { "done" })
    }));
    (server, reported, go)
}

fn a_slow_request_holds_up_no_other<R: Runtime>() {
    let (server, reported, go) = waiting();
    let served = Served::on::<R>(server, Http::new());
    on_client(async {
        let client = Http2::connect(served.address).await;
        let session = client.open_session().await;
        let (slow, _stream) = client.start(&call_in(&session, 1, "wait", &json!({}))).await;
        let slow = tokio::spawn(slow);
        assert_eq!(client.send(&modern_call("echo", &echo("first"))).await.unwrap().status, 200);
        reported.recv_timeout(PATIENCE).unwrap();
        let calls: Vec<_> =
            (0..30).map(|id| call_in(&session, 10 + id, "echo", &echo("on"))).collect();
        let mut replies = Vec::new();
        for call in &calls {
            replies.push(client.start(call).await.0);
        }
        for reply in replies {
            let mut reply = StreamReply::new(reply.await.unwrap());
            assert_eq!(text(&reply.message().await.unwrap()), "on");
        }
        // The tool waits for this signal, so that all others were answered before it.
        go.send(()).unwrap();
        let mut slow = StreamReply::new(slow.await.unwrap().unwrap());
        assert_eq!(text(&slow.message().await.unwrap()), "done");
    });
}

fn a_reset_stream_cancels_its_request<R: Runtime>() {
    let (server, reported, go) = waiting();
    let options = Http::new();
    let stats = options.stats();
    let served = Served::on::<R>(server, options);
    on_client(async {
        let client = Http2::connect(served.address).await;
        let (call, mut stream) = client.start(&modern_call("wait", &json!({}))).await;
        let call = tokio::spawn(call);
        // The client's task must run for the request to be sent.
        assert_eq!(client.send(&modern_call("echo", &echo("on"))).await.unwrap().status, 200);
        assert_eq!(reported.recv_timeout(PATIENCE).unwrap(), "runs");
        stream.send_reset(h2::Reason::CANCEL);
        assert!(call.await.unwrap().is_err());
        // Its answer shows that the server has read the reset.
        assert_eq!(client.send(&modern_call("echo", &echo("on"))).await.unwrap().status, 200);
        go.send(()).unwrap();
        assert_eq!(reported.recv_timeout(PATIENCE).unwrap(), "cancelled");
        eventually("nothing is left of it", || (stats.requests_bytes() == 0).then_some(()));
        assert_eq!(client.send(&modern_call("echo", &echo("on"))).await.unwrap().status, 200);
    });
}

fn hosts_are_checked<R: Runtime>() {
    let served = Served::echo::<R>();
    on_client(async {
        let client = Http2::connect(served.address).await;
        let call = modern_call("echo", &echo("on"));
        for (host, status) in [("evil.example", 403), ("localhost:1", 200), ("127.0.0.1", 200)] {
            let reply = client.send(&call.clone().field("Host", host)).await.unwrap();
            assert_eq!(reply.status, status, "{host}");
        }
    });
}

fn requests_in_flight_are_answered_when_the_server_stops<R: Runtime>() {
    let (server, reported, go) = waiting();
    let served = Served::on::<R>(server, Http::new());
    on_client(async {
        let client = Http2::connect(served.address).await;
        let (call, _stream) = client.start(&modern_call("wait", &json!({}))).await;
        let call = tokio::spawn(call);
        assert_eq!(client.send(&modern_call("echo", &echo("on"))).await.unwrap().status, 200);
        reported.recv_timeout(PATIENCE).unwrap();
        served.stop.stop();
        go.send(()).unwrap();
        let mut reply = StreamReply::new(call.await.unwrap().unwrap());
        assert_eq!(text(&reply.message().await.unwrap()), "done");
        assert!(client.end().await.is_none(), "the connection ends without error");
    });
    served.ends_within(PATIENCE);
}

fn a_long_response_arrives_whole<R: Runtime>() {
    let served = Served::echo::<R>();
    on_client(async {
        let client = Http2::connect(served.address).await;
        for length in [1, 900, 1_100, 16_384, 70_000, 1_000_000] {
            let said = "x".repeat(length);
            let mut reply = client.send(&modern_call("echo", &echo(&said))).await.unwrap();
            let message = reply.message().await.unwrap();
            assert!(text(&message) == said, "{length}");
        }
    });
}
