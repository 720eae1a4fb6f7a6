//! One logical event stream, over all the exchanges that carry it: what to resume after, and what
//! came before; knows nothing of what its messages say.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::time::Duration;

use crate::http::header::is_event_id;
use crate::http::sse::Reader;
use crate::limits::Limits;

/// The longest id, type and retry of an event.
pub(super) const FIELD_BYTES_MAX: usize = 1024;

/// Ids of events that are remembered, to know those that come again.
const SEEN_MAX: usize = 32;

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) reader: Reader,
    pub(super) seen: Seen,
    /// Connections in a row that brought no message.
    pub(super) attempts: u32,
    pub(super) carrier: Carrier,
}

/// The HTTP response that carries the stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Carrier {
    /// None did so far.
    Never,
    Open {
        /// It brought a message.
        spoke: bool,
    },
    /// The last one ended.
    Ended,
}

impl Carrier {
    pub(super) fn on_message(&mut self) {
        if let Self::Open { spoke } = self {
            *spoke = true;
        }
    }
}

impl Stream {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            reader: Reader::new(limits.message_bytes_max, FIELD_BYTES_MAX),
            seen: Seen::default(),
            attempts: 0,
            carrier: Carrier::Never,
        }
    }

    pub(super) fn opened(&mut self) {
        self.carrier = Carrier::Open { spoke: false };
    }

    /// Returns whether some response carried the stream.
    pub(super) fn was_open(&self) -> bool {
        self.carrier != Carrier::Never
    }

    /// What to resume after, if anything. (SSE-16)
    pub(super) fn resume_after(&self) -> Option<&str> {
        self.reader.last_id().filter(|id| is_event_id(id, FIELD_BYTES_MAX))
    }

    /// The response ended, or did not begin. Returns what decides when to connect again: the
    /// attempts without a message before this one, what the server asks for, and whether this
    /// response carried the stream.
    pub(super) fn ended(&mut self) -> (u32, Option<Duration>, bool) {
        self.reader.finish();
        self.seen.connection += 1;
        let (was_open, next) = match self.carrier {
            Carrier::Never => (false, Carrier::Never),
            Carrier::Open { .. } => (true, Carrier::Ended),
            Carrier::Ended => (false, Carrier::Ended),
        };
        if (self.carrier == Carrier::Open { spoke: true }) {
            self.attempts = 0;
        }
        self.carrier = next;
        let attempts = self.attempts;
        self.attempts += 1;
        (attempts, self.reader.retry(), was_open)
    }
}

/// The ids of the latest events, each with the connection that brought it.
#[derive(Debug, Default)]
pub(super) struct Seen {
    ids: VecDeque<(u32, Box<str>)>,
    connection: u32,
}

impl Seen {
    /// Remembers an event; whether a connection before this one brought it already. On one and the
    /// same connection no event comes twice, whatever its id. (SSE-25)
    pub(super) fn came_before(&mut self, id: &str) -> bool {
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
