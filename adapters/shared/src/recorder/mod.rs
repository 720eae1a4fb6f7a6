//! Optional recordings of connections over byte streams.
//!
//! Without the `tracing` feature, [`Recorder`] records nothing.

#[cfg(not(feature = "tracing"))]
mod disabled;
#[cfg(feature = "tracing")]
mod enabled;

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::Recorder;
#[cfg(feature = "tracing")]
pub(crate) use enabled::Recorder;
#[cfg(feature = "tracing")]
pub use enabled::private_file;
