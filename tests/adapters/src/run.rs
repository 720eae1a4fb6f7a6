//! Runs tests on runtimes, waits, and unwraps outcomes.

use std::fmt::Debug;
use std::future::Future;
use std::thread;
use std::time::{Duration, Instant};

use mcp_adapter::Error;
use mcp_adapter::proto::schema::CallToolResult;
use mcp_adapter::proto::{CallError, ErrorObject};
use mcp_test_processes::{PATIENCE, with_timeout};
use smol::Timer;

use crate::Runtime;

/// Runs a test on a runtime.
pub fn on<R: Runtime, F: Future<Output = ()> + 'static>(row: fn() -> F) {
    with_timeout(move || R::block_on(row()));
}

/// Runs a test on several runtimes concurrently, each by its name.
pub fn concurrently(rows: &[(&'static str, &(dyn Fn() + Sync))]) {
    let failed: Vec<&str> = thread::scope(|scope| {
        let begin = |(name, row): &(&'static str, _)| {
            let begun = thread::Builder::new().name((*name).into()).spawn_scoped(scope, *row);
            (*name, begun.expect("threads can be started"))
        };
        let begun: Vec<_> = rows.iter().map(begin).collect();
        begun.into_iter().filter_map(|(name, row)| row.join().is_err().then_some(name)).collect()
    });
    assert!(failed.is_empty(), "failed on {}", failed.join(" and "));
}

/// Waits until a condition holds that raises no event.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE / 2, "timed out waiting for: {what}");
        timer(Duration::from_millis(1)).await;
    }
}

/// Waits, on any runtime.
pub async fn timer(duration: Duration) {
    Timer::after(duration).await;
}

/// Returns the text of a tool result.
#[must_use]
pub fn text_of(result: &CallToolResult) -> &str {
    result.content[0].as_text().unwrap()
}

/// Returns the text of a successful tool result.
pub fn success(outcome: Result<CallToolResult, Error>) -> String {
    let result = outcome.unwrap();
    assert!(!result.is_error, "{result:?}");
    text_of(&result).to_owned()
}

/// Returns the text of a failed tool result.
pub fn failure(outcome: Result<CallToolResult, Error>) -> String {
    let result = outcome.unwrap();
    assert!(result.is_error, "{result:?}");
    text_of(&result).to_owned()
}

/// Returns the protocol error that a call ended with.
pub fn refusal<T: Debug>(outcome: Result<T, Error>) -> ErrorObject {
    match outcome {
        Err(Error::Call(CallError::Refused(error))) => error,
        other => panic!("not refused: {other:?}"),
    }
}
