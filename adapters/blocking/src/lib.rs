//! The Model Context Protocol on plain threads: no async runtime, no event loop.
//!
//! This crate runs MCP servers and clients on threads that read, write and run timers, and its
//! methods block. The protocol logic is in [`mcp_proto`](proto).
//!
//! A server:
//!
//! ```no_run
//! use mcp_blocking::{Serve, Server};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Today {
//!     city: String,
//! }
//!
//! fn today(Today { city }: Today) -> String {
//!     format!("sunny in {city}")
//! }
//!
//! fn main() -> std::io::Result<()> {
//!     Server::new("weather", "1.0.0")
//!         .tool("today", "Today's weather in a city", today)
//!         .serve_stdio()
//! }
//! ```
//!
//! A client:
//!
//! ```no_run
//! use std::process::Command;
//! use mcp_blocking::{Client, Connect};
//!
//! # fn main() -> Result<(), mcp_blocking::Error> {
//! let client = Client::new("demo", "1.0.0").spawn(Command::new("weather-server"))?;
//! for tool in client.list_tools()? {
//!     println!("{}", tool.name);
//! }
//! let result = client.call_tool("today", &serde_json::json!({"city": "Oslo"})).wait()?;
//! println!("{}", result.content[0].as_text().unwrap_or("?"));
//! client.close()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Guide
//!
//! The API is that of `mcp-tokio`, except that methods block and calls end in [`wait`](Call::wait)
//! instead of `.await`. The [guide] of `mcp-tokio` therefore also applies to this crate. The [guide
//! of the core](proto::_guide) covers limits and tests.
//!
//! [guide]: https://docs.rs/mcp-tokio/latest/mcp_tokio/_guide/
//!
//! # Features
//!
//! The [features] are those of `mcp-tokio`.
//!
//! [features]: https://docs.rs/mcp-tokio/latest/mcp_tokio/#features

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "auth")]
pub mod auth;
mod call;
mod client;
mod connection;
mod drive;
#[cfg(feature = "http")]
pub mod http;
mod runtime;
mod server;
mod subscription;
mod task;
pub mod testing;
mod wait;
mod watchdog;

pub use call::{Call, Pending};
pub use client::Connect;
pub use connection::Connection;
#[doc(inline)]
pub use mcp_adapter::api::*;
/// Registers the methods of an `impl` block as tools, resources and prompts (feature `schemars`).
///
/// The attribute implements [`Handlers`], which describes the marks and their options. Each marked
/// method becomes one call of the builder.
///
/// If this crate has another name in your program, pass it: `#[server(crate = other)]`.
///
/// ```
/// use mcp_blocking::Server;
///
/// struct Clock;
///
/// #[mcp_blocking::server]
/// impl Clock {
///     /// Tells the time.
///     #[tool(read_only)]
///     fn now(&self) -> &'static str {
///         "noon"
///     }
/// }
///
/// let server = Server::new("clock", "1.0.0").handlers(Clock);
/// # drop(server);
/// ```
#[cfg(feature = "schemars")]
pub use mcp_macros::blocking_server as server;
pub use server::Serve;
pub use subscription::Subscription;
pub use task::{TaskCall, TaskHandle};
