//! Plays a scenario on one checked machine and records its output.

use std::time::Duration;

use mcp_proto::{Endpoint, Instant, RoleEndpoint as _};

use crate::check::Checked;
use crate::role::Role;
use crate::script::{Cut, Play, Polls, Script, Step, Trace};
use crate::witness::Witness;

/// A machine and its output so far.
pub(crate) struct Player<R: Role> {
    pub(crate) machine: Checked<R>,
    pub(crate) trace: Trace,
    /// The events, in the notation of golden transcripts.
    pub(crate) told: Vec<String>,
    now: Instant,
    polls: Polls,
    cut: Cut,
    half: Vec<u8>,
    /// The number of input bytes so far.
    taken: usize,
}

impl<R: Role> Player<R> {
    pub(crate) fn new(mut machine: Checked<R>, play: Play) -> Self {
        machine.label(format!("{play:?}"));
        Self {
            machine,
            trace: Trace::default(),
            told: Vec::new(),
            now: Instant::ZERO,
            polls: play.polls,
            cut: play.cut,
            half: Vec::new(),
            taken: 0,
        }
    }

    pub(crate) fn run(mut self, script: &Script) -> Trace {
        self.poll();
        let mut steps = script.steps.iter().peekable();
        while let Some(step) = steps.next() {
            let Step::Input(first) = step else {
                self.step(step);
                continue;
            };
            let mut moment = vec![first.clone()];
            while let Some(Step::Input(more)) = steps.next_if(|next| matches!(next, Step::Input(_)))
            {
                moment.push(more.clone());
            }
            for piece in self.pieces(&moment) {
                self.input(&piece);
            }
        }
        self.finish()
    }

    /// Plays one step completely.
    pub(crate) fn step(&mut self, step: &Step) {
        if let Step::Input(bytes) = step {
            return self.input(bytes);
        }
        self.moment();
        match step {
            Step::Apply(command) => {
                self.poll_events();
                let done = self.machine.apply_owned(self.now, command);
                self.trace.done.push(done);
                self.poll();
            }
            Step::Eof => {
                self.machine.handle_eof(self.now);
                self.poll();
            }
            Step::Input(_) => {}
            Step::Jump(time) => self.now += *time,
            Step::Tick => {
                self.machine.handle_timeout(self.now);
                self.poll();
            }
            Step::Wait(time) => self.wait(*time),
        }
    }

    /// Takes the rest, and checks that without a deadline, waiting changes nothing.
    fn finish(mut self) -> Trace {
        self.poll_events();
        self.poll_lines(usize::MAX);
        self.moment();
        if self.machine.poll_timeout().is_none() {
            self.machine.handle_timeout(self.now + Duration::from_secs(1 << 30));
            if self.machine.poll_event().is_some() || !self.machine.outbox().is_empty() {
                self.machine.breach("there was no deadline, and waiting changed something");
            }
        }
        self.trace
    }

    fn moment(&mut self) {
        let deadline = self.machine.poll_timeout();
        if self.polls == Polls::Nervous && deadline != self.machine.poll_timeout() {
            self.machine.breach("`poll_timeout` changed the deadline");
        }
        self.trace.moments.push((deadline, self.machine.is_closed()));
    }

    fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.machine.poll_timeout().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.machine.handle_timeout(self.now);
            self.poll();
        }
        self.now = until;
        self.machine.handle_timeout(until);
        self.poll();
    }

    fn input(&mut self, piece: &[u8]) {
        let mut now = self.now;
        if self.polls == Polls::Nervous {
            // Time that goes back counts as no time passing.
            now = Instant::from_nanos(now.as_nanos().saturating_sub(1_000_000_000));
            self.machine.handle_timeout(now);
        }
        self.machine.handle_input(now, piece);
        self.poll();
    }

    fn pieces(&mut self, moment: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let whole = moment.concat();
        let start = self.taken;
        self.taken += whole.len();
        match &mut self.cut {
            Cut::At(point) if start < *point && *point < start + whole.len() => {
                let (head, tail) = whole.split_at(*point - start);
                vec![head.to_vec(), tail.to_vec()]
            }
            Cut::At(_) | Cut::Whole => vec![whole],
            Cut::Bytes(size) => whole.chunks((*size).max(1)).map(<[u8]>::to_vec).collect(),
            Cut::Steps => moment.to_vec(),
            Cut::Seeded(seed) => {
                let mut rest = whole.as_slice();
                let mut pieces = Vec::new();
                while !rest.is_empty() {
                    let (head, tail) = rest.split_at((1 + seed.below(96)).min(rest.len()));
                    pieces.push(head.to_vec());
                    rest = tail;
                }
                pieces
            }
        }
    }

    pub(crate) fn poll(&mut self) {
        match self.polls {
            Polls::EventsFirst => {
                self.poll_events();
                self.poll_lines(usize::MAX);
            }
            Polls::Late => {}
            Polls::Nervous => {
                for _ in 0..2 {
                    self.poll_lines(1);
                    self.machine.handle_timeout(self.now);
                    self.poll_events();
                    self.moment_is_stable();
                }
            }
            Polls::OutboxFirst => {
                self.poll_lines(usize::MAX);
                self.poll_events();
            }
            Polls::Seeded(mut seed) => {
                for _ in 0..seed.below(4) {
                    match seed.below(3) {
                        0 => _ = self.take_event(),
                        1 => _ = self.take_bytes(1 + seed.below(200)),
                        _ => self.machine.handle_timeout(self.now),
                    }
                }
                self.polls = Polls::Seeded(seed);
            }
        }
    }

    fn moment_is_stable(&self) {
        let stable =
            (self.machine.poll_timeout(), self.machine.is_closed(), self.machine.wants_input());
        let again =
            (self.machine.poll_timeout(), self.machine.is_closed(), self.machine.wants_input());
        if stable != again {
            self.machine.breach("an accessor changed the machine");
        }
    }

    fn poll_events(&mut self) {
        while self.take_event() {}
    }

    fn take_event(&mut self) -> bool {
        let Some(event) = self.machine.poll_event() else { return false };
        self.told.push(event.tell());
        self.trace.events.push(format!("{event:?}"));
        true
    }

    /// Takes all bytes, in pieces of `size`.
    fn poll_lines(&mut self, size: usize) {
        while self.take_bytes(size) {}
    }

    fn take_bytes(&mut self, size: usize) -> bool {
        let outbox = self.machine.outbox();
        let size = size.min(outbox.len());
        self.half.extend_from_slice(outbox.chunk().get(..size).unwrap_or_default());
        outbox.advance(size);
        while let Some(end) = self.half.iter().position(|byte| *byte == b'\n') {
            let rest = self.half.split_off(end + 1);
            self.half.pop();
            self.trace.lines.push(String::from_utf8_lossy(&self.half).into_owned());
            self.half = rest;
        }
        size > 0
    }
}
