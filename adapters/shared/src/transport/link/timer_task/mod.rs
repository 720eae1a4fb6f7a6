//! The timer task of a connection without a driver, as over HTTP; it is spawned on demand.
//!
//! Without the `http` feature, every connection has a driver, and nothing is spawned.

#[cfg(not(feature = "http"))]
mod disabled;
#[cfg(feature = "http")]
mod enabled;

#[cfg(not(feature = "http"))]
pub(super) use disabled::TimerTask;
#[cfg(feature = "http")]
pub(crate) use enabled::SpawnTimer;
#[cfg(feature = "http")]
pub(super) use enabled::TimerTask;
