//! Callbacks whose result a future waits for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{CallbackThreads, Callbacks};
use crate::exec::watched::Watched;
use crate::exec::workers::JobKey;

impl Callbacks {
    /// Runs `callback` and returns its result; `None` if it panics.
    ///
    /// The threads take turns among lanes. Dropping the future withdraws a callback that has not
    /// begun.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        lane: usize,
        callback: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let slot = Arc::new(Watched::new(None));
        let result = Arc::clone(&slot);
        let key = self.run(lane, move || {
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
    key: JobKey,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        self.threads.0.cancel(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use futures_lite::future::{block_on, poll_once};

    use super::{CallbackThreads, Callbacks};
    use crate::exec::test_runtime::NullRuntime;

    fn callbacks() -> Callbacks {
        CallbackThreads::default().on(Arc::new(NullRuntime))
    }

    #[test]
    fn a_callback_returns_its_result_and_may_panic() {
        let callbacks = callbacks();
        assert_eq!(block_on(callbacks.call(0, || 1)), Some(1));
        assert_eq!(block_on(callbacks.call(0, || panic!("on purpose"))), None::<()>);
        assert_eq!(block_on(callbacks.call(0, || 2)), Some(2));
    }

    #[test]
    fn a_dropped_call_is_withdrawn() {
        let callbacks = callbacks();
        let (release, released) = channel::<()>();
        let (says, hears) = channel();
        let mut first = Box::pin(callbacks.call(0, move || {
            says.send(()).unwrap();
            released.recv()
        }));
        assert!(block_on(poll_once(&mut first)).is_none());
        hears.recv().unwrap();
        drop(first);
        assert_eq!(block_on(callbacks.call(0, || 3)), Some(3), "its place was given to others");
        drop(release);
    }
}
