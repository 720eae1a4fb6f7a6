//! Stdin, stdout and the pipes of child processes as async-io streams.

use std::io;
#[cfg(unix)]
use std::pin::Pin;
use std::process::{ChildStdin, ChildStdout};
#[cfg(unix)]
use std::task::{Context, Poll, ready};

use futures_lite::{AsyncRead, AsyncWrite};
use mcp_adapter::Serving;

pub(crate) type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Returns the pipes of a child process as streams.
#[cfg(unix)]
pub(crate) fn pipes(stdout: ChildStdout, stdin: ChildStdin) -> io::Result<(Reader, Writer)> {
    Ok((Box::new(Waiting::new(stdout)?), Box::new(async_io::Async::new(stdin)?)))
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
    Ok((
        Box::new(Waiting::new(file(input))?),
        Box::new(async_io::Async::new(file(output))?),
        copies,
    ))
}

/// A reader that waits for readiness without another read if the last read emptied the stream.
#[cfg(unix)]
struct Waiting<T> {
    stream: async_io::Async<T>,
    is_empty: bool,
}

#[cfg(unix)]
impl<T: std::os::fd::AsFd> Waiting<T> {
    fn new(stream: T) -> io::Result<Self> {
        Ok(Self { stream: async_io::Async::new(stream)?, is_empty: false })
    }
}

#[cfg(unix)]
impl<T: io::Read + async_io::IoSafe + Unpin> AsyncRead for Waiting<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_empty {
            ready!(self.stream.poll_readable(context))?;
        }
        let count = ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.is_empty = count < buffer.len();
        Poll::Ready(Ok(count))
    }
}

pub(crate) use mcp_adapter::standard::CopyThreads;

/// Without pollable descriptors, threads that do not delay the end of the process read and write.
#[cfg(not(unix))]
pub(crate) fn standard(serving: &Serving) -> io::Result<(Reader, Writer, CopyThreads)> {
    let (stdin, stdout, copies) = mcp_adapter::standard::streams(serving.take_streams()?)?;
    Ok((Box::new(stdin), Box::new(stdout), copies))
}
