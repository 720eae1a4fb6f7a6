//! Servers over stdin and stdout, on one thread: under WASI preview 1, and natively.

use std::io::{self, Read, Write};
use std::thread;

use mcp_adapter::proto::server::Server as ServerMachine;
use mcp_adapter::{DriverHandle, Link, ReadBuffer};

use crate::host::Host;

/// Serves a connection until its input has ended and its requests are answered.
///
/// WASI preview 1 offers the standard library no way to wait for input and a timer together.
/// Therefore, reading blocks the program, and it alternates:
///
/// 1. Run the handlers, and write what they send. While a handler sleeps, the thread sleeps as
///    well, until no handler waits for a timer.
/// 2. Read what stdin has; block until there is something.
pub(crate) fn serve(
    host: &Host,
    driving: &DriverHandle<ServerMachine>,
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> io::Result<()> {
    let link = driving.link();
    let (mut buffer, mut chunk) = (ReadBuffer::default(), Vec::new());
    let mut has_ended = false;
    loop {
        link.fire_timers();
        host.fire_timers();
        host.run_tasks();
        write(link, &mut chunk, output)?;
        let sleeps = [link.sleeps_for(), host.until_next_timer()];
        if let Some(left) = sleeps.into_iter().flatten().min() {
            thread::sleep(left);
            continue;
        }
        if link.has_closed() {
            return Ok(());
        }
        if has_ended {
            // Handlers that wait for something else have until the end of draining.
            let Some(left) = link.times_out_in() else { return Ok(()) };
            thread::sleep(left);
            continue;
        }
        match input.read(buffer.space()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => link.take_input(buffer.filled(count)),
            Ok(_) => {
                has_ended = true;
                link.handle_eof();
            }
            Err(error) => return Err(error),
        }
    }
}

/// Writes all output.
fn write(
    link: &std::sync::Arc<Link<ServerMachine>>,
    chunk: &mut Vec<u8>,
    output: &mut dyn Write,
) -> io::Result<()> {
    while link.take_output(chunk) {
        output.write_all(chunk)?;
        link.wrote(chunk.len());
    }
    output.flush()
}
