//! A queue of tasks that a program runs one by one, without threads.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::box_future::BoxFuture;
use crate::exec::sole_driver::SoleDriver;
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
        tasks.iter().for_each(|task| task.drop_future());
    }
}

impl Spawn for ManualTasks {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        let state = TaskState { future: Some(future), is_queued: false };
        Arc::new(ManualTask { future: Mutex::new(state), queue: Arc::clone(&self.ready) }).wake();
        Ok(())
    }

    /// Never ends: only connections that can be opened again sleep, and the program drives one.
    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(pending())
    }
}

impl ManualTask {
    /// Polls the future. Methods that would wait for the peer fail during the poll, because the
    /// thread of the program's loop is the only one that drives the connection.
    fn poll(self: Arc<Self>) {
        let future = {
            let mut state = lock(&self.future);
            state.is_queued = false;
            state.future.take()
        };
        let Some(mut future) = future else { return };
        let waker = Waker::from(Arc::clone(&self));
        let _declared = SoleDriver::declare(true);
        if Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) == Poll::Pending {
            lock(&self.future).future = Some(future);
        }
    }

    /// Drops the future, which may own a waker of this task and thus the task itself.
    fn drop_future(&self) {
        let future = lock(&self.future).future.take();
        drop(future);
    }
}

impl Wake for ManualTask {
    fn wake(self: Arc<Self>) {
        if std::mem::replace(&mut lock(&self.future).is_queued, true) {
            return;
        }
        let queue = Arc::clone(&self.queue);
        let mut ready = lock(&queue);
        if ready.is_closed {
            // Released first: dropping a future runs code of the application.
            drop(ready);
            self.drop_future();
        } else {
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

    /// Returns a task that keeps its own waker until it is dropped, and counts in `alive`.
    fn keeping_its_waker(alive: &Arc<()>) -> (BoxFuture<'static, ()>, Arc<Mutex<Option<Waker>>>) {
        let (alive, waker) = (Arc::clone(alive), Arc::<Mutex<Option<Waker>>>::default());
        let kept = Arc::clone(&waker);
        let future = std::future::poll_fn(move |context| {
            let _count = Arc::strong_count(&alive);
            *lock(&kept) = Some(context.waker().clone());
            Poll::Pending
        });
        (Box::pin(future), waker)
    }

    #[test]
    fn a_closed_queue_drops_tasks_that_own_their_waker() {
        let (tasks, alive) = (ManualTasks::default(), Arc::new(()));
        let (ready, ready_waker) = keeping_its_waker(&alive);
        let (waiting, waiting_waker) = keeping_its_waker(&alive);
        tasks.spawn(ready).unwrap();
        tasks.spawn(waiting).unwrap();
        assert!(tasks.run_next() && tasks.run_next());
        let wake = |waker: Arc<Mutex<Option<Waker>>>| lock(&waker).clone().unwrap().wake();
        wake(ready_waker);
        tasks.close();
        assert_eq!(Arc::strong_count(&alive), 2, "one task is not woken yet");
        wake(waiting_waker);
        assert_eq!(Arc::strong_count(&alive), 1, "a task outlived its queue");
    }
}
