//! Tests of servers and clients on threads, without a process or a socket.

use std::io::pipe;

use mcp_adapter::proto::Instant;
pub use mcp_adapter::testing::{PairError, TestPair, pair, pair_as};
use mcp_adapter::{Client, Error, Server};

use crate::client::Connect as _;
use crate::connection::Connection;
use crate::drive;
use crate::server::Serve as _;

/// Connects `client` to `server` in memory, without a process or a socket.
///
/// The messages pass the whole protocol, so a test sees what real peers see. The server runs on a
/// thread of its own and ends when the connection closes.
///
/// ```
/// use mcp_blocking::{Client, Server, testing};
/// use serde_json::json;
///
/// # fn main() -> Result<(), mcp_blocking::Error> {
/// let server = Server::new("weather", "1.0.0")
///     .tool("today", "Today's weather", || "sunny");
/// let client = testing::connect(&server, Client::new("test", "1.0.0"))?;
/// let result = client.call_tool("today", &json!({})).wait()?;
/// assert_eq!(result.content[0].as_text(), Some("sunny"));
/// client.close()?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Fails with
/// - [`Error::Io`] if a registered tool, resource, resource template or prompt of the server is
///   invalid, or if a thread cannot be started;
/// - [`Error::Start`] if the connection cannot be opened.
pub fn connect(server: &Server, client: Client) -> Result<Connection, Error> {
    // Reports an invalid registration here, not as a closed connection.
    server.machine(Instant::ZERO)?;
    let (from_client, to_server) = pipe()?;
    let (from_server, to_client) = pipe()?;
    let server = server.clone();
    drive::spawn("mcp-server", move || {
        // The client sees how the connection ends.
        let _ended = server.serve(from_client, to_client);
    })?;
    client.connect(from_server, to_server)
}
