//! Callbacks of the application about a connection.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{Link, LinkRole};

thread_local! {
    /// The address of the connection whose callback runs on this thread; zero if there is none.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}

impl<R: LinkRole> Link<R> {
    /// Runs `callback`, which holds `bytes`, on a thread where it may block.
    ///
    /// The callbacks of a connection run in order, one at a time. Reading stops while many are due.
    pub(crate) fn call_back(
        self: &Arc<Self>,
        bytes: usize,
        callback: impl FnOnce() + Send + 'static,
    ) {
        let is_first = self.lock().callbacks.push(bytes, Box::new(callback));
        if is_first {
            let link = Arc::clone(self);
            R::callbacks(&self.shared).run(self.address(), move || link.run_callbacks());
        }
    }

    fn run_callbacks(&self) {
        loop {
            let next = self.lock().callbacks.pop();
            // There is room for input now; or none is left, and the connection may end.
            self.room.notify(usize::MAX);
            let Some(callback) = next else { return };
            let before = RUNNING.replace(self.address());
            let _panicked = catch_unwind(AssertUnwindSafe(callback));
            RUNNING.set(before);
        }
    }

    /// Waits until the driver is gone. Inside a callback of this connection, does not wait for that
    /// callback.
    pub(crate) async fn wait_ended(&self) {
        if RUNNING.get() == self.address() {
            self.lock().callbacks.detach();
            self.room.notify(usize::MAX);
        }
        self.when(|state| state.is_over().then_some(())).await;
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
