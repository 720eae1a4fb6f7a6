//! State behind a mutex, with the tasks that wait for it to change.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use event_listener::{Event, EventListener, Listener as _};

/// A value behind a mutex that tasks can wait on.
#[derive(Debug, Default)]
pub(crate) struct Watched<T> {
    value: Mutex<T>,
    changed: Event,
}

impl<T> Watched<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { value: Mutex::new(value), changed: Event::new() }
    }

    /// Locks the value. A change that a task may wait for is made with [`change`](Self::change).
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the value and wakes every task that waits for it.
    pub(crate) fn change(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.lock());
        self.changed.notify(usize::MAX);
    }

    /// Waits until `poll` returns a value. It is called once now and again after each change.
    pub(crate) async fn when<R>(&self, mut poll: impl FnMut(&mut T) -> Option<R>) -> R {
        loop {
            let changed = {
                let mut value = self.lock();
                if let Some(found) = poll(&mut value) {
                    return found;
                }
                // Under the lock, so that no change comes between.
                self.changed.listen()
            };
            changed.await;
        }
    }

    /// Like [`when`](Self::when), but blocks; returns `None` if it takes longer than `timeout`.
    pub(crate) fn when_within<R>(
        &self,
        timeout: Duration,
        mut poll: impl FnMut(&mut T) -> Option<R>,
    ) -> Option<R> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let mut value = self.lock();
            if let Some(found) = poll(&mut value) {
                return Some(found);
            }
            // Under the lock, so that no change comes between.
            let changed = self.changed.listen();
            drop(value);
            match deadline {
                None => changed.wait(),
                Some(deadline) => {
                    if changed.wait_deadline(deadline).is_none() {
                        return poll(&mut self.lock());
                    }
                }
            }
        }
    }

    /// Like [`when`](Self::when), as a poll. `waiting` keeps its place between polls.
    pub(crate) fn poll_when<R>(
        &self,
        context: &mut Context<'_>,
        waiting: &mut Option<EventListener>,
        mut poll: impl FnMut(&mut T) -> Option<R>,
    ) -> Poll<R> {
        loop {
            let mut value = self.lock();
            if let Some(found) = poll(&mut value) {
                *waiting = None;
                return Poll::Ready(found);
            }
            // Under the lock, so that no change comes between.
            let changed = waiting.get_or_insert_with(|| self.changed.listen());
            drop(value);
            ready!(Pin::new(changed).poll(context));
            *waiting = None;
        }
    }
}
