//! [`JobSlots`]: a bound on functions of the application that may block for long.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::exec::callbacks::Callbacks;
use crate::exec::thread_pool::Job;

/// The maximum number of functions that run at a time.
const RUNNING_MAX: usize = 4;

/// Functions that ask people about one login or question each.
///
/// A new login ends the one before. While [`RUNNING_MAX`] functions have not returned, only the
/// newest one waits.
#[derive(Default)]
pub(super) struct JobSlots(Mutex<Slots>);

#[derive(Default)]
struct Slots {
    running: usize,
    waiting: Option<Job>,
}

impl JobSlots {
    /// Runs `job` in the background, now or once another one has returned.
    pub(super) fn run(self: &Arc<Self>, callbacks: &Callbacks, lane: usize, job: Job) {
        let mut slots = self.lock();
        if slots.running == RUNNING_MAX {
            let replaced = slots.waiting.replace(job);
            drop(slots);
            // Holds values of the application.
            drop(replaced);
            return;
        }
        slots.running += 1;
        drop(slots);
        let slots = Arc::clone(self);
        callbacks.run(lane, move || slots.run_all(job));
    }

    fn run_all(&self, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            let _panicked = catch_unwind(AssertUnwindSafe(job));
            let mut slots = self.lock();
            next = slots.waiting.take();
            slots.running -= usize::from(next.is_none());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::exec::callbacks::CallbackThreads;
    use crate::http::test_runtime::TestRuntime;

    fn callbacks() -> Callbacks {
        CallbackThreads::default().on(Arc::new(TestRuntime))
    }

    /// Returns a job that reports its start, and then waits until the receiver is closed.
    fn job(n: usize, says: &Sender<usize>, held: Arc<Mutex<Receiver<()>>>) -> Job {
        let says = says.clone();
        Box::new(move || {
            says.send(n).unwrap();
            let _closed = held.lock().unwrap_or_else(PoisonError::into_inner).recv();
            assert_ne!(n, 0, "a panic frees the slot, too");
        })
    }

    #[test]
    fn few_jobs_run_at_a_time_and_the_newest_waits() {
        let (slots, callbacks) = (Arc::new(JobSlots::default()), callbacks());
        let (says, starts) = channel();
        let (held, hold) = channel();
        let hold = Arc::new(Mutex::new(hold));
        for n in 0..RUNNING_MAX {
            slots.run(&callbacks, 0, job(n, &says, Arc::clone(&hold)));
        }
        let mut started: Vec<_> = (0..RUNNING_MAX).map(|_| starts.recv().unwrap()).collect();
        started.sort_unstable();
        assert_eq!(started, [0, 1, 2, 3]);
        for n in RUNNING_MAX..RUNNING_MAX + 1000 {
            slots.run(&callbacks, 0, job(n, &says, Arc::clone(&hold)));
        }
        assert!(starts.try_recv().is_err());
        drop(held);
        drop(says);
        assert_eq!(starts.iter().collect::<Vec<_>>(), [RUNNING_MAX + 999]);
        let deadline = Instant::now() + Duration::from_secs(60);
        while slots.lock().running > 0 {
            assert!(Instant::now() < deadline, "a slot is lost");
            thread::yield_now();
        }
    }
}
