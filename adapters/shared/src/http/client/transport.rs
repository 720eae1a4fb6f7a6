//! A client's session over HTTP as the transport of a connection.

use std::collections::VecDeque;

use mcp_proto::client::{Client, Command, Event};
use mcp_proto::http::client::{
    Action, Challenge, Generation, HttpClient, HttpEvent, ParkedRequest,
};
use mcp_proto::{
    CallId, CommandOutcome, Endpoint, Instant, MessageEndpoint, Misuse, Outbox, RoleEndpoint,
};

use super::authorization::Field;
use crate::transport::link::{State, Transport};

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

/// A report of a session to the authorization of its client.
#[cfg_attr(not(feature = "auth"), allow(dead_code, reason = "only the feature reads it"))]
#[derive(Debug)]
pub(crate) enum AuthReport {
    /// The server accepted credentials.
    Accepted(Generation),
    /// The server rejected a request, which waits for other credentials.
    Parked(ParkedRequest),
}

/// The next action of the driver.
#[derive(Debug)]
pub(super) enum DriverAction {
    /// Report to the authorization of the client.
    Authorize(AuthReport),
    /// Start or abort an exchange.
    Exchange(Action),
    /// Report a challenge to the application.
    Report(AuthChallenge),
    /// Stop: the connection is closed and nothing is left to do.
    Stop,
}

/// A client's session over HTTP, with the actions that its driver must perform next.
#[derive(Debug)]
pub(crate) struct ClientTransport {
    http: HttpClient,
    next: Option<Action>,
    /// Challenges to report; beyond [`CHALLENGED_MAX`] the oldest are dropped.
    challenged: VecDeque<AuthChallenge>,
    /// Reports to the authorization: as many as there are parked requests, and a few more.
    reports: VecDeque<AuthReport>,
    /// The credentials with which the cached results were requested.
    cached_for: Option<Field>,
    /// Always empty.
    outbox: Outbox,
}

const CHALLENGED_MAX: usize = 16;

impl State<Client> {
    /// Returns the client over HTTP.
    pub(crate) fn http(&mut self) -> Option<&mut ClientTransport> {
        self.connection.downcast()
    }
}

impl ClientTransport {
    pub(super) fn new(http: HttpClient) -> Self {
        Self {
            http,
            next: None,
            challenged: VecDeque::new(),
            reports: VecDeque::new(),
            cached_for: None,
            outbox: Outbox::default(),
        }
    }

    /// Notes the credentials of the next request. Drops cached results that other ones have asked
    /// for.
    pub(super) fn note_owner(&mut self, field: &Field) {
        if self.cached_for.as_ref() != Some(field) {
            self.cached_for = Some(field.clone());
            self.http.forget_private_results();
        }
    }

    pub(crate) const fn http(&mut self) -> &mut HttpClient {
        &mut self.http
    }

    fn challenged(&mut self, challenge: AuthChallenge) {
        if self.challenged.len() == CHALLENGED_MAX {
            self.challenged.pop_front();
        }
        self.challenged.push_back(challenge);
    }

    pub(super) fn next_action(&mut self) -> Option<DriverAction> {
        if let Some(report) = self.reports.pop_front() {
            return Some(DriverAction::Authorize(report));
        }
        if let Some(challenged) = self.challenged.pop_front() {
            return Some(DriverAction::Report(challenged));
        }
        match self.next.take().or_else(|| self.http.poll_action()) {
            Some(action) => Some(DriverAction::Exchange(action)),
            None => self.http.is_closed().then_some(DriverAction::Stop),
        }
    }
}

impl Endpoint for ClientTransport {
    fn handle_input(&mut self, _: Instant, _: &[u8]) {}

    fn handle_eof(&mut self, now: Instant) {
        MessageEndpoint::handle_eof(&mut *self.http, now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.http.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.http.poll_timeout()
    }

    fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    fn wants_input(&self) -> bool {
        MessageEndpoint::wants_input(&*self.http)
    }

    fn is_closed(&self) -> bool {
        self.http.is_closed()
    }
}

impl RoleEndpoint for ClientTransport {
    type Event = Event;
    type Role = Client;

    fn role(&self) -> &Client {
        &self.http
    }

    fn apply(&mut self, now: Instant, command: Command<'_>) -> Result<CommandOutcome, Misuse> {
        self.http.apply(now, command)
    }

    fn poll_event(&mut self) -> Option<Event> {
        loop {
            match self.http.poll_event()? {
                HttpEvent::Client(event) => return Some(event),
                HttpEvent::Challenged { call, status, challenges } => {
                    self.challenged(AuthChallenge { call, status, challenges });
                }
                HttpEvent::Parked(parked) => {
                    let ParkedRequest { call, status, .. } = parked;
                    let challenges = parked.challenges.clone();
                    self.challenged(AuthChallenge { call, status, challenges });
                    self.reports.push_back(AuthReport::Parked(parked));
                }
                HttpEvent::Accepted(generation) => {
                    self.reports.push_back(AuthReport::Accepted(generation));
                }
                _ => {}
            }
        }
    }
}

impl Transport<Client> for ClientTransport {
    fn has_output(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.http.poll_action();
        }
        self.next.is_some() || !self.challenged.is_empty() || !self.reports.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Poll, Wake, Waker};

    use futures_lite::future::block_on;
    use mcp_proto::http::client::HttpConfig;

    use super::*;
    use crate::client::settings::ClientSettings;
    use crate::exec::clock::Clock;
    use crate::exec::test_runtime::NullRuntime;
    use crate::exec::workers::Spawn;
    use crate::transport::link::Link;

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    fn open() -> Arc<Link<Client>> {
        let (connection, config) = ClientSettings::new("c", "1").into_config().unwrap();
        let clock = Clock::new();
        let machine = Client::new(clock.now(), config);
        let http = HttpClient::new(machine, HttpConfig::new(1).parks());
        let transport = Box::new(ClientTransport::new(http));
        let runtime: Arc<dyn Spawn> = Arc::new(NullRuntime);
        connection.link_over(clock, transport, &runtime)
    }

    async fn next_action(link: &Arc<Link<Client>>) -> DriverAction {
        link.next_action(|state| state.http()?.next_action()).await
    }

    #[test]
    fn a_parked_request_wakes_the_driver_immediately() {
        let link = open();
        let DriverAction::Exchange(Action::Send(probe)) = block_on(next_action(&link)) else {
            panic!("the probe is not sent");
        };
        let mut next = pin!(next_action(&link));
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        assert!(next.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        link.with(|state, now| {
            let http = state.http().unwrap().http();
            http.handle_head(now, probe.exchange, 401, &[("www-authenticate", "Bearer")]);
        });
        assert!(woken.0.load(Ordering::SeqCst), "the report waits for a timer");
        let next = next.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(matches!(next, Poll::Ready(DriverAction::Authorize(AuthReport::Parked(_)))));
    }
}
