//! How the core behaves, told in stories: one program, so that it links once and its stories run
//! side by side.

mod allowances;
mod backpressure;
mod bad_input;
mod batching;
mod cancellation;
mod capabilities;
mod checkers;
mod determinism;
mod envelope;
mod eras;
mod found;
mod framing;
mod ids;
mod input;
mod lifecycle;
mod logging;
mod meetings;
mod paging;
mod pair;
mod progress;
mod recordings;
mod revisions;
mod shutdown;
mod timeouts;
mod transcripts;
