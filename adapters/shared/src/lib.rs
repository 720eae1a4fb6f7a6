//! The runtime-independent part of the adapters of [`mcp_proto`].
//!
//! This crate contains the server and client builders, runs handlers and supervises child
//! processes. Every wait is a future that works on any executor. An adapter supplies the runtime:
//! it reads, writes, sleeps and spawns. Programs depend on an adapter (`mcp-tokio`, `mcp-smol`,
//! `mcp-blocking`), which re-exports the names of this crate. The [guide] of `mcp-tokio` and the
//! [guide of the core](proto::_guide) explain how to use them.
//!
//! [guide]: https://docs.rs/mcp-tokio/latest/mcp_tokio/_guide/

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "apps")]
pub mod apps;
#[cfg(feature = "auth")]
pub mod auth;
mod client;
mod declared_extensions;
mod error;
mod exec;
mod extension_seal;
#[cfg(feature = "skills")]
mod frontmatter;
#[cfg(feature = "http")]
pub mod http;
mod outcome;
mod process;
mod recorder;
mod server;
#[cfg(feature = "skills")]
pub mod skills;
pub mod tasks;
#[cfg(feature = "testing")]
pub mod testing;
mod trace;
mod transport;
mod validation;

pub use client::Client;
pub use client::call::{Call, Pending};
pub use client::call_hooks::{CallEnd, OutgoingCall};
pub use client::changed::Changed;
pub use client::connect::Connecting;
pub use client::connection::Connection;
pub use client::connector::Runtime;
pub use client::context::{AsyncClientCx, ClientCx};
pub use client::progress::ProgressUpdates;
pub use client::subscription::Subscription;
pub use client::task::call::TaskCall;
pub use client::task::handle::TaskHandle;
pub use error::{Error, HttpFailure, ListError};
pub use exec::poll_on_wake::poll_on_wake;
pub use exec::sole_driver::is_sole_driver;
pub use exec::workers::Spawn;
pub use extension_seal::ExtensionSeal;
pub use futures_lite::io;
pub use mcp_proto as proto;
#[cfg(unix)]
pub use process::child_output::{ChildOutput, StopOnDrop};
pub use process::program_lookup::find_program;
#[cfg(unix)]
pub use process::signals::{ClosingSignal, close_on_received_signal, closing_signals};
#[cfg(unix)]
pub use process::stdio as standard;
#[cfg(not(unix))]
pub use process::stdio_threads as standard;
#[cfg(feature = "record")]
pub use recorder::private_file;
pub use server::Server;
pub use server::catalog_edit::{CatalogEdit, EditError};
pub use server::changes::Changes;
pub use server::client_handle::ClientHandle;
pub use server::client_task::ClientTask;
pub use server::entries::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
pub use server::handler::asking::FormAnswer;
#[cfg(feature = "schemars")]
pub use server::handler::bounds::ToolArguments;
pub use server::handler::bounds::{PromptResult, ResourceResult};
pub use server::handler::context::{AsyncCx, Cx};
pub use server::handler::state::State;
pub use server::handler::tool_error::ToolError;
pub use server::handler::tool_result::IntoToolResult;
#[cfg(feature = "schemars")]
pub use server::handler::tool_result::Json;
pub use server::handlers::Handlers;
pub use server::layers;
pub use server::list_handler::Page;
pub use server::manual::ManualServer;
pub use server::serving::Serving;
pub use server::subscriptions::{SubscriptionChange, SubscriptionCx};
pub use server::visibility::CallerCx;
#[doc(inline)]
pub use tasks::TaskUpdate;
pub use transport::event_loop::drive;
pub use transport::link::{Link, LinkRole, WRITE_BYTES_MAX};
pub use transport::read_buffer::ReadBuffer;
pub use transport::shutdown::DriverHandle;
#[cfg(feature = "jsonschema")]
pub use validation::CheckError;

/// A boxed, sendable future.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
