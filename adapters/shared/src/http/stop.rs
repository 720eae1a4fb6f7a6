//! How a server that listens is told to end; knows nothing of what it serves.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use event_listener::Event;

use crate::process::signals::{Closeable, close_on_signal};

/// Tells a server that listens to end. Cheap to clone: a clone tells the same server.
///
/// ```
/// use mcp_adapter::http::Stop;
///
/// let stop = Stop::new();
/// let elsewhere = stop.clone();
/// elsewhere.stop();
/// assert!(stop.is_stopped());
/// ```
#[derive(Clone)]
pub struct Stop(Arc<Inner>);

struct Inner {
    is_stopped: AtomicBool,
    stopped: Event,
}

impl Stop {
    /// Nothing stops it but [`stop`](Self::stop).
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Inner { is_stopped: AtomicBool::new(false), stopped: Event::new() }))
    }

    /// SIGINT and SIGTERM stop it, too.
    #[must_use]
    pub fn on_signal() -> Self {
        let stop = Self::new();
        let inner: Arc<dyn Closeable> = Arc::clone(&stop.0) as _;
        let weak: Weak<dyn Closeable> = Arc::downgrade(&inner);
        close_on_signal(weak);
        stop
    }

    /// Ends the server: nobody new is let in.
    pub fn stop(&self) {
        self.0.close();
    }

    /// Whether it was told to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped.load(Ordering::SeqCst)
    }

    /// Waits until it is told to end.
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

impl Closeable for Inner {
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
