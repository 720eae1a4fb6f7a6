//! Behavior of the core, as one program that links once and runs its tests in parallel.

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
mod subscriptions;
mod timeouts;
mod transcripts;
