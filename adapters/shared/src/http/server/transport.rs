//! A server's session over HTTP as the transport of a connection, with its memory counted.

use std::ops::{Deref, DerefMut};

use mcp_proto::http::legacy_sse::SseServer;
use mcp_proto::http::{BodyChunk, HttpServer, Reply, ServerExchangeId, ServerUsage};
use mcp_proto::server::{Command, Event, Server};
use mcp_proto::{
    Caller, CommandOutcome, Endpoint, Instant, MessageEndpoint as _, Misuse, Outbox, RoleEndpoint,
};

use super::budget::{AddressShare, ByteLease, Counters};
use super::request_head::RequestHead;
use crate::transport::http_sender::{FindSender, HttpSender};
use crate::transport::link::{State, Transport};

/// The HTTP side of a connection, by transport.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "almost all are of the largest variant")]
pub(super) enum HttpBinding {
    /// HTTP+SSE of revision 2024-11-05.
    Sse(SseServer),
    /// Streamable HTTP.
    Streamable(HttpServer),
}

/// The response to a request whose messages a connection sends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ResponseSource {
    /// An exchange of Streamable HTTP.
    Exchange(ServerExchangeId),
    /// The stream of HTTP+SSE.
    SseStream,
}

impl HttpBinding {
    fn streamable(&mut self) -> Option<&mut HttpServer> {
        match self {
            Self::Streamable(http) => Some(http),
            Self::Sse(_) => None,
        }
    }

    fn sse(&mut self) -> Option<&mut SseServer> {
        match self {
            Self::Sse(sse) => Some(sse),
            Self::Streamable(_) => None,
        }
    }

    /// Returns the session id, or `None` for a modern request.
    fn id(&self) -> Option<&str> {
        match self {
            Self::Sse(sse) => Some(sse.id()),
            Self::Streamable(http) => http.id(),
        }
    }

    fn usage(&mut self) -> ServerUsage {
        match self {
            Self::Sse(sse) => sse.usage(),
            Self::Streamable(http) => http.usage(),
        }
    }

    /// Drops the messages that are kept for resumption.
    fn drop_replays(&mut self) {
        if let Self::Streamable(http) = self {
            http.drop_replays();
        }
    }

    fn poll_chunk(&mut self, source: ResponseSource) -> Option<BodyChunk> {
        match (self, source) {
            (Self::Sse(sse), ResponseSource::SseStream) => sse.poll_chunk(),
            (Self::Streamable(http), ResponseSource::Exchange(id)) => http.poll_chunk(id),
            (Self::Sse(_), ResponseSource::Exchange(_))
            | (Self::Streamable(_), ResponseSource::SseStream) => Some(BodyChunk::End),
        }
    }

    fn handle_gone(&mut self, now: Instant, source: ResponseSource) {
        match (self, source) {
            (Self::Sse(sse), ResponseSource::SseStream) => sse.handle_gone(now),
            (Self::Streamable(http), ResponseSource::Exchange(id)) => http.handle_gone(now, id),
            (Self::Sse(_), ResponseSource::Exchange(_))
            | (Self::Streamable(_), ResponseSource::SseStream) => {}
        }
    }
}

impl Deref for HttpBinding {
    type Target = Server;

    fn deref(&self) -> &Server {
        match self {
            Self::Sse(sse) => sse,
            Self::Streamable(http) => http,
        }
    }
}

impl DerefMut for HttpBinding {
    fn deref_mut(&mut self) -> &mut Server {
        match self {
            Self::Sse(sse) => sse,
            Self::Streamable(http) => http,
        }
    }
}

/// A server over HTTP whose memory counts toward the byte limits of its service.
#[derive(Debug)]
pub(in crate::http::server) struct MeteredServer {
    http: HttpBinding,
    requests: ByteLease,
    session: ByteLease,
    sessions_bytes_max: usize,
    /// The memory of the client's description.
    description: usize,
    /// The shares of the limits of client addresses that requests use whose clients do not wait for
    /// the response. In total at most `requests`.
    unawaited: Vec<AddressShare>,
    /// Always empty.
    outbox: Outbox,
}

impl MeteredServer {
    pub(super) fn new(
        http: HttpBinding,
        counters: &Counters,
        sessions_bytes_max: usize,
        description: usize,
    ) -> Self {
        let requests = ByteLease::new(&counters.requests_bytes);
        let mut session = ByteLease::new(&counters.sessions_bytes);
        session.set(description);
        let (unawaited, outbox) = (Vec::new(), Outbox::default());
        Self { http, requests, session, sessions_bytes_max, description, unawaited, outbox }
    }

    /// Returns whether the session must not count as idle.
    pub(super) fn is_busy(&mut self) -> bool {
        match &mut self.http {
            HttpBinding::Sse(sse) => sse.is_busy(),
            HttpBinding::Streamable(http) => http.is_busy(),
        }
    }

    /// Counts the memory of the client's description.
    pub(super) const fn set_description(&mut self, bytes: usize) {
        self.description = bytes;
    }

    /// Closes a session that no client can find any more, and releases its memory.
    pub(super) fn end_session(&mut self, now: Instant) {
        self.http.close(now);
        self.http.drop_replays();
        self.description = 0;
    }

    /// Counts a request in the limits of its client's address although the client does not wait for
    /// the response, for as long as the connection holds as many bytes of requests.
    pub(super) fn keep(&mut self, share: Option<AddressShare>) {
        if let Some(share) = share {
            share.merge_into(&mut self.unawaited);
        }
    }

    /// Updates the budgets, and drops the replay buffers of a session that grew beyond its budget.
    pub(super) fn count(&mut self) {
        let ServerUsage { requests, session, .. } = self.http.usage();
        self.requests.set(requests);
        if !self.unawaited.is_empty() {
            let mut left = requests;
            self.unawaited.retain_mut(|share| {
                share.shrink_to(left);
                left -= share.count();
                share.count() > 0
            });
        }
        let session = self.description + session;
        let has_grown = session > self.session.bytes();
        self.session.set(session);
        if has_grown && self.session.total() > self.sessions_bytes_max {
            self.http.drop_replays();
            self.session.set(self.description + self.http.usage().session);
        }
    }
}

impl State<Server> {
    /// Returns the server over HTTP.
    pub(in crate::http::server) fn metered(&mut self) -> Option<&mut MeteredServer> {
        self.connection.downcast()
    }

    /// Returns the server over Streamable HTTP.
    pub(super) fn http(&mut self) -> Option<&mut HttpServer> {
        self.metered()?.http.streamable()
    }

    /// Returns the server over HTTP+SSE.
    pub(super) fn sse(&mut self) -> Option<&mut SseServer> {
        self.metered()?.http.sse()
    }

    /// Returns the reply of a response, if it is ready, and updates the budgets.
    pub(super) fn poll_reply(&mut self, source: ResponseSource) -> Option<Reply> {
        self.poll_http(|http| match source {
            ResponseSource::Exchange(id) => http.streamable()?.poll_reply(id),
            ResponseSource::SseStream => Some(SseServer::stream_reply()),
        })
    }

    /// Returns the next chunk of a response, if it is ready, and updates the budgets.
    pub(super) fn poll_chunk(&mut self, source: ResponseSource) -> Option<BodyChunk> {
        self.poll_http(|http| http.poll_chunk(source))
    }

    /// Handles a client that disconnected from a response.
    pub(super) fn handle_gone(
        &mut self,
        now: Instant,
        source: ResponseSource,
        share: Option<AddressShare>,
    ) {
        if let Some(metered) = self.metered() {
            metered.http.handle_gone(now, source);
            metered.keep(share);
        }
    }

    /// Counts a request in the limits of its client's address for as long as the connection keeps
    /// it.
    pub(super) fn keep_share(&mut self, share: AddressShare) {
        if let Some(metered) = self.metered() {
            metered.keep(Some(share));
        }
    }

    /// Polls the HTTP side of the connection, and updates the budgets if something was sent.
    fn poll_http<T>(&mut self, poll: impl FnOnce(&mut HttpBinding) -> Option<T>) -> Option<T> {
        let metered = self.metered()?;
        let polled = poll(&mut metered.http);
        if polled.is_some() {
            metered.count();
        }
        polled
    }
}

impl FindSender for Server {
    fn sender(caller: &Caller) -> Option<&dyn HttpSender> {
        caller.data::<RequestHead>().map(|head| head as _)
    }
}

impl Endpoint for MeteredServer {
    fn handle_input(&mut self, _: Instant, _: &[u8]) {}

    fn handle_eof(&mut self, now: Instant) {
        self.http.handle_eof(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        match &mut self.http {
            HttpBinding::Sse(sse) => sse.handle_timeout(now),
            HttpBinding::Streamable(http) => http.handle_timeout(now),
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match &self.http {
            HttpBinding::Sse(sse) => sse.poll_timeout(),
            HttpBinding::Streamable(http) => http.poll_timeout(),
        }
    }

    fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    fn wants_input(&self) -> bool {
        self.http.wants_input()
    }

    fn is_closed(&self) -> bool {
        self.http.is_closed()
    }
}

impl RoleEndpoint for MeteredServer {
    type Event = Event;
    type Role = Server;

    fn role(&self) -> &Server {
        &self.http
    }

    fn apply(&mut self, now: Instant, command: Command<'_>) -> Result<CommandOutcome, Misuse> {
        self.http.apply(now, command)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.http.poll_event()
    }
}

impl Transport<Server> for MeteredServer {
    fn has_output(&mut self) -> bool {
        match &mut self.http {
            HttpBinding::Sse(sse) => sse.has_output(),
            HttpBinding::Streamable(http) => http.has_output(),
        }
    }

    fn rest(&mut self) {
        match &mut self.http {
            HttpBinding::Sse(sse) => sse.shrink(),
            HttpBinding::Streamable(http) => http.shrink(),
        }
    }

    fn settled(&mut self) {
        self.count();
    }

    fn is_single_request(&self) -> bool {
        self.http.id().is_none()
    }

    fn session_id(&self) -> Option<String> {
        self.http.id().map(str::to_owned)
    }
}
