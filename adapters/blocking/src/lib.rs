//! The Model Context Protocol on plain threads: no async runtime, no event loop.
//!
//! This crate runs MCP servers and clients on threads that read, write and run timers: what waits
//! ends in [`wait`](Operation::wait). The protocol logic is in [`mcp_proto`](proto).
//!
//! A server:
//!
//! ```no_run
//! use mcp_blocking::Server;
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
//! fn main() -> Result<(), mcp_blocking::Error> {
//!     Server::new("weather", "1.0.0")
//!         .tool("today", "Today's weather in a city", today)
//!         .serve_stdio()
//!         .wait()
//! }
//! ```
//!
//! A client:
//!
//! ```no_run
//! use std::process::Command;
//! use mcp_blocking::Client;
//!
//! # fn main() -> Result<(), mcp_blocking::Error> {
//! let client = Client::new("demo", "1.0.0").spawn(Command::new("weather-server")).wait()?;
//! for tool in client.list_tools().wait()? {
//!     println!("{}", tool.name);
//! }
//! let result = client.call_tool("today", &serde_json::json!({"city": "Oslo"})).wait()?;
//! println!("{}", result.to_text());
//! client.close().wait()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Guide
//!
//! The API is that of `mcp-tokio`, except that operations end in [`wait`](Operation::wait) instead
//! of `.await`. The [guide] of `mcp-tokio` therefore also applies to this crate. The [guide
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

mod drive;
#[cfg(feature = "http")]
mod net;
mod runtime;
pub mod testing;
mod watchdog;

#[doc(inline)]
pub use mcp_adapter::api::*;
pub use runtime::Threads;

/// A client on plain threads.
///
/// Its handlers answer requests of the servers to which it connects:
/// [`spawn`](Client::spawn) starts one, [`connect`](Client::connect) uses a pair of streams, and
/// `connect_http` a URL.
pub type Client = on_runtime::Client<Threads>;

/// A server on plain threads.
///
/// [`serve_stdio`](Server::serve_stdio) serves on stdin and stdout, [`serve`](Server::serve) on any
/// pair of streams, and `serve_http` over HTTP.
pub type Server = on_runtime::Server<Threads>;
/// Registers the methods of an `impl` block as tools, resources and prompts.
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
