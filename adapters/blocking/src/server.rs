//! Serving on plain threads.

use std::io::{self, Read, Write};
use std::sync::Arc;

use mcp_adapter::Server;
#[cfg(unix)]
use mcp_adapter::standard::PollingFile;

use crate::drive;
use crate::runtime::Threads;

/// Extends [`Server`] with methods that serve one connection.
///
/// Each method uses the calling thread and two more threads.
///
/// The trait is sealed: [`Server`] is its only implementation.
pub trait Serve: mcp_adapter::ExtensionSeal {
    /// Serves on stdin and stdout until the client disconnects, or until SIGINT, SIGTERM or SIGHUP.
    ///
    /// If a signal is ignored when serving starts (`nohup`, for example, ignores SIGHUP), it stays
    /// ignored on Linux and Android; on other systems, this method then handles none of the three
    /// signals. If the program itself handles one of the three, this method handles none of them.
    /// After the last server has closed, a further signal ends the process with exit code 130.
    ///
    /// At the end of stdin, as in `server < requests | less`, requests in progress can be answered
    /// within `Limits::eof_drain_timeout` (10 s by default), and the client may pause for
    /// `Limits::stall_timeout` (60 s) while it reads the remaining output. After a signal, shorter
    /// times apply: requests in progress can be answered within `Limits::drain_timeout` (50 ms),
    /// and remaining output is sent for at most 2 s, as long as the client reads it.
    ///
    /// The server owns both streams: any other output to stdout corrupts the protocol. If stdin is
    /// still open when this method returns, a thread stays blocked on it until the process exits.
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource or prompt is invalid;
    /// - stdin or stdout is unavailable, or reading or writing fails for a reason other than the
    ///   client's disconnection;
    /// - a thread cannot be started;
    /// - the connection ends because of a protocol fault.
    fn serve_stdio(&self) -> io::Result<()>;

    /// Serves on a pair of byte streams until the client disconnects.
    ///
    /// When the connection ends, `writer` is dropped. The drop must close the underlying stream. If
    /// `writer` is itself a `TcpStream` or `UnixStream`, the stream is also shut down, so `reader`
    /// may be a clone of it.
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource or prompt is invalid;
    /// - a thread cannot be started;
    /// - reading or writing fails for a reason other than the client's disconnection. This includes
    ///   [`WouldBlock`](io::ErrorKind::WouldBlock): the streams must block;
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
fn standard_streams() -> io::Result<(PollingFile, PollingFile)> {
    Ok((PollingFile::stdin()?, PollingFile::stdout()?))
}

#[cfg(not(unix))]
fn standard_streams() -> io::Result<(io::Stdin, io::Stdout)> {
    Ok((io::stdin(), io::stdout()))
}
