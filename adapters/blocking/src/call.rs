//! Calls that block.

use std::fmt;
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_adapter::Error;
use mcp_adapter::proto::Progress;
use mcp_adapter::proto::schema::Decode;

/// A call that has not been sent yet.
///
/// Set its options, then send it. [`wait`](Self::wait) sends the call and waits for the result;
/// [`start`](Self::start) only sends it, so that you can wait later.
#[must_use = "a call is sent by `.wait()` or `.start()`"]
pub struct Call<'c, T>(pub(crate) mcp_adapter::Call<'c, T>);

impl<'c, T: Decode> Call<'c, T> {
    /// Requests progress notifications from the server and passes them to `callback`.
    ///
    /// `callback` runs while [`wait`](Self::wait) blocks. If the call is sent with
    /// [`start`](Self::start) instead, use [`Pending::next_progress`].
    pub fn progress(self, callback: impl FnMut(Progress) + Send + 'c) -> Self {
        Self(self.0.progress(callback))
    }

    /// Sets the timeout for the response.
    ///
    /// Each progress notification restarts it. Servers send some only for calls that ask for them
    /// with [`progress`](Self::progress): `.progress(|_| {})` if nothing else is to be done.
    ///
    /// While the server waits for an answer from this client, only the maximum total time applies.
    /// Exception: a timeout that is set without [`timeout_max`](Self::timeout_max) also applies
    /// during that wait.
    ///
    /// Default: [`Limits::call_timeout`](crate::proto::Limits::call_timeout) (60 s unless changed).
    pub fn timeout(self, timeout: Duration) -> Self {
        Self(self.0.timeout(timeout))
    }

    /// Sets the maximum total time to wait for the response, regardless of progress.
    ///
    /// Default: [`Limits::call_timeout_max`](crate::proto::Limits::call_timeout_max) (10 min unless
    /// changed), or the call's [`timeout`](Self::timeout) if that is longer.
    pub fn timeout_max(self, timeout_max: Duration) -> Self {
        Self(self.0.timeout_max(timeout_max))
    }

    /// Sends the call even if the client has cached its result. The new result is still cached.
    ///
    /// This has no effect if [`Limits::cache_bytes_max`](crate::proto::Limits::cache_bytes_max) is
    /// 0, which is the default.
    pub fn bypass_cache(self) -> Self {
        Self(self.0.bypass_cache())
    }

    /// Sends the call and waits for its result.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Misuse`] if the call cannot be sent, and [`Error::Hook`] if a hook of
    ///   [`Client::on_call`](crate::Client::on_call) refuses it;
    /// - [`Error::Call`] if the server returns an error, the call times out, or the connection
    ///   ends;
    /// - [`Error::Decode`] if the result does not match the method.
    pub fn wait(self) -> Result<T, Error> {
        block_on(self.0.wait())
    }

    /// Sends the call without waiting for its result.
    ///
    /// If the output queue is full, blocks until there is room, but no longer than the
    /// [`timeout`](Self::timeout), or 60 s if none was set.
    ///
    /// # Errors
    /// Fails with [`Error::Misuse`] if the call cannot be sent, for example because the connection
    /// is closed or the output queue is still full. Fails with [`Error::Hook`] if a hook of
    /// [`Client::on_call`](crate::Client::on_call) refuses the call.
    pub fn start(self) -> Result<Pending<T>, Error> {
        block_on(self.0.start()).map(Pending)
    }
}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A call in flight. Dropping it cancels the call.
#[must_use = "dropping a call cancels it"]
pub struct Pending<T>(mcp_adapter::Pending<T>);

impl<T: Decode> Pending<T> {
    /// Waits for the call's result.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Call`] if the server returns an error, the call times out, or the connection
    ///   ends;
    /// - [`Error::Decode`] if the result does not match the method.
    pub fn wait(self) -> Result<T, Error> {
        block_on(self.0.wait())
    }
}

impl<T> Pending<T> {
    /// Waits for the next progress notification; returns `None` once the call has ended.
    pub fn next_progress(&mut self) -> Option<Progress> {
        block_on(self.0.next_progress())
    }

    /// Returns the progress of the call as a blocking iterator, which ends with the call.
    ///
    /// Like [`next_progress`](Self::next_progress), this is empty unless the call was configured
    /// with [`Call::progress`].
    ///
    /// ```
    /// use mcp_blocking::{Connection, Error};
    ///
    /// fn report(connection: &Connection) -> Result<(), Error> {
    ///     let call = connection.call_tool("report", &serde_json::json!({})).progress(|_| {});
    ///     let mut report = call.start()?;
    ///     for update in report.progress_updates() {
    ///         println!("{}", update.progress);
    ///     }
    ///     report.wait().map(drop)
    /// }
    /// ```
    pub fn progress_updates(&mut self) -> impl Iterator<Item = Progress> + '_ {
        std::iter::from_fn(|| self.next_progress())
    }

    /// Cancels the call and sends `reason` to the server.
    pub fn cancel(self, reason: &str) {
        self.0.cancel(reason);
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
