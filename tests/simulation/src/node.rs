//! One machine of a world under observation, with its application and its records.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_harness::{Checked, Pipe, Role, Seed, Step};
use mcp_proto::{
    CallError, CloseReason, CommandOutcome, Endpoint, Instant, Misuse, OwnedCommand, Raw,
    RoleEndpoint as _, Side, ViolationKind,
};

use crate::bounds::{self, Bounds};
use crate::case::Feature;
use crate::model::{Moment, OpenCall, tag_of};
use crate::observed::{Observe, Observed, variant};
use crate::party::{Party, Shared};
use crate::plan::{Action, Mode};
use crate::wire::Lines;

/// The outcome of a command.
pub(crate) type Done = Result<CommandOutcome, Misuse>;

/// A machine and its application.
pub(crate) struct Node<R: Role> {
    pub(crate) machine: Checked<R>,
    pub(crate) calls: BTreeMap<u64, OpenCall>,
    pub(crate) requests: BTreeMap<u64, OpenRequest>,
    /// Finished requests and calls.
    pub(crate) over: Vec<u64>,
    /// Requests the machine reports as cancelled: an event must follow.
    pub(crate) withdrawn: BTreeSet<u64>,
    /// Lists with more pages.
    pub(crate) pages: Vec<String>,
    /// The number of input requests and of subscriptions.
    pub(crate) asks: usize,
    /// Resources subscribed to.
    pub(crate) watched: usize,
    pub(crate) listens: usize,
    /// The most requests open since the output was last drained.
    peak: usize,
    pub(crate) is_busy: bool,
    /// The latest time the machine has seen.
    seen: Instant,
    pub(crate) phase: &'static str,
    lines: Lines,
    pub(crate) bounds: Bounds,
    /// Everything that happened to the machine, for the replay.
    pub(crate) record: Record,
    name: &'static str,
}

/// A request as its application knows it.
#[derive(Clone, Debug)]
pub(crate) struct OpenRequest {
    pub(crate) method: String,
    pub(crate) tag: u64,
    pub(crate) progress: f64,
    /// The call this input request belongs to.
    pub(crate) call: Option<u64>,
}

/// The history of a machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// The inputs.
    pub(crate) steps: Vec<Step>,
    /// The events.
    pub(crate) events: Vec<String>,
    /// The output.
    pub(crate) lines: Vec<String>,
    at: Instant,
}

impl Record {
    fn note(&mut self, now: Instant, step: Step) {
        let passed = now.duration_since(self.at);
        if !passed.is_zero() {
            self.steps.push(Step::Jump(passed));
            self.at = now;
        }
        self.steps.push(step);
    }
}

impl<R: Role<Event: Observe>> Node<R> {
    /// Creates a node with a fresh machine.
    pub(crate) fn new(machine: Checked<R>) -> Self {
        Self {
            machine,
            calls: BTreeMap::new(),
            requests: BTreeMap::new(),
            over: Vec::new(),
            withdrawn: BTreeSet::new(),
            pages: Vec::new(),
            asks: 0,
            watched: 0,
            listens: 0,
            peak: 0,
            is_busy: false,
            seen: Instant::ZERO,
            phase: "opening",
            lines: Lines::default(),
            bounds: Bounds::default(),
            record: Record::default(),
            name: if R::SIDE == Side::Client { "client" } else { "server" },
        }
    }

    pub(crate) fn mark(&self, shared: &mut Shared, group: &str, name: &str) {
        shared.coverage.mark(&format!("{group} {}.{name}", self.name));
    }

    pub(crate) fn moment(&self, shared: &Shared) -> Moment {
        Moment {
            now: shared.now,
            is_ending: self.machine.is_closed() || !self.machine.wants_input(),
            is_honest: shared.plan.mode == Mode::Honest,
            is_limited: shared.plan.has(Feature::SmallLimits),
        }
    }

    /// Draws the current or an earlier time; the machine must accept both.
    fn about_now(&self, shared: &Shared, random: u64) -> Instant {
        if !shared.plan.has(Feature::BackwardClock) || !random.is_multiple_of(3) {
            return shared.now;
        }
        Instant::from_nanos(shared.now.as_nanos().saturating_sub(random % 3_000_000_000))
    }

    fn follow_phase(&mut self, shared: &mut Shared) {
        let phase = match (self.machine.is_closed(), self.machine.peer().is_some()) {
            (true, _) => "closed",
            (false, _) if R::SIDE == Side::Server && self.record_ended() => "draining",
            (false, true) => "ready",
            (false, false) => "opening",
        };
        let before = std::mem::replace(&mut self.phase, phase);
        if before != phase {
            self.mark(shared, "phase", &format!("{before}->{phase}"));
            if before == "draining" && !self.requests.is_empty() {
                shared.coverage.mark("limit drain_timeout");
            }
        }
    }

    fn record_ended(&self) -> bool {
        matches!(self.record.steps.last(), Some(Step::Eof | Step::Apply(OwnedCommand::Close)))
            || self.phase == "draining"
    }

    /// Applies a command, and checks the outcome against the model.
    pub(crate) fn perform(&mut self, shared: &mut Shared, command: OwnedCommand) -> Done {
        let open = self.machine.ledger().open_requests().count();
        let before = self.outside();
        let done = self.machine.apply_owned(shared.now, &command);
        self.check_room(shared, before, &command, done);
        self.follow_phase(shared);
        self.peak = self.peak.max(open);
        self.seen = shared.now;
        self.record.note(shared.now, Step::Apply(command.clone()));
        if let Err(misuse) = done {
            self.mark(shared, "misuse", &format!("{misuse:?}"));
            self.check_misuse(shared, &command, misuse);
        }
        done
    }

    fn observe(&mut self, shared: &mut Shared, observed: Observed) {
        self.mark(shared, "event", &variant(&observed));
        match observed {
            Observed::Cancelled(incoming) => self.end_request(incoming),
            Observed::Closed(why) => self.closed(shared, &why),
            Observed::Completed { call, outcome } => self.completed(shared, call, outcome),
            Observed::Progress { call, progress } => {
                let is_honest = shared.plan.mode == Mode::Honest;
                let Some(open) = self.calls.get_mut(&call) else { return };
                if let Err(why) = shared.model.advance(open, progress, is_honest) {
                    self.machine.breach(format!("call#{call}: {why}"));
                }
            }
            Observed::Ready(revision) => self.mark(shared, "spoken", revision.name()),
            Observed::Request { incoming, call, request, is_answered } => {
                let tag = tag_of(request.params.as_ref());
                if tag != 0
                    && shared.plan.mode == Mode::Honest
                    && let Err(why) = shared.model.deliver(tag, &request.method)
                {
                    self.machine.breach(format!("request#{incoming}: {why}"));
                }
                if is_answered {
                    self.mark(shared, "event", "Request.again");
                }
                if let Some(open) = call.and_then(|call| self.calls.get_mut(&call)) {
                    open.questions += 1;
                }
                let method = request.method.to_string();
                self.requests.insert(incoming, OpenRequest { method, tag, progress: 0.0, call });
                self.peak = self.peak.max(self.requests.len());
            }
            Observed::Violation(kind, detail) => self.violated(shared, kind, &detail),
            Observed::Watched => self.watched += 1,
            Observed::Unwatched => self.watched -= 1,
            Observed::Subscribed | Observed::Notification => {}
        }
    }

    pub(crate) fn end_request(&mut self, incoming: u64) {
        if self.requests.remove(&incoming).is_some() {
            self.over.push(incoming);
        }
        self.withdrawn.remove(&incoming);
    }

    fn completed(&mut self, shared: &mut Shared, call: u64, outcome: Result<Raw, CallError>) {
        let end = outcome.as_ref().map_or_else(variant, |_| "ok".to_owned());
        self.mark(shared, "call", &end);
        match &outcome {
            Err(CallError::TooManyRounds) => shared.coverage.mark("limit input_rounds_max"),
            Err(CallError::TimedOut) => shared.coverage.mark("limit call_timeout"),
            _ => {}
        }
        let Some(open) = self.calls.remove(&call) else { return };
        match &outcome {
            Err(CallError::Refused(error)) => Self::mark_refusal(shared, &open, error),
            Err(CallError::Cancelled | CallError::TimedOut) => self.owe_cancel(shared, call, &open),
            _ => {}
        }
        if let Err(why) = shared.model.complete(&open, &outcome, self.moment(shared)) {
            self.machine.breach(format!("call#{call} ended with {outcome:?}: {why}"));
        }
        let next = outcome.ok().and_then(|result| result.member("nextCursor"));
        if next.is_some() && R::SIDE == Side::Client {
            self.pages.push("tools/list".into());
        }
    }

    fn closed(&self, shared: &mut Shared, why: &CloseReason) {
        match why {
            CloseReason::Fault(fault) => {
                self.mark(shared, "fault", &variant(fault));
                bounds::mark_fault(shared, fault);
            }
            other => self.mark(shared, "close", &variant(other)),
        }
    }

    fn violated(&mut self, shared: &mut Shared, kind: ViolationKind, detail: &str) {
        self.mark(shared, "violation", &variant(&kind));
        bounds::mark_violation(shared, detail);
        self.bounds.unread(kind);
        let is_honest = shared.plan.mode == Mode::Honest && !shared.is_broken;
        if is_honest && !shared.plan.has(Feature::SmallLimits) {
            self.machine.breach(format!("an honest peer: {kind}: {detail}"));
        }
    }

    /// Records a line sent: marks what it reaches, and checks that an error response has its
    /// reason.
    fn sent(&mut self, shared: &mut Shared, line: &str) {
        let what = crate::wire::name_of(line);
        self.mark(shared, "wire", what);
        self.bounds.sent(line);
        if line.contains("\"input_required\"") {
            self.mark(shared, "wire", "input_required");
        }
        let limits = self.machine.limits();
        if line.contains("too many requests are open") && !line.starts_with('[') {
            shared.coverage.mark("limit requests_max");
            let is_plain = self.asks == 0
                && !shared.plan.has(Feature::BusyApplications)
                && limits.requests_bytes_max > 1 << 20;
            if is_plain && self.peak < limits.requests_max {
                let most = limits.requests_max;
                self.machine
                    .breach(format!("a request was refused with {} of {most} open", self.peak));
            }
        }
    }

    /// Returns whether this request stays unanswered.
    pub(crate) fn is_neglected(&self, shared: &Shared, request: u64) -> bool {
        shared.plan.has(Feature::NeverAnswers) && request.is_multiple_of(4)
    }
}

impl<R: Role<Event: Observe>> Party for Node<R> {
    fn send(&mut self, shared: &mut Shared, link: &mut Pipe) -> bool {
        let mut sent = Vec::new();
        let moved =
            link.send(shared.now, self.machine.outbox(), |piece| sent.extend_from_slice(piece));
        for line in self.lines.take(&sent) {
            self.sent(shared, &line);
            self.record.lines.push(line);
        }
        // An error response may wait in the outbox long after its reason is gone.
        if self.machine.outbox().is_empty() {
            self.peak = self.requests.len();
        }
        self.mark_sent(shared);
        moved
    }

    fn wants_input(&self) -> bool {
        self.machine.wants_input()
    }

    fn hear(&mut self, shared: &mut Shared, piece: &[u8]) {
        let now = self.about_now(shared, piece.len() as u64 * 777_767_777 + shared.now.as_nanos());
        self.seen = self.seen.max(now);
        self.record.note(self.seen, Step::Input(piece.to_vec()));
        let before = self.outside();
        self.machine.handle_input(now, piece);
        self.check_replies(before, piece);
        self.follow_phase(shared);
        self.mark_heard(shared, piece);
    }

    fn hear_end(&mut self, shared: &mut Shared) {
        self.seen = shared.now;
        self.record.note(shared.now, Step::Eof);
        self.machine.handle_eof(shared.now);
        self.follow_phase(shared);
    }

    fn next_wake(&self, shared: &Shared) -> Option<Instant> {
        let due = self.machine.poll_timeout()?;
        let mut at = due.as_nanos();
        if shared.plan.has(Feature::LateTimers) {
            at += at.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 200_000_000;
        }
        if shared.plan.has(Feature::CoarseTimers) {
            at = at.div_ceil(50_000_000) * 50_000_000;
        }
        Some(Instant::from_nanos(at))
    }

    fn wake(&mut self, shared: &mut Shared) -> bool {
        if self.next_wake(shared).is_none_or(|at| at > shared.now) {
            return false;
        }
        self.seen = shared.now;
        self.record.note(shared.now, Step::Tick);
        let before = self.outside();
        self.machine.handle_timeout(shared.now);
        self.check_timeout(shared, before);
        self.follow_phase(shared);
        true
    }

    fn look(&mut self, shared: &mut Shared) -> bool {
        if self.is_busy {
            return false;
        }
        let mut moved = false;
        while let Some(event) = self.machine.poll_event() {
            self.record.events.push(format!("{event:?}"));
            self.observe(shared, event.into_observed());
            moved = true;
        }
        if let Some(request) = self.withdrawn.first() {
            self.machine.breach(format!("request#{request} is stale without a cancellation event"));
        }
        self.follow_phase(shared);
        self.check_reading();
        moved
    }

    fn act(&mut self, shared: &mut Shared, action: Action, random: &mut Seed) -> bool {
        match action {
            Action::EarlyTick => {
                // Not recorded: it must change nothing.
                let is_early = self.machine.poll_timeout().is_none_or(|at| at > shared.now);
                if is_early {
                    self.seen = shared.now;
                    self.machine.handle_timeout(shared.now);
                }
                is_early
            }
            Action::Wake => {
                self.is_busy = random.below(2) == 0 && shared.plan.has(Feature::BusyApplications);
                self.look(shared)
            }
            other => self.apply(shared, other, random),
        }
    }

    fn catch_up(&mut self, shared: &mut Shared) -> bool {
        self.is_busy = false;
        let mut moved = self.look(shared);
        let open: Vec<u64> = self.requests.keys().copied().collect();
        for request in open {
            if !self.is_neglected(shared, request) {
                let _misuse = self.answer(shared, request, &mut Seed(request));
                moved = true;
            }
        }
        moved
    }

    fn is_open(&self) -> bool {
        !self.machine.is_closed() && self.calls.values().any(|call| !call.is_listening)
    }

    fn check_rest(&mut self, _: &mut Shared) {
        if self.machine.is_closed() {
            return;
        }
        let open = self.calls.iter().find(|(_, call)| !call.is_listening);
        if let Some((call, _)) = open {
            self.machine.breach(format!("call#{call} never ended"));
        }
        self.check_cancels();
    }

    fn stop_listening(&mut self, shared: &mut Shared) -> bool {
        let listening =
            self.calls.iter().filter(|(_, call)| call.is_listening && !call.is_cancelled);
        let listening: Vec<u64> = listening.map(|(call, _)| *call).collect();
        for call in &listening {
            let _misuse = self.cancel_call(shared, *call);
        }
        !listening.is_empty()
    }

    fn check_room_again(&mut self, shared: &mut Shared, without_subscriptions: bool) {
        self.take_in_again(shared, without_subscriptions);
        self.call_again(shared, without_subscriptions);
    }

    fn check_end(&mut self, shared: &mut Shared) {
        self.is_busy = false;
        self.look(shared);
        if !self.machine.is_closed() {
            self.machine.breach("the machine never closed");
        }
        if !self.machine.ledger().is_closed() {
            self.machine.breach("the machine is closed, and no event reports it");
        }
        if !self.calls.is_empty() {
            self.machine.breach(format!("calls are left: {:?}", self.calls));
        }
        self.machine.handle_timeout(shared.now + Duration::from_secs(1 << 20));
        self.machine
            .handle_input(shared.now, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        if self.machine.poll_event().is_some() {
            self.machine.breach("an event after the end");
        }
    }

    fn is_done(&mut self) -> bool {
        self.machine.is_closed() && self.machine.outbox().is_empty()
    }

    fn timeline(&self) -> String {
        format!("--- {} ---\n{}", self.name, self.machine.transcript())
    }
}
