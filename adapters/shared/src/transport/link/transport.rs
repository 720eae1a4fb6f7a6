//! The transport of a connection: a byte stream, recorded or not, or HTTP.

use std::any::Any;
use std::io;
use std::ops::Deref;

use mcp_proto::stdio::Stdio;
use mcp_proto::testing::DriverMachine;
use mcp_proto::{CallId, Instant, MessageEndpoint, Misuse, OwnedCommand, RoleEndpoint};

/// A connection together with its transport.
///
/// Dereferences to the connection for read access only. Every command goes through
/// [`RoleEndpoint::apply`], so that recordings are complete.
pub(crate) type BoxedTransport<R> = Box<dyn Transport<R>>;

/// The operations that the adapter needs from a client or server on any transport.
///
/// Connections over HTTP ignore input, and their outbox is empty: exchanges pass their messages to
/// methods of the types that `downcast` finds.
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub trait Transport<R: MessageEndpoint>:
    RoleEndpoint<Event = R::Event, Role = R> + Any + Send
{
    /// Returns whether there is something to send.
    fn has_output(&mut self) -> bool {
        !self.outbox().is_empty()
    }

    /// Releases unused memory while the connection is idle.
    fn rest(&mut self) {}

    /// Called after each change of the connection, once its events were dispatched.
    fn settled(&mut self) {}

    /// Returns whether the connection serves a single request.
    fn is_single_request(&self) -> bool {
        false
    }

    /// Returns the id of the HTTP session; `None` without one.
    fn session_id(&self) -> Option<String> {
        None
    }

    /// Ends the recording, if any.
    fn end_recording(&mut self) {}

    /// Returns why the recording ended early, once.
    fn take_recording_failure(&mut self) -> Option<io::Error> {
        None
    }
}

impl<R: MessageEndpoint + Send + 'static> Transport<R> for Stdio<R> {}

/// For tests of the adapters.
impl Transport<mcp_proto::server::Server> for DriverMachine {}

impl<R: MessageEndpoint + 'static> dyn Transport<R> {
    /// Returns the transport as its type; `None` if it is of another type.
    #[cfg(feature = "http")]
    pub(crate) fn downcast<T: Transport<R>>(&mut self) -> Option<&mut T> {
        let any: &mut dyn Any = self;
        any.downcast_mut()
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
        let _done = self.apply_owned(now, &OwnedCommand::Close);
    }
}

impl<R: MessageEndpoint + 'static> Deref for dyn Transport<R> {
    type Target = R;

    fn deref(&self) -> &R {
        self.role()
    }
}
