//! A connection over bytes, as a driver and an application use it: the same for both roles.

use core::fmt;

use crate::command::{Applied, Apply, OwnedCommand};
use crate::error::Misuse;
use crate::time::Instant;
use crate::wire::Outbox;

/// A machine that is driven with bytes and time, and commanded by an application.
///
/// A driver loops: it writes the bytes of the [`outbox`](Self::outbox), passes on the events of
/// [`poll_event`](Self::poll_event), waits for bytes or for [`poll_timeout`](Self::poll_timeout),
/// and calls the matching `handle_*`. It must go on reading while a write is stuck, or two peers
/// with full pipes wait for each other for ever.
///
/// [`Stdio`](crate::stdio::Stdio) implements it, and so does whatever wraps a machine to record or
/// check it.
pub trait Endpoint {
    /// The events of the role.
    type Event: fmt::Debug + fmt::Display;

    /// The role: a [`Client`](crate::client::Client) or a [`Server`](crate::server::Server).
    type Role: Apply<Event = Self::Event>;

    /// The role's connection, to look at.
    fn role(&self) -> &Self::Role;

    /// Applies a command of the application.
    ///
    /// # Errors
    /// [`Misuse`], and nothing was changed or sent.
    fn apply(
        &mut self,
        now: Instant,
        command: <Self::Role as Apply>::Command<'_>,
    ) -> Result<Applied, Misuse>;

    /// Applies a command that borrows nothing.
    ///
    /// # Errors
    /// [`Misuse::Unsupported`] for a command that the role lacks; otherwise as
    /// [`apply`](Self::apply).
    fn apply_owned(&mut self, now: Instant, command: &OwnedCommand) -> Result<Applied, Misuse> {
        self.apply(now, command.try_into()?)
    }

    /// Takes in bytes, split anywhere. Never fails; work is linear in the bytes.
    fn handle_input(&mut self, now: Instant, input: &[u8]);

    /// Takes in the end of the input.
    fn handle_eof(&mut self, now: Instant);

    /// Takes in that time has passed. Early, late and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant);

    /// Returns the next event. O(1).
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns when to call `handle_timeout`; `None` when waiting changes nothing. O(1).
    fn poll_timeout(&self) -> Option<Instant>;

    /// The bytes to send. O(1).
    fn outbox(&mut self) -> &mut Outbox;

    /// Returns whether to go on reading; if not, the pipe pushes back.
    fn wants_input(&self) -> bool;

    /// Returns whether the last event was made. Bytes in the outbox can still be sent then.
    fn is_closed(&self) -> bool;
}
