//! Which era two peers come to speak, and both eras over one pipe.

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
