//! The seam for transports: whole messages in, messages with their destination out.

use core::fmt;

use crate::limits::Limits;
use crate::rpc::{Decoded, Incoming};
use crate::time::Instant;
use crate::vocabulary::{Outgoing, Route, StreamId, ViolationKind};

/// A connection as its transport sees it: whole messages and time in, messages and one deadline
/// out.
///
/// [`Client`](crate::client::Client) and [`Server`](crate::server::Server) implement it, and
/// nothing else can. A byte stream uses it through [`Stdio`](crate::stdio::Stdio), HTTP through the
/// module `http`; any other transport of whole messages uses it directly, as the example
/// `framed_socket` does:
///
/// - each message that arrives goes to [`handle_message`](Self::handle_message), with the stream it
///   arrived on;
/// - each message that [`poll_outgoing`](Self::poll_outgoing) hands out is sent by its
///   [`route`](Outgoing::route);
/// - when the peer closes a stream, [`handle_stream_closed`](Self::handle_stream_closed) withdraws
///   what it asked for there.
///
/// A transport of one stream needs only [`StreamId::ONLY`]. One of several calls
/// [`use_streams`](Self::use_streams) first: then a stream may fill an eighth of the outbound
/// queue, and its end is announced.
///
/// Every `handle_*` does all its work before it returns; the `poll_*` hand over what is there, in
/// O(1), in any order and any number of times. Time that goes backwards counts as no time passing.
pub trait Session: sealed::Sealed {
    /// What the application receives.
    type Event: fmt::Debug;

    /// Handles one message: one JSON value, with or without white space around it. Never fails:
    /// what is wrong with it is answered, reported, or both. Work is linear in its length.
    fn handle_message<'a>(
        &mut self,
        now: Instant,
        stream: StreamId,
        message: impl Into<Incoming<'a>>,
    ) {
        let message = message.into();
        let decoded = Decoded::read(&message, self.limits());
        self.handle_decoded(now, stream, decoded);
    }

    /// Handles a message that was parsed already, with the [`limits`](Self::limits) of this
    /// connection.
    fn handle_decoded(&mut self, now: Instant, stream: StreamId, message: Decoded<'_>);

    /// Reports bytes that are no message: a line that was too long, or cut off by the end of the
    /// stream.
    fn handle_violation(&mut self, now: Instant, kind: ViolationKind);

    /// Withdraws what the peer asked for on a stream that it has closed: requests are cancelled and
    /// subscriptions end.
    fn handle_stream_closed(&mut self, now: Instant, stream: StreamId);

    /// Handles the end of the connection: the peer sends nothing more on any stream.
    fn handle_eof(&mut self, now: Instant);

    /// Handles the passing of time. Early, late and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant);

    /// Returns the next event, if there is one.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns when to call `handle_timeout` next; `None` when waiting changes nothing.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Takes the oldest message to send. It counts as sent unless the transport [holds](Self::hold)
    /// it.
    fn poll_outgoing(&mut self) -> Option<Outgoing<'_>>;

    /// Returns whether a message waits to be sent.
    fn has_outgoing(&mut self) -> bool;

    /// Declares that the transport has several streams. To be called before the first message is
    /// handled.
    fn use_streams(&mut self);

    /// Counts `bytes` of a message that was taken as unsent, until they are
    /// [released](Self::release): for transports that queue messages themselves, so that a peer
    /// that does not read is held up.
    fn hold(&mut self, route: Route, bytes: usize);

    /// Counts up to `bytes` of what was held on `route` as sent.
    fn release(&mut self, route: Route, bytes: usize);

    /// Returns whether to go on reading. False while events pile up, while the peer does not read,
    /// and at the end.
    fn wants_input(&self) -> bool;

    /// Returns whether the last event was made.
    fn is_closed(&self) -> bool;

    /// Returns the bounds of the connection.
    fn limits(&self) -> &Limits;

    /// Returns the latest time that the connection knows: applications bring time, too.
    fn now(&self) -> Instant;

    /// Releases unused capacity. To be called once nothing has happened for a while, where there
    /// are many connections.
    fn shrink(&mut self);
}

#[expect(unnameable_types, reason = "only this crate has connections")]
pub(crate) mod sealed {
    use crate::wire::Outbox;

    /// Nothing outside can name this, so nothing outside can implement [`Session`](super::Session).
    pub trait Sealed {
        /// Makes each message a line from now on: for [`Stdio`](crate::stdio::Stdio).
        fn use_lines(&mut self);

        /// The lines to send.
        fn lines(&mut self) -> &mut Outbox;
    }
}

/// Implements [`Session`] for a role that has a `connection`; `$make` makes the role's event of the
/// connection's.
macro_rules! session_over_connection {
    ($role:ty, $event:ty, $make:path) => {
        impl $crate::session::sealed::Sealed for $role {
            fn use_lines(&mut self) {
                self.connection.use_lines();
            }

            fn lines(&mut self) -> &mut $crate::wire::Outbox {
                self.connection.lines()
            }
        }

        impl $crate::session::Session for $role {
            type Event = $event;

            fn handle_decoded(
                &mut self,
                now: Instant,
                stream: $crate::vocabulary::StreamId,
                message: $crate::rpc::Decoded<'_>,
            ) {
                self.connection.handle_decoded(now, stream, message);
            }

            fn handle_violation(&mut self, now: Instant, kind: $crate::vocabulary::ViolationKind) {
                self.connection.handle_violation(now, kind);
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
                // Events of the other role never occur in this one.
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
pub(crate) use session_over_connection;
