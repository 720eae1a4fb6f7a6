//! What a thread holds, as it is seen from another; knows nothing of what the thread does.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcp_memory_tests::{counted, live};

/// What a thread holds that runs until the process ends.
pub(crate) struct Held(Arc<AtomicUsize>);

/// Runs a future on a thread of its own, on tokio.
pub(crate) fn on_thread<F: Future>(work: impl FnOnce() -> F + Send + 'static) -> Held {
    let held = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&held);
    thread::spawn(move || {
        counted(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                tokio::spawn(async move {
                    loop {
                        told.store(live(), Ordering::Relaxed);
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                });
                work().await
            })
        });
    });
    Held(held)
}

impl Held {
    /// What it holds once that does not change any more.
    pub(crate) fn settled(&self) -> usize {
        let mut before = 0;
        loop {
            thread::sleep(Duration::from_millis(200));
            let now = self.0.load(Ordering::Relaxed);
            if now == before && now > 0 {
                return now;
            }
            before = now;
        }
    }

    /// By how much it holds more, for each of so many, once `work` is done.
    pub(crate) fn each<T>(&self, count: usize, work: impl FnOnce() -> T) -> (usize, T) {
        let before = self.settled();
        let done = work();
        (self.settled().saturating_sub(before) / count, done)
    }
}
