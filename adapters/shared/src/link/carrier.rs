//! What carries a session's messages: a byte stream, or HTTP; knows nothing of what they say.

use std::ops::{Deref, DerefMut};

use mcp_proto::stdio::Stdio;
use mcp_proto::{Endpoint, Instant};

use super::Role;

/// A session, on what its messages travel by.
#[derive(Debug)]
#[expect(unnameable_types, reason = "what carries a session is its own")]
pub enum Carrier<R: Role> {
    /// A byte stream.
    Bytes(Box<Stdio<R>>),
    /// HTTP.
    #[cfg(feature = "http")]
    Http(Box<R::Http>),
}

/// A session over HTTP, as far as sharing it takes.
#[cfg(feature = "http")]
#[expect(unnameable_types, reason = "what carries a session is its own")]
pub trait OverHttp<R: Role>: DerefMut<Target = R> + std::fmt::Debug + Send {
    /// Time has passed.
    fn handle_timeout(&mut self, now: Instant);

    /// The next event.
    fn poll_event(&mut self) -> Option<R::Event>;

    /// When to call `handle_timeout`.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Whether there is something to send.
    fn has_output(&mut self) -> bool;
}

impl<R: Role> Carrier<R> {
    pub(super) fn handle_input(&mut self, now: Instant, input: &[u8]) {
        match self {
            Self::Bytes(stream) => stream.handle_input(now, input),
            #[cfg(feature = "http")]
            Self::Http(_) => {}
        }
    }

    pub(super) fn handle_eof(&mut self, now: Instant) {
        match self {
            Self::Bytes(stream) => Endpoint::handle_eof(&mut **stream, now),
            #[cfg(feature = "http")]
            Self::Http(http) => mcp_proto::Session::handle_eof(&mut ***http, now),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Bytes(stream) => Endpoint::handle_timeout(&mut **stream, now),
            #[cfg(feature = "http")]
            Self::Http(http) => OverHttp::handle_timeout(&mut **http, now),
        }
    }

    pub(super) fn poll_event(&mut self) -> Option<R::Event> {
        match self {
            Self::Bytes(stream) => Endpoint::poll_event(&mut **stream),
            #[cfg(feature = "http")]
            Self::Http(http) => OverHttp::poll_event(&mut **http),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Bytes(stream) => Endpoint::poll_timeout(&**stream),
            #[cfg(feature = "http")]
            Self::Http(http) => OverHttp::poll_timeout(&**http),
        }
    }

    pub(super) fn has_output(&mut self) -> bool {
        match self {
            Self::Bytes(stream) => !Endpoint::outbox(&mut **stream).is_empty(),
            #[cfg(feature = "http")]
            Self::Http(http) => http.has_output(),
        }
    }

    /// The session over HTTP, which it is wherever this is asked.
    #[cfg(feature = "http")]
    pub(crate) fn http(&mut self) -> Option<&mut R::Http> {
        match self {
            Self::Bytes(_) => None,
            Self::Http(http) => Some(http),
        }
    }
}

impl<R: Role> Deref for Carrier<R> {
    type Target = R;

    fn deref(&self) -> &R {
        match self {
            Self::Bytes(stream) => stream,
            #[cfg(feature = "http")]
            Self::Http(http) => http,
        }
    }
}

impl<R: Role> DerefMut for Carrier<R> {
    fn deref_mut(&mut self) -> &mut R {
        match self {
            Self::Bytes(stream) => stream,
            #[cfg(feature = "http")]
            Self::Http(http) => http,
        }
    }
}
