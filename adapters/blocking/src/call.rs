//! Calls that block.

use std::fmt;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::Error;
use mcp_adapter::proto::Progress;
use mcp_adapter::proto::schema::Decode;

/// A call that was not sent yet: set its options, then [`wait`](Self::wait) for it or
/// [`start`](Self::start) it.
#[must_use = "a call is sent by `wait` or `start`"]
pub struct Call<'c, T>(pub(crate) mcp_adapter::Call<'c, T>);

impl<'c, T: Decode> Call<'c, T> {
    /// Requests progress notifications and passes them to `callback` while [`wait`](Self::wait)
    /// blocks.
    pub fn progress(self, callback: impl FnMut(Progress) + Send + 'c) -> Self {
        Self(self.0.progress(callback))
    }

    /// Sets how long to wait for the response or for further progress.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.timeout(timeout))
    }

    /// Sets how long to wait in total, regardless of progress.
    pub fn timeout_max(self, timeout_max: Duration) -> Self {
        Self(self.0.timeout_max(timeout_max))
    }

    /// Bypasses the cache of results.
    pub fn bypass_cache(self) -> Self {
        Self(self.0.bypass_cache())
    }

    /// Sends the call and waits for its result.
    ///
    /// # Errors
    /// If the call cannot be sent, fails or times out, or the result does not match the method.
    pub fn wait(self) -> Result<T, Error> {
        block_on(self.0.wait())
    }

    /// Sends the call. Blocks for at most the call's timeout while too much output is queued.
    ///
    /// # Errors
    /// If the call cannot be sent.
    pub fn start(self) -> Result<Pending<T>, Error> {
        block_on(self.0.start()).map(Pending)
    }
}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A call that was sent and whose result is pending. Dropping it cancels the call.
#[must_use = "dropping a call cancels it"]
pub struct Pending<T>(mcp_adapter::Pending<T>);

impl<T: Decode> Pending<T> {
    /// Waits for the result of the call.
    ///
    /// # Errors
    /// If the call fails or times out, or the result does not match the method.
    pub fn wait(self) -> Result<T, Error> {
        block_on(self.0.wait())
    }
}

impl<T> Pending<T> {
    /// Waits for the next progress notification; returns `None` once the call has ended.
    pub fn next_progress(&mut self) -> Option<Progress> {
        block_on(self.0.next_progress())
    }

    /// Cancels the call and notifies the server.
    pub fn cancel(self, reason: &str) {
        self.0.cancel(reason);
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
