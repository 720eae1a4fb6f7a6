//! [`Platform`]: the clock, timers, tasks and entropy of a host.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_proto::Instant;

/// A boxed future that stays on its thread.
pub type LocalBoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The services that connections need from their host.
///
/// This crate implements the trait for standard Rust (`StdPlatform`, also under WASI) and for
/// JavaScript (`JsPlatform`). Implement it to run connections on another host with one thread.
///
/// ```
/// use std::io;
/// use std::time::Duration;
///
/// use mcp_wasm::proto::Instant;
/// use mcp_wasm::{LocalBoxFuture, Platform};
///
/// /// A host whose time never advances, for tests of handlers that never wait.
/// struct Frozen;
///
/// impl Platform for Frozen {
///     fn now(&self) -> Instant {
///         Instant::ZERO
///     }
///     fn unix_seconds(&self) -> u64 {
///         0
///     }
///     fn sleep(&self, _: Duration) -> LocalBoxFuture<'static, ()> {
///         Box::pin(std::future::pending())
///     }
///     fn spawn(&self, _: LocalBoxFuture<'static, ()>) {}
///     fn fill_random(&self, _: &mut [u8]) -> io::Result<()> {
///         Err(io::ErrorKind::Unsupported.into())
///     }
/// }
/// # drop(Frozen);
/// ```
pub trait Platform {
    /// Returns the time since a fixed point. It never goes back.
    fn now(&self) -> Instant;

    /// Returns the seconds since the Unix epoch, for state that outlives this instance.
    fn unix_seconds(&self) -> u64;

    /// Returns a future that is ready after `duration`, at the earliest.
    ///
    /// Dropping the future cancels the timer.
    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()>;

    /// Runs a future on this thread, beside the caller. It must not be polled before this method
    /// returns.
    fn spawn(&self, task: LocalBoxFuture<'static, ()>);

    /// Fills `bytes` with random bytes fit for keys and session ids.
    ///
    /// # Errors
    /// Fails if the host has no source of such bytes.
    fn fill_random(&self, bytes: &mut [u8]) -> io::Result<()>;
}

/// A timer that follows a deadline which may change.
pub(crate) struct DeadlineTimer {
    platform: Rc<dyn Platform>,
    armed: Option<(Instant, LocalBoxFuture<'static, ()>)>,
}

impl DeadlineTimer {
    pub(crate) fn new(platform: &Rc<dyn Platform>) -> Self {
        Self { platform: Rc::clone(platform), armed: None }
    }

    /// Returns whether `deadline` has passed; wakes the task when it does.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, deadline: Option<Instant>) -> bool {
        let Some(deadline) = deadline else {
            self.armed = None;
            return false;
        };
        let now = self.platform.now();
        if now >= deadline {
            self.armed = None;
            return true;
        }
        if self.armed.as_ref().is_none_or(|(at, _)| *at != deadline) {
            let left = deadline.duration_since(now).min(DELAY_MAX);
            self.armed = Some((deadline, self.platform.sleep(left)));
        }
        let Some((_, sleep)) = &mut self.armed else { return false };
        if sleep.as_mut().poll(cx) == Poll::Pending {
            return false;
        }
        self.armed = None;
        if self.platform.now() < deadline {
            // Hosts round durations, and have a longest one.
            cx.waker().wake_by_ref();
            return false;
        }
        true
    }
}

/// The longest single timer: JavaScript keeps delays in 31 bits of milliseconds.
const DELAY_MAX: Duration = Duration::from_secs(24 * 60 * 60);
