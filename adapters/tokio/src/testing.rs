//! Tests of servers and clients on tokio, in memory.

use mcp_adapter::proto::Instant;
pub use mcp_adapter::testing::{PairError, TestPair, pair, pair_as};
use mcp_adapter::{Client, Connection, Error, Server};
use tokio::io::{duplex, split};

use crate::client::Connect as _;
use crate::runtime::Tokio;
use crate::server::Serve as _;

/// The bytes in flight in each direction.
const PIPE_BYTES: usize = 64 << 10;

/// Connects `client` to `server` in memory, without a process or a socket.
///
/// The messages pass the whole protocol, so a test sees what real peers see. The server runs as a
/// task of the runtime and ends when the connection closes.
///
/// ```
/// use mcp_tokio::{Client, Server, testing};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), mcp_tokio::Error> {
/// let server = Server::new("weather", "1.0.0")
///     .tool("today", "Today's weather", || "sunny");
/// let client = testing::connect(&server, Client::new("test", "1.0.0")).await?;
/// let result = client.call_tool("today", &json!({})).await?;
/// assert_eq!(result.content[0].as_text(), Some("sunny"));
/// client.close().await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Fails with
/// - [`Error::Io`] if a registered tool, resource, resource template or prompt of the server is
///   invalid, or outside of a tokio runtime;
/// - [`Error::Start`] if the connection cannot be opened.
pub async fn connect(server: &Server, client: Client) -> Result<Connection, Error> {
    let _in_a_runtime = Tokio::current()?;
    // Reports an invalid registration here, not as a closed connection.
    server.machine(Instant::ZERO)?;
    let (ours, theirs) = duplex(PIPE_BYTES);
    let server = server.clone();
    tokio::spawn(async move {
        let (reader, writer) = split(theirs);
        // The client sees how the connection ends.
        let _ended = server.serve(reader, writer).await;
    });
    let (reader, writer) = split(ours);
    client.connect(reader, writer).await
}
