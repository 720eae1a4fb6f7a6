//! The Model Context Protocol on smol.
//!
//! All protocol logic is in [`mcp_proto`](proto), and what needs no runtime is shared with the
//! other adapters; here are the loops that read, write and sleep, on async-io. Handlers and
//! connections are tasks of the global executor of smol, which runs on as many threads as
//! `SMOL_THREADS` says, one by default.
//!
//! A server:
//!
//! ```no_run
//! use mcp_smol::proto::Raw;
//! use mcp_smol::{Serve, Server};
//!
//! fn main() -> std::io::Result<()> {
//!     let schema = Raw::from_text(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#).unwrap();
//!     let server = Server::new("weather", "1.0.0")
//!         .tool_raw_async("today", "Today's weather in a city", schema, |arguments, _cx| async move {
//!             let city = arguments.member("city").ok_or("which city?")?;
//!             Ok(format!("sunny in {city}"))
//!         });
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
//! A handler is a future (`tool_async` and its kin), which is a task of the executor, or a plain
//! function (`tool`), which runs on a thread of the server's own and may block. Both can be mixed,
//! and the same [`Server`] serves on any adapter. Futures are `Send`. One that is not can run on a
//! `LocalExecutor`: the handler sends what it is asked over a channel and awaits the answer.
//!
//! # Other streams
//!
//! Any `AsyncRead` and `AsyncWrite` will do: [`Serve::serve`] and [`Connect::connect`] take a pair,
//! such as `smol::io::split(socket)` of a TCP or Unix socket. A server is cheap to clone and serves
//! many at a time.
//!
//! With the feature `schemars`, `Server::tool` and `Server::tool_async` derive the schema of a
//! tool's arguments from their Rust type; with `seal`, `Server::seal` seals what travels with
//! questions. With `record`, `Server::record` and `Client::record` write down all that is said over
//! byte streams, secrets included, to be printed and replayed.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod client;
mod drive;
#[cfg(feature = "http")]
pub mod http;
mod runtime;
mod server;
mod streams;

pub use client::Connect;
pub use mcp_adapter::{
    AsyncCx, Call, Changed, Changes, Client, Connection, Cx, Error, Listening, Pending, Server,
    ToolError, Watch, proto,
};
pub use server::Serve;
