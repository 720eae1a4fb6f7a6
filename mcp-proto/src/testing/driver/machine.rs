//! [`DriverMachine`] and [`DriverStream`]: what a driver under test drives.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::report::{DriverFault, DriverReport, WakeReason};
use super::scenario;
use crate::command::CommandOutcome;
use crate::endpoint::Endpoint;
use crate::error::{Misuse, code};
use crate::message_endpoint::MessageEndpoint;
use crate::rpc::ErrorObject;
use crate::server::{Event, Server};
use crate::stdio::Stdio;
use crate::time::Instant;
use crate::wire::Outbox;

/// What the machine, the stream and the judge know.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) now: Instant,
    pub(super) wake: usize,
    pub(super) reason: WakeReason,
    /// All bytes that the peer has sent.
    pub(super) input: Vec<u8>,
    /// How many of them the driver has read.
    pub(super) read: usize,
    /// How many of those it has passed to the machine.
    passed: usize,
    pub(super) is_shut: bool,
    is_end_read: bool,
    pub(super) is_end_passed: bool,
    /// All bytes that the machine has produced.
    pub(super) produced: Vec<u8>,
    /// How many of them were written to the stream.
    pub(super) written: usize,
    /// The number of bytes that the stream accepts at present.
    pub(super) room: usize,
    polled: usize,
    handled: usize,
    /// Counts all that the driver does, to detect wakes without effect.
    pub(super) progress: usize,
    pub(super) report: Option<DriverReport>,
}

impl Observed {
    /// Records a fault, unless there was one before.
    pub(super) fn fault(&mut self, fault: DriverFault, detail: String) {
        let Self { now: at, wake, reason, .. } = *self;
        self.report.get_or_insert(DriverReport { fault, at, wake, reason, detail });
    }

    fn check_time(&mut self, now: Instant) {
        if now > self.now {
            let detail = format!("{now} was passed as the current time");
            self.fault(DriverFault::EarlyOutput, detail);
        }
    }

    fn check_input(&mut self, input: &[u8]) {
        self.progress += input.len();
        let next = self.input.get(self.passed..self.read).unwrap_or_default();
        if next.starts_with(input) {
            self.passed += input.len();
            return;
        }
        let (count, at) = (input.len(), self.passed);
        if is_within(input, next) {
            let detail = format!("{count} bytes were passed, but not those before, from byte {at}");
            self.fault(DriverFault::LostInput, detail);
        } else {
            let detail = format!("{count} bytes were passed after byte {at}, which are not next");
            self.fault(DriverFault::DoubledInput, detail);
        }
    }

    fn check_output(&mut self, output: &[u8]) {
        let (past, next) = self.produced.split_at(self.written.min(self.produced.len()));
        if next.starts_with(output) {
            return;
        }
        let (count, at) = (output.len(), self.written);
        let begin = output.get(..count.min(MATCHED_BYTES)).unwrap_or_default();
        let (fault, detail) = if is_within(begin, next) {
            (DriverFault::LostOutput, format!("the output from byte {at} was skipped"))
        } else if is_within(begin, past) || is_within(begin, &self.produced) {
            (DriverFault::DoubledOutput, format!("bytes before byte {at} were written again"))
        } else {
            let detail = format!("{count} bytes were written that the machine has not produced");
            (DriverFault::EarlyOutput, detail)
        };
        self.fault(fault, detail);
    }
}

/// The number of bytes by which output is recognized.
const MATCHED_BYTES: usize = 24;

fn is_within(part: &[u8], whole: &[u8]) -> bool {
    part.is_empty() || whole.windows(part.len()).any(|window| window == part)
}

/// A server that observes its driver, for [`check_driver`](super::check_driver).
///
/// The driver owns it, and drives it as any other [`Endpoint`].
#[derive(Debug)]
pub struct DriverMachine {
    inner: Stdio<Server>,
    observed: Rc<RefCell<Observed>>,
}

impl Default for DriverMachine {
    fn default() -> Self {
        Self::new()
    }
}

impl DriverMachine {
    /// Creates a server, with the time at zero and a stream that has no input yet.
    #[must_use]
    pub fn new() -> Self {
        let observed = Observed {
            now: Instant::ZERO,
            wake: 0,
            reason: WakeReason::Start,
            input: Vec::new(),
            read: 0,
            passed: 0,
            is_shut: false,
            is_end_read: false,
            is_end_passed: false,
            produced: Vec::new(),
            written: 0,
            room: 0,
            polled: 0,
            handled: 0,
            progress: 0,
            report: None,
        };
        let inner = Stdio::new(Server::new(Instant::ZERO, scenario::config()));
        Self { inner, observed: Rc::new(RefCell::new(observed)) }
    }

    /// Returns the stream that the driver reads and writes.
    #[must_use]
    pub fn stream(&self) -> DriverStream {
        DriverStream { observed: Rc::clone(&self.observed) }
    }

    /// Handles a polled event, in place of the application.
    pub fn handle_event(&mut self, now: Instant, event: Event) {
        let mut observed = self.observed.borrow_mut();
        observed.check_time(now);
        observed.handled += 1;
        observed.progress += 1;
        drop(observed);
        if let Event::Request { incoming, .. } = event {
            let error = ErrorObject::new(code::METHOD_NOT_FOUND, scenario::RESPONSE);
            // Fails if the connection has closed since.
            let _ignored = self.inner.respond_error(now, incoming, &error);
        }
        self.observe_output();
    }

    /// Checks what the driver has left behind, after a wake.
    pub(super) fn check_rest(&mut self) {
        let has_events = self.inner.poll_event().is_some();
        let queued = self.inner.outbox().len();
        let mut observed = self.observed.borrow_mut();
        let unhandled = observed.polled - observed.handled;
        if observed.passed < observed.read {
            let count = observed.read - observed.passed;
            let detail = format!("{count} bytes were read and not passed to the machine");
            observed.fault(DriverFault::LostInput, detail);
        }
        if observed.is_end_read && !observed.is_end_passed {
            observed.fault(DriverFault::NoEof, "the end of the input was read, and no more".into());
        }
        if has_events || unhandled > 0 {
            let place = if has_events { "in the queue" } else { "polled but unhandled" };
            observed.fault(DriverFault::LateEvents, format!("events were left {place}"));
        }
        let missing = observed.produced.len().saturating_sub(observed.written + queued);
        if observed.room > 0 && missing > 0 {
            let detail = format!("{missing} bytes left the outbox and were not written");
            observed.fault(DriverFault::LostOutput, detail);
        }
        let now = observed.now;
        if let Some(due) = self.inner.poll_timeout().filter(|due| *due <= now) {
            let detail = format!("`handle_timeout` was due at {due} and was not called");
            observed.fault(DriverFault::IgnoredDeadline, detail);
        }
    }

    pub(super) fn observed(&self) -> &Rc<RefCell<Observed>> {
        &self.observed
    }

    /// Copies the bytes that the machine has produced since the last call.
    fn observe_output(&mut self) {
        let outbox = self.inner.outbox();
        let mut observed = self.observed.borrow_mut();
        let added = outbox.produced() - observed.produced.len() as u64;
        let start = outbox.len().saturating_sub(usize::try_from(added).unwrap_or(usize::MAX));
        observed.produced.extend_from_slice(outbox.chunk().get(start..).unwrap_or_default());
    }
}

impl Endpoint for DriverMachine {
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
        let outcome = self.inner.apply(now, command);
        self.observe_output();
        outcome
    }

    fn handle_input(&mut self, now: Instant, input: &[u8]) {
        let mut observed = self.observed.borrow_mut();
        observed.check_time(now);
        if !input.is_empty() && !self.inner.wants_input() && !self.inner.is_closed() {
            let detail = format!("{} bytes were passed to the machine", input.len());
            observed.fault(DriverFault::UnwantedInput, detail);
        }
        observed.check_input(input);
        drop(observed);
        self.inner.handle_input(now, input);
        self.observe_output();
    }

    fn handle_eof(&mut self, now: Instant) {
        let mut observed = self.observed.borrow_mut();
        observed.check_time(now);
        if !observed.is_end_read {
            observed.fault(DriverFault::NoEof, "the input has not ended".into());
        }
        observed.progress += 1;
        observed.is_end_passed = true;
        drop(observed);
        self.inner.handle_eof(now);
        self.observe_output();
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.observed.borrow_mut().check_time(now);
        let due = self.inner.poll_timeout();
        self.inner.handle_timeout(now);
        let is_moved = self.inner.poll_timeout() != due;
        self.observed.borrow_mut().progress += usize::from(is_moved);
        self.observe_output();
    }

    fn poll_event(&mut self) -> Option<Event> {
        let event = self.inner.poll_event()?;
        self.observed.borrow_mut().polled += 1;
        self.observe_output();
        Some(event)
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

/// The nonblocking byte stream of a [`DriverMachine`].
#[derive(Clone, Debug)]
pub struct DriverStream {
    observed: Rc<RefCell<Observed>>,
}

impl DriverStream {
    /// Reads into `buffer`. Returns the number of bytes, 0 at the end of the stream, or `None` if
    /// no byte has arrived.
    #[must_use]
    pub fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let mut observed = self.observed.borrow_mut();
        let arrived = observed.input.get(observed.read..).unwrap_or_default();
        let count = arrived.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(arrived) {
            *to = *from;
        }
        if count > 0 || buffer.is_empty() {
            observed.read += count;
            return Some(count);
        }
        observed.is_end_read |= observed.is_shut;
        observed.is_shut.then_some(0)
    }

    /// Writes from the start of `output`. Returns the number of bytes written, or `None` if the
    /// stream has no room.
    #[must_use]
    pub fn write(&mut self, output: &[u8]) -> Option<usize> {
        let mut observed = self.observed.borrow_mut();
        if output.is_empty() || observed.room == 0 {
            return output.is_empty().then_some(0);
        }
        observed.check_output(output);
        let count = output.len().min(observed.room);
        observed.room -= count;
        observed.written += count;
        observed.progress += count;
        Some(count)
    }
}
