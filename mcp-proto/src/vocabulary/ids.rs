//! The handles of a connection: calls, incoming requests and streams.

use core::fmt;

/// A handle to a request that this side sent, valid until the call completes.
///
/// A handle belongs to one connection and is never reused. In revision 2026-07-28, a call for which
/// the server requires input is sent again with the input. The handle then stays valid, but the
/// JSON-RPC id changes.
///
/// ```
/// # use mcp_proto::{Instant, MessageEndpoint, StreamId};
/// # use mcp_proto::client::{Client, Config, Event};
/// use mcp_proto::CallOptions;
/// # let now = Instant::ZERO;
/// # let mut client = Client::new(now, Config::new("demo", "1.0.0"));
/// # let discovered = br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",
/// #     "supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#;
/// # client.handle_message(now, StreamId::ONLY, &discovered[..]);
/// # assert!(matches!(client.poll_event(), Some(Event::Ready(_))));
///
/// let call = client.call_raw(now, "tools/list", None, CallOptions::default()).unwrap();
/// client.cancel(now, call, "not needed").unwrap();
/// let Some(Event::Completed { call: completed, .. }) = client.poll_event() else { panic!() };
/// assert_eq!(completed, call);
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CallId(pub(crate) u64);

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call#{}", self.0)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A handle to a request that the peer sent, valid until it is answered or cancelled.
///
/// A handle belongs to one connection and is never reused. Commands for a request that has ended
/// fail with [`Misuse::Stale`](crate::Misuse::Stale); ignore that error if the peer may have
/// cancelled the request.
///
/// ```
/// # use mcp_proto::{Capability, Instant, MessageEndpoint, StreamId};
/// # use mcp_proto::server::{Config, Event, Server};
/// use mcp_proto::ErrorObject;
/// # let now = Instant::ZERO;
/// # let config = Config::new("weather", "1.0.0").capability(Capability::Tools);
/// # let mut server = Server::new(now, config);
/// # let message = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"today",
/// #     "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
/// #     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
/// # server.handle_message(now, StreamId::ONLY, &message[..]);
///
/// let Some(Event::Request { incoming, .. }) = server.poll_event() else { panic!() };
/// server.respond_error(now, incoming, &ErrorObject::internal("out of order")).unwrap();
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct IncomingId(pub(crate) u64);

impl IncomingId {
    /// Creates an id that no connection gives to a request.
    ///
    /// Use it for requests that reach the handlers of incoming requests by another way, such as the
    /// input requests of a task.
    #[must_use]
    pub const fn reserved(number: u32) -> Self {
        Self(u64::MAX - number as u64)
    }
}

impl fmt::Debug for IncomingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request#{}", self.0)
    }
}

impl fmt::Display for IncomingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The id of a stream on which messages are sent and received.
///
/// A byte stream has the id [`StreamId::ONLY`] for both directions. Over HTTP, each request has its
/// own stream, which carries the response and related messages. A transport with several
/// streams passes each message to [`handle_message`](crate::MessageEndpoint::handle_message) with
/// the id of its stream, and never reuses an id within a connection.
///
/// ```
/// use mcp_proto::{Route, StreamId};
///
/// assert_eq!(StreamId::default(), StreamId::ONLY);
/// assert_ne!(Route::Stream(StreamId(1)), Route::Stream(StreamId(2)));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StreamId(pub u64);

impl StreamId {
    /// The stream of a transport that has only one stream.
    pub const ONLY: Self = Self(0);
}
