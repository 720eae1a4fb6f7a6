//! The Model Context Protocol on plain threads: no async runtime, no event loop.
//!
//! All protocol logic is in [`mcp_proto`]; here are a clock, threads that read and write, child processes, signals,
//! and handles that read like ordinary code.
//!
//! A server:
//!
//! ```no_run
//! use mcp_blocking::Server;
//! # use mcp_blocking::proto::Raw;
//!
//! fn main() -> std::io::Result<()> {
//!     let schema = Raw::from_text(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#).unwrap();
//!     Server::new("weather", "1.0.0")
//!         .tool_raw("today", "Today's weather in a city", schema, |arguments, _cx| {
//!             let city = arguments.member("city").ok_or("which city?")?;
//!             Ok(format!("sunny in {city}"))
//!         })
//!         .serve_stdio()
//! }
//! ```
//!
//! A client:
//!
//! ```no_run
//! use std::process::Command;
//! use mcp_blocking::Client;
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
//! With the feature `schemars`, `Server::tool` derives the schema of a tool's arguments from their Rust type. With the
//! feature `seal`, `Server::seal` keeps clients from changing what a request carries from one question to the next.

mod answering;
mod call;
mod cancelled;
mod carried;
mod changes;
mod child;
mod client;
mod clock;
mod connection;
mod cx;
mod error;
mod handlers;
mod link;
mod listening;
mod notices;
mod offer;
mod opening;
mod outcome;
mod pool;
mod server;
mod serving;
mod signal;
mod tool_error;

pub use call::{Call, Pending};
pub use changes::Changes;
pub use client::Client;
pub use connection::Connection;
pub use cx::Cx;
pub use error::Error;
pub use listening::{Changed, Listening};
pub use mcp_proto as proto;
pub use server::{Server, Watch};
pub use tool_error::ToolError;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
