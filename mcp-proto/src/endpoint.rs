//! The trait [`Endpoint`]: a connection over a byte stream, for either role.

use core::fmt;

use crate::command::{Apply, CommandOutcome, OwnedCommand};
use crate::error::Misuse;
use crate::time::Instant;
use crate::wire::Outbox;

/// A connection over a byte stream, driven with bytes and time and controlled by commands.
///
/// A driver loops: it writes the bytes of the [`outbox`](Self::outbox), handles the events of
/// [`poll_event`](Self::poll_event), waits for input or for [`poll_timeout`](Self::poll_timeout),
/// and calls the matching `handle_*` method. It must keep reading while a write is blocked;
/// otherwise two peers with full pipes deadlock.
///
/// [`Stdio`](crate::stdio::Stdio) implements the trait, as do the wrappers that record or check
/// another endpoint.
pub trait Endpoint {
    /// The events of the role.
    type Event: fmt::Debug + fmt::Display;

    /// The role: a [`Client`](crate::client::Client) or a [`Server`](crate::server::Server).
    type Role: Apply<Event = Self::Event>;

    /// Returns the client or server for inspection.
    fn role(&self) -> &Self::Role;

    /// Applies a command of the application.
    ///
    /// # Errors
    /// Fails with [`Misuse`] and has no effect.
    fn apply(
        &mut self,
        now: Instant,
        command: <Self::Role as Apply>::Command<'_>,
    ) -> Result<CommandOutcome, Misuse>;

    /// Applies an owned command.
    ///
    /// # Errors
    /// Fails with [`Misuse::Unsupported`] for a command of the other role, and in the cases of
    /// [`apply`](Self::apply).
    fn apply_owned(
        &mut self,
        now: Instant,
        command: &OwnedCommand,
    ) -> Result<CommandOutcome, Misuse> {
        self.apply(now, command.try_into()?)
    }

    /// Handles received bytes, split at any position. Never fails; takes time linear in the input.
    fn handle_input(&mut self, now: Instant, input: &[u8]);

    /// Handles the end of the input.
    fn handle_eof(&mut self, now: Instant);

    /// Handles the passage of time. Early, late and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant);

    /// Returns the next event. O(1).
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns when to call `handle_timeout`, or `None` if no timeout is pending. O(1).
    fn poll_timeout(&self) -> Option<Instant>;

    /// Returns the bytes to send. O(1).
    fn outbox(&mut self) -> &mut Outbox;

    /// Returns whether to read more input. While false, the transport's backpressure holds the peer
    /// back.
    fn wants_input(&self) -> bool;

    /// Returns whether the connection is closed and its last event queued. The outbox may still
    /// hold bytes to send.
    fn is_closed(&self) -> bool;
}
