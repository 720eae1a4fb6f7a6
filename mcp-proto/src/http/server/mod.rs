//! A server over HTTP: which message goes into which response, and which messages can be sent
//! again.
//!
//! Each POST is a stream, and the answer to its request is the last message on it. What belongs to
//! no request goes on the stream that a GET opens. The first message decides on a response: an
//! answer alone is sent as JSON, anything else makes it an event stream. (HTTP-08…HTTP-29,
//! SSE-13…SSE-19, SSE-24)
//!
//! [`Session`] joins the server, its [`Streams`] and its [`Exchanges`], which do not know each
//! other.

mod event_id;
mod exchange;
mod replay;
mod scope;
mod settings;
mod streams;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use bytes::Bytes;

pub use exchange::ExchangeId;
pub use settings::Settings;
pub use streams::Unresumable;

use self::event_id::read_event_id;
use self::exchange::{Exchange, Exchanges, Stage};
use self::scope::Scope;
use self::streams::{Streams, UNSOLICITED, comment};
use super::reply::{Frame, Reply};
use crate::connection::{OutgoingKind, Route, Session as _, StreamId};
use crate::revision::Revision;
use crate::rpc::{Decoded, Incoming};
use crate::server::{Event, Server};
use crate::time::Instant;

/// A [`Server`] over HTTP: a session of many exchanges, or one exchange of its own.
///
/// It dereferences to the server, for what the application does. A driver hands over each request
/// that was [admitted](super::admit), asks for the head of its response with
/// [`poll_reply`](Self::poll_reply) and for the pieces of its body with
/// [`poll_frame`](Self::poll_frame), and says when the client is [gone](Self::handle_gone).
///
/// ```
/// use mcp_proto::http::{Body, Session, Settings};
/// use mcp_proto::server::{Config, Event, Server};
/// use mcp_proto::schema::CallToolResult;
/// use mcp_proto::{Capability, Instant};
///
/// let now = Instant::ZERO;
/// let server = Server::new(now, Config::new("weather", "1.0.0").capability(Capability::Tools));
/// let mut session = Session::new(server, "7c1e", Settings::default());
/// let hello = session.handle_post(now, true, &br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
///     "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#[..]);
/// assert_eq!(session.poll_reply(hello).unwrap().status, 200);
/// let ready = session.handle_post(now, false, &br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#[..]);
/// assert_eq!(session.poll_reply(ready).unwrap().status, 202);
///
/// let call = session.handle_post(now, true,
///     &br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"today"}}"#[..]);
/// assert!(session.poll_reply(call).is_none(), "nothing to say yet");
/// while let Some(event) = session.poll_event() {
///     if let Event::Request { incoming, .. } = event {
///         session.respond(now, incoming, &CallToolResult::text("sunny")).unwrap();
///     }
/// }
/// assert!(matches!(session.poll_reply(call).unwrap().body, Body::Whole(_)));
/// ```
#[derive(Debug)]
pub struct Session {
    server: Server,
    settings: Arc<Settings>,
    scope: Scope,
    streams: Streams,
    exchanges: Exchanges,
    now: Instant,
}

impl Session {
    /// A session; its id is what the client names it by, and was drawn by the driver. Many can
    /// share their settings. (HTTP-29, HTTP-30)
    #[must_use]
    pub fn new(server: Server, id: &str, settings: impl Into<Arc<Settings>>) -> Self {
        let mut session = Self::over(server, Scope::session(id), settings.into());
        session.streams.open(UNSOLICITED, None);
        session
    }

    /// One exchange that shares nothing with any other: a request that carries its own context.
    /// When its client is gone, it is cancelled.
    #[must_use]
    pub fn alone(server: Server, revision: Revision, settings: impl Into<Arc<Settings>>) -> Self {
        Self::over(server, Scope::Single(revision), settings.into())
    }

    fn over(mut server: Server, scope: Scope, settings: Arc<Settings>) -> Self {
        server.use_streams();
        let streams = Streams::new(settings.replay_bytes_max);
        Self { server, settings, scope, streams, exchanges: Exchanges::new(), now: Instant::ZERO }
    }

    /// Returns what the client names this session by.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.scope.id()
    }

    /// Returns whether a request is in flight or a client listens: the session is not idle then.
    pub fn is_busy(&mut self) -> bool {
        self.route();
        !self.exchanges.is_empty() || !self.server.is_closed() && self.streams.has_unanswered()
    }

    /// Handles a POST: one message. `is_request` is whether it is to be answered.
    pub fn handle_post<'a>(
        &mut self,
        now: Instant,
        is_request: bool,
        message: impl Into<Incoming<'a>>,
    ) -> ExchangeId {
        self.post(now, is_request, |server, now, stream| {
            server.handle_message(now, stream, message)
        })
    }

    /// Like [`handle_post`](Self::handle_post), for a body that
    /// [`Head::read_once`](super::Head::read_once) has parsed.
    pub fn handle_decoded(
        &mut self,
        now: Instant,
        is_request: bool,
        decoded: Decoded<'_>,
    ) -> ExchangeId {
        self.post(now, is_request, |server, now, stream| {
            server.handle_decoded(now, stream, decoded)
        })
    }

    fn post(
        &mut self,
        now: Instant,
        is_request: bool,
        hand_over: impl FnOnce(&mut Server, Instant, StreamId),
    ) -> ExchangeId {
        self.now = self.now.max(now);
        let id = self.exchanges.next_id();
        let stream = StreamId(id.0);
        self.streams.open(stream, Some(id));
        let wait = match self.priming_tag() {
            Some(_) => self.settings.prime_after,
            None => self.settings.keep_alive,
        };
        self.exchanges.insert(id, Exchange::posted(stream, is_request, self.now + wait));
        hand_over(&mut self.server, self.now, stream);
        self.route();
        if !is_request {
            self.streams.finish(stream);
        }
        id
    }

    /// Handles a GET: the client listens to what belongs to no request, or resumes after the last
    /// event that it received. (SSE-17…SSE-19) The exchange that read the same stream before
    /// ends. (HTTP-27)
    ///
    /// # Errors
    /// [`Unresumable`] when what followed is not kept any more, or never existed.
    pub fn handle_get(
        &mut self,
        now: Instant,
        last_event_id: Option<&str>,
    ) -> Result<ExchangeId, Unresumable> {
        self.now = self.now.max(now);
        self.route();
        // In the modern era nothing is sent again. (SSE-24, HTTP-53)
        let tag = self.scope.tag().ok_or(Unresumable)?;
        let (stream, last) = match last_event_id {
            Some(id) => {
                let (stream, last) = read_event_id(tag, id).ok_or(Unresumable)?;
                (stream, Some(last))
            }
            None => (UNSOLICITED, None),
        };
        self.streams.rewind(&mut self.server, stream, last)?;
        let prefix = self.filler(stream);
        let id = self.exchanges.next_id();
        self.streams.attach(stream, id);
        self.exchanges
            .insert(id, Exchange::listening(stream, prefix, self.now + self.settings.keep_alive));
        Ok(id)
    }

    /// Handles the loss of a client, or one that takes no more of a response. Of a session nothing
    /// is lost by it; an exchange of its own is cancelled. (T-76, T-77)
    pub fn handle_gone(&mut self, now: Instant, id: ExchangeId) {
        self.now = self.now.max(now);
        let Some(exchange) = self.exchanges.remove(id) else { return };
        let stream = exchange.stream();
        match self.scope {
            Scope::Single(_) => {
                self.server.handle_stream_closed(self.now, stream);
                self.route();
                self.streams.forget(&mut self.server, stream);
            }
            Scope::Session { .. } => self.streams.leave(&mut self.server, stream, id),
        }
    }

    /// Handles the passing of time. Early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.server.handle_timeout(self.now);
        self.route();
        for id in self.exchanges.due(self.now) {
            let Some(exchange) = self.exchanges.get(id) else { continue };
            let filler = match exchange.stage() {
                // The message that waits is better than a filler.
                _ if self.has_news(id, exchange) => Vec::new(),
                Stage::Undecided { .. } => self.filler(exchange.stream()),
                Stage::Begun(_) | Stage::Streaming(_) => comment(),
            };
            let next = self.now + self.settings.keep_alive;
            if let Some(exchange) = self.exchanges.get_mut(id) {
                exchange.on_due(filler, next);
            }
        }
    }

    /// Returns whether an exchange has a message to send, or ends.
    fn has_news(&self, id: ExchangeId, exchange: &Exchange) -> bool {
        let Some(stream) = self.streams.read_by(exchange.stream(), id) else { return true };
        exchange.is_cut() || stream.is_done() || !stream.is_read() || self.server.is_closed()
    }

    /// Returns when to call `handle_timeout`; `None` when waiting changes nothing. O(exchanges).
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.exchanges.next_due().into_iter().chain(self.server.poll_timeout()).min()
    }

    /// Returns the next event, if there is one. O(1).
    pub fn poll_event(&mut self) -> Option<Event> {
        self.server.poll_event()
    }

    /// Returns whether an exchange has something to send: a head, or a piece of a body.
    pub fn has_output(&mut self) -> bool {
        self.route();
        let has_output = |(id, exchange): (ExchangeId, &Exchange)| {
            exchange.has_prefix() || self.has_news(id, exchange)
        };
        self.exchanges.iter().any(has_output) || self.server.is_closed()
    }

    /// Returns the head of a response, once, as soon as it is decided.
    pub fn poll_reply(&mut self, id: ExchangeId) -> Option<Reply> {
        self.route();
        let exchange = self.exchanges.get(id)?;
        let stream = self.streams.read_by(exchange.stream(), id);
        match (exchange.stage(), stream) {
            (Stage::Streaming(_), _) => return None,
            (Stage::Undecided { is_request }, Some(stream)) => {
                let is_closed = stream.is_read() && self.server.is_closed();
                if stream.is_one_message() || is_closed {
                    return Some(self.whole(id, is_request));
                }
                if stream.is_read() {
                    return None;
                }
            }
            // Another exchange reads the stream: this one begins, and ends.
            (Stage::Begun(_), _) | (Stage::Undecided { .. }, None) => {}
        }
        let priming = self.priming_tag().filter(|_| stream.is_some());
        let (streams, retry) = (&self.streams, self.settings.retry);
        if let Some(exchange) = self.exchanges.get_mut(id) {
            let stream = exchange.stream();
            let priming =
                || priming.map_or_else(Vec::new, |tag| streams.priming(stream, tag, retry));
            exchange.on_head(priming, self.now + self.settings.keep_alive);
        }
        Some(self.named(Reply::events()))
    }

    /// Ends an exchange with one JSON value, or with nothing. Its stream is forgotten.
    fn whole(&mut self, id: ExchangeId, is_request: bool) -> Reply {
        let Some(exchange) = self.exchanges.remove(id) else { return Reply::empty(503) };
        let head = match self.streams.take_whole(&mut self.server, exchange.stream()) {
            (Some(answer), error) if is_request => Reply::json(self.scope.status(error), answer),
            (Some(answer), _) => Reply::json(400, answer),
            (None, _) if !is_request => Reply::empty(202),
            // The request was cancelled, or its session has ended: there is no answer.
            (None, _) => Reply::empty(if self.server.is_closed() { 503 } else { 204 }),
        };
        self.named(head)
    }

    /// Adds the id of the session to the first response. (HTTP-29)
    fn named(&mut self, mut head: Reply) -> Reply {
        if self.server.peer().is_some() {
            head.fields.extend(self.scope.take_name().map(|id| ("mcp-session-id", id)));
        }
        head
    }

    /// Returns the next piece of an event stream, if there is one. After [`Frame::End`] the
    /// exchange is over.
    pub fn poll_frame(&mut self, id: ExchangeId) -> Option<Frame> {
        self.route();
        let Some(exchange) = self.exchanges.get_mut(id) else { return Some(Frame::End) };
        if !matches!(exchange.stage(), Stage::Streaming(_)) {
            return None;
        }
        let mut frame = exchange.take_prefix();
        let stream = exchange.stream();
        if self.streams.reader(stream) != Some(id) {
            self.exchanges.remove(id);
            return Some(Frame::End);
        }
        let tag = self.scope.tag();
        let is_over = self.streams.write_events(&mut self.server, stream, tag, &mut frame);
        if !frame.is_empty() {
            exchange.on_sent(self.now + self.settings.keep_alive);
            return Some(Frame::Bytes(frame.into()));
        }
        if !is_over && !exchange.is_cut() && !self.server.is_closed() {
            return None;
        }
        self.exchanges.remove(id);
        match self.scope {
            Scope::Session { .. } => self.streams.detach(&mut self.server, stream),
            Scope::Single(_) => self.streams.forget(&mut self.server, stream),
        }
        Some(Frame::End)
    }

    /// Releases unused capacity while idle: to be called once nothing has happened for a while,
    /// where there are many sessions.
    pub fn rest(&mut self) {
        if self.exchanges.is_empty() {
            self.server.shrink();
            self.streams.shrink();
        }
    }

    /// Ends the session: requests may be answered for
    /// [`Limits::drain_timeout`](crate::Limits::drain_timeout) more.
    pub fn close(&mut self, now: Instant) {
        self.server.close(now);
    }

    /// Takes what the server sends to the streams that it belongs to.
    fn route(&mut self) {
        // The application passes the time to the server alone.
        self.now = self.now.max(self.server.now());
        let priming = self.priming_tag();
        while let Some(outgoing) = self.server.poll_outgoing() {
            let stream = match outgoing.route {
                Route::Any => UNSOLICITED,
                Route::Stream(stream) => stream,
            };
            // What is sent on a stream that is gone cannot be asked for.
            if !self.streams.contains(stream) {
                continue;
            }
            if outgoing.last {
                self.streams.finish(stream);
            }
            match outgoing.kind {
                OutgoingKind::EndOfStream => {
                    if let Some(tag) = priming.filter(|_| !outgoing.last) {
                        let reader =
                            self.streams.reader(stream).and_then(|id| self.exchanges.get_mut(id));
                        if let Some(exchange) = reader {
                            exchange
                                .on_cut(|| self.streams.priming(stream, tag, self.settings.retry));
                        }
                    }
                    self.streams.sweep(stream);
                    continue;
                }
                OutgoingKind::Response { error, .. } => self.streams.set_error(stream, error),
                _ => {}
            }
            let message = Bytes::copy_from_slice(outgoing.body);
            self.streams.push(&mut self.server, stream, message);
        }
    }

    /// Returns the tag of event ids, if event streams begin with an event to resume from.
    fn priming_tag(&self) -> Option<u32> {
        let is_primed =
            self.server.peer().is_some_and(|peer| peer.revision.rules().streams_are_primed);
        self.scope.tag().filter(|_| is_primed)
    }

    /// Returns what an event stream begins with while no message waits: an event to resume from, or
    /// a comment.
    fn filler(&self, stream: StreamId) -> Vec<u8> {
        match self.priming_tag() {
            Some(tag) => self.streams.priming(stream, tag, self.settings.retry),
            None => comment(),
        }
    }
}

impl Deref for Session {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

#[cfg(test)]
mod tests;
