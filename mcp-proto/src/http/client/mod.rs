//! The client side of Streamable HTTP without IO. A driver owns the sockets and performs the IO.
//!
//! Starts and aborts exchanges (HTTP requests with their responses) and passes the responses to the
//! wrapped [`Client`].
//!
//! Each message is sent in a separate exchange. In the legacy era, an event stream that ends before
//! the response is resumed, a separate stream carries messages that belong to no call, and a new
//! session replaces one that the server has lost. In the modern era, aborting an exchange cancels
//! its request, and a request fails if its exchange is cut off.
//!
//! With [`HttpConfig::sse_fallback`], a server of the older transport HTTP+SSE is served as well:
//! see [`legacy_sse`](super::legacy_sse).

mod action;
mod backoff;
mod call_queue;
mod cleanup;
mod config;
mod credentials;
mod dpop;
mod error_body;
mod error_text;
mod event;
mod event_stream;
mod exchange;
mod exchanges;
mod header_refresh;
mod legacy_session;
mod outbound_post;
mod parking;
mod probe_retry;
mod rejected_calls;
mod reply;
mod response_head;
mod send;
mod sse_fallback;
mod sse_transport;
mod stream_events;
mod tool_cache;

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

pub use action::{Action, ExchangeFailure, ExchangeId, HttpMethod, HttpRequest};
pub use config::HttpConfig;
pub use credentials::{Credentials, Generation};
pub use error_text::error_text;
pub use event::{Challenge, HttpEvent, ParkedRequest};

use self::backoff::Backoff;
use self::call_queue::CallQueue;
use self::credentials::CurrentCredentials;
use self::exchanges::Exchanges;
use self::header_refresh::HeaderRefresh;
use self::legacy_session::LegacySession;
use self::outbound_post::SendGate;
use self::sse_transport::SseTransport;
use self::tool_cache::ToolCache;
use crate::client::{self, Client, ExchangeEndpoint as _};
use crate::extension::Extensions;
use crate::http::Headers;
use crate::message_endpoint::MessageEndpoint;
use crate::time::Instant;

/// A [`Client`] over HTTP.
///
/// The application uses the methods of [`Client`], to which this type dereferences. A driver
///
/// - performs the actions from [`poll_action`](Self::poll_action) until it returns `None`, each
///   time after the driver or the application has called another method;
/// - reports the response to each request that it has sent: the head with
///   [`handle_head`](Self::handle_head), then bytes of the body with
///   [`handle_body`](Self::handle_body) while [`wants_input`](Self::wants_input) returns true, and
///   finally exactly one end, with either [`handle_end`](Self::handle_end) or
///   [`handle_failure`](Self::handle_failure);
/// - makes no further reports about an exchange after [`Action::Abort`];
/// - calls [`handle_timeout`](Self::handle_timeout) at the time that
///   [`poll_timeout`](Self::poll_timeout) returns.
///
/// With [`HttpConfig::parks`], the driver also answers each [`HttpEvent::Parked`] with
/// [`authorize`](Self::authorize), [`deny`](Self::deny) or [`deny_request`](Self::deny_request).
///
/// Reports about a finished exchange are ignored. At most about
/// [`concurrent_calls_max`](HttpConfig::concurrent_calls_max) plus
/// [`subscriptions_max`](crate::Limits::subscriptions_max) plus 100 exchanges are open at a time.
/// Each buffers at most about twice [`message_bytes_max`](crate::Limits::message_bytes_max) bytes.
///
/// ```
/// use mcp_proto::client::{self, Client};
/// use mcp_proto::http::client::{Action, HttpClient, HttpConfig, HttpEvent, HttpMethod};
/// use mcp_proto::{CallOptions, Instant};
///
/// let now = Instant::ZERO;
/// let client = Client::new(now, client::Config::new("demo", "1.0.0"));
/// let mut http = HttpClient::new(client, HttpConfig::new(7)); // 7: the seed
/// let mut answer = |http: &mut HttpClient, body: &str| {
///     let Some(Action::Send(send)) = http.poll_action() else { panic!() };
///     assert_eq!(send.method, HttpMethod::Post);
///     http.handle_head(now, send.exchange, 200, &[("content-type", "application/json")]);
///     http.handle_body(now, send.exchange, body.as_bytes());
///     http.handle_end(now, send.exchange);
///     http.poll_event()
/// };
/// let ready = answer(&mut http, r#"{"jsonrpc":"2.0","id":1,"result":{
///     "supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#);
/// assert!(matches!(ready, Some(HttpEvent::Client(client::Event::Ready(_)))));
///
/// let call = http.call_raw(now, "tools/list", None, CallOptions::default()).unwrap();
/// let done = answer(&mut http, r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#);
/// let Some(HttpEvent::Client(client::Event::Completed { call: completed, outcome })) = done else {
///     panic!("not completed")
/// };
/// assert_eq!((completed, outcome.unwrap().as_str()), (call, r#"{"tools":[]}"#));
/// ```
#[derive(Debug)]
pub struct HttpClient {
    client: Client,
    extensions: Extensions,
    config: HttpConfig,
    backoff: Backoff,
    exchanges: Exchanges,
    events: VecDeque<HttpEvent>,
    authorization: CurrentCredentials,
    legacy: LegacySession,
    sse: SseTransport,
    gate: SendGate,
    queue: CallQueue,
    /// The wire ids of requests that ended before they were sent.
    unsent: BTreeSet<u64>,
    tools: ToolCache,
    refresh: HeaderRefresh,
    /// A buffer for the wire ids of completed calls; empty between uses.
    ended: Vec<u64>,
    close_state: CloseState,
}

/// The progress of closing the connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum CloseState {
    Open,
    /// The connection is closed; one-way messages and the DELETE may still be sent.
    Closing,
    /// `Closed` was polled; later authentication challenges are dropped.
    Reported,
}

impl HttpClient {
    /// Wraps `client` for use over HTTP.
    ///
    /// `client` must be newly created: no other method may have been called on it.
    #[must_use]
    pub fn new(mut client: Client, config: HttpConfig) -> Self {
        client.use_exchanges();
        Self {
            extensions: client.extensions().clone(),
            client,
            backoff: Backoff::new(&config),
            config,
            exchanges: Exchanges::default(),
            events: VecDeque::new(),
            authorization: CurrentCredentials::default(),
            legacy: LegacySession::default(),
            sse: SseTransport::default(),
            gate: SendGate::Open,
            queue: CallQueue::default(),
            unsent: BTreeSet::new(),
            tools: ToolCache::default(),
            refresh: HeaderRefresh::default(),
            ended: Vec::new(),
            close_state: CloseState::Open,
        }
    }

    /// Returns the next action for the driver; `None` if there is nothing to do for now.
    ///
    /// Takes time linear in the length of the message to send, if there is one. May start a timer:
    /// call [`poll_timeout`](Self::poll_timeout) afterwards.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.settle();
        let action = self.next_action();
        if !self.client.has_outgoing() {
            self.unsent.clear();
        }
        action
    }

    /// Handles the status and headers of a response.
    ///
    /// Interim responses (1xx) are ignored and need not be reported. A success with a
    /// `Content-Encoding` fails its call: leave the field out if the driver decodes the body.
    pub fn handle_head(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        status: u16,
        fields: &dyn Headers,
    ) {
        self.on_head(now, exchange, status, fields, None);
        self.settle();
    }

    /// Handles the status and headers of an unsuccessful response, and its explanation.
    ///
    /// `reason` is the explanation for the user, which the driver has read from the response, for
    /// example with [`error_text`]. Its first 256 characters become part of the call's error, made
    /// [safe](crate::printable) for logs, so `reason` must not contain credentials. An empty
    /// `reason` means that the response has no explanation. The body itself is passed to
    /// [`handle_body`](Self::handle_body) as usual.
    ///
    /// After [`handle_head`](Self::handle_head), the explanation of a status other than 401 and 403
    /// is read from the body. Only the access token of this client is removed from it.
    pub fn handle_challenge(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        status: u16,
        fields: &dyn Headers,
        reason: &str,
    ) {
        self.on_head(now, exchange, status, fields, Some(reason));
        self.settle();
    }

    /// Drops the cached results that may depend on the credentials of the requests.
    ///
    /// Drivers that add credentials to requests by themselves call this method whenever these
    /// change. [`authorize`](Self::authorize) does so, too.
    pub fn forget_private_results(&mut self) {
        self.client.forget_private_results();
    }

    /// Handles bytes of a response body, which may be split anywhere.
    ///
    /// Takes time linear in the number of bytes.
    pub fn handle_body(&mut self, now: Instant, exchange: ExchangeId, bytes: &[u8]) {
        self.on_body(now, exchange, bytes);
        self.settle();
    }

    /// Handles the end of a complete response.
    pub fn handle_end(&mut self, now: Instant, exchange: ExchangeId) {
        self.exchanges.forget_abort(exchange);
        self.on_end(now, exchange);
        self.settle();
    }

    /// Handles the failure of an exchange: no connection was established, or the response is
    /// incomplete.
    pub fn handle_failure(&mut self, now: Instant, exchange: ExchangeId, reason: ExchangeFailure) {
        self.exchanges.forget_abort(exchange);
        self.on_failure(now, exchange, reason);
        self.settle();
    }

    /// Advances the time to `now` and handles expired timeouts.
    ///
    /// Early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.client.handle_timeout(now);
        let now = self.now();
        while let Some(exchange) = self.exchanges.take_due(now) {
            self.on_due(exchange);
        }
        self.settle();
    }

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout).
    ///
    /// Returns `None` if no timer runs.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.client.poll_timeout().into_iter().chain(self.exchanges.next_due()).min()
    }

    /// Returns the next event, if any.
    pub fn poll_event(&mut self) -> Option<HttpEvent> {
        if self.close_state == CloseState::Reported {
            return None;
        }
        let event = self
            .events
            .pop_front()
            .or_else(|| self.exchanges.next_unreported().map(HttpEvent::Parked))
            .or_else(|| self.client.poll_event().map(HttpEvent::Client));
        if matches!(event, Some(HttpEvent::Client(client::Event::Closed(_)))) {
            self.settle();
            self.close_state = CloseState::Reported;
        }
        event
    }

    /// Returns whether the driver should read the body of this exchange.
    ///
    /// While this is false, leave the body unread, so that backpressure reaches the server.
    #[must_use]
    pub fn wants_input(&self, exchange: ExchangeId) -> bool {
        let exchange = self.exchanges.get(exchange).filter(|exchange| !exchange.is_unsent());
        // An ignored body is always read, so that its connection can be reused.
        exchange.is_some_and(|exchange| exchange.is_ignored() || self.client.wants_input())
    }

    /// Closes the connection.
    ///
    /// Every open call completes with [`CallError::Lost`](crate::CallError::Lost), then
    /// [`client::Event::Closed`] follows. The driver may ignore the actions that remain, such as
    /// the DELETE that ends the session.
    // HTTP-35: the client should terminate its session.
    pub fn close(&mut self, now: Instant) {
        self.client.close(now);
        self.settle();
    }

    /// Returns whether the connection is closed. Events and actions may still be pending.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Returns the id of the open legacy session.
    ///
    /// Returns `None` before a session is open, or if the server has not assigned an id to it.
    // HTTP-29: the server assigns the id.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.legacy.id()
    }

    /// Returns the latest time; it never goes back.
    fn now(&self) -> Instant {
        self.client.now()
    }
}

impl Deref for HttpClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for HttpClient {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

#[cfg(test)]
mod tests;
