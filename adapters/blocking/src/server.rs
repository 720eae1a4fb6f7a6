//! Serving on plain threads.

use std::io::{self, Read, Write};
use std::sync::Arc;

#[cfg(not(unix))]
use mcp_adapter::standard::{BlockingStdin, StdoutFile, StopStdin};
#[cfg(unix)]
use mcp_adapter::standard::{PollingFile, ProtocolStreams};
use mcp_adapter::{Server, Serving};

use crate::drive;
use crate::runtime::Threads;

/// Extends [`Server`] with methods that serve one connection.
///
/// Each method uses the calling thread and two more threads; `serve_stdio` has another one for
/// signals. A watchdog thread runs while requests arrive, and threads of the pool run the handlers
/// that are not known to be quick.
///
/// The trait is sealed: [`Server`] is its only implementation.
pub trait Serve: mcp_adapter::ExtensionSeal {
    /// Serves on stdin and stdout until the client disconnects or a closing signal arrives.
    ///
    /// SIGINT, SIGTERM and SIGHUP close the server. On Linux and Android, a signal that is ignored
    /// when serving starts stays ignored; `nohup`, for example, ignores SIGHUP. On other systems,
    /// this method handles none of the three signals if one of them is ignored. On all systems, it
    /// handles none of them if the program itself handles one. After the last server has closed, a
    /// further signal ends the process with exit code 130.
    ///
    /// The end of stdin, as in `server < requests | less`, leaves time for the remaining work:
    /// - Requests in progress can be answered within `Limits::eof_drain_timeout` (default: 4 s). On
    ///   Unix, this ends once stdout has no reader.
    /// - The client may pause for `Limits::stall_timeout` (default: 60 s) while it reads the
    ///   remaining output.
    ///
    /// A signal leaves less time:
    /// - Requests in progress can be answered within `Limits::drain_timeout` (default: 50 ms).
    /// - The remaining output is sent for at most 2 s, and only as long as the client reads it.
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
    /// If stdin is still open when this method returns, a thread stays blocked on it until the
    /// process exits. On Windows, the next input ends this thread, and is left to the next reader
    /// of [`std::io::stdin`].
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
    /// - stdin or stdout is unavailable, or reading or writing fails for a reason other than the
    ///   client's disconnection;
    /// - a thread cannot be started;
    /// - the connection ends because of a protocol fault.
    fn serve_stdio(&self) -> io::Result<()>;

    /// Serves on a pair of byte streams until the client disconnects.
    ///
    /// On Windows, a named pipe that was opened as a [`File`](std::fs::File) cannot read and write
    /// at once: use one pipe for each direction.
    ///
    /// When the connection ends, `writer` is dropped. This drop must close the underlying stream,
    /// so that the client detects the end. Exception: if `writer` is a `TcpStream` or `UnixStream`,
    /// `reader` may be a clone of it, because the write half is shut down before the drop.
    ///
    /// # Errors
    /// Fails if
    /// - a registered tool, resource, resource template or prompt is invalid;
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
        let (serving, driving) = self.open_on(Arc::new(Threads))?;
        let driving = driving.over_standard_streams();
        let (stdin, stdout, _reserved) = standard_streams(&serving)?;
        serving.close_with_process();
        drive::start(driving, stdin, stdout)?.run();
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
fn standard_streams(serving: &Serving) -> io::Result<(PollingFile, PollingFile, ProtocolStreams)> {
    let reserved = serving.take_streams()?;
    Ok((reserved.stdin()?, reserved.stdout()?, reserved))
}

#[cfg(not(unix))]
fn standard_streams(serving: &Serving) -> io::Result<(BlockingStdin, StdoutFile, StopStdin)> {
    let reserved = serving.take_streams()?;
    let stdout = reserved.stdout()?;
    let (stdin, stop) = BlockingStdin::new(reserved)?;
    Ok((stdin, stdout, stop))
}
