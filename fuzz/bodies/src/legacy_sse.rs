//! A client and a server over HTTP+SSE, connected by a network that loses, splits and forges.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use mcp_proto::client::{self, Client};
use mcp_proto::http::BodyChunk;
use mcp_proto::http::client::{
    Action, ExchangeFailure, ExchangeId, HttpClient, HttpConfig, HttpEvent, HttpMethod, HttpRequest,
};
use mcp_proto::http::legacy_sse::{ServerUrl, SseServer, SseSettings};
use mcp_proto::server::{self, Event};
use mcp_proto::{
    CallId, CallOptions, Capability, Era, ErrorObject, IncomingId, Instant, Limits,
    MessageEndpoint as _, Raw,
};

/// Whatever the network and both applications do, every call ends once, each stream begins with the
/// message endpoint, messages go there only, limits hold, and the end is quiet.
///
/// The first byte is the knowledge about the server. Steps of three bytes follow: the action, its
/// object, and its details.
pub fn legacy_sse(data: &[u8]) {
    let Some((first, mut script)) = data.split_first() else { return };
    let mut world = World::new(*first);
    while let Some(([what, which, how], rest)) = script.split_first_chunk::<3>() {
        script = rest;
        let length = usize::from(*how).min(script.len());
        match what % STEPS {
            0 => {
                let (bytes, rest) = script.split_at(length);
                script = rest;
                world.forge(bytes);
            }
            1 => {
                let (body, rest) = script.split_at(length);
                script = rest;
                world.post(body);
            }
            what => world.step(what, *which, *how),
        }
        world.drive();
    }
    world.finish();
}

const STEPS: u8 = 12;

const CALLS_MAX: usize = 8;

const METHODS: &[&str] = &["tools/list", "tools/call", "ping", "resources/read"];

struct World {
    http: HttpClient,
    settings: SseSettings,
    session: Option<SseServer>,
    /// The GET that carries the stream of the session.
    stream: Option<ExchangeId>,
    /// Bytes of the stream on their way.
    sent: VecDeque<u8>,
    /// POSTs on their way.
    posted: VecDeque<HttpRequest>,
    /// The paths that were named as message endpoints.
    named: BTreeSet<String>,
    calls: BTreeSet<CallId>,
    incoming: Vec<IncomingId>,
    now: Instant,
    sessions: u32,
    /// The server sent something that no server of ours sends.
    is_forged: bool,
    is_closed: bool,
}

impl World {
    fn new(first: u8) -> Self {
        let limits = Limits {
            message_bytes_max: 600,
            calls_max: CALLS_MAX,
            events_max: 16,
            ..Limits::default()
        };
        let config = client::Config::new("c", "1").limits(limits.clone());
        let config = if first & 1 == 1 { config.expect_era(Era::Legacy) } else { config };
        let served = server::Config::new("s", "1")
            .limits(limits)
            .capability(Capability::Tools)
            .capability(Capability::Resources);
        let url = ServerUrl::parse("http://localhost/old/sse");
        let (Ok(url), Ok(settings)) = (url, SseSettings::new(served, "/old/messages")) else {
            panic!("the URL and the path are valid")
        };
        let http = HttpConfig::new(u64::from(first)).sse_fallback(url);
        Self {
            http: HttpClient::new(Client::new(Instant::ZERO, config), http),
            settings,
            session: None,
            stream: None,
            sent: VecDeque::new(),
            posted: VecDeque::new(),
            named: BTreeSet::new(),
            calls: BTreeSet::new(),
            incoming: Vec::new(),
            now: Instant::ZERO,
            sessions: 0,
            is_forged: false,
            is_closed: false,
        }
    }

    /// Performs the actions of the client, and takes the events of both sides.
    fn drive(&mut self) {
        while let Some(action) = self.http.poll_action() {
            match action {
                Action::Send(send) => self.send(send),
                Action::Abort(id) if self.stream == Some(id) => self.cut_stream(),
                Action::Abort(id) => self.posted.retain(|post| post.exchange != id),
            }
        }
        while let Some(event) = self.http.poll_event() {
            assert!(!self.is_closed, "an event after the last one: {event:?}");
            match event {
                HttpEvent::Client(client::Event::Completed { call, .. }) => {
                    assert!(self.calls.remove(&call), "{call} ends once");
                }
                HttpEvent::Client(client::Event::Closed(_)) => self.is_closed = true,
                _ => {}
            }
        }
        assert!(self.calls.len() <= CALLS_MAX, "{:?} are open", self.calls);
        let Some(session) = &mut self.session else { return };
        while let Some(event) = session.poll_event() {
            if let Event::Request { incoming, .. } = event {
                self.incoming.push(incoming);
            }
        }
        let memory_max = session.limits().memory_max();
        assert!(session.usage().requests <= memory_max, "the server is bounded");
    }

    fn send(&mut self, send: HttpRequest) {
        match (send.method, &send.target) {
            (HttpMethod::Get, target) => {
                assert!(target.is_none() && self.stream.is_none(), "one stream at a time");
                self.open(send.exchange);
            }
            (HttpMethod::Post, Some(target)) => {
                let target = target.expose().to_owned();
                assert!(target.starts_with('/') && target.is_ascii(), "{target:?}");
                assert!(self.is_forged || self.named.contains(&target), "{target:?}");
                assert!(!format!("{send:?}").contains("session_id"), "the session id is hidden");
                self.posted.push_back(send);
            }
            (HttpMethod::Post, None) => self.respond(send.exchange, 405),
            (HttpMethod::Delete, _) => panic!("HTTP+SSE has no DELETE"),
        }
    }

    fn open(&mut self, exchange: ExchangeId) {
        self.sessions += 1;
        let id = format!("s{}", self.sessions);
        self.named.insert(format!("/old/messages?session_id={id}"));
        self.session = Some(SseServer::new(self.now, &self.settings, &id));
        self.stream = Some(exchange);
        self.sent.clear();
        self.incoming.clear();
        let head = [("content-type", "text/event-stream")];
        self.http.handle_head(self.now, exchange, 200, &head);
    }

    fn respond(&mut self, exchange: ExchangeId, status: u16) {
        self.http.handle_head(self.now, exchange, status, &[("content-length", "0")]);
        self.http.handle_end(self.now, exchange);
    }

    /// Ends the stream at the server.
    fn cut_stream(&mut self) {
        self.stream = None;
        self.sent.clear();
        if let Some(session) = &mut self.session {
            session.handle_gone(self.now);
        }
    }

    /// Moves the chunks of the server to the network.
    fn write(&mut self) {
        let Some(session) = &mut self.session else { return };
        while self.sent.len() < 100_000 {
            match session.poll_chunk() {
                Some(BodyChunk::Bytes(bytes)) => self.sent.extend(bytes),
                Some(BodyChunk::End) if self.sent.is_empty() => {
                    if let Some(stream) = self.stream.take() {
                        self.http.handle_end(self.now, stream);
                    }
                    return;
                }
                Some(BodyChunk::End) | None => return,
            }
        }
    }

    /// Delivers up to `bytes` bytes of the stream.
    fn deliver(&mut self, bytes: usize) {
        self.write();
        let Some(stream) = self.stream.filter(|stream| self.http.wants_input(*stream)) else {
            return;
        };
        let piece: Vec<u8> = self.sent.drain(..bytes.min(self.sent.len())).collect();
        self.http.handle_body(self.now, stream, &piece);
    }

    /// Delivers bytes that the server did not send.
    fn forge(&mut self, bytes: &[u8]) {
        if let Some(stream) = self.stream {
            self.is_forged = true;
            self.http.handle_body(self.now, stream, bytes);
        }
    }

    /// Posts a body that the client did not send.
    fn post(&mut self, body: &[u8]) {
        let Some(session) = self.session.as_mut().filter(|session| session.wants_input()) else {
            return;
        };
        // What follows may be responses to requests that were never made.
        self.is_forged = true;
        let status = match session.handle_post(self.now, body) {
            Ok(reply) => reply.status,
            Err(refusal) => refusal.status,
        };
        assert!([202, 400, 404].contains(&status), "{status}");
    }

    fn step(&mut self, what: u8, which: u8, how: u8) {
        let now = self.now;
        match what {
            2 => {
                let params = Raw::from_text(r#"{"name":"t","uri":"x:y"}"#).ok();
                let params = params.as_ref().map(|params| params as &dyn mcp_proto::schema::Encode);
                let method = METHODS[usize::from(which) % METHODS.len()];
                let call = self.http.call_raw(now, method, params, CallOptions::default());
                self.calls.extend(call);
            }
            3 => {
                if let Some(call) = self.calls.iter().nth(usize::from(which) % CALLS_MAX) {
                    let _stale = self.http.cancel(now, *call, "no");
                }
            }
            4 => self.deliver(usize::from(how)),
            5 => self.deliver(usize::MAX),
            6 => {
                if let Some(post) = self.posted.pop_front() {
                    let handled =
                        self.session.as_mut().map(|it| it.handle_post(now, post.body.clone()));
                    let status = match handled {
                        Some(Ok(reply)) => reply.status,
                        Some(Err(refusal)) => refusal.status,
                        None => 404,
                    };
                    self.respond(post.exchange, status);
                }
            }
            7 => {
                if let Some(post) = self.posted.pop_front() {
                    match which % 4 {
                        0 => self.respond(post.exchange, 404),
                        1 => self.respond(post.exchange, 503),
                        2 => self.http.handle_failure(now, post.exchange, ExchangeFailure::Cut),
                        _ => {
                            self.http.handle_failure(
                                now,
                                post.exchange,
                                ExchangeFailure::Unreached,
                            );
                        }
                    }
                }
            }
            8 => {
                self.now += Duration::from_millis(1 << (which % 18));
                self.http.handle_timeout(self.now);
                if let Some(session) = &mut self.session {
                    session.handle_timeout(self.now);
                }
            }
            9 => {
                if let Some(stream) = self.stream {
                    self.cut_stream();
                    match which % 2 {
                        0 => self.http.handle_end(now, stream),
                        _ => self.http.handle_failure(now, stream, ExchangeFailure::Cut),
                    }
                }
            }
            10 => {
                if let (Some(session), Some(incoming)) = (&mut self.session, self.incoming.pop()) {
                    let _stale = session.respond_error(now, incoming, &ErrorObject::internal("no"));
                }
            }
            // Rarely, since little follows it.
            _ if which == 0 => self.http.close(now),
            _ if which < 16 => {
                if let Some(session) = &mut self.session {
                    session.close(now);
                }
            }
            _ => self.http.handle_timeout(Instant::ZERO),
        }
    }

    /// Ends the input.
    fn finish(mut self) {
        for _ in 0..80 {
            self.now += Duration::from_secs(60);
            self.http.handle_timeout(self.now);
            if let Some(session) = &mut self.session {
                session.handle_timeout(self.now);
            }
            self.drive();
        }
        assert!(self.calls.is_empty(), "{:?} do not end", self.calls);
        self.http.close(self.now);
        self.drive();
        while let Some(post) = self.posted.pop_front() {
            self.respond(post.exchange, 202);
            self.drive();
        }
        // Responses that are still read end in time.
        self.now += Duration::from_secs(60);
        self.http.handle_timeout(self.now);
        self.drive();
        assert!(self.is_closed && self.stream.is_none());
        assert_eq!(self.http.poll_timeout(), None);
        let Some(session) = &mut self.session else { return };
        for _ in 0..20 {
            if let Some(due) = session.poll_timeout() {
                session.handle_timeout(due);
            }
        }
        assert!(session.is_closed() && session.poll_timeout().is_none());
        // What was ready is still sent.
        while let Some(BodyChunk::Bytes(_)) = session.poll_chunk() {}
        assert_eq!(session.poll_chunk(), Some(BodyChunk::End));
        assert_eq!(session.usage().requests, 0);
    }
}
