//! Optional recordings of connections over byte streams.
//!
//! Without the `record` feature, [`RecordedStream`] is uninhabited and [`Recorder`] records
//! nothing.

#[cfg(not(feature = "tracing"))]
mod disabled;
#[cfg(feature = "tracing")]
mod enabled;

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::{RecordedStream, Recorder, end, take_failure};
#[cfg(feature = "tracing")]
pub use enabled::private_file;
#[cfg(feature = "tracing")]
pub(crate) use enabled::{RecordedStream, Recorder, end, take_failure};
