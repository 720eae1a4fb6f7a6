//! Streamable HTTP in one object for custom event loops: sessions, modern requests, event streams.
//!
//! The file `connections` holds the connections; the file `routing` assigns requests to them.

mod connections;
mod limits;
mod request;
mod routing;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

pub use connections::{HubConnectionId, HubExchangeId};
pub use limits::HubLimits;
pub use request::HubRequest;

use self::connections::Connections;
use self::request::{Admission, HubExchange, PendingBody, ReplySource};
use super::cross_origin::CrossOrigin;
use super::policy::Policy;
use super::refusal::Refusal;
use super::reply::{Body, BodyChunk, Reply};
use super::server::StreamSettings;
use super::session_table::SessionTable;
use crate::json::Raw;
use crate::meta::ContextCache;
use crate::rpc::ErrorObject;
use crate::schema::Encode;
use crate::server::{Config, Event, Server};
use crate::time::{Instant, sooner};
use crate::vocabulary::{Context, Principal, Request};

/// Returns the input schema of a tool.
type SchemaOf = dyn Fn(&str) -> Option<Raw> + Send;

/// Streamable HTTP for a custom event loop: request heads and bodies in; response heads, body
/// chunks, events and one deadline out.
///
/// A hub admits requests, keeps the sessions of legacy clients, serves modern requests, and writes
/// event streams. The *driver* is the loop around an HTTP library that owns the sockets. It
///
/// - passes each request to [`handle_request`](Self::handle_request), or its head and body, as they
///   arrive, to [`handle_head`](Self::handle_head) and [`handle_body`](Self::handle_body);
/// - calls [`handle_timeout`](Self::handle_timeout) at the time that
///   [`poll_timeout`](Self::poll_timeout) returns;
/// - calls [`handle_gone`](Self::handle_gone) if a client disconnects;
/// - afterwards, each time: handles all events from [`poll_event`](Self::poll_event), and sends the
///   responses of all exchanges from [`poll_ready`](Self::poll_ready).
///
/// The [guide](crate::_guide::http_in_your_loop) has a complete program, and describes what a
/// disconnection means and what to do if an HTTP library does not report it.
///
/// [`HubLimits`] bound the memory. The driver bounds the number of its sockets and, if it
/// authenticates clients, calls [`check_origin`](super::check_origin) with the
/// [policy](Self::policy) before, and sends its own refusals. HTTP+SSE, the transport before
/// Streamable HTTP, is not part of the hub; see [`legacy_sse`](super::legacy_sse).
pub struct HttpHub {
    config: Config,
    /// For requests of legacy clients without a session.
    sessionless_config: Config,
    policy: Policy,
    settings: Arc<StreamSettings>,
    limits: HubLimits,
    has_streams: bool,
    new_session_id: Box<dyn FnMut() -> String + Send>,
    schema_of: Box<SchemaOf>,
    /// The latest context of a modern request. A client repeats it in each request.
    contexts: ContextCache,
    sessions: SessionTable<HubConnectionId>,
    connections: Connections,
    /// Exchanges whose bodies are being read. They time out in the order of their ids.
    pending_bodies: BTreeMap<HubExchangeId, PendingBody>,
    /// The bytes of all of them.
    bodies_bytes: usize,
    exchanges: BTreeMap<HubExchangeId, HubExchange>,
    ready: VecDeque<HubExchangeId>,
    next: u64,
    now: Instant,
}

impl fmt::Debug for HttpHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpHub")
            .field("policy", &self.policy)
            .field("limits", &self.limits)
            .field("sessions", &self.sessions.len())
            .field("exchanges", &self.exchanges.len())
            .finish_non_exhaustive()
    }
}

impl HttpHub {
    /// Creates a hub with the [policy](Policy::from_config) of `config`.
    ///
    /// `new_session_id` returns a new id for each legacy session: unpredictable, visible ASCII, at
    /// most 256 bytes. Draw at least 128 random bits. If the id is empty, for example because there
    /// is no source of randomness, the request for the session receives status 500.
    // HTTP-30: ids are unguessable, and drawn by the driver.
    #[must_use]
    pub fn new(config: Config, new_session_id: impl FnMut() -> String + Send + 'static) -> Self {
        let limits = HubLimits::default();
        Self {
            policy: Policy::from_config(&config),
            sessionless_config: config.clone().without_sessions(),
            config,
            settings: Arc::default(),
            has_streams: true,
            new_session_id: Box::new(new_session_id),
            schema_of: Box::new(|_| None),
            contexts: ContextCache::default(),
            sessions: sessions(&limits),
            limits,
            connections: Connections::default(),
            pending_bodies: BTreeMap::new(),
            bodies_bytes: 0,
            exchanges: BTreeMap::new(),
            ready: VecDeque::new(),
            next: 0,
            now: Instant::ZERO,
        }
    }

    /// Replaces the policy, for example to accept other hosts than loopback ones.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Replaces the limits. Call it before the first request.
    #[must_use]
    pub fn limits(mut self, limits: HubLimits) -> Self {
        self.sessions = sessions(&limits);
        self.limits = limits;
        self
    }

    /// Replaces the settings of event streams, for example the time between two comments.
    #[must_use]
    pub fn streams(mut self, settings: impl Into<Arc<StreamSettings>>) -> Self {
        self.settings = settings.into();
        self
    }

    /// Makes each response whole, for HTTP libraries that cannot send event streams.
    ///
    /// Features that need an open stream are not available: progress, log messages, input requests
    /// of legacy servers, and change notifications. GET is refused with 405, and a modern
    /// subscription ends as soon as it is acknowledged.
    #[must_use]
    pub fn without_streams(mut self) -> Self {
        self.has_streams = false;
        self
    }

    /// Sets the function that returns the input schema of a tool, so that `Mcp-Param-*` headers are
    /// checked, as [`PostHead::read`](super::PostHead::read) describes. Default: they are not
    /// checked.
    #[must_use]
    pub fn tool_schemas(
        mut self,
        schema_of: impl Fn(&str) -> Option<Raw> + Send + 'static,
    ) -> Self {
        self.schema_of = Box::new(schema_of);
        self
    }

    /// Returns the policy.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the number of open sessions.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Handles a request whose body was read, of at most [`Policy::body_bytes_max`].
    pub fn handle_request(
        &mut self,
        now: Instant,
        request: &HubRequest<'_>,
        body: impl Into<Bytes>,
    ) -> HubExchangeId {
        let id = self.handle_head(now, request);
        self.finish_body(id, |hub, pending| hub.post(pending, &body.into()));
        id
    }

    /// Handles the head of a request.
    ///
    /// If the request is admitted and has a body, [`wants_body`](Self::wants_body) returns true.
    /// Otherwise, the response does not need the body.
    pub fn handle_head(&mut self, now: Instant, request: &HubRequest<'_>) -> HubExchangeId {
        self.handle_timeout(now);
        let id = HubExchangeId(self.next);
        self.next += 1;
        let page = CrossOrigin::of(&self.policy, request.headers);
        match self.admit(request, &page) {
            Ok(Admission::Post(pending)) => {
                self.bodies_bytes += pending.bytes();
                self.pending_bodies.insert(id, PendingBody { page, ..pending });
            }
            Ok(Admission::Reply(source)) => self.open(id, page, source),
            Err(refusal) => self.open(id, page, refusal.into()),
        }
        id
    }

    /// Returns whether the hub waits for the body of an exchange.
    #[must_use]
    pub fn wants_body(&self, id: HubExchangeId) -> bool {
        self.pending_bodies.contains_key(&id)
    }

    /// Handles a part of a body. Ignored unless the hub [wants](Self::wants_body) the body.
    ///
    /// A body that is too long is refused with status 413.
    pub fn handle_body(&mut self, now: Instant, id: HubExchangeId, part: &[u8]) {
        self.handle_timeout(now);
        let room = if self.wants_body(id) { self.require_bytes(part.len()) } else { return };
        let Some(pending) = self.pending_bodies.get_mut(&id) else { return };
        match room.and_then(|()| pending.push(&self.policy, part)) {
            Ok(()) => self.bodies_bytes += part.len(),
            Err(refusal) => self.finish_body(id, |_, _| Err(refusal)),
        }
    }

    /// Handles the end of a body. Ignored unless the hub [wants](Self::wants_body) the body.
    pub fn handle_body_end(&mut self, now: Instant, id: HubExchangeId) {
        self.handle_timeout(now);
        self.finish_body(id, |hub, mut pending| {
            let body = core::mem::take(&mut pending.body).into();
            hub.post(pending, &body)
        });
    }

    /// Handles a client that disconnected, or that a response cannot be written to.
    ///
    /// In a legacy session, the request continues: the client can resume the stream of the response
    /// with a GET, and cancels the request with a notification. In the modern era, the request is
    /// cancelled, and [`Event::RequestCancelled`] follows.
    ///
    /// Ignored if the exchange is over.
    // T-76, T-77: disconnection cancels a modern request and no legacy one.
    pub fn handle_gone(&mut self, now: Instant, id: HubExchangeId) {
        self.now = self.now.max(now);
        self.take_body(id);
        let Some((connection, exchange)) = self.close(id) else { return };
        if let Some(connection) = self.connections.touch(connection) {
            connection.http.handle_gone(self.now, exchange);
        }
    }

    /// Advances the time to `now` and handles expired timeouts: ends idle sessions, sends comments
    /// on idle event streams, and refuses bodies that take too long.
    ///
    /// Early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.settle();
        self.connections.handle_timeout(self.now);
        let connections = &mut self.connections;
        for idle in self.sessions.expire(self.now, |id| connections.is_busy(*id)) {
            self.end(idle);
        }
        while let Some((id, pending)) = self.pending_bodies.first_key_value()
            && pending.due <= self.now
        {
            let refusal = Refusal::new(408, "the body took too long to arrive");
            self.finish_body(*id, |_, _| Err(refusal));
        }
        self.settle();
    }

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout), or `None` if no
    /// timer is running.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let body = self.pending_bodies.first_key_value().map(|(_, pending)| pending.due);
        sooner(sooner(body, self.sessions.poll_timeout()), self.connections.poll_timeout())
    }

    /// Removes and returns the oldest event of the next connection in turn.
    ///
    /// Requests are answered on their connection: [`server`](Self::server).
    pub fn poll_event(&mut self) -> Option<(HubConnectionId, Event)> {
        self.connections.poll_event()
    }

    /// Returns the server of a connection, for commands such as [`Server::respond`].
    ///
    /// Returns `None` if the connection is over: its client disconnected, or its session ended.
    pub fn server(&mut self, id: HubConnectionId) -> Option<&mut Server> {
        self.connections.touch(id).map(|connection| &mut *connection.http)
    }

    /// Calls `visit` with the server of each connection, for example to
    /// [report a change](Server::notify_changed), or to [close](Server::close) all of them.
    pub fn for_each_server(&mut self, mut visit: impl FnMut(HubConnectionId, &mut Server)) {
        for id in self.connections.ids() {
            self.server(id).into_iter().for_each(|server| visit(id, server));
        }
    }

    /// Responds to all queued requests, for programs that respond to each request immediately.
    ///
    /// Discards other events.
    pub fn respond_to_all<R: Encode>(
        &mut self,
        now: Instant,
        mut respond: impl FnMut(&Request, &Context) -> Result<R, ErrorObject>,
    ) {
        while let Some((connection, event)) = self.poll_event() {
            let Event::Request { incoming, request, context } = event else { continue };
            let outcome = respond(&request, &context);
            let Some(server) = self.server(connection) else { continue };
            if server.respond_with(now, incoming, &outcome).is_err() {
                let error = ErrorObject::internal("the result cannot be encoded in this revision");
                // Another message of a batch may have cancelled the request.
                let _stale = server.respond_error(now, incoming, &error);
            }
        }
    }

    /// Closes all connections of `principal`, for example because it is locked out.
    ///
    /// A request whose body is still being read may open a session afterwards.
    pub fn end_principal(&mut self, now: Instant, principal: &Principal) {
        self.now = self.now.max(now);
        for id in self.sessions.remove_principal(principal) {
            self.end(id);
        }
        for id in self.connections.ids_of(principal) {
            if let Some(connection) = self.connections.touch(id) {
                connection.http.close(self.now);
            }
        }
        self.settle();
    }

    /// Returns an exchange whose response, or whose next chunk, has become ready.
    ///
    /// Poll its head, unless that was returned before, and then its chunks until
    /// [`poll_chunk`](Self::poll_chunk) returns `None` or [`BodyChunk::End`]: only then is it
    /// returned again. A driver that stops earlier, because a socket is full, continues when the
    /// socket is writable.
    pub fn poll_ready(&mut self) -> Option<HubExchangeId> {
        self.next_ready().or_else(|| {
            self.settle();
            self.next_ready()
        })
    }

    fn next_ready(&mut self) -> Option<HubExchangeId> {
        let exchanges = &self.exchanges;
        core::iter::from_fn(|| self.ready.pop_front()).find(|id| exchanges.contains_key(id))
    }

    /// Returns the head of a response, with its body if that is [whole](Body::Whole); `None` if it
    /// is not ready. Each head is returned once.
    pub fn poll_head(&mut self, id: HubExchangeId) -> Option<Reply> {
        let exchange = self.exchanges.get(&id)?;
        let mut reply = match &exchange.source {
            ReplySource::Reply(reply) => reply.clone(),
            ReplySource::Connection(connection, exchange) => {
                self.connections.touch(*connection)?.http.poll_reply(*exchange)?
            }
        };
        exchange.page.apply(&mut reply);
        if reply.body != Body::Events {
            self.close(id);
        } else if !self.has_streams {
            let mut events = Vec::new();
            while let Some(BodyChunk::Bytes(chunk)) = self.poll_chunk(id) {
                events.extend_from_slice(&chunk);
            }
            // A subscription has no end, and is cut here.
            self.handle_gone(self.now, id);
            reply.body = Body::Whole(events.into());
        }
        Some(reply)
    }

    /// Returns the next chunk of an event stream, or `None` if no chunk is ready.
    ///
    /// After [`BodyChunk::End`], the exchange is over.
    pub fn poll_chunk(&mut self, id: HubExchangeId) -> Option<BodyChunk> {
        if self.wants_body(id) {
            return None;
        }
        let Some(exchange) = self.exchanges.get(&id) else { return Some(BodyChunk::End) };
        let ReplySource::Connection(connection, exchange) = exchange.source else { return None };
        let chunk = self.connections.touch(connection)?.http.poll_chunk(exchange)?;
        if chunk == BodyChunk::End {
            self.close(id);
        }
        Some(chunk)
    }
}

fn sessions(limits: &HubLimits) -> SessionTable<HubConnectionId> {
    SessionTable::new(limits.sessions_max, limits.idle_max).unconfirmed_max(limits.unconfirmed_max)
}

#[cfg(test)]
mod tests;
