//! The Model Context Protocol in WebAssembly: Workers, browsers, WASI, any host with one thread.
//!
//! Handlers need not be `Send`: they share `Rc` and `RefCell`, and run on one thread without locks.
//! The protocol logic is in [`proto`].
//!
//! A server over stdin and stdout, which also runs under WASI preview 1:
//!
//! ```no_run
//! use mcp_wasm::Server;
//! use mcp_wasm::proto::Raw;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let schema = Raw::from_text(
//!         r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#,
//!     )?;
//!     Server::new("weather", "1.0.0")
//!         .tool_raw("today", "Today's weather in a city", schema, |arguments, _cx| {
//!             let city = arguments.member("city");
//!             let city = city.as_ref().and_then(Raw::to_text).unwrap_or_default();
//!             Ok(format!("sunny in {city}"))
//!         })
//!         .serve_stdio()?;
//!     Ok(())
//! }
//! ```
//!
//! A client, here of a server in its process; over HTTP, only the connection differs:
//!
//! ```
//! use std::rc::Rc;
//!
//! use mcp_wasm::proto::Raw;
//! use mcp_wasm::{Client, Error, Platform, Server, memory};
//!
//! async fn today(server: &Server, platform: &Rc<dyn Platform>) -> Result<Raw, Error> {
//!     let connection = memory::connect(server, Client::new("demo", "1.0.0"), platform).await?;
//!     let result = connection.call_tool_raw("today", Raw::empty_object()).await?;
//!     connection.close().await;
//!     Ok(result)
//! }
//! # let _today = today;
//! ```
//!
//! # Platforms
//!
//! | platform | target | server | client |
//! |---|---|---|---|
//! | Workers | `wasm32-unknown-unknown` | `js::respond` (feature `js`) | `js::connect_http` |
//! | browsers | `wasm32-unknown-unknown` | in memory: [`memory::connect`] | `js::connect_http` |
//! | WASI preview 1 | `wasm32-wasip1` | `Server::serve_stdio` | in memory |
//! | other hosts | any | `http::WebService` (feature `http`) | `http::connect` |
//!
//! A [`Platform`] is the clock, timers, tasks and entropy of a host. Under WASI preview 1, timers
//! and input cannot be awaited together; `Server::serve_stdio` explains the effects.
//!
//! # Differences from the other adapters
//!
//! The names are those of `mcp-tokio`, but this crate is built on the core alone. The adapters for
//! threads, tokio and smol share code that needs threads, and the typed schema of the core, which
//! alone is larger than a small module should be. Therefore:
//!
//! - [`Server::tool_raw`] takes and returns JSON by default. `Server::tool` derives schemas from
//!   Rust types with the feature `schemars`.
//! - A tool's result is a [`ToolOutput`]; with the feature `schema`, `CallToolResult` converts.
//! - [`Server::method_raw`] serves resources, prompts and everything else.
//! - There are no layers, tasks, authorization and changes of a running server.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `client` | yes | clients |
//! | `server` | yes | servers |
//! | `http` | | Streamable HTTP without sockets: servers as functions, clients over any `fetch` |
//! | `js` | | JavaScript hosts, such as Workers and browsers; implies `http` |
//! | `schema` | | the types of the protocol for calls and results, instead of JSON text |
//! | `schemars` | | schemas of tools derived from Rust types |
//! | `seal` | | state that clients cannot forge, for handlers that ask for input |
//!
//! The code that only one role runs is not linked without it: such a module is smaller.
//!
//! The module `js` exists on `wasm32-unknown-unknown` only, where `StdPlatform` and
//! `Server::serve_stdio` are missing. docs.rs shows the documentation of both targets.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "client", feature = "server")),
    allow(dead_code, reason = "each role uses only its part")
)]

mod client;
mod error;
#[cfg(feature = "http")]
pub mod http;
#[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
pub mod js;
mod link;
#[cfg(all(feature = "client", feature = "server"))]
pub mod memory;
mod platform;
mod server;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
mod std_platform;
#[cfg(all(feature = "server", not(all(target_arch = "wasm32", target_os = "unknown"))))]
mod stdio;
mod tasks;
pub use client::Client;
pub use client::call::{Call, Pending};
pub use client::connection::Connection;
pub use error::Error;
pub use mcp_proto as proto;
pub use platform::{LocalBoxFuture, Platform};
pub use server::Server;
pub use server::context::{AsyncCx, Cx};
pub use server::error::HandlerError;
pub use server::output::{IntoToolResult, ToolOutput};
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub use std_platform::StdPlatform;
