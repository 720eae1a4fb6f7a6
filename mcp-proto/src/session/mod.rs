//! One connection's state for either role: which messages mean what, and what is still open.
//!
//! A role is data here: a [`Side`](crate::Side) that the tables are asked about. Nothing in this room knows how
//! messages travel.

mod batch;
mod cache;
mod calls;
mod changes;
mod core;
mod event;
#[cfg(feature = "http")]
mod exchanges;
mod filter;
mod gate;
mod guard;
mod handshake;
mod incoming;
mod input;
mod listen;
mod notices;
mod outcome;
mod peer;
mod phase;
mod probe;
mod question;
mod receive;
mod requests;
mod rounds;
mod send;
mod stamp;
mod stateless;
mod timers;

pub(crate) use self::core::{Core, Identity};
pub use calls::{CallId, CallOptions};
pub(crate) use event::Event;
pub use filter::{Change, Filter};
pub use guard::{Violation, ViolationKind, ViolationPolicy};
pub use incoming::IncomingId;
pub use outcome::{CallError, Close, Fault, Progress};
pub use peer::{Context, Method, Peer, Request};
pub use question::{Answers, Question};
#[cfg(feature = "http")]
pub(crate) use receive::check_utf8;
pub(crate) use stamp::Stamp;
#[cfg(feature = "http")]
pub use stateless::Said;
#[cfg(feature = "http")]
pub(crate) use stateless::{lacks_context, supported};

use bytes::Bytes;

use crate::limits::Limits;
use crate::time::Instant;
use crate::wire::Outbox;
pub use crate::wire::StreamId;

/// One whole message, as it came from a transport.
#[derive(Clone, Debug)]
pub enum Incoming<'a> {
    /// Bytes that the transport goes on using: what is kept of them is copied.
    Borrowed(&'a [u8]),
    /// Bytes that can be kept.
    Owned(Bytes),
}

impl<'a> From<&'a [u8]> for Incoming<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Borrowed(bytes)
    }
}

impl From<Bytes> for Incoming<'_> {
    fn from(bytes: Bytes) -> Self {
        Self::Owned(bytes)
    }
}

/// What a transport gives to a session and takes from it: whole messages, time, and the end.
///
/// [`Client`](crate::client::Client) and [`Server`](crate::server::Server) implement it, and nothing else can. A
/// byte stream uses it through [`Stdio`](crate::stdio::Stdio); a transport that carries whole messages uses it
/// directly.
///
/// Every `handle_*` does all its work before it returns; the `poll_*` hand over what is there, in O(1), in any
/// order and as often as one likes. Time that goes backwards counts as no time passing.
pub trait Session: sealed::Sealed {
    /// What the application hears.
    type Event: ::core::fmt::Debug;

    /// Takes in one message: one JSON value, with or without white space around it. Never fails: what is wrong
    /// with it is answered, reported, or both. Work is linear in its length.
    fn handle_message<'a>(&mut self, now: Instant, stream: StreamId, message: impl Into<Incoming<'a>>);

    /// The transport found bytes that are no message: a line that was too long, or cut off by the end.
    fn handle_violation(&mut self, now: Instant, kind: ViolationKind);

    /// The peer will send nothing more.
    fn handle_eof(&mut self, now: Instant);

    /// Time has passed. Early, late and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant);

    /// The next event, if there is one.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// When to call `handle_timeout` next; `None` when waiting changes nothing.
    fn poll_timeout(&self) -> Option<Instant>;

    /// The bytes that wait to be sent.
    fn outbox(&mut self) -> &mut Outbox;

    /// Whether to go on reading. False while events pile up, while the peer does not read, and at the end.
    fn wants_input(&self) -> bool;

    /// Whether the last event was made.
    fn is_closed(&self) -> bool;

    /// The bounds of the connection.
    fn limits(&self) -> &Limits;
}

#[expect(unnameable_types, reason = "only this crate has sessions")]
pub(crate) mod sealed {
    /// Nothing outside can name this, so nothing outside can implement [`Session`](super::Session).
    pub trait Sealed {}
}

/// Implements [`Session`] for a role that has a `core`; `$event` makes the role's event of the core's.
macro_rules! session_over_core {
    ($role:ty, $event:ty, $make:path) => {
        impl $crate::session::sealed::Sealed for $role {}

        impl $crate::session::Session for $role {
            type Event = $event;

            fn handle_message<'a>(
                &mut self,
                now: Instant,
                stream: $crate::session::StreamId,
                message: impl Into<$crate::session::Incoming<'a>>,
            ) {
                self.core.handle_message(now, stream, message.into());
            }

            fn handle_violation(&mut self, now: Instant, kind: $crate::session::ViolationKind) {
                self.core.handle_violation(now, kind);
            }

            fn handle_eof(&mut self, now: Instant) {
                self.core.handle_eof(now);
            }

            fn handle_timeout(&mut self, now: Instant) {
                self.core.handle_timeout(now);
            }

            fn poll_event(&mut self) -> Option<$event> {
                // What the other role alone hears never comes about in this one.
                self.core.poll_event().and_then($make)
            }

            fn poll_timeout(&self) -> Option<Instant> {
                self.core.poll_timeout()
            }

            fn outbox(&mut self) -> &mut $crate::wire::Outbox {
                self.core.outbox()
            }

            fn wants_input(&self) -> bool {
                self.core.wants_input()
            }

            fn is_closed(&self) -> bool {
                self.core.is_closed()
            }

            fn limits(&self) -> &Limits {
                self.core.limits()
            }
        }
    };
}
pub(crate) use session_over_core;

#[cfg(test)]
mod tests;
