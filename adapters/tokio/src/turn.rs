//! A yield that lets the whole runtime make progress.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Waits until the runtime has polled IO, timers and other tasks.
///
/// `yield_now` alone ends at the next wake-up of its task, whatever the reason. A connection that
/// keeps waking itself, such as one that answers a flood, would thus run again right away.
pub(crate) async fn turn() {
    let turn = Arc::new(Turn::default());
    poll_fn(|context| {
        let mut state = turn.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.has_yielded {
            return Poll::Ready(());
        }
        let is_first = state.task.is_none();
        state.task = Some(context.waker().clone());
        drop(state);
        if is_first {
            let waker = Waker::from(Arc::clone(&turn));
            let yielding = pin!(tokio::task::yield_now());
            // The runtime wakes this waker, which nothing else can, after its next pass.
            let _pending = yielding.poll(&mut Context::from_waker(&waker));
        }
        Poll::Pending
    })
    .await;
}

#[derive(Default)]
struct Turn {
    state: Mutex<TurnState>,
}

#[derive(Default)]
struct TurnState {
    has_yielded: bool,
    task: Option<Waker>,
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.has_yielded = true;
        let task = state.task.take();
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
    }
}
