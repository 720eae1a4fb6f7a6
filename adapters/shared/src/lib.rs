//! What the adapters of [`mcp_proto`] have in common.
//!
//! Servers and clients are put together here, handlers run, children are ended, and everything that waits is a future
//! that needs no runtime. An adapter brings the runtime: it reads, writes, sleeps and spawns. Programs use an adapter
//! (`mcp-tokio`, `mcp-smol`, `mcp-blocking`), which gives the names of this crate again.

mod alarms;
mod answering;
mod buffer;
mod call;
mod child;
mod client;
mod clock;
mod connection;
mod driving;
mod error;
mod link;
mod listening;
mod notices;
mod opening;
mod pool;
mod signal;
#[cfg(unix)]
pub mod standard;
mod workers;

pub use buffer::ReadBuffer;
pub use call::{Call, Pending};
pub use client::Client;
pub use connection::Connection;
pub use driving::Driving;
pub use error::Error;
pub use link::{Link, Role};
pub use listening::{Changed, Listening};
pub use mcp_proto as proto;
pub use opening::{Opening, Runtime};
pub use workers::Spawn;

/// A future of no particular type.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
