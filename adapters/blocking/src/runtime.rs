//! Plain threads in place of an async runtime.

use std::io::{self, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::proto::client::Client as ClientMachine;
use mcp_adapter::proto::server::Server as ServerMachine;
#[cfg(not(unix))]
use mcp_adapter::standard::{BlockingStdin, StdoutFile, StopStdin};
#[cfg(unix)]
use mcp_adapter::standard::{PollingFile, ProtocolStreams};
use mcp_adapter::{
    BoxFuture, DriveChild, DriverHandle, LinkRole, Runtime, Serving, Spawn, Streams,
    sleep_on_thread,
};

use crate::drive;

/// Plain threads, of which each connection has a few.
///
/// Serving a connection uses the waiting thread and two more; `serve_stdio` has another one for
/// signals. Awaiting such an operation blocks the thread, as [`wait`](crate::Operation::wait) does:
/// this is no runtime for futures. The connection of a client uses three threads, or five to a
/// child process. A watchdog thread runs while requests arrive, and threads of the pool run the
/// handlers that are not known to be quick. HTTP uses one thread for all sockets.
///
/// Streams are those of the standard library; they must block. When a connection ends, its writer
/// is dropped, which must close the underlying stream. Exception: if the writer is a `TcpStream` or
/// `UnixStream`, the reader may be a clone of it, because the write half is shut down before the
/// drop. On Windows, a named pipe that was opened as a [`File`](std::fs::File) cannot read and
/// write concurrently: use one pipe for each direction.
///
/// On Unix other than Linux and Android, `serve_stdio` handles no signal if one of the three is
/// ignored. On all systems, it handles none if the program itself handles one. If stdin is still
/// open when it ends, a thread stays blocked on it until the process exits; on Windows, the next
/// input ends this thread.
#[derive(Debug)]
pub struct Threads(());

impl Spawn for Threads {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        drive::spawn("mcp-task", move || block_on(future))
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn waits_for_ends(&self) -> bool {
        !drive::is_driver()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let start = |sleep: Box<dyn FnOnce() + Send>| drive::spawn("mcp-sleep", sleep);
        Box::pin(sleep_on_thread(duration, start))
    }
}

impl DriveChild for Threads {
    fn drive_child(
        &self,
        driving: DriverHandle<ClientMachine>,
        stdout: ChildStdout,
        stdin: ChildStdin,
    ) -> io::Result<()> {
        #[cfg(unix)]
        let (stdout, stop_reading) = mcp_adapter::ChildOutput::new(stdout);
        let timer = drive::start(driving, stdout, stdin)?;
        drive::spawn("mcp-client", move || {
            timer.run();
            // A process that the child has started may keep its stdout open. On Windows, its job
            // ends such a process.
            #[cfg(unix)]
            drop(stop_reading);
        })
    }
}

impl Runtime for Threads {
    fn current() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self(())))
    }

    async fn serve_stdio(serving: Serving, driving: DriverHandle<ServerMachine>) -> io::Result<()> {
        let (stdin, stdout, _reserved) = standard_streams(&serving)?;
        serving.close_with_process();
        drive::start(driving, stdin, stdout)?.run();
        serving.outcome()
    }
}

impl<I, O> Streams<I, O> for Threads
where
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
    async fn drive<L: LinkRole>(driving: DriverHandle<L>, reader: I, writer: O) -> io::Result<()> {
        drive::start(driving, reader, writer)?.run();
        Ok(())
    }

    fn start(&self, driving: DriverHandle<ClientMachine>, reader: I, writer: O) -> io::Result<()> {
        let timer = drive::start(driving, reader, writer)?;
        drive::spawn("mcp-client", move || timer.run())
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
