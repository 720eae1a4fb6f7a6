//! The Model Context Protocol on smol.
//!
//! This crate runs MCP servers and clients on async-io, the reactor of smol. The protocol logic is
//! in [`mcp_proto`](proto). Handlers and connections are tasks of an executor of this crate; as
//! with smol's own executor, the environment variable `SMOL_THREADS` sets its number of threads,
//! one by default. The futures of this crate can be awaited on any executor, and its handlers can
//! await whatever uses async-io, such as the sockets of `smol::net`.
//!
//! A server:
//!
//! ```no_run
//! use mcp_smol::Server;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Today {
//!     city: String,
//! }
//!
//! async fn today(Today { city }: Today) -> String {
//!     format!("sunny in {city}")
//! }
//!
//! fn main() -> Result<(), mcp_smol::Error> {
//!     let server =
//!         Server::new("weather", "1.0.0").tool("today", "Today's weather in a city", today);
//!     smol::block_on(server.serve_stdio())
//! }
//! ```
//!
//! A client:
//!
//! ```no_run
//! use std::process::Command;
//! use mcp_smol::Client;
//!
//! # fn main() -> Result<(), mcp_smol::Error> { smol::block_on(async {
//! let client = Client::new("demo", "1.0.0").spawn(Command::new("weather-server")).await?;
//! for tool in client.list_tools().await? {
//!     println!("{}", tool.name);
//! }
//! let result = client.call_tool("today", &serde_json::json!({"city": "Oslo"})).await?;
//! println!("{}", result.to_text());
//! client.close().await?;
//! # Ok(()) })
//! # }
//! ```
//!
//! # Handlers
//!
//! A [`Handler`] is a function, a closure or a method, and may be `async`. An asynchronous one
//! becomes a task of the executor at its first `.await` that is not ready. A synchronous one may
//! block: it runs on the server's thread pool unless measurements show that it is quick. A
//! [`Server`] works with any adapter.
//!
//! The futures of handlers must be `Send`. To use a future that is not, run it on a
//! `LocalExecutor`; the handler sends its arguments there over a channel and awaits the answer.
//!
//! # Other streams
//!
//! [`Server::serve`] and [`Client::connect`] take any pair of `AsyncRead` and `AsyncWrite`, such as
//! `smol::io::split(socket)` of a TCP or Unix socket. One [`Server`] can serve many connections at
//! a time.
//!
//! # Guide
//!
//! The API is that of `mcp-tokio`, except that listeners are those of `std::net` and
//! `std::os::unix`, streams implement the traits of `futures-io`, and there is no service for
//! routers. The [guide] of `mcp-tokio` therefore also applies to this crate. The [guide of the
//! core](proto::_guide) covers limits and tests. The directory `examples` contains complete
//! programs.
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
mod executor;
#[cfg(feature = "http")]
mod net;
mod runtime;
mod signals;
mod streams;
pub mod testing;

#[doc(inline)]
pub use mcp_adapter::api::*;
pub use runtime::Smol;

/// A client on smol.
///
/// Its handlers answer requests of the servers to which it connects:
/// [`spawn`](Client::spawn) starts one, [`connect`](Client::connect) uses a pair of streams, and
/// `connect_http` a URL.
pub type Client = on_runtime::Client<Smol>;

/// A server on smol.
///
/// [`serve_stdio`](Server::serve_stdio) serves on stdin and stdout, [`serve`](Server::serve) on any
/// pair of streams, and `serve_http` over HTTP.
pub type Server = on_runtime::Server<Smol>;
/// Registers the methods of an `impl` block as tools, resources and prompts.
///
/// The attribute implements [`Handlers`], which describes the marks and their options. Each marked
/// method becomes one call of the builder.
///
/// If this crate has another name in your program, pass it: `#[server(crate = other)]`.
///
/// ```
/// use mcp_smol::Server;
///
/// struct Clock;
///
/// #[mcp_smol::server]
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
pub use mcp_macros::smol_server as server;
