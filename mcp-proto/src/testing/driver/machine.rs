//! [`DriverMachine`]: the server that a driver under test drives.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::report::DriverFault;
use super::scenario;
use crate::command::CommandOutcome;
use crate::endpoint::{Endpoint, RoleEndpoint};
use crate::error::{Misuse, code};
use crate::message_endpoint::MessageEndpoint;
use crate::rpc::ErrorObject;
use crate::server::{Command, Event, Server};
use crate::stdio::Stdio;
use crate::time::Instant;
use crate::vocabulary::IncomingId;
use crate::wire::Outbox;

/// A server that observes its driver, for [`check_driver`](super::check_driver).
///
/// The driver owns it and drives it as any other [`Endpoint`].
#[derive(Debug)]
pub struct DriverMachine {
    inner: Stdio<Server>,
    pub(super) now: Instant,
    /// An event that was looked at and not polled.
    next_event: Option<Event>,
    /// All input that the driver has passed.
    pub(super) passed: Vec<u8>,
    pub(super) is_end_passed: bool,
    /// All bytes that the machine has produced.
    pub(super) produced: Vec<u8>,
    /// The requests that were polled and not answered.
    pub(super) unanswered: Vec<IncomingId>,
    /// Counts all that the driver does, to detect wakes without effect.
    pub(super) progress: usize,
    /// The first rule that a call has broken.
    pub(super) broken: Option<(DriverFault, String)>,
}

impl Default for DriverMachine {
    fn default() -> Self {
        Self::new()
    }
}

impl DriverMachine {
    /// Creates a server, with the time at zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            inner: Stdio::new(Server::new(Instant::ZERO, scenario::config())),
            now: Instant::ZERO,
            next_event: None,
            passed: Vec::new(),
            is_end_passed: false,
            produced: Vec::new(),
            unanswered: Vec::new(),
            progress: 0,
            broken: None,
        }
    }

    /// Handles a polled event, in place of an application.
    ///
    /// A driver that contains an application handles the events itself. Either way, each request
    /// has to be answered in the wake in which it arrives.
    pub fn handle_event(&mut self, now: Instant, event: Event) {
        self.check_time(now);
        if let Event::Request { incoming, .. } = event {
            let error = ErrorObject::new(code::METHOD_NOT_FOUND, scenario::RESPONSE);
            // Fails if the connection has closed since.
            let _ignored = self.apply(now, Command::RespondError { incoming, error: &error });
        }
    }

    pub(super) fn has_events(&mut self) -> bool {
        self.next_event = self.next_event.take().or_else(|| self.inner.poll_event());
        self.next_event.is_some()
    }

    fn check_time(&mut self, now: Instant) {
        if now > self.now {
            let detail = format!("{now} was passed as the current time");
            self.broken.get_or_insert((DriverFault::EarlyOutput, detail));
        }
    }

    /// Copies the bytes that the machine has produced since the last call.
    fn observe_output(&mut self) {
        let outbox = self.inner.outbox();
        let added = outbox.produced() - self.produced.len() as u64;
        let start = outbox.len().saturating_sub(usize::try_from(added).unwrap_or(usize::MAX));
        self.produced.extend_from_slice(outbox.chunk().get(start..).unwrap_or_default());
    }
}

impl Endpoint for DriverMachine {
    fn handle_input(&mut self, now: Instant, input: &[u8]) {
        self.check_time(now);
        if !input.is_empty() && !self.inner.wants_input() && !self.inner.is_closed() {
            let detail = format!("{} bytes were passed to the machine", input.len());
            self.broken.get_or_insert((DriverFault::UnwantedInput, detail));
        }
        self.progress += input.len();
        self.passed.extend_from_slice(input);
        self.inner.handle_input(now, input);
        self.observe_output();
    }

    fn handle_eof(&mut self, now: Instant) {
        self.check_time(now);
        self.progress += 1;
        self.is_end_passed = true;
        self.inner.handle_eof(now);
        self.observe_output();
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.check_time(now);
        let due = self.inner.poll_timeout();
        self.inner.handle_timeout(now);
        self.progress += usize::from(self.inner.poll_timeout() != due);
        self.observe_output();
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.inner.poll_timeout()
    }

    fn outbox(&mut self) -> &mut Outbox {
        self.observe_output();
        self.inner.outbox()
    }

    fn wants_input(&self) -> bool {
        self.inner.wants_input()
    }

    fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }
}

impl RoleEndpoint for DriverMachine {
    type Event = Event;
    type Role = Server;

    fn role(&self) -> &Server {
        self.inner.role()
    }

    fn apply(
        &mut self,
        now: Instant,
        command: <Server as MessageEndpoint>::Command<'_>,
    ) -> Result<CommandOutcome, Misuse> {
        let answered = match &command {
            Command::RefuseUndeclared { incoming, .. }
            | Command::RequestInput { incoming, .. }
            | Command::Respond { incoming, .. }
            | Command::RespondError { incoming, .. } => Some(*incoming),
            _ => None,
        };
        let outcome = self.inner.apply(now, command);
        self.unanswered.retain(|incoming| Some(*incoming) != answered);
        self.observe_output();
        outcome
    }

    fn poll_event(&mut self) -> Option<Event> {
        let event = self.next_event.take().or_else(|| self.inner.poll_event())?;
        match &event {
            Event::Request { incoming, .. } => self.unanswered.push(*incoming),
            Event::RequestCancelled { incoming, .. } => {
                self.unanswered.retain(|open| open != incoming);
            }
            _ => {}
        }
        self.progress += 1;
        self.observe_output();
        Some(event)
    }
}
