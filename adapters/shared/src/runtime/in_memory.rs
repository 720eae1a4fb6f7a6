//! Connections inside a program, for tests.

use std::io;
use std::sync::Arc;

use super::Streams;
use crate::client::Client;
use crate::client::connection::Connection;
use crate::exec::operation::Operation;
use crate::server::Server;

/// A runtime with pipes in memory.
pub trait Pipes: Streams<Self::Reader, Self::Writer> {
    /// The end of a pipe that reads.
    type Reader: Send + 'static;
    /// The end of a pipe that writes.
    type Writer: Send + 'static;

    /// Creates a pipe that holds 64 KiB.
    ///
    /// # Errors
    /// Fails if the operating system cannot create a pipe.
    fn pipe() -> io::Result<(Self::Reader, Self::Writer)>;
}

/// Connects `client` to `server` in memory, without a process or a socket.
///
/// The messages pass the whole protocol, so a test sees what real peers see. The server runs in the
/// background and ends when the connection closes.
///
/// Both must be types of the adapter crate whose `testing` module this is:
/// `mcp_blocking::testing::connect` does not take a server of `mcp_tokio`. A function that builds
/// the server for any adapter serves both; see [`on_runtime`](crate::on_runtime). `testing::pair`
/// takes a server and a client of any adapters.
///
/// # Errors
/// The operation fails with
/// - [`Error::Io`](crate::Error::Io) if a registered tool, resource, resource template or prompt of
///   the server is invalid, or outside of the runtime;
/// - [`Error::Start`](crate::Error::Start) if the connection cannot be opened.
pub fn connect_in_memory<R: Pipes>(
    server: &Server<R>,
    client: Client<R>,
) -> Operation<'static, Connection> {
    let server = server.clone();
    Operation::new(async move {
        // Reports an invalid registration here, not as a closed connection.
        server.settings.config()?;
        let (from_client, to_server) = R::pipe()?;
        let (from_server, to_client) = R::pipe()?;
        let runtime = R::current()?;
        Arc::clone(&runtime).spawn(Box::pin(async move {
            // The client sees how the connection ends.
            let _ended = server.serve(from_client, to_client).await;
        }))?;
        client.connect(from_server, to_server).await
    })
}
