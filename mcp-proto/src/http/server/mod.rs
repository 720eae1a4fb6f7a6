//! A server over HTTP: assigns messages to responses and replays them to clients that resume.
//!
//! Each POST is a stream whose last message is the response to its request. Messages that belong to
//! no request use the stream that a GET opens. The first message decides the kind of response: a
//! single response is sent as JSON, anything else as an event stream.
//!
//! [`HttpServer`] combines the server, its [`Streams`] and its [`Exchange`]s, which are independent
//! of each other.

mod event_id;
mod exchange;
mod replay;
mod scope;
mod sessionless;
mod settings;
mod streams;
mod usage;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use core::ops::{Deref, DerefMut};

use bytes::Bytes;

pub use exchange::ServerExchangeId;
pub use settings::StreamSettings;
pub use streams::Unresumable;
pub use usage::ServerUsage;

use self::event_id::read_event_id;
use self::exchange::{Exchange, ResponseKind, ResponseState};
use self::scope::Scope;
use self::streams::{MessageStream, Streams, UNSOLICITED, comment, retry_event};
use super::byte_order_mark;
use super::refusal::Refusal;
use super::reply::{BodyChunk, Reply};
use crate::collections::SmallMap;
use crate::error::code;
use crate::message_endpoint::MessageEndpoint as _;
use crate::meta::ContextCache;
use crate::revision::Revision;
use crate::rpc::{DecodedMessage, ErrorObject, IncomingMessage};
use crate::server::{Event, Server};
use crate::time::Instant;
use crate::vocabulary::{OutgoingKind, Route, StreamId};

/// A [`Server`] over HTTP: a legacy session, or a single modern request.
///
/// An *exchange* is an HTTP request and its response. The server of a legacy session can have many
/// exchanges, even concurrent ones. A *modern server*, created with [`modern`](Self::modern), has
/// exactly one.
///
/// This type dereferences to [`Server`], whose methods the application calls. A driver passes in
/// each [admitted](super::admit) request, polls its response with [`poll_reply`](Self::poll_reply)
/// and the chunks of an event stream with [`poll_chunk`](Self::poll_chunk), and reports
/// [disconnections](Self::handle_gone). [`poll_ready`](Self::poll_ready) returns which exchange to
/// poll. An `HttpHub` does all of this for many sessions and requests.
///
/// ```
/// use mcp_proto::http::{Body, HttpServer, StreamSettings};
/// use mcp_proto::server::{Config, Event, Server};
/// use mcp_proto::schema::CallToolResult;
/// use mcp_proto::{Capability, Instant};
///
/// let now = Instant::ZERO;
/// let server = Server::new(now, Config::new("weather", "1.0.0").capability(Capability::Tools));
/// let mut session = HttpServer::legacy(server, "7c1e", StreamSettings::default());
/// let initialize = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
///     "protocolVersion":"2025-11-25","capabilities":{},
///     "clientInfo":{"name":"c","version":"1"}}}"#;
/// let exchange = session.handle_post(now, true, &initialize[..]);
/// assert_eq!(session.poll_reply(exchange).unwrap().status, 200);
/// let initialized = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
/// let exchange = session.handle_post(now, false, &initialized[..]);
/// assert_eq!(session.poll_reply(exchange).unwrap().status, 202);
///
/// let call = session.handle_post(now, true,
///     &br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"today"}}"#[..]);
/// assert!(session.poll_reply(call).is_none(), "not answered yet");
/// while let Some(event) = session.poll_event() {
///     if let Event::Request { incoming, .. } = event {
///         session.respond(now, incoming, &CallToolResult::text("sunny")).unwrap();
///     }
/// }
/// assert!(matches!(session.poll_reply(call).unwrap().body, Body::Whole(_)));
/// ```
#[derive(Debug)]
pub struct HttpServer {
    server: Server,
    settings: Arc<StreamSettings>,
    scope: Scope,
    streams: Streams,
    exchanges: Exchanges,
    /// The id of the next exchange, and the stream of the next POST.
    next_exchange: NonZeroU64,
    /// The exchanges to report as ready, newest first.
    ready: Vec<ServerExchangeId>,
    now: Instant,
}

impl HttpServer {
    /// Creates the server of a legacy session with this id.
    ///
    /// The driver generates the id, which must be unpredictable and consist of visible ASCII.
    /// Several sessions can share one `settings` value.
    // HTTP-29: the id is sent with the first response. HTTP-30: it is visible ASCII.
    #[must_use]
    pub fn legacy(
        server: Server,
        id: impl Into<Arc<str>>,
        settings: impl Into<Arc<StreamSettings>>,
    ) -> Self {
        let mut session = Self::with_scope(server, Scope::session(id.into()), settings.into());
        session.streams.open(UNSOLICITED, None);
        session
    }

    /// Creates the server of a single modern exchange, which is independent of all others.
    ///
    /// The request is cancelled if the client disconnects before the response is complete.
    // STL-07, STL-08: no request depends on an earlier one or on its connection.
    #[must_use]
    pub fn modern(
        server: Server,
        revision: Revision,
        settings: impl Into<Arc<StreamSettings>>,
    ) -> Self {
        Self::with_scope(server, Scope::Single(revision), settings.into())
    }

    fn with_scope(mut server: Server, scope: Scope, settings: Arc<StreamSettings>) -> Self {
        server.use_streams();
        let streams = Streams::new(settings.replay_bytes_max);
        Self {
            server,
            settings,
            scope,
            streams,
            exchanges: SmallMap::default(),
            next_exchange: NonZeroU64::MIN,
            ready: Vec::new(),
            now: Instant::ZERO,
        }
    }

    /// Returns the session id, or `None` if this is a modern server.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.scope.id()
    }

    /// Returns the cache of the parsed `_meta` of the latest modern request.
    ///
    /// Modern clients usually repeat an identical `_meta` in each request. To avoid parsing it
    /// again, move the cache from one request's server to the next request's server. This saves
    /// about a tenth of the work per request. The next server can use the cached `_meta` only if
    /// the configurations of both servers are clones of one another.
    ///
    /// ```
    /// # use mcp_proto::http::{ContextCache, HttpServer, StreamSettings};
    /// # use mcp_proto::server::{Config, Server};
    /// # use mcp_proto::{Instant, Revision};
    /// # let config = Config::new("demo", "1.0.0");
    /// # let new = || HttpServer::modern(
    /// #     Server::new(Instant::ZERO, config.clone()),
    /// #     Revision::V2026_07_28,
    /// #     StreamSettings::default(),
    /// # );
    /// # let (mut first, mut next) = (new(), new());
    /// let kept: ContextCache = core::mem::take(first.context_cache());
    /// *next.context_cache() = kept;
    /// ```
    pub fn context_cache(&mut self) -> &mut ContextCache {
        self.server.context_cache()
    }

    /// Returns whether an exchange is open or a request is unanswered.
    ///
    /// A busy session must not count as idle in
    /// [`SessionTable::expire`](super::SessionTable::expire).
    pub fn is_busy(&mut self) -> bool {
        self.route();
        !self.exchanges.is_empty() || !self.server.is_closed() && self.streams.has_unanswered()
    }

    /// Returns the bytes to count for the description of a client that opens a session with a body
    /// of this length. They last as long as the session.
    ///
    /// Decoded, a long list of small values takes many times the size of its text.
    #[must_use]
    pub const fn description_bytes(body: usize) -> usize {
        const FREE: usize = 1024;
        const FACTOR: usize = 24;
        // Budgets count text, and a byte of text costs up to four.
        if body > FREE { body * FACTOR / 4 } else { 0 }
    }

    /// Returns how many bytes of memory this server holds because of its client.
    ///
    /// Takes O(1) time, plus the time to assign new outgoing messages to their streams.
    // SEC-18: lets a service bound what all clients together can make it hold.
    #[must_use]
    pub fn usage(&mut self) -> ServerUsage {
        self.route();
        ServerUsage {
            requests: self.server.request_bytes(),
            session: self.server.subscription_bytes() + self.streams.kept_bytes(),
        }
    }

    /// Drops all messages that are kept for replay, to free memory.
    ///
    /// An exchange that is still replaying earlier messages loses all its messages and ends. Other
    /// open exchanges keep the new messages that they have yet to send.
    ///
    /// Afterwards, [`handle_get`](Self::handle_get) returns [`Unresumable`] for an event id if a
    /// message after that event was dropped.
    pub fn drop_replays(&mut self) {
        self.streams.drop_kept(&mut self.server);
    }

    /// Handles a POST with one message or batch.
    ///
    /// `is_request` must be true if the body requires a response, that is, if the body is a request
    /// or a batch that contains one. Otherwise, `is_request` must be false.
    pub fn handle_post<'a>(
        &mut self,
        now: Instant,
        is_request: bool,
        message: impl Into<IncomingMessage<'a>>,
    ) -> ServerExchangeId {
        self.post(now, is_request, |server, now, stream| {
            server.handle_message(now, stream, byte_order_mark::skip(message.into()));
        })
    }

    /// Like [`handle_post`](Self::handle_post), for a parsed body.
    ///
    /// `decoded` is the message that [`PostHead::read_decoded`](super::PostHead::read_decoded)
    /// returned.
    pub fn handle_decoded(
        &mut self,
        now: Instant,
        is_request: bool,
        decoded: DecodedMessage<'_>,
    ) -> ServerExchangeId {
        self.post(now, is_request, |server, now, stream| {
            server.handle_decoded(now, stream, decoded);
        })
    }

    fn post(
        &mut self,
        now: Instant,
        is_request: bool,
        hand_over: impl FnOnce(&mut Server, Instant, StreamId),
    ) -> ServerExchangeId {
        self.now = self.now.max(now);
        let delay = match self.priming_tag() {
            Some(_) => self.settings.prime_after,
            None => self.settings.keep_alive_period(),
        };
        // No other stream has used this number.
        let stream = StreamId(self.next_exchange.get());
        let id = self.open(Exchange::posted(stream, is_request, self.now + delay));
        self.streams.open(stream, Some(id));
        hand_over(&mut self.server, self.now, stream);
        self.route();
        if !is_request {
            self.streams.finish(stream);
        }
        id
    }

    fn open(&mut self, exchange: Exchange) -> ServerExchangeId {
        let id = ServerExchangeId(self.next_exchange);
        self.next_exchange = self.next_exchange.saturating_add(1);
        self.exchanges.insert(id, exchange);
        id
    }

    /// Makes the response of an exchange one JSON value, for a client that accepts no event stream.
    ///
    /// Call it right after [`handle_post`](Self::handle_post) or
    /// [`handle_decoded`](Self::handle_decoded). Messages before the response, such as progress,
    /// then use the stream of a GET in a session, and are dropped otherwise.
    pub fn require_json(&mut self, id: ServerExchangeId) {
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.require_json();
        }
    }

    /// Handles a GET: the client listens for server messages, or [resumes] a stream.
    ///
    /// If `last_event_id` is `None`, the client listens for messages that do not belong to a
    /// request. Otherwise, the client resumes the stream of that event after the event.
    ///
    /// The new exchange takes over the stream. If an earlier exchange is still sending the stream's
    /// messages, the earlier exchange ends.
    ///
    /// If the request of the stream was cancelled and no message is left, the reply has status 204.
    /// This status tells the client not to resume the stream again.
    ///
    /// [resumes]: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
    ///
    /// # Errors
    /// Returns [`Unresumable`] if `last_event_id` is unknown, if a message after that event was
    /// evicted, or if this is a modern server, whose streams cannot be resumed.
    // SSE-17…SSE-19: messages of one stream are replayed. HTTP-27: a message is sent on one stream
    // only.
    pub fn handle_get(
        &mut self,
        now: Instant,
        last_event_id: Option<&str>,
    ) -> Result<ServerExchangeId, Unresumable> {
        self.now = self.now.max(now);
        self.route();
        // SSE-24, HTTP-53: modern streams cannot be resumed.
        let tag = self.scope.tag().ok_or(Unresumable)?;
        let (stream, last) = match last_event_id {
            Some(id) => {
                let (stream, last) = read_event_id(tag, id).ok_or(Unresumable)?;
                (stream, Some(last))
            }
            None => (UNSOLICITED, None),
        };
        if last.is_some_and(|last| self.streams.is_finished_after(stream, last)) {
            let due = self.now + self.settings.keep_alive_period();
            return Ok(self.open(Exchange::finished(stream, due)));
        }
        self.streams.rewind(&mut self.server, stream, last)?;
        let due = self.now + self.settings.keep_alive_period();
        let id = self.open(Exchange::listening(stream, due));
        self.streams.attach(stream, id);
        let prefix = self.filler(stream, id);
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.begin_with(prefix);
        }
        Ok(id)
    }

    /// Handles a client that disconnected or stopped reading a response.
    ///
    /// In a legacy session, the stream's messages are kept so that the client can resume the
    /// stream. A modern request is cancelled.
    // T-76, T-77: disconnection cancels a modern request and no legacy one.
    pub fn handle_gone(&mut self, now: Instant, id: ServerExchangeId) {
        self.now = self.now.max(now);
        let Some(exchange) = self.exchanges.remove(&id) else { return };
        let stream = exchange.stream();
        match self.scope {
            Scope::Single(_) => {
                self.server.handle_stream_closed(self.now, stream);
                self.route();
                self.streams.remove(&mut self.server, stream);
            }
            // CAN-16: the request continues, and its messages wait for the client.
            Scope::Session { .. } => self.streams.detach_if_reader(&mut self.server, stream, id),
        }
    }

    /// Advances the time to `now` and handles expired timeouts.
    ///
    /// Early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.server.handle_timeout(self.now);
        self.route();
        let is_due = |(_, exchange): &(_, &Exchange)| exchange.due() <= self.now;
        let due: Vec<_> = self.exchanges.iter().filter(is_due).map(|(id, _)| *id).collect();
        for id in due {
            let Some(exchange) = self.exchanges.get(&id) else { continue };
            let filler = match exchange.state() {
                // A message is ready, so no filler is needed.
                _ if self.has_next(id, exchange) => Vec::new(),
                ResponseState::Undecided { .. } => self.filler(exchange.stream(), id),
                ResponseState::Begun(_) | ResponseState::Streaming(_) | ResponseState::Finished => {
                    comment()
                }
            };
            let next = self.now + self.settings.keep_alive_period();
            if let Some(exchange) = self.exchanges.get_mut(&id) {
                exchange.on_due(filler, next);
            }
        }
    }

    /// Returns whether an exchange has a message to send or ends.
    fn has_next(&self, id: ServerExchangeId, exchange: &Exchange) -> bool {
        let Some(stream) = self.streams.read_by(exchange.stream(), id) else { return true };
        exchange.is_cut()
            || stream.replay.is_done()
            || !stream.replay.is_read()
            || self.server.is_closed()
    }

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout).
    ///
    /// Returns `None` if no timer is running. Takes time linear in the number of open exchanges.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.exchanges.values().map(Exchange::due).chain(self.server.poll_timeout()).min()
    }

    /// Removes and returns the oldest event, if any. Takes O(1) time.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.server.poll_event()
    }

    /// Returns whether any exchange has a response or a chunk of an event stream to send.
    ///
    /// Also returns true whenever the server is closed.
    pub fn has_output(&mut self) -> bool {
        self.route();
        self.exchanges.iter().any(|it| self.has_output_on(it)) || self.server.is_closed()
    }

    fn has_output_on(&self, (id, exchange): (&ServerExchangeId, &Exchange)) -> bool {
        exchange.has_prefix() || self.has_next(*id, exchange)
    }

    /// Returns an exchange whose response, or whose next chunk, has become ready.
    ///
    /// Poll the exchange until [`poll_reply`](Self::poll_reply) or
    /// [`poll_chunk`](Self::poll_chunk) returns `None` or its end: only then is it returned again.
    /// Of exchanges that become ready together, the oldest is returned first.
    ///
    /// The calls that return all ready exchanges take, together, time linear in the number of open
    /// exchanges.
    ///
    /// ```
    /// use mcp_proto::http::{HttpServer, StreamSettings};
    /// use mcp_proto::server::{Config, Server};
    /// use mcp_proto::{Instant, Revision};
    ///
    /// let now = Instant::ZERO;
    /// let server = Server::new(now, Config::new("weather", "1.0.0"));
    /// let settings = StreamSettings::default();
    /// let mut server = HttpServer::modern(server, Revision::V2026_07_28, settings);
    /// let exchange = server.handle_post(now, true, &br#"{"jsonrpc":"2.0","id":1,
    ///     "method":"server/discover","params":{"_meta":{
    ///     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
    ///     "io.modelcontextprotocol/clientCapabilities":{}}}}"#[..]);
    /// assert_eq!(server.poll_ready(), Some(exchange));
    /// assert_eq!(server.poll_ready(), None);
    /// assert_eq!(server.poll_reply(exchange).unwrap().status, 200);
    /// ```
    pub fn poll_ready(&mut self) -> Option<ServerExchangeId> {
        if let Some(id) = self.next_ready() {
            return Some(id);
        }
        self.route();
        let unannounced = self.exchanges.iter().filter(|(_, it)| !it.is_announced());
        let ready = unannounced.filter(|it| self.has_output_on(*it)).map(|(id, _)| *id);
        self.ready = ready.collect();
        self.ready.sort_unstable_by(|one, other| other.cmp(one));
        self.ready.iter().for_each(|id| set_announced(&mut self.exchanges, *id, true));
        self.next_ready()
    }

    fn next_ready(&mut self) -> Option<ServerExchangeId> {
        core::iter::from_fn(|| self.ready.pop()).find(|id| self.exchanges.get(id).is_some())
    }

    /// Returns the response of an exchange, or `None` if the response is not ready.
    ///
    /// The response is ready as soon as the server has chosen between JSON and an event stream.
    /// Each response is returned only once.
    pub fn poll_reply(&mut self, id: ServerExchangeId) -> Option<Reply> {
        self.route();
        let exchange = self.exchanges.get(&id)?;
        let stream = self.streams.read_by(exchange.stream(), id);
        let unread = stream.map(MessageStream::unread);
        match exchange.response(unread, self.server.is_closed())? {
            ResponseKind::Json { is_request } => {
                return Some(self.finish_with_json(id, is_request));
            }
            ResponseKind::Empty => {
                self.exchanges.remove(&id);
                return Some(Reply::empty(204));
            }
            ResponseKind::Events => {}
        }
        let priming =
            self.priming_tag().filter(|_| stream.is_some_and(|stream| !stream.replay.is_over()));
        let streams = &self.streams;
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            let stream = exchange.stream();
            let priming =
                || priming.map_or_else(Vec::new, |tag| streams.priming(stream, id, tag, None));
            exchange.on_head(priming, self.now + self.settings.keep_alive_period());
        }
        Some(self.with_session_id(Reply::events()))
    }

    /// Ends an exchange with one JSON value or an empty body, and removes its stream.
    fn finish_with_json(&mut self, id: ServerExchangeId, is_request: bool) -> Reply {
        let Some(exchange) = self.exchanges.remove(&id) else { return self.ended() };
        let head = match self.streams.take_single(&mut self.server, exchange.stream()) {
            (Some(answer), error) if is_request => Reply::json(self.scope.status(error), answer),
            (Some(answer), _) => Reply::json(400, answer),
            (None, _) if !is_request => Reply::empty(202),
            // The session has ended, so there is no response.
            (None, _) => self.ended(),
        };
        self.with_session_id(head)
    }

    /// Returns the response to a request that the closed server does not answer.
    // HTTP-10: the response to a request has a JSON body.
    fn ended(&self) -> Reply {
        let error = ErrorObject::new(code::INTERNAL_ERROR, "the server has closed the session");
        let revision = self.server.peer().map(|peer| peer.revision);
        Refusal::with_error(503, revision, None, &error).into()
    }

    /// Adds the session id to the first response.
    // HTTP-29: the response to `initialize` carries `Mcp-Session-Id`.
    fn with_session_id(&mut self, mut head: Reply) -> Reply {
        if self.server.peer().is_some() {
            let id = self.scope.take_session_id();
            head.headers.extend(id.map(|id| ("mcp-session-id", id.into())));
        }
        head
    }

    /// Returns the next chunk of an event stream, or `None` if no chunk is ready.
    ///
    /// After [`BodyChunk::End`], the exchange is over.
    pub fn poll_chunk(&mut self, id: ServerExchangeId) -> Option<BodyChunk> {
        self.route();
        let Some(exchange) = self.exchanges.get_mut(&id) else { return Some(BodyChunk::End) };
        if !matches!(exchange.state(), ResponseState::Streaming(_)) {
            return None;
        }
        let mut frame = exchange.take_prefix();
        let stream = exchange.stream();
        if self.streams.reader(stream) != Some(id) {
            self.exchanges.remove(&id);
            return Some(BodyChunk::End);
        }
        let tag = self.scope.tag();
        let is_over = self.streams.write_events(&mut self.server, stream, tag, &mut frame);
        if !frame.is_empty() {
            exchange.on_sent(self.now + self.settings.keep_alive_period());
            return Some(BodyChunk::Bytes(frame.into()));
        }
        // HTTP-12, HTTP-13: a stream ends after the response to its request.
        if !is_over && !exchange.is_cut() && !self.server.is_closed() {
            exchange.set_announced(false);
            return None;
        }
        self.exchanges.remove(&id);
        match self.scope {
            Scope::Session { .. } => self.streams.detach(&mut self.server, stream),
            Scope::Single(_) => self.streams.remove(&mut self.server, stream),
        }
        Some(BodyChunk::End)
    }

    /// Releases unused capacity if no exchange is open.
    ///
    /// Call it on idle sessions if there are many.
    pub fn shrink(&mut self) {
        if self.exchanges.is_empty() {
            self.server.shrink();
            self.streams.shrink();
        }
    }

    /// Closes the session.
    ///
    /// The application can still answer requests in flight until
    /// [`Limits::drain_timeout`](crate::Limits::drain_timeout) has passed.
    pub fn close(&mut self, now: Instant) {
        self.server.close(now);
    }

    /// Moves outgoing server messages to their streams.
    fn route(&mut self) {
        // Application commands pass the time to the server only.
        self.now = self.now.max(self.server.now());
        while let Some(outgoing) = self.server.poll_outgoing() {
            // PRG-15: progress uses the stream of its request.
            // HTTP-19, HTTP-20, HTTP-25, HTTP-26: messages of a request use its stream, others the
            // one of a GET.
            let stream = match outgoing.route {
                Route::Any => UNSOLICITED,
                // The request may outlive the one that it was made for.
                Route::Stream(stream)
                    if matches!(outgoing.kind, OutgoingKind::Cancel { .. })
                        && !self.streams.is_open(stream) =>
                {
                    UNSOLICITED
                }
                Route::Stream(stream)
                    if !matches!(
                        outgoing.kind,
                        OutgoingKind::Response { .. }
                            | OutgoingKind::Responses
                            | OutgoingKind::EndOfStream
                    ) && requires_json(&self.streams, &self.exchanges, stream) =>
                {
                    UNSOLICITED
                }
                Route::Stream(stream) => stream,
            };
            // Messages of a removed stream cannot be requested any more.
            if !self.streams.contains(stream) {
                continue;
            }
            let (is_last, error) = match outgoing.kind {
                OutgoingKind::EndOfStream => {
                    let is_last = outgoing.last;
                    self.on_end_of_stream(stream, is_last);
                    continue;
                }
                OutgoingKind::Response { error, .. } => (outgoing.last, error),
                _ => (outgoing.last, None),
            };
            let message = Bytes::copy_from_slice(outgoing.body);
            self.streams.push(&mut self.server, stream, message, error, is_last);
        }
    }

    /// Handles the end of a stream without a response, or, unless `is_last`, of its exchange.
    fn on_end_of_stream(&mut self, stream: StreamId, is_last: bool) {
        if is_last {
            self.streams.end_unanswered(stream);
        // HTTP-14: a response without a priming event is not ended early.
        } else if let Some(tag) = self.priming_tag()
            && let Some(reader) = self.streams.reader(stream)
            && let Some(exchange) = self.exchanges.get_mut(&reader)
        {
            let retry = self.settings.retry;
            exchange.on_cut(|is_begun| match retry {
                Some(retry) if is_begun => retry_event(retry),
                None if is_begun => Vec::new(),
                _ => self.streams.priming(stream, reader, tag, retry),
            });
        }
        self.streams.sweep(stream);
    }

    /// Returns the prefix of event ids, if event streams begin with a priming event.
    fn priming_tag(&self) -> Option<u32> {
        let is_primed =
            self.server.peer().is_some_and(|peer| peer.revision.rules().primes_event_streams);
        self.scope.tag().filter(|_| is_primed)
    }

    /// Returns the start of an event stream without a message: a priming event or a comment.
    fn filler(&self, stream: StreamId, exchange: ServerExchangeId) -> Vec<u8> {
        match self.priming_tag() {
            Some(tag) => self.streams.priming(stream, exchange, tag, None),
            None => comment(),
        }
    }
}

type Exchanges = SmallMap<ServerExchangeId, Exchange, 1>;

/// Records whether the driver knows that an exchange has output.
fn set_announced(exchanges: &mut Exchanges, id: ServerExchangeId, is_announced: bool) {
    if let Some(exchange) = exchanges.get_mut(&id) {
        exchange.set_announced(is_announced);
    }
}

/// Returns whether the response of a stream has room for one message only.
fn requires_json(streams: &Streams, exchanges: &Exchanges, stream: StreamId) -> bool {
    let reader = streams.reader(stream).and_then(|reader| exchanges.get(&reader));
    reader.is_some_and(Exchange::requires_json)
}

impl Deref for HttpServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for HttpServer {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

#[cfg(test)]
mod tests;
