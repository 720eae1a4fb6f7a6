//! Tests of a client over HTTP against a scripted server, in virtual time.

mod batches;
mod bounds;
mod dpop;
mod eras;
mod extensions;
mod header_refresh;
mod ids;
mod modern;
mod opening;
mod parking;
mod random_steps;
mod reconnection;
mod rejected_tokens;
mod responses;
mod sessions;
mod sse;
mod streams;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::client::{self, Client};
use crate::json::Raw;
use crate::revision::Revision;
use crate::vocabulary::{CallId, CallOptions};

/// The headers of a response.
type Head<'a> = &'a [(&'a str, &'a str)];

const JSON: Head<'static> = &[("Content-Type", "Application/JSON; charset=utf-8")];
const EVENTS: Head<'static> = &[("content-type", "text/event-stream")];
const SESSION: Head<'static> = &[("content-type", "application/json"), ("MCP-SESSION-ID", "s-1")];
const PLAIN: Head<'static> = &[];

/// A client with virtual time and helpers that act as its server and application.
struct Fixture {
    http: HttpClient,
    now: Instant,
    /// The chunk size of response bodies in bytes.
    chunk: usize,
}

fn config() -> client::Config {
    client::Config::new("demo", "1.0.0")
}

impl Fixture {
    fn new(config: client::Config) -> Self {
        Self::with_http(config, HttpConfig::new(1))
    }

    fn with_http(config: client::Config, http: HttpConfig) -> Self {
        let http = HttpClient::new(Client::new(Instant::ZERO, config), http);
        Self { http, now: Instant::ZERO, chunk: 1 }
    }

    /// Creates a client initialized in the legacy `revision`; the server offers no GET stream.
    fn ready(revision: Revision) -> Self {
        let mut it = Self::new(config());
        it.open(revision, SESSION);
        it
    }

    /// Creates a client of a modern server.
    fn modern() -> Self {
        Self::modern_with(config())
    }

    fn modern_with(config: client::Config) -> Self {
        let mut it = Self::new(config);
        let probe = it.post("server/discover");
        it.reply(&probe, 200, JSON, DISCOVERED);
        assert_eq!(it.events(), ["ready 2026-07-28"]);
        it
    }

    fn open(&mut self, revision: Revision, head: Head<'_>) {
        let probe = self.post("server/discover");
        self.reply(&probe, 400, PLAIN, "Bad Request: no session");
        let initialize = self.post("initialize");
        self.welcome(&initialize, revision, head);
        let initialized = self.post("notifications/initialized");
        self.reply(&initialized, 202, PLAIN, "");
        let stream = self.get();
        self.reply(&stream, 405, PLAIN, "");
        assert_eq!(self.events(), [format!("ready {revision}")]);
        assert!(self.http.poll_action().is_none());
    }

    fn welcome(&mut self, initialize: &HttpRequest, revision: Revision, head: Head<'_>) {
        let result = format!(
            r#"{{"protocolVersion":"{revision}",
            "capabilities":{{"tools":{{}},"resources":{{"subscribe":true}}}},
            "serverInfo":{{"name":"played","version":"1"}}}}"#
        );
        let body = result_of(initialize, &result);
        self.reply(initialize, 200, head, &body);
    }

    /// Takes the next action, which must be a request.
    fn send(&mut self) -> HttpRequest {
        match self.http.poll_action() {
            Some(Action::Send(send)) => send,
            other => panic!("{other:?}"),
        }
    }

    fn post(&mut self, method: &str) -> HttpRequest {
        let send = self.send();
        let body = Raw::from_text(core::str::from_utf8(&send.body).unwrap()).unwrap();
        assert_eq!(body.member("method").unwrap().to_text().unwrap(), method);
        assert_eq!(send.method, HttpMethod::Post);
        // HTTP-04: a POST accepts JSON and event streams.
        assert_eq!(send.header("accept"), Some("application/json, text/event-stream"));
        assert_eq!(send.header("content-type"), Some("application/json"));
        send
    }

    /// Answers a probe of the open connection like a modern server.
    fn answer_probe(&mut self) {
        let probe = self.post("server/discover");
        let id = format!("\"id\":{}", id_of(&probe));
        self.reply(&probe, 200, JSON, &DISCOVERED.replace("\"id\":1", &id));
    }

    fn get(&mut self) -> HttpRequest {
        let send = self.send();
        // HTTP-05: a GET accepts event streams.
        assert_eq!(
            (send.method, send.header("accept")),
            (HttpMethod::Get, Some("text/event-stream"))
        );
        send
    }

    fn aborts(&mut self, send: &HttpRequest) {
        assert_eq!(self.http.poll_action(), Some(Action::Abort(send.exchange)));
    }

    fn idle(&mut self) {
        assert_eq!(self.http.poll_action(), None);
    }

    fn head(&mut self, send: &HttpRequest, status: u16, head: Head<'_>) {
        self.http.handle_head(self.now, send.exchange, status, &head);
    }

    fn feed(&mut self, send: &HttpRequest, body: &str) {
        for chunk in body.as_bytes().chunks(self.chunk) {
            self.http.handle_body(self.now, send.exchange, chunk);
        }
    }

    fn end(&mut self, send: &HttpRequest) {
        self.http.handle_end(self.now, send.exchange);
    }

    fn cut(&mut self, send: &HttpRequest) {
        self.http.handle_failure(self.now, send.exchange, ExchangeFailure::Cut);
    }

    fn reply(&mut self, send: &HttpRequest, status: u16, head: Head<'_>, body: &str) {
        self.head(send, status, head);
        self.feed(send, body);
        self.end(send);
    }

    fn call(&mut self, method: &str) -> CallId {
        self.call_with(method, None)
    }

    fn call_with(&mut self, method: &str, params: Option<&str>) -> CallId {
        let params = params.map(|params| Raw::from_text(params).unwrap());
        let params = params.as_ref().map(|params| params as &dyn crate::schema::Encode);
        self.http.call_raw(self.now, method, params, CallOptions::default()).unwrap()
    }

    /// Advances the time, calling the client at each of its timeouts.
    fn pass(&mut self, duration: Duration) {
        let until = self.now + duration;
        while let Some(due) = self.http.poll_timeout().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.http.handle_timeout(self.now);
        }
        self.now = until;
        self.http.handle_timeout(self.now);
    }

    fn pass_millis(&mut self, millis: u64) {
        self.pass(Duration::from_millis(millis));
    }

    fn events(&mut self) -> Vec<String> {
        core::iter::from_fn(|| self.http.poll_event()).map(|event| formatted(&event)).collect()
    }

    /// Returns the number of open and waiting exchanges.
    fn exchanges(&self) -> usize {
        self.http.exchanges.len()
    }
}

const DISCOVERED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",
    "supportedVersions":["2026-07-28"],
    "capabilities":{"tools":{"listChanged":true},"resources":{},"prompts":{}}}}"#;

/// Returns the id of the request in the body.
fn id_of(send: &HttpRequest) -> u64 {
    let body = Raw::from_text(core::str::from_utf8(&send.body).unwrap()).unwrap();
    body.member("id").unwrap().parse().unwrap()
}

fn result_of(send: &HttpRequest, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id_of(send))
}

fn error_of(send: &HttpRequest, code: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":"no"}}}}"#, id_of(send))
}

/// Formats a text as one event.
fn event(text: &str) -> String {
    text.lines().fold(String::new(), |event, line| event + "data: " + line + "\n") + "\n"
}

fn formatted(event: &HttpEvent) -> String {
    use client::Event as E;
    match event {
        HttpEvent::Challenged { call, status, challenges } => {
            let challenges: Vec<_> = challenges
                .iter()
                .map(|it| format!("{} {}", it.scheme, it.param("scope").unwrap_or_default()))
                .collect();
            format!("challenged {call:?} {status} {challenges:?}")
        }
        HttpEvent::Accepted(generation) => format!("accepted {generation}"),
        HttpEvent::Parked(it) => format!(
            "parked {:?} {} {:?} {:?}",
            it.call,
            it.status,
            it.operation,
            it.generation.map(Generation::get)
        ),
        HttpEvent::Client(E::Closed(why)) => format!("closed: {why}"),
        HttpEvent::Client(E::Completed { call, outcome: Ok(result) }) => {
            format!("{call}: {}", result.as_str())
        }
        HttpEvent::Client(E::Completed { call, outcome: Err(error) }) => {
            format!("{call}: {error:?}")
        }
        HttpEvent::Client(E::TaskProgress { call, progress }) => {
            format!("{call} task progress {}", progress.progress)
        }
        HttpEvent::Client(E::LateTask(created)) => format!("late task {created}"),
        HttpEvent::Client(E::Subscribed { call, .. }) => format!("{call}: listening"),
        HttpEvent::Client(E::Notification { call, method, .. }) => {
            format!("{call:?} {}", &**method)
        }
        HttpEvent::Client(E::Progress { call, progress }) => {
            format!("{call}: {}", progress.progress)
        }
        HttpEvent::Client(E::Ready(peer)) => format!("ready {}", peer.revision),
        HttpEvent::Client(E::Request { request, .. }) => format!("request {}", &*request.method),
        HttpEvent::Client(E::RequestCancelled { .. }) => "request cancelled".to_string(),
        HttpEvent::Client(E::Violation(violation)) => violation.to_string(),
    }
}
