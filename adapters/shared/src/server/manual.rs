//! Servers inside a program with its own loop, such as a game or an editor.

use std::io;
use std::sync::Arc;

use mcp_proto::server::Server as Machine;
use mcp_proto::{Instant, Principal};

use crate::exec::clock::Clock;
use crate::exec::manual_tasks::ManualTasks;
use crate::exec::workers::Spawn;
use crate::server::Server;
use crate::server::connection::serving::Serving;
use crate::transport::manual_driver::ManualDriver;

/// A connection of a [`Server`] that the program's own loop drives, without threads or a runtime.
///
/// [`Server::manual`] creates it. The loop passes in bytes and the time, runs the handlers, and
/// sends the output. No method waits, and no method reads a clock: the loop passes the time in, so
/// that equal inputs at equal times give equal output.
///
/// Handlers run inside [`run_handler`](Self::run_handler), on the thread of the loop. The methods
/// of [`Cx`](crate::Cx) work as elsewhere, with two exceptions: [`Cx::sleep`](crate::Cx::sleep)
/// returns immediately, and [`Cx::log`](crate::Cx::log) fails immediately if the output queue is
/// full. In handlers and callbacks, waiting for
/// [`ClientHandle::request`](crate::ClientHandle::request) fails immediately: await it in an
/// asynchronous handler instead.
///
/// Asynchronous handlers run as well: each call of `run_handler` polls one that is ready, and
/// [`Cx::sleep`](crate::Cx::sleep) ends by the time of the loop. A future that uses a
/// runtime, such as a timer of tokio, needs that runtime: run it on another thread, and have the
/// loop enter it.
///
/// Everything that a client can make the connection hold is bounded by
/// [`Limits`](mcp_proto::Limits). Dropping the connection ends it and drops its handlers.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::Server;
/// use mcp_tokio::proto::Instant;
///
/// # fn main() -> std::io::Result<()> {
/// # let receive = || {
/// #     let start = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":
/// #         "2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
/// #     let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
/// #     let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"jump"}}"#;
/// #     format!("{}\n{ready}\n{call}\n", start.replace('\n', ""))
/// # };
/// # let mut sent = Vec::new();
/// # let mut send = |bytes: &[u8]| {
/// #     sent.extend_from_slice(bytes);
/// #     bytes.len()
/// # };
/// let game = Server::new("game", "1.0.0").tool("jump", "Jumps", || "jumped");
/// let mut connection = game.manual(Instant::ZERO, None)?;
/// # let frames = 1;
/// for frame in 0..frames {
///     let now = Instant::ZERO + frame * Duration::from_millis(16);
///     if connection.wants_input() {
///         connection.handle_input(now, receive().as_bytes());
///     }
///     connection.handle_timeout(now);
///     // At most four handlers in a frame, so that drawing is never late.
///     for _ in 0..4 {
///         connection.run_handler(now);
///     }
///     let count = send(connection.output());
///     connection.advance(count);
/// }
/// # assert!(String::from_utf8_lossy(&sent).contains("jumped"));
/// # Ok(())
/// # }
/// ```
#[must_use = "a connection makes progress only when its methods are called"]
pub struct ManualServer {
    // Dropped first: the end of the connection is an event for its handlers.
    driver: ManualDriver<Machine>,
    serving: Serving,
}

impl<R> Server<R> {
    /// Creates a connection over a pair of byte streams that the program drives by itself.
    ///
    /// `now` is the time at which the connection begins. `principal` is the sender of all its
    /// requests, which [`Cx::principal`](crate::Cx::principal) returns; `None` if the client is
    /// not authenticated.
    ///
    /// # Errors
    /// Fails if a registered tool, resource, resource template or prompt is invalid.
    pub fn manual(&self, now: Instant, principal: Option<Principal>) -> io::Result<ManualServer> {
        let tasks = Arc::new(ManualTasks::default());
        let runtime: Arc<dyn Spawn> = Arc::clone(&tasks) as _;
        let (serving, driving) = self.settings.open_at(Clock::manual(now), runtime, principal)?;
        Ok(ManualServer { driver: ManualDriver::new(driving, tasks), serving })
    }
}

impl ManualServer {
    /// Handles received bytes, which may be split at any position.
    ///
    /// Requests that the server answers by itself, such as lists, are answered immediately. The
    /// others wait for [`run_handler`](Self::run_handler). Takes time linear in the length of the
    /// input.
    pub fn handle_input(&mut self, now: Instant, input: &[u8]) {
        self.driver.handle_input(now, input);
    }

    /// Handles the end of the input: the client has closed its side.
    ///
    /// The connection closes once the open requests are answered, at the latest after
    /// [`Limits::eof_drain_timeout`](mcp_proto::Limits::eof_drain_timeout).
    pub fn handle_eof(&mut self, now: Instant) {
        self.driver.handle_eof(now);
    }

    /// Advances the time to `now` and handles expired timeouts, those of handlers included.
    ///
    /// Early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.driver.handle_timeout(now);
    }

    /// Advances the time to `now`, without handling the timeouts that have expired then.
    pub(crate) fn advance_clock(&self, now: Instant) {
        self.driver.advance_clock(now);
    }

    /// Runs the next handler or callback that is ready; returns false if there is none.
    ///
    /// Runs a function to its end, and a future until it waits. A handler that panics fails its
    /// request.
    pub fn run_handler(&mut self, now: Instant) -> bool {
        self.driver.run_next(now)
    }

    /// Returns whether a handler or callback is ready to run.
    #[must_use]
    pub fn has_ready_handler(&self) -> bool {
        self.driver.has_ready()
    }

    /// Returns the next bytes to send; empty if there are none for now.
    ///
    /// Further calls return these bytes again until [`advance`](Self::advance) removes them.
    pub fn output(&mut self) -> &[u8] {
        self.driver.output()
    }

    /// Removes the first `count` bytes of the [`output`](Self::output), after they were sent.
    pub fn advance(&mut self, count: usize) {
        self.driver.advance(count);
    }

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout) next; `None` if
    /// no timer is running.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.driver.poll_timeout()
    }

    /// Returns whether to read more input. While this is false, do not read, so that the client is
    /// slowed down.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        self.driver.wants_input()
    }

    /// Closes the connection from this side. Open requests are cancelled.
    pub fn close(&mut self, now: Instant) {
        self.driver.close(now);
    }

    /// Returns whether the connection is closed. The [`output`](Self::output) may still hold bytes
    /// to send.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.driver.is_closed()
    }

    /// Ends the connection and returns its outcome.
    ///
    /// # Errors
    /// Fails if the connection was closed because of a protocol fault.
    pub fn outcome(self) -> io::Result<()> {
        let Self { driver, serving } = self;
        drop(driver);
        serving.outcome()
    }
}

opaque_debug!(ManualServer, it => is_closed: it.is_closed());
