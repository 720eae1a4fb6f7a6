//! The state of a driver, under its lock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use mcp_proto::auth::{
    AuthAction, AuthEvent, AuthInput, Authorization, Denial, FetchId, Forget, StoreId, Time,
};
use mcp_proto::http::client::{Credentials, ExchangeId, Generation};

use super::listener_state::ListenerState;
use super::member::{Member, MemberId, Waiting};
use super::record_use::RecordUse;
use crate::auth::redirect_listener::RedirectListener;
use crate::exec::cancellation::Cancellation;

/// The maximum number of events that wait for the application.
const REPORTS_MAX: usize = 64;

/// What becomes of a parked request.
pub(in crate::auth) enum Decision {
    /// Send it again with these credentials.
    Retry(Credentials),
    /// It waits until the driver authorizes or denies it.
    Wait,
    /// Fail it for this reason.
    Deny(String),
}

/// The next thing for the driver's task to do.
pub(super) enum Next {
    Act(AuthAction),
    Authorize(Vec<Arc<dyn Member>>, Credentials),
    Deny(Waiting, String),
    /// A numbered question to the application.
    Ask(u64, AuthEvent),
    /// Report the waiting events to the application.
    Report,
}

/// The state of a driver.
pub(super) struct DriverState {
    pub(super) machine: Authorization,
    /// The connections; `None` for one that is about to open.
    members: BTreeMap<MemberId, Option<Arc<dyn Member>>>,
    waiting: BTreeSet<(MemberId, ExchangeId)>,
    /// Events that were not delivered, each with the requests it concerns.
    events: VecDeque<Next>,
    /// Events for the application, at most [`REPORTS_MAX`].
    reports: VecDeque<AuthEvent>,
    /// A thread reports the events, or is about to.
    is_reporting: bool,
    pub(super) fetches: BTreeMap<FetchId, Arc<Cancellation>>,
    /// Why the latest request has no response, if it has none.
    pub(super) latest_failure: Option<String>,
    pub(super) records: BTreeMap<StoreId, Arc<RecordUse>>,
    pub(super) listener: ListenerState,
    /// The generation of the latest credentials, which members may still have.
    latest: Option<Generation>,
    /// The number of the latest login or question to the application, or of its end.
    question: u64,
    last_id: u64,
    /// The number of tasks that perform actions.
    tasks: usize,
    /// One of the tasks performs actions, in their order.
    is_performing: bool,
    phase: Phase,
}

/// What remains when a driver stops, to be ended without its lock.
pub(super) struct Stopped {
    pub(super) events: VecDeque<Next>,
    pub(super) waiting: Waiting,
    pub(super) fetches: BTreeMap<FetchId, Arc<Cancellation>>,
    pub(super) records: BTreeMap<StoreId, Arc<RecordUse>>,
    pub(super) listener: Option<RedirectListener>,
}

/// How far a driver is from its end.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Phase {
    /// There are members, or will be.
    Open,
    /// The last member has left.
    Closing,
    /// All tasks have ended.
    Stopped,
}

impl DriverState {
    pub(super) fn new(machine: Authorization) -> Self {
        Self {
            machine,
            members: BTreeMap::new(),
            waiting: BTreeSet::new(),
            events: VecDeque::new(),
            reports: VecDeque::new(),
            is_reporting: false,
            fetches: BTreeMap::new(),
            latest_failure: None,
            records: BTreeMap::new(),
            listener: ListenerState::Closed,
            latest: None,
            question: 0,
            last_id: 0,
            tasks: 0,
            is_performing: false,
            phase: Phase::Open,
        }
    }

    /// Returns a number that was not used before.
    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Adds a member, and its task.
    pub(super) fn join(&mut self) -> Option<MemberId> {
        if self.phase != Phase::Open {
            return None;
        }
        let id = MemberId(self.next_id());
        self.members.insert(id, None);
        self.tasks += 1;
        Some(id)
    }

    pub(super) fn attach(&mut self, id: MemberId, member: Arc<dyn Member>) -> Option<Credentials> {
        self.members.insert(id, Some(member));
        self.credentials()
    }

    /// Returns the credentials for members, and remembers that they may have them.
    pub(super) fn credentials(&mut self) -> Option<Credentials> {
        let credentials = self.machine.credentials();
        self.latest = credentials.as_ref().map(|it| it.generation).or(self.latest);
        credentials
    }

    pub(super) fn leave(&mut self, id: MemberId, time: Time) {
        self.members.remove(&id);
        self.waiting.retain(|(member, _)| *member != id);
        if self.members.is_empty() && self.phase == Phase::Open {
            self.phase = Phase::Closing;
            self.machine.close(time);
        }
    }

    /// Returns whether the task of a member may end: the driver has stopped, or continues with the
    /// tasks of others.
    pub(super) fn needs_no_task_of(&self, id: MemberId) -> bool {
        let has_left = !self.members.contains_key(&id);
        self.machine.is_closed() || has_left && !self.members.is_empty()
    }

    /// Lets one task perform actions; returns whether it may.
    pub(super) const fn begin_turn(&mut self) -> bool {
        !std::mem::replace(&mut self.is_performing, true)
    }

    pub(super) const fn end_turn(&mut self) {
        self.is_performing = false;
    }

    /// Deletes the tokens. Returns the members that may have them, and their generation, which the
    /// server may have rejected since.
    pub(super) fn forget(&mut self, time: Time) -> (Vec<Arc<dyn Member>>, Option<Generation>) {
        self.machine.forget(time, Forget::Tokens);
        self.events.retain(|event| !matches!(event, Next::Authorize(..)));
        (self.members.values().flatten().cloned().collect(), self.latest)
    }

    pub(super) fn wait(&mut self, id: MemberId, exchange: ExchangeId) {
        self.waiting.insert((id, exchange));
    }

    /// Returns the number of a new login or question; answers to earlier ones are ignored.
    pub(super) const fn next_question(&mut self) -> u64 {
        self.question += 1;
        self.question
    }

    /// Passes on the answer to a login or question, unless it is over.
    // A secret entered for one authorization server never goes to another.
    pub(super) fn answer(&mut self, question: u64, input: AuthInput, time: Time) {
        if self.question == question {
            self.machine.handle_input(time, input);
        }
    }

    /// Returns whether nothing is left to do before the process may end.
    pub(super) fn is_idle(&self) -> bool {
        self.phase != Phase::Closing
    }

    /// Takes the events of the authorization together: they concern the requests that wait now.
    pub(super) fn collect(&mut self) {
        while let Some(event) = self.machine.poll_event() {
            self.add_report(event.clone());
            match event {
                AuthEvent::Granted { .. } => {
                    self.next_question();
                    self.waiting.clear();
                    if let Some(credentials) = self.credentials() {
                        let members = self.members.values().flatten().cloned().collect();
                        self.events.push_back(Next::Authorize(members, credentials));
                    }
                }
                AuthEvent::Denied(denial) => {
                    self.next_question();
                    let waiting = self.take_waiting();
                    let reason = reason_of(&denial, self.latest_failure.take());
                    self.events.push_back(Next::Deny(waiting, reason));
                }
                AuthEvent::NeedsClient { .. } | AuthEvent::NeedsIdentity => {
                    let number = self.next_question();
                    self.events.push_back(Next::Ask(number, event));
                }
                _ => {}
            }
        }
    }

    /// Keeps an event for the application. Beyond [`REPORTS_MAX`], the oldest is dropped, but not
    /// the latest one that says whether there is a grant.
    fn add_report(&mut self, event: AuthEvent) {
        if self.reports.len() == REPORTS_MAX {
            let is_outcome =
                |it: &AuthEvent| matches!(it, AuthEvent::Granted { .. } | AuthEvent::Denied(_));
            let latest = self.reports.iter().rposition(is_outcome);
            self.reports.remove(usize::from(latest == Some(0)));
        }
        self.reports.push_back(event);
        if !std::mem::replace(&mut self.is_reporting, true) {
            self.events.push_back(Next::Report);
        }
    }

    /// Returns the next event for the application; `None` ends the thread that reports them.
    pub(super) fn next_report(&mut self) -> Option<AuthEvent> {
        let report = self.reports.pop_front();
        self.is_reporting = report.is_some();
        report
    }

    /// Drops the events: the application wants none.
    pub(super) fn drop_reports(&mut self) {
        self.reports.clear();
        self.is_reporting = false;
    }

    pub(super) fn next(&mut self) -> Option<Next> {
        let event = self.events.pop_front();
        event.or_else(|| self.machine.poll_action().map(Next::Act))
    }

    #[cfg(test)]
    pub(super) fn queue(&mut self, next: Next) {
        self.events.push_back(next);
    }

    /// Notes the end of a task; after the last one, nothing is performed any more.
    pub(super) fn end_task(&mut self, time: Time) -> Option<Stopped> {
        self.tasks = self.tasks.saturating_sub(1);
        (self.tasks == 0).then(|| self.stop(time))
    }

    fn stop(&mut self, time: Time) -> Stopped {
        self.phase = Phase::Stopped;
        self.machine.close(time);
        Stopped {
            events: std::mem::take(&mut self.events),
            waiting: self.take_waiting(),
            fetches: std::mem::take(&mut self.fetches),
            records: std::mem::take(&mut self.records),
            listener: self.listener.close(),
        }
    }

    fn take_waiting(&mut self) -> Waiting {
        let waiting = std::mem::take(&mut self.waiting);
        let of_member = |(id, exchange): (MemberId, ExchangeId)| {
            Some((Arc::clone(self.members.get(&id)?.as_ref()?), exchange))
        };
        waiting.into_iter().filter_map(of_member).collect()
    }
}

/// Returns why requests fail. `failure` explains why the latest request has no response.
fn reason_of(denial: &Denial, failure: Option<String>) -> String {
    match (denial, failure) {
        // For example, that a proxy refuses the connection.
        (Denial::Unreachable { .. }, Some(why)) => format!("{denial}: {why}"),
        _ => denial.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use mcp_proto::Instant;
    use mcp_proto::auth::{AuthConfig, AuthLimits, KnownClient, Uri};

    use super::*;
    use crate::auth::oauth_http::OAuthFailure;
    use crate::http::ProxyError;

    const TIME: Time = Time { now: Instant::ZERO, unix: 1_790_000_000 };

    /// Answers as servers and an empty store do, up to the question for an identity.
    fn asked(state: &mut DriverState) -> u64 {
        state.machine.begin(TIME);
        state.collect();
        while let Some(next) = state.next() {
            match next {
                Next::Act(AuthAction::Draw) => state.machine.handle_random(TIME, [7; 32]),
                Next::Act(AuthAction::Acquire { id, .. }) => {
                    state.machine.handle_store(TIME, id, Ok(None));
                }
                Next::Act(AuthAction::Fetch(fetch)) => {
                    let body = if fetch.url.contains("oauth-protected-resource") {
                        r#"{"resource":"https://mcp.example/mcp",
                            "authorization_servers":["https://as.example"]}"#
                    } else {
                        r#"{"issuer":"https://as.example",
                            "token_endpoint":"https://as.example/token"}"#
                    };
                    let head = [("content-type", "application/json")];
                    state.machine.handle_head(TIME, fetch.id, 200, &head);
                    state.machine.handle_body(TIME, fetch.id, body.as_bytes());
                    state.machine.handle_end(TIME, fetch.id);
                }
                Next::Ask(number, AuthEvent::NeedsIdentity) => return number,
                Next::Deny(_, reason) => panic!("{reason}"),
                _ => {}
            }
            state.collect();
        }
        panic!("nothing is asked")
    }

    #[test]
    fn the_failure_of_a_proxy_is_named_in_the_reason() {
        let failure = OAuthFailure::Unreached(io::Error::from(ProxyError::Refused {
            proxy: "proxy.example:3128".into(),
            target: "id.example:443".into(),
            status: 403,
        }));
        let unreachable = Denial::Unreachable { url: "https://id.example/token".into() };
        let reason = reason_of(&unreachable, Some(failure.to_string()));
        assert!(reason.contains("https://id.example/token"), "{reason}");
        assert!(reason.contains("the proxy `proxy.example:3128` opened no tunnel"), "{reason}");
        assert_eq!(reason_of(&Denial::Closed, Some("x".into())), Denial::Closed.to_string());
    }

    #[test]
    fn an_answer_after_the_end_of_its_question_answers_no_later_one() {
        let url = Uri::parse("https://mcp.example/mcp", &AuthLimits::default()).unwrap();
        let config = AuthConfig::workload(url, KnownClient::new("https://as.example", "app"));
        let mut state = DriverState::new(Authorization::new(TIME, config));
        let first = asked(&mut state);
        state.answer(first, AuthInput::Cancel, TIME);
        state.collect();
        assert_eq!(state.reports.back(), Some(&AuthEvent::Denied(Denial::Cancelled)));
        while state.next().is_some() {}
        let second = asked(&mut state);
        let reports = state.reports.len();
        state.answer(first, AuthInput::Cancel, TIME);
        state.collect();
        assert_eq!(state.reports.len(), reports, "it was ignored");
        state.answer(second, AuthInput::Cancel, TIME);
        state.collect();
        assert_eq!(state.reports.len(), reports + 1);
    }

    #[test]
    fn beyond_the_maximum_the_latest_outcome_is_not_dropped() {
        let url = Uri::parse("https://mcp.example/mcp", &AuthLimits::default()).unwrap();
        let config = AuthConfig::workload(url, KnownClient::new("https://as.example", "app"));
        let mut state = DriverState::new(Authorization::new(TIME, config));
        state.add_report(AuthEvent::NeedsIdentity);
        state.add_report(AuthEvent::Denied(Denial::Cancelled));
        (0..10 * REPORTS_MAX).for_each(|_| state.add_report(AuthEvent::NeedsIdentity));
        assert_eq!((state.reports.len(), state.events.len()), (REPORTS_MAX, 1));
        assert_eq!(state.next_report(), Some(AuthEvent::Denied(Denial::Cancelled)));
        while state.next_report().is_some() {}
        state.add_report(AuthEvent::NeedsIdentity);
        assert_eq!(state.events.len(), 2, "the next thread is started");
    }
}
