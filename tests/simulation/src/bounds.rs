//! Checks the limits of one machine: each holds, and has effects only where it is reached.

use std::collections::BTreeSet;

use mcp_harness::Role;
use mcp_proto::{
    CommandOutcome, Endpoint, ErrorObject, Fault, Limits, Misuse, OwnedCommand, Side, ViolationKind,
};

use crate::case::Feature;
use crate::model::OpenCall;
use crate::node::{Done, Node};
use crate::observed::Observe;
use crate::party::Shared;
use crate::plan::Mode;
use crate::wire::Lines;

/// The most output bytes per byte of input, and per input.
const REPLY_FACTOR: usize = 16;
const REPLIES_BYTES: usize = 4096;

/// The most bytes sent for one call when its time is up: a repetition or a cancellation.
const CALL_BYTES: usize = 1024;

/// Calls that a machine makes itself and that may end together.
const OWN_CALLS: usize = 64;

/// The observations on a machine's limits so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    heard: Lines,
    /// Texts that are not JSON, and the errors that report them.
    unread: u64,
    answered: u64,
    /// Cancelled requests, and those that must be cancelled.
    cancelled: BTreeSet<u64>,
    owed: BTreeSet<u64>,
}

impl Bounds {
    /// Returns whether the last input ended with a whole line.
    pub(crate) fn is_between_lines(&self) -> bool {
        self.heard.left() == 0
    }

    /// Records a violation reported by the machine.
    pub(crate) fn unread(&mut self, kind: ViolationKind) {
        self.unread += u64::from(kind == ViolationKind::NotJson);
    }

    /// Records a line sent by the machine.
    pub(crate) fn sent(&mut self, line: &str) {
        self.answered +=
            u64::from(!line.starts_with('[') && line.contains("\"error\":{\"code\":-32700,"));
        if let Some((_, rest)) =
            line.split_once(r#""notifications/cancelled","params":{"requestId":"#)
        {
            let digits = rest.split(|character: char| !character.is_ascii_digit()).next();
            self.cancelled.extend(digits.and_then(|digits| digits.parse::<u64>().ok()));
        }
    }
}

/// The size of the machine's outbox, now and ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    bytes: usize,
    lines: usize,
}

impl<R: Role<Event: Observe>> Node<R> {
    pub(crate) fn outside(&mut self) -> Outside {
        Outside { bytes: self.machine.outbox().len(), lines: self.machine.lines_sent() }
    }

    pub(crate) fn is_serving(&self) -> bool {
        !self.machine.is_closed() && self.phase != "draining"
    }

    /// New output waits until there is room; a call without output was answered from the cache.
    pub(crate) fn check_room(
        &mut self,
        shared: &mut Shared,
        before: Outside,
        command: &OwnedCommand,
        done: Done,
    ) {
        let lines = self.outside().lines;
        let limits = self.machine.limits();
        let is_new = match command {
            OwnedCommand::Call { method, .. } => **method != *"ping",
            OwnedCommand::NotifyChanged { .. }
            | OwnedCommand::Subscribe { .. }
            | OwnedCommand::Log { .. }
            | OwnedCommand::Notify { .. }
            | OwnedCommand::Progress { .. }
            | OwnedCommand::SetLogLevel { .. } => true,
            _ => false,
        };
        if is_new && before.bytes > limits.outbox_bytes_max && lines > before.lines {
            self.machine.breach(format!(
                "{} bytes wait, and new output is sent: {command:?}",
                before.bytes
            ));
        }
        if let (OwnedCommand::Call { options, .. }, Ok(CommandOutcome::Call(_))) = (command, done)
            && lines == before.lines
        {
            if R::SIDE == Side::Server || limits.cache_bytes_max == 0 || options.bypass_cache {
                self.machine.breach(format!("a call was accepted and not sent: {command:?}"));
            }
            shared.coverage.mark("limit cache_hit");
        }
    }

    /// Checks that a misuse has a reason.
    pub(crate) fn check_misuse(
        &mut self,
        shared: &mut Shared,
        command: &OwnedCommand,
        misuse: Misuse,
    ) {
        let outbox = self.machine.outbox().len();
        let limits = self.machine.limits();
        let is_full = outbox > limits.outbox_bytes_max;
        match (misuse, command) {
            (Misuse::Closed, _) if self.moment(shared).is_ending || self.phase == "draining" => {}
            (Misuse::Closed, _) => {
                self.machine.breach(format!("`Closed`, and the connection is open: {command:?}"))
            }
            (Misuse::NotReady, _) if self.machine.peer().is_some() && R::SIDE == Side::Client => {
                self.machine.breach(format!("`NotReady` on a ready connection: {command:?}"));
            }
            (Misuse::Blocked, OwnedCommand::Call { params, .. }) => {
                let opening = usize::from(self.machine.peer().is_none());
                let most = self.calls.len() + opening;
                let held = self.calls.values().map(|call| call.bytes).sum::<usize>();
                let bytes = held + params.as_ref().map_or(0, |params| params.as_bytes().len());
                if is_full {
                    shared.coverage.mark("limit outbox_bytes_max");
                } else if self.calls.len() >= limits.calls_max {
                    shared.coverage.mark("limit calls_max");
                } else if limits.calls_bytes_max < 1 << 20 {
                    shared.coverage.mark("limit calls_bytes_max");
                }
                // If input requests are possible, more bytes can be held.
                let holds_more = limits.calls_bytes_max < 1 << 20
                    && (shared.plan.has(Feature::Asks) || shared.plan.mode != Mode::Honest);
                let is_plain = (!holds_more || self.calls.is_empty())
                    && self.asks == 0
                    && self.listens == 0
                    && limits.ping_every.is_none();
                if !is_full
                    && is_plain
                    && most < limits.calls_max
                    && bytes <= limits.calls_bytes_max
                {
                    self.machine.breach(format!(
                        "`Blocked` with {most} of {} calls open and {bytes} of {} bytes",
                        limits.calls_max, limits.calls_bytes_max
                    ));
                }
            }
            (
                Misuse::Blocked,
                OwnedCommand::NotifyChanged { .. }
                | OwnedCommand::Log { .. }
                | OwnedCommand::Notify { .. },
            ) if !is_full => {
                self.machine
                    .breach(format!("`Blocked`, and only {outbox} bytes wait: {command:?}"));
            }
            (Misuse::Blocked, OwnedCommand::RequestInput { questions, .. })
                if questions.len() > limits.input_requests_max =>
            {
                shared.coverage.mark("limit input_requests_max");
            }
            (Misuse::Blocked, OwnedCommand::Progress { .. }) => {
                self.machine.breach("progress is never `Blocked`")
            }
            (
                Misuse::Blocked,
                OwnedCommand::Cancel { .. }
                | OwnedCommand::Close
                | OwnedCommand::RespondError { .. }
                | OwnedCommand::RefuseUndeclared { .. }
                | OwnedCommand::Respond { .. },
            ) => {
                self.machine.breach(format!("an ending command is `Blocked`: {command:?}"));
            }
            (
                Misuse::Stale,
                OwnedCommand::Respond { incoming, .. }
                | OwnedCommand::RespondError { incoming, .. },
            ) if self.requests.contains_key(&u64::from(*incoming)) => {
                // The event of its cancellation was not polled yet.
                self.withdrawn.insert((*incoming).into());
            }
            _ => {}
        }
    }

    /// Records that a call ended on this side: the peer must be notified if it received the call,
    /// which kept its own id if no input was requested.
    pub(crate) fn owe_cancel(&mut self, shared: &Shared, call: u64, open: &OpenCall) {
        let in_session =
            self.machine.peer().is_some_and(|peer| peer.revision.rules().server_requests);
        let is_plain =
            in_session || (shared.plan.mode == Mode::Honest && shared.model.is_plain(open));
        if is_plain && !open.is_listening && !open.is_early {
            self.bounds.owed.insert(call);
        }
    }

    /// Checks that abandoned calls were cancelled.
    pub(crate) fn check_cancels(&mut self) {
        let owed = self.bounds.owed.difference(&self.bounds.cancelled).next().copied();
        if let Some(call) = owed.filter(|_| self.machine.outbox().is_empty()) {
            self.machine.breach(format!("call#{call} ended on this side and was not cancelled"));
        }
    }

    /// Checks that the output for one piece of input is bounded.
    pub(crate) fn check_replies(&mut self, before: Outside, piece: &[u8]) {
        let most =
            before.bytes + REPLY_FACTOR * (self.bounds.heard.left() + piece.len()) + REPLIES_BYTES;
        self.check_outbox(most, "one piece of input");
    }

    /// Checks that the output of a timeout is bounded by the open calls; a client may also give up
    /// its probe.
    pub(crate) fn check_timeout(&mut self, shared: &mut Shared, before: Outside) {
        let calls = self.calls.len() + self.asks * 4 + OWN_CALLS;
        self.check_outbox(before.bytes + calls * CALL_BYTES, "a timeout");
        let outbox = self.machine.outbox();
        let added = outbox.chunk().get(before.bytes..).unwrap_or_default();
        if String::from_utf8_lossy(added).contains(r#""method":"initialize""#) {
            shared.coverage.mark("limit probe_timeout");
        }
    }

    fn check_outbox(&mut self, most: usize, why: &str) {
        let bytes = self.machine.outbox().len();
        if bytes > most {
            self.machine.breach(format!("after {why} {bytes} bytes wait, of {most}"));
        }
    }

    /// Checks that, once all events are polled, the machine reads if and only if the peer does.
    pub(crate) fn check_reading(&mut self) {
        let is_read = self.machine.outbox().len() <= self.machine.limits().replies_bytes_max;
        let (wants, is_serving) = (self.machine.wants_input(), self.is_serving());
        // A machine that awaits a response continues reading for a while.
        let is_right = if is_read { wants == is_serving } else { !wants || is_serving };
        if !is_right {
            self.machine
                .breach(format!("nothing else prevents reading, and `wants_input` is {wants}"));
        }
    }

    /// Marks the limits that a piece of input reached.
    pub(crate) fn mark_heard(&mut self, shared: &mut Shared, piece: &[u8]) {
        let is_read = self.machine.outbox().len() <= self.machine.limits().replies_bytes_max;
        let (wants, is_serving) = (self.machine.wants_input(), self.is_serving());
        let (limits, usual) = (self.machine.limits(), Limits::default());
        if !wants && is_read && is_serving {
            // With both, either may be the cause.
            match (
                limits.events_max < usual.events_max,
                limits.events_bytes_max < usual.events_bytes_max,
            ) {
                (true, false) => shared.coverage.mark("limit events_max"),
                (false, true) => shared.coverage.mark("limit events_bytes_max"),
                _ => {}
            }
        }
        for line in self.bounds.heard.take(piece) {
            let id = line
                .split_once("\"id\":\"")
                .and_then(|(_, rest)| rest.split('"').next())
                .unwrap_or_default();
            let is_taken = shared.plan.mode != Mode::Honest
                && is_serving
                && line.len() <= limits.message_bytes_max;
            if is_taken && id.len() + 2 > limits.id_bytes_max {
                shared.coverage.mark("limit id_bytes_max");
            }
        }
    }

    /// Marks the limits that the output, or its absence, reveals.
    pub(crate) fn mark_sent(&mut self, shared: &mut Shared) {
        let (left, limits) = (self.machine.outbox().len(), self.machine.limits());
        if left > limits.replies_bytes_max {
            shared.coverage.mark("limit replies_bytes_max");
        }
        // A server answers every text it cannot parse, unless there are too many.
        let is_answered = R::SIDE == Side::Server && !shared.plan.has(Feature::Policies);
        if is_answered && left == 0 && !self.is_busy && self.bounds.unread > self.bounds.answered {
            self.bounds.unread = self.bounds.answered;
            shared.coverage.mark("limit error_replies_max");
        }
    }

    /// Marks the peer's limit that an error response reveals.
    pub(crate) fn mark_refusal(shared: &mut Shared, call: &OpenCall, error: &ErrorObject) {
        let limits = &shared.plan.limits[1];
        if R::SIDE == Side::Server
            || shared.plan.mode != Mode::Honest
            || !error.message.contains("too many subscriptions")
        {
            return;
        }
        // It may be the limit on their total bytes, too.
        let limit = if call.resources > limits.subscription_uris_max {
            "subscription_uris_max"
        } else if limits.subscriptions_bytes_max < Limits::default().subscriptions_bytes_max {
            "subscriptions_bytes_max"
        } else {
            "subscriptions_max"
        };
        shared.coverage.mark(&format!("limit {limit}"));
    }
}

/// Marks the limit that a fault reveals.
pub(crate) fn mark_fault(shared: &mut Shared, fault: &Fault) {
    let limit = match fault {
        Fault::HandshakeTimedOut => "handshake_timeout",
        Fault::Stalled => "stall_timeout",
        Fault::TooManyViolations => "violations_max",
        Fault::Unresponsive => "pings_missed_max",
        _ => return,
    };
    shared.coverage.mark(&format!("limit {limit}"));
}

/// Marks the limit that a violation reveals.
pub(crate) fn mark_violation(shared: &mut Shared, detail: &str) {
    let limits = [
        ("too many messages in one batch", "batch_members_max"),
        ("nested too deeply", "depth_max"),
        ("message exceeds", "message_bytes_max"),
    ];
    for (_, limit) in limits.iter().filter(|(words, _)| detail.starts_with(words)) {
        shared.coverage.mark(&format!("limit {limit}"));
    }
}
