//! Clients: connecting, calling, and answering what servers ask.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;

use mcp_proto::client::{Client as Machine, Config, Event};
use mcp_proto::schema::{
    CallTool, CallToolResult, ClientRequest, CreateMessage, CreateMessageResult, Decode, Elicit,
    ElicitResult, ElicitUrl, Encode, Level, ListRoots, ListRootsResult, ListTools, Ping, Root, SetLevel,
    Tool,
};
use mcp_proto::stdio::{Ending, Shutdown};
use mcp_proto::{
    CallId, Capability, Close, ErrorObject, IncomingId, Limits, Misuse, Peer, Raw, Request, Revision,
};
use serde::Serialize;

use crate::call::{Call, Slot};
use crate::child::Child;
use crate::clock::Clock;
use crate::error::Error;
use crate::link::{AfterClose, LAST_EVENTS, Link, Role, State};
use crate::notices::Notices;
use crate::pool::Pool;

/// What handlers are found by: the method, and for elicitations its mode. (SEC-08)
const FORM: &str = "elicitation/create";
const URL: &str = "elicitation/create url";

fn handler_key(request: &Request) -> &str {
    let mode = request.params.as_ref().and_then(|params| params.member("mode"));
    if request.method == FORM && mode.as_ref().and_then(Raw::to_text).as_deref() == Some("url") {
        return URL;
    }
    &request.method
}

/// A client that is being put together, and then connects.
///
/// What it declares to servers is what it has handlers for.
#[must_use = "a client connects once it is told to"]
pub struct Client {
    config: Config,
    limits: Limits,
    handlers: HashMap<&'static str, Handler>,
    notified: Option<Notified>,
    on_violation: Option<ViolationHandler>,
    threads_max: usize,
}

type Handler = Box<dyn Fn(&Request) -> Result<Box<dyn Encode>, ErrorObject> + Send + Sync>;
type Notified = Box<dyn FnMut(&str, Option<&Raw>) + Send>;
type ViolationHandler = Box<dyn Fn(&mcp_proto::Violation) + Send + Sync>;

impl Client {
    /// A client that answers nothing yet.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            limits: Limits::default(),
            handlers: HashMap::new(),
            notified: None,
            on_violation: None,
            threads_max: 16,
        }
    }

    /// Has `answer` fill in the forms that servers show to the user. (CAP-02)
    ///
    /// A [`Form`](mcp_proto::schema::Form) can fill in its own defaults and check an answer.
    pub fn on_elicitation(self, answer: impl Fn(Elicit) -> ElicitResult + Send + Sync + 'static) -> Self {
        self.declare(Capability::ElicitationForm).handle(FORM, move |form: Elicit| Ok(answer(form)))
    }

    /// Has `answer` send the user where servers want them to go. The URL is to be shown in full and opened only with
    /// consent. (since 2025-11-25, SEC-07)
    pub fn on_url_elicitation(
        self,
        answer: impl Fn(ElicitUrl) -> ElicitResult + Send + Sync + 'static,
    ) -> Self {
        self.declare(Capability::ElicitationUrl).handle(URL, move |url: ElicitUrl| Ok(answer(url)))
    }

    /// Has `sample` ask a model for what servers ask of it. An error says that it will not.
    pub fn on_sampling(
        self,
        sample: impl Fn(CreateMessage) -> Result<CreateMessageResult, ErrorObject> + Send + Sync + 'static,
    ) -> Self {
        self.declare(Capability::Sampling).handle("sampling/createMessage", sample)
    }

    /// Has `roots` say which roots there are.
    pub fn on_roots(self, roots: impl Fn() -> Vec<Root> + Send + Sync + 'static) -> Self {
        let answer = move |_: ListRoots| Ok(ListRootsResult::new(roots()));
        self.declare(Capability::Roots).handle("roots/list", answer)
    }

    /// Declares one more thing that servers may ask for, such as sampling with tools.
    pub fn declare(mut self, capability: Capability) -> Self {
        self.config = self.config.capability(capability);
        self
    }

    fn handle<Q: Decode, A: Encode + 'static>(
        mut self,
        key: &'static str,
        answer: impl Fn(Q) -> Result<A, ErrorObject> + Send + Sync + 'static,
    ) -> Self {
        let handler = move |request: &Request| {
            let question =
                request.decode().map_err(|error| ErrorObject::invalid_params(error.to_string()))?;
            Ok(Box::new(answer(question)?) as Box<dyn Encode>)
        };
        self.handlers.insert(key, Box::new(handler));
        self
    }

    /// Has `hear` hear of the server's notifications, log messages among them, in order, on one thread.
    ///
    /// While it is busy, up to 1,024 wait; then nothing more is read, so it must not wait for a call.
    pub fn on_notification(mut self, hear: impl FnMut(&str, Option<&Raw>) + Send + 'static) -> Self {
        self.notified = Some(Box::new(hear));
        self
    }

    /// Has `hear` hear of the rules that the server breaks. It must not wait for the connection.
    pub fn on_violation(mut self, hear: impl Fn(&mcp_proto::Violation) + Send + Sync + 'static) -> Self {
        self.on_violation = Some(Box::new(hear));
        self
    }

    /// Speaks these revisions only.
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.config = self.config.revisions(revisions);
        self
    }

    /// The bounds of the connection.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits.clone();
        self.config = self.config.limits(limits);
        self
    }

    /// Starts a server and connects to its stdin and stdout; waits until the session is open.
    ///
    /// The server runs in a process group of its own. It is ended with the connection: its stdin is closed, then
    /// it is told to terminate, then it is killed, along with whatever it started.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be started; [`Error::Start`], with its last words, when no session opens.
    pub fn spawn(self, command: Command) -> Result<Connection, Error> {
        let (child, stdout, stdin) = Child::spawn(command)?;
        let (link, opening) = self.link();
        // Its output may be held open by others; the connection ends all the same.
        let watching = Arc::clone(&link);
        child.watch(move || watching.end_within(Machine::LAST_INPUT))?;
        opening.open(link, stdout, stdin, Some(child))
    }

    /// Connects over a pair of byte streams; waits until the session is open.
    ///
    /// The writer is dropped at the end, which must tell the server. A bare `TcpStream` or `UnixStream` is shut down
    /// besides, so the reader may be a clone of it.
    ///
    /// # Errors
    /// [`Error::Start`] when no session opens.
    pub fn connect(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Connection, Error> {
        let (link, opening) = self.link();
        opening.open(link, reader, writer, None)
    }

    fn link(self) -> (Arc<Link<Machine>>, Opening) {
        let clock = Clock::new();
        let machine = Machine::new(clock.now(), self.config);
        let shared = Shared {
            handlers: self.handlers,
            pool: Pool::new(self.threads_max),
            heard: self.notified.is_some().then(Condvar::new),
            on_violation: self.on_violation,
        };
        let opening = Opening { limits: self.limits, notified: self.notified };
        (Link::new(clock, machine, shared), opening)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// Hands notifications to the application until the connection is over.
fn notify(link: &Arc<Link<Machine>>, heard: &Condvar, mut hear: Notified) {
    let next = |state: &mut State<Machine>| match state.open.notices.pop() {
        None if state.open.closed.is_none() => None,
        next => Some(next),
    };
    while let Some((method, params)) = link.take(heard, next) {
        let _panicked = catch_unwind(AssertUnwindSafe(|| hear(&method, params.as_ref())));
    }
}

/// A connection whose session is not open yet.
struct Opening {
    limits: Limits,
    notified: Option<Notified>,
}

impl Opening {
    fn open(
        self,
        link: Arc<Link<Machine>>,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        child: Option<Arc<Child>>,
    ) -> Result<Connection, Error> {
        let started = self.start(&link, reader, writer, child.clone());
        let runner = started.inspect_err(|_| {
            link.with(|state, now| state.session.close(now));
            child.iter().for_each(|child| child.kill());
        })?;
        let inner = Inner { link, child, runner: runner.thread().id(), running: Mutex::new(Some(runner)) };
        let connection = Connection { inner: Arc::new(inner) };
        let link = &connection.inner.link;
        link.wait_until(Duration::MAX, |state| state.open.peer.is_some() || state.open.closed.is_some());
        match link.with(|state, _| state.open.closed.clone()) {
            None => Ok(connection),
            Some(why) => Err(connection.failed_start(why)),
        }
    }

    /// Starts the threads of a connection, and gives the one that sees to its end.
    fn start(
        self,
        link: &Arc<Link<Machine>>,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        child: Option<Arc<Child>>,
    ) -> io::Result<JoinHandle<()>> {
        if let Some(hear) = self.notified {
            let link = Arc::clone(link);
            let listen = move || {
                if let Some(heard) = &link.shared.heard {
                    notify(&link, heard, hear);
                }
            };
            thread::Builder::new().name("mcp-notify".into()).spawn(listen)?;
        }
        let after_close = if child.is_some() { AfterClose::ReadOn } else { AfterClose::Drop };
        link.start(reader, writer, after_close)?;
        let (link, limits) = (Arc::clone(link), self.limits);
        let run = move || {
            link.run();
            match &child {
                Some(child) => end_child(&link, child, &limits),
                None => link.wait_written(),
            }
        };
        thread::Builder::new().name("mcp-client".into()).spawn(run)
    }
}

/// Ends a child whose session is closed, step by step. (FRM-19)
fn end_child(link: &Arc<Link<Machine>>, child: &Child, limits: &Limits) {
    let mut shutdown = Shutdown::new(link.clock.now(), limits);
    loop {
        match shutdown.poll_step() {
            // The writer closes the child's stdin itself once all is sent.
            Some(Ending::CloseInput) | None => {}
            Some(Ending::Terminate) => child.terminate(),
            Some(Ending::Kill) => child.kill(),
        }
        let patience = match shutdown.poll_timeout() {
            Some(deadline) => link.clock.until(deadline),
            None => AFTER_KILL,
        };
        if child.wait(patience) || shutdown.poll_timeout().is_none() {
            return;
        }
        shutdown.handle_timeout(link.clock.now());
    }
}

/// How long the system may take to end a killed process.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// An open session with a server. Cheap to clone; all clones are the same connection.
///
/// When the last of them is dropped, the connection is closed, and a server that was started for it is ended as
/// [`close`](Self::close) would.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    link: Arc<Link<Machine>>,
    child: Option<Arc<Child>>,
    /// The thread that sees to the end of the connection.
    runner: ThreadId,
    running: Mutex<Option<JoinHandle<()>>>,
}

impl Connection {
    /// The server, as it said itself.
    ///
    /// # Panics
    /// Never: a connection is handed out once the server has said who it is.
    #[must_use]
    pub fn peer(&self) -> Arc<Peer> {
        self.inner.link.with(|state, _| {
            state.open.peer.clone().unwrap_or_else(|| unreachable!("a connection begins with a peer"))
        })
    }

    /// All tools of the server, from all pages.
    ///
    /// # Errors
    /// When a call fails, or the pages go on in circles. (PAG-07)
    pub fn list_tools(&self) -> Result<Vec<Tool>, Error> {
        let mut tools = Vec::new();
        let mut cursor = None;
        let mut seen = HashSet::new();
        while seen.len() < PAGES_MAX && seen.insert(cursor.clone()) {
            let mut request = ListTools::new();
            request.cursor = cursor;
            let page = self.call(request).wait()?;
            tools.extend(page.tools);
            if page.next_cursor.is_none() {
                return Ok(tools);
            }
            cursor = page.next_cursor;
        }
        Err(Error::Pages)
    }

    /// Calls a tool. The arguments are anything that is an object in JSON.
    pub fn call_tool(&self, name: &str, arguments: &(impl Serialize + ?Sized)) -> Call<'_, CallToolResult> {
        // What cannot be written is refused when the call is made: no JSON is no object.
        let arguments = Raw::new(arguments).unwrap_or_else(|_| not_an_object());
        self.call(CallTool::new(name).arguments(arguments))
    }

    /// Makes any request that has a type.
    pub fn call<'c, R: ClientRequest + 'c>(&'c self, request: R) -> Call<'c, R::Result> {
        Call::new(&self.inner.link, R::METHOD, request)
    }

    /// Makes any request by the name of its method.
    pub fn call_raw<'c>(&'c self, method: &str, params: Raw) -> Call<'c, Raw> {
        Call::new(&self.inner.link, method.to_owned(), params)
    }

    /// Asks whether the server is there.
    ///
    /// # Errors
    /// When it is not.
    pub fn ping(&self) -> Result<(), Error> {
        self.call(Ping::new()).wait().map(|_empty| ())
    }

    /// Asks for log messages of this level and above; they come as notifications.
    ///
    /// # Errors
    /// When the server offers no log messages, or the call fails.
    pub fn set_log_level(&self, level: Level) -> Result<(), Error> {
        self.call(SetLevel::new(level)).wait().map(|_empty| ())
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub fn notify_raw(&self, method: &str, params: Option<&Raw>) -> Result<(), Error> {
        let send = |state: &mut State<Machine>, now| {
            state.session.notify_raw(now, method, params.map(|params| params as &dyn Encode))
        };
        Ok(self.inner.link.with_room(NOTIFY_PATIENCE, send)?)
    }

    /// Ends the connection: open calls end as lost, and a server that was started for it is ended. Waits for that,
    /// and gives how its process ended.
    ///
    /// # Errors
    /// When the server broke a rule that the connection did not survive.
    pub fn close(self) -> Result<Option<ExitStatus>, Error> {
        self.inner.end();
        // The last events may be on their way out, on another thread.
        self.inner.link.wait_until(LAST_EVENTS, |state| state.open.closed.is_some());
        match self.closed() {
            Some(why @ Close::Fault(_)) => Err(Error::Closed(why)),
            _ => Ok(self.inner.child.as_ref().and_then(|child| child.status())),
        }
    }

    /// How the connection ended, if it has.
    #[must_use]
    pub fn closed(&self) -> Option<Close> {
        self.inner.link.with(|state, _| state.session.closed().cloned())
    }

    /// The last lines that the server wrote to stderr.
    #[must_use]
    pub fn stderr(&self) -> Vec<String> {
        self.inner.child.as_ref().map(|child| child.last_words()).unwrap_or_default()
    }

    fn failed_start(self, why: Close) -> Error {
        self.inner.end();
        let status = self.inner.child.as_ref().and_then(|child| child.status());
        Error::Start { why, status, stderr: self.stderr() }
    }
}

/// Pages of a list that are followed. (PAG-07)
const PAGES_MAX: usize = 10_000;

/// How long a notification waits for room.
const NOTIFY_PATIENCE: Duration = Duration::from_secs(10);

fn not_an_object() -> Raw {
    Raw::from_text("null").unwrap_or_else(|_| Raw::empty_object())
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Inner {
    fn end(&self) {
        self.link.with(|state, now| state.session.close(now));
        if thread::current().id() == self.runner {
            return; // A handle was dropped by what this very thread called: it sees to the end afterwards.
        }
        // Whoever comes second waits as well.
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runner) = running.take() {
            let _panicked = runner.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
    }
}

pub(crate) struct Shared {
    handlers: HashMap<&'static str, Handler>,
    pool: Pool<IncomingId>,
    /// Somebody hears notifications: there may be one, or nothing ever again.
    heard: Option<Condvar>,
    on_violation: Option<ViolationHandler>,
}

/// What is open on the application's side.
#[derive(Default)]
pub(crate) struct Open {
    calls: HashMap<CallId, Arc<Slot>>,
    notices: Notices,
    peer: Option<Arc<Peer>>,
    closed: Option<Close>,
}

impl Open {
    pub(crate) fn insert(&mut self, call: CallId, slot: Arc<Slot>) {
        self.calls.insert(call, slot);
    }
}

impl Role for Machine {
    type Open = Open;
    type Shared = Shared;

    /// The answers of a server that is gone.
    const LAST_INPUT: Duration = Duration::from_millis(500);

    fn has_room(open: &Open) -> bool {
        open.notices.has_room()
    }

    fn dispatch(link: &Arc<Link<Self>>, event: Event) {
        match event {
            Event::Completed { call, outcome } => {
                if let Some(slot) = link.with(|state, _| state.open.calls.remove(&call)) {
                    slot.complete(outcome);
                }
            }
            Event::Progress { call, progress } => {
                if let Some(slot) = link.with(|state, _| state.open.calls.get(&call).cloned()) {
                    slot.progress(progress);
                }
            }
            Event::Request { incoming, request, .. } => {
                let answering = Arc::clone(link);
                link.shared.pool.run(incoming, move || answer(&answering, incoming, &request));
            }
            Event::RequestCancelled { incoming, .. } => link.shared.pool.withdraw(&incoming),
            Event::Notification { method, params, .. } => {
                if let Some(heard) = &link.shared.heard {
                    link.with(|state, _| state.open.notices.push((method, params)));
                    heard.notify_one();
                }
            }
            Event::Violation(violation) => {
                if let Some(hear) = &link.shared.on_violation {
                    hear(&violation);
                }
            }
            Event::Ready(peer) => link.with(|state, _| state.open.peer = Some(peer)),
            Event::Closed(why) => {
                link.with(|state, _| state.open.closed = Some(why));
                if let Some(heard) = &link.shared.heard {
                    heard.notify_one();
                }
            }
            _ => {}
        }
    }
}

/// Answers a request of the server.
fn answer(link: &Arc<Link<Machine>>, incoming: IncomingId, request: &Request) {
    let answer = match link.shared.handlers.get(handler_key(request)) {
        Some(handler) => catch_unwind(AssertUnwindSafe(|| handler(request)))
            .unwrap_or_else(|_panic| Err(ErrorObject::internal("the handler failed"))),
        None => Err(ErrorObject::method_not_found(&request.method)),
    };
    link.with(|state, now| {
        let sent = match &answer {
            Ok(result) => state.session.respond(now, incoming, &**result),
            Err(error) => state.session.respond_error(now, incoming, error),
        };
        if sent == Err(Misuse::Unencodable) {
            let error = ErrorObject::internal("the answer cannot be written as JSON");
            let _gone = state.session.respond_error(now, incoming, &error);
        }
    });
}
