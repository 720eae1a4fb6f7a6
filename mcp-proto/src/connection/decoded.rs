//! A message that was parsed and is not handled yet.

use core::str::Utf8Error;

use bytes::Bytes;

use crate::json::Frame;
use crate::limits::Limits;
use crate::rpc::{self, Malformed, Message};

/// One whole message, as it came from a transport.
#[derive(Clone, Debug)]
pub enum Incoming<'a> {
    /// Bytes that the transport goes on using: what is kept of them is copied.
    Borrowed(&'a [u8]),
    /// Bytes that can be kept.
    Owned(Bytes),
}

impl<'a> From<&'a [u8]> for Incoming<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Borrowed(bytes)
    }
}

impl From<Bytes> for Incoming<'_> {
    fn from(bytes: Bytes) -> Self {
        Self::Owned(bytes)
    }
}

/// A message that was parsed, for transports that look at messages before they pass them on.
///
/// ```
/// use mcp_proto::server::{Config, Server};
/// use mcp_proto::{Decoded, Incoming, Instant, Limits, Session, StreamId};
///
/// let mut server = Server::new(Instant::ZERO, Config::new("quiet", "1.0.0"));
/// let message = Incoming::Borrowed(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
/// let decoded = Decoded::read(&message, server.limits());
/// assert_eq!(decoded.method(), Some("ping"));
/// server.handle_decoded(Instant::ZERO, StreamId::ONLY, decoded);
/// assert_eq!(server.poll_outgoing().unwrap().body, br#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
/// ```
#[derive(Debug)]
pub struct Decoded<'a> {
    pub(super) frame: Frame<'a>,
    pub(super) content: Content<'a>,
    depth_max: u8,
    id_bytes_max: usize,
}

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are messages, and boxing one would allocate"
)]
pub(crate) enum Content<'a> {
    /// What may be an array of messages: checked to be UTF-8 only.
    Array,
    Message(Message<'a>),
    Malformed(Malformed),
    NotUtf8(Utf8Error),
}

impl<'a> Decoded<'a> {
    /// Parses a message, within the bounds of the connection that is to handle it. Work is linear
    /// in its length.
    #[must_use]
    #[inline]
    pub fn read(message: &'a Incoming<'_>, limits: &Limits) -> Self {
        let frame = match message {
            Incoming::Borrowed(bytes) => Frame::Borrowed(bytes),
            Incoming::Owned(bytes) => Frame::Shared(bytes),
        };
        Self::of(frame, limits)
    }

    #[inline]
    pub(crate) fn of(frame: Frame<'a>, limits: &Limits) -> Self {
        let text = frame.bytes();
        let content = match check_utf8(text) {
            Err(error) => Content::NotUtf8(error),
            Ok(()) if text.trim_ascii_start().starts_with(b"[") => Content::Array,
            Ok(()) => Content::of(text, limits),
        };
        Self { frame, content, depth_max: limits.depth_max, id_bytes_max: limits.id_bytes_max }
    }

    /// Returns whether the message was parsed within these bounds.
    pub(super) fn is_within(&self, limits: &Limits) -> bool {
        self.depth_max == limits.depth_max && self.id_bytes_max == limits.id_bytes_max
    }

    #[allow(dead_code, reason = "only HTTP looks into messages")]
    pub(crate) fn content(&self) -> &Content<'a> {
        &self.content
    }

    /// Returns the method, of a request or notification.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        match &self.content {
            Content::Message(
                Message::Request { method, .. } | Message::Notification { method, .. },
            ) => Some(method),
            _ => None,
        }
    }

    /// Returns the id of our request that a response answers, as
    /// [`OutgoingKind::Request`](crate::OutgoingKind) has it.
    #[must_use]
    pub fn response_id(&self) -> Option<u64> {
        match &self.content {
            Content::Message(Message::Response { id, .. } | Message::BrokenResponse { id, .. }) => {
                id.as_u64()
            }
            _ => None,
        }
    }
}

impl<'a> Content<'a> {
    /// Parses one message.
    #[inline]
    pub(crate) fn of(text: &'a [u8], limits: &Limits) -> Self {
        match rpc::decode_utf8(text, limits.depth_max, limits.id_bytes_max) {
            Ok(message) => Self::Message(message),
            Err(malformed) => Self::Malformed(malformed),
        }
    }
}

/// Most messages are ASCII, which is found out in a fraction of the time.
fn check_utf8(text: &[u8]) -> Result<(), Utf8Error> {
    if text.is_ascii() { Ok(()) } else { core::str::from_utf8(text).map(|_| ()) }
}
