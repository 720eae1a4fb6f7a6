//! A client's session over HTTP, as something that is shared; knows nothing of connections.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

use mcp_proto::client::{Client, Event};
use mcp_proto::http::client::{Action, Challenge, Event as HttpEvent, Http};
use mcp_proto::{CallId, Instant};

use crate::transport::link::OverHttp;

/// A server wants to know who asks: what it said with status 401 or 403. (AUT-11)
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Challenged {
    /// The call that it refused; `None` when it was another message.
    pub call: Option<CallId>,
    /// 401 or 403.
    pub status: u16,
    /// How one may say who one is, in the order in which the server prefers.
    pub challenges: Vec<Challenge>,
}

/// What a driver is to do next.
#[derive(Debug)]
pub(super) enum Step {
    Do(Action),
    Tell(Challenged),
    /// The session is closed, and nothing is left to do.
    Over,
}

/// A client's session, and what waits for its driver.
#[derive(Debug)]
#[expect(unnameable_types, reason = "what carries a session is its own")]
pub struct ClientOverHttp {
    http: Http,
    next: Option<Action>,
    /// What waits to be told; of more than this, the oldest are not told any more.
    challenged: VecDeque<Challenged>,
}

const CHALLENGED_MAX: usize = 16;

impl ClientOverHttp {
    pub(super) const fn new(http: Http) -> Self {
        Self { http, next: None, challenged: VecDeque::new() }
    }

    pub(super) const fn http(&mut self) -> &mut Http {
        &mut self.http
    }

    pub(super) fn next_step(&mut self) -> Option<Step> {
        if let Some(challenged) = self.challenged.pop_front() {
            return Some(Step::Tell(challenged));
        }
        match self.next.take().or_else(|| self.http.poll_action()) {
            Some(action) => Some(Step::Do(action)),
            None => self.http.is_closed().then_some(Step::Over),
        }
    }
}

impl OverHttp<Client> for ClientOverHttp {
    fn handle_timeout(&mut self, now: Instant) {
        self.http.handle_timeout(now);
    }

    fn poll_event(&mut self) -> Option<Event> {
        loop {
            match self.http.poll_event()? {
                HttpEvent::Session(event) => return Some(event),
                HttpEvent::Challenged { call, status, challenges } => {
                    if self.challenged.len() == CHALLENGED_MAX {
                        self.challenged.pop_front();
                    }
                    self.challenged.push_back(Challenged { call, status, challenges });
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

impl Deref for ClientOverHttp {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.http
    }
}

impl DerefMut for ClientOverHttp {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.http
    }
}
