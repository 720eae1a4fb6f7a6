//! Tests of a server over HTTP+SSE, alone and together with a client.

use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::client;
use crate::http::client::{Action, HttpClient, HttpConfig, HttpEvent, HttpMethod, HttpRequest};
use crate::http::legacy_sse::ServerUrl;
use crate::limits::Limits;
use crate::revision::Capability;
use crate::schema::CallToolResult;
use crate::vocabulary::{CallError, CallOptions};

fn config() -> Config {
    Config::new("demo", "1.0.0").capability(Capability::Tools)
}

fn settings(config: Config) -> SseSettings {
    SseSettings::new(config, "/messages").unwrap()
}

fn chunk(session: &mut SseServer) -> String {
    match session.poll_chunk() {
        Some(BodyChunk::Bytes(bytes)) => String::from_utf8(bytes.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn opened() -> SseServer {
    let mut session = SseServer::new(Instant::ZERO, &settings(config()), "7");
    chunk(&mut session);
    post(
        &mut session,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05",
        "capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    );
    assert!(
        chunk(&mut session).starts_with("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":0,")
    );
    post(&mut session, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    session
}

fn post(session: &mut SseServer, body: &str) {
    assert_eq!(session.handle_post(Instant::ZERO, body.as_bytes()).unwrap().status, 202);
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"today"}}"#;

#[test]
fn the_first_event_names_the_message_endpoint_http_57() {
    let mut session = SseServer::new(Instant::ZERO, &settings(config()), "7");
    // Even if a message is ready first.
    post(&mut session, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(session.has_output());
    let first = chunk(&mut session);
    assert!(
        first.starts_with("event: endpoint\ndata: /messages?session_id=7\n\nevent: message\n"),
        "{first}"
    );
    assert_eq!((session.poll_chunk(), session.has_output()), (None, false));
    let reply = SseServer::stream_reply();
    assert_eq!((reply.status, &*reply.headers[0].1), (200, "text/event-stream"));
}

#[test]
fn sessions_are_legacy_lif_36() {
    let mut session = SseServer::new(Instant::ZERO, &settings(config()), "7");
    chunk(&mut session);
    post(
        &mut session,
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":
        {"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    );
    assert!(chunk(&mut session).contains("\"error\""));
}

#[test]
fn a_body_that_is_no_message_is_refused_http_58() {
    let mut session = opened();
    for body in ["", "{", "7", "{}"] {
        let refused = session.handle_post(Instant::ZERO, body.as_bytes());
        assert_eq!(refused.unwrap_err().status, 400, "{body}");
    }
    assert!(!session.has_output());
}

#[test]
fn a_client_that_disconnects_ends_its_session_and_requests() {
    let mut session = opened();
    post(&mut session, CALL);
    let Some(Event::Request { incoming, .. }) =
        core::iter::from_fn(|| session.poll_event()).find(|it| matches!(it, Event::Request { .. }))
    else {
        panic!("no request")
    };
    assert!(session.is_busy());
    session.handle_gone(Instant::ZERO);
    let events: Vec<_> = core::iter::from_fn(|| session.poll_event()).collect();
    assert!(events.iter().any(|it| matches!(it, Event::RequestCancelled { .. })), "{events:?}");
    assert!(session.respond(Instant::ZERO, incoming, &CallToolResult::text("late")).is_err());
    assert!(!session.is_busy());
    assert_eq!(session.poll_chunk(), Some(BodyChunk::End));
    let refused = session.handle_post(Instant::ZERO, CALL.as_bytes());
    assert_eq!(refused.unwrap_err().status, 404);
    while let Some(due) = session.poll_timeout() {
        session.handle_timeout(due);
    }
    assert!(session.is_closed());
}

#[test]
fn a_closed_session_sends_its_answers_and_ends_its_stream() {
    let mut session = opened();
    session.close(Instant::ZERO);
    while let Some(due) = session.poll_timeout().filter(|_| !session.is_closed()) {
        session.handle_timeout(due);
    }
    assert_eq!(session.poll_chunk(), Some(BodyChunk::End));
}

#[test]
fn an_idle_stream_is_kept_open_http_54() {
    let mut session = opened();
    let due = session.poll_timeout().unwrap();
    assert_eq!(due, Instant::ZERO + KEEP_ALIVE);
    session.handle_timeout(due);
    assert_eq!(chunk(&mut session), ":\n\n");
    assert_eq!(session.poll_timeout(), Some(due + KEEP_ALIVE));
    session.handle_timeout(due);
    assert!(!session.has_output());
}

#[test]
fn a_client_that_stops_reading_is_disconnected_in_time_sec_18() {
    let limits = Limits { replies_bytes_max: 64, ..Limits::default() };
    let mut session = SseServer::new(Instant::ZERO, &settings(config().limits(limits)), "7");
    for _ in 0..10 {
        post(&mut session, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    }
    let until = Instant::ZERO + Limits::default().stall_timeout;
    while let Some(due) = session.poll_timeout().filter(|due| *due <= until) {
        session.handle_timeout(due);
        if session.is_closed() {
            return;
        }
    }
    panic!("the session is open");
}

#[test]
fn other_paths_are_refused() {
    for path in ["", "messages", "//evil.example/x", "/a?b", "/a#b", "/a b", "/a\nb"] {
        assert_eq!(SseSettings::new(config(), path).unwrap_err(), InvalidMessagePath, "{path}");
    }
}

/// A client and a server without a network.
struct Pair {
    http: HttpClient,
    session: Option<SseServer>,
    stream: Option<HttpRequest>,
    now: Instant,
    sessions: u32,
}

impl Pair {
    fn new() -> Self {
        let url = ServerUrl::parse("http://localhost/sse").unwrap();
        let config = client::Config::new("c", "1");
        let client = client::Client::new(Instant::ZERO, config);
        let http = HttpClient::new(client, HttpConfig::new(1).sse_fallback(url));
        Self { http, session: None, stream: None, now: Instant::ZERO, sessions: 0 }
    }

    /// Runs until nothing happens, and answers calls with their number.
    fn run(&mut self) -> Vec<HttpEvent> {
        let mut events = Vec::new();
        loop {
            let mut is_idle = true;
            while let Some(action) = self.http.poll_action() {
                is_idle = false;
                self.perform(action);
            }
            is_idle &= !self.serve();
            while let Some(event) = self.http.poll_event() {
                is_idle = false;
                events.push(event);
            }
            if is_idle {
                return events;
            }
        }
    }

    fn perform(&mut self, action: Action) {
        let send = match action {
            Action::Send(send) => send,
            Action::Abort(id) => {
                if self.stream.take_if(|stream| stream.exchange == id).is_some() {
                    self.session.as_mut().unwrap().handle_gone(self.now);
                }
                return;
            }
        };
        let id = send.exchange;
        let status = match (send.method, &send.target) {
            (HttpMethod::Get, None) => {
                self.sessions += 1;
                let name = format!("s{}", self.sessions);
                self.session = Some(SseServer::new(self.now, &settings(config()), &name));
                self.http.handle_head(self.now, id, 200, &[("content-type", "text/event-stream")]);
                self.stream = Some(send);
                return;
            }
            (HttpMethod::Post, Some(target)) => {
                let wanted = format!("/messages?session_id=s{}", self.sessions);
                assert_eq!(target.expose(), wanted);
                let session = self.session.as_mut().unwrap();
                session.handle_post(self.now, send.body).map_or_else(|it| it.status, |it| it.status)
            }
            _ => 405,
        };
        self.http.handle_head(self.now, id, status, &[("content-length", "0")]);
        self.http.handle_end(self.now, id);
    }

    fn serve(&mut self) -> bool {
        let Some(session) = &mut self.session else { return false };
        let mut was_active = false;
        while let Some(event) = session.poll_event() {
            was_active = true;
            if let Event::Request { incoming, .. } = event {
                session.respond(self.now, incoming, &CallToolResult::text("sunny")).unwrap();
            }
        }
        let Some(stream) = &self.stream else { return was_active };
        let id = stream.exchange;
        match session.poll_chunk() {
            Some(BodyChunk::Bytes(bytes)) => {
                for byte in bytes {
                    self.http.handle_body(self.now, id, &[byte]);
                }
                true
            }
            Some(BodyChunk::End) => {
                self.stream = None;
                self.http.handle_end(self.now, id);
                true
            }
            None => was_active,
        }
    }

    fn pass(&mut self, duration: Duration) {
        self.now += duration;
        self.http.handle_timeout(self.now);
        if let Some(session) = &mut self.session {
            session.handle_timeout(self.now);
        }
    }
}

#[test]
fn client_and_server_agree_http_57_http_58_lif_36() {
    let mut pair = Pair::new();
    let events = pair.run();
    let [HttpEvent::Client(client::Event::Ready(peer))] = &events[..] else { panic!("{events:?}") };
    assert_eq!(peer.revision, Revision::V2025_11_25);
    let call = |pair: &mut Pair| {
        let params = crate::schema::CallTool::new("today");
        pair.http.call(pair.now, &params, CallOptions::default()).unwrap()
    };
    let made = call(&mut pair);
    let events = pair.run();
    let [HttpEvent::Client(client::Event::Completed { call: completed, outcome: Ok(result) })] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert!(*completed == made && result.as_str().contains("sunny"));
    // The server closes the session: a pending call is lost, and another session follows.
    let made = call(&mut pair);
    pair.session.as_mut().unwrap().close(pair.now);
    pair.pass(Duration::from_millis(100));
    let events = pair.run();
    let lost = events.iter().any(|event| {
        matches!(event, HttpEvent::Client(client::Event::Completed { call, outcome })
            if *call == made && matches!(outcome, Err(CallError::Lost | CallError::SessionEnded)))
    });
    assert!(lost, "{events:?}");
    pair.pass(Duration::from_secs(2));
    let events = pair.run();
    assert!(matches!(&events[..], [HttpEvent::Client(client::Event::Ready(_))]), "{events:?}");
    assert_eq!(pair.sessions, 2);
    // The client closes it.
    pair.http.close(pair.now);
    pair.run();
    pair.pass(Duration::from_secs(1));
    assert!(pair.session.unwrap().is_closed());
}
