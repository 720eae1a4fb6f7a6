//! The Model Context Protocol on smol.
//!
//! The protocol logic is in [`mcp_proto`](proto), and everything that needs no runtime is shared
//! with the other adapters. This crate adds the loops that read, write and sleep, on async-io.
//! Handlers and connections are tasks of smol's global executor, whose number of threads
//! `SMOL_THREADS` sets, one by default.
//!
//! A server:
//!
//! ```no_run
//! use mcp_smol::proto::Raw;
//! use mcp_smol::{Serve, Server};
//!
//! fn main() -> std::io::Result<()> {
//!     let schema = r#"{"type":"object","properties":{"city":{"type":"string"}}}"#;
//!     let schema = Raw::from_text(schema).unwrap();
//!     let today = |arguments: Raw, _cx| async move {
//!         let city = arguments.member("city").ok_or("which city?")?;
//!         Ok(format!("sunny in {city}"))
//!     };
//!     let server = Server::new("weather", "1.0.0")
//!         .tool_raw_async("today", "Today's weather in a city", schema, today);
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
//! A handler is a future (`tool_async` and similar methods), which becomes a task of the executor
//! at its first wait, or a function (`tool`), which runs on the server's thread pool and may block.
//! Both kinds can be mixed, and a [`Server`] works with any adapter.
//!
//! Futures must be `Send`. One that is not can run on a `LocalExecutor`: the handler sends its
//! arguments over a channel and awaits the answer.
//!
//! # Other streams
//!
//! [`Serve::serve`] and [`Connect::connect`] take any pair of `AsyncRead` and `AsyncWrite`, such as
//! `smol::io::split(socket)` of a TCP or Unix socket. A server is cheap to clone and serves many
//! connections at a time.
//!
//! # Guide
//!
//! The API is that of `mcp-tokio`, and its [guide] applies here, too, as does the
//! [guide of the core](proto::_guide). The API of `mcp-blocking` differs only in `.await`. The
//! directory `examples` has whole programs.
//!
//! [guide]: https://docs.rs/mcp-tokio/latest/mcp_tokio/_guide/
//!
//! # Features
//!
//! With the feature `schemars`, `Server::tool` and `Server::tool_async` derive the schema of a
//! tool's arguments from their Rust type. With `seal`, `Server::seal` protects the state that
//! requests keep between questions. With `record`, `Server::record` and `Client::record` record
//! connections over byte streams, including secrets, for printing and replay.

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
    AsyncCx, Call, Changed, Changes, Client, Connection, Cx, Error, Pending, Server, Subscription,
    SubscriptionChange, ToolError, proto,
};
pub use server::Serve;
