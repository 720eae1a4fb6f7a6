//! What the adapters of [`mcp_proto`] have in common.
//!
//! Servers and clients are put together here, handlers run, children are ended, and everything that
//! waits is a future that needs no runtime. An adapter brings the runtime: it reads, writes, sleeps
//! and spawns. Programs use an adapter (`mcp-tokio`, `mcp-smol`, `mcp-blocking`), which gives the
//! names of this crate again.

mod client;
mod error;
mod exec;
#[cfg(feature = "http")]
pub mod http;
mod process;
mod recorder;
mod server;
mod trace;
mod transport;
mod validation;

pub use client::Client;
pub use client::call::{Call, Pending};
pub use client::connect::Opening;
pub use client::connection::Connection;
pub use client::connector::Runtime;
pub use client::listening::{Changed, Listening};
pub use error::{Error, HttpFailure};
pub use exec::workers::Spawn;
pub use futures_lite::io;
pub use mcp_proto as proto;
pub use process::pipe_size::Wide;
#[cfg(unix)]
pub use process::stdio as standard;
pub use server::Server;
pub use server::changes::Changes;
pub use server::events::{Serving, Watch};
pub use server::handler::context::{AsyncCx, Cx};
pub use server::handler::tool_error::ToolError;
pub use transport::event_loop::drive;
pub use transport::link::{Link, Role, WRITE_BYTES_MAX};
pub use transport::read_buffer::ReadBuffer;
pub use transport::shutdown::Driving;

/// A future of no particular type.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
