//! The Model Context Protocol in WebAssembly: Workers, browsers and WASI, on one thread.
//!
//! This crate runs MCP servers and clients where there is a single thread. The API is that of the
//! other adapters. The protocol logic is in [`mcp_proto`](proto).
//!
//! A server over stdin and stdout, which also runs under WASI preview 1:
//!
//! ```no_run
//! # #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
//! # mod example {
//! use mcp_wasm::{Error, Server, block_on};
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
//! fn main() -> Result<(), Error> {
//!     let server =
//!         Server::new("weather", "1.0.0").tool("today", "Today's weather in a city", today);
//!     block_on(server.serve_stdio())
//! }
//! # }
//! ```
//!
//! A client, here of a server in its process; over HTTP, only the connection differs:
//!
//! ```
//! use mcp_wasm::{Client, Error, Server, testing};
//! use serde_json::json;
//!
//! async fn today(server: &Server) -> Result<String, Error> {
//!     let connection = testing::connect(server, Client::new("demo", "1.0.0")).await?;
//!     let result = connection.call_tool("today", &json!({"city": "Oslo"})).await?;
//!     connection.close().await?;
//!     Ok(result.content[0].as_text().unwrap_or("?").to_owned())
//! }
//! # let _today = today;
//! ```
//!
//! # Platforms
//!
//! | platform | target | server | client |
//! |---|---|---|---|
//! | Workers | `wasm32-unknown-unknown` | `js::respond` | [`Client::connect_http`] |
//! | browsers | `wasm32-unknown-unknown` | in memory: [`testing::connect`] | `connect_http` |
//! | WASI preview 1 | `wasm32-wasip1` | [`Server::serve_stdio`] | in memory, any streams |
//!
//! On `wasm32-unknown-unknown`, JavaScript is the host: its timers, its queue of tasks, its
//! `crypto` and, with the feature `http`, its `fetch`. Elsewhere, `block_on` runs the tasks of its
//! thread. The crate also runs natively, for tests.
//!
//! # Differences from the other adapters
//!
//! - Handlers and their futures need not be `Send` in a module: they may hold what a host returns,
//!   such as a `JsFuture`, or share an `Rc`. State and callbacks are `Send`, as elsewhere.
//! - Handlers run one at a time, on the thread of the connection, until they wait. A function that
//!   takes long holds up everything else.
//! - Nothing blocks the thread: `.wait()` of an operation fails with
//!   [`Misuse::Blocked`](proto::Misuse::Blocked), and that of [`Cx::sleep`] returns immediately.
//!   Use `.await`.
//! - There are no child processes, sockets and signals. [Tasks](tasks) need threads: a server with
//!   [`Tool::as_task`] does not start.
//!
//! Under WASI preview 1, the standard library cannot wait for input and a timer together.
//! Therefore, [`Server::serve_stdio`] alternates: it reads what stdin has, blocking until there is
//! something, and then runs the handlers until none waits for a timer. This has some effects:
//!
//! - Input that arrives while a handler sleeps is read afterwards: a cancellation does not reach
//!   it, and a `ping` waits.
//! - Timeouts of the connection take effect with the next input.
//! - A handler that waits for something other than a timer continues after the next input.
//!
//! Calls that arrive together, in one read, do run concurrently.
//!
//! # Guide
//!
//! The [guide] of `mcp-tokio` also applies to this crate. The [guide of the core](proto::_guide)
//! covers limits and tests. The directory `examples` contains complete programs.
//!
//! [guide]: https://docs.rs/mcp-tokio/latest/mcp_tokio/_guide/
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `schemars` (by default) | schemas of tools, and forms, derived from Rust types; `#[server]` |
//! | `http` | Streamable HTTP for servers and clients |
//!
//! Without `schemars`, modules are smaller: [`Tool::input_schema`] takes a schema as JSON, and a
//! handler its arguments as [`Raw`](proto::Raw) or [`Json`].
//!
//! The module `js` exists on `wasm32-unknown-unknown` only, where `block_on` is missing. docs.rs
//! shows the documentation of both targets.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod host;
#[cfg(all(feature = "http", target_family = "wasm", target_os = "unknown"))]
pub mod js;
mod runtime;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod stdio;
pub mod testing;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use host::block_on;
#[doc(inline)]
pub use mcp_adapter::api::*;
pub use runtime::{OneThread, sleep};

/// A client on one thread.
///
/// Its handlers answer requests of the servers to which it connects:
/// [`connect`](Client::connect) uses a pair of streams, and `connect_http` a URL.
pub type Client = on_runtime::Client<OneThread>;

/// A server on one thread.
///
/// [`serve_stdio`](Server::serve_stdio) serves on stdin and stdout,
/// [`serve`](Server::serve) on any pair of streams, and `js::respond` the requests of a Worker.
pub type Server = on_runtime::Server<OneThread>;

/// Registers the methods of an `impl` block as tools, resources and prompts.
///
/// The attribute implements [`Handlers`], which describes the marks and their options. Each marked
/// method becomes one call of the builder.
///
/// If this crate has another name in your program, pass it: `#[server(crate = other)]`.
///
/// ```
/// use mcp_wasm::Server;
///
/// struct Clock;
///
/// #[mcp_wasm::server]
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
pub use mcp_macros::wasm_server as server;
