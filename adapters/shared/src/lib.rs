//! The runtime-independent part of the adapters of [`mcp_proto`].
//!
//! This crate contains the server and client builders, runs handlers and supervises child
//! processes. Every wait is a future that works on any executor. An adapter supplies the runtime:
//! it reads, writes, sleeps and spawns. Programs depend on an adapter (`mcp-tokio`, `mcp-smol`,
//! `mcp-blocking`), which re-exports the names of this crate. The [guide] of `mcp-tokio` and the
//! [guide of the core](proto::_guide) explain how to use them.
//!
//! [guide]: https://docs.rs/mcp-tokio/latest/mcp_tokio/_guide/

#![cfg_attr(docsrs, feature(doc_cfg))]

/// Implements `Debug` for a type whose other fields say nothing or must not be printed:
/// `opaque_debug!(Type<T> [T], it => a: it.a)`. The generics of the implementation follow the type.
macro_rules! opaque_debug {
    (
        $name:ident $(<$($argument:tt),+>)? $([$($generics:tt)+])?
        $(, $this:ident => $($field:ident: $value:expr),+)?
    ) => {
        impl $(<$($generics)+>)? ::std::fmt::Debug for $name $(<$($argument),+>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $(let $this = self;)?
                f.debug_struct(stringify!($name))
                    $($(.field(stringify!($field), &$value))+)?
                    .finish_non_exhaustive()
            }
        }
    };
}

pub mod api;
pub mod apps;
#[cfg(feature = "auth")]
pub mod auth;
mod box_future;
mod client;
mod declared_extensions;
mod error;
mod exec;
#[cfg(feature = "http")]
pub mod http;
pub mod on_runtime;
mod outcome;
mod process;
mod recorder;
mod relay;
mod runtime;
mod server;
#[cfg(feature = "skills")]
pub mod skills;
mod stdio;
pub mod tasks;
pub mod testing;
mod trace;
mod transport;
mod validation;

#[doc(no_inline)]
pub use api::*;

/// A server whose runtime is not chosen yet; see [`on_runtime`].
pub type Server = server::Server;

/// A client whose runtime is not chosen yet; see [`on_runtime`].
pub type Client = client::Client;

pub use error::HttpFailure;
pub use exec::poll_on_wake::poll_on_wake;
pub use exec::sole_driver::is_sole_driver;
pub use exec::thread_sleep::sleep_on_thread;
pub use exec::workers::Spawn;
pub use futures_lite::io;
#[cfg(unix)]
pub use process::child_output::{ChildOutput, StopOnDrop};
#[cfg(unix)]
pub use process::signals::{ClosingSignal, close_on_received_signal, closing_signals};
#[cfg(feature = "http")]
pub use runtime::{HttpRuntime, Listen};
pub use runtime::{Pipes, Runtime, Streams, connect_in_memory};
pub use server::connection::serving::Serving;
pub use stdio::DriveChild;
#[cfg(unix)]
pub use stdio::pollable as standard;
#[cfg(not(unix))]
pub use stdio::threads as standard;
pub use transport::event_loop::drive;
pub use transport::link::{Link, LinkRole, WRITE_BYTES_MAX};
pub use transport::read_buffer::ReadBuffer;
pub use transport::shutdown::DriverHandle;
