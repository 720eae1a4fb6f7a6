//! A turn for all else on the runtime; knows nothing of what comes before and after.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Waits until the runtime has looked for IO and timers, and for other tasks.
///
/// `yield_now` alone ends at the next wake of its task, whatever that is for: a connection that
/// keeps waking itself, as one does that answers a flood, would have the next turn as well.
pub(crate) async fn turn() {
    let mine = Arc::new(Turn::default());
    poll_fn(|context| {
        let mut state = mine.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.came {
            return Poll::Ready(());
        }
        let is_first = state.task.is_none();
        state.task = Some(context.waker().clone());
        drop(state);
        if is_first {
            let waker = Waker::from(Arc::clone(&mine));
            let yielding = pin!(tokio::task::yield_now());
            // It asks the runtime to wake it later, which nobody else does.
            let _not_yet = yielding.poll(&mut Context::from_waker(&waker));
        }
        Poll::Pending
    })
    .await;
}

#[derive(Default)]
struct Turn {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    came: bool,
    task: Option<Waker>,
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.came = true;
        let task = state.task.take();
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
    }
}
