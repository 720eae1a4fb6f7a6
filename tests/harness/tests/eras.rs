//! Which era two peers come to speak, and both eras over one pipe.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]

#[path = "eras/interleaved.rs"]
mod interleaved;
#[path = "eras/matrix.rs"]
mod matrix;
#[path = "eras/player.rs"]
mod player;
#[path = "eras/probe.rs"]
mod probe;
#[path = "eras/refusals.rs"]
mod refusals;
#[path = "eras/told.rs"]
mod told;
