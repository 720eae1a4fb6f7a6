//! The Model Context Protocol on tokio.
//!
//! This crate runs MCP servers and clients on a tokio runtime of either flavor, with IO and time
//! enabled. The protocol logic is in [`mcp_proto`](proto).
//!
//! A server:
//!
//! ```no_run
//! use mcp_tokio::{Serve, Server};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Today {
//!     city: String,
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> std::io::Result<()> {
//!     Server::new("weather", "1.0.0")
//!         .tool_async("today", "Today's weather in a city", |today: Today, _cx| async move {
//!             Ok(format!("sunny in {}", today.city))
//!         })
//!         .serve_stdio()
//!         .await
//! }
//! ```
//!
//! A client:
//!
//! ```no_run
//! use std::process::Command;
//! use mcp_tokio::{Client, Connect};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), mcp_tokio::Error> {
//! let client = Client::new("demo", "1.0.0").spawn(Command::new("weather-server")).await?;
//! for tool in client.list_tools().await? {
//!     println!("{}", tool.name);
//! }
//! let result = client.call_tool("today", &serde_json::json!({"city": "Oslo"})).await?;
//! println!("{}", result.content[0].as_text().unwrap_or("?"));
//! client.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The [guide](_guide) covers [servers](_guide::first_server), [clients](_guide::first_client),
//! [errors and cancellation](_guide::errors_and_cancellation), [asking the user for
//! input](_guide::asking_the_user), [lists that change](_guide::changing_lists),
//! [tasks](_guide::tasks), [middleware](_guide::middleware), [HTTP](_guide::http_and_deployment)
//! and [migration from `rmcp`](_guide::migrating_from_rmcp). The directories `examples` and
//! `adapters/cookbook` contain complete programs.
//!
//! # Handlers
//!
//! A handler is either a future (`tool_async` and similar methods) or a function (`tool`). A future
//! becomes a task of the runtime at its first `.await` that is not ready. A function may block: it
//! runs on the server's thread pool unless measurements show that it is quick. Both kinds can be
//! mixed, and a [`Server`] works with any adapter.
//!
//! The futures of handlers must be `Send`. To use a future that is not, run it on a thread with a
//! `LocalSet`; the handler sends its arguments there over a channel and awaits the answer.
//!
//! ```
//! use mcp_tokio::proto::Raw;
//! use mcp_tokio::{Server, ToolError};
//! use tokio::sync::{mpsc, oneshot};
//!
//! let (sender, mut requests) = mpsc::channel::<(Raw, oneshot::Sender<String>)>(16);
//! // On a `LocalSet`:
//! // `while let Some((arguments, answer)) = requests.recv().await { spawn_local(…) }`
//! let server = Server::new("local", "1.0.0").tool_raw_async(
//!     "say",
//!     "Returns its arguments",
//!     Raw::from_text(r#"{"type":"object"}"#).unwrap(),
//!     move |arguments, _cx| {
//!         let sender = sender.clone();
//!         async move {
//!             let (answer, answered) = oneshot::channel();
//!             sender.send((arguments, answer)).await?;
//!             Ok::<_, ToolError>(answered.await?)
//!         }
//!     },
//! );
//! # drop((server, requests.try_recv()));
//! ```
//!
//! # Other streams
//!
//! [`Serve::serve`] and [`Connect::connect`] take any pair of `AsyncRead` and `AsyncWrite`, such as
//! `tokio::io::split(socket)` of a TCP or Unix socket. One [`Server`] can serve many connections at
//! a time.
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

pub mod _guide;
#[cfg(feature = "auth")]
pub mod auth;
mod client;
mod drive;
#[cfg(feature = "http")]
pub mod http;
mod runtime;
mod server;
mod signals;
mod streams;
pub mod testing;
mod turn;

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
/// use std::sync::Mutex;
///
/// use mcp_tokio::proto::catalog::Variables;
/// use mcp_tokio::proto::schema::{ReadResource, ResourceContents};
/// use mcp_tokio::{Cx, Server, State, ToolError};
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
///     fn add(&self, add: Add) -> Result<(), ToolError> {
///         self.0.lock().unwrap().push(add.text);
///         Ok(())
///     }
///
///     /// Counts the notes.
///     #[tool(read_only)]
///     async fn count(&self) -> Result<usize, ToolError> {
///         Ok(self.0.lock().unwrap().len())
///     }
///
///     /// A note by its position.
///     #[resource("notes://{index}")]
///     fn note(
///         &self,
///         read: ReadResource,
///         variables: Variables,
///         cx: Cx,
///     ) -> Result<ResourceContents, ToolError> {
///         let index = variables.text("index").and_then(|index| index.parse::<usize>().ok());
///         let notes = self.0.lock().unwrap();
///         let note = index.and_then(|index| notes.get(index));
///         let note = note.ok_or_else(|| cx.resource_not_found(&read.uri))?;
///         Ok(ResourceContents::text(read.uri.clone(), note))
///     }
/// }
///
/// let notes = State::new(Notes::default());
/// let server = Server::new("notes", "1.0.0").handlers(&notes);
/// # drop(server);
/// ```
#[cfg(feature = "macros")]
pub use mcp_macros::tokio_server as server;
pub use server::Serve;
