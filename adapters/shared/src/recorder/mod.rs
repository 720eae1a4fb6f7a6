//! Connections over byte streams, and optional recordings of them.
//!
//! Without the `tracing` feature, [`Recorder`] records nothing.

#[cfg(not(feature = "tracing"))]
mod disabled;
#[cfg(feature = "tracing")]
mod enabled;

use std::fmt::Debug;
use std::io;

use mcp_proto::stdio::Stdio;
use mcp_proto::{Endpoint, MessageEndpoint};

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::Recorder;
#[cfg(feature = "tracing")]
pub(crate) use enabled::Recorder;
#[cfg(feature = "tracing")]
pub use enabled::private_file;

/// A connection over a byte stream, recorded or not.
pub(crate) type BoxedStream<R> =
    Box<dyn StreamEndpoint<Event = <R as MessageEndpoint>::Event, Role = R>>;

/// What the adapter needs from a connection over a byte stream.
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub trait StreamEndpoint: Endpoint + Debug + Send {
    /// Ends the recording, if any.
    fn end_recording(&mut self) {}

    /// Returns why the recording ended early, once.
    fn take_recording_failure(&mut self) -> Option<io::Error> {
        None
    }
}

impl<R: MessageEndpoint + Debug + Send> StreamEndpoint for Stdio<R> {}
