//! A server's session over HTTP, as something that is shared; knows nothing of requests and responses.

use mcp_proto::Instant;
use mcp_proto::http::Session;
use mcp_proto::server::{Event, Server};

use crate::link::OverHttp;

impl OverHttp<Server> for Session {
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
}

/// There are no clients over HTTP yet.
#[derive(Debug)]
#[expect(unnameable_types, reason = "there is none")]
pub enum NoClient {}

impl std::ops::Deref for NoClient {
    type Target = mcp_proto::client::Client;

    fn deref(&self) -> &Self::Target {
        match *self {}
    }
}

impl std::ops::DerefMut for NoClient {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match *self {}
    }
}

impl OverHttp<mcp_proto::client::Client> for NoClient {
    fn handle_timeout(&mut self, _: Instant) {}
    fn poll_event(&mut self) -> Option<mcp_proto::client::Event> {
        None
    }
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
    fn has_output(&mut self) -> bool {
        false
    }
}
