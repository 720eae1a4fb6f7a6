//! Passes the lines that a server writes to stderr to the application.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_proto::client::Client as Machine;

use crate::client::context::ClientCx;
use crate::process::child::LineSink;
use crate::transport::link::Link;

/// The maximum number of waiting lines; beyond it, the oldest is dropped. The child thus never
/// waits for the application.
const LINES_MAX: usize = 1024;

/// The application's callback for a line.
pub(super) type StderrHandler = Arc<dyn Fn(&str, &ClientCx) + Send + Sync>;

/// Returns what receives the lines of a connection's server.
pub(super) fn sink(link: &Arc<Link<Machine>>, handler: StderrHandler) -> LineSink {
    let cx = ClientCx::of_connection(link, None);
    let lines = Arc::new(StderrLines { queue: Mutex::default(), handler, cx });
    let link = Arc::clone(link);
    Box::new(move |line| {
        if lines.lock().push(line) {
            let running = Arc::clone(&lines);
            let lane = Arc::as_ptr(&lines).addr();
            link.shared.callback_threads.run(lane, move || running.run());
        }
    })
}

/// The lines of one server, and the callback that receives them.
struct StderrLines {
    queue: Mutex<LineQueue>,
    handler: StderrHandler,
    cx: ClientCx,
}

#[derive(Default)]
struct LineQueue {
    lines: VecDeque<String>,
    /// A thread runs the callback.
    is_running: bool,
}

impl LineQueue {
    /// Adds a line; returns whether a thread must be started to run the callback.
    fn push(&mut self, line: &str) -> bool {
        if self.lines.len() >= LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back(line.to_owned());
        !std::mem::replace(&mut self.is_running, true)
    }

    /// Returns the next line for the thread that runs the callback, which ends if there is none.
    fn pop(&mut self) -> Option<String> {
        let next = self.lines.pop_front();
        self.is_running = next.is_some();
        next
    }
}

impl StderrLines {
    fn lock(&self) -> MutexGuard<'_, LineQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        loop {
            let next = self.lock().pop();
            let Some(line) = next else { return };
            let call = || (self.handler)(&line, &self.cx);
            let _panicked = catch_unwind(AssertUnwindSafe(call));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, LineQueue};

    #[test]
    fn a_queue_keeps_the_latest_lines_and_starts_one_thread() {
        let mut queue = LineQueue::default();
        assert!(queue.push("0"));
        assert!((1..=LINES_MAX).all(|number| !queue.push(&number.to_string())));
        let kept: Vec<String> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!((kept.len(), kept[0].as_str()), (LINES_MAX, "1"));
        assert!(queue.push("again"), "the thread has ended");
    }
}
