//! Tests of servers and clients on smol, in memory.

use mcp_adapter::proto::Instant;
pub use mcp_adapter::testing::{PairError, TestPair, pair, pair_as};
use mcp_adapter::{Client, Connection, Error, Server};
use piper::pipe;

use crate::client::Connect as _;
use crate::executor;
use crate::server::Serve as _;

/// The bytes in flight in each direction.
const PIPE_BYTES: usize = 64 << 10;

/// Connects `client` to `server` in memory, without a process or a socket.
///
/// The messages pass the whole protocol, so a test sees what real peers see. The server runs as a
/// task of the executor of this crate and ends when the connection closes.
///
/// ```
/// use mcp_smol::{Client, Server, testing};
/// use serde_json::json;
///
/// # fn main() -> Result<(), mcp_smol::Error> {
/// # smol::block_on(test())
/// # }
/// # async fn test() -> Result<(), mcp_smol::Error> {
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
///   invalid;
/// - [`Error::Start`] if the connection cannot be opened.
pub async fn connect(server: &Server, client: Client) -> Result<Connection, Error> {
    // Reports an invalid registration here, not as a closed connection.
    server.machine(Instant::ZERO)?;
    let (from_client, to_server) = pipe(PIPE_BYTES);
    let (from_server, to_client) = pipe(PIPE_BYTES);
    let server = server.clone();
    executor::spawn(async move {
        // The client sees how the connection ends.
        let _ended = server.serve(from_client, to_client).await;
    })?;
    client.connect(from_server, to_server).await
}
