//! A connection of a server on threads: requests become jobs of a pool, and their outcomes replies.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::server::{Event, Server as Machine};
use mcp_proto::{Close, Context, ErrorObject, IncomingId, Misuse, Request, Violation};

use crate::cancelled::Cancelled;
use crate::carried::{Carried, Sealing};
use crate::changes::Changes;
use crate::clock::unix_seconds;
use crate::cx::{Act, Cx, Inner, Wire};
use crate::handlers::{Job, Step};
use crate::link::{AfterClose, LAST_EVENTS, Link, Role};
use crate::outcome::Reply;
use crate::pool::Pool;
use crate::server::Watch;
use crate::signal::Closeable;
use crate::tool_error::ToolError;

pub(crate) type Hears<T> = Box<dyn Fn(&T) + Send + Sync>;

/// What never changes while connected.
pub(crate) struct Shared {
    pub(crate) changes: Changes,
    pub(crate) sealing: Sealing,
    pub(crate) pool: Pool<IncomingId>,
    pub(crate) on_violation: Option<Hears<Violation>>,
    pub(crate) on_watch: Option<Hears<Watch>>,
}

/// What is open on the application's side.
#[derive(Default)]
pub(crate) struct Open {
    running: HashMap<IncomingId, Arc<Cancelled>>,
    closed: Option<Close>,
}

/// Runs a connection from its beginning to its end.
pub(crate) fn run(
    link: &Arc<Link<Machine>>,
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
) -> io::Result<()> {
    // It hears of changes for as long as this is there.
    let wire: Arc<dyn Wire> = Arc::new(Wired(Arc::clone(link)));
    link.shared.changes.join(&wire);
    link.start(reader, writer, AfterClose::Drop)?;
    link.run();
    link.wait_written();
    // The last events may be on their way out, on another thread.
    link.wait_until(LAST_EVENTS, |state| state.open.closed.is_some());
    match link.with(|state, _| state.session.closed().cloned()) {
        Some(Close::Fault(fault)) => Err(io::Error::other(fault)),
        Some(Close::Local | Close::Peer) | None => Ok(()),
    }
}

/// Closes a server when a signal comes.
pub(crate) struct OnSignal(pub(crate) Arc<Link<Machine>>);

impl Closeable for OnSignal {
    fn close(&self) {
        self.0.with(|state, now| state.session.close(now));
    }
}

struct Wired(Arc<Link<Machine>>);

impl Wire for Wired {
    fn act(&self, patience: Duration, act: &mut Act<'_>) -> Result<(), Misuse> {
        self.0.with_room(patience, |state, now| act(&mut state.session, now))
    }
}

impl Role for Machine {
    type Open = Open;
    type Shared = Shared;

    /// What was asked can no longer be answered.
    const LAST_INPUT: Duration = Duration::ZERO;

    fn dispatch(link: &Arc<Link<Self>>, event: Event) {
        match event {
            Event::Request { incoming, request, context } => serve(link, incoming, request, context),
            Event::RequestCancelled { incoming, .. } => {
                link.shared.pool.withdraw(&incoming);
                let cancelled = link.with(|state, _| state.open.running.remove(&incoming));
                if let Some(cancelled) = cancelled {
                    cancelled.set();
                }
            }
            Event::Violation(violation) => tell(link.shared.on_violation.as_ref(), &violation),
            Event::Watched { uri } => tell(link.shared.on_watch.as_ref(), &Watch::Began(uri.into())),
            Event::Unwatched { uri } => tell(link.shared.on_watch.as_ref(), &Watch::Ended(uri.into())),
            Event::Closed(why) => link.with(|state, _| state.open.closed = Some(why)),
            _ => {}
        }
    }
}

fn tell<T>(hears: Option<&Hears<T>>, what: &T) {
    if let Some(hears) = hears {
        hears(what);
    }
}

/// Answers what can be answered at once, and has a thread do the rest.
fn serve(link: &Arc<Link<Machine>>, incoming: IncomingId, request: Request, context: Context) {
    let find = || link.shared.changes.catalog().find(&request, context.peer.revision).map(Step::new);
    // The check of arguments is the application's, and may panic.
    let step = catch_unwind(AssertUnwindSafe(find)).unwrap_or_else(|_panic| Err(failed()));
    let ready = step.and_then(|step| Ok((step, carried(&link.shared.sealing, &request, &context)?)));
    match ready {
        Ok((Step::Run(job), carried)) => start(link, incoming, request, context, carried, job),
        Ok((Step::Answer(answer), _)) => reply(link, incoming, &Reply::Result(Box::new(answer))),
        Ok((Step::Unknown, _)) => {
            reply(link, incoming, &Reply::Error(ErrorObject::method_not_found(&request.method)));
        }
        Err(error) => reply(link, incoming, &Reply::Error(error)),
    }
}

/// What earlier rounds left.
fn carried(sealing: &Sealing, request: &Request, context: &Context) -> Result<Carried, ErrorObject> {
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
    link.with(|state, _| state.open.running.insert(incoming, Arc::clone(&cancelled)));
    let inner = Inner {
        wire: Arc::new(Wired(Arc::clone(link))),
        incoming,
        request,
        context,
        carried: Mutex::new(carried),
        cancelled,
        changes: link.shared.changes.clone(),
    };
    let cx = Cx { inner: Arc::new(inner) };
    let link = Arc::clone(link);
    link.clone().shared.pool.run(incoming, move || finish(&link, &cx, job));
}

/// Runs a handler to its end, whatever that is, and answers.
fn finish(link: &Arc<Link<Machine>>, cx: &Cx, job: Job) {
    let incoming = cx.inner.incoming;
    let outcome = catch_unwind(AssertUnwindSafe(|| job(cx.clone())))
        .unwrap_or_else(|_panic| Err(ToolError::refused(failed())));
    link.with(|state, _| state.open.running.remove(&incoming));
    let outcome = Reply::new(outcome, &cx.inner.request, &cx.carried(), &link.shared.sealing, unix_seconds());
    reply(link, incoming, &outcome);
}

/// What a panic says is for the server's own log; it never reaches the wire.
fn failed() -> ErrorObject {
    ErrorObject::internal("the handler failed")
}

fn reply(link: &Arc<Link<Machine>>, incoming: IncomingId, reply: &Reply) {
    let sent = link.with_room(ASK_PATIENCE, |state, now| reply.send(&mut state.session, now, incoming));
    if sent.is_err() {
        let _gone = link.with(|state, now| reply.give_up().send(&mut state.session, now, incoming));
    }
}

/// How long questions wait for room. Answers never wait.
const ASK_PATIENCE: Duration = Duration::from_secs(1);
