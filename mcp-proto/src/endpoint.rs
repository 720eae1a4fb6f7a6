//! The driver's half of a connection over bytes: the same for both roles and all bindings.

use core::fmt;

use crate::time::Instant;
use crate::wire::Outbox;

/// What a driver does with a connection, whatever its role: bytes and time in, bytes and one deadline out.
///
/// A driver loops: it writes what the [`outbox`](Self::outbox) shows, hands over what
/// [`poll_event`](Self::poll_event) gives, waits for bytes or for [`poll_timeout`](Self::poll_timeout), and tells
/// of what happened. It must go on reading while a write is stuck, or two peers with full pipes wait for each
/// other for ever.
pub trait Endpoint {
    /// What the application hears.
    type Event: fmt::Debug;

    /// Takes in bytes, split anywhere. Never fails; work is linear in the bytes.
    fn handle_input(&mut self, now: Instant, input: &[u8]);

    /// No bytes will follow.
    fn handle_eof(&mut self, now: Instant);

    /// Time has passed. Early, late and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant);

    /// The next event. O(1).
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// When to call `handle_timeout`; `None` when waiting changes nothing. O(1).
    fn poll_timeout(&self) -> Option<Instant>;

    /// The bytes to send. O(1).
    fn outbox(&mut self) -> &mut Outbox;

    /// Whether to go on reading; if not, the pipe pushes back.
    fn wants_input(&self) -> bool;

    /// Whether the last event was made. What is in the outbox then can still be sent.
    fn is_closed(&self) -> bool;
}
