//! Runs tests with a time limit, and unwraps outcomes.

use std::fmt::Debug;
use std::future::Future;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter::Error;
use mcp_adapter::proto::schema::CallToolResult;
use mcp_adapter::proto::{CallError, ErrorObject};
use mcp_test_processes::{Process, reset_signals};
use smol::Timer;

use crate::Runtime;

/// The time limit of a test. It does not measure speed: only a test that hangs takes this long.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a test, which must end in time.
pub fn with_timeout<T: Send + 'static>(tell: impl FnOnce() -> T + Send + 'static) -> T {
    reset_signals();
    let (over, ended) = channel();
    // A panic message shows the name of the thread.
    let name = thread::current().name().unwrap_or("test").to_owned();
    let told = thread::Builder::new().name(name).spawn(move || {
        let end = tell();
        let _ignored = over.send(());
        end
    });
    let told = told.expect("threads can be started");
    match ended.recv_timeout(PATIENCE) {
        Err(RecvTimeoutError::Timeout) => {
            Process::kill_those_of(told.thread().id());
            panic!("the test hangs: not finished after {PATIENCE:?}")
        }
        Ok(()) | Err(RecvTimeoutError::Disconnected) => match told.join() {
            Ok(end) => end,
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}

/// Runs a test on a runtime.
pub fn on<R: Runtime, F: Future<Output = ()> + 'static>(row: fn() -> F) {
    with_timeout(move || R::block_on(row()));
}

/// Runs a test on several runtimes concurrently, each by its name.
pub fn at_once(rows: &[(&'static str, &(dyn Fn() + Sync))]) {
    let failed: Vec<&str> = thread::scope(|scope| {
        let begin = |(name, row): &(&'static str, _)| {
            let begun = thread::Builder::new().name((*name).into()).spawn_scoped(scope, *row);
            (*name, begun.expect("threads can be started"))
        };
        let told: Vec<_> = rows.iter().map(begin).collect();
        told.into_iter().filter_map(|(name, told)| told.join().is_err().then_some(name)).collect()
    });
    assert!(failed.is_empty(), "it failed on {}", failed.join(" and "));
}

/// Waits until a condition holds that raises no event.
pub async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE / 2, "still not: {what}");
        timer(Duration::from_millis(1)).await;
    }
}

/// Waits, on any runtime.
pub async fn timer(duration: Duration) {
    Timer::after(duration).await;
}

/// Returns the text of a tool result.
#[must_use]
pub fn said(result: &CallToolResult) -> &str {
    result.content[0].as_text().unwrap()
}

/// Returns the text of a successful tool result.
pub fn success(outcome: Result<CallToolResult, Error>) -> String {
    let result = outcome.unwrap();
    assert!(!result.is_error, "{result:?}");
    said(&result).to_owned()
}

/// Returns the text of a failed tool result.
pub fn failure(outcome: Result<CallToolResult, Error>) -> String {
    let result = outcome.unwrap();
    assert!(result.is_error, "{result:?}");
    said(&result).to_owned()
}

/// Returns the protocol error that a call ended with.
pub fn refusal<T: Debug>(outcome: Result<T, Error>) -> ErrorObject {
    match outcome {
        Err(Error::Call(CallError::Refused(error))) => error,
        other => panic!("not refused: {other:?}"),
    }
}
