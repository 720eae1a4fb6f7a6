//! Which era two peers come to speak, and both eras over one pipe.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]

mod interleaved;
mod matrix;
mod player;
mod probe;
mod refusals;
mod told;
