//! A server's session over HTTP as the transport of a connection, with its memory counted.

use std::ops::{Deref, DerefMut};

use mcp_proto::Instant;
use mcp_proto::http::{HttpServer, ServerUsage};
use mcp_proto::server::{Event, Server};

use super::budget::{ByteLease, Counters};
use crate::transport::link::{HttpTransport, State};

/// An [`HttpServer`] whose memory counts toward the byte limits of its service.
#[derive(Debug)]
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub struct MeteredServer {
    http: HttpServer,
    requests: ByteLease,
    session: ByteLease,
    sessions_bytes_max: usize,
    /// The memory of the client's description.
    description: usize,
}

impl MeteredServer {
    pub(super) fn new(
        http: HttpServer,
        counters: &Counters,
        sessions_bytes_max: usize,
        description: usize,
    ) -> Self {
        let requests = ByteLease::new(&counters.requests_bytes);
        let mut session = ByteLease::new(&counters.sessions_bytes);
        session.set(description);
        Self { http, requests, session, sessions_bytes_max, description }
    }

    /// Returns the server's HTTP side.
    pub(super) fn http(&mut self) -> &mut HttpServer {
        &mut self.http
    }

    /// Closes a session that no client can find any more, and releases its memory.
    pub(super) fn end_session(&mut self, now: Instant) {
        self.http.close(now);
        self.http.drop_replays();
        self.description = 0;
    }

    /// Updates the budgets, and drops the replay buffers of a session that grew beyond its budget.
    pub(super) fn count(&mut self) {
        let ServerUsage { requests, session, .. } = self.http.usage();
        self.requests.set(requests);
        let session = self.description + session;
        let has_grown = session > self.session.bytes();
        self.session.set(session);
        if has_grown && self.session.total() > self.sessions_bytes_max {
            self.http.drop_replays();
            self.session.set(self.description + self.http.usage().session);
        }
    }
}

impl State<Server> {
    /// Returns the HTTP side of the connection.
    pub(super) fn http(&mut self) -> Option<&mut HttpServer> {
        self.connection.http().map(MeteredServer::http)
    }

    /// Returns the id of the session; `None` without one.
    pub(crate) fn session_id(&mut self) -> Option<String> {
        self.http()?.id().map(str::to_owned)
    }

    /// Polls the HTTP side of the connection, and updates the budgets if something was sent.
    pub(super) fn poll_http<T>(
        &mut self,
        poll: impl FnOnce(&mut HttpServer) -> Option<T>,
    ) -> Option<T> {
        let metered = self.connection.http()?;
        let polled = poll(&mut metered.http);
        if polled.is_some() {
            metered.count();
        }
        polled
    }
}

impl HttpTransport<Server> for MeteredServer {
    fn handle_timeout(&mut self, now: Instant) {
        self.http.handle_timeout(now);
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.http.poll_event()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.http.poll_timeout()
    }

    fn has_output(&mut self) -> bool {
        self.http.has_output()
    }

    fn rest(&mut self) {
        self.http.shrink();
    }

    fn settled(&mut self) {
        self.count();
    }

    fn is_single_request(&self) -> bool {
        self.http.id().is_none()
    }
}

impl Deref for MeteredServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.http
    }
}

impl DerefMut for MeteredServer {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.http
    }
}
