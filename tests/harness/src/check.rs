//! Checks one machine: every byte, event and deadline is compared with the promises as it passes.
//!
//! It combines the [`Ledger`] of calls and requests and the [`WireRules`] with time; expectations
//! of a scenario are up to the test.

use std::fmt::Display;

use mcp_proto::{
    CommandOutcome, Endpoint, Instant, MessageEndpoint, Misuse, Outbox, OwnedCommand, RoleEndpoint,
};

use crate::ledger::Ledger;
use crate::role::Role;
use crate::wire::WireRules;
use crate::witness::Witness;
use mcp_proto::testing::Transcript;

/// A machine that panics on any broken promise, with the transcript of what led to it.
///
/// It is driven like the machine itself, through [`Endpoint`]. Checked are: one end per call; one
/// response per incoming request; whole, legal lines; no flood of errors; progress that increases
/// and never follows its response; cancellations that follow their request; a misuse that sends
/// nothing; deadlines in the future once `handle_timeout` returns; and nothing after `Closed`.
#[derive(Debug)]
pub struct Checked<R: Role> {
    inner: R,
    now: Instant,
    wire: WireRules,
    ledger: Ledger,
    transcript: Transcript,
    label: String,
    /// The number of outbox bytes checked so far.
    observed: u64,
    /// The number of lines sent.
    lines: usize,
    /// Whether either side closed: further input is not accepted.
    is_ending: bool,
    /// Whether each line of input is passed separately.
    is_by_line: bool,
}

impl<R: Role> Checked<R> {
    /// Wraps a fresh machine.
    pub fn new(inner: R) -> Self {
        let wire = WireRules::new(R::SIDE, inner.limits().clone());
        let mut checked = Self {
            inner,
            now: Instant::ZERO,
            wire,
            ledger: Ledger::default(),
            transcript: Transcript::default(),
            label: String::new(),
            observed: 0,
            lines: 0,
            is_ending: false,
            is_by_line: false,
        };
        checked.observe();
        checked
    }

    /// Restricts the checks to legacy revisions: modern requests have no meaning for the machine.
    #[must_use]
    pub const fn legacy_only(mut self) -> Self {
        self.wire.is_modern = false;
        self
    }

    /// Passes each line of input separately, so that each response can be matched to its input, for
    /// a peer that may use one id several times concurrently.
    #[must_use]
    pub const fn by_line(mut self) -> Self {
        self.is_by_line = true;
        self
    }

    /// Wraps a machine whose peer may send anything: only the form of its output is checked.
    pub fn with_hostile_peer(inner: R) -> Self {
        let mut checked = Self::new(inner);
        checked.wire = checked.wire.form_only();
        checked
    }

    /// Adds a label to failures: a seed, a file, a split point.
    pub fn label(&mut self, label: impl Display) {
        self.label = label.to_string();
    }

    /// Returns the history so far.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Returns the ledger.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the machine.
    #[must_use]
    pub const fn inner(&self) -> &R {
        &self.inner
    }

    /// Returns the number of lines the machine has sent.
    #[must_use]
    pub const fn lines_sent(&self) -> usize {
        self.lines
    }

    /// Fails with the whole transcript.
    ///
    /// # Panics
    ///
    /// Always.
    pub fn breach(&self, what: impl Display) -> ! {
        let label =
            if self.label.is_empty() { String::new() } else { format!("\n  in: {}", self.label) };
        panic!("{:?} at {}: {what}{label}\n{}", R::SIDE, self.now, self.transcript)
    }

    fn hold<T>(&self, checked: Result<T, String>) -> T {
        checked.unwrap_or_else(|breach| self.breach(breach))
    }

    fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    fn hand_over(&mut self, now: Instant, input: &[u8]) {
        self.advance(now);
        for line in input.split_inclusive(|byte| *byte == b'\n') {
            self.transcript.note_bytes(now, ">", line);
        }
        if !self.is_ending {
            self.wire.hear(input);
        }
        self.inner.handle_input(now, input);
        self.observe();
        self.wire.settle();
    }

    /// Checks new output in the outbox; returns whether there was any.
    fn observe(&mut self) -> bool {
        let now = self.now;
        let outbox = self.inner.outbox();
        let skip = usize::try_from(self.observed.saturating_sub(outbox.sent_total()))
            .unwrap_or(usize::MAX);
        let added = outbox.chunk().get(skip..).unwrap_or_default().to_vec();
        if outbox.chunk().len() != outbox.len() {
            self.breach("the outbox returns fewer bytes than `remaining`");
        }
        if added.is_empty() {
            return false;
        }
        self.observed += added.len() as u64;
        if added.last() != Some(&b'\n') {
            self.breach("the outbox ends in the middle of a message (FRM-01)");
        }
        for line in added.split_inclusive(|byte| *byte == b'\n') {
            let line = line.get(..line.len() - 1).unwrap_or_default();
            self.lines += 1;
            self.transcript.note_bytes(now, "<", line);
            let checked = self.wire.check(now, line);
            self.hold(checked);
        }
        if self.ledger.is_closed() {
            self.breach("bytes were added after `Closed`");
        }
        true
    }

    /// Records the effect of a command in the ledger.
    fn applied(&mut self, command: &OwnedCommand, applied: CommandOutcome) {
        let checked = match command {
            OwnedCommand::Cancel { call, .. } => self.ledger.cancelled(*call),
            OwnedCommand::RequestInput { incoming, .. } => self.ledger.asked(*incoming),
            OwnedCommand::RefuseUndeclared { incoming, .. }
            | OwnedCommand::Respond { incoming, .. }
            | OwnedCommand::RespondError { incoming, .. } => self.ledger.answered(*incoming),
            _ => applied.call().map_or(Ok(()), |call| self.ledger.called(call)),
        };
        self.hold(checked);
    }
}

impl<R: Role> Endpoint for Checked<R> {
    fn handle_input(&mut self, now: Instant, input: &[u8]) {
        if self.is_by_line {
            input.split_inclusive(|byte| *byte == b'\n').for_each(|line| self.hand_over(now, line));
        } else {
            self.hand_over(now, input);
        }
    }

    fn handle_eof(&mut self, now: Instant) {
        self.advance(now);
        self.transcript.note(now, "eof", "");
        if !std::mem::replace(&mut self.is_ending, true) {
            self.wire.hear_end();
        }
        self.inner.handle_eof(now);
        self.observe();
        self.wire.settle();
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
        let due = self.inner.poll_timeout().is_some_and(|at| at <= self.now);
        self.inner.handle_timeout(now);
        if due {
            self.transcript.note(now, "timeout", "");
        }
        if self.observe() && !due {
            self.breach("a timeout that was not due sent something");
        }
        if let Some(at) = self.inner.poll_timeout().filter(|at| *at <= self.now) {
            self.breach(format!("after `handle_timeout` the deadline {at} is not in the future"));
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let deadline = self.inner.poll_timeout();
        if self.inner.is_closed() && deadline.is_some() {
            self.breach("a deadline after the end");
        }
        deadline
    }

    fn outbox(&mut self) -> &mut Outbox {
        self.observe();
        self.inner.outbox()
    }

    fn wants_input(&self) -> bool {
        let wants = self.inner.wants_input();
        if wants && self.inner.is_closed() {
            self.breach("the machine wants input after the end");
        }
        wants
    }

    fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }
}

impl<R: Role> RoleEndpoint for Checked<R> {
    type Event = R::Event;
    type Role = R::Role;

    fn role(&self) -> &R::Role {
        self.inner.role()
    }

    fn apply(
        &mut self,
        now: Instant,
        command: <R::Role as MessageEndpoint>::Command<'_>,
    ) -> Result<CommandOutcome, Misuse> {
        self.advance(now);
        let owned = self.role().to_owned_command(command.clone());
        if owned == OwnedCommand::Close {
            self.is_ending = true;
        }
        let applied = self.inner.apply(now, command);
        if let Ok(applied) = applied {
            self.applied(&owned, applied);
        }
        let shown = applied.map_or_else(|misuse| format!("{misuse:?}"), |_| "ok".into());
        self.transcript.note(self.now, "@", format!("{owned} = {shown}"));
        if self.observe() && applied.is_err() {
            self.breach(format!("`{owned}` was a misuse and sent something"));
        }
        applied
    }

    fn poll_event(&mut self) -> Option<R::Event> {
        let event = self.inner.poll_event()?;
        self.transcript.note(self.now, "!", event.tell());
        let checked = self.ledger.event(event.seen());
        self.hold(checked);
        if self.ledger.is_closed() && !self.inner.is_closed() {
            self.breach("`Closed` was polled and `is_closed` is false");
        }
        Some(event)
    }
}
