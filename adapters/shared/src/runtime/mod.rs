//! The runtimes, and what servers and clients do on them.

mod client;
mod in_memory;
mod server;

pub use in_memory::{Pipes, connect_in_memory};

use std::future::Future;
use std::io;
use std::sync::Arc;

use mcp_proto::client::Client as ClientMachine;
use mcp_proto::server::Server as ServerMachine;

#[cfg(feature = "http")]
use crate::http::{Dial, HttpService, Stop};
use crate::server::connection::serving::Serving;
use crate::stdio::DriveChild;
use crate::transport::link::LinkRole;
use crate::transport::shutdown::DriverHandle;

/// A runtime, such as tokio: everything that differs between the adapters.
///
/// The supertraits start tasks and drive child processes; [`Streams`] and [`Listen`] say which
/// streams and listeners a runtime can use.
pub trait Runtime: DriveChild + Sized {
    /// Returns the runtime of the current thread.
    ///
    /// # Errors
    /// Fails if the runtime requires a context that the current thread does not have, as tokio
    /// does.
    fn current() -> io::Result<Arc<Self>>;

    /// Serves on stdin and stdout until the connection and its output have ended.
    fn serve_stdio(
        serving: Serving,
        driving: DriverHandle<ServerMachine>,
    ) -> impl Future<Output = io::Result<()>> + Send;
}

/// A runtime that can use a pair of byte streams.
#[diagnostic::on_unimplemented(
    message = "`{I}` and `{O}` are not a reader and a writer of this adapter",
    note = "each adapter takes the streams of its runtime: `tokio::io::AsyncRead` and \
            `AsyncWrite`, those of `futures_io`, or `std::io::Read` and `Write` with `Send` and \
            `'static`"
)]
pub trait Streams<I, O>: Runtime {
    /// Drives a connection over the streams to its end.
    fn drive<L: LinkRole>(
        driving: DriverHandle<L>,
        reader: I,
        writer: O,
    ) -> impl Future<Output = io::Result<()>> + Send;

    /// Starts to drive the connection of a client in the background.
    ///
    /// # Errors
    /// Fails if the task cannot be started.
    fn start(&self, driving: DriverHandle<ClientMachine>, reader: I, writer: O) -> io::Result<()>
    where
        I: Send + 'static,
        O: Send + 'static,
    {
        self.spawn(Box::pin(async move {
            // The connection reports how it ended.
            let _ended = Self::drive(driving, reader, writer).await;
        }))
    }
}

/// A runtime with sockets for HTTP.
///
/// Apart from [`Runtime`], because one program may have adapters with and without HTTP.
#[cfg(feature = "http")]
pub trait HttpRuntime: Runtime {
    /// Returns what connects sockets.
    ///
    /// # Errors
    /// Fails if the sockets need a thread that cannot be started.
    fn dialer(self: Arc<Self>) -> io::Result<Arc<dyn Dial>>;
}

/// A runtime that can accept connections from a listener.
#[cfg(feature = "http")]
#[diagnostic::on_unimplemented(
    message = "`{L}` is not a listener of this adapter",
    note = "each adapter takes the listeners of its runtime: those of `tokio::net`, or those of \
            `std::net` and `std::os::unix::net`"
)]
pub trait Listen<L>: HttpRuntime {
    /// Serves the clients of a listener until `stop` is set. Dropping the future closes their
    /// connections.
    fn listen(
        service: HttpService,
        listener: L,
        stop: &Stop,
    ) -> impl Future<Output = io::Result<()>> + Send;
}
