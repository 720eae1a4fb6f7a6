//! One call, from the side of who waits for it; knows nothing of how messages travel.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use event_listener::Event;
use futures_lite::future::Boxed;
use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::schema::{Decode, Encode};
use mcp_proto::{
    CallError, CallId, CallOptions, Instant, Misuse, Payload, Progress, Raw, Revision, Unencodable,
};

use crate::BoxFuture;
use crate::error::Error;
use crate::transport::link::{Link, State};

/// Progress that nobody has looked at is kept up to this many; then the oldest gives way.
const PROGRESS_MAX: usize = 256;

/// The same for the bytes of its words; the latest is kept however long it is.
const PROGRESS_BYTES_MAX: usize = 1 << 20;

/// A call that is about to be made: say how, then await it, or [`start`](Self::start) it.
///
/// Dropping its future cancels the call, on the wire too.
#[must_use = "a call is made when it is awaited"]
pub struct Call<'c, T> {
    link: &'c Arc<Link<Machine>>,
    method: Cow<'static, str>,
    params: Box<dyn Encode + Send + 'c>,
    options: CallOptions,
    progress: Option<Box<dyn FnMut(Progress) + Send + 'c>>,
    answers: PhantomData<fn() -> T>,
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
            answers: PhantomData,
        }
    }

    /// Asks for progress, and has `hear` hear of it while the call is waited for.
    pub fn progress(mut self, hear: impl FnMut(Progress) + Send + 'c) -> Self {
        self.options.progress = true;
        self.progress = Some(Box::new(hear));
        self
    }

    /// Waits this long for the answer, or for further progress.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// Waits this long in all, whatever progress comes.
    pub fn timeout_max(mut self, timeout_max: Duration) -> Self {
        self.options.timeout_max = Some(timeout_max);
        self
    }

    /// Asks the server even where an answer is kept that is still good.
    pub fn fresh(mut self) -> Self {
        self.options.fresh = true;
        self
    }

    /// Makes the call and waits for its end. The same as awaiting it.
    ///
    /// # Errors
    /// When it cannot be made, fails, times out, or the answer is not what the method answers.
    pub async fn wait(mut self) -> Result<T, Error> {
        let progress = self.progress.take();
        let pending = self.start().await?;
        pending.wait_hearing(progress).await
    }

    /// Makes the call. While too much waits to be sent, this waits, for no longer than the call's
    /// timeout.
    ///
    /// # Errors
    /// When it cannot be made.
    pub async fn start(self) -> Result<Pending<T>, Error> {
        let patience = self.options.timeout.unwrap_or(START_PATIENCE);
        let Self { link, method, params, options, .. } = self;
        begin(link, patience, move |state, now| {
            let params = Encoded(&*params);
            let (params, options) = (Payload::Value(&params), options.clone());
            state.session.call(now, Command::Call { method: &method, params, options })
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

/// Makes a call by `make`, trying again while there is no room, for as long as `patience`.
pub(crate) async fn begin<T>(
    link: &Arc<Link<Machine>>,
    patience: Duration,
    mut make: impl FnMut(&mut State<Machine>, Instant) -> Result<CallId, Misuse>,
) -> Result<Pending<T>, Error> {
    let slot = Arc::new(Slot::default());
    let call = link
        .with_room(patience, |state, now| {
            let call = make(state, now)?;
            state.open.insert(call, Arc::clone(&slot));
            Ok(call)
        })
        .await?;
    Ok(Pending { link: Arc::clone(link), call, slot, over: false, answers: PhantomData })
}

/// How long a call without a timeout of its own waits for room to be made.
pub(crate) const START_PATIENCE: Duration = Duration::from_secs(60);

/// Borrows what is to be written.
struct Encoded<'a>(&'a (dyn Encode + Send));

impl Encode for Encoded<'_> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        self.0.encode(revision, out)
    }
}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.method).finish_non_exhaustive()
    }
}

/// A call that was made and has not been waited for. Dropping it cancels it.
#[must_use = "dropping a call cancels it"]
pub struct Pending<T> {
    link: Arc<Link<Machine>>,
    call: CallId,
    slot: Arc<Slot>,
    /// Its end was taken.
    over: bool,
    answers: PhantomData<fn() -> T>,
}

impl<T: Decode> Pending<T> {
    /// Waits for the end of the call. The same as awaiting it.
    ///
    /// # Errors
    /// When it fails, times out, or the answer is not what the method answers.
    pub async fn wait(self) -> Result<T, Error> {
        self.wait_hearing(None).await
    }

    async fn wait_hearing(
        mut self,
        mut progress: Option<Box<dyn FnMut(Progress) + Send + '_>>,
    ) -> Result<T, Error> {
        loop {
            match self.slot.next().await {
                News::Progress(news) => {
                    if let Some(hear) = &mut progress {
                        hear(news);
                    }
                }
                News::Over(outcome) => {
                    self.over = true;
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
    /// The next progress, waiting for it; `None` once the call has ended.
    pub async fn next_progress(&mut self) -> Option<Progress> {
        self.slot.next_progress().await
    }

    /// Cancels the call: the server is told, and that is its end.
    pub fn cancel(mut self, reason: &str) {
        self.end(reason);
    }

    fn end(&mut self, reason: &str) {
        if !std::mem::replace(&mut self.over, true) {
            let cancel = Command::Cancel { call: self.call, reason };
            let _over_already = self.link.with(|state, now| state.session.run(now, cancel));
        }
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.end("no longer wanted");
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("call", &self.call).finish_non_exhaustive()
    }
}

/// Where the news of one call wait for whoever waits for them.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    state: Mutex<SlotState>,
    changed: Event,
}

#[derive(Debug, Default)]
struct SlotState {
    progress: VecDeque<Progress>,
    progress_bytes: usize,
    outcome: Option<Result<Raw, CallError>>,
    over: bool,
}

enum News {
    Progress(Progress),
    Over(Result<Raw, CallError>),
}

impl SlotState {
    fn take_progress(&mut self) -> Option<Progress> {
        let progress = self.progress.pop_front()?;
        self.progress_bytes -= words(&progress);
        Some(progress)
    }
}

fn words(progress: &Progress) -> usize {
    progress.message.as_ref().map_or(0, |message| message.len())
}

impl Slot {
    pub(crate) fn progress(&self, progress: Progress) {
        let mut state = self.lock();
        state.progress_bytes += words(&progress);
        state.progress.push_back(progress);
        while state.progress.len() > PROGRESS_MAX
            || (state.progress_bytes > PROGRESS_BYTES_MAX && state.progress.len() > 1)
        {
            state.take_progress();
        }
        drop(state);
        self.changed.notify(usize::MAX);
    }

    pub(crate) fn complete(&self, outcome: Result<Raw, CallError>) {
        let mut state = self.lock();
        state.outcome = Some(outcome);
        state.over = true;
        drop(state);
        self.changed.notify(usize::MAX);
    }

    async fn next(&self) -> News {
        self.when(|state| {
            if let Some(progress) = state.take_progress() {
                return Some(News::Progress(progress));
            }
            state.over.then(|| News::Over(state.outcome.take().unwrap_or(Err(CallError::Lost))))
        })
        .await
    }

    async fn next_progress(&self) -> Option<Progress> {
        self.when(|state| match state.take_progress() {
            None if !state.over => None,
            progress => Some(progress),
        })
        .await
    }

    async fn when<T>(&self, mut look: impl FnMut(&mut SlotState) -> Option<T>) -> T {
        loop {
            let changed = {
                let mut state = self.lock();
                if let Some(found) = look(&mut state) {
                    return found;
                }
                self.changed.listen()
            };
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
