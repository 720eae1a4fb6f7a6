//! Sleeps of runtimes without timers, on threads.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::exec::cancellation::Cancellation;

/// Waits for `duration` on a thread that `start` starts. Dropping the future ends the thread.
///
/// Returns immediately if the thread cannot be started.
pub async fn sleep_on_thread(
    duration: Duration,
    start: impl FnOnce(Box<dyn FnOnce() + Send>) -> io::Result<()>,
) {
    let dropped = SetOnDrop(Arc::default());
    let over = Arc::new(Cancellation::default());
    let (until, done) = (Arc::clone(&dropped.0), Arc::clone(&over));
    let sleep = move || {
        until.wait_blocking(duration);
        done.set();
    };
    if start(Box::new(sleep)).is_ok() {
        over.wait().await;
    }
}

struct SetOnDrop(Arc<Cancellation>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}
