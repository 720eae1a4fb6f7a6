//! Connections on a byte stream, one message per line, and the shutdown of child processes.
//!
//! The program owns the pipes and the process; this module performs no IO. The framing also works
//! for Unix sockets and TCP.

// FRM-01: one message per line. FRM-18: over any byte stream.

use core::ops::{Deref, DerefMut};

use bytes::Bytes;

use crate::command::CommandOutcome;
use crate::connection::Connection;
use crate::endpoint::{Endpoint, RoleEndpoint};
use crate::error::Misuse;
use crate::limits::Limits;
use crate::message_endpoint::MessageEndpoint;
use crate::rpc::{BrokenLine, IncomingMessage};
use crate::time::Instant;
use crate::vocabulary::StreamId;
use crate::wire::{Line, LineReader, Outbox};

/// A [`Client`](crate::client::Client) or a [`Server`](crate::server::Server) on a byte stream.
///
/// The application calls the methods of the client or server, to which this type dereferences. The
/// event loop passes the bytes with the methods of [`Endpoint`].
///
/// ```
/// use mcp_proto::server::{Config, Server};
/// use mcp_proto::stdio::Stdio;
/// use mcp_proto::{Endpoint, Instant};
///
/// let mut server = Stdio::new(Server::new(Instant::ZERO, Config::new("quiet", "1.0.0")));
/// for byte in b"\r\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\r\n" {
///     server.handle_input(Instant::ZERO, &[*byte]);
/// }
/// let pong = server.outbox().poll_message().unwrap();
/// assert_eq!(&pong[..], br#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
/// ```
#[derive(Debug)]
pub struct Stdio<S> {
    session: S,
    lines: LineReader,
    /// The latest time passed with any input.
    ///
    /// Incomplete lines do not reach the session, so their time is kept here.
    // T-61: time does not run backwards.
    now: Instant,
}

impl<S: MessageEndpoint> Stdio<S> {
    /// Wraps a client or server that communicates over one byte stream.
    pub fn new(mut session: S) -> Self {
        let connection = session.connection_mut();
        connection.use_lines();
        let Limits { message_bytes_max, idle_bytes_max, .. } = *connection.limits();
        let lines = LineReader::new(message_bytes_max, idle_bytes_max);
        Self { session, lines, now: Instant::ZERO }
    }

    /// Removes and returns the oldest event. O(1).
    #[must_use = "events that are not polled stop the input"]
    pub fn poll_event(&mut self) -> Option<S::Event> {
        self.session.poll_event()
    }
}

impl<S: MessageEndpoint> Endpoint for Stdio<S> {
    fn handle_input(&mut self, now: Instant, input: &[u8]) {
        self.now = self.now.max(now);
        let mut rest = input;
        while let Some(line) = self.lines.next(&mut rest) {
            handle_line(self.session.connection_mut(), self.now, line);
        }
    }

    fn handle_bytes(&mut self, now: Instant, input: Bytes) {
        let Some(line) = self.lines.whole_line(&input) else {
            return self.handle_input(now, &input);
        };
        self.now = self.now.max(now);
        handle_line(self.session.connection_mut(), self.now, Line::Owned(line));
    }

    /// Handles the end of the input.
    ///
    /// An unterminated last line is accepted if it is valid JSON; otherwise it is reported as
    /// truncated.
    // FRM-12, T-22: otherwise the line was truncated.
    fn handle_eof(&mut self, now: Instant) {
        let connection = self.session.connection_mut();
        while let Some(line) = self.lines.finish() {
            match line {
                Line::Owned(line) if !is_complete_message(&line) => {
                    connection.handle_broken_line(now, BrokenLine::Truncated(&line));
                }
                line => handle_line(connection, now, line),
            }
        }
        // FRM-21: a server may start the shutdown.
        connection.handle_eof(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.session.connection_mut().handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.session.connection().poll_timeout()
    }

    // FRM-03, FRM-04: a driver writes nothing else to the stream.
    fn outbox(&mut self) -> &mut Outbox {
        self.session.connection_mut().lines()
    }

    fn wants_input(&self) -> bool {
        self.session.connection().wants_input()
    }

    fn is_closed(&self) -> bool {
        self.session.connection().is_closed()
    }
}

impl<S: MessageEndpoint> RoleEndpoint for Stdio<S> {
    type Event = S::Event;
    type Role = S;

    fn role(&self) -> &S {
        &self.session
    }

    fn apply(&mut self, now: Instant, command: S::Command<'_>) -> Result<CommandOutcome, Misuse> {
        self.session.apply(now, command)
    }

    fn poll_event(&mut self) -> Option<S::Event> {
        self.session.poll_event()
    }
}

impl<S> Deref for Stdio<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.session
    }
}

impl<S> DerefMut for Stdio<S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.session
    }
}

fn handle_line(connection: &mut Connection, now: Instant, line: Line<'_>) {
    let message = match line {
        Line::Borrowed(line) => IncomingMessage::Borrowed(line),
        Line::Owned(line) => IncomingMessage::Owned(line),
        Line::TooLong => return connection.handle_broken_line(now, BrokenLine::TooLong),
        Line::Discarded(ends) => {
            let (first, last) = (&ends.first, &ends.last);
            let line = BrokenLine::Discarded { first, last };
            return connection.handle_broken_line(now, line);
        }
    };
    connection.handle_message(now, StreamId::ONLY, &message);
}

fn is_complete_message(line: &[u8]) -> bool {
    core::str::from_utf8(line).is_ok_and(|line| crate::json::Raw::from_text(line).is_ok())
}

/// A step in the shutdown of a child process.
// FRM-19: close stdin, then terminate, then kill.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ShutdownStep {
    /// Close the child's stdin once the outbox has been sent or sending has failed.
    CloseInput,
    /// Ask the child to terminate: send SIGTERM to its process group.
    Terminate,
    /// Kill the child: send SIGKILL to its process group. This is the last step.
    Kill,
}

/// The timed shutdown of a child process: close its stdin, terminate it, kill it.
///
/// Create a `Shutdown` when the connection has closed, for any reason. Until the child exits,
/// perform each step that [`poll_step`](Self::poll_step) returns. The delays before the second and
/// the third step are [`Limits::exit_timeout`] and [`Limits::terminate_timeout`].
///
/// ```
/// use mcp_proto::stdio::{ShutdownStep, Shutdown};
/// use mcp_proto::{Instant, Limits};
///
/// let limits = Limits::default();
/// let mut shutdown = Shutdown::new(Instant::ZERO, &limits);
/// assert_eq!(shutdown.poll_step(), Some(ShutdownStep::CloseInput));
/// assert_eq!(shutdown.poll_step(), None);
/// let later = shutdown.poll_timeout().unwrap();
/// assert_eq!(later, Instant::ZERO + limits.exit_timeout);
/// shutdown.handle_timeout(later);
/// assert_eq!(shutdown.poll_step(), Some(ShutdownStep::Terminate));
/// ```
#[derive(Clone, Debug)]
pub struct Shutdown {
    /// The step that is due now.
    due: Option<ShutdownStep>,
    /// The following step and its time.
    next: Option<(ShutdownStep, Instant)>,
    kill_delay: core::time::Duration,
}

impl Shutdown {
    /// Starts the shutdown. The first step is due immediately.
    #[must_use]
    pub fn new(now: Instant, limits: &Limits) -> Self {
        Self {
            due: Some(ShutdownStep::CloseInput),
            next: Some((ShutdownStep::Terminate, now + limits.exit_timeout)),
            kill_delay: limits.terminate_timeout,
        }
    }

    /// Returns the step that is due, or `None` if no step is due. Each step is returned only once.
    pub fn poll_step(&mut self) -> Option<ShutdownStep> {
        self.due.take()
    }

    /// Returns the time at which the next step becomes due, or `None` if no step follows.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.next.map(|(_, at)| at)
    }

    /// Makes the next step due if `now` has reached the time from
    /// [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, now: Instant) {
        let Some((step, _)) = self.next.filter(|(_, at)| *at <= now) else { return };
        self.due = Some(step);
        self.next = match step {
            ShutdownStep::Terminate => Some((ShutdownStep::Kill, now + self.kill_delay)),
            ShutdownStep::CloseInput | ShutdownStep::Kill => None,
        };
    }
}
