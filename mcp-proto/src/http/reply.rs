//! What a server's driver sends as an HTTP response: its head, and what its body is made of; knows
//! nothing of why.

use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;

use super::refusal::Refusal;

/// A response: its head, and what its body is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The fields, in lower case. The driver adds what framing the body takes.
    pub fields: Vec<(&'static str, String)>,
    /// The body.
    pub body: Body,
}

/// The body of a response.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Body {
    /// All of it, perhaps nothing.
    Whole(Bytes),
    /// An event stream: [`Session::poll_frame`](super::Session::poll_frame) gives it piece by
    /// piece.
    Events,
}

/// A piece of an event stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Frame {
    /// Bytes to send at once: whole events, or a comment.
    Bytes(Bytes),
    /// The response ends here.
    End,
}

impl Reply {
    /// A response without a body.
    pub(crate) const fn empty(status: u16) -> Self {
        Self { status, fields: Vec::new(), body: Body::Whole(Bytes::new()) }
    }

    /// One JSON value.
    pub(crate) fn json(status: u16, body: Bytes) -> Self {
        let fields = alloc::vec![("content-type", "application/json".into())];
        Self { status, fields, body: Body::Whole(body) }
    }

    /// An event stream. (HTTP-54)
    pub(crate) fn events() -> Self {
        let fields = alloc::vec![
            ("content-type", "text/event-stream".into()),
            ("cache-control", "no-cache".into()),
            ("x-accel-buffering", "no".into()),
        ];
        Self { status: 200, fields, body: Body::Events }
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        let Refusal { status, fields, body, .. } = refusal;
        Self { status, fields, body: Body::Whole(body.into()) }
    }
}
