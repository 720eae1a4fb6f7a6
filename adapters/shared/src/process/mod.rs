//! Child processes, the standard streams, pipe sizes and signals.

pub(crate) mod child;
mod group;
pub(crate) mod pipe_size;
#[cfg(unix)]
mod polling_file;
pub(crate) mod signals;
#[cfg(unix)]
pub mod stdio;
