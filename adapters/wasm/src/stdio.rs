//! Servers over stdin and stdout, on one thread: under WASI preview 1, and natively.

use std::io::{self, Read, Write};
use std::rc::Rc;
use std::task::Waker;
use std::thread;

use bytes::Buf;
use mcp_proto::server;
use mcp_proto::stdio::Stdio;
use mcp_proto::{CloseReason, Endpoint};

use crate::link::{Link, ServerLink};
use crate::platform::Platform;
use crate::server::Server;
use crate::server::serving::Serving;
use crate::std_platform::StdPlatform;

/// The bytes that one read takes at most.
const READ_BYTES: usize = 16 * 1024;

impl Server {
    /// Serves one client over stdin and stdout until stdin ends.
    ///
    /// WASI preview 1 offers the standard library no way to wait for input and a timer together.
    /// Therefore, reading blocks the program, and it alternates:
    ///
    /// 1. It reads what stdin has, and blocks until there is something.
    /// 2. It runs the handlers of what it has read. While a handler [sleeps], the thread sleeps as
    ///    well, until no handler waits for a timer.
    ///
    /// This has the following effects:
    ///
    /// - Input that arrives while a handler sleeps is read afterwards. A cancellation therefore
    ///   does not reach a handler that sleeps, and a `ping` waits.
    /// - Timeouts of the connection, such as those of its requests to the client, take effect with
    ///   the next input.
    /// - A handler that waits for something other than a timer continues after the next input.
    ///
    /// Calls that arrive together, in one read, do run concurrently.
    ///
    /// [sleeps]: crate::AsyncCx::sleep
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if a registered entry is invalid, and with the
    /// error of stdin or stdout. Fails with [`io::ErrorKind::InvalidData`] if a protocol fault ends
    /// the connection.
    pub fn serve_stdio(&self) -> io::Result<()> {
        self.serve_stream(&mut io::stdin().lock(), &mut io::stdout().lock())
    }

    /// Serves one client over a reader and a writer; see [`serve_stdio`](Self::serve_stdio).
    ///
    /// ```
    /// use mcp_wasm::Server;
    ///
    /// let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    /// let mut output = Vec::new();
    /// Server::new("quiet", "1.0.0").serve_stream(&mut &ping[..], &mut output).unwrap();
    /// assert_eq!(output, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    /// ```
    ///
    /// # Errors
    /// Fails under the conditions listed for [`serve_stdio`](Self::serve_stdio).
    pub fn serve_stream(&self, input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
        let (config, entries) = self.parts()?;
        let platform = StdPlatform::new();
        let shared: Rc<dyn Platform> = Rc::new(platform.clone());
        let machine = Stdio::new(server::Server::new(shared.now(), config));
        let link = Rc::new(Link::new(&shared, machine));
        let serving = Serving::new(&entries, Rc::clone(&link) as Rc<dyn ServerLink>);
        let mut buffer = vec![0; READ_BYTES];
        let mut has_ended = false;
        loop {
            link.machine.borrow_mut().handle_timeout(shared.now());
            run_handlers(&platform, &link, &serving);
            flush(&link, output)?;
            if let Some(left) = platform.until_next_timer() {
                thread::sleep(left);
                platform.fire();
                continue;
            }
            let machine = link.machine.borrow();
            if machine.is_closed() {
                return outcome(machine.close_reason());
            }
            if has_ended {
                // Handlers that wait for something else have until the end of draining.
                let deadline = Endpoint::poll_timeout(&*machine);
                drop(machine);
                match deadline {
                    Some(deadline) => thread::sleep(deadline.duration_since(shared.now())),
                    None => return Ok(()),
                }
                continue;
            }
            drop(machine);
            let count = match input.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                count => count?,
            };
            let mut machine = link.machine.borrow_mut();
            match buffer.get(..count).filter(|read| !read.is_empty()) {
                Some(read) => Endpoint::handle_input(&mut *machine, shared.now(), read),
                None => {
                    has_ended = true;
                    Endpoint::handle_eof(&mut *machine, shared.now());
                }
            }
        }
    }
}

/// Starts and polls handlers until none can continue.
fn run_handlers(platform: &StdPlatform, link: &Link<Stdio<server::Server>>, serving: &Serving) {
    loop {
        let mut has_run = false;
        loop {
            let event = link.machine.borrow_mut().poll_event();
            let Some(event) = event else { break };
            serving.on_event(event);
            has_run = true;
        }
        has_run |= serving.poll(Waker::noop());
        has_run |= platform.poll_spawned(Waker::noop());
        if !has_run {
            return;
        }
    }
}

/// Writes all queued messages.
fn flush(link: &Link<Stdio<server::Server>>, output: &mut dyn Write) -> io::Result<()> {
    let mut machine = link.machine.borrow_mut();
    let outbox = machine.outbox();
    while outbox.has_remaining() {
        match output.write(outbox.chunk()) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => outbox.advance(written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    output.flush()
}

/// Returns the result of serving.
fn outcome(why: Option<&CloseReason>) -> io::Result<()> {
    match why {
        Some(CloseReason::Fault(fault)) => {
            Err(io::Error::new(io::ErrorKind::InvalidData, fault.to_string()))
        }
        _ => Ok(()),
    }
}
