//! Serving on tokio.

use std::future::Future;
use std::io;

use mcp_adapter::Server;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::drive::drive;
use crate::runtime::Tokio;
use crate::signals::close_on_signals;
use crate::streams::standard;

/// Extends [`Server`] with methods that use tokio to serve clients.
///
/// The methods work in both runtime flavors; the runtime must have IO and time enabled. Dropping
/// the future that a method returns ends the connection immediately.
///
/// The trait is sealed: [`Server`] is its only implementation.
pub trait Serve: mcp_adapter::ExtensionSeal {
    /// Serves on stdin and stdout until the client disconnects or a closing signal arrives.
    ///
    /// SIGINT, SIGTERM and, on Linux and Android, SIGHUP close the server. There, a signal that is
    /// ignored when serving starts stays ignored; `nohup`, for example, ignores SIGHUP. After the
    /// last server has closed, a further signal ends the process with exit code 130. Once the
    /// runtime has ended, signals have no effect any more, as with all signals that tokio receives.
    ///
    /// At the end of stdin, as in `server < requests | less`,
    /// - requests in progress can be answered within `Limits::eof_drain_timeout` (4 s by default);
    ///   on Unix, this ends once stdout has no reader;
    /// - the client may pause for `Limits::stall_timeout` (60 s) while it reads the remaining
    ///   output.
    ///
    /// After a signal, shorter times apply:
    /// - requests in progress can be answered within `Limits::drain_timeout` (50 ms);
    /// - remaining output is sent for at most 2 s, as long as the client reads it.
    ///
    /// On Windows, Ctrl-C, Ctrl-Break and the end of the console, the session or the system close
    /// the server. Of several handlers of such an event, Windows calls the latest one first, and
    /// this one ends the event.
    ///
    /// The server owns both streams. What handlers print to stdout meanwhile goes to stderr (see
    /// [`Server::without_stdout_redirect`]), and child processes inherit an empty stdin (see
    /// [`Server::without_stdin_redirect`]). On Unix, the server closes when its parent exits (see
    /// [`Server::outlive_parent`]). On Windows, only the end of stdin reports the parent's exit.
    ///
    /// No runtime thread blocks on stdin, so an open stdin does not delay the runtime's shutdown.
    /// On Windows, threads of this crate read stdin and write to stdout. Input that arrives after
    /// this method has returned is left to the next reader of [`std::io::stdin`].
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
    /// - stdin or stdout is unavailable, or reading or writing fails for a reason other than the
    ///   client's disconnection;
    /// - the method is used outside of a tokio runtime;
    /// - the connection ends because of a protocol fault.
    fn serve_stdio(&self) -> impl Future<Output = io::Result<()>> + Send;

    /// Serves one client over a pair of byte streams until the client disconnects.
    ///
    /// The streams can be, for example, the halves of a socket. On Windows, they can be those of a
    /// named pipe, by [`tokio::io::split`]; the example `tokio_named_pipe` shows a server and a
    /// client.
    ///
    /// When the connection ends, the server shuts down and drops `writer`. These two steps must
    /// close the underlying stream.
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
    /// - the method is used outside of a tokio runtime;
    /// - reading or writing fails for a reason other than the client's disconnection;
    /// - the connection ends because of a protocol fault.
    fn serve(
        &self,
        reader: impl AsyncRead + Send,
        writer: impl AsyncWrite + Send,
    ) -> impl Future<Output = io::Result<()>> + Send;
}

impl Serve for Server {
    async fn serve_stdio(&self) -> io::Result<()> {
        let (serving, driving) = self.open_on(Tokio::current()?)?;
        let driving = driving.over_standard_streams();
        let (reader, writer, copies) = standard(&serving)?;
        close_on_signals(&serving)?;
        drive(driving, reader, writer).await;
        copies.flush(serving.gives_up(tokio::time::sleep)).await;
        serving.outcome().and_then(|()| copies.outcome())
    }

    async fn serve(
        &self,
        reader: impl AsyncRead + Send,
        writer: impl AsyncWrite + Send,
    ) -> io::Result<()> {
        let (serving, driving) = self.open_on(Tokio::current()?)?;
        drive(driving, reader, writer).await;
        serving.outcome()
    }
}
