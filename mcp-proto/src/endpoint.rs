//! The traits [`Endpoint`] and [`RoleEndpoint`]: a connection over a byte stream.

use core::fmt;

use bytes::Bytes;

use crate::command::{CommandOutcome, OwnedCommand};
use crate::error::Misuse;
use crate::message_endpoint::MessageEndpoint;
use crate::time::Instant;
use crate::wire::Outbox;

/// A client or server connection over a byte stream, to be driven by an event loop.
///
/// The event loop repeats these steps:
///
/// 1. Send the bytes in the [`outbox`](Self::outbox).
/// 2. Handle the events from [`poll_event`](RoleEndpoint::poll_event).
/// 3. Wait for input, or until the time that [`poll_timeout`](Self::poll_timeout) returns.
/// 4. Call the matching `handle_*` method.
///
/// The event loop must keep reading while a write is blocked; otherwise, two peers with full pipes
/// deadlock.
///
/// The trait is independent of the role, so one loop can drive clients and servers together as
/// `dyn Endpoint`. Events and commands belong to the subtrait [`RoleEndpoint`].
///
/// [`Stdio`](crate::stdio::Stdio) implements both traits, as do wrappers that record or check
/// another endpoint.
///
/// ```
/// use mcp_proto::client::{self, Client};
/// use mcp_proto::server::{self, Server};
/// use mcp_proto::stdio::Stdio;
/// use mcp_proto::{Endpoint, Instant};
///
/// let now = Instant::ZERO;
/// let mut client = Stdio::new(Client::new(now, client::Config::new("demo", "1.0.0")));
/// let mut server = Stdio::new(Server::new(now, server::Config::new("demo", "1.0.0")));
/// let mut connections: [&mut dyn Endpoint; 2] = [&mut client, &mut server];
/// let next = connections.iter().filter_map(|connection| connection.poll_timeout()).min();
/// for connection in &mut connections {
///     connection.handle_timeout(next.unwrap_or(now));
///     println!("{} bytes to send", connection.outbox().len());
/// }
/// ```
pub trait Endpoint {
    /// Handles received bytes, which may be split at any position.
    ///
    /// Invalid input is reported as a violation, answered with an error, or both. Takes time linear
    /// in the length of the input.
    fn handle_input(&mut self, now: Instant, input: &[u8]);

    /// Handles received bytes that the connection may keep.
    ///
    /// The effect is that of [`handle_input`](Self::handle_input). If `input` is exactly one line
    /// of at least 4 KiB, though, events refer to large parts of it instead of copying them. They
    /// keep the whole allocation alive, so pass one that holds nothing else.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use mcp_proto::server::{Config, Server};
    /// use mcp_proto::stdio::Stdio;
    /// use mcp_proto::{Endpoint, Instant};
    ///
    /// let mut server = Stdio::new(Server::new(Instant::ZERO, Config::new("demo", "1.0.0")));
    /// let ping = Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    /// server.handle_bytes(Instant::ZERO, ping);
    /// assert!(!server.outbox().is_empty());
    /// ```
    fn handle_bytes(&mut self, now: Instant, input: Bytes) {
        self.handle_input(now, &input);
    }

    /// Handles the end of the input: the peer has closed its side.
    fn handle_eof(&mut self, now: Instant);

    /// Advances the time to `now` and handles expired timeouts. Early, late and repeated calls are
    /// harmless.
    fn handle_timeout(&mut self, now: Instant);

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout). O(1).
    ///
    /// Returns `None` if no timeout is pending.
    #[must_use]
    fn poll_timeout(&self) -> Option<Instant>;

    /// Returns the queue of bytes to send. O(1).
    #[must_use = "bytes that are not sent stay in the queue"]
    fn outbox(&mut self) -> &mut Outbox;

    /// Returns whether the event loop should read more input.
    ///
    /// While the result is false, do not read, so that backpressure slows the peer down. Output
    /// that was sent, polled events, commands and timeouts make it true again; an [`InputGate`]
    /// reports the change.
    #[must_use]
    fn wants_input(&self) -> bool;

    /// Returns whether the connection is closed.
    ///
    /// After closing, events may still have to be polled, and the outbox may still hold bytes to
    /// send.
    #[must_use]
    fn is_closed(&self) -> bool;
}

/// An [`Endpoint`] whose role is known, and thus its events and commands.
pub trait RoleEndpoint: Endpoint {
    /// The event type of the client or server.
    type Event: fmt::Debug + fmt::Display;

    /// Either [`Client`](crate::client::Client) or [`Server`](crate::server::Server).
    type Role: MessageEndpoint<Event = Self::Event>;

    /// Returns the client or server for inspection.
    fn role(&self) -> &Self::Role;

    /// Applies a command from the application.
    ///
    /// # Errors
    /// Fails with [`Misuse`] under the conditions documented for the corresponding method of the
    /// client or server. A failed command has no effect.
    fn apply(
        &mut self,
        now: Instant,
        command: <Self::Role as MessageEndpoint>::Command<'_>,
    ) -> Result<CommandOutcome, Misuse>;

    /// Applies an owned command.
    ///
    /// # Errors
    /// Fails with [`Misuse::Unsupported`] if the command belongs to the other role, and under the
    /// conditions documented for [`apply`](Self::apply).
    fn apply_owned(
        &mut self,
        now: Instant,
        command: &OwnedCommand,
    ) -> Result<CommandOutcome, Misuse> {
        self.apply(now, command.try_into()?)
    }

    /// Removes and returns the oldest event. O(1).
    #[must_use = "events that are not polled stop the input"]
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns an iterator that removes the events, oldest first.
    ///
    /// The iterator borrows the connection. To respond to events, call
    /// [`poll_event`](Self::poll_event) in a loop.
    ///
    /// ```
    /// use mcp_proto::server::{Config, Event, Server};
    /// use mcp_proto::stdio::Stdio;
    /// use mcp_proto::{Endpoint, Instant, RoleEndpoint};
    ///
    /// let mut server = Stdio::new(Server::new(Instant::ZERO, Config::new("demo", "1.0.0")));
    /// server.handle_eof(Instant::ZERO);
    /// assert!(server.events().any(|event| matches!(event, Event::Closed(_))));
    /// ```
    fn events(&mut self) -> impl Iterator<Item = Self::Event>
    where
        Self: Sized,
    {
        core::iter::from_fn(|| self.poll_event())
    }
}

/// Reports when [`wants_input`](Endpoint::wants_input) changes.
///
/// An event loop that queries [`wants_input`](Endpoint::wants_input) before each read needs none.
/// If reading and writing are separate tasks, each of them, and the application, polls one shared
/// gate after it has used the connection, and starts or stops the reading task accordingly.
///
/// ```
/// use mcp_proto::server::{Config, Server};
/// use mcp_proto::stdio::Stdio;
/// use mcp_proto::{Endpoint, InputGate, Instant, Limits};
///
/// let limits = Limits { replies_bytes_max: 20, ..Limits::default() };
/// let config = Config::new("demo", "1.0.0").limits(limits);
/// let (mut server, mut gate) = (Stdio::new(Server::new(Instant::ZERO, config)), InputGate::new());
/// assert_eq!(gate.poll(&server), Some(true));
///
/// let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
/// server.handle_input(Instant::ZERO, ping);
/// assert_eq!(gate.poll(&server), Some(false)); // stop reading
/// assert_eq!(gate.poll(&server), None);
///
/// server.outbox().clear(); // sent, by another task
/// assert_eq!(gate.poll(&server), Some(true)); // wake the reader
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct InputGate {
    is_open: bool,
}

impl InputGate {
    /// Creates a gate that is closed: the first poll reports whether to start reading.
    #[must_use]
    pub const fn new() -> Self {
        Self { is_open: false }
    }

    /// Returns [`wants_input`](Endpoint::wants_input) if it has changed since the last call.
    #[must_use = "a change is reported once"]
    pub fn poll(&mut self, machine: &(impl Endpoint + ?Sized)) -> Option<bool> {
        let is_open = machine.wants_input();
        (core::mem::replace(&mut self.is_open, is_open) != is_open).then_some(is_open)
    }
}
