//! What a thread holds, as it is seen from another; knows nothing of what the thread does.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcp_memory_tests::{counted, live};

/// What one more of a thing takes.
#[derive(Clone, Copy)]
pub(crate) struct Each {
    pub(crate) allocated: usize,
    /// By how much the process has grown: of a buffer only what was ever touched.
    pub(crate) resident: Option<usize>,
}

/// Bytes of memory that this process has.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}

/// What a thread holds that runs until the process ends.
pub(crate) struct Held(Arc<AtomicUsize>);

/// Runs a future on a thread of its own, on tokio.
pub(crate) fn on_thread<F: Future>(work: impl FnOnce() -> F + Send + 'static) -> Held {
    let held = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&held);
    thread::spawn(move || {
        counted(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
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
    pub(crate) fn each<T>(&self, count: usize, work: impl FnOnce() -> T) -> (Each, T) {
        let before = (self.settled(), resident());
        let done = work();
        let after = (self.settled(), resident());
        let each = |before: usize, after: usize| after.saturating_sub(before) / count;
        (Each { allocated: each(before.0, after.0), resident: Some(each(before.1, after.1)) }, done)
    }
}
