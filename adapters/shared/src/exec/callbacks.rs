//! Callbacks of the application, which run on threads where they may block.

#[cfg(feature = "http")]
mod call;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::exec::thread_pool::Job;
use crate::exec::workers::{HandlerThreads, JobKey, Spawn, THREADS_MAX, handler_threads};

/// The threads for the callbacks of all connections of one server or client.
///
/// Handlers have their own threads: callbacks also run while handlers occupy all of theirs.
#[derive(Clone, Debug)]
pub(crate) struct CallbackThreads(HandlerThreads);

impl Default for CallbackThreads {
    fn default() -> Self {
        Self(handler_threads(THREADS_MAX))
    }
}

/// The maximum number of waiting jobs beyond which violations are no longer reported.
const REPORTS_MAX: usize = 1024;

impl CallbackThreads {
    /// Returns the callbacks of a connection on `runtime`.
    pub(crate) fn on(&self, runtime: Arc<dyn Spawn>) -> Callbacks {
        Callbacks { threads: self.clone(), runtime, is_manual: false }
    }
}

/// A handle that runs the application's callbacks on separate threads, within the context of the
/// runtime.
#[derive(Clone)]
#[expect(unnameable_types, reason = "the state of a connection is internal")]
pub struct Callbacks {
    threads: CallbackThreads,
    runtime: Arc<dyn Spawn>,
    is_manual: bool,
}

opaque_debug!(Callbacks);

impl Callbacks {
    /// Declares whether the callbacks are tasks of the runtime, because the program drives the
    /// connection by hand.
    pub(crate) fn manual(self, is_manual: bool) -> Self {
        Self { is_manual, ..self }
    }

    /// Runs `callback` in the background. The threads take turns among lanes. Returns the key with
    /// which the callback can be withdrawn.
    pub(crate) fn run(&self, lane: usize, callback: impl FnOnce() + Send + 'static) -> JobKey {
        static KEYS: AtomicU64 = AtomicU64::new(0);
        let key = (KEYS.fetch_add(1, Ordering::Relaxed), None);
        if self.is_manual {
            drop(self.runtime.spawn(Box::pin(async move { callback() })));
            return key;
        }
        let runtime = Arc::clone(&self.runtime);
        let job = move || runtime.enter(Box::new(callback));
        self.threads.0.queue((None, lane), key, Box::new(job));
        self.threads.0.start();
        key
    }

    /// Returns whether another connection may report a violation: peers can open connections and
    /// violate rules faster than a callback that blocks returns.
    pub(crate) fn has_room(&self) -> bool {
        self.threads.0.waiting() < REPORTS_MAX
    }
}

/// The callbacks of one connection that are due. They run in order, one at a time.
#[derive(Default)]
pub(crate) struct CallbackQueue {
    /// Boxed on first use: most connections have no callbacks.
    due: Option<Box<DueCallbacks>>,
    /// The end of the connection does not wait for the callbacks.
    is_detached: bool,
}

#[derive(Default)]
struct DueCallbacks {
    jobs: VecDeque<(usize, Job)>,
    bytes: usize,
    /// A thread runs the callbacks.
    is_running: bool,
}

/// The number of callbacks, and of the bytes that they hold, at which reading stops.
const CALLBACKS_MAX: usize = 1024;
const CALLBACKS_BYTES_MAX: usize = 32 << 20;

impl CallbackQueue {
    /// Adds a callback that holds `bytes`; returns whether a thread must be started to run it.
    pub(crate) fn push(&mut self, bytes: usize, callback: Job) -> bool {
        let due = self.due.get_or_insert_default();
        due.bytes += bytes;
        due.jobs.push_back((bytes, callback));
        !std::mem::replace(&mut due.is_running, true)
    }

    /// Returns the next callback for the thread that runs them, which must end if there is none.
    pub(crate) fn pop(&mut self) -> Option<Job> {
        let due = self.due.as_mut()?;
        let next = due.jobs.pop_front();
        due.bytes -= next.as_ref().map_or(0, |(bytes, _)| *bytes);
        due.is_running = next.is_some();
        next.map(|(_, callback)| callback)
    }

    /// Returns whether further input may be read. One read may exceed the bounds.
    pub(crate) fn has_room(&self) -> bool {
        let is_full =
            |due: &DueCallbacks| due.jobs.len() >= CALLBACKS_MAX || due.bytes > CALLBACKS_BYTES_MAX;
        !self.due.as_deref().is_some_and(is_full)
    }

    /// Lets the connection end before its callbacks: one of them waits for that end.
    pub(crate) fn detach(&mut self) {
        self.is_detached = true;
    }

    /// Returns whether the connection may end.
    pub(crate) fn may_end(&self) -> bool {
        self.is_detached || !self.due.as_ref().is_some_and(|due| due.is_running)
    }
}

#[cfg(test)]
mod tests {
    use super::{CALLBACKS_BYTES_MAX, CALLBACKS_MAX, CallbackQueue};

    #[test]
    fn a_queue_is_bounded_in_number_and_bytes() {
        let mut queue = CallbackQueue::default();
        assert!(queue.push(CALLBACKS_BYTES_MAX, Box::new(|| {})) && queue.has_room());
        assert!(!queue.push(1, Box::new(|| {})) && !queue.has_room());
        assert!(queue.pop().is_some() && queue.has_room());
        (1..CALLBACKS_MAX).for_each(|_| assert!(!queue.push(0, Box::new(|| {}))));
        assert!(!queue.has_room() && !queue.may_end());
        while queue.pop().is_some() {}
        assert!(queue.has_room() && queue.may_end());
        assert!(queue.push(0, Box::new(|| {})), "the thread has ended");
        queue.detach();
        assert!(queue.may_end());
    }
}
