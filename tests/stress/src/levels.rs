//! What the system has counted for this process: threads, open files and child processes.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// The numbers of threads, open files and child processes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Levels {
    threads: usize,
    files: usize,
    children: usize,
}

/// How long threads that are idle, and processes that were told to exit, may take to end.
const PATIENCE: Duration = Duration::from_secs(15);

impl Levels {
    /// Counts now. All numbers are zero where the system has no `/proc`.
    pub(crate) fn now() -> Self {
        let entries =
            |what: &str| fs::read_dir(format!("/proc/self/{what}")).map_or(0, Iterator::count);
        let children = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let children = children
            .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
            .map(|children| children.split_whitespace().count());
        Self { threads: entries("task"), files: entries("fd"), children: children.sum() }
    }

    /// Waits until nothing exceeds these levels any more.
    ///
    /// # Errors
    /// Returns what is left over.
    pub(crate) fn are_back(self) -> Result<(), String> {
        let began = Instant::now();
        loop {
            let now = Self::now();
            let is_back = now.threads <= self.threads
                && now.files <= self.files
                && now.children <= self.children;
            if is_back {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                return Err(format!(
                    "left over: {now:?}, and at the beginning {self:?}\n{}",
                    threads()
                ));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Returns the names of all threads of this process.
pub(crate) fn threads() -> String {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    let mut names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
    names.sort();
    format!("threads: {}", names.join(", "))
}
