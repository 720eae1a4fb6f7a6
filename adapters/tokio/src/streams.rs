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
    let (input, output, copies) = streams(serving.take_streams()?)?;
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

pub(crate) use mcp_adapter::standard::CopyThreads;

/// Without pollable descriptors, threads that do not belong to the runtime read and write.
#[cfg(not(unix))]
pub(crate) fn standard(serving: &Serving) -> io::Result<(Reader, Writer, CopyThreads)> {
    let (stdin, stdout, copies) = mcp_adapter::standard::streams(serving.take_streams()?)?;
    Ok((Box::new(Standard(stdin)), Box::new(Standard(stdout)), copies))
}

/// A standard stream with the IO traits of tokio.
#[cfg(not(unix))]
struct Standard<S>(S);

#[cfg(not(unix))]
mod standard_streams {
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use mcp_adapter::io as futures_io;
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    use super::Standard;

    impl<S: futures_io::AsyncRead + Unpin> AsyncRead for Standard<S> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let space = buffer.initialize_unfilled();
            let count = ready!(Pin::new(&mut self.0).poll_read(context, space))?;
            buffer.advance(count);
            Poll::Ready(Ok(()))
        }
    }

    impl<S: futures_io::AsyncWrite + Unpin> AsyncWrite for Standard<S> {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(context)
        }

        fn poll_shutdown(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_close(context)
        }
    }
}
