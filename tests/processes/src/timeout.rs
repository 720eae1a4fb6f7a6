//! [`with_timeout`]: a limit of time for a test.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::{Process, reset_signals};

/// The time limit of a test. It does not measure speed: only a test that hangs takes this long.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a test, which must end in time.
pub fn with_timeout<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    reset_signals();
    let (sender, ended) = channel();
    // A panic message shows the name of the thread.
    let name = thread::current().name().unwrap_or("test").to_owned();
    let test = thread::Builder::new().name(name).spawn(move || {
        let outcome = test();
        let _receiver_is_gone = sender.send(());
        outcome
    });
    let test = test.expect("threads can be started");
    match ended.recv_timeout(PATIENCE) {
        Err(RecvTimeoutError::Timeout) => {
            Process::kill_those_of(test.thread().id());
            panic!("the test hangs: not finished after {PATIENCE:?}")
        }
        Ok(()) | Err(RecvTimeoutError::Disconnected) => match test.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}
