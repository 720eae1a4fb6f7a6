//! [`MessageEndpoint`]: a client or server, driven message by message.

use alloc::sync::Arc;
use core::fmt;

use crate::command::{CommandOutcome, OwnedCommand};
use crate::error::Misuse;
use crate::limits::Limits;
use crate::revision::Side;
use crate::rpc::{DecodedMessage, IncomingMessage};
use crate::time::Instant;
use crate::vocabulary::{Outgoing, Peer, Route, StreamId, ViolationKind};

/// A client or server as its transport, and code that is generic over the role, sees it: messages,
/// commands and time in, messages, events and a deadline out.
///
/// This trait is sealed: only [`Client`](crate::client::Client) and
/// [`Server`](crate::server::Server) implement it. Generic code builds an [`OwnedCommand`] and
/// converts it to the [`Command`](Self::Command) type of the client or server.
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
pub trait MessageEndpoint: sealed::HasConnection {
    /// The type of event that [`poll_event`](Self::poll_event) returns.
    type Event: fmt::Debug + fmt::Display;

    /// The command type of the client or server.
    ///
    /// Converting an [`OwnedCommand`] of the other role fails with [`Misuse::Unsupported`].
    type Command<'a>: TryFrom<&'a OwnedCommand, Error = Misuse> + Clone + fmt::Debug;

    /// The side of the connection: client or server.
    const SIDE: Side;

    /// Applies a command.
    ///
    /// # Errors
    /// Fails with [`Misuse`] under the conditions documented for the corresponding method of the
    /// client or server. A failed command has no effect.
    fn apply(&mut self, now: Instant, command: Self::Command<'_>)
    -> Result<CommandOutcome, Misuse>;

    /// Converts a command to its owned form, which contains its values as JSON text.
    ///
    /// The values are encoded for the revision of the incoming request that the command refers to,
    /// if any, and otherwise for the negotiated revision.
    fn to_owned_command(&self, command: Self::Command<'_>) -> OwnedCommand;

    /// Returns the description of the peer.
    ///
    /// A client returns `None` until its handshake or discovery is complete. A server describes
    /// only the client of a legacy session, and returns `None` without such a session.
    fn peer(&self) -> Option<&Arc<Peer>> {
        self.connection().peer()
    }

    /// Handles one message: one JSON value, with optional surrounding whitespace.
    ///
    /// An invalid message is answered with an error, reported as a violation, or both. Takes time
    /// linear in the message's length.
    fn handle_message<'a>(
        &mut self,
        now: Instant,
        stream: StreamId,
        message: impl Into<IncomingMessage<'a>>,
    ) {
        self.connection_mut().handle_message(now, stream, &message.into());
    }

    /// Handles a message that the transport has already parsed.
    ///
    /// A message that was not parsed with the [`limits`](Self::limits) of this connection is parsed
    /// again.
    fn handle_decoded(&mut self, now: Instant, stream: StreamId, message: DecodedMessage<'_>) {
        self.connection_mut().handle_decoded(now, stream, message);
    }

    /// Handles input that is not a complete message.
    ///
    /// Such input is a line that is too long ([`ViolationKind::TooLong`]) or cut off by the end of
    /// the stream ([`ViolationKind::Truncated`]). The error reply, if the connection's
    /// [`ViolationPolicy`](crate::ViolationPolicy) requires one, is sent on `stream`, where the
    /// input arrived.
    fn handle_violation(&mut self, now: Instant, stream: StreamId, kind: ViolationKind) {
        self.connection_mut().handle_violation(now, stream, kind);
    }

    /// Handles the end of one stream.
    ///
    /// Cancels the peer's requests that arrived on the stream, and ends the stream's subscriptions.
    fn handle_stream_closed(&mut self, now: Instant, stream: StreamId) {
        self.connection_mut().handle_stream_closed(now, stream);
    }

    /// Handles the end of all input: the peer has closed its side of the connection.
    fn handle_eof(&mut self, now: Instant) {
        self.connection_mut().handle_eof(now);
    }

    /// Advances the time to `now` and handles expired timeouts.
    ///
    /// Early, late and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant) {
        self.connection_mut().handle_timeout(now);
    }

    /// Removes and returns the oldest event.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout).
    ///
    /// Returns `None` if no timeout is pending. Calls to other methods may change this deadline.
    fn poll_timeout(&self) -> Option<Instant> {
        self.connection().poll_timeout()
    }

    /// Removes and returns the oldest outgoing message.
    ///
    /// The message counts as sent unless the transport [holds](Self::hold) it.
    fn poll_outgoing(&mut self) -> Option<Outgoing<'_>> {
        self.connection_mut().poll_outgoing()
    }

    /// Returns whether an outgoing message is queued.
    fn has_outgoing(&mut self) -> bool {
        self.connection_mut().has_outgoing()
    }

    /// Declares that the transport has several streams. Call it before any message is handled.
    fn use_streams(&mut self) {
        self.connection_mut().use_streams();
    }

    /// Counts `bytes` of a polled message as unsent until they are [released](Self::release).
    ///
    /// Transports that queue messages themselves call this method directly after
    /// [`poll_outgoing`](Self::poll_outgoing), so that backpressure also covers their queues.
    fn hold(&mut self, route: Route, bytes: usize) {
        self.connection_mut().hold(route, bytes);
    }

    /// Marks `bytes` of the bytes [held](Self::hold) on `route` as sent, or all of them if fewer
    /// are held.
    fn release(&mut self, route: Route, bytes: usize) {
        self.connection_mut().release(route, bytes);
    }

    /// Returns whether the transport should read more input.
    ///
    /// The result is false while too many events are unpolled, while the peer leaves too much
    /// output unread, and when the connection is closing or closed.
    fn wants_input(&self) -> bool {
        self.connection().wants_input()
    }

    /// Returns whether the connection is closed. There may still be events to poll.
    fn is_closed(&self) -> bool {
        self.connection().is_closed()
    }

    /// Returns the limits of the connection.
    fn limits(&self) -> &Limits {
        self.connection().limits()
    }

    /// Returns the latest time that the transport or the application has passed to the connection.
    fn now(&self) -> Instant {
        self.connection().now()
    }

    /// Releases unused capacity. Call this method on idle connections if there are many of them.
    fn shrink(&mut self) {
        self.connection_mut().shrink();
    }
}

#[expect(private_interfaces, unnameable_types, reason = "seals `MessageEndpoint`")]
pub(crate) mod sealed {
    use crate::connection::Connection;

    /// Seals [`MessageEndpoint`](super::MessageEndpoint): other crates cannot name this trait.
    pub trait HasConnection {
        fn connection(&self) -> &Connection;

        fn connection_mut(&mut self) -> &mut Connection;
    }
}
