//! Servers on plain threads.

use std::io::{self, Read, Write};
use std::sync::Arc;

use mcp_adapter::Server;

use crate::drive;
use crate::runtime::Threads;

/// How a [`Server`] serves on plain threads: two for each connection, besides the one that calls.
pub trait Serve {
    /// Serves on stdin and stdout until the client hangs up, or SIGINT or SIGTERM comes.
    ///
    /// Requests that are open then may still be answered for `Limits::drain_timeout`, and what is
    /// left to send is sent for as long as the client goes on reading, 2 s at most. Both
    /// streams are this server's from now on: what else is printed to stdout corrupts the
    /// protocol. A thread stays blocked on stdin if it is still open at the end, so let the
    /// process end. On Linux, pipes that 64 KiB have gone through at once are made to hold 512
    /// KiB, where the system allows it.
    ///
    /// # Errors
    /// When something was registered that cannot be offered, the streams cannot be had, a thread
    /// cannot be started, or the client broke a rule that the connection cannot survive.
    fn serve_stdio(&self) -> io::Result<()>;

    /// Serves on a pair of byte streams until the client hangs up.
    ///
    /// The writer is dropped at the end, which must tell the client. A bare `TcpStream` or
    /// `UnixStream` is shut down besides, so the reader may be a clone of it.
    ///
    /// # Errors
    /// As [`serve_stdio`](Self::serve_stdio).
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

/// Stdin and stdout without the buffers and locks around them.
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
