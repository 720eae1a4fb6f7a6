//! Child processes, the standard streams, pipe sizes and signals.

pub(crate) mod child;
#[cfg(unix)]
pub(crate) mod child_output;
pub(crate) mod environment;
mod group;
pub(crate) mod host;
pub(crate) mod parent;
pub(crate) mod pipe_size;
#[cfg(unix)]
mod polling_file;
pub(crate) mod program_lookup;
pub(crate) mod protocol_streams;
pub(crate) mod settings;
pub(crate) mod signals;
#[cfg(unix)]
pub mod stdio;
#[cfg(not(unix))]
pub mod stdio_threads;
