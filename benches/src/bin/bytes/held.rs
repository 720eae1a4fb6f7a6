//! The memory a thread holds, as seen from another.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcp_memory_tests::{counted, live};

/// The cost of one more of a thing.
#[derive(Clone, Copy)]
pub(crate) struct Each {
    pub(crate) allocated: usize,
    /// The growth of the process, which includes only the touched pages of buffers.
    pub(crate) resident: Option<usize>,
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}

/// The memory of a thread that runs until the process ends.
pub(crate) struct Held(Arc<AtomicUsize>);

/// Runs a future on its own thread, on tokio.
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
    /// Returns the bytes held once they no longer change.
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

    /// Returns the growth per item, for `count` items, caused by `work`.
    pub(crate) fn each<T>(&self, count: usize, work: impl FnOnce() -> T) -> (Each, T) {
        let before = (self.settled(), resident());
        let done = work();
        let after = (self.settled(), resident());
        let each = |before: usize, after: usize| after.saturating_sub(before) / count;
        (Each { allocated: each(before.0, after.0), resident: Some(each(before.1, after.1)) }, done)
    }
}
