//! Servers and clients of a runtime, for code that works with several adapters.
//!
//! Each adapter names those of its runtime `Server` and `Client`. A server that one function builds
//! can be served on any runtime:
//!
//! ```
//! use mcp_adapter::{Server, on_runtime};
//!
//! fn weather() -> Server {
//!     Server::new("weather", "1.0.0")
//! }
//! # struct Tokio;
//!
//! let server: on_runtime::Server<Tokio> = on_runtime::server(weather());
//! # drop(server);
//! ```

use std::io;
use std::sync::Arc;

use mcp_proto::server::Server as Machine;

pub use crate::client::Client;
use crate::exec::clock::Clock;
use crate::exec::workers::Spawn;
pub use crate::server::Server;
use crate::server::connection::serving::Serving;
use crate::transport::shutdown::DriverHandle;

/// Returns a server for another runtime.
pub fn server<R, Q>(server: Server<R>) -> Server<Q> {
    server.on()
}

/// Opens a connection of a server, for tests of adapters.
///
/// # Errors
/// Fails if a registered entry of the server is invalid.
#[doc(hidden)]
pub fn open<R>(
    server: &Server<R>,
    runtime: Arc<dyn Spawn>,
) -> io::Result<(Serving, DriverHandle<Machine>)> {
    server.settings.open_at(Clock::new(), runtime, None)
}

/// Returns a client for another runtime.
pub fn client<R, Q>(client: Client<R>) -> Client<Q> {
    client.on()
}
