//! The executor that all tasks of this crate share.

use std::future::Future;
use std::panic::catch_unwind;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, io, thread};

use async_executor::Executor;
use futures_lite::future::yield_now;

static EXECUTOR: Executor<'static> = Executor::new();

/// Runs a future in the background. A panic ends only its own task.
///
/// # Errors
/// Fails if the executor has no thread yet and the operating system starts none.
pub(crate) fn spawn(future: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
    start()?;
    EXECUTOR.spawn(future).detach();
    Ok(())
}

/// Starts the threads of the executor, unless they run already.
fn start() -> io::Result<()> {
    static IS_RUNNING: Mutex<bool> = Mutex::new(false);

    let mut is_running = IS_RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_running {
        return Ok(());
    }
    // The variable that smol's own executor reads.
    let threads = env::var("SMOL_THREADS").ok().and_then(|threads| threads.parse().ok());
    for number in 1..=threads.unwrap_or(1).max(1) {
        let started = thread::Builder::new().name(format!("mcp-smol-{number}")).spawn(run);
        // The threads before it run all tasks.
        if started.is_err() && *is_running {
            break;
        }
        let _runs_on = started?;
        *is_running = true;
    }
    Ok(())
}

fn run() {
    loop {
        // A panic of a task reaches this thread, which continues with the other tasks.
        let _panicked = catch_unwind(|| async_io::block_on(run_tasks()));
    }
}

/// How long tasks run before the thread looks for IO events. If it did not look for 50 µs, the
/// thread of `async-io` would take over: it would then wait for the events of all connections, and
/// each event would cost two changes of threads, which doubles the cost of a small request.
const TURN: Duration = Duration::from_micros(40);

async fn run_tasks() {
    loop {
        EXECUTOR.tick().await;
        let mut began = Instant::now();
        while EXECUTOR.try_tick() {
            if began.elapsed() > TURN {
                yield_now().await;
                began = Instant::now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_task_that_panics_ends_alone() {
        let (done, awaited) = channel();
        spawn(async { panic!("a bug of the application") }).unwrap();
        spawn(async move { done.send(thread::current().name().map(str::to_owned)).unwrap() })
            .unwrap();
        let name = awaited.recv_timeout(Duration::from_secs(10)).unwrap();
        assert!(name.unwrap().starts_with("mcp-smol-"));
    }
}
