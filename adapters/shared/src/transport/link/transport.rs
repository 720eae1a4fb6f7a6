//! A connection on its transport: a byte stream, recorded or not, or HTTP.

use std::ops::Deref;
#[cfg(feature = "http")]
use std::ops::DerefMut;

use mcp_proto::stdio::Stdio;
use mcp_proto::{Applied, Apply, CallId, Endpoint, Instant, Misuse, Outbox, OwnedCommand};

#[cfg(feature = "record")]
use crate::recorder::enabled::Recorded;

/// A role, with what carries it besides byte streams.
#[expect(unnameable_types, reason = "what carries a session is its own")]
pub trait OnTransport: Apply + Send + Sized + 'static {
    /// The connection over HTTP.
    #[cfg(feature = "http")]
    type Http: OverHttp<Self>;
}

/// A connection on its transport. It dereferences to the connection for reading only: every command
/// goes through [`apply`](Self::apply), so that a recording misses none.
#[derive(Debug)]
#[expect(unnameable_types, reason = "what carries a session is its own")]
pub enum Transport<R: OnTransport> {
    /// A byte stream.
    Bytes(Box<Stdio<R>>),
    /// HTTP.
    #[cfg(feature = "http")]
    Http(Box<R::Http>),
    /// A byte stream, and all that is done goes into a recording.
    #[cfg(feature = "record")]
    Recorded(Box<Recorded<R>>),
}

/// A connection over HTTP. It is driven with exchanges instead of bytes, so that it cannot be an
/// [`Endpoint`]; this is the part of it that does not depend on exchanges.
#[cfg(feature = "http")]
#[expect(unnameable_types, reason = "what carries a session is its own")]
pub trait OverHttp<R: OnTransport>: DerefMut<Target = R> + std::fmt::Debug + Send {
    /// Time has passed.
    fn handle_timeout(&mut self, now: Instant);

    /// The next event.
    fn poll_event(&mut self) -> Option<R::Event>;

    /// When to call `handle_timeout`.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Whether there is something to send.
    fn has_output(&mut self) -> bool;

    /// Nothing goes on for now: gives back what is not needed until it does.
    fn rest(&mut self);
}

impl<R: OnTransport> Transport<R> {
    /// Applies a command.
    ///
    /// # Errors
    /// The connection's [`Misuse`].
    pub(crate) fn apply(
        &mut self,
        now: Instant,
        command: R::Command<'_>,
    ) -> Result<Applied, Misuse> {
        match self {
            Self::Bytes(stream) => Endpoint::apply(&mut **stream, now, command),
            #[cfg(feature = "http")]
            Self::Http(http) => Apply::apply(&mut ***http, now, command),
            #[cfg(feature = "record")]
            Self::Recorded(recorded) => Endpoint::apply(&mut **recorded, now, command),
        }
    }

    /// Applies a command that makes a call.
    ///
    /// # Errors
    /// The connection's [`Misuse`].
    pub(crate) fn call(&mut self, now: Instant, command: R::Command<'_>) -> Result<CallId, Misuse> {
        self.apply(now, command)?.call().ok_or(Misuse::Unsupported)
    }

    /// Applies a command that makes no call.
    ///
    /// # Errors
    /// The connection's [`Misuse`].
    pub(crate) fn run(&mut self, now: Instant, command: R::Command<'_>) -> Result<(), Misuse> {
        self.apply(now, command).map(|_| ())
    }

    /// Begins to end the connection from this side.
    pub(crate) fn close(&mut self, now: Instant) {
        if let Ok(close) = (&OwnedCommand::Close).try_into() {
            let _done = self.apply(now, close);
        }
    }

    pub(super) fn handle_input(&mut self, now: Instant, input: &[u8]) {
        match self {
            Self::Bytes(stream) => stream.handle_input(now, input),
            #[cfg(feature = "http")]
            Self::Http(_) => {}
            #[cfg(feature = "record")]
            Self::Recorded(recorded) => recorded.handle_input(now, input),
        }
    }

    pub(super) fn handle_eof(&mut self, now: Instant) {
        match self {
            Self::Bytes(stream) => Endpoint::handle_eof(&mut **stream, now),
            #[cfg(feature = "http")]
            Self::Http(http) => mcp_proto::Session::handle_eof(&mut ***http, now),
            #[cfg(feature = "record")]
            Self::Recorded(recorded) => recorded.handle_eof(now),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Bytes(stream) => Endpoint::handle_timeout(&mut **stream, now),
            #[cfg(feature = "http")]
            Self::Http(http) => OverHttp::handle_timeout(&mut **http, now),
            #[cfg(feature = "record")]
            Self::Recorded(recorded) => recorded.handle_timeout(now),
        }
    }

    pub(super) fn poll_event(&mut self) -> Option<R::Event> {
        match self {
            Self::Bytes(stream) => Endpoint::poll_event(&mut **stream),
            #[cfg(feature = "http")]
            Self::Http(http) => OverHttp::poll_event(&mut **http),
            #[cfg(feature = "record")]
            Self::Recorded(recorded) => recorded.poll_event(),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Bytes(stream) => Endpoint::poll_timeout(&**stream),
            #[cfg(feature = "http")]
            Self::Http(http) => OverHttp::poll_timeout(&**http),
            #[cfg(feature = "record")]
            Self::Recorded(recorded) => Endpoint::poll_timeout(&**recorded),
        }
    }

    /// The bytes to send, of a byte stream.
    pub(super) fn outbox(&mut self) -> Option<&mut Outbox> {
        match self {
            Self::Bytes(stream) => Some(Endpoint::outbox(&mut **stream)),
            #[cfg(feature = "http")]
            Self::Http(_) => None,
            #[cfg(feature = "record")]
            Self::Recorded(recorded) => Some(recorded.outbox()),
        }
    }

    /// Nothing goes on for now.
    #[cfg(feature = "http")]
    pub(super) fn rest(&mut self) {
        if let Self::Http(http) = self {
            OverHttp::rest(&mut **http);
        }
    }

    pub(super) fn has_output(&mut self) -> bool {
        match self {
            Self::Bytes(stream) => !Endpoint::outbox(&mut **stream).is_empty(),
            #[cfg(feature = "http")]
            Self::Http(http) => http.has_output(),
            #[cfg(feature = "record")]
            Self::Recorded(recorded) => !recorded.outbox().is_empty(),
        }
    }

    /// Ends the recording, if there is one.
    #[cfg(feature = "record")]
    pub(super) fn end_recording(&mut self) {
        if let Self::Recorded(recorded) = self {
            recorded.sink().end();
        }
    }

    /// Why the recording ended early, once.
    #[cfg(feature = "record")]
    pub(super) fn take_unrecorded(&mut self) -> Option<std::io::Error> {
        match self {
            Self::Bytes(_) => None,
            #[cfg(feature = "http")]
            Self::Http(_) => None,
            Self::Recorded(recorded) => recorded.sink().take_failure(),
        }
    }

    /// The session over HTTP, which it is wherever this is asked.
    #[cfg(feature = "http")]
    pub(crate) fn http(&mut self) -> Option<&mut R::Http> {
        match self {
            Self::Bytes(_) => None,
            Self::Http(http) => Some(http),
            #[cfg(feature = "record")]
            Self::Recorded(_) => None,
        }
    }
}

impl<R: OnTransport> Deref for Transport<R> {
    type Target = R;

    fn deref(&self) -> &R {
        match self {
            Self::Bytes(stream) => stream,
            #[cfg(feature = "http")]
            Self::Http(http) => http,
            #[cfg(feature = "record")]
            Self::Recorded(recorded) => recorded,
        }
    }
}
