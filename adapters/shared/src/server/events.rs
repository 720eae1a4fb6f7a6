//! A connection of a server: requests become jobs, and their outcomes replies; knows nothing of any
//! runtime.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_lite::future::block_on;
use mcp_proto::server::{Command, Event, Server as Machine};
use mcp_proto::{
    Change, Close, Context, ErrorObject, IncomingId, Instant, Misuse, OwnedCommand, Request,
    Violation,
};

use crate::BoxFuture;
use crate::exec::cancellation::Cancelled;
use crate::exec::clock::unix_seconds;
use crate::exec::workers::{Workers, unpanicked};
use crate::process::signals::{self as signal, Closeable};
use crate::server::changes::Changes;
use crate::server::handler::context::{AsyncCx, Cx, Inner, Wire};
use crate::server::handler::reply::{Done, Reply};
use crate::server::handler::round_state::{Carried, Sealing};
use crate::server::handler::tool_error::ToolError;
use crate::server::handler::{Job, Step};
use crate::server::id_hasher::ByIncoming;
use crate::server::pending_changes::Untold;
use crate::trace::{About, how};
use crate::transport::link::{Link, OnTransport, Role, State, Transport};
use crate::validation::Checks;

pub(crate) type Hears<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// Whether somebody listens to the changes of a resource, over one connection.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Watch {
    /// Somebody begins to: of the resource with this URI.
    Began(String),
    /// Nobody does any more: of the resource with this URI.
    Ended(String),
}

/// What never changes while connected.
#[expect(
    missing_debug_implementations,
    unnameable_types,
    reason = "what a connection keeps is its own"
)]
pub struct Shared {
    pub(crate) changes: Changes,
    pub(crate) sealing: Sealing,
    pub(crate) checks: Checks,
    pub(crate) workers: Workers,
    pub(crate) on_violation: Option<Hears<Violation>>,
    pub(crate) on_watch: Option<Hears<Watch>>,
}

/// What is open on the application's side.
#[derive(Default)]
#[expect(
    missing_debug_implementations,
    unnameable_types,
    reason = "what a connection keeps is its own"
)]
pub struct Open {
    running: ByIncoming<Arc<Cancelled>>,
    untold: Untold,
}

/// A connection that is served for as long as its driver drives it.
#[derive(Debug)]
pub struct Serving {
    link: Arc<Link<Machine>>,
    /// It hears of changes for as long as this is there.
    #[expect(clippy::redundant_allocation, reason = "it ends with this, and the link may not")]
    wire: Arc<Arc<Link<Machine>>>,
    with_parent: bool,
}

impl Serving {
    pub(crate) fn new(link: Arc<Link<Machine>>, with_parent: bool) -> Self {
        let wire = Arc::new(Arc::clone(&link));
        let joined: Arc<dyn Wire> = Arc::clone(&wire) as _;
        link.shared.changes.join(&joined);
        Self { link, wire, with_parent }
    }

    /// Closes it at SIGINT or SIGTERM, and with the parent of the process if the server is to end
    /// with it. To be called before the first byte is driven: whoever hears from a server may
    /// send it a signal.
    ///
    /// # Errors
    /// When there is no thread that watches the parent.
    pub fn close_with_process(&self) -> io::Result<()> {
        let closeable: Arc<dyn Closeable> = Arc::clone(&self.wire) as _;
        signal::close_on_signal(Arc::downgrade(&closeable));
        if self.with_parent {
            signal::close_with_parent(Arc::downgrade(&closeable))?;
        }
        Ok(())
    }

    /// How it ended, once its driver is done.
    ///
    /// # Errors
    /// When the client broke a rule that the connection could not survive.
    pub fn outcome(self) -> io::Result<()> {
        match self.link.look(|state| state.session.closed().cloned()) {
            Some(Close::Fault(fault)) => Err(io::Error::other(fault)),
            Some(Close::Local | Close::Peer) | None => Ok(()),
        }
    }
}

impl Cx {
    /// What tells clients that something changed.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.inner.wire.shared.changes
    }
}

impl Closeable for Arc<Link<Machine>> {
    fn close(&self) {
        self.with(|state, now| state.session.close(now));
    }
}

impl Wire for Arc<Link<Machine>> {
    fn act(&self, command: Command<'_>) -> Result<(), Misuse> {
        self.with(|state, now| state.session.run(now, command))
    }

    fn act_within(
        &self,
        patience: Duration,
        command: OwnedCommand,
    ) -> BoxFuture<'_, Result<(), Misuse>> {
        Box::pin(
            self.with_room(patience, move |state, now| {
                state.session.run(now, (&command).try_into()?)
            }),
        )
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(self.sleep_until(self.clock.now() + duration))
    }

    fn tell(&self, change: Change<'_>) -> Result<(), Misuse> {
        self.with(|State { session, open, .. }, now| open.untold.tell(session, now, change))
    }
}

impl OnTransport for Machine {
    #[cfg(feature = "http")]
    type Http = mcp_proto::http::Session;
}

impl Role for Machine {
    type Open = Open;
    type Shared = Shared;

    /// What was asked can no longer be answered.
    const LAST_INPUT: Duration = Duration::ZERO;

    fn workers(shared: &Shared) -> Option<&Workers> {
        Some(&shared.workers)
    }

    fn dispatch(link: &Arc<Link<Self>>, event: Event) {
        match event {
            Event::Request { incoming, request, context } => {
                serve(link, incoming, request, context)
            }
            Event::RequestCancelled { incoming, .. } => {
                link.shared.workers.withdraw(incoming);
                let cancelled = link.lock().open.running.remove(&incoming);
                if let Some(cancelled) = cancelled {
                    cancelled.set();
                }
            }
            Event::Violation(violation) => tell(link.shared.on_violation.as_ref(), &violation),
            Event::Watched { uri } => {
                tell(link.shared.on_watch.as_ref(), &Watch::Began(uri.into()))
            }
            Event::Unwatched { uri } => {
                tell(link.shared.on_watch.as_ref(), &Watch::Ended(uri.into()))
            }
            _ => {}
        }
    }

    fn about(event: &Event) -> About<'_> {
        let (name, of) = match event {
            Event::Ready(peer) => ("ready", peer.revision.name()),
            Event::Request { request, .. } => ("request", &*request.method),
            Event::RequestCancelled { .. } => ("request cancelled", ""),
            Event::Completed { outcome, .. } => {
                ("call ended", if outcome.is_ok() { "result" } else { "error" })
            }
            Event::Progress { .. } => ("progress", ""),
            Event::Notification { method, .. } => ("notification", &**method),
            Event::Watched { .. } => ("watched", ""),
            Event::Unwatched { .. } => ("unwatched", ""),
            Event::Violation(_) => ("violation", "the client broke a rule"),
            Event::Closed(why) => ("closed", how(why)),
            _ => ("event", ""),
        };
        About { name, of }
    }

    fn retry(session: &mut Transport<Self>, open: &mut Open, now: impl FnOnce() -> Instant) {
        if !open.untold.is_empty() {
            open.untold.retry(session, now());
        }
    }
}

fn tell<T>(hears: Option<&Hears<T>>, what: &T) {
    if let Some(hears) = hears {
        hears(what);
    }
}

/// Answers what can be answered at once, and has workers do the rest.
fn serve(link: &Arc<Link<Machine>>, incoming: IncomingId, request: Request, context: Context) {
    let find = || {
        let catalog = link.shared.changes.catalog();
        let found = catalog.find(&request, context.peer.revision)?;
        Ok(Step::new(found, &link.shared.checks))
    };
    // The check of arguments is the application's, and may panic.
    let step = catch_unwind(AssertUnwindSafe(find)).unwrap_or_else(|_panic| Err(failed()));
    let ready =
        step.and_then(|step| Ok((step, carried(&link.shared.sealing, &request, &context)?)));
    match ready {
        Ok((Step::Run(job), carried)) => start(link, incoming, request, context, carried, job),
        Ok((Step::Answer(answer), _)) => reply_now(link, incoming, Reply::Result(answer)),
        Ok((Step::Unknown, _)) => {
            reply_now(link, incoming, Reply::Error(ErrorObject::method_not_found(&request.method)));
        }
        Err(error) => reply_now(link, incoming, Reply::Error(error)),
    }
}

/// What earlier rounds left.
fn carried(
    sealing: &Sealing,
    request: &Request,
    context: &Context,
) -> Result<Carried, ErrorObject> {
    let text = match &context.state {
        Some(state) => Some(sealing.open(state, request, unix_seconds())?),
        None => None,
    };
    Carried::read(text.as_deref(), context.answers.as_ref())
}

fn start(
    link: &Arc<Link<Machine>>,
    incoming: IncomingId,
    request: Request,
    context: Context,
    carried: Carried,
    job: Job,
) {
    let cancelled = Arc::new(Cancelled::default());
    link.lock().open.running.insert(incoming, Arc::clone(&cancelled));
    let inner = Inner {
        wire: Arc::clone(link),
        incoming,
        request,
        context,
        carried: Mutex::new(carried),
        cancelled,
    };
    let cx = Cx { inner: Arc::new(inner) };
    let serving = Arc::clone(link);
    match job {
        Job::Plain(job) => link.shared.workers.run(incoming, move || {
            let run = || serving.trace.within(&cx.inner.request.method, || job(cx.clone()));
            let outcome = catch_unwind(AssertUnwindSafe(run)).ok();
            if let Err(reply) = finish(&serving, &cx, outcome) {
                block_on(finish_with_room(&serving, incoming, reply));
            }
        }),
        Job::Future(job) => link.shared.workers.spawn(incoming, async move {
            let served = async { job(AsyncCx(cx.clone())).await };
            let done = unpanicked(serving.trace.around(&cx.inner.request.method, served));
            let Some(outcome) = cx.inner.cancelled.run_until_set(done).await else { return };
            if let Err(reply) = finish(&serving, &cx, outcome) {
                // It is rare, and the futures of all handlers would have room for it.
                Box::pin(finish_with_room(&serving, incoming, reply)).await;
            }
        }),
    }
}

/// Answers what a handler came to; `None` when it panicked.
///
/// # Errors
/// What to answer when there is room for it.
fn finish(
    link: &Arc<Link<Machine>>,
    cx: &Cx,
    outcome: Option<Result<Done, ToolError>>,
) -> Result<(), Reply> {
    let incoming = cx.inner.incoming;
    let outcome = outcome.unwrap_or_else(|| Err(ToolError::refused(failed())));
    let mut reply =
        Reply::new(outcome, &cx.inner.request, &cx.carried(), &link.shared.sealing, unix_seconds);
    let sent = link.with(|state, now| {
        state.open.running.remove(&incoming);
        reply.send(&mut state.session, now, incoming)
    });
    sent.map_err(|_blocked| reply)
}

/// Answers once there is room, or that there was none.
async fn finish_with_room(link: &Arc<Link<Machine>>, incoming: IncomingId, mut reply: Reply) {
    // Borrowed as if it were to change: results can be sent to other threads, and not shared with
    // them.
    let sending = &mut reply;
    let send =
        move |state: &mut State<Machine>, now| sending.send(&mut state.session, now, incoming);
    if link.with_room(ASK_PATIENCE, send).await.is_err() {
        reply_now(link, incoming, reply.give_up());
    }
}

/// What a panic says is for the server's own log; it never reaches the wire.
fn failed() -> ErrorObject {
    ErrorObject::internal("the handler failed")
}

/// Sends what never waits for room: all but questions.
fn reply_now(link: &Arc<Link<Machine>>, incoming: IncomingId, mut reply: Reply) {
    let _gone = link.with(|state, now| reply.send(&mut state.session, now, incoming));
}

/// How long questions wait for room. Answers never wait.
const ASK_PATIENCE: Duration = Duration::from_secs(1);
