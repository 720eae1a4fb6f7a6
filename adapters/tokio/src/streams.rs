//! Stdin, stdout and the pipes of child processes as tokio streams.

use std::io;
use std::process::{ChildStdin, ChildStdout};

use mcp_adapter::Serving;
use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Returns the pipes of a child process as streams.
pub(crate) fn pipes(
    stdout: ChildStdout,
    stdin: ChildStdin,
) -> io::Result<(tokio::process::ChildStdout, tokio::process::ChildStdin)> {
    Ok((
        tokio::process::ChildStdout::from_std(stdout)?,
        tokio::process::ChildStdin::from_std(stdin)?,
    ))
}

/// Returns stdin and stdout, polled by the event loop. No thread of the runtime blocks on stdin,
/// which would delay the runtime's shutdown.
#[cfg(unix)]
pub(crate) fn standard(serving: &Serving) -> io::Result<(Reader, Writer, CopyThreads)> {
    use mcp_adapter::standard::{Pollable, streams};
    use tokio::net::UnixStream;
    use tokio::net::unix::pipe::{Receiver, Sender};

    fn socket(descriptor: std::os::fd::OwnedFd) -> io::Result<UnixStream> {
        // Reading and writing work alike for every kind of socket.
        let socket = std::os::unix::net::UnixStream::from(descriptor);
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket)
    }
    let (input, output, copies) = streams(serving.take_stdout()?)?;
    let reader: Reader = match input {
        Pollable::Pipe(pipe) => Box::new(Receiver::from_owned_fd(pipe)?),
        Pollable::Socket(descriptor) => Box::new(socket(descriptor)?),
    };
    let writer: Writer = match output {
        Pollable::Pipe(pipe) => Box::new(Sender::from_owned_fd(pipe)?),
        Pollable::Socket(descriptor) => Box::new(socket(descriptor)?),
    };
    Ok((reader, writer, copies))
}

#[cfg(unix)]
pub(crate) use mcp_adapter::standard::CopyThreads;

/// Without pollable descriptors, threads of the runtime read and write.
#[cfg(not(unix))]
pub(crate) fn standard(_: &Serving) -> io::Result<(Reader, Writer, CopyThreads)> {
    Ok((Box::new(tokio::io::stdin()), Box::new(tokio::io::stdout()), CopyThreads))
}

#[cfg(not(unix))]
pub(crate) struct CopyThreads;

#[cfg(not(unix))]
impl CopyThreads {
    pub(crate) async fn flush(&self, _: impl Future) {}

    pub(crate) fn outcome(&self) -> io::Result<()> {
        Ok(())
    }
}
