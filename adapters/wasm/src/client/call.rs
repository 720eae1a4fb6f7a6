//! A call: its options, its progress and its result.

use std::fmt;
use std::future::{IntoFuture, poll_fn};
use std::marker::PhantomData;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use mcp_proto::schema::{Decode, Encode};
use mcp_proto::{CallId, CallOptions, Misuse, Progress, Raw};

use crate::client::calls::{CallSlot, Calls};
use crate::error::Error;
use crate::platform::LocalBoxFuture;

/// Receives the progress of a call.
type OnProgress<'c> = Box<dyn FnMut(Progress) + 'c>;

/// How long a call waits for room in the queues, unless it has a timeout.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// How often a call looks for room.
const START_PERIOD: Duration = Duration::from_millis(10);

/// A call that has not been sent yet. Set its options, then await or [`start`](Self::start) it.
///
/// Dropping the future while it waits for the result cancels the call and notifies the server.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_wasm::proto::Raw;
/// use mcp_wasm::{Connection, Error};
///
/// async fn list(connection: &Connection) -> Result<Raw, Error> {
///     connection.call_raw("tools/list", Raw::empty_object()).timeout(Duration::from_secs(5)).await
/// }
/// # let _list = list;
/// ```
#[must_use = "a call is sent by `.await` or `.start()`"]
pub struct Call<'c, T> {
    calls: &'c Rc<Calls>,
    method: Box<str>,
    params: Box<dyn Encode + 'c>,
    options: CallOptions,
    progress: Option<OnProgress<'c>>,
    result: PhantomData<fn() -> T>,
}

impl<'c, T: Decode> Call<'c, T> {
    pub(crate) fn new(calls: &'c Rc<Calls>, method: &str, params: impl Encode + 'c) -> Self {
        Self {
            calls,
            method: method.into(),
            params: Box::new(params),
            options: CallOptions::default(),
            progress: None,
            result: PhantomData,
        }
    }

    /// Requests progress notifications and passes them to `callback` while the call is awaited.
    ///
    /// If the call is sent with [`start`](Self::start) instead, use [`Pending::next_progress`].
    pub fn progress(mut self, callback: impl FnMut(Progress) + 'c) -> Self {
        self.options.progress = true;
        self.progress = Some(Box::new(callback));
        self
    }

    /// Sets the timeout for the response. Each progress notification restarts this timeout.
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
    pub fn bypass_cache(mut self) -> Self {
        self.options.bypass_cache = true;
        self
    }

    /// Sends the call and waits for its result. Awaiting the call is equivalent.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Misuse`] if the call cannot be sent;
    /// - [`Error::Call`] if the server returns an error, the call times out, or the connection
    ///   ends;
    /// - [`Error::Decode`] if the result does not match the method.
    pub async fn wait(mut self) -> Result<T, Error> {
        let progress = self.progress.take();
        self.start().await?.wait_with(progress).await
    }

    /// Sends the call without waiting for its result.
    ///
    /// If the output queue is full, waits until there is room, but no longer than the
    /// [`timeout`](Self::timeout), or 60 s if none was set.
    ///
    /// # Errors
    /// Fails with [`Error::Misuse`] if the call cannot be sent, for example because the connection
    /// is closed or the output queue is still full.
    pub async fn start(self) -> Result<Pending<T>, Error> {
        let platform = Rc::clone(self.calls.link.platform());
        let deadline = platform.now() + self.options.timeout.unwrap_or(START_PATIENCE);
        loop {
            let mut sent = Err(Misuse::Closed);
            self.calls.link.command(&mut |client, now| {
                let options = self.options.clone();
                sent = client.call_raw(now, &self.method, Some(&*self.params), options);
                if let Ok(call) = sent {
                    self.calls.slots.borrow_mut().insert(call, CallSlot::default());
                }
            });
            match sent {
                Err(Misuse::Blocked) if platform.now() < deadline => {
                    platform.sleep(START_PERIOD).await;
                }
                sent => {
                    let calls = Rc::clone(self.calls);
                    return Ok(Pending { calls, call: sent?, result: PhantomData });
                }
            }
        }
    }
}

impl<'c, T: Decode + 'c> IntoFuture for Call<'c, T> {
    type Output = Result<T, Error>;
    type IntoFuture = LocalBoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.wait())
    }
}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.method).finish_non_exhaustive()
    }
}

/// A call in flight. Await it for the result; dropping it cancels the call.
///
/// ```
/// use mcp_wasm::proto::Raw;
/// use mcp_wasm::{Connection, Error};
///
/// async fn give_up(connection: &Connection) -> Result<(), Error> {
///     let pending = connection.call_raw("tools/list", Raw::empty_object()).start().await?;
///     pending.cancel("not needed");
///     Ok(())
/// }
/// # let _give_up = give_up;
/// ```
#[must_use = "dropping a call cancels it"]
pub struct Pending<T> {
    calls: Rc<Calls>,
    call: CallId,
    result: PhantomData<fn() -> T>,
}

/// What happened to a call.
enum CallStep {
    Over(Result<Raw, Error>),
    Progress(Progress),
}

impl<T: Decode> Pending<T> {
    /// Waits for the call's result. Awaiting this value is equivalent.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Call`] if the server returns an error, the call times out, or the connection
    ///   ends;
    /// - [`Error::Decode`] if the result does not match the method.
    pub async fn wait(self) -> Result<T, Error> {
        self.wait_with(None).await
    }

    async fn wait_with(self, mut on_progress: Option<OnProgress<'_>>) -> Result<T, Error> {
        loop {
            match self.step().await {
                CallStep::Over(outcome) => return Ok(T::decode(&outcome?)?),
                CallStep::Progress(progress) => {
                    if let Some(callback) = &mut on_progress {
                        callback(progress);
                    }
                }
            }
        }
    }

    /// Waits for the next progress notification; returns `None` once the call has ended.
    ///
    /// The call queues at most 256 unread notifications. Beyond that, the oldest are dropped.
    pub async fn next_progress(&mut self) -> Option<Progress> {
        match self.step().await {
            CallStep::Progress(progress) => Some(progress),
            CallStep::Over(outcome) => {
                if let Some(slot) = self.calls.slots.borrow_mut().get_mut(&self.call) {
                    slot.outcome = match outcome {
                        Ok(result) => Some(Ok(result)),
                        Err(Error::Call(error)) => Some(Err(error)),
                        Err(_) => None,
                    };
                }
                None
            }
        }
    }

    /// Waits for progress or the end of the call.
    async fn step(&self) -> CallStep {
        poll_fn(|cx| {
            let mut slots = self.calls.slots.borrow_mut();
            let Some(slot) = slots.get_mut(&self.call) else {
                return Poll::Ready(CallStep::Over(Err(Misuse::Stale.into())));
            };
            if let Some(progress) = slot.progress.pop_front() {
                return Poll::Ready(CallStep::Progress(progress));
            }
            if let Some(outcome) = slot.outcome.take() {
                return Poll::Ready(CallStep::Over(outcome.map_err(Error::from)));
            }
            slot.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl<T> Pending<T> {
    /// Cancels the call and sends `reason` to the server.
    pub fn cancel(self, reason: &str) {
        self.cancel_with(reason);
    }

    fn cancel_with(&self, reason: &str) {
        if self.calls.slots.borrow_mut().remove(&self.call).is_none() {
            return;
        }
        self.calls.link.command(&mut |client, now| {
            // It may be over.
            let _stale = client.cancel(now, self.call, reason);
        });
    }
}

impl<T: Decode + 'static> IntoFuture for Pending<T> {
    type Output = Result<T, Error>;
    type IntoFuture = LocalBoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.wait())
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.cancel_with("the result is no longer needed");
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("call", &self.call).finish_non_exhaustive()
    }
}
