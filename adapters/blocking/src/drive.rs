//! A connection driven by threads: one reads, one writes, one keeps the time; knows nothing of what it carries.

use std::any::Any;
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread;

use futures_lite::future::block_on;
use mcp_adapter::{Driving, Link, ReadBuffer, Role};

thread_local! {
    static DRIVES: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread drives a connection, and so must not wait for the end of one.
pub(crate) fn is_driver() -> bool {
    DRIVES.get()
}

/// Starts a thread that drives.
pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let run = move || {
        DRIVES.set(true);
        run();
    };
    thread::Builder::new().name(name.into()).spawn(run).map(drop)
}

/// Starts the threads that read and write. They end by themselves: the writer when the session is closed and all is
/// sent, the reader at the next bytes or the end of them.
pub(crate) fn start<R: Role>(
    driving: &Driving<R>,
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
) -> io::Result<()> {
    let (link, reads_on) = (Arc::clone(driving.link()), driving.reads_on());
    spawn("mcp-read", move || read(&link, reader, reads_on))?;
    let link = Arc::clone(driving.link());
    spawn("mcp-write", move || write(&link, writer))
}

/// Drives a connection to its end, on this thread.
pub(crate) fn run<R: Role>(driving: Driving<R>) {
    driving.link().keep_time_during(driving.ended());
    drop(driving);
}

fn read<R: Role>(link: &Arc<Link<R>>, mut reader: impl Read, reads_on: bool) {
    let mut buffer = ReadBuffer::default();
    while block_on(link.wants_input()) {
        match reader.read(buffer.space()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => link.handle_input(buffer.filled(count)),
            // A stream that cannot be read has ended.
            Ok(_) | Err(_) => {
                link.handle_eof();
                break;
            }
        }
    }
    if !reads_on {
        return;
    }
    loop {
        match reader.read(buffer.space()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => {}
            Ok(_) | Err(_) => break,
        }
    }
}

fn write<R: Role>(link: &Arc<Link<R>>, mut writer: impl Write + 'static) {
    let mut chunk = Vec::new();
    while block_on(link.next_output(&mut chunk)) {
        if writer.write_all(&chunk).and_then(|()| writer.flush()).is_err() {
            // Whoever does not take bytes any more is gone. (EPIPE)
            block_on(link.lost_reader());
            break;
        }
    }
    hang_up(writer);
    link.written();
}

/// Tells the peer that nothing follows. A pipe ends when it is dropped; a socket, which the reader has as well, does
/// not.
fn hang_up(writer: impl Write + 'static) {
    let stream: &dyn Any = &writer;
    if let Some(socket) = stream.downcast_ref::<TcpStream>() {
        let _gone = socket.shutdown(Shutdown::Write);
    }
    #[cfg(unix)]
    if let Some(socket) = stream.downcast_ref::<std::os::unix::net::UnixStream>() {
        let _gone = socket.shutdown(Shutdown::Write);
    }
}
