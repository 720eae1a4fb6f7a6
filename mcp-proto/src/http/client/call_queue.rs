//! The calls that wait until fewer calls are in flight, so that the number of connections is
//! bounded.
//!
//! Only calls of the application wait. Responses to the server, cancellations and pings pass them:
//! the calls in flight may depend on these.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::outbound_post::OutboundPost;
use crate::vocabulary::OutgoingKind;

/// The waiting calls, oldest first. Their number is bounded by
/// [`calls_max`](crate::Limits::calls_max).
#[derive(Debug, Default)]
pub(super) struct CallQueue {
    waiting: VecDeque<OutboundPost>,
}

impl CallQueue {
    pub(super) fn push(&mut self, call: OutboundPost) {
        self.waiting.push_back(call);
    }

    pub(super) fn pop(&mut self) -> Option<OutboundPost> {
        self.waiting.pop_front()
    }

    /// Removes the request `wire`, which was cancelled. Returns whether it was waiting.
    pub(super) fn remove(&mut self, wire: u64) -> bool {
        let place = self.waiting.iter().position(|call| match call.kind {
            OutgoingKind::Request { id, .. } => id == wire,
            _ => false,
        });
        place.and_then(|place| self.waiting.remove(place)).is_some()
    }

    /// Removes all calls. Returns their wire ids.
    pub(super) fn take(&mut self) -> Vec<u64> {
        let wire = |call: OutboundPost| match call.kind {
            OutgoingKind::Request { id, .. } => Some(id),
            _ => None,
        };
        core::mem::take(&mut self.waiting).into_iter().filter_map(wire).collect()
    }

    pub(super) fn clear(&mut self) {
        self.waiting = VecDeque::new();
    }
}
