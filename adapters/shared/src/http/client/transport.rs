//! A client's session over HTTP as the transport of a connection.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

use mcp_proto::client::{Client, Event};
use mcp_proto::http::client::{Action, Challenge, HttpClient, HttpEvent};
use mcp_proto::{CallId, Instant};

use crate::transport::link::HttpTransport;

/// A server's demand for [authorization]: a response with status 401 or 403.
///
/// [authorization]: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
// AUT-11: the challenges of the response are passed on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuthChallenge {
    /// The rejected call; `None` if the rejected request was not a call.
    pub call: Option<CallId>,
    /// The status code, 401 or 403.
    pub status: u16,
    /// The authentication challenges of the response, most preferred first.
    pub challenges: Vec<Challenge>,
}

/// The next action of the driver.
#[derive(Debug)]
pub(super) enum DriverAction {
    /// Start or abort an exchange.
    Exchange(Action),
    /// Report a challenge to the application.
    Report(AuthChallenge),
    /// Stop: the connection is closed and nothing is left to do.
    Stop,
}

/// A client's session over HTTP, with the actions that its driver must perform next.
#[derive(Debug)]
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub struct ClientTransport {
    http: HttpClient,
    next: Option<Action>,
    /// Challenges to report; beyond [`CHALLENGED_MAX`] the oldest are dropped.
    challenged: VecDeque<AuthChallenge>,
}

const CHALLENGED_MAX: usize = 16;

impl ClientTransport {
    pub(super) const fn new(http: HttpClient) -> Self {
        Self { http, next: None, challenged: VecDeque::new() }
    }

    pub(super) const fn http(&mut self) -> &mut HttpClient {
        &mut self.http
    }

    pub(super) fn next_action(&mut self) -> Option<DriverAction> {
        if let Some(challenged) = self.challenged.pop_front() {
            return Some(DriverAction::Report(challenged));
        }
        match self.next.take().or_else(|| self.http.poll_action()) {
            Some(action) => Some(DriverAction::Exchange(action)),
            None => self.http.is_closed().then_some(DriverAction::Stop),
        }
    }
}

impl HttpTransport<Client> for ClientTransport {
    fn handle_timeout(&mut self, now: Instant) {
        self.http.handle_timeout(now);
    }

    fn poll_event(&mut self) -> Option<Event> {
        loop {
            match self.http.poll_event()? {
                HttpEvent::Client(event) => return Some(event),
                HttpEvent::Challenged { call, status, challenges } => {
                    if self.challenged.len() == CHALLENGED_MAX {
                        self.challenged.pop_front();
                    }
                    self.challenged.push_back(AuthChallenge { call, status, challenges });
                }
                _ => {}
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.http.poll_timeout()
    }

    fn has_output(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.http.poll_action();
        }
        self.next.is_some() || !self.challenged.is_empty()
    }

    fn rest(&mut self) {}
}

impl Deref for ClientTransport {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.http
    }
}

impl DerefMut for ClientTransport {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.http
    }
}
