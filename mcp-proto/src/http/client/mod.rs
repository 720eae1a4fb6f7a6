//! The client's side of Streamable HTTP: which exchanges to begin and to end, and what their
//! responses mean for the connection. The driver owns sockets and URLs.
//!
//! Each message is an exchange of its own. Where there are sessions, a stream of events can end
//! before the answer is there, and is then resumed; one more stream carries what the server says by
//! itself; and a server that forgot the session gets a new one. Where there are none, an exchange
//! is all there is of its request: ending it takes the request back, and one that is cut off is
//! lost. (HTTP-03…62, SSE-16…26)

mod action;
mod config;
mod event;
mod exchanges;
mod legacy_session;
mod posting;
mod recovery;
mod reply;
mod retry;
mod send;
mod stream;
mod streaming;
mod tools;

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

pub use action::{Action, ExchangeId, Failure, Send, Verb};
pub use config::Config;
pub use event::{Challenge, Event};

use self::exchanges::Exchanges;
use self::legacy_session::LegacySession;
use self::posting::Turn;
use self::retry::Backoff;
use self::tools::Tools;
use crate::client::{self, Client};
use crate::connection::Session;
use crate::http::Fields;
use crate::time::Instant;

/// A [`Client`] over HTTP.
///
/// It dereferences to the session, for what the application does. A driver
///
/// - does what [`poll_action`](Self::poll_action) says until it says nothing more, after each step
///   that it takes and each that the application takes;
/// - tells of each exchange that it began: the head with [`handle_head`](Self::handle_head), the
///   bytes of the body with [`handle_body`](Self::handle_body) as they come and as long as
///   [`wants_input`](Self::wants_input), and then exactly one end, [`handle_end`](Self::handle_end)
///   or [`handle_failure`](Self::handle_failure); nothing more once it was told to abort it;
/// - calls [`handle_timeout`](Self::handle_timeout) at [`poll_timeout`](Self::poll_timeout).
///
/// Nothing that is told of an exchange that is over does anything. At most
/// [`calls_max`](crate::Limits::calls_max) and about a hundred exchanges are open at a time, each
/// of which holds at most about twice [`message_bytes_max`](crate::Limits::message_bytes_max).
///
/// ```
/// use mcp_proto::client::{self, Client};
/// use mcp_proto::http::client::{Action, Config, Event, Http, Verb};
/// use mcp_proto::http::Fields;
/// use mcp_proto::{CallOptions, Instant};
///
/// struct Json;
/// impl Fields for Json {
///     fn value(&self, name: &str, nth: usize) -> Option<&[u8]> {
///         (name == "content-type" && nth == 0).then_some(b"application/json")
///     }
/// }
///
/// let now = Instant::ZERO;
/// let mut http = Http::new(Client::new(now, client::Config::new("demo", "1.0.0")), Config::new(7));
/// let mut answer = |http: &mut Http, body: &str| {
///     let Some(Action::Send(send)) = http.poll_action() else { panic!() };
///     assert_eq!(send.verb, Verb::Post);
///     http.handle_head(now, send.exchange, 200, &Json);
///     http.handle_body(now, send.exchange, body.as_bytes());
///     http.handle_end(now, send.exchange);
///     http.poll_event()
/// };
/// let ready = answer(&mut http, r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],
///     "capabilities":{"tools":{}}}}"#);
/// assert!(matches!(ready, Some(Event::Session(client::Event::Ready(_)))));
///
/// let call = http.call_raw(now, "tools/list", None, CallOptions::default()).unwrap();
/// let done = answer(&mut http, r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#);
/// let Some(Event::Session(client::Event::Completed { call: it, outcome })) = done else { panic!() };
/// assert_eq!((it, outcome.unwrap().as_str()), (call, r#"{"tools":[]}"#));
/// ```
#[derive(Debug)]
pub struct Http {
    client: Client,
    config: Config,
    backoff: Backoff,
    exchanges: Exchanges,
    events: VecDeque<Event>,
    legacy: LegacySession,
    turn: Turn,
    /// Requests that were over before they were sent.
    unsent: BTreeSet<u64>,
    tools: Tools,
    /// Calls that are over; empty between calls, kept for its memory.
    ended: Vec<u64>,
    end: End,
}

/// How far the end of the connection is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Open,
    /// The connection is closed, and so are the exchanges; the server can still be told.
    Closing,
    /// `Closed` was polled; later authentication challenges are dropped.
    Told,
}

impl Http {
    /// Puts a session on HTTP, one that has just been made.
    #[must_use]
    pub fn new(mut client: Client, config: Config) -> Self {
        client.use_exchanges();
        Self {
            client,
            backoff: Backoff::new(&config),
            config,
            exchanges: Exchanges::default(),
            events: VecDeque::new(),
            legacy: LegacySession::default(),
            turn: Turn::Free,
            unsent: BTreeSet::new(),
            tools: Tools::default(),
            ended: Vec::new(),
            end: End::Open,
        }
    }

    /// What the driver is to do next; `None` when there is nothing to do until something happens.
    ///
    /// Work is linear in the message that is sent. What it gives can make something due: ask for
    /// [`poll_timeout`](Self::poll_timeout) after it.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.settle();
        let action = self.next_action();
        if !self.client.has_outgoing() {
            self.unsent.clear();
        }
        action
    }

    /// The head of the response has come: its status and its fields. Interim heads, 1xx, need not
    /// be told.
    pub fn handle_head(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        status: u16,
        fields: &dyn Fields,
    ) {
        self.head(now, exchange, status, fields);
        self.settle();
    }

    /// Bytes of the body have come, split anywhere. Work is linear in them.
    pub fn handle_body(&mut self, now: Instant, exchange: ExchangeId, bytes: &[u8]) {
        self.body(now, exchange, bytes);
        self.settle();
    }

    /// The response is complete.
    pub fn handle_end(&mut self, now: Instant, exchange: ExchangeId) {
        self.end(now, exchange);
        self.settle();
    }

    /// The exchange ended before its response did, or did not begin.
    pub fn handle_failure(&mut self, now: Instant, exchange: ExchangeId, reason: Failure) {
        self.failure(now, exchange, reason);
        self.settle();
    }

    /// Time has passed. Early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.client.handle_timeout(now);
        let now = self.now();
        while let Some(exchange) = self.exchanges.take_due(now) {
            self.is_due(exchange);
        }
        self.settle();
    }

    /// When to call `handle_timeout` next; `None` when waiting changes nothing.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.client.poll_timeout().into_iter().chain(self.exchanges.next_due()).min()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.end == End::Told {
            return None;
        }
        let event =
            self.events.pop_front().or_else(|| self.client.poll_event().map(Event::Session));
        if matches!(event, Some(Event::Session(client::Event::Closed(_)))) {
            self.settle();
            self.end = End::Told;
        }
        event
    }

    /// Whether to go on reading the body of this exchange; if not, the connection pushes back.
    #[must_use]
    pub fn wants_input(&self, exchange: ExchangeId) -> bool {
        let exchange = self.exchanges.get(exchange).filter(|exchange| !exchange.is_waiting());
        // What means nothing is best gone.
        exchange.is_some_and(|exchange| exchange.is_ignored() || self.client.wants_input())
    }

    /// Ends the connection: every open call completes with
    /// [`CallError::Lost`](crate::CallError::Lost), then comes [`client::Event::Closed`]. What
    /// there is to do after that, such as telling the server that the session is over, is best
    /// done, and need not be. (HTTP-35)
    pub fn close(&mut self, now: Instant) {
        self.client.close(now);
        self.settle();
    }

    /// Whether the last event was made. Actions can still come.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// The id of the session, once the server gave it one. (HTTP-29)
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.legacy.id()
    }

    /// Time never goes back.
    fn now(&self) -> Instant {
        self.client.now()
    }
}

impl Deref for Http {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Http {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

#[cfg(test)]
mod tests;
