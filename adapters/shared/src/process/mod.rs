//! This process and its children as the operating system shows them: standard streams, pipes,
//! groups and signals.

#[cfg(target_family = "wasm")]
mod absent;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod child;
#[cfg(unix)]
pub(crate) mod child_output;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod environment;
#[cfg(not(target_family = "wasm"))]
mod group;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod host;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod parent;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod pipe_size;
#[cfg(unix)]
pub(crate) mod polling_file;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod program_lookup;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod protocol_streams;
pub(crate) mod settings;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod signals;

#[cfg(target_family = "wasm")]
pub(crate) use absent::{Child, Host};
#[cfg(not(target_family = "wasm"))]
pub(crate) use {child::Child, host::Host};
