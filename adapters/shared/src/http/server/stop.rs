//! The stop signal of a listening server.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use event_listener::Event;

use crate::process::signals::{Closeable, close_on_signal, receive_signals};

/// A signal that stops HTTP servers. Cheap to clone; clones share the signal.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::Stop;
///
/// let stop = Stop::new();
/// let elsewhere = stop.clone();
/// elsewhere.stop();
/// assert!(stop.is_stopped());
/// ```
#[derive(Clone)]
pub struct Stop(Arc<StopFlag>);

struct StopFlag {
    is_stopped: AtomicBool,
    stopped: Event,
}

impl Stop {
    /// Creates a signal that is set only by [`stop`](Self::stop).
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(StopFlag { is_stopped: AtomicBool::new(false), stopped: Event::new() }))
    }

    /// Creates a stop signal that is set by SIGINT, SIGTERM, SIGHUP or [`stop`](Self::stop).
    ///
    /// If the program itself handles one of these three operating-system signals, only
    /// [`stop`](Self::stop) sets the stop signal. On Linux and Android, an operating-system signal
    /// that is ignored stays ignored. On other systems, only [`stop`](Self::stop) sets the stop
    /// signal if one of the three is ignored.
    #[must_use]
    pub fn on_signal() -> Self {
        let stop = Self::new();
        let flag: Arc<dyn Closeable> = Arc::clone(&stop.0) as _;
        let weak: Weak<dyn Closeable> = Arc::downgrade(&flag);
        close_on_signal(weak);
        receive_signals();
        stop
    }

    /// Sets the signal. Servers then accept no more connections and shut down.
    pub fn stop(&self) {
        self.0.close();
    }

    /// Returns whether the signal is set.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped.load(Ordering::SeqCst)
    }

    /// Waits until the signal is set.
    pub async fn stopped(&self) {
        while !self.is_stopped() {
            let stopped = self.0.stopped.listen();
            if !self.is_stopped() {
                stopped.await;
            }
        }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Closeable for StopFlag {
    fn close(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.stopped.notify(usize::MAX);
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.is_stopped()).finish()
    }
}
