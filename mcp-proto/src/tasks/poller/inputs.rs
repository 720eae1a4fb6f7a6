//! The input requests that a requestor has seen: each is answered once.

use alloc::boxed::Box;

use crate::collections::SortedMap;
use crate::json::Raw;
use crate::schema::ExtraMembers;
use crate::time::Instant;

/// The input requests of a task, by key.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    keys: SortedMap<Box<str>, AnswerState>,
    update: Update,
    /// Requests in a row that did not arrive.
    lost: u32,
}

/// What happens to the `tasks/update` requests, of which one is in flight at a time.
#[derive(Debug, Default)]
enum Update {
    #[default]
    Idle,
    InFlight,
    /// The last one did not arrive: the next one is sent at this time.
    Waiting(Instant),
}

/// The state of the answer to one input request.
#[derive(Debug)]
enum AnswerState {
    Asked,
    Answered(Raw),
    Sending(Raw),
    Done,
}

impl Inputs {
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Adds a key. Returns false if it is known.
    // TSK-32: a key names one request, however often it is seen.
    pub(super) fn is_new(&mut self, key: &str) -> bool {
        let is_new = !self.keys.contains_key(key);
        if is_new {
            self.keys.insert(key.into(), AnswerState::Asked);
        }
        is_new
    }

    /// Adds a key whose answer arrived in an earlier run.
    pub(super) fn restore(&mut self, key: &str) {
        self.keys.insert(key.into(), AnswerState::Done);
    }

    /// Keeps the answer of a request that has none. Returns whether there was one.
    pub(super) fn answer(&mut self, key: &str, response: Raw) -> bool {
        match self.keys.get_mut(key) {
            Some(state @ AnswerState::Asked) => {
                *state = AnswerState::Answered(response);
                true
            }
            _ => false,
        }
    }

    /// Returns the answers to send now, if there are any.
    pub(super) fn send(&mut self, now: Instant) -> Option<ExtraMembers> {
        match self.update {
            Update::Idle => {}
            Update::Waiting(due) if due <= now => {}
            Update::InFlight | Update::Waiting(_) => return None,
        }
        self.update = Update::Idle;
        let mut responses = ExtraMembers::new();
        for (key, state) in self.keys.iter_mut() {
            if let AnswerState::Answered(response) = state {
                responses.set(key, response.clone());
                *state = AnswerState::Sending(response.clone());
                self.update = Update::InFlight;
            }
        }
        matches!(self.update, Update::InFlight).then_some(responses)
    }

    /// Returns when the answers that did not arrive are sent again.
    pub(super) fn due(&self) -> Option<Instant> {
        match self.update {
            Update::Waiting(due) => Some(due),
            Update::Idle | Update::InFlight => None,
        }
    }

    /// Notes that a `tasks/update` request is settled: its answers arrived, or are not wanted.
    pub(super) fn on_settled(&mut self) {
        self.lost = 0;
        self.update = Update::Idle;
        for (_, state) in self.keys.iter_mut() {
            if let AnswerState::Sending(_) = state {
                *state = AnswerState::Done;
            }
        }
    }

    /// Notes that a `tasks/update` request did not arrive. Its answers are sent again once
    /// `due`, which takes the number of losses in a row, has come.
    pub(super) fn on_lost(&mut self, due: impl FnOnce(u32) -> Instant) {
        self.lost = self.lost.saturating_add(1);
        self.update = Update::Waiting(due(self.lost));
        for (_, state) in self.keys.iter_mut() {
            if let AnswerState::Sending(response) = state {
                *state = AnswerState::Answered(response.clone());
            }
        }
    }

    /// Iterates over the keys whose answers arrived.
    pub(super) fn done(&self) -> impl Iterator<Item = &str> {
        let done = self.keys.iter().filter(|(_, state)| matches!(state, AnswerState::Done));
        done.map(|(key, _)| &**key)
    }
}
