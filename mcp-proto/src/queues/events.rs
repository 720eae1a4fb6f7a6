//! The queue of events that the application has not polled yet.

use alloc::collections::VecDeque;

use crate::vocabulary::Event;

/// Events that the application has not polled yet, in the order of their causes.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// Each event with its weight in bytes.
    queue: VecDeque<(Event, usize)>,
    /// The sum of the weights.
    bytes: usize,
}

impl Events {
    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        let weight = event.weight();
        self.bytes += weight;
        self.queue.push_back((event, weight));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Removes and returns the oldest event. An empty queue keeps at most `idle_bytes_max` bytes.
    #[inline]
    pub(crate) fn pop(&mut self, idle_bytes_max: usize) -> Option<Event> {
        let (event, weight) = self.queue.pop_front()?;
        self.bytes -= weight;
        if self.queue.is_empty() {
            self.queue.shrink_to(idle_bytes_max / size_of::<(Event, usize)>());
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
