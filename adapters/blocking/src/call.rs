//! One call, waited for by a thread.

use std::fmt;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::Error;
use mcp_adapter::proto::Progress;
use mcp_adapter::proto::schema::Decode;

/// A call that is about to be made: say how, then [`wait`](Self::wait) or [`start`](Self::start)
/// it.
#[must_use = "a call is made by `wait` or `start`"]
pub struct Call<'c, T>(pub(crate) mcp_adapter::Call<'c, T>);

impl<'c, T: Decode> Call<'c, T> {
    /// Asks for progress, and has `hear` hear of it while [`wait`](Self::wait) waits.
    pub fn progress(self, hear: impl FnMut(Progress) + Send + 'c) -> Self {
        Self(self.0.progress(hear))
    }

    /// Waits this long for the answer, or for further progress.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.timeout(timeout))
    }

    /// Waits this long in all, whatever progress comes.
    pub fn timeout_max(self, timeout_max: Duration) -> Self {
        Self(self.0.timeout_max(timeout_max))
    }

    /// Asks the server even where an answer is kept that is still good.
    pub fn fresh(self) -> Self {
        Self(self.0.fresh())
    }

    /// Makes the call and waits for its end.
    ///
    /// # Errors
    /// When it cannot be made, fails, times out, or the answer is not what the method answers.
    pub fn wait(self) -> Result<T, Error> {
        block_on(self.0.wait())
    }

    /// Makes the call. While too much waits to be sent, this waits, for no longer than the call's
    /// timeout.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn start(self) -> Result<Pending<T>, Error> {
        block_on(self.0.start()).map(Pending)
    }
}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A call that was made and has not been waited for. Dropping it cancels it.
#[must_use = "dropping a call cancels it"]
pub struct Pending<T>(mcp_adapter::Pending<T>);

impl<T: Decode> Pending<T> {
    /// Waits for the end of the call.
    ///
    /// # Errors
    /// When it fails, times out, or the answer is not what the method answers.
    pub fn wait(self) -> Result<T, Error> {
        block_on(self.0.wait())
    }
}

impl<T> Pending<T> {
    /// The next progress, waiting for it; `None` once the call has ended.
    pub fn next_progress(&mut self) -> Option<Progress> {
        block_on(self.0.next_progress())
    }

    /// Cancels the call: the server is told, and that is its end.
    pub fn cancel(self, reason: &str) {
        self.0.cancel(reason);
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
