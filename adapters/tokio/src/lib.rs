//! The Model Context Protocol on tokio.
//!
//! All protocol logic is in [`mcp_proto`](proto), and what needs no runtime is shared with the
//! other adapters; here are the loops that read, write and sleep. It works on both flavours of the
//! runtime, with IO and time enabled.
//!
//! A server:
//!
//! ```no_run
//! use mcp_tokio::proto::Raw;
//! use mcp_tokio::{Serve, Server};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> std::io::Result<()> {
//!     let schema = Raw::from_text(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#).unwrap();
//!     Server::new("weather", "1.0.0")
//!         .tool_raw_async("today", "Today's weather in a city", schema, |arguments, _cx| async move {
//!             let city = arguments.member("city").ok_or("which city?")?;
//!             Ok(format!("sunny in {city}"))
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
//! # Handlers
//!
//! A handler is a future (`tool_async` and its kin), which is a task of the runtime once it waits,
//! or a plain function (`tool`), which runs on a thread of the server's own and may block. Both can
//! be mixed, and the same [`Server`] serves on any adapter. Futures are `Send`. One that is not can
//! run on a thread that has a `LocalSet`: the handler sends what it is asked over a channel and
//! awaits the answer.
//!
//! ```
//! use mcp_tokio::proto::Raw;
//! use mcp_tokio::{Server, ToolError};
//! use tokio::sync::{mpsc, oneshot};
//!
//! let (ask, mut asked) = mpsc::channel::<(Raw, oneshot::Sender<String>)>(16);
//! // On a `LocalSet`: `while let Some((arguments, answer)) = asked.recv().await { spawn_local(…) }`
//! let server = Server::new("local", "1.0.0").tool_raw_async(
//!     "say",
//!     "Says what it is told",
//!     Raw::from_text(r#"{"type":"object"}"#).unwrap(),
//!     move |arguments, _cx| {
//!         let ask = ask.clone();
//!         async move {
//!             let (answer, answered) = oneshot::channel();
//!             ask.send((arguments, answer)).await?;
//!             Ok::<_, ToolError>(answered.await?)
//!         }
//!     },
//! );
//! # drop((server, asked.try_recv()));
//! ```
//!
//! # Other streams
//!
//! Any `AsyncRead` and `AsyncWrite` will do: [`Serve::serve`] and [`Connect::connect`] take a pair,
//! such as `tokio::io::split(socket)` of a TCP or Unix socket. A server is cheap to clone and
//! serves many at a time.
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
mod turn;

pub use client::Connect;
pub use mcp_adapter::{
    AsyncCx, Call, Changed, Changes, Client, Connection, Cx, Error, Listening, Pending, Server,
    ToolError, Watch, proto,
};
pub use server::Serve;
