//! Notifications that wait for the application: in order, bounded; knows nothing of who hears them.

use std::collections::VecDeque;

use mcp_proto::{Method, Raw};

/// Notifications that wait, and the JSON in them; then the connection waits.
const NOTICES_MAX: usize = 1024;
const NOTICES_BYTES_MAX: usize = 32 << 20;

/// A method and its params.
pub(crate) type Notice = (Method, Option<Raw>);

/// The queue. What came in one piece may pass the bound; nothing more is read then.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    queue: VecDeque<Notice>,
    bytes: usize,
}

impl Notices {
    pub(crate) fn push(&mut self, notice: Notice) {
        self.bytes += weight(&notice);
        self.queue.push_back(notice);
    }

    pub(crate) fn pop(&mut self) -> Option<Notice> {
        let notice = self.queue.pop_front()?;
        self.bytes -= weight(&notice);
        Some(notice)
    }

    pub(crate) fn has_room(&self) -> bool {
        self.queue.len() < NOTICES_MAX && self.bytes <= NOTICES_BYTES_MAX
    }
}

fn weight((_, params): &Notice) -> usize {
    params.as_ref().map_or(0, |params| params.as_bytes().len())
}
