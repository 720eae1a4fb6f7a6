//! A server's session over HTTP as the transport of a connection.

use mcp_proto::Instant;
use mcp_proto::http::HttpServer;
use mcp_proto::server::{Event, Server};

use crate::transport::link::HttpTransport;

impl HttpTransport<Server> for HttpServer {
    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }

    fn poll_event(&mut self) -> Option<Event> {
        Self::poll_event(self)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Self::poll_timeout(self)
    }

    fn has_output(&mut self) -> bool {
        Self::has_output(self)
    }

    fn rest(&mut self) {
        Self::shrink(self);
    }

    fn is_single_request(&self) -> bool {
        self.id().is_none()
    }
}
