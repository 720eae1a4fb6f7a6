//! A session of the server, over either transport.

use std::ops::{Deref, DerefMut};

use mcp_proto::http::legacy_sse::SseServer;
use mcp_proto::http::{BodyChunk, HttpServer, Refusal, Reply, ServerExchangeId};
use mcp_proto::server::{Event, Server};
use mcp_proto::{Instant, MessageEndpoint as _};

/// A response that a session writes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Source {
    /// An exchange of Streamable HTTP.
    Exchange(ServerExchangeId),
    /// The stream of HTTP+SSE.
    SseStream,
}

/// Dereferences to the [`Server`] of the session.
#[derive(Debug)]
pub(super) enum HostSession {
    Http(Box<HttpServer>),
    Sse(Box<SseServer>),
}

impl HostSession {
    pub(super) fn poll_event(&mut self) -> Option<Event> {
        match self {
            Self::Http(session) => session.poll_event(),
            Self::Sse(session) => session.poll_event(),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Http(session) => session.poll_timeout(),
            Self::Sse(session) => session.poll_timeout(),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Http(session) => session.handle_timeout(now),
            Self::Sse(session) => session.handle_timeout(now),
        }
    }

    pub(super) fn is_busy(&mut self) -> bool {
        match self {
            Self::Http(session) => session.is_busy(),
            Self::Sse(session) => session.is_busy(),
        }
    }

    pub(super) fn wants_input(&self) -> bool {
        match self {
            Self::Http(session) => session.wants_input(),
            Self::Sse(session) => session.wants_input(),
        }
    }

    pub(super) fn close(&mut self, now: Instant) {
        match self {
            Self::Http(session) => session.close(now),
            Self::Sse(session) => session.close(now),
        }
    }

    /// Handles a message, and returns the source of its response, unless that is the stream of the
    /// session.
    pub(super) fn handle_post(
        &mut self,
        now: Instant,
        is_answered: bool,
        body: &[u8],
    ) -> Result<Option<Source>, Refusal> {
        match self {
            Self::Http(session) => {
                Ok(Some(Source::Exchange(session.handle_post(now, is_answered, body))))
            }
            Self::Sse(session) => session.handle_post(now, body).map(|_| None),
        }
    }

    /// Returns the head of a response. That of a stream of HTTP+SSE was sent before.
    pub(super) fn poll_reply(&mut self, source: Source) -> Option<Reply> {
        match (self, source) {
            (Self::Http(session), Source::Exchange(id)) => session.poll_reply(id),
            _ => None,
        }
    }

    pub(super) fn poll_chunk(&mut self, source: Source) -> Option<BodyChunk> {
        match (self, source) {
            (Self::Http(session), Source::Exchange(id)) => session.poll_chunk(id),
            (Self::Sse(session), Source::SseStream) => session.poll_chunk(),
            _ => None,
        }
    }

    /// Handles a client that no longer reads a response.
    pub(super) fn handle_gone(&mut self, now: Instant, source: Source) {
        match (self, source) {
            (Self::Http(session), Source::Exchange(id)) => session.handle_gone(now, id),
            (Self::Sse(session), Source::SseStream) => session.handle_gone(now),
            _ => {}
        }
    }
}

impl Deref for HostSession {
    type Target = Server;

    fn deref(&self) -> &Server {
        match self {
            Self::Http(session) => session,
            Self::Sse(session) => session,
        }
    }
}

impl DerefMut for HostSession {
    fn deref_mut(&mut self) -> &mut Server {
        match self {
            Self::Http(session) => session,
            Self::Sse(session) => session,
        }
    }
}
