//! What the adapters of [`mcp_proto`] have in common.
//!
//! Servers and clients are put together here, handlers run, children are ended, and everything that
//! waits is a future that needs no runtime. An adapter brings the runtime: it reads, writes, sleeps
//! and spawns. Programs use an adapter (`mcp-tokio`, `mcp-smol`, `mcp-blocking`), which gives the
//! names of this crate again.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod alarms;
mod answering;
mod beside;
mod buffer;
mod call;
mod cancelled;
mod carried;
mod carry;
mod changes;
mod checks;
mod child;
mod client;
mod clock;
mod connection;
mod cx;
mod driving;
mod error;
mod handlers;
#[cfg(feature = "http")]
pub mod http;
mod ids;
mod link;
mod listening;
mod notices;
mod offer;
mod opening;
mod origin;
mod outcome;
mod pool;
#[cfg(feature = "jsonschema")]
mod schemas;
mod server;
mod serving;
mod signal;
#[cfg(unix)]
pub mod standard;
#[cfg(feature = "record")]
mod tape;
mod tapes;
mod tool_error;
mod trace;
mod untold;
mod wide;
mod workers;

pub use buffer::ReadBuffer;
pub use call::{Call, Pending};
pub use carry::drive;
pub use changes::Changes;
pub use client::Client;
pub use connection::Connection;
pub use cx::{AsyncCx, Cx};
pub use driving::Driving;
pub use error::{Error, HttpFailure};
pub use futures_lite::io;
pub use link::{Link, Role, WRITE_BYTES_MAX};
pub use listening::{Changed, Listening};
pub use mcp_proto as proto;
pub use opening::Opening;
pub use origin::Runtime;
pub use server::Server;
pub use serving::{Serving, Watch};
pub use tool_error::ToolError;
pub use wide::Wide;
pub use workers::Spawn;

/// A future of no particular type.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
