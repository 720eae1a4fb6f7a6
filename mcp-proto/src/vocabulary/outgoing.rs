//! Outgoing messages, as a transport receives them.

use core::ops::Range;

use crate::method::Method;
use crate::revision::Revision;
use crate::vocabulary::ids::{CallId, IncomingId, StreamId};

/// The destination of an outgoing message.
///
/// A transport with one stream may ignore the route. A transport with several streams, such as
/// Streamable HTTP, sends each message on the stream that the route names. See the example at
/// [`Outgoing`].
///
/// ```
/// use mcp_proto::{Route, StreamId};
///
/// fn stream(route: Route, default: StreamId) -> StreamId {
///     match route {
///         Route::Any => default,
///         Route::Stream(stream) => stream,
///     }
/// }
/// assert_eq!(stream(Route::Any, StreamId(3)), StreamId(3));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Route {
    /// Any stream to the peer: the message belongs to none of the peer's requests.
    Any,
    /// The stream of the incoming request that the message belongs to.
    Stream(StreamId),
}

impl Route {
    pub(crate) fn of(stream: Option<StreamId>) -> Self {
        stream.map_or(Self::Any, Self::Stream)
    }
}

/// The kind of an outgoing message.
///
/// With the kind, transports can handle messages without parsing them, for example to know which
/// messages expect a response:
///
/// ```
/// use mcp_proto::OutgoingKind;
///
/// fn expects_response(kind: &OutgoingKind) -> bool {
///     matches!(kind, OutgoingKind::Request { .. })
/// }
/// assert!(!expects_response(&OutgoingKind::Responses));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OutgoingKind {
    /// A notification that cancels a request sent by this side.
    Cancel {
        /// The wire id of the cancelled request.
        id: u64,
    },
    /// The end of a stream, with no message attached; `body` is empty.
    ///
    /// If [`Outgoing::last`] is true, the stream ends without a response. Otherwise, the
    /// application has called [`Server::end_stream`](crate::server::Server::end_stream), and the
    /// response follows on another stream.
    ///
    /// Produced only after [`MessageEndpoint::use_streams`](crate::MessageEndpoint::use_streams).
    EndOfStream,
    /// A notification.
    Notification(Method),
    /// A request sent by this side.
    Request {
        /// The wire id. A call that is sent again with input gets a new wire id.
        id: u64,
        /// The call that the request belongs to.
        call: CallId,
        /// The method.
        method: Method,
    },
    /// The response to an incoming request.
    Response {
        /// The request; `None` if the connection answered it without the application.
        incoming: Option<IncomingId>,
        /// The error code; `None` for a result.
        error: Option<i64>,
    },
    /// The responses to a batch, as one JSON array.
    Responses,
}

/// An outgoing message, to be sent by a transport.
///
/// [`MessageEndpoint::poll_outgoing`](crate::MessageEndpoint::poll_outgoing) returns messages in
/// sending order, across all streams. See the specification on
/// [transports](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports).
///
/// ```
/// use mcp_proto::client::{Client, Config};
/// use mcp_proto::{Instant, MethodId, OutgoingKind, Route, MessageEndpoint};
///
/// let mut client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// let outgoing = client.poll_outgoing().unwrap();
/// assert_eq!(outgoing.route, Route::Any);
/// let OutgoingKind::Request { method, .. } = &outgoing.kind else { panic!() };
/// assert_eq!(method.id(), Some(MethodId::Discover));
/// assert!(outgoing.body.starts_with(b"{\"jsonrpc\":\"2.0\""));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Outgoing<'a> {
    /// The destination.
    pub route: Route,
    /// The kind of message.
    pub kind: OutgoingKind,
    /// Whether this is the last message on its stream. If so, close the stream after sending it.
    pub last: bool,
    /// The revision of the message. HTTP transports send it in the `MCP-Protocol-Version` header.
    pub revision: Revision,
    /// The message: one JSON value without line breaks. Empty for [`OutgoingKind::EndOfStream`].
    pub body: &'a [u8],
    /// The range of the params in `body`.
    pub(crate) params: Option<Range<usize>>,
}

impl<'a> Outgoing<'a> {
    /// Returns the params of a request or notification, as a slice of the body.
    ///
    /// Returns `None` if there are none.
    #[must_use]
    pub fn params(&self) -> Option<&'a [u8]> {
        self.body.get(self.params.clone()?)
    }
}
