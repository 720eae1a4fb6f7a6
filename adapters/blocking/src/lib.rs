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
//! fn main() -> std::io::Result<()> {
//!     Server::new("weather", "1.0.0")
//!         .tool("today", "Today's weather in a city", |today: Today, _cx| {
//!             Ok(format!("sunny in {}", today.city))
//!         })
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
//! With the `schemars` feature, which is enabled by default, `Server::tool` derives the schemas of
//! a tool from the Rust types of its arguments and result. With `seal`, which is enabled by
//! default, clients cannot forge the state that a handler stores while they gather input. With
//! `record`, `Server::record` and `Client::record` record connections over byte streams, including
//! secrets, for printing and replay. With `macros`, the attribute `server` registers marked
//! methods. With `testing`, `testing::pair` tests servers in virtual time. With `apps`, tools have
//! user interfaces; with `skills`, servers offer instructions for models. With `jsonschema`,
//! `Server::checked` checks the arguments and structured results of tools against their schemas,
//! and `Connection::check_result` the results of calls. With `task-store`, `tasks::FileTaskStore`
//! keeps tasks in a file. With `tracing`, the crate `tracing` receives spans of connections and
//! handlers and events of the protocol, and `layers::Tracing` runs each request in a span.
//!
//! With `http`, servers and clients speak Streamable HTTP; with `tls`, clients connect to `https`
//! URLs and can present certificates. With `http2`, clients use HTTP/2 over TLS where the server
//! does, or with prior knowledge, and servers accept it with prior knowledge beside HTTP/1.1. With
//! `auth`, `Remote::authorized` lets clients log in with OAuth 2.1; with `browser`, the browser of
//! the system opens for that, and with `keyring`, its keyring holds the key of stored tokens. With
//! `jwt`, servers verify JSON Web Tokens.

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
#[cfg(feature = "jsonschema")]
pub use mcp_adapter::CheckError;
#[cfg(feature = "apps")]
pub use mcp_adapter::apps;
#[cfg(feature = "record")]
pub use mcp_adapter::private_file;
#[cfg(feature = "skills")]
pub use mcp_adapter::skills;
pub use mcp_adapter::{
    AsyncClientCx, AsyncCx, BoxFuture, CallEnd, CallerCx, CatalogEdit, Changed, Changes, Client,
    ClientCx, ClientHandle, ClientTask, Cx, EditError, Error, FormAnswer, Handlers, IntoToolResult,
    ListError, ManualServer, OutgoingCall, Page, PromptEntry, PromptResult, ResourceEntry,
    ResourceResult, Server, State, SubscriptionChange, SubscriptionCx, TaskUpdate, TemplateEntry,
    ToolEntry, ToolError, find_program, layers, proto, tasks,
};
#[cfg(feature = "schemars")]
pub use mcp_adapter::{Json, ToolArguments};
/// Registers the methods of an `impl` block as tools, resources and prompts.
///
/// The attribute implements [`Handlers`], which describes the marks and their options. Each marked
/// method becomes one call of the builder.
///
/// If this crate has another name in your program, pass it: `#[server(crate = other)]`.
///
/// ```
/// use mcp_blocking::{Server, State, ToolError};
///
/// struct Clock;
///
/// #[mcp_blocking::server]
/// impl Clock {
///     /// Tells the time.
///     #[tool(read_only)]
///     fn now(&self) -> Result<&'static str, ToolError> {
///         Ok("noon")
///     }
/// }
///
/// let server = Server::new("clock", "1.0.0").handlers(&State::new(Clock));
/// # drop(server);
/// ```
#[cfg(feature = "macros")]
pub use mcp_macros::blocking_server as server;
pub use server::Serve;
pub use subscription::Subscription;
pub use task::{TaskCall, TaskHandle};
