//! A queue of tasks that a program runs one by one, without threads.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::BoxFuture;
use crate::exec::workers::Spawn;

/// The tasks of connections that a program drives by hand: handlers and callbacks.
///
/// Runs them in the order in which they are spawned and woken.
#[derive(Default)]
pub(crate) struct ManualTasks {
    ready: Arc<Mutex<ReadyQueue>>,
}

/// The tasks to poll next.
#[derive(Default)]
struct ReadyQueue {
    tasks: VecDeque<Arc<ManualTask>>,
    /// Nothing runs tasks any more: those that are woken are dropped.
    is_closed: bool,
}

/// A future and the queue that it enters when it is woken.
struct ManualTask {
    future: Mutex<TaskState>,
    queue: Arc<Mutex<ReadyQueue>>,
}

/// The future of a task; `None` while it is polled and after it has ended.
struct TaskState {
    future: Option<BoxFuture<'static, ()>>,
    is_queued: bool,
}

impl ManualTasks {
    /// Polls the first task that is ready; returns false if there is none.
    pub(crate) fn run_next(&self) -> bool {
        let Some(task) = lock(&self.ready).tasks.pop_front() else { return false };
        task.poll();
        true
    }

    /// Returns whether a task is ready.
    pub(crate) fn has_ready(&self) -> bool {
        !lock(&self.ready).tasks.is_empty()
    }

    /// Drops the tasks that are ready, and later those that are woken.
    pub(crate) fn close(&self) {
        let mut ready = lock(&self.ready);
        ready.is_closed = true;
        let tasks = std::mem::take(&mut ready.tasks);
        // Released first: dropping a future runs code of the application.
        drop(ready);
        drop(tasks);
    }
}

impl Spawn for ManualTasks {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        let state = TaskState { future: Some(future), is_queued: false };
        Arc::new(ManualTask { future: Mutex::new(state), queue: Arc::clone(&self.ready) }).wake();
        Ok(())
    }
}

impl ManualTask {
    fn poll(self: Arc<Self>) {
        let future = {
            let mut state = lock(&self.future);
            state.is_queued = false;
            state.future.take()
        };
        let Some(mut future) = future else { return };
        let waker = Waker::from(Arc::clone(&self));
        if Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) == Poll::Pending {
            lock(&self.future).future = Some(future);
        }
    }
}

impl Wake for ManualTask {
    fn wake(self: Arc<Self>) {
        if std::mem::replace(&mut lock(&self.future).is_queued, true) {
            return;
        }
        let queue = Arc::clone(&self.queue);
        let mut ready = lock(&queue);
        if !ready.is_closed {
            ready.tasks.push_back(self);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_lite::future::yield_now;

    use super::*;

    #[test]
    fn tasks_take_turns_and_a_closed_queue_drops_them() {
        let (tasks, steps) = (ManualTasks::default(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..2 {
            let steps = Arc::clone(&steps);
            let task = async move {
                loop {
                    steps.fetch_add(1, Ordering::SeqCst);
                    yield_now().await;
                }
            };
            tasks.spawn(Box::pin(task)).unwrap();
        }
        for step in 0..6 {
            assert_eq!(steps.load(Ordering::SeqCst), step);
            assert!(tasks.has_ready() && tasks.run_next());
        }
        tasks.close();
        assert!(!tasks.run_next());
        assert_eq!(Arc::strong_count(&steps), 1, "a task outlived its queue");
    }
}
