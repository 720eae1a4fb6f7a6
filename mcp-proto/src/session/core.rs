//! The state of one connection, its clock, its ends, and its way out; what messages mean is told in `receive`, what
//! the application does in `send`.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::batch::Batches;
use super::cache::Cache;
use super::calls::{Asker, CallId, Calls};
use super::changes::Subscribers;
use super::event::{Event, Events};
use super::guard::{Guard, Violation, ViolationKind, ViolationPolicy};
use super::incoming::{IncomingId, IncomingTable, Open};
use super::listen::Listens;
use super::outcome::{CallError, Close, Fault};
use super::peer::Peer;
use super::phase::{Phase, Trigger};
use super::probe::Opening;
use super::rounds::WaitsFor;
use super::stamp::Stamp;
use super::stateless::Said;
use super::timers::{Timer, Timers, sooner};
use crate::collections::LazyBox;
use crate::error::{Misuse, Unencodable};
use crate::json::Raw;
use crate::limits::Limits;
use crate::revision::{Era, MethodRule, Revision, Rules, Side};
use crate::rpc;
use crate::schema::{Capabilities, Implementation, Level};
use crate::time::Instant;
use crate::wire::{Outbox, StreamId, To};

/// What we are, for the whole of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) info: Implementation,
    pub(crate) capabilities: Capabilities,
    pub(crate) instructions: Option<Box<str>>,
    /// The revisions that we speak, oldest first.
    pub(crate) revisions: Vec<Revision>,
    /// Methods that are served although no revision has them.
    pub(crate) also_served: Vec<Box<str>>,
    pub(crate) limits: Limits,
    pub(crate) policy: ViolationPolicy,
    /// Client: an answer to `initialize` may name a revision without sessions. (T-31)
    pub(crate) takes_modern_welcome: bool,
    /// Client: the era that the server is known to be of.
    pub(crate) expected: Option<Era>,
    /// Whether each message says who we are, where it may. (STL-02, STL-05)
    pub(crate) tells_info: bool,
}

impl Identity {
    /// The newest revision of an era that we speak.
    pub(crate) fn newest(&self, era: Era) -> Option<Revision> {
        self.revisions.iter().copied().filter(|revision| revision.era() == era).max()
    }

    /// The revision to speak as long as nothing is agreed on.
    pub(crate) fn tries(&self) -> Revision {
        self.newest(Era::Legacy).or_else(|| self.newest(Era::Modern)).unwrap_or(Revision::V2025_11_25)
    }

    /// The revision in which we said what we can do, to a peer with which we speak `revision`: a client says it before
    /// it knows what comes of it.
    pub(crate) fn says_in(&self, side: Side, revision: Revision) -> Revision {
        match (side, revision.era()) {
            (Side::Client, Era::Legacy) => self.newest(Era::Legacy).unwrap_or(revision),
            _ => revision,
        }
    }
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Core {
    pub(super) side: Side,
    pub(super) me: Arc<Identity>,
    pub(super) now: Instant,
    pub(super) phase: Phase,
    /// Why the connection is ending, once it is.
    end: Option<Box<Close>>,
    pub(super) peer: Option<Arc<Peer>>,
    /// Server: what the latest request that says of itself who makes it said.
    pub(super) said: Option<Said>,
    /// The revision to speak as long as nothing is agreed on.
    pub(super) trying: Revision,
    pub(super) opening: Opening,
    /// What our messages say of us, where each says it for itself.
    pub(super) stamp: Arc<Stamp>,
    /// The least grave log message that the client wants.
    pub(super) log_level: Option<Level>,
    pub(super) calls: LazyBox<Calls>,
    pub(super) incoming: IncomingTable,
    pub(super) batches: LazyBox<Batches>,
    pub(super) listens: LazyBox<Listens>,
    pub(super) subscribers: LazyBox<Subscribers>,
    pub(super) cache: LazyBox<Cache>,
    pub(super) timers: Timers,
    pub(super) guard: Guard,
    pub(super) events: Events,
    outbox: Outbox,
    /// Params that are being written; empty between calls, kept for its memory.
    pub(super) scratch: Vec<u8>,
    pings_missed: u32,
    /// What the peer had read when it was first found to be behind.
    stalled_at: u64,
}

impl Core {
    pub(crate) fn new(side: Side, now: Instant, me: Arc<Identity>, stamp: Arc<Stamp>) -> Self {
        Self {
            side,
            now,
            phase: Phase::Opening,
            end: None,
            peer: None,
            said: None,
            trying: me.tries(),
            opening: Opening::default(),
            stamp,
            log_level: None,
            calls: LazyBox::default(),
            incoming: IncomingTable::default(),
            batches: LazyBox::default(),
            listens: LazyBox::default(),
            subscribers: LazyBox::default(),
            cache: LazyBox::default(),
            timers: Timers::default(),
            guard: Guard::new(&me.limits),
            events: Events::default(),
            outbox: Outbox::default(),
            scratch: Vec::new(),
            pings_missed: 0,
            stalled_at: 0,
            me,
        }
    }

    pub(crate) fn peer(&self) -> Option<&Arc<Peer>> {
        self.peer.as_ref()
    }

    pub(crate) fn log_level(&self) -> Option<Level> {
        self.log_level
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.me.limits
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        sooner(self.calls.next_deadline(), self.timers.next())
    }

    /// Why the connection is over, once it is.
    pub(crate) fn closed(&self) -> Option<&Close> {
        self.end.as_deref().filter(|_| self.is_closed())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    pub(crate) fn wants_input(&self) -> bool {
        self.phase.allows().input
            && self.events.len() < self.limits().events_max
            && self.events.bytes() <= self.limits().events_bytes_max
            && self.outbox.unsent() <= self.limits().replies_bytes_max
    }

    /// The bytes to send, topped up with progress that had to wait for room.
    pub(crate) fn outbox(&mut self) -> &mut Outbox {
        if self.incoming.has_deferred() {
            self.write_deferred();
        }
        &mut self.outbox
    }

    #[cold]
    fn write_deferred(&mut self) {
        let bytes_max = self.limits().outbox_bytes_max;
        loop {
            let Self { incoming, outbox, .. } = self;
            let next = incoming.next_deferred(|stream| outbox.has_room(Some(stream), bytes_max));
            let Some((stream, params)) = next else { break };
            self.write_progress(stream, &params);
        }
    }

    /// Time never goes back. (T-61)
    pub(super) fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    pub(crate) fn handle_eof(&mut self, now: Instant) {
        self.advance(now);
        self.finish(Close::Peer);
    }

    pub(crate) fn close(&mut self, now: Instant) {
        self.advance(now);
        self.finish(Close::Local);
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
        while let Some(wire) = self.calls.overdue(self.now) {
            self.give_up(wire);
        }
        for timer in Timer::ALL {
            if self.timers.take_due(timer, self.now) {
                match timer {
                    Timer::Drain => self.step(Trigger::Idle),
                    Timer::Ping => self.ping(),
                    Timer::Stall => self.check_stall(),
                }
            }
        }
    }

    /// The time of one call is up, or what it waited for has come. (TMO-02, TMO-06)
    fn give_up(&mut self, wire: u64) {
        let may_wait = self.calls.may_extend(self.now, wire);
        match self.waits_for_input(wire) {
            Some(WaitsFor::Time) if may_wait => return self.call_again(wire),
            // Whoever has to answer first is on this side.
            Some(WaitsFor::Answers) if may_wait => return self.calls.hold(wire),
            _ => {}
        }
        let Some(call) = self.calls.get(wire) else { return };
        let is_asked = self.side == Side::Client && self.rules().servers_ask && !self.incoming.is_empty();
        if may_wait && is_asked && call.is_application() {
            return self.calls.hold(wire);
        }
        let (is_sent, asker, to) = (call.is_sent, call.asker, call.to());
        let input = self.calls.take_input(wire);
        let limits = &self.me.limits;
        let Some(call) = self.calls.retire(wire, limits) else { return };
        self.withdraw_input(input);
        match asker {
            Asker::Handshake => return self.fault(Fault::HandshakeTimedOut),
            Asker::Probe => return self.probe_timed_out(),
            Asker::KeepAlive => return self.ping_missed(),
            Asker::Application
            | Asker::Listen
            | Asker::Question(..)
            | Asker::Subscribe
            | Asker::Unsubscribe => {}
        }
        if is_sent {
            self.write_cancelled(to, wire, "timed out");
        }
        self.complete(call.id, asker, Err(CallError::TimedOut));
    }

    /// Arms the ping timer, if pings are wanted. (TMO-09)
    pub(super) fn arm_ping(&mut self) {
        if let Some(every) = self.limits().ping_every {
            self.timers.set(Timer::Ping, self.now + every.max(PERIOD_MIN));
        }
    }

    fn ping(&mut self) {
        if !self.phase.allows().pings || MethodRule::find("ping", true, self.revision()).is_none() {
            return;
        }
        let wait = (self.limits().ping_timeout, self.limits().ping_timeout);
        let wire = self.calls.insert(self.now, Asker::KeepAlive, false, wait);
        self.write(To::ANY, |out| {
            rpc::open_request(out, wire, "ping");
            out.push(b'}');
        });
        self.arm_ping();
    }

    /// A ping was not answered. (TMO-08)
    pub(super) fn ping_missed(&mut self) {
        self.pings_missed += 1;
        if self.pings_missed >= self.limits().pings_missed_max {
            self.fault(Fault::Unresponsive);
        }
    }

    /// The peer showed that it is there.
    pub(super) fn ponged(&mut self) {
        self.pings_missed = 0;
    }

    /// The peer has not read what it asked for. It had its time if it read nothing at all.
    fn check_stall(&mut self) {
        if self.outbox.waiting() <= self.limits().replies_bytes_max {
            return;
        }
        if self.outbox.written_total() == self.stalled_at {
            self.fault(Fault::Stalled);
        } else {
            self.arm_stall();
        }
    }

    fn arm_stall(&mut self) {
        self.stalled_at = self.outbox.written_total();
        self.timers.set(Timer::Stall, self.now + self.limits().stall_timeout.max(PERIOD_MIN));
    }

    /// The only way out for a message. What `write` writes must be one message.
    pub(super) fn try_write<E>(
        &mut self,
        to: To,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_closed() {
            return Ok(());
        }
        self.outbox.line(to, write)?;
        if self.outbox.waiting() > self.limits().replies_bytes_max && !self.timers.is_set(Timer::Stall) {
            self.arm_stall();
        }
        Ok(())
    }

    /// Where the outbox ends now, for `take_back`.
    pub(super) fn outbox_mark(&self) -> usize {
        self.outbox.mark()
    }

    /// Takes back what was written since `mark`; nothing was sent in between.
    pub(super) fn take_back(&mut self, mark: usize) {
        self.outbox.take_back(mark);
    }

    pub(super) fn write(&mut self, to: To, write: impl FnOnce(&mut Vec<u8>)) {
        let Ok(()) = self.try_write(to, |out| {
            write(out);
            Ok::<(), core::convert::Infallible>(())
        });
    }

    pub(super) fn write_progress(&mut self, stream: StreamId, params: &[u8]) {
        let _infallible = self.try_write(To::along(stream), |out| {
            rpc::notification(out, "notifications/progress", |out| {
                out.extend_from_slice(params);
                Ok::<(), Unencodable>(())
            })
        });
    }

    /// Whether there is room for new traffic, on the path that it takes.
    pub(super) fn has_room(&self, stream: Option<StreamId>) -> Result<(), Misuse> {
        let has_room = self.outbox.has_room(stream, self.limits().outbox_bytes_max);
        if has_room { Ok(()) } else { Err(Misuse::Blocked) }
    }

    /// From now on it is remembered where messages go: there is more than one path.
    #[cfg(feature = "http")]
    pub(crate) fn have_paths(&mut self) {
        self.outbox.have_paths();
    }

    /// Nothing is said on any path: what is empty is given back, until there is.
    #[cfg(feature = "http")]
    pub(crate) fn rest(&mut self) {
        if let Some(calls) = self.calls.allocated_mut() {
            calls.rest();
        }
        self.incoming.rest();
        self.events.rest();
        self.outbox.rest();
        self.scratch = Vec::new();
    }

    pub(super) fn has_paths(&self) -> bool {
        self.outbox.has_paths()
    }

    /// Where there are paths: nothing follows on this one, for now or for ever.
    pub(super) fn end_path(&mut self, to: To) {
        if self.outbox.has_paths() {
            self.write(to, |_| {});
        }
    }

    /// The peer no longer hears what is said on a path: what it asked for there is withdrawn. (T-76, T-77)
    #[cfg(feature = "http")]
    pub(crate) fn handle_gone(&mut self, now: Instant, stream: StreamId) {
        self.advance(now);
        self.unsubscribe_all(stream);
        while let Some(incoming) = self.incoming.first_on(stream) {
            self.withdraw(incoming, None);
        }
        self.check_drained();
    }

    /// Closes the path of a request for now: its answer is fetched over another. (HTTP-15)
    pub(crate) fn hang_up(&mut self, now: Instant, incoming: IncomingId) -> Result<(), Misuse> {
        self.advance(now);
        let stream = self.incoming.get(incoming).and_then(Open::stream).ok_or(Misuse::Stale)?;
        self.end_path(To::along(stream));
        Ok(())
    }

    /// What holds between the two, or before anything is agreed on, what would if we had our way.
    pub(super) fn rules(&self) -> &'static Rules {
        self.revision().rules()
    }

    pub(super) fn revision(&self) -> Revision {
        self.peer.as_ref().map_or(self.trying, |peer| peer.revision)
    }

    /// Reports a broken rule, and ends the connection when it was one too many.
    pub(super) fn violation(
        &mut self,
        kind: ViolationKind,
        detail: impl Into<alloc::borrow::Cow<'static, str>>,
    ) {
        self.events.push(Event::Violation(Violation { kind, detail: detail.into() }));
        if self.me.policy == ViolationPolicy::Close {
            self.fault(Fault::FirstViolation);
        } else if self.guard.bad(&self.me.limits) {
            self.fault(Fault::TooManyViolations);
        }
    }

    pub(super) fn complete(&mut self, call: CallId, asker: Asker, outcome: Result<Raw, CallError>) {
        match asker {
            Asker::Application => self.events.push(Event::Completed { call, outcome }),
            Asker::Listen => {
                self.unlisten(call);
                self.events.push(Event::Completed { call, outcome });
            }
            Asker::Handshake => self.welcomed(outcome),
            Asker::Probe => self.probed(outcome),
            Asker::KeepAlive => self.ponged(),
            Asker::Question(incoming, index) => self.answered(incoming, index, outcome),
            Asker::Subscribe => self.subscribed(call, &outcome),
            Asker::Unsubscribe => self.unsubscribed(),
        }
    }

    /// The connection ends: at once, or once what is open is answered.
    fn finish(&mut self, why: Close) {
        if self.end.is_none() {
            self.end = Some(Box::new(why));
        }
        self.step(Trigger::End);
    }

    pub(super) fn fault(&mut self, fault: Fault) {
        if !self.is_closed() {
            self.end = Some(Box::new(Close::Fault(fault)));
            self.step(Trigger::Fault);
        }
    }

    /// Moves on, and does what entering the next phase takes.
    pub(super) fn step(&mut self, trigger: Trigger) {
        let Some(next) = self.phase.next(self.side, trigger) else { return };
        self.phase = next;
        match next {
            Phase::Opening | Phase::Greeted => {}
            Phase::Ready => {
                if let Some(peer) = &self.peer {
                    self.events.push(Event::Ready(Arc::clone(peer)));
                }
                self.arm_ping();
            }
            Phase::Draining => {
                self.end_subscriptions();
                self.lose_calls();
                self.timers.clear();
                self.timers.set(Timer::Drain, self.now + self.limits().drain_timeout);
                self.check_drained();
            }
            Phase::Closed => {
                self.forget_watched();
                self.lose_calls();
                while let Some(incoming) = self.incoming.first() {
                    self.withdraw(incoming, None);
                }
                self.batches = LazyBox::default();
                self.timers.clear();
                let why = self.end.as_deref().cloned().unwrap_or(Close::Local);
                self.events.push(Event::Closed(why));
            }
        }
    }

    /// While draining: over as soon as nothing is left to answer.
    pub(super) fn check_drained(&mut self) {
        if self.phase == Phase::Draining && self.incoming.is_empty() && self.batches.is_empty() {
            self.step(Trigger::Idle);
        }
    }

    /// No answer can come any more.
    pub(super) fn lose_calls(&mut self) {
        let lost: Vec<(u64, CallId, Asker)> =
            self.calls.iter().map(|(wire, call)| (wire, call.id, call.asker)).collect();
        // All of them first: what is told of one must not be undone for another.
        for (wire, ..) in &lost {
            let input = self.calls.take_input(*wire);
            self.calls.remove(*wire);
            self.withdraw_input(input);
        }
        for (_, call, asker) in lost {
            match asker {
                Asker::Application | Asker::Listen => self.complete(call, asker, Err(CallError::Lost)),
                // Its request cannot be answered without the input that it asked for.
                Asker::Question(incoming, _) => self.withdraw(incoming, None),
                Asker::Handshake
                | Asker::KeepAlive
                | Asker::Probe
                | Asker::Subscribe
                | Asker::Unsubscribe => {}
            }
        }
    }
}

/// Timers that set themselves anew wait at least this long, so that no driver spins.
const PERIOD_MIN: Duration = Duration::from_millis(1);
