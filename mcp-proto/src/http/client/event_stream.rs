//! A logical event stream across all exchanges that carry it: its parser, resumption point, and
//! duplicate detection.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::time::Duration;

use crate::http::header::is_event_id;
use crate::http::sse::EventReader;
use crate::limits::Limits;

/// The maximum length of the id, type and retry of an event in bytes.
pub(super) const FIELD_BYTES_MAX: usize = 1024;

/// The number of event ids remembered to detect duplicates.
const SEEN_MAX: usize = 32;

/// A logical event stream.
#[derive(Debug)]
pub(super) struct EventStream {
    pub(super) reader: EventReader,
    pub(super) seen: SeenEvents,
    /// Consecutive connections without a message.
    pub(super) attempts: u32,
    pub(super) carrier: CarrierState,
}

/// The state of the HTTP response that carries the stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CarrierState {
    /// No response has carried the stream.
    NeverOpen,
    Open {
        /// The response contained a message.
        has_message: bool,
    },
    /// The last response has ended.
    Ended,
}

/// The end of a connection that carried a stream, or was to carry one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamEnd {
    /// The number of preceding connections without a message.
    pub(super) attempts: u32,
    /// The time that the stream's `retry` fields set.
    pub(super) retry: Option<Duration>,
    /// The time that the header `Retry-After` sets.
    pub(super) retry_after: Option<Duration>,
    /// Whether the connection carried the stream.
    pub(super) was_open: bool,
}

impl CarrierState {
    pub(super) fn on_message(&mut self) {
        if let Self::Open { has_message } = self {
            *has_message = true;
        }
    }
}

impl EventStream {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            reader: EventReader::new(limits.message_bytes_max, FIELD_BYTES_MAX),
            seen: SeenEvents::default(),
            attempts: 0,
            carrier: CarrierState::NeverOpen,
        }
    }

    pub(super) fn on_open(&mut self) {
        self.carrier = CarrierState::Open { has_message: false };
    }

    /// Returns whether any response has carried the stream.
    pub(super) fn was_open(&self) -> bool {
        self.carrier != CarrierState::NeverOpen
    }

    /// Returns the event id to resume after, if any.
    // SSE-16: sent as `Last-Event-ID`.
    pub(super) fn resume_after(&self) -> Option<&str> {
        self.reader.last_id().filter(|id| is_event_id(id, FIELD_BYTES_MAX))
    }

    /// Forgets the event to resume after: the next connection starts with later messages.
    pub(super) fn forget_position(&mut self, limits: &Limits) {
        self.reader = EventReader::new(limits.message_bytes_max, FIELD_BYTES_MAX);
    }

    /// Handles the end of a response, or a failure to open one.
    pub(super) fn on_end(&mut self, retry_after: Option<Duration>) -> StreamEnd {
        self.reader.finish();
        self.seen.connection += 1;
        let (was_open, next) = match self.carrier {
            CarrierState::NeverOpen => (false, CarrierState::NeverOpen),
            CarrierState::Open { .. } => (true, CarrierState::Ended),
            CarrierState::Ended => (false, CarrierState::Ended),
        };
        if (self.carrier == CarrierState::Open { has_message: true }) {
            self.attempts = 0;
        }
        self.carrier = next;
        let attempts = self.attempts;
        self.attempts += 1;
        StreamEnd { attempts, retry: self.reader.retry(), retry_after, was_open }
    }
}

/// The ids of the latest events with a message, each with the number of its connection.
#[derive(Debug, Default)]
pub(super) struct SeenEvents {
    ids: VecDeque<(u32, Box<str>)>,
    connection: u32,
}

impl SeenEvents {
    /// Remembers an event with a message, and returns whether an earlier connection delivered it.
    /// Equal ids on one connection are different events.
    // SSE-25: a redelivered event is handled once.
    pub(super) fn is_redelivered(&mut self, id: &str) -> bool {
        if let Some((connection, _)) = self.ids.iter().find(|(_, known)| **known == *id) {
            return *connection < self.connection;
        }
        if !id.is_empty() {
            if self.ids.len() == SEEN_MAX {
                self.ids.pop_front();
            }
            self.ids.push_back((self.connection, id.into()));
        }
        false
    }
}
