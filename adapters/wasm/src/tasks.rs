//! [`TaskSet`]: the futures of one connection, each polled only after its own waker fired.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::platform::LocalBoxFuture;

/// The futures of a connection by key.
///
/// The number of futures is bounded by the limits on requests and exchanges of the connection. A
/// future costs its box and about 100 bytes. Each poll of the set takes time linear in their
/// number, without a lock.
pub(crate) struct TaskSet<K> {
    /// Sorted by key; `None` while the future is being polled.
    tasks: Vec<(K, Option<Task>)>,
}

struct Task {
    future: LocalBoxFuture<'static, ()>,
    waker: Arc<TaskWaker>,
}

/// Notes that one future can continue, and wakes the task that polls the set.
///
/// `Waker` requires `Send` and `Sync`; on one thread, the atomic is a plain byte, and the lock is
/// never contended.
struct TaskWaker {
    is_woken: AtomicBool,
    /// The task that polled the set last.
    parent: Mutex<Waker>,
}

impl TaskWaker {
    fn set_parent(&self, waker: &Waker) {
        self.parent.lock().unwrap_or_else(PoisonError::into_inner).clone_from(waker);
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        let parent = self.parent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        parent.wake();
    }
}

impl<K: Copy + Ord> TaskSet<K> {
    pub(crate) const fn new() -> Self {
        Self { tasks: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(crate) fn insert(&mut self, key: K, future: LocalBoxFuture<'static, ()>) {
        let parent = Mutex::new(Waker::noop().clone());
        let waker = Arc::new(TaskWaker { is_woken: AtomicBool::new(true), parent });
        let task = Some(Task { future, waker });
        match self.find(key) {
            Ok(place) => self.tasks[place].1 = task,
            Err(place) => self.tasks.insert(place, (key, task)),
        }
    }

    /// Returns the index of a key, or else where to insert it.
    fn find(&self, key: K) -> Result<usize, usize> {
        self.tasks.binary_search_by_key(&key, |(key, _)| *key)
    }

    /// Removes a future, which the caller drops once the set is no longer borrowed.
    #[must_use]
    pub(crate) fn remove(&mut self, key: K) -> Option<impl Sized + use<K>> {
        self.find(key).ok().and_then(|place| self.tasks.remove(place).1)
    }

    /// Takes the first future after `last` that was woken. All that come before it wake `parent`
    /// from now on.
    fn take_woken(&mut self, last: Option<K>, parent: &Waker) -> Option<(K, Task)> {
        let first = self.tasks.partition_point(|(key, _)| Some(*key) <= last);
        for (key, place) in self.tasks.iter_mut().skip(first) {
            let Some(task) = place else { continue };
            task.waker.set_parent(parent);
            if task.waker.is_woken.swap(false, Ordering::AcqRel) {
                return place.take().map(|task| (*key, task));
            }
        }
        None
    }
}

/// Polls each future that was woken, at most once, and returns whether there was one.
///
/// The set is not borrowed during the poll, so futures may add and remove others.
pub(crate) fn poll_tasks<K: Copy + Ord>(set: &RefCell<TaskSet<K>>, parent: &Waker) -> bool {
    let mut last = None;
    loop {
        let woken = set.borrow_mut().take_woken(last, parent);
        let Some((key, mut task)) = woken else { return last.is_some() };
        last = Some(key);
        let waker = Waker::from(Arc::clone(&task.waker));
        let is_over =
            task.future.as_mut().poll(&mut Context::from_waker(&waker)) == Poll::Ready(());
        let mut set = set.borrow_mut();
        match set.find(key) {
            Ok(place) if is_over => drop(set.tasks.remove(place)),
            Ok(place) => {
                set.tasks[place].1 = Some(task);
                continue;
            }
            Err(_) => {}
        }
        // A future may borrow the set when it is dropped.
        drop(set);
        drop(task);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::{pending, poll_fn};
    use std::rc::Rc;

    use super::*;

    #[test]
    fn only_woken_futures_are_polled() {
        let set = RefCell::new(TaskSet::new());
        let polls = Rc::new(Cell::new(0));
        let kept = Rc::new(RefCell::new(None));
        let (counted, keeps) = (Rc::clone(&polls), Rc::clone(&kept));
        set.borrow_mut().insert(
            1,
            Box::pin(poll_fn(move |cx| {
                counted.set(counted.get() + 1);
                *keeps.borrow_mut() = Some(cx.waker().clone());
                if counted.get() < 3 { Poll::Pending } else { Poll::Ready(()) }
            })),
        );
        set.borrow_mut().insert(2, Box::pin(pending()));
        let parent = Waker::noop();
        assert!(poll_tasks(&set, parent));
        assert!(!poll_tasks(&set, parent));
        assert_eq!(polls.get(), 1);
        kept.borrow().as_ref().unwrap().wake_by_ref();
        assert!(poll_tasks(&set, parent));
        assert_eq!(polls.get(), 2);
        kept.borrow().as_ref().unwrap().wake_by_ref();
        assert!(poll_tasks(&set, parent));
        assert!(!set.borrow().is_empty());
        drop(set.borrow_mut().remove(2));
        assert!(set.borrow().is_empty());
    }

    #[test]
    fn a_future_that_is_removed_while_it_runs_is_dropped() {
        let set = Rc::new(RefCell::new(TaskSet::new()));
        let owner = Rc::clone(&set);
        let token = Rc::new(());
        let held = Rc::clone(&token);
        set.borrow_mut().insert(
            7,
            Box::pin(poll_fn(move |_| {
                let _held = &held;
                drop(owner.borrow_mut().remove(7));
                Poll::Pending
            })),
        );
        assert!(poll_tasks(&set, Waker::noop()));
        assert!(set.borrow().is_empty());
        assert_eq!(Rc::strong_count(&token), 1);
    }
}
