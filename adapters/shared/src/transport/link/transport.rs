//! The transport of a connection: a byte stream, recorded or not, or HTTP.

use std::io;
use std::ops::{Deref, DerefMut};

use mcp_proto::{
    CallId, Caller, CommandOutcome, Instant, MessageEndpoint, Misuse, Outbox, OwnedCommand,
};

use crate::recorder::BoxedStream;
use crate::transport::http_sender::HttpSender;

/// A role, client or server, and its HTTP transport.
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub trait OnTransport: MessageEndpoint + std::fmt::Debug + Send + Sized + 'static {
    /// The type of the role's HTTP connections; uninhabited without the `http` feature.
    type Http: HttpTransport<Self>;
}

/// A connection together with its transport.
///
/// Dereferences to the connection for read access only. Every command goes through
/// [`apply`](Self::apply), so that recordings are complete.
#[derive(Debug)]
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub enum Transport<R: OnTransport> {
    /// HTTP.
    Http(Box<R::Http>),
    /// A byte stream.
    Stream(BoxedStream<R>),
}

/// What the adapter needs from the connection of a client or server over HTTP.
///
/// `R` is the client or server that the connection wraps. The operations on single HTTP requests
/// and responses differ between the two and are methods of their types. The input and output of an
/// [`Endpoint`], in contrast, are byte streams.
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub trait HttpTransport<R: OnTransport>: DerefMut<Target = R> + std::fmt::Debug + Send {
    /// Fires the timers that are due at `now`.
    fn handle_timeout(&mut self, now: Instant);

    /// Returns the next event; `None` if none is queued.
    fn poll_event(&mut self) -> Option<R::Event>;

    /// Returns the time at which to call `handle_timeout` next; `None` if no timer is running.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Returns whether there is something to send.
    fn has_output(&mut self) -> bool;

    /// Releases unused memory while the connection is idle.
    fn rest(&mut self);

    /// Called after each change of the connection, once its events were dispatched.
    fn settled(&mut self) {}

    /// Returns whether the connection serves a single request.
    fn is_single_request(&self) -> bool {
        false
    }

    /// Returns the id of the session; `None` without one.
    fn session_id(&self) -> Option<String> {
        None
    }

    /// Returns the sender of a request that has arrived over HTTP.
    fn sender(_: &Caller) -> Option<&dyn HttpSender> {
        None
    }
}

impl<R: OnTransport> Transport<R> {
    /// Returns whether the connection serves a single request.
    pub(crate) fn is_single_request(&self) -> bool {
        match self {
            Self::Http(http) => http.is_single_request(),
            Self::Stream(_) => false,
        }
    }

    /// Returns the id of the HTTP session; `None` without one.
    pub(crate) fn session_id(&self) -> Option<String> {
        match self {
            Self::Http(http) => http.session_id(),
            Self::Stream(_) => None,
        }
    }

    /// Applies a command.
    ///
    /// # Errors
    /// Fails with the connection's [`Misuse`].
    pub(crate) fn apply(
        &mut self,
        now: Instant,
        command: R::Command<'_>,
    ) -> Result<CommandOutcome, Misuse> {
        match self {
            Self::Stream(stream) => stream.apply(now, command),
            Self::Http(http) => MessageEndpoint::apply(&mut ***http, now, command),
        }
    }

    /// Applies a command that makes a call.
    ///
    /// # Errors
    /// Fails with the connection's [`Misuse`].
    pub(crate) fn call(&mut self, now: Instant, command: R::Command<'_>) -> Result<CallId, Misuse> {
        self.apply(now, command)?.call().ok_or(Misuse::Unsupported)
    }

    /// Applies a command that makes no call.
    ///
    /// # Errors
    /// Fails with the connection's [`Misuse`].
    pub(crate) fn run(&mut self, now: Instant, command: R::Command<'_>) -> Result<(), Misuse> {
        self.apply(now, command).map(|_| ())
    }

    /// Starts to close the connection from this side.
    pub(crate) fn close(&mut self, now: Instant) {
        if let Ok(close) = (&OwnedCommand::Close).try_into() {
            let _done = self.apply(now, close);
        }
    }

    pub(super) fn handle_input(&mut self, now: Instant, input: &[u8]) {
        if let Self::Stream(stream) = self {
            stream.handle_input(now, input);
        }
    }

    pub(super) fn handle_eof(&mut self, now: Instant) {
        match self {
            Self::Stream(stream) => stream.handle_eof(now),
            Self::Http(http) => MessageEndpoint::handle_eof(&mut ***http, now),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Stream(stream) => stream.handle_timeout(now),
            Self::Http(http) => HttpTransport::handle_timeout(&mut **http, now),
        }
    }

    pub(super) fn poll_event(&mut self) -> Option<R::Event> {
        match self {
            Self::Stream(stream) => stream.poll_event(),
            Self::Http(http) => HttpTransport::poll_event(&mut **http),
        }
    }

    /// Notifies the transport that a change of the connection is complete.
    pub(super) fn settled(&mut self) {
        if let Self::Http(http) = self {
            http.settled();
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Stream(stream) => stream.poll_timeout(),
            Self::Http(http) => HttpTransport::poll_timeout(&**http),
        }
    }

    /// Returns the bytes to send; `None` over HTTP.
    pub(super) fn outbox(&mut self) -> Option<&mut Outbox> {
        match self {
            Self::Stream(stream) => Some(stream.outbox()),
            Self::Http(_) => None,
        }
    }

    pub(super) fn has_output(&mut self) -> bool {
        match self {
            Self::Stream(stream) => !stream.outbox().is_empty(),
            Self::Http(http) => http.has_output(),
        }
    }

    /// Ends the recording, if any.
    pub(super) fn end_recording(&mut self) {
        if let Self::Stream(stream) = self {
            stream.end_recording();
        }
    }

    /// Returns why the recording ended early, once.
    pub(super) fn take_recording_failure(&mut self) -> Option<io::Error> {
        match self {
            Self::Http(_) => None,
            Self::Stream(stream) => stream.take_recording_failure(),
        }
    }
}

impl<R: OnTransport> Deref for Transport<R> {
    type Target = R;

    fn deref(&self) -> &R {
        match self {
            Self::Stream(stream) => stream.role(),
            Self::Http(http) => http,
        }
    }
}
