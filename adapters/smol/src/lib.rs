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
//! use mcp_smol::{Serve, Server};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Today {
//!     city: String,
//! }
//!
//! fn main() -> std::io::Result<()> {
//!     let server = Server::new("weather", "1.0.0").tool_async(
//!         "today",
//!         "Today's weather in a city",
//!         |today: Today, _cx| async move { Ok(format!("sunny in {}", today.city)) },
//!     );
//!     smol::block_on(server.serve_stdio())
//! }
//! ```
//!
//! A client:
//!
//! ```no_run
//! use std::process::Command;
//! use mcp_smol::{Client, Connect};
//!
//! # fn main() -> Result<(), mcp_smol::Error> { smol::block_on(async {
//! let client = Client::new("demo", "1.0.0").spawn(Command::new("weather-server")).await?;
//! for tool in client.list_tools().await? {
//!     println!("{}", tool.name);
//! }
//! let result = client.call_tool("today", &serde_json::json!({"city": "Oslo"})).await?;
//! println!("{}", result.content[0].as_text().unwrap_or("?"));
//! client.close().await?;
//! # Ok(()) })
//! # }
//! ```
//!
//! # Handlers
//!
//! A handler is either a future (`tool_async` and similar methods) or a function (`tool`). A future
//! becomes a task of the executor at its first `.await` that is not ready. A function may block: it
//! runs on the server's thread pool unless measurements show that it is quick. Both kinds can be
//! mixed, and a [`Server`] works with any adapter.
//!
//! The futures of handlers must be `Send`. To use a future that is not, run it on a
//! `LocalExecutor`; the handler sends its arguments there over a channel and awaits the answer.
//!
//! # Other streams
//!
//! [`Serve::serve`] and [`Connect::connect`] take any pair of `AsyncRead` and `AsyncWrite`, such as
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
//! With the `schemars` feature, which is enabled by default, `Server::tool` and its siblings derive
//! the schemas of a tool from the Rust types of its arguments and result. With `seal`, which is
//! enabled by default, clients cannot forge the state that a handler stores while they gather
//! input. With `record`, `Server::record` and `Client::record` record connections over byte
//! streams, including secrets, for printing and replay. With `macros`, the attribute `server`
//! registers marked methods. With `testing`, `testing::pair` tests servers in virtual time. With
//! `apps`, tools have user interfaces; with `skills`, servers offer instructions for models. With
//! `jsonschema`, `Server::checked` checks the arguments and structured results of tools against
//! their schemas, and `Connection::check_result` the results of calls. With `task-store`,
//! `tasks::FileTaskStore` keeps tasks in a file. With `tracing`, the crate `tracing` receives spans
//! of connections and handlers and events of the protocol, and `layers::Tracing` runs each request
//! in a span.
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
mod client;
mod drive;
mod executor;
#[cfg(feature = "http")]
pub mod http;
mod runtime;
mod server;
mod signals;
mod streams;
pub mod testing;

pub use client::Connect;
#[cfg(feature = "jsonschema")]
pub use mcp_adapter::CheckError;
#[cfg(feature = "apps")]
pub use mcp_adapter::apps;
#[cfg(feature = "record")]
pub use mcp_adapter::private_file;
#[cfg(feature = "skills")]
pub use mcp_adapter::skills;
pub use mcp_adapter::{
    AsyncClientCx, AsyncCx, BoxFuture, Call, CallEnd, CallerCx, CatalogEdit, Changed, Changes,
    Client, ClientCx, ClientHandle, ClientTask, Connection, Cx, EditError, Error, FormAnswer,
    Handlers, IntoToolResult, ListError, ManualServer, OutgoingCall, Page, Pending,
    ProgressUpdates, PromptEntry, PromptResult, ResourceEntry, ResourceResult, Server, State,
    Subscription, SubscriptionChange, SubscriptionCx, TaskCall, TaskHandle, TaskUpdate,
    TemplateEntry, ToolEntry, ToolError, find_program, layers, proto, tasks,
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
/// use mcp_smol::{Server, State, ToolError};
///
/// struct Clock;
///
/// #[mcp_smol::server]
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
pub use mcp_macros::smol_server as server;
pub use server::Serve;
