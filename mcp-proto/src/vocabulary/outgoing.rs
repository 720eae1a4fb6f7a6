//! Messages to send, as a transport receives them.

use core::ops::Range;

use crate::method::Method;
use crate::revision::Revision;
use crate::vocabulary::ids::{CallId, IncomingId, StreamId};

/// Where a message goes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Route {
    /// To the peer, by whichever stream reaches it: the message belongs to none of its requests.
    Any,
    /// On the stream of the request that it belongs to.
    Stream(StreamId),
}

impl Route {
    pub(crate) fn of(stream: Option<StreamId>) -> Self {
        stream.map_or(Self::Any, Self::Stream)
    }
}

/// What kind of message is to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OutgoingKind {
    /// A cancellation of one of our requests, by its id on the wire.
    Cancel {
        /// The request's id on the wire.
        id: u64,
    },
    /// Not a message: the stream has nothing more to carry. With [`Outgoing::last`] it has ended;
    /// otherwise the application asked for the stream to be closed early, and the answer
    /// travels on another one.
    EndOfStream,
    /// A notification.
    Notification(Method),
    /// A request of ours.
    Request {
        /// Its id on the wire. A call that is repeated with input has another id each time.
        id: u64,
        /// The call that it belongs to.
        call: CallId,
        /// Its method.
        method: Method,
    },
    /// The response to a request of the peer.
    Response {
        /// The request; `None` when the connection answered it itself.
        incoming: Option<IncomingId>,
        /// The code, if it is an error.
        error: Option<i64>,
    },
    /// The responses to a batch, in one array.
    Responses,
}

/// One message to send.
///
/// ```
/// use mcp_proto::client::{Client, Config};
/// use mcp_proto::{Instant, MethodId, OutgoingKind, Route, Session};
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
    /// Where it goes.
    pub route: Route,
    /// What it is.
    pub kind: OutgoingKind,
    /// Whether nothing follows on this stream.
    pub last: bool,
    /// The revision it is written in.
    pub revision: Revision,
    /// The message: one JSON value without line breaks. Empty for [`OutgoingKind::EndOfStream`].
    pub body: &'a [u8],
    pub(crate) params: Option<Range<usize>>,
}

impl<'a> Outgoing<'a> {
    /// Returns the params of a request or notification: the object as it lies in the body.
    #[must_use]
    pub fn params(&self) -> Option<&'a [u8]> {
        self.body.get(self.params.clone()?)
    }
}
