//! Callbacks whose result a future waits for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{CallbackThreads, Callbacks};
use crate::exec::watched::Watched;

impl Callbacks {
    /// Runs `callback` and returns its result; `None` if it panics.
    ///
    /// Dropping the future withdraws a callback that has not begun.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        callback: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let slot = Arc::new(Watched::new(None));
        let result = Arc::clone(&slot);
        let key = self.run(0, move || {
            let outcome = catch_unwind(AssertUnwindSafe(callback)).ok();
            result.change(|result| *result = Some(outcome));
        });
        let _withdrawal = Withdrawal { threads: &self.threads, key };
        slot.when(Option::take).await
    }
}

/// Withdraws a callback when dropped.
struct Withdrawal<'a> {
    threads: &'a CallbackThreads,
    key: u64,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        self.threads.0.cancel(&self.key);
    }
}
