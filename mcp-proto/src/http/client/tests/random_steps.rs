//! Random steps of a server, a driver and an application: every call completes once and in time,
//! and no exchange is left open.

use alloc::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::limits::Limits;
use crate::revision::Era;
use crate::vocabulary::Filter;

#[derive(Clone, Debug)]
enum Step {
    Call(&'static str),
    Cancel(usize),
    Head(usize, u16, usize),
    /// A text of `TEXTS` or a valid response (`.1`), as an event or raw (`.2`).
    Body(usize, usize, bool),
    End(usize),
    Fail(usize, bool),
    Listen,
    Authorize(u64),
    Deny,
    Pass(u64),
    Close,
}

const HEADS: &[Head<'static>] =
    &[JSON, EVENTS, SESSION, PLAIN, &[("www-authenticate", "Bearer error=insufficient_scope")]];

const STATUSES: &[u16] =
    &[200, 200, 200, 200, 202, 204, 100, 302, 400, 401, 403, 404, 405, 429, 500, 501, 503, 0, 999];

const TEXTS: &[&str] = &[
    "",
    "{",
    "\n\n",
    "id: 7\nretry: 100\ndata:\n\n",
    "id: 7\nretry: 0\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x/y\"}\n\n",
    "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n\n",
    "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n",
    r#"{"jsonrpc":"2.0",
    "error":{"code":-32022,"message":"x","data":{"supported":["2025-11-25"]}}}"#,
    "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32601,\"message\":\"x\"}}",
    "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => select(&["tools/list", "tools/call", "ping"][..]).prop_map(Step::Call),
        1 => any::<usize>().prop_map(Step::Cancel),
        8 => (any::<usize>(), select(STATUSES), any::<usize>())
            .prop_map(|(a, b, c)| Step::Head(a, b, c)),
        8 => (any::<usize>(), 0..TEXTS.len() + 6, any::<bool>())
            .prop_map(|(a, b, c)| Step::Body(a, b, c)),
        4 => any::<usize>().prop_map(Step::End),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(a, b)| Step::Fail(a, b)),
        1 => Just(Step::Listen),
        3 => (0_u64..9)
            .prop_map(|number| if number < 6 { Step::Authorize(number) } else { Step::Deny }),
        3 => (0_u64..20_000).prop_map(Step::Pass),
        1 => proptest::bool::weighted(0.1)
            .prop_map(|closes| if closes { Step::Close } else { Step::Pass(1) }),
    ]
}

/// The bookkeeping of the driver and the application.
struct Bookkeeping {
    it: Fixture,
    open: BTreeMap<ExchangeId, HttpRequest>,
    used: BTreeSet<ExchangeId>,
    calls: BTreeSet<CallId>,
    made: usize,
    ended: usize,
}

/// The maximum number of exchanges besides calls: one-way messages, ignored responses, the GET
/// stream and the DELETE.
const OTHERS_MAX: usize = 64 + 32 + 2;

const CALLS_MAX: usize = 8;

impl Bookkeeping {
    fn new(expects_legacy: bool, parks: bool, seed: u64) -> Self {
        let limits = Limits { message_bytes_max: 400, calls_max: CALLS_MAX, ..Limits::default() };
        let config = config().limits(limits).capability(crate::revision::Capability::Roots);
        let config = if expects_legacy { config.expect_era(Era::Legacy) } else { config };
        let http = HttpConfig::new(seed);
        let http = if parks { http.parks() } else { http };
        let it = Fixture::with_http(config, http);
        let mut state = Self {
            it,
            open: BTreeMap::new(),
            used: BTreeSet::new(),
            calls: BTreeSet::new(),
            made: 0,
            ended: 0,
        };
        state.drive();
        state
    }

    /// Performs and checks all pending actions, and takes all events.
    fn drive(&mut self) {
        while let Some(action) = self.it.http.poll_action() {
            match action {
                Action::Send(send) => {
                    assert!(self.used.insert(send.exchange), "exchange id is reused");
                    assert_eq!(send.body.is_empty(), send.method != HttpMethod::Post);
                    assert!(
                        send.headers.iter().all(|(_, value)| !value.contains(['\r', '\n', '\0']))
                    );
                    self.open.insert(send.exchange, send);
                }
                Action::Abort(exchange) => {
                    assert!(self.open.remove(&exchange).is_some(), "{exchange} is not open");
                }
            }
        }
        assert!(self.open.len() <= CALLS_MAX + OTHERS_MAX, "{}", self.open.len());
        while let Some(event) = self.it.http.poll_event() {
            if let HttpEvent::Client(client::Event::Completed { call, .. }) = event {
                assert!(self.calls.remove(&call), "{call} completed twice");
                self.ended += 1;
            }
        }
    }

    fn pick(&self, index: usize) -> Option<HttpRequest> {
        let count = self.open.len().max(1);
        self.open.values().nth(index % count).cloned()
    }

    fn step(&mut self, step: Step) {
        let now = self.it.now;
        match step {
            Step::Call(method) => {
                let made = self.it.http.call_raw(now, method, None, CallOptions::default());
                self.note(made.ok());
            }
            Step::Listen => {
                let made =
                    self.it.http.subscribe(now, &Filter::new().tools(), CallOptions::default());
                self.note(made.ok());
            }
            Step::Cancel(index) => {
                let count = self.calls.len().max(1);
                if let Some(call) = self.calls.iter().nth(index % count) {
                    let _stale = self.it.http.cancel(now, *call, "");
                }
            }
            Step::Head(index, status, head) => {
                if let Some(send) = self.pick(index) {
                    self.it.head(&send, status, HEADS[head % HEADS.len()]);
                }
            }
            Step::Body(index, text, as_event) => {
                if let Some(send) = self.pick(index) {
                    let body = match TEXTS.get(text) {
                        Some(text) => (*text).into(),
                        None => valid_response(&send),
                    };
                    let body = if as_event { event(&body) } else { body };
                    self.it.feed(&send, &body);
                }
            }
            Step::End(index) => {
                if let Some(send) = self.pick(index) {
                    self.open.remove(&send.exchange);
                    self.it.end(&send);
                }
            }
            Step::Fail(index, was_reached) => {
                if let Some(send) = self.pick(index) {
                    self.open.remove(&send.exchange);
                    let why =
                        if was_reached { ExchangeFailure::Cut } else { ExchangeFailure::Unreached };
                    self.it.http.handle_failure(now, send.exchange, why);
                }
            }
            Step::Pass(millis) => {
                self.it.now += Duration::from_millis(millis);
                self.it.http.handle_timeout(self.it.now);
            }
            Step::Authorize(generation) => {
                let token = Credentials::new(Generation::new(generation), "Bearer a".into());
                self.it.http.authorize(now, token);
            }
            Step::Deny => self.it.http.deny(now, "no"),
            Step::Close => self.it.http.close(now),
        }
        self.drive();
    }

    fn note(&mut self, call: Option<CallId>) {
        if let Some(call) = call {
            self.calls.insert(call);
            self.made += 1;
        }
    }

    /// Lets all timers expire, closes the client, and checks that nothing is left open.
    fn finish(mut self) {
        for _ in 0..40 {
            self.it.now += Duration::from_secs(60);
            self.it.http.handle_timeout(self.it.now);
            self.drive();
        }
        // Open subscriptions have no timeout.
        let listening: BTreeSet<_> = self.it.http.subscriptions().map(|(call, _)| call).collect();
        assert!(self.calls.is_subset(&listening), "{:?} did not complete", self.calls);
        self.it.http.close(self.it.now);
        self.drive();
        for send in core::mem::take(&mut self.open).into_values() {
            self.it.end(&send);
        }
        self.drive();
        for send in core::mem::take(&mut self.open).into_values() {
            assert_eq!(send.method, HttpMethod::Delete);
            self.it.end(&send);
        }
        self.drive();
        assert_eq!((self.it.exchanges(), self.it.http.poll_timeout()), (0, None));
        assert!(self.it.http.is_closed() && self.open.is_empty());
        assert_eq!(self.made, self.ended, "a call did not complete");
    }
}

/// Creates a valid response to the request.
fn valid_response(send: &HttpRequest) -> String {
    let body = String::from_utf8_lossy(&send.body).into_owned();
    let Ok(body) = Raw::from_text(&body) else { return String::new() };
    let (Some(id), Some(method)) = (body.member("id"), body.member("method")) else {
        return String::new();
    };
    let result = match &*method.to_text().unwrap_or_default() {
        "server/discover" => r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#,
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
            "serverInfo":{"name":"x","version":"1"}}"#
        }
        _ => "{}",
    };
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.as_str())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_call_completes_once_and_nothing_is_left_open(
        steps in proptest::collection::vec(step(), 0..80),
        expects_legacy: bool,
        parks: bool,
        opens: bool,
        seed: u64,
    ) {
        let mut state = Bookkeeping::new(expects_legacy, parks, seed);
        if opens {
            for _ in 0..2 {
                state.step(Step::Head(0, 200, 2));
                state.step(Step::Body(0, TEXTS.len(), false));
                state.step(Step::End(0));
            }
        }
        for step in steps {
            state.step(step);
        }
        state.finish();
    }
}
