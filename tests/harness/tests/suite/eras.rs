//! Negotiation of the era, and both eras over one pipe.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test helper may panic")]

mod interleaved;
mod matrix;
mod notifications;
mod player;
mod probe;
mod refusals;
