//! This process and its children as the operating system shows them: standard streams, pipes,
//! groups and signals.

pub(crate) mod child;
#[cfg(unix)]
pub(crate) mod child_output;
pub(crate) mod environment;
mod group;
pub(crate) mod host;
pub(crate) mod parent;
pub(crate) mod pipe_size;
#[cfg(unix)]
pub(crate) mod polling_file;
pub(crate) mod program_lookup;
pub(crate) mod protocol_streams;
pub(crate) mod settings;
pub(crate) mod signals;
