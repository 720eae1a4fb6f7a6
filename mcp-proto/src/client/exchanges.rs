//! Methods of a client for transports that send each message in its own exchange.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::Client;
use crate::revision::Revision;
use crate::time::Instant;
use crate::vocabulary::{CallError, CallId, Fault};

/// Methods for transports that send each message in its own exchange, as HTTP does.
///
/// A request is named by its JSON-RPC id, found in
/// [`OutgoingKind::Request`](crate::OutgoingKind::Request). A call that is repeated with input is
/// sent as a new request each time.
impl Client {
    /// Declares that each message is sent independently, so that two requests may reach two
    /// different servers.
    ///
    /// Call it before handling the first message. From then on
    /// [`drain_ended`](Self::drain_ended) reports requests that have ended.
    pub fn use_exchanges(&mut self) {
        self.connection.use_exchanges();
    }

    /// Appends to `ended` the ids of requests that have ended since the last call. Their exchanges
    /// can be closed.
    pub fn drain_ended(&mut self, ended: &mut Vec<u64>) {
        self.connection.drain_ended(ended);
    }

    /// Returns whether request `id` still awaits a response.
    #[must_use]
    pub fn is_in_flight(&self, id: u64) -> bool {
        self.connection.is_in_flight(id)
    }

    /// Returns the application's call that request `id` was sent for. Returns `None` for requests
    /// the connection makes on its own, such as pings.
    #[must_use]
    pub fn call_of(&self, id: u64) -> Option<CallId> {
        self.connection.call_of(id)
    }

    /// Returns the negotiated revision, or during the handshake the one being tried.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.connection.revision()
    }

    /// Ends request `id` with an error because its exchange is over and no response can arrive.
    /// Does nothing if the request has already ended.
    pub fn handle_unanswered(&mut self, now: Instant, id: u64, why: CallError) {
        self.connection.handle_unanswered(now, id, why);
    }

    /// Reports that the server broke a rule of the transport, as
    /// [`Event::Violation`](crate::client::Event::Violation).
    pub fn report_violation(&mut self, now: Instant, detail: impl Into<Cow<'static, str>>) {
        self.connection.report(now, detail.into());
    }

    /// Ends the connection with `fault` because the transport has failed.
    pub fn fail(&mut self, now: Instant, fault: Fault) {
        self.connection.fail(now, fault);
    }

    /// Replaces a session that the server has dropped by a new one.
    ///
    /// Open calls complete with [`CallError::Lost`], requests of the server are cancelled, queued
    /// messages are dropped, and another
    /// [`Event::Ready`](crate::client::Event::Ready) follows. Nothing is retried automatically.
    /// Does nothing without a session.
    pub fn handle_session_lost(&mut self, now: Instant) {
        self.connection.handle_session_lost(now);
    }
}
