//! [`MessageEndpoint`]: a connection as its transport drives it, message by message.

use core::fmt;

use crate::limits::Limits;
use crate::rpc::{DecodedMessage, IncomingMessage};
use crate::time::Instant;
use crate::vocabulary::{Outgoing, Route, StreamId, ViolationKind};

/// A connection as its transport sees it: messages and time in, messages and a deadline out.
///
/// This trait is sealed: only [`Client`](crate::client::Client) and
/// [`Server`](crate::server::Server) implement it.
///
/// [`Stdio`](crate::stdio::Stdio) uses this trait for byte streams, and the module `http` for HTTP.
/// Any other message transport uses this trait directly, as the example `framed_socket` does:
///
/// - pass each received message and its stream to [`handle_message`](Self::handle_message);
/// - send each message from [`poll_outgoing`](Self::poll_outgoing) on the stream that its
///   [`route`](Outgoing::route) names;
/// - when the peer closes a stream, call [`handle_stream_closed`](Self::handle_stream_closed) to
///   cancel the requests that arrived on the stream;
/// - call [`handle_timeout`](Self::handle_timeout) at the time that
///   [`poll_timeout`](Self::poll_timeout) returns.
///
/// A transport with one stream uses [`StreamId::ONLY`]. A transport with several streams first
/// calls [`use_streams`](Self::use_streams). After that, each stream may use an eighth of
/// [`Limits::outbox_bytes_max`], and the end of a stream is reported as
/// [`EndOfStream`](crate::OutgoingKind::EndOfStream).
///
/// The `handle_*` methods complete all work before they return. The `poll_*` methods take O(1) time
/// and may be called in any order, any number of times. If a time is earlier than a previous one,
/// the connection behaves as if no time had passed.
///
/// A progress notification that was [deferred](crate::Limits::outbox_bytes_max) is queued as soon
/// as the outbound queue has room and the connection receives an input, a command or a poll of
/// outgoing messages.
///
/// ```
/// use mcp_proto::server::{Config, Server};
/// use mcp_proto::{Instant, MessageEndpoint, StreamId};
///
/// let mut server = Server::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// let ping = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
/// server.handle_message(Instant::ZERO, StreamId::ONLY, &ping[..]);
/// let outgoing = server.poll_outgoing().unwrap();
/// assert_eq!(outgoing.body, br#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
/// ```
///
/// See the specification on
/// [custom transports](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports).
pub trait MessageEndpoint: sealed::Sealed {
    /// The type of event that [`poll_event`](Self::poll_event) returns.
    type Event: fmt::Debug;

    /// Handles one message: one JSON value, with optional surrounding whitespace.
    ///
    /// An invalid message is answered with an error, reported as a violation, or both. Takes time
    /// linear in the message's length.
    fn handle_message<'a>(
        &mut self,
        now: Instant,
        stream: StreamId,
        message: impl Into<IncomingMessage<'a>>,
    );

    /// Handles a message that the transport has already parsed.
    ///
    /// A message that was not parsed with the [`limits`](Self::limits) of this connection is parsed
    /// again.
    fn handle_decoded(&mut self, now: Instant, stream: StreamId, message: DecodedMessage<'_>);

    /// Handles input that is not a complete message.
    ///
    /// Such input is a line that is too long ([`ViolationKind::TooLong`]) or cut off by the end of
    /// the stream ([`ViolationKind::Truncated`]). The error reply, if the connection's
    /// [`ViolationPolicy`](crate::ViolationPolicy) requires one, is sent on `stream`, where the
    /// input arrived.
    fn handle_violation(&mut self, now: Instant, stream: StreamId, kind: ViolationKind);

    /// Handles the end of one stream.
    ///
    /// Cancels the peer's requests that arrived on the stream, and ends the stream's subscriptions.
    fn handle_stream_closed(&mut self, now: Instant, stream: StreamId);

    /// Handles the end of all input: the peer has closed its side of the connection.
    fn handle_eof(&mut self, now: Instant);

    /// Advances the time to `now` and handles expired timeouts.
    ///
    /// Early, late and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant);

    /// Removes and returns the oldest event.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout).
    ///
    /// Returns `None` if no timeout is pending. Calls to other methods may change this deadline.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Removes and returns the oldest outgoing message.
    ///
    /// The message counts as sent unless the transport [holds](Self::hold) it.
    fn poll_outgoing(&mut self) -> Option<Outgoing<'_>>;

    /// Returns whether an outgoing message is queued.
    fn has_outgoing(&mut self) -> bool;

    /// Declares that the transport has several streams. Call it before any message is handled.
    fn use_streams(&mut self);

    /// Counts `bytes` of a polled message as unsent until they are [released](Self::release).
    ///
    /// Transports that queue messages themselves call this method directly after
    /// [`poll_outgoing`](Self::poll_outgoing), so that backpressure also covers their queues.
    fn hold(&mut self, route: Route, bytes: usize);

    /// Counts up to `bytes` of the bytes [held](Self::hold) on `route` as sent.
    fn release(&mut self, route: Route, bytes: usize);

    /// Returns whether the transport should read more input.
    ///
    /// The result is false while too many events are unpolled, while the peer leaves too much
    /// output unread, and when the connection is closing or closed.
    fn wants_input(&self) -> bool;

    /// Returns whether the connection is closed. There may still be events to poll.
    fn is_closed(&self) -> bool;

    /// Returns the limits of the connection.
    fn limits(&self) -> &Limits;

    /// Returns the latest time that the transport or the application has passed to the connection.
    fn now(&self) -> Instant;

    /// Releases unused capacity. Call this method on idle connections if there are many of them.
    fn shrink(&mut self);
}

#[expect(unnameable_types, reason = "seals `MessageEndpoint`")]
pub(crate) mod sealed {
    use crate::rpc::BrokenLine;
    use crate::time::Instant;
    use crate::wire::Outbox;

    /// Seals [`MessageEndpoint`](super::MessageEndpoint): other crates cannot name this trait.
    pub trait Sealed {
        /// Switches to line framing, for [`Stdio`](crate::stdio::Stdio).
        fn use_lines(&mut self);

        /// Returns the lines to send.
        fn lines(&mut self) -> &mut Outbox;

        /// Handles a line that is not a complete message.
        fn handle_broken_line(&mut self, now: Instant, line: BrokenLine<'_>);
    }
}

/// Implements [`MessageEndpoint`] for a role with a field `connection`.
///
/// `$make` converts an event of the connection to an event of the role.
macro_rules! message_endpoint_over_connection {
    ($role:ty, $event:ty, $make:path) => {
        impl $crate::message_endpoint::sealed::Sealed for $role {
            fn use_lines(&mut self) {
                self.connection.use_lines();
            }

            fn lines(&mut self) -> &mut $crate::wire::Outbox {
                self.connection.lines()
            }

            fn handle_broken_line(&mut self, now: Instant, line: $crate::rpc::BrokenLine<'_>) {
                self.connection.handle_broken_line(now, line);
            }
        }

        impl $crate::message_endpoint::MessageEndpoint for $role {
            type Event = $event;

            fn handle_message<'a>(
                &mut self,
                now: Instant,
                stream: $crate::vocabulary::StreamId,
                message: impl Into<$crate::rpc::IncomingMessage<'a>>,
            ) {
                self.connection.handle_message(now, stream, &message.into());
            }

            fn handle_decoded(
                &mut self,
                now: Instant,
                stream: $crate::vocabulary::StreamId,
                message: $crate::rpc::DecodedMessage<'_>,
            ) {
                self.connection.handle_decoded(now, stream, message);
            }

            fn handle_violation(
                &mut self,
                now: Instant,
                stream: $crate::vocabulary::StreamId,
                kind: $crate::vocabulary::ViolationKind,
            ) {
                self.connection.handle_violation(now, stream, kind);
            }

            fn handle_stream_closed(&mut self, now: Instant, stream: $crate::vocabulary::StreamId) {
                self.connection.handle_stream_closed(now, stream);
            }

            fn handle_eof(&mut self, now: Instant) {
                self.connection.handle_eof(now);
            }

            fn handle_timeout(&mut self, now: Instant) {
                self.connection.handle_timeout(now);
            }

            fn poll_event(&mut self) -> Option<$event> {
                // A connection emits no events of the other role.
                self.connection.poll_event().and_then($make)
            }

            fn poll_timeout(&self) -> Option<Instant> {
                self.connection.poll_timeout()
            }

            fn poll_outgoing(&mut self) -> Option<$crate::vocabulary::Outgoing<'_>> {
                self.connection.poll_outgoing()
            }

            fn has_outgoing(&mut self) -> bool {
                self.connection.has_outgoing()
            }

            fn use_streams(&mut self) {
                self.connection.use_streams();
            }

            fn hold(&mut self, route: $crate::vocabulary::Route, bytes: usize) {
                self.connection.hold(route, bytes);
            }

            fn release(&mut self, route: $crate::vocabulary::Route, bytes: usize) {
                self.connection.release(route, bytes);
            }

            fn wants_input(&self) -> bool {
                self.connection.wants_input()
            }

            fn is_closed(&self) -> bool {
                self.connection.is_closed()
            }

            fn limits(&self) -> &Limits {
                self.connection.limits()
            }

            fn now(&self) -> Instant {
                self.connection.now()
            }

            fn shrink(&mut self) {
                self.connection.shrink();
            }
        }
    };
}
pub(crate) use message_endpoint_over_connection;
