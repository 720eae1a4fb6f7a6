//! A bounded queue of notifications for the application.

use std::collections::VecDeque;

use mcp_proto::{Method, Raw};

/// The number of queued notifications, and of the bytes of their params, at which reading stops.
const NOTIFICATIONS_MAX: usize = 1024;
const NOTIFICATIONS_BYTES_MAX: usize = 32 << 20;

/// The method and params of a notification.
pub(crate) type Notification = (Method, Option<Raw>);

/// The queued notifications. One read may exceed the bounds; the next one waits for room.
#[derive(Debug, Default)]
pub(crate) struct NotificationQueue {
    queue: VecDeque<Notification>,
    bytes: usize,
}

impl NotificationQueue {
    pub(crate) fn push(&mut self, notification: Notification) {
        self.bytes += weight(&notification);
        self.queue.push_back(notification);
    }

    pub(crate) fn pop(&mut self) -> Option<Notification> {
        let notification = self.queue.pop_front()?;
        self.bytes -= weight(&notification);
        Some(notification)
    }

    pub(crate) fn has_room(&self) -> bool {
        self.queue.len() < NOTIFICATIONS_MAX && self.bytes <= NOTIFICATIONS_BYTES_MAX
    }
}

fn weight((_, params): &Notification) -> usize {
    params.as_ref().map_or(0, |params| params.as_bytes().len())
}
