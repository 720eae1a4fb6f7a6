//! The Model Context Protocol on tokio.
//!
//! This crate runs MCP servers and clients on a tokio runtime of either flavor, with IO and time
//! enabled. The protocol logic is in [`mcp_proto`](proto).
//!
//! A server:
//!
//! ```no_run
//! use mcp_tokio::Server;
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
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), mcp_tokio::Error> {
//!     Server::new("weather", "1.0.0")
//!         .tool("today", "Today's weather in a city", today)
//!         .serve_stdio()
//!         .await
//! }
//! ```
//!
//! A client:
//!
//! ```no_run
//! use std::process::Command;
//! use mcp_tokio::Client;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), mcp_tokio::Error> {
//! let client = Client::new("demo", "1.0.0").spawn(Command::new("weather-server")).await?;
//! for tool in client.list_tools().await? {
//!     println!("{}", tool.name);
//! }
//! let result = client.call_tool("today", &serde_json::json!({"city": "Oslo"})).await?;
//! println!("{}", result.to_text());
//! client.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The [guide](_guide) covers [servers](_guide::first_server), [clients](_guide::first_client),
//! [errors and cancellation](_guide::errors_and_cancellation), [asking the user for
//! input](_guide::asking_the_user), [lists that change](_guide::changing_lists),
//! [tasks](_guide::tasks), [middleware](_guide::middleware), [gateways](_guide::gateways),
//! [HTTP](_guide::http_and_deployment), [authorization](_guide::authorization)
//! and [migration from `rmcp`](_guide::migrating_from_rmcp). The directories `examples` and
//! `adapters/cookbook` contain complete programs.
//!
//! # Handlers
//!
//! A [`Handler`] is a function, a closure or a method, and may be `async`. An asynchronous one
//! becomes a task of the runtime at its first `.await` that is not ready. A synchronous one may
//! block: it runs on the server's thread pool unless measurements show that it is quick. A
//! [`Server`] works with any adapter.
//!
//! The futures of handlers must be `Send`. To use a future that is not, run it on a thread with a
//! `LocalSet`; the handler sends its arguments there over a channel and awaits the answer.
//!
//! ```
//! use mcp_tokio::{HandlerError, Server};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use tokio::sync::{mpsc, oneshot};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Say {
//!     text: String,
//! }
//!
//! let (sender, mut requests) = mpsc::channel::<(Say, oneshot::Sender<String>)>(16);
//! // On a `LocalSet`:
//! // `while let Some((say, answer)) = requests.recv().await { spawn_local(…) }`
//! let server = Server::new("local", "1.0.0").tool("say", "Returns a text", move |say: Say| {
//!     let sender = sender.clone();
//!     async move {
//!         let (answer, answered) = oneshot::channel();
//!         sender.send((say, answer)).await?;
//!         Ok::<_, HandlerError>(answered.await?)
//!     }
//! });
//! # drop((server, requests.try_recv()));
//! ```
//!
//! # Other streams
//!
//! [`Server::serve`] and [`Client::connect`] take any pair of `AsyncRead` and `AsyncWrite`, such as
//! `tokio::io::split(socket)` of a TCP or Unix socket. One [`Server`] can serve many connections at
//! a time.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `schemars` (by default) | schemas of tools, and forms, derived from Rust types; `#[server]` |
//! | `http` | Streamable HTTP for servers and clients |
//! | `tls` | `https` URLs, certificates of clients, and HTTP/2; implies `http` |
//! | `auth` | OAuth 2.1: logins of clients, verifiers of tokens for servers; implies `tls` |
//! | `jsonschema` | `Server::checked` and `Connection::check_result`, checks against schemas |
//! | `skills` | instructions for models, with their files |
//! | `task-store` | `tasks::FileTaskStore`, which keeps tasks in a file |
//! | `tracing` | spans, events of the protocol, `layers::Tracing`; recordings of byte streams |
//!
//! Items that need a feature say so in the first lines of their documentation.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod _guide;
mod drive;
#[cfg(feature = "http")]
mod net;
mod runtime;
mod signals;
mod streams;
pub mod testing;
mod turn;

#[doc(inline)]
pub use mcp_adapter::api::*;
pub use runtime::Tokio;

/// A client on tokio.
///
/// Its handlers answer requests of the servers to which it connects:
/// [`spawn`](Client::spawn) starts one, [`connect`](Client::connect) uses a pair of streams, and
/// `connect_http` a URL.
pub type Client = on_runtime::Client<Tokio>;

/// A server on tokio.
///
/// [`serve_stdio`](Server::serve_stdio) serves on stdin and stdout, [`serve`](Server::serve) on any
/// pair of streams, and `serve_http` over HTTP.
pub type Server = on_runtime::Server<Tokio>;
/// Registers the methods of an `impl` block as tools, resources and prompts.
///
/// The attribute implements [`Handlers`], which describes the marks and their options. Each marked
/// method becomes one call of the builder.
///
/// If this crate has another name in your program, pass it: `#[server(crate = other)]`.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use mcp_tokio::proto::catalog::Variables;
/// use mcp_tokio::{HandlerError, Server};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Default)]
/// struct Notes(Mutex<Vec<String>>);
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     text: String,
/// }
///
/// #[mcp_tokio::server]
/// impl Notes {
///     /// Adds a note.
///     #[tool(title = "Add a note", destructive = false)]
///     fn add(&self, add: Add) {
///         self.0.lock().unwrap().push(add.text);
///     }
///
///     /// Counts the notes.
///     #[tool(read_only)]
///     async fn count(self: Arc<Self>) -> usize {
///         self.0.lock().unwrap().len()
///     }
///
///     /// A note by its position.
///     #[resource("notes://{index}")]
///     fn note(&self, of: Variables) -> Result<String, HandlerError> {
///         let index = of.text("index").and_then(|index| index.parse::<usize>().ok());
///         let notes = self.0.lock().unwrap();
///         let note = index.and_then(|index| notes.get(index));
///         note.cloned().ok_or_else(HandlerError::not_found)
///     }
/// }
///
/// let server = Server::new("notes", "1.0.0").handlers(Notes::default());
/// # drop(server);
/// ```
#[cfg(feature = "schemars")]
pub use mcp_macros::tokio_server as server;
