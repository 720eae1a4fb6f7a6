//! Streams of tokio, among them stdin, stdout and the pipes of child processes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::process::{ChildStdin, ChildStdout};
use std::task::{Context, Poll};

use mcp_adapter::Serving;
use mcp_adapter::io::{AsyncRead, AsyncWrite};
pub(crate) use mcp_adapter::standard::CopyThreads;
use tokio::io::ReadBuf;
use tokio::process;

pub(crate) type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// A stream of tokio with the IO traits of the `futures` crate.
pub(crate) struct Stream<S> {
    stream: Pin<Box<S>>,
    /// Returns the result of a read at the end of the stream; `None` if the stream has not ended.
    end: fn(&S) -> Option<io::Result<usize>>,
}

impl<S> Stream<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self::with_end(stream, |_| None)
    }

    /// Creates a stream that queries its end before a read waits.
    pub(crate) fn with_end(stream: S, end: fn(&S) -> Option<io::Result<usize>>) -> Self {
        Self { stream: Box::pin(stream), end }
    }
}

impl<S: tokio::io::AsyncRead> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        match self.stream.as_mut().poll_read(context, &mut buffer) {
            Poll::Pending => (self.end)(&self.stream).map_or(Poll::Pending, Poll::Ready),
            Poll::Ready(read) => Poll::Ready(read.map(|()| buffer.filled().len())),
        }
    }
}

impl<S: tokio::io::AsyncWrite> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write_vectored(context, slices)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(context)
    }
}

/// Returns the pipes of a child process as streams.
pub(crate) fn pipes(
    stdout: ChildStdout,
    stdin: ChildStdin,
) -> io::Result<(Stream<process::ChildStdout>, Stream<process::ChildStdin>)> {
    Ok((
        Stream::new(process::ChildStdout::from_std(stdout)?),
        Stream::new(process::ChildStdin::from_std(stdin)?),
    ))
}

/// Returns stdin and stdout, polled by the event loop. No thread of the runtime blocks on stdin,
/// which would delay the runtime's shutdown.
#[cfg(unix)]
pub(crate) fn standard(serving: &Serving) -> io::Result<(Reader, Writer, CopyThreads)> {
    use mcp_adapter::standard::{Pollable, streams};
    use tokio::net::UnixStream;
    use tokio::net::unix::pipe::{Receiver, Sender};

    fn socket(descriptor: std::os::fd::OwnedFd) -> io::Result<Stream<UnixStream>> {
        // Reading and writing work alike for every kind of socket.
        let socket = std::os::unix::net::UnixStream::from(descriptor);
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket).map(Stream::new)
    }
    let (input, output, copies) = streams(serving.take_streams()?)?;
    let reader: Reader = match input {
        Pollable::Pipe(pipe) => Box::new(Stream::new(Receiver::from_owned_fd(pipe)?)),
        Pollable::Socket(descriptor) => Box::new(socket(descriptor)?),
    };
    let writer: Writer = match output {
        Pollable::Pipe(pipe) => Box::new(Stream::new(Sender::from_owned_fd(pipe)?)),
        Pollable::Socket(descriptor) => Box::new(socket(descriptor)?),
    };
    Ok((reader, writer, copies))
}

/// Without pollable descriptors, threads that do not belong to the runtime read and write.
#[cfg(not(unix))]
pub(crate) fn standard(serving: &Serving) -> io::Result<(Reader, Writer, CopyThreads)> {
    let (stdin, stdout, copies) = mcp_adapter::standard::streams(serving.take_streams()?)?;
    Ok((Box::new(stdin), Box::new(stdout), copies))
}
