//! Stdin, stdout and the pipes of children as async-io reads and writes them; knows nothing of what they carry.

use std::io;
use std::process::{ChildStdin, ChildStdout};

use smol::io::{AsyncRead, AsyncWrite};

pub(crate) type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// The pipes of a child.
#[cfg(unix)]
pub(crate) fn pipes(stdout: ChildStdout, stdin: ChildStdin) -> io::Result<(Reader, Writer)> {
    Ok((Box::new(async_io::Async::new(stdout)?), Box::new(async_io::Async::new(stdin)?)))
}

/// Where descriptors cannot be waited for, threads read and write.
#[cfg(not(unix))]
pub(crate) fn pipes(stdout: ChildStdout, stdin: ChildStdin) -> io::Result<(Reader, Writer)> {
    Ok((Box::new(smol::Unblock::new(stdout)), Box::new(smol::Unblock::new(stdin))))
}

/// Stdin and stdout, waited for by the event loop: no thread is blocked on stdin, which would keep the process from
/// ending.
#[cfg(unix)]
pub(crate) fn standard() -> io::Result<(Reader, Writer, Arrived)> {
    use std::fs::File;

    use mcp_adapter::standard::{Pollable, input, output};

    fn waited_for(pollable: Pollable) -> io::Result<async_io::Async<File>> {
        match pollable {
            Pollable::Pipe(descriptor) | Pollable::Socket(descriptor) => {
                async_io::Async::new(File::from(descriptor))
            }
        }
    }
    let (writer, arrived) = output()?;
    Ok((Box::new(waited_for(input()?)?), Box::new(waited_for(writer)?), arrived))
}

#[cfg(unix)]
pub(crate) use mcp_adapter::standard::{ARRIVAL, Arrived};

#[cfg(not(unix))]
pub(crate) fn standard() -> io::Result<(Reader, Writer, Arrived)> {
    Ok((Box::new(smol::Unblock::new(io::stdin())), Box::new(smol::Unblock::new(io::stdout())), Arrived))
}

#[cfg(not(unix))]
pub(crate) const ARRIVAL: std::time::Duration = std::time::Duration::ZERO;

#[cfg(not(unix))]
pub(crate) struct Arrived;

#[cfg(not(unix))]
impl Arrived {
    pub(crate) async fn wait(&self, _: impl Future) {}
}
