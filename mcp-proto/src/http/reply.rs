//! The HTTP response that a server's driver sends.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

use super::redact::RedactedHeaders;
use super::refusal::Refusal;

/// An HTTP response for the driver to send.
#[derive(Clone, Eq, PartialEq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// Headers, with names in lower case. The driver adds the headers that frame the body, such as
    /// `content-length`.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body.
    pub body: Body,
}

/// The body of a response.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Body {
    /// The complete body; may be empty.
    Whole(Bytes),
    /// An event stream; poll its chunks with
    /// [`HttpServer::poll_chunk`](super::HttpServer::poll_chunk).
    Events,
}

impl Body {
    /// Returns the complete body; empty if the body is an event stream.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Events => &[],
        }
    }
}

/// A chunk of an event stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BodyChunk {
    /// Bytes to send immediately: whole events or comments.
    Bytes(Bytes),
    /// The end of the response.
    End,
}

// The headers of the first response hold the session id.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("headers", &RedactedHeaders(&self.headers))
            .field("body", &self.body)
            .finish()
    }
}

impl Reply {
    /// Creates a response without headers and body, such as 204 for a session that was deleted.
    #[must_use]
    pub const fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Body::Whole(Bytes::new()) }
    }

    /// Creates a response with one JSON value.
    pub(crate) fn json(status: u16, body: Bytes) -> Self {
        let fields = alloc::vec![("content-type", "application/json".into())];
        Self { status, headers: fields, body: Body::Whole(body) }
    }

    /// Creates an event stream response.
    // HTTP-54: intermediaries must not buffer the stream.
    pub(crate) fn events() -> Self {
        let fields = alloc::vec![
            ("content-type", "text/event-stream".into()),
            ("cache-control", "no-cache".into()),
            ("x-accel-buffering", "no".into()),
        ];
        Self { status: 200, headers: fields, body: Body::Events }
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        let Refusal { status, headers: fields, body, .. } = refusal;
        Self { status, headers: fields, body: Body::Whole(body.into()) }
    }
}
