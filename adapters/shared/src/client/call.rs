//! A call: its options, its progress and its result.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use event_listener::EventListener;
use futures_lite::future::Boxed;
use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::schema::{Decode, Encode};
use mcp_proto::{CallError, CallId, CallOptions, Instant, Misuse, Payload, Progress, Raw};

use crate::BoxFuture;
use crate::client::call_hooks::{AfterHooks, Hooked, WithMeta, before_call};
use crate::error::Error;
use crate::exec::watched::Watched;
use crate::transport::link::{Link, State};

/// The maximum number of unread progress notifications; beyond it, the oldest is dropped.
const PROGRESS_MAX: usize = 256;

/// The maximum size of unread progress messages in bytes. The latest message is always kept.
const PROGRESS_BYTES_MAX: usize = 1 << 20;

/// A call that has not been sent yet. Set its options, then await or [`start`](Self::start) it.
///
/// Dropping the future while it waits for the result cancels the call and notifies the server.
#[must_use = "a call is sent by `.await` or `.start()`"]
pub struct Call<'c, T> {
    link: &'c Arc<Link<Machine>>,
    method: Cow<'static, str>,
    params: Box<dyn Encode + Send + 'c>,
    options: CallOptions,
    progress: Option<Box<dyn FnMut(Progress) + Send + 'c>>,
    result: PhantomData<fn() -> T>,
}

impl<'c, T: Decode> Call<'c, T> {
    pub(crate) fn new(
        link: &'c Arc<Link<Machine>>,
        method: impl Into<Cow<'static, str>>,
        params: impl Encode + Send + 'c,
    ) -> Self {
        Self {
            link,
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
    pub fn progress(mut self, callback: impl FnMut(Progress) + Send + 'c) -> Self {
        self.options.progress = true;
        self.progress = Some(Box::new(callback));
        self
    }

    /// Sets the timeout for the response. Each progress notification restarts this timeout.
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

    /// Sends the call and waits for its result. Awaiting the call is equivalent.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Misuse`] if the call cannot be sent, and [`Error::Hook`] if a hook of
    ///   [`Client::on_call`](crate::Client::on_call) refuses it;
    /// - [`Error::Call`] if the server returns an error, the call times out, or the connection
    ///   ends;
    /// - [`Error::Decode`] if the result does not match the method.
    pub async fn wait(mut self) -> Result<T, Error> {
        let progress = self.progress.take();
        let pending = self.start().await?;
        pending.wait_with(progress).await
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
    pub async fn start(self) -> Result<Pending<T>, Error> {
        let patience = self.options.timeout.unwrap_or(START_PATIENCE);
        let Self { link, method, params, options, .. } = self;
        let revision = || link.inspect(|state| state.role.peer.as_ref().map(|peer| peer.revision));
        let hooked = before_call(&link.shared.on_call, &method, &*params, revision);
        let Hooked { meta, after } = hooked.map_err(Error::Hook)?;
        start_hooked_call(link, patience, after, move |state, now| {
            let params = WithMeta { params: &*params, meta: &meta };
            let (params, options) = (Payload::Value(&params), options.clone());
            state.connection.call(now, Command::Call { method: &method, params, options })
        })
        .await
    }
}

impl<'c, T: Decode + 'c> IntoFuture for Call<'c, T> {
    type Output = Result<T, Error>;
    type IntoFuture = BoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.wait())
    }
}

/// Sends a call with `send`, retrying for at most `patience` while there is no room.
pub(crate) async fn start_call<T>(
    link: &Arc<Link<Machine>>,
    patience: Duration,
    send: impl FnMut(&mut State<Machine>, Instant) -> Result<CallId, Misuse>,
) -> Result<Pending<T>, Error> {
    start_hooked_call(link, patience, None, send).await
}

/// Like [`start_call`], with hooks that run when the call has ended.
async fn start_hooked_call<T>(
    link: &Arc<Link<Machine>>,
    patience: Duration,
    after: Option<Box<AfterHooks>>,
    mut send: impl FnMut(&mut State<Machine>, Instant) -> Result<CallId, Misuse>,
) -> Result<Pending<T>, Error> {
    let slot = Arc::new(CallSlot::default());
    slot.0.lock().after = after;
    let sent = link
        .with_room_in_turn(patience, |state, now| {
            let call = send(state, now)?;
            state.role.insert_call(call, Arc::clone(&slot));
            Ok(call)
        })
        .await;
    let call = sent.inspect_err(|error| {
        if let Some(mut hooks) = slot.take_hooks() {
            hooks.unsent(error);
        }
    })?;
    Ok(Pending { link: Arc::clone(link), call, slot, is_over: false, result: PhantomData })
}

/// How long a call without a timeout waits for room to be sent.
pub(crate) const START_PATIENCE: Duration = Duration::from_secs(60);

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.method).finish_non_exhaustive()
    }
}

/// A call in flight. Await it for the result; dropping it cancels the call.
#[must_use = "dropping a call cancels it"]
pub struct Pending<T> {
    link: Arc<Link<Machine>>,
    call: CallId,
    pub(super) slot: Arc<CallSlot>,
    /// The result was taken, or the call was cancelled.
    is_over: bool,
    result: PhantomData<fn() -> T>,
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

    async fn wait_with(
        mut self,
        mut progress: Option<Box<dyn FnMut(Progress) + Send + '_>>,
    ) -> Result<T, Error> {
        loop {
            match self.slot.next().await {
                CallUpdate::Progress(update) => {
                    if let Some(callback) = &mut progress {
                        callback(update);
                    }
                }
                CallUpdate::Completed(outcome) => {
                    self.is_over = true;
                    return Ok(T::decode(&outcome?)?);
                }
            }
        }
    }
}

impl<T: Decode + 'static> IntoFuture for Pending<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Boxed<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.wait())
    }
}

impl<T> Pending<T> {
    /// Waits for the next progress notification; returns `None` once the call has ended.
    ///
    /// The call queues at most 256 unread notifications, with at most 1 MiB of message text in
    /// total. Beyond that, the oldest notifications are dropped.
    pub async fn next_progress(&mut self) -> Option<Progress> {
        self.slot.next_progress().await
    }

    /// Cancels the call and sends `reason` to the server.
    pub fn cancel(mut self, reason: &str) {
        self.cancel_once(reason);
    }

    fn cancel_once(&mut self, reason: &str) {
        if !std::mem::replace(&mut self.is_over, true) {
            let cancel = Command::Cancel { call: self.call, reason };
            let _over_already = self.link.with(|state, now| state.connection.run(now, cancel));
        }
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.cancel_once("no longer wanted");
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("call", &self.call).finish_non_exhaustive()
    }
}

/// The updates of one call, until they are taken.
#[derive(Debug, Default)]
pub(crate) struct CallSlot(Watched<CallSlotState>);

#[derive(Debug, Default)]
struct CallSlotState {
    progress: VecDeque<Progress>,
    progress_bytes: usize,
    outcome: Option<Result<Raw, CallError>>,
    is_completed: bool,
    after: Option<Box<AfterHooks>>,
}

enum CallUpdate {
    Progress(Progress),
    Completed(Result<Raw, CallError>),
}

impl CallSlotState {
    /// Returns the next progress, or the end of the call; `None` if there is neither yet.
    fn next_progress(&mut self) -> Option<Option<Progress>> {
        match self.take_progress() {
            None if !self.is_completed => None,
            progress => Some(progress),
        }
    }

    fn take_progress(&mut self) -> Option<Progress> {
        let progress = self.progress.pop_front()?;
        self.progress_bytes -= message_bytes(&progress);
        Some(progress)
    }
}

fn message_bytes(progress: &Progress) -> usize {
    progress.message.as_ref().map_or(0, |message| message.len())
}

impl CallSlot {
    pub(crate) fn progress(&self, progress: Progress) {
        self.0.change(|state| {
            state.progress_bytes += message_bytes(&progress);
            state.progress.push_back(progress);
            while state.progress.len() > PROGRESS_MAX
                || (state.progress_bytes > PROGRESS_BYTES_MAX && state.progress.len() > 1)
            {
                state.take_progress();
            }
        });
    }

    pub(crate) fn complete(&self, outcome: Result<Raw, CallError>) {
        if let Some(mut hooks) = self.take_hooks() {
            hooks.completed(&outcome);
        }
        self.0.change(|state| {
            state.outcome = Some(outcome);
            state.is_completed = true;
        });
    }

    /// Takes the hooks out, which must run without the lock.
    fn take_hooks(&self) -> Option<Box<AfterHooks>> {
        self.0.lock().after.take()
    }

    async fn next(&self) -> CallUpdate {
        self.0
            .when(|state| {
                if let Some(progress) = state.take_progress() {
                    return Some(CallUpdate::Progress(progress));
                }
                state.is_completed.then(|| {
                    CallUpdate::Completed(state.outcome.take().unwrap_or(Err(CallError::Lost)))
                })
            })
            .await
    }

    pub(super) fn poll_progress(
        &self,
        context: &mut Context<'_>,
        waiting: &mut Option<EventListener>,
    ) -> Poll<Option<Progress>> {
        self.0.poll_when(context, waiting, CallSlotState::next_progress)
    }

    async fn next_progress(&self) -> Option<Progress> {
        self.0.when(CallSlotState::next_progress).await
    }
}
