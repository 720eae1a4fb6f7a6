//! Runs checks on a thread that is left alone when it takes too long.

use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::thread;
use std::time::Duration;

/// The maximum duration of a check.
pub(super) const CHECK_TIME_MAX: Duration = Duration::from_secs(2);

/// The maximum number of overdue threads of the process. No check starts while as many still run.
const OVERDUE_MAX: usize = 4;

/// Schemas and values nest up to 128 levels, and the check of a schema takes many frames for each.
/// A stack that overflows ends the process.
const STACK_BYTES: usize = 16 << 20;

/// The overdue threads of all connections: each holds its `Arc` until it ends.
static OVERDUE: Mutex<Vec<Weak<()>>> = Mutex::new(Vec::new());

/// Runs one check at a time, each within [`CHECK_TIME_MAX`].
///
/// A thread cannot be stopped: one that is overdue runs to its end. Until then, no other check
/// starts here.
#[derive(Debug, Default)]
pub(super) struct TimedRunner {
    overdue: Mutex<Weak<()>>,
}

impl TimedRunner {
    /// Runs `work` on a new thread and waits for its outcome.
    ///
    /// # Errors
    /// The reason why there is no outcome.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let mut overdue = self.overdue.lock().unwrap_or_else(PoisonError::into_inner);
        let running = {
            let mut all = OVERDUE.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(is_running);
            all.len()
        };
        if is_running(&overdue) || running >= OVERDUE_MAX {
            return Err("earlier checks that took too long are still running".into());
        }
        let alive = Arc::new(());
        let thread = Arc::downgrade(&alive);
        let (sender, receiver) = mpsc::sync_channel(1);
        let run = move || {
            let _no_longer_wanted = sender.send(work());
            drop(alive);
        };
        let thread_builder = thread::Builder::new().name("mcp-check".to_owned());
        let started = thread_builder.stack_size(STACK_BYTES).spawn(run);
        started.map_err(|error| format!("the check cannot start: {error}"))?;
        match receiver.recv_timeout(CHECK_TIME_MAX) {
            Ok(outcome) => Ok(outcome),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err("the check failed".into()),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                OVERDUE.lock().unwrap_or_else(PoisonError::into_inner).push(Weak::clone(&thread));
                *overdue = thread;
                let seconds = CHECK_TIME_MAX.as_secs();
                Err(format!("the check takes longer than {seconds} s"))
            }
        }
    }
}

/// Returns whether the thread of an overdue check still runs.
fn is_running(thread: &Weak<()>) -> bool {
    thread.strong_count() > 0
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn an_overdue_check_is_left_alone_and_no_other_starts_beside_it_json_28() {
        let runner = TimedRunner::default();
        assert_eq!(runner.run(|| 1), Ok(1));
        let (release, released) = mpsc::channel::<()>();
        let start = Instant::now();
        let overdue = runner.run(move || released.recv().is_ok());
        assert!(overdue.unwrap_err().contains("longer than 2 s"));
        assert!(start.elapsed() >= CHECK_TIME_MAX);
        assert!(runner.run(|| 2).unwrap_err().contains("still running"));
        assert_eq!(TimedRunner::default().run(|| 3), Ok(3), "other connections are not affected");
        release.send(()).unwrap();
        while is_running(&runner.overdue.lock().unwrap()) {
            thread::yield_now();
        }
        assert_eq!(runner.run(|| 4), Ok(4));
    }

    #[test]
    fn a_check_that_panics_is_an_error() {
        let runner = TimedRunner::default();
        let failed = runner.run(|| std::panic::resume_unwind(Box::new(())));
        assert_eq!(failed, Err::<(), _>("the check failed".into()));
        assert_eq!(runner.run(|| 1), Ok(1));
    }
}
