//! Optional recordings of connections over byte streams.
//!
//! Without the `record` feature, [`RecordedStream`] is uninhabited and [`Recorder`] records
//! nothing.

#[cfg(not(feature = "record"))]
mod disabled;
#[cfg(feature = "record")]
mod enabled;

#[cfg(not(feature = "record"))]
pub(crate) use disabled::{RecordedStream, Recorder, end, take_failure};
#[cfg(feature = "record")]
pub use enabled::private_file;
#[cfg(feature = "record")]
pub(crate) use enabled::{RecordedStream, Recorder, end, take_failure};
