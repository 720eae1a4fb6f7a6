//! MCP in WebAssembly.
#![forbid(unsafe_code)]
mod client;
mod error;
#[cfg(feature = "http")]
pub mod http;
#[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
pub mod js;
mod link;
pub mod memory;
mod platform;
mod server;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
mod std_platform;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
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
pub use server::error::ToolError;
pub use server::output::{IntoToolResult, ToolOutput};
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub use std_platform::StdPlatform;
