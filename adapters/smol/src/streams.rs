//! Streams of async-io, among them stdin, stdout and the pipes of child processes.

use std::io;
#[cfg(any(unix, feature = "http"))]
use std::pin::Pin;
use std::process::{ChildStdin, ChildStdout};
#[cfg(any(unix, feature = "http"))]
use std::task::{Context, Poll, ready};

#[cfg(any(unix, feature = "http"))]
use async_io::Async;
use futures_lite::{AsyncRead, AsyncWrite};
use mcp_adapter::Serving;
pub(crate) use mcp_adapter::standard::CopyThreads;

pub(crate) type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Returns the pipes of a child process as streams.
#[cfg(unix)]
pub(crate) fn pipes(stdout: ChildStdout, stdin: ChildStdin) -> io::Result<(Reader, Writer)> {
    Ok((Box::new(Stream::new(Async::new(stdout)?)), Box::new(Async::new(stdin)?)))
}

/// Without pollable descriptors, threads read and write.
#[cfg(not(unix))]
pub(crate) fn pipes(stdout: ChildStdout, stdin: ChildStdin) -> io::Result<(Reader, Writer)> {
    Ok((Box::new(blocking::Unblock::new(stdout)), Box::new(blocking::Unblock::new(stdin))))
}

/// Returns stdin and stdout, polled by the event loop. No thread blocks on stdin, which would delay
/// the end of the process.
#[cfg(unix)]
pub(crate) fn standard(serving: &Serving) -> io::Result<(Reader, Writer, CopyThreads)> {
    use std::fs::File;

    use mcp_adapter::standard::{Pollable, streams};

    fn file(pollable: Pollable) -> File {
        match pollable {
            Pollable::Pipe(descriptor) | Pollable::Socket(descriptor) => File::from(descriptor),
        }
    }
    let (input, output, copies) = streams(serving.take_streams()?)?;
    let input = Stream::new(Async::new(file(input))?);
    Ok((Box::new(input), Box::new(Async::new(file(output))?), copies))
}

/// Without pollable descriptors, threads that do not delay the end of the process read and write.
#[cfg(not(unix))]
pub(crate) fn standard(serving: &Serving) -> io::Result<(Reader, Writer, CopyThreads)> {
    let (stdin, stdout, copies) = mcp_adapter::standard::streams(serving.take_streams()?)?;
    Ok((Box::new(stdin), Box::new(stdout), copies))
}

/// A stream that remembers when it has no more data.
///
/// `Async` tries each read before it waits. The event loop reads again after each message, and
/// hyper polls a connection that has nothing to read several times per request: each of these reads
/// would be a system call.
#[cfg(any(unix, feature = "http"))]
#[derive(Debug)]
#[cfg_attr(feature = "http", expect(unnameable_types, reason = "the stream of a listener"))]
#[cfg_attr(not(feature = "http"), expect(unreachable_pub, reason = "there are no listeners"))]
pub struct Stream<S> {
    pub(crate) stream: Async<S>,
    /// The last read returned less than it could have, so the next one must wait.
    is_drained: bool,
}

#[cfg(any(unix, feature = "http"))]
impl<S> Stream<S> {
    pub(crate) const fn new(stream: Async<S>) -> Self {
        Self { stream, is_drained: false }
    }
}

#[cfg(any(unix, feature = "http"))]
impl<S: async_io::IoSafe + io::Read> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_drained {
            ready!(self.stream.poll_readable(context))?;
            self.is_drained = false;
        }
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        // Zero is the end of the stream, and data after it cannot be waited for.
        self.is_drained = 0 < read && read < buffer.len();
        Poll::Ready(Ok(read))
    }
}
