//! A thread that ends the process with a report when an operation hangs.

use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::levels::threads;

/// How long an operation may take. The longest waits of the adapters are shorter.
const PATIENCE: Duration = Duration::from_secs(30);

/// The current operation of each worker.
#[derive(Clone, Debug)]
pub(crate) struct Watchdog(Arc<Mutex<Vec<Option<Operation>>>>);

#[derive(Clone, Debug)]
struct Operation {
    what: String,
    began: Instant,
}

/// An operation that is watched until this value is dropped.
#[derive(Debug)]
pub(crate) struct Watch<'w> {
    watchdog: &'w Watchdog,
    worker: usize,
}

impl Watchdog {
    /// Starts to watch this many workers; `what` names the run in the report.
    pub(crate) fn start(workers: usize, what: String) -> Self {
        let watchdog = Self(Arc::new(Mutex::new(vec![None; workers])));
        let watched = Arc::downgrade(&watchdog.0);
        thread::spawn(move || {
            while let Some(operations) = watched.upgrade() {
                let operations = lock(&operations).clone();
                let is_late = |operation: &Operation| operation.began.elapsed() > PATIENCE;
                if operations.iter().flatten().any(is_late) {
                    report(&what, &operations);
                }
                thread::sleep(Duration::from_millis(50));
            }
        });
        watchdog
    }

    /// Watches an operation of a worker.
    pub(crate) fn watch(&self, worker: usize, what: String) -> Watch<'_> {
        lock(&self.0)[worker] = Some(Operation { what, began: Instant::now() });
        Watch { watchdog: self, worker }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        lock(&self.watchdog.0)[self.worker] = None;
    }
}

fn report(what: &str, operations: &[Option<Operation>]) -> ! {
    println!("{what}: an operation hangs");
    for (worker, operation) in operations.iter().enumerate() {
        if let Some(Operation { what, began }) = operation {
            println!("  worker {worker}: {what}, for {:?}", began.elapsed());
        }
    }
    println!("{}", threads());
    process::exit(3);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
