//! A call: its options, its progress and its result.

use std::borrow::Cow;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::{Boxed, or};
use mcp_proto::client::Client as Machine;
use mcp_proto::schema::{Decode, Encode, TaskRequest};
use mcp_proto::{
    CallError, CallId, CallOptions, Instant, MessageEndpoint as _, Misuse, Progress, Raw,
};

use crate::box_future::BoxFuture;
use crate::client::connection::Connection;
use crate::client::in_flight::{InFlight, OnProgress, START_PATIENCE};
use crate::client::questions::Answering;
use crate::client::task::driver::{TaskDriver, TaskStep};
use crate::client::task::mailbox::Mailbox;
use crate::client::unsent_call::UnsentCall;
use crate::error::Error;
use crate::exec::operation::{Operation, wait_for};
use crate::tasks::WithTask;
use crate::transport::link::{Link, State};

/// The task that a call asks for, and what receives its progress.
pub(crate) type AskedTask = (TaskRequest, Arc<Mailbox>);

/// A call that has not been sent yet. Set its options, then await it, [`wait`](Self::wait) for it,
/// or [`start`](Self::start) it.
///
/// Dropping the future while it waits for the result cancels the call and notifies the server.
#[must_use = "a call is sent by `.await`, `.wait()` or `.start()`"]
pub struct Call<'c, T> {
    connection: &'c Connection,
    method: Cow<'static, str>,
    pub(super) params: Box<dyn Encode + Send + 'c>,
    pub(super) options: CallOptions,
    progress: Option<OnProgress<'c>>,
    /// Asks for a task. (2025-11-25)
    task: Option<AskedTask>,
    pub(super) answering: Answering,
    result: PhantomData<fn() -> T>,
}

impl<'c, T: Decode> Call<'c, T> {
    pub(crate) fn new(
        connection: &'c Connection,
        method: impl Into<Cow<'static, str>>,
        params: impl Encode + Send + 'c,
    ) -> Self {
        Self {
            connection,
            method: method.into(),
            params: Box::new(params),
            options: CallOptions::default(),
            progress: None,
            task: None,
            answering: Answering::default(),
            result: PhantomData,
        }
    }

    /// Requests progress notifications and passes them to `callback` until the call has ended.
    ///
    /// If the call is sent with [`start`](Self::start) instead, use [`Pending::next_progress`].
    pub fn progress(mut self, callback: impl FnMut(Progress) + Send + 'c) -> Self {
        self.options.progress = true;
        self.progress = Some(Box::new(callback));
        self
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
    /// Default: [`Limits::call_timeout`](mcp_proto::Limits::call_timeout) (60 s unless changed).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Sets the maximum total time to wait for the response, regardless of progress.
    ///
    /// Default: [`Limits::call_timeout_max`](mcp_proto::Limits::call_timeout_max) (10 min unless
    /// changed), or the call's [`timeout`](Self::timeout) if that is longer.
    pub fn timeout_max(mut self, timeout_max: Duration) -> Self {
        self.options.timeout_max = Some(timeout_max);
        self
    }

    /// Sends the call even if the client has cached its result. The new result is still cached.
    ///
    /// This has no effect if [`Limits::cache_bytes_max`](mcp_proto::Limits::cache_bytes_max) is 0,
    /// which is the default.
    pub fn bypass_cache(mut self) -> Self {
        self.options.bypass_cache = true;
        self
    }

    /// Sends the call and blocks until it has its result. Tasks await the call instead.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Misuse`] if the call cannot be sent, and [`Error::Hook`] if a hook of
    ///   [`Client::on_call`](crate::Client::on_call) refuses it;
    /// - [`Error::Call`] if the server returns an error, the call times out, or the connection
    ///   ends;
    /// - [`Error::Decode`] if the result does not match the method.
    ///
    /// Fails with [`Misuse::Blocked`] under the conditions of [`Operation::wait`].
    pub fn wait(self) -> Result<T, Error> {
        wait_for(self.run())
    }

    async fn run(mut self) -> Result<T, Error> {
        let progress = self.progress.take();
        let pending = self.send_pending().await?;
        pending.run(progress).await
    }

    /// Sends the call without waiting for its result.
    ///
    /// If the output queue is full, waits until there is room, but no longer than the
    /// [`timeout`](Self::timeout), or 60 s if none was set.
    ///
    /// # Errors
    /// Fails with [`Error::Misuse`] if the call cannot be sent, for example because the connection
    /// is closed or the output queue is still full. Fails with [`Error::Hook`] if a hook of
    /// [`Client::on_call`](crate::Client::on_call) refuses the call.
    pub fn start(self) -> Operation<'c, Pending<T>>
    where
        T: 'c,
    {
        Operation::new(self.send_pending())
    }

    pub(super) async fn send_pending(self) -> Result<Pending<T>, Error> {
        let options = self.options.clone();
        let in_flight = self.send().await?;
        let deadline = Self::deadline(in_flight.link(), &options);
        Ok(Pending { in_flight, deadline, task: None, result: PhantomData })
    }

    /// Returns when the call ends at the latest.
    // TMO-05: the time of a task counts.
    fn deadline(link: &Link<Machine>, options: &CallOptions) -> Instant {
        let CallOptions { timeout, timeout_max, .. } = *options;
        let default = || {
            timeout
                .unwrap_or_else(|| link.inspect(|state| state.connection.limits().call_timeout_max))
        };
        link.clock.now() + timeout_max.unwrap_or_else(default)
    }

    /// Sends the call; during a recovery of the connection, once there is another link.
    async fn send(self) -> Result<InFlight, Error> {
        let patience = self.options.timeout.unwrap_or(START_PATIENCE);
        let slot = self.connection.slot();
        let Self { method, params, options, task, answering, .. } = self;
        let (task, mailbox) = task.unzip();
        let params = WithTask { params, task };
        let mut call = UnsentCall { method, params, options, mailbox, answering };
        let mut link = slot.ready(patience).await?;
        loop {
            let sent = call.send(&link, patience).await;
            if !matches!(sent, Err(Error::Misuse(Misuse::Closed))) {
                return sent;
            }
            // The link was lost, and the call was not sent.
            match slot.after(&link, patience).await? {
                Some(next) => link = next,
                None => return sent,
            }
        }
    }
}

impl<'c, T> Call<'c, T> {
    /// Returns the call, with a result that is not decoded.
    pub(super) fn undecoded(self) -> Call<'c, Raw> {
        let Self { connection, method, params, options, progress, task, answering, .. } = self;
        let result = PhantomData;
        Call { connection, method, params, options, progress, task, answering, result }
    }

    pub(crate) const fn connection(&self) -> &'c Connection {
        self.connection
    }

    pub(crate) fn params(&self) -> &(dyn Encode + Send + 'c) {
        &*self.params
    }
}

impl<'c, T: Decode> Call<'c, T> {
    /// Sends the call, asking for a task if `task` is set, and waits for the response. Returns it
    /// with its link.
    pub(crate) async fn respond(
        mut self,
        task: Option<AskedTask>,
    ) -> Result<(Raw, Arc<Link<Machine>>), Error> {
        // PRG-11: the progress of the task comes under the token of the call.
        self.options.progress |= task.is_some();
        self.task = task;
        let mut progress = self.progress.take();
        let mut in_flight = self.send().await?;
        let result = in_flight.outcome(&mut progress).await?;
        Ok((result, Arc::clone(in_flight.link())))
    }
}

impl<'c, T: Decode + 'c> IntoFuture for Call<'c, T> {
    type Output = Result<T, Error>;
    type IntoFuture = BoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// Sends a call with `send`, retrying for at most `patience` while there is no room.
pub(crate) async fn start_call<T>(
    link: &Arc<Link<Machine>>,
    patience: Duration,
    send: impl FnMut(&mut State<Machine>, Instant) -> Result<CallId, Misuse>,
) -> Result<Pending<T>, Error> {
    let in_flight = InFlight::start(link, patience, None, Answering::Nothing, send).await?;
    // Its method creates no task.
    let deadline = link.clock.now();
    Ok(Pending { in_flight, deadline, task: None, result: PhantomData })
}

opaque_debug!(Call<'_, T> [T], it => method: it.method);

/// A call in flight. Await it, or [`wait`](Self::wait) for it, for the result; dropping it cancels
/// the call.
#[must_use = "dropping a call cancels it"]
pub struct Pending<T> {
    pub(crate) in_flight: InFlight,
    /// When the call ends at the latest, also if it has created a task.
    deadline: Instant,
    /// The task that the call has created.
    task: Option<Box<TaskDriver>>,
    result: PhantomData<fn() -> T>,
}

impl<T: Decode> Pending<T> {
    /// Blocks until the call has its result. Tasks await this value instead.
    ///
    /// If the server has created a task for a tool call (see [`ClientTasks`](crate::ClientTasks)),
    /// this waits for the result of the task, for at most the [maximum time](Call::timeout_max) of
    /// the call.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Call`] if the server returns an error, the call times out, or the connection
    ///   ends;
    /// - [`Error::Decode`] if the result does not match the method.
    ///
    /// Fails with [`Misuse::Blocked`] under the conditions of [`Operation::wait`].
    pub fn wait(self) -> Result<T, Error> {
        wait_for(self.run(None))
    }

    async fn run(mut self, mut progress: Option<OnProgress<'_>>) -> Result<T, Error> {
        let result = self.in_flight.outcome(&mut progress).await?;
        self.finish(result).await
    }

    /// Returns the result of the call, or of the task that it has created.
    pub(crate) async fn finish(mut self, result: Raw) -> Result<T, Error> {
        let link = self.in_flight.link();
        if !TaskDriver::is_created_by(link, &result) {
            return Ok(T::decode(&result)?);
        }
        self.task = Some(Box::new(TaskDriver::new(link, &result, Arc::default())?));
        let result = self.wait_for_task().await;
        if let Some(task) = &mut self.task {
            task.stop();
        }
        Ok(T::decode(&result?)?)
    }

    async fn wait_for_task(&mut self) -> Result<Raw, Error> {
        let Some(task) = &mut self.task else { return Err(CallError::Lost.into()) };
        let (link, deadline) = (Arc::clone(self.in_flight.link()), self.deadline);
        let over = async {
            loop {
                if let TaskStep::Over(outcome) = task.next().await? {
                    return Ok(outcome?);
                }
            }
        };
        let late = async {
            link.sleep_until(deadline).await;
            Err(CallError::TimedOut.into())
        };
        or(over, late).await
    }
}

impl<T: Decode + 'static> IntoFuture for Pending<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Boxed<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run(None))
    }
}

impl<T> Pending<T> {
    /// Waits for the next progress notification; returns `None` once the call has ended.
    ///
    /// The call queues at most 256 unread notifications, with at most 1 MiB of message text in
    /// total. Beyond that, the oldest notifications are dropped.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Connection, Error};
    ///
    /// fn report(connection: &Connection) -> Result<(), Error> {
    ///     let call = connection.call_tool("report", &serde_json::json!({})).progress(|_| {});
    ///     let mut report = call.start().wait()?;
    ///     while let Some(update) = report.next_progress().wait()? {
    ///         println!("{}", update.progress);
    ///     }
    ///     report.wait().map(drop)
    /// }
    /// ```
    ///
    /// # Errors
    /// Never fails, except as [`Operation::wait`] does.
    pub fn next_progress(&mut self) -> Operation<'_, Option<Progress>> {
        Operation::new(async { Ok(self.in_flight.slot().next_progress().await) })
    }

    /// Returns the id of the call, which [`ClientCx::call`](crate::ClientCx::call) returns to the
    /// handlers of its questions.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.in_flight.call()
    }

    /// Cancels the call and sends `reason` to the server.
    pub fn cancel(mut self, reason: &str) {
        self.in_flight.cancel(reason);
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        if let Some(task) = &mut self.task {
            task.stop();
        }
    }
}

opaque_debug!(Pending<T> [T], it => call: it.in_flight.call());
