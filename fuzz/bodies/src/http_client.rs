//! A client over HTTP, driven by a script of responses, times and actions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_proto::client::{self, Client};
use mcp_proto::http::client::{
    Action, Credentials, ExchangeFailure, ExchangeId, Generation, HttpClient, HttpConfig,
    HttpEvent, HttpMethod, HttpRequest,
};
use mcp_proto::{
    CallId, CallOptions, Era, ErrorObject, Filter, IncomingId, Instant, Limits,
    MessageEndpoint as _, Raw,
};

/// Whatever a server, a driver and an application do, every call ends once and in time, limits
/// hold, and nothing remains.
///
/// The first byte is the knowledge about the server, and whether requests are parked. Steps
/// follow: the action, the exchange or call, and its details.
pub fn http_client(data: &[u8]) {
    let Some((first, mut script)) = data.split_first() else { return };
    let limits = Limits {
        message_bytes_max: 600,
        calls_max: CALLS_MAX,
        events_max: 16,
        ..Limits::default()
    };
    let config =
        client::Config::new("c", "1").limits(limits).capability(mcp_proto::Capability::Roots);
    let config = if first & 1 == 1 { config.expect_era(Era::Legacy) } else { config };
    let settings = HttpConfig::new(u64::from(*first));
    let settings = if first & 2 == 2 { settings.parks() } else { settings };
    let http = HttpClient::new(Client::new(Instant::ZERO, config), settings);
    let mut run = Run {
        http,
        now: Instant::ZERO,
        open: BTreeMap::new(),
        used: BTreeSet::new(),
        calls: BTreeSet::new(),
        asked: Vec::new(),
        parked: Vec::new(),
        generation: None,
        is_closed: false,
    };
    run.drive();
    while let Some(([what, which, how], rest)) = script.split_first_chunk::<3>() {
        script = rest;
        if what % STEPS == BODY {
            let (body, rest) = script.split_at(usize::from(*how).min(script.len()));
            script = rest;
            run.body(*which, body);
        } else {
            run.step(what % STEPS, *which, *how);
        }
        run.drive();
    }
    run.finish();
}

const CALLS_MAX: usize = 8;

/// Exchanges beyond those of calls: notifications, closing ones, the GET stream, and the DELETE.
const OTHERS_MAX: usize = 64 + 32 + 2;

const STEPS: u8 = 12;

/// The step followed by the bytes of a body.
const BODY: u8 = 3;

const TOKEN: &str = "Bearer of-the-script";

const METHODS: &[&str] = &["tools/list", "tools/call", "ping", "resources/read"];

const STATUSES: &[u16] =
    &[200, 202, 204, 100, 302, 400, 401, 403, 404, 405, 406, 429, 500, 501, 503, 0, u16::MAX];

const HEADS: &[&[(&str, &str)]] = &[
    &[("content-type", "application/json")],
    &[("content-type", "text/event-stream")],
    &[("content-type", "application/json"), ("mcp-session-id", "s1")],
    &[("content-type", "text/event-stream"), ("mcp-session-id", "s2")],
    &[("www-authenticate", "Bearer realm=x, scope=\"a b\", error=insufficient_scope")],
    &[],
];

struct Run {
    http: HttpClient,
    now: Instant,
    open: BTreeMap<ExchangeId, HttpRequest>,
    used: BTreeSet<ExchangeId>,
    calls: BTreeSet<CallId>,
    asked: Vec<IncomingId>,
    parked: Vec<ExchangeId>,
    generation: Option<Generation>,
    is_closed: bool,
}

impl Run {
    /// Executes and checks all pending work.
    fn drive(&mut self) {
        let mut held = 0;
        while let Some(action) = self.http.poll_action() {
            match action {
                Action::Send(send) => {
                    held += send.body.len();
                    assert!(self.used.insert(send.exchange), "no id is used twice");
                    assert_eq!(send.body.is_empty(), send.method != HttpMethod::Post);
                    let is_clean = |value: &str| !value.contains(|c: char| c.is_ascii_control());
                    assert!(send.headers.iter().all(|(_, value)| is_clean(value)));
                    assert_eq!(send.authorization.is_some(), self.generation.is_some());
                    assert!(!format!("{send:?}").contains(TOKEN), "credentials are not shown");
                    self.open.insert(send.exchange, send);
                }
                Action::Abort(exchange) => {
                    assert!(self.open.remove(&exchange).is_some(), "{exchange} is not open");
                }
            }
        }
        assert!(self.open.len() <= CALLS_MAX + OTHERS_MAX, "{} exchanges", self.open.len());
        while let Some(event) = self.http.poll_event() {
            held += size_of::<HttpEvent>();
            assert!(!self.is_closed, "an event after the last one: {event:?}");
            match event {
                HttpEvent::Client(client::Event::Completed { call, .. }) => {
                    assert!(self.calls.remove(&call), "{call} ends once");
                }
                HttpEvent::Client(client::Event::Request { incoming, .. }) => {
                    self.asked.push(incoming);
                }
                HttpEvent::Client(client::Event::Closed(_)) => self.is_closed = true,
                HttpEvent::Parked(parked) => {
                    assert!(!self.used.contains(&parked.exchange), "not sent again yet");
                    assert!(parked.generation <= self.generation);
                    self.parked.push(parked.exchange);
                }
                HttpEvent::Accepted(generation) => {
                    assert_eq!(Some(generation), self.generation, "it is the current one");
                }
                _ => {}
            }
        }
        // Everything waiting to be sent or polled was within the limits.
        assert!(held <= self.http.limits().memory_max(), "{held} bytes were held");
        assert!(self.calls.len() <= CALLS_MAX, "{:?} are open", self.calls);
    }

    fn pick(&self, which: u8) -> Option<HttpRequest> {
        self.open.values().nth(usize::from(which) % self.open.len().max(1)).cloned()
    }

    fn body(&mut self, which: u8, body: &[u8]) {
        if let Some(send) = self.pick(which) {
            self.http.handle_body(self.now, send.exchange, body);
        }
    }

    fn step(&mut self, what: u8, which: u8, how: u8) {
        let (now, how) = (self.now, usize::from(how));
        let options = CallOptions::default();
        match what {
            0 => {
                let params =
                    Raw::from_text(r#"{"name":"t","uri":"x:y","arguments":{"a":"ö"}}"#).ok();
                let params = params.as_ref().map(|params| params as &dyn mcp_proto::schema::Encode);
                let method = METHODS[usize::from(which) % METHODS.len()];
                self.calls.extend(self.http.call_raw(now, method, params, options));
            }
            1 => {
                if let Some(call) =
                    self.calls.iter().nth(usize::from(which) % self.calls.len().max(1))
                {
                    let _stale = self.http.cancel(now, *call, "no");
                }
            }
            2 => {
                if let Some(send) = self.pick(which) {
                    let head = HEADS[how % HEADS.len()];
                    let status = STATUSES[how / HEADS.len() % STATUSES.len()];
                    let head: Vec<_> = head.to_vec();
                    self.http.handle_head(now, send.exchange, status, &head);
                }
            }
            4 | 5 => {
                if let Some(send) = self.pick(which) {
                    let answer = answer(&send);
                    let answer =
                        if what == 4 { answer } else { format!("id: {how}\ndata: {answer}\n\n") };
                    self.body(which, answer.as_bytes());
                }
            }
            6 => {
                if let Some(send) = self.pick(which) {
                    self.open.remove(&send.exchange);
                    self.http.handle_end(now, send.exchange);
                }
            }
            7 => {
                if let Some(send) = self.pick(which) {
                    self.open.remove(&send.exchange);
                    let why = if how % 2 == 0 {
                        ExchangeFailure::Cut
                    } else {
                        ExchangeFailure::Unreached
                    };
                    self.http.handle_failure(now, send.exchange, why);
                }
            }
            8 => {
                self.now += Duration::from_millis(1 << (which % 20));
                self.http.handle_timeout(self.now);
            }
            9 => self.calls.extend(self.http.subscribe(now, &Filter::new().tools(), options)),
            10 => {
                if let Some(incoming) = self.asked.pop() {
                    let _stale =
                        self.http.respond_error(now, incoming, &ErrorObject::internal("no"));
                }
            }
            // Rarely, since little follows it.
            _ if which == 0 => self.http.close(now),
            _ if which < 96 => {
                let generation = Generation::new(u64::from(which % 8));
                self.generation = self.generation.max(Some(generation));
                self.http.authorize(now, Credentials::new(generation, TOKEN.into()));
            }
            _ if which < 112 => self.http.deny(now, "no"),
            _ if which < 144 => {
                if let Some(exchange) = self.parked.pop() {
                    self.http.deny_request(now, exchange, "no");
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
            self.drive();
        }
        let listening: BTreeSet<_> = self.http.subscriptions().map(|(call, _)| call).collect();
        assert!(self.calls.is_subset(&listening), "{:?} do not end", self.calls);
        self.http.close(self.now);
        self.drive();
        while let Some((exchange, _)) = self.open.pop_first() {
            self.http.handle_end(self.now, exchange);
            self.drive();
        }
        assert!(self.is_closed && self.calls.is_empty());
        assert_eq!(self.http.poll_timeout(), None);
    }
}

/// Returns a response that fits the request.
fn answer(send: &HttpRequest) -> String {
    let body = core::str::from_utf8(&send.body).ok().and_then(|body| Raw::from_text(body).ok());
    let part = |name| body.as_ref().and_then(|body| body.member(name));
    let (Some(id), Some(method)) = (part("id"), part("method")) else { return String::new() };
    let result = match &*method.to_text().unwrap_or_default() {
        "server/discover" => r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#,
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}"#
        }
        "tools/list" => {
            r#"{"tools":[{"name":"t","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]}"#
        }
        _ => "{}",
    };
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.as_str())
}
