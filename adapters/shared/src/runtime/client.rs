//! Connecting a client on its runtime.

use std::sync::Arc;

#[cfg(feature = "http")]
use super::HttpRuntime;
use super::{Runtime, Streams};
use crate::client::Client;
use crate::client::connection::Connection;
use crate::exec::clock::Clock;
use crate::exec::operation::Operation;
use crate::exec::workers::Spawn;
#[cfg(feature = "http")]
use crate::http::Remote;
use crate::stdio::spawn::ServerProcess;

/// Connecting.
impl<R: Runtime> Client<R> {
    /// Starts a server, connects to its stdin and stdout, and waits until it has identified itself.
    ///
    /// `server` is a [`Command`](std::process::Command), or a [`ServerProcess`] with settings.
    ///
    /// The server runs in its own process group and is shut down in the background when the
    /// connection closes: its stdin is closed, and if it does not exit, the group receives SIGTERM
    /// and finally SIGKILL. If the runtime shuts down, the server is killed immediately.
    ///
    /// Processes that the server has started are killed once it has exited, unless they have left
    /// its process group, for example with `setsid`. On Windows, a job object ends the server and
    /// all of them, also when this process is killed. As Windows has no SIGTERM, a server that does
    /// not exit there after its stdin was closed is killed immediately. If this process is killed
    /// on Unix, a server that ignores the end of its stdin stays: it notices only that its pipes
    /// have no other end.
    ///
    /// The server receives few variables of this process's environment; see
    /// [`ServerProcess::inherit_environment`]. It has 2 min to start, because a command such as
    /// `npx` may first download the server; `Limits::handshake_timeout` sets another limit.
    ///
    /// By default, the client first sends `server/discover` to detect whether the server supports a
    /// modern revision (2026-07-28 or later). If the server exits before it has answered, the
    /// client restarts the server and starts with `initialize`. To skip `server/discover`, expect
    /// the legacy era with [`Client::expect_era`].
    ///
    /// # Errors
    /// The operation fails with
    /// - [`Error::Io`](crate::Error::Io) if the server cannot be started, or outside of the
    ///   runtime;
    /// - [`Error::Start`](crate::Error::Start) if the connection cannot be opened. This error
    ///   contains the last lines that the server wrote to stderr.
    // T-36: restarts a server that exits on the probe.
    pub fn spawn(self, server: impl Into<ServerProcess>) -> Operation<'static, Connection> {
        let server = server.into();
        Operation::new(async move { self.settings.spawn(R::current()?, server).await })
    }

    /// Connects over a pair of byte streams, such as the halves of a socket, and waits until the
    /// server has identified itself.
    ///
    /// Each adapter takes the readers and writers of its runtime. When the connection ends, the
    /// client shuts down and drops `writer`. These two steps must close the underlying stream.
    ///
    /// # Errors
    /// The operation fails with [`Error::Start`](crate::Error::Start) if the connection cannot be
    /// opened, and with [`Error::Io`](crate::Error::Io) outside of the runtime.
    ///
    /// A legacy server (up to revision 2025-11-25) may close the connection in response to the
    /// client's first request, `server/discover`. To skip that request, expect the legacy era with
    /// [`Client::expect_era`].
    pub fn connect<I, O>(self, reader: I, writer: O) -> Operation<'static, Connection>
    where
        R: Streams<I, O>,
        I: Send + 'static,
        O: Send + 'static,
    {
        Operation::new(async move {
            let runtime = R::current()?;
            let spawn: Arc<dyn Spawn> = Arc::clone(&runtime) as _;
            let (opening, driving) = self.settings.open(Clock::new(), &spawn)?;
            runtime.start(driving, reader, writer)?;
            opening.wait().await
        })
    }
}

#[cfg(feature = "http")]
impl<R: HttpRuntime> Client<R> {
    /// Connects to a server over HTTP and waits until it has identified itself.
    /// (feature `http`)
    ///
    /// By default, the client first sends `server/discover` to detect whether the server supports a
    /// modern revision (2026-07-28 or later). If the server does not, the client then sends
    /// `initialize`. To skip `server/discover`, expect the legacy era with
    /// [`Client::expect_era`].
    ///
    /// Dropping the last clone of the connection ends the session in the background.
    /// [`Connection::close`] ends the session and waits until it has ended.
    ///
    /// # Errors
    /// The operation fails with
    /// - [`Error::Start`](crate::Error::Start) if the connection cannot be opened;
    /// - [`Error::Io`](crate::Error::Io) if credentials would be sent unencrypted (see
    ///   [`Remote::allow_plain_credentials`]), if TLS or the [proxy](Remote::proxy) cannot be used
    ///   for the host, or if the operating system returns no random bytes, and outside of the
    ///   runtime.
    // LIF-30: a legacy server rejects the probe.
    pub fn connect_http(self, remote: Remote) -> Operation<'static, Connection> {
        Operation::new(
            async move { self.settings.connect_http(R::current()?.dialer()?, remote).await },
        )
    }
}
