//! The events that wait to be polled.

use alloc::collections::VecDeque;

use crate::vocabulary::Event;

/// Events that wait to be polled, in the order in which what caused them came.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// Each with its weight.
    queue: VecDeque<(Event, usize)>,
    bytes: usize,
}

impl Events {
    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        let weight = event.weight();
        self.bytes += weight;
        self.queue.push_back((event, weight));
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        let (event, weight) = self.queue.pop_front()?;
        self.bytes -= weight;
        if self.queue.is_empty() {
            self.queue.shrink_to(KEPT_EVENTS_MAX);
        }
        Some(event)
    }

    /// Releases unused capacity while idle.
    pub(crate) fn shrink(&mut self) {
        if self.queue.is_empty() {
            self.queue = VecDeque::new();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// What an empty queue keeps room for.
const KEPT_EVENTS_MAX: usize = 64;
