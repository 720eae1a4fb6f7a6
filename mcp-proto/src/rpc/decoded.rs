//! Incoming messages, as received and as parsed.

use bytes::Bytes;

use super::decode::{Malformed, Message, decode};
use crate::json::Frame;
use crate::limits::Limits;

/// The bytes of one incoming message.
///
/// If the transport already has the message as [`Bytes`], pass these: large params and results can
/// then share the memory of the message instead of being copied. `from` and `into` convert
/// borrowed bytes as well as [`Bytes`]:
///
/// ```
/// use bytes::Bytes;
/// use mcp_proto::IncomingMessage;
///
/// let owned = IncomingMessage::from(Bytes::from_static(b"{}"));
/// let borrowed = IncomingMessage::from(&b"{}"[..]);
/// # assert!(matches!(owned, IncomingMessage::Owned(_)));
/// # assert!(matches!(borrowed, IncomingMessage::Borrowed(_)));
/// ```
#[derive(Clone, Debug)]
pub enum IncomingMessage<'a> {
    /// Borrowed bytes. The connection copies the parts that it keeps.
    Borrowed(&'a [u8]),
    /// Reference-counted bytes. The connection can keep large parts without copying them.
    Owned(Bytes),
}

impl IncomingMessage<'_> {
    pub(crate) const fn frame(&self) -> Frame<'_> {
        match self {
            Self::Borrowed(bytes) => Frame::Borrowed(bytes),
            Self::Owned(bytes) => Frame::Shared(bytes),
        }
    }
}

impl<'a> From<&'a [u8]> for IncomingMessage<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Borrowed(bytes)
    }
}

impl From<Bytes> for IncomingMessage<'_> {
    fn from(bytes: Bytes) -> Self {
        Self::Owned(bytes)
    }
}

/// A parsed message, for transports that inspect messages before passing them to a connection.
///
/// The message may be invalid. [`handle_decoded`](crate::MessageEndpoint::handle_decoded) treats an
/// invalid message like [`handle_message`](crate::MessageEndpoint::handle_message) does.
///
/// ```
/// use mcp_proto::server::{Config, Server};
/// use mcp_proto::{DecodedMessage, IncomingMessage, Instant, Limits, MessageEndpoint, StreamId};
///
/// let mut server = Server::new(Instant::ZERO, Config::new("quiet", "1.0.0"));
/// let message = IncomingMessage::Borrowed(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
/// let decoded = DecodedMessage::parse(&message, server.limits());
/// assert_eq!(decoded.method(), Some("ping"));
/// server.handle_decoded(Instant::ZERO, StreamId::ONLY, decoded);
/// assert_eq!(server.poll_outgoing().unwrap().body, br#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
/// ```
#[derive(Debug)]
pub struct DecodedMessage<'a> {
    pub(crate) frame: Frame<'a>,
    pub(crate) message: Result<Message<'a>, Malformed>,
    depth_max: u8,
    id_bytes_max: usize,
}

impl<'a> DecodedMessage<'a> {
    /// Parses a message, which may be invalid.
    ///
    /// Pass the [limits](crate::MessageEndpoint::limits) of the connection that will handle the
    /// message. With other limits, the connection may parse the message again. Parsing takes time
    /// linear in the message's length.
    #[must_use]
    #[inline]
    pub fn parse(message: &'a IncomingMessage<'_>, limits: &Limits) -> Self {
        Self::of(message.frame(), limits, &[])
    }

    /// Parses a message whose params may have a `_meta` that is known; see [`decode`].
    #[inline]
    pub(crate) fn of(frame: Frame<'a>, limits: &Limits, known_meta: &[u8]) -> Self {
        let Limits { depth_max, id_bytes_max, .. } = *limits;
        // Built in place, because a parsed message is expensive to move.
        Self {
            frame,
            message: decode(frame.bytes(), depth_max, id_bytes_max, known_meta),
            depth_max,
            id_bytes_max,
        }
    }

    /// Returns whether the message was parsed with these limits.
    pub(crate) fn is_within(&self, limits: &Limits) -> bool {
        self.depth_max == limits.depth_max && self.id_bytes_max == limits.id_bytes_max
    }

    /// Returns the method of a request or notification; `None` for any other message.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        match &self.message {
            Ok(Message::Request { method, .. } | Message::Notification { method, .. }) => {
                Some(&method.text)
            }
            _ => None,
        }
    }

    /// Returns the id of a response, or `None` for any other message.
    ///
    /// The id equals the one in the [`OutgoingKind::Request`] of the answered request. If the id is
    /// not a `u64`, the response answers no request, and `None` is returned.
    ///
    /// [`OutgoingKind::Request`]: crate::OutgoingKind::Request
    #[must_use]
    pub fn response_id(&self) -> Option<u64> {
        match &self.message {
            Ok(Message::Response { id, .. } | Message::BrokenResponse { id, .. }) => id.as_u64(),
            _ => None,
        }
    }
}
