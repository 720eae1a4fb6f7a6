//! Serving on plain threads.

use std::io::{self, Read, Write};
use std::sync::Arc;

use mcp_adapter::Server;

use crate::drive;
use crate::runtime::Threads;

/// Extends [`Server`] with methods that serve one connection.
///
/// The calling thread and two more threads drive a connection; handlers may run on further threads.
pub trait Serve {
    /// Serves on stdin and stdout until the client disconnects, or until SIGINT or SIGTERM.
    ///
    /// Requests still in progress at that point can be answered within `Limits::drain_timeout`,
    /// which is 50 ms by default. After that, remaining output is sent for at most 2 s, as long as
    /// the client reads it.
    ///
    /// The server owns both streams: any other output to stdout corrupts the protocol. If stdin is
    /// still open when this method returns, a thread stays blocked on it until the process exits.
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource or prompt is invalid;
    /// - stdin or stdout is unavailable;
    /// - a thread cannot be started;
    /// - the connection ends because of a protocol fault.
    fn serve_stdio(&self) -> io::Result<()>;

    /// Serves on a pair of byte streams until the client disconnects.
    ///
    /// When the connection ends, `writer` is dropped, which must close the underlying stream. If
    /// `writer` is itself a `TcpStream` or `UnixStream`, the stream is also shut down, so `reader`
    /// may be a clone of it.
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource or prompt is invalid;
    /// - a thread cannot be started;
    /// - the connection ends because of a protocol fault.
    fn serve(
        &self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> io::Result<()>;
}

impl Serve for Server {
    fn serve_stdio(&self) -> io::Result<()> {
        let (stdin, stdout) = standard_streams()?;
        let (serving, driving) = self.open_on(Arc::new(Threads))?;
        serving.close_with_process()?;
        drive::start(driving.over_standard_streams(), stdin, stdout)?.run();
        serving.outcome()
    }

    fn serve(
        &self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> io::Result<()> {
        let (serving, driving) = self.open_on(Arc::new(Threads))?;
        drive::start(driving, reader, writer)?.run();
        serving.outcome()
    }
}

/// Returns stdin and stdout without the buffers and locks of the standard library.
#[cfg(unix)]
fn standard_streams() -> io::Result<(std::fs::File, std::fs::File)> {
    use std::os::fd::AsFd;
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    Ok((stdin.into(), stdout.into()))
}

#[cfg(not(unix))]
fn standard_streams() -> io::Result<(io::Stdin, io::Stdout)> {
    Ok((io::stdin(), io::stdout()))
}
