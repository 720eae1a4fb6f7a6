//! The trait [`Endpoint`]: a connection over a byte stream, for either role.

use core::fmt;

use crate::command::{CommandOutcome, OwnedCommand};
use crate::error::Misuse;
use crate::message_endpoint::MessageEndpoint;
use crate::time::Instant;
use crate::wire::Outbox;

/// A client or server connection over a byte stream, to be driven by an event loop.
///
/// The event loop repeats these steps:
///
/// 1. Send the bytes in the [`outbox`](Self::outbox).
/// 2. Handle the events from [`poll_event`](Self::poll_event).
/// 3. Wait for input, or until the time that [`poll_timeout`](Self::poll_timeout) returns.
/// 4. Call the matching `handle_*` method.
///
/// The event loop must keep reading while a write is blocked; otherwise, two peers with full pipes
/// deadlock.
///
/// [`Stdio`](crate::stdio::Stdio) implements the trait, as do wrappers that record or check another
/// endpoint.
pub trait Endpoint {
    /// The event type of the client or server.
    type Event: fmt::Debug + fmt::Display;

    /// Either [`Client`](crate::client::Client) or [`Server`](crate::server::Server).
    type Role: MessageEndpoint<Event = Self::Event>;

    /// Returns the client or server for inspection.
    fn role(&self) -> &Self::Role;

    /// Applies a command from the application.
    ///
    /// # Errors
    /// Fails with [`Misuse`] under the conditions documented for the corresponding method of the
    /// client or server. A failed command has no effect.
    fn apply(
        &mut self,
        now: Instant,
        command: <Self::Role as MessageEndpoint>::Command<'_>,
    ) -> Result<CommandOutcome, Misuse>;

    /// Applies an owned command.
    ///
    /// # Errors
    /// Fails with [`Misuse::Unsupported`] if the command belongs to the other role, and under the
    /// conditions documented for [`apply`](Self::apply).
    fn apply_owned(
        &mut self,
        now: Instant,
        command: &OwnedCommand,
    ) -> Result<CommandOutcome, Misuse> {
        self.apply(now, command.try_into()?)
    }

    /// Handles received bytes, which may be split at any position.
    ///
    /// Invalid input is reported as a violation, answered with an error, or both. Takes time linear
    /// in the length of the input.
    fn handle_input(&mut self, now: Instant, input: &[u8]);

    /// Handles the end of the input: the peer has closed its side.
    fn handle_eof(&mut self, now: Instant);

    /// Advances the time to `now` and handles expired timeouts. Early, late and repeated calls are
    /// harmless.
    fn handle_timeout(&mut self, now: Instant);

    /// Removes and returns the oldest event. O(1).
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout). O(1).
    ///
    /// Returns `None` if no timeout is pending.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Returns the queue of bytes to send. O(1).
    fn outbox(&mut self) -> &mut Outbox;

    /// Returns whether the event loop should read more input.
    ///
    /// While the result is false, do not read, so that backpressure slows the peer down.
    fn wants_input(&self) -> bool;

    /// Returns whether the connection is closed.
    ///
    /// After closing, events may still have to be polled, and the outbox may still hold bytes to
    /// send.
    fn is_closed(&self) -> bool;
}
