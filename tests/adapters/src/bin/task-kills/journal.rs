//! What the handlers of tasks have done, over all restarts, in a file.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use crate::server::Kept;

/// A run of a handler.
#[derive(Debug)]
pub(crate) struct Run {
    /// The process.
    pub(crate) process: u32,
    /// What the context of the handler said.
    pub(crate) restarts: u32,
    pub(crate) has_ended: bool,
}

/// The runs of each job, in order.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) runs: BTreeMap<String, Vec<Run>>,
    last_process: u32,
}

impl Journal {
    /// Adds a line, which survives the death of the process.
    pub(crate) fn write(path: &Path, line: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        let line = format!("{} {line}\n", std::process::id());
        file.write_all(line.as_bytes()).unwrap();
    }

    pub(crate) fn read(kept: &Kept) -> Self {
        let mut journal = Self::default();
        for line in fs::read_to_string(kept.journal()).unwrap_or_default().lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [process, what, job, restarts] = words[..] else { panic!("{line}") };
            let (process, restarts) = (process.parse().unwrap(), restarts.parse().unwrap());
            journal.last_process = process;
            let runs = journal.runs.entry(job.to_owned()).or_default();
            if what == "start" {
                runs.push(Run { process, restarts, has_ended: false });
            } else {
                let run = runs.last_mut().unwrap();
                assert_eq!((run.process, run.restarts), (process, restarts), "DOUBLED: {line}");
                assert!(!run.has_ended, "DOUBLED: {line}");
                run.has_ended = true;
            }
        }
        journal
    }

    /// Returns whether a handler of the latest process runs.
    pub(crate) fn has_open_runs(&self) -> bool {
        let mut runs = self.runs.values().flatten();
        runs.any(|run| run.process == self.last_process && !run.has_ended)
    }
}
