//! Clients: connecting, calling, and answering what servers ask.

use std::collections::HashMap;
use std::fmt;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_proto::client::{Client as Machine, Config, Event};
use mcp_proto::schema::{
    CallTool, CallToolResult, ClientRequest, Decode, Elicit, ElicitResult, Encode, Level, ListTools, Ping,
    SetLevel, Tool,
};
use mcp_proto::stdio::{Ending, Shutdown};
use mcp_proto::{
    CallId, Capability, Close, Endpoint, ErrorObject, IncomingId, Limits, Misuse, Peer, Raw, Request,
    Revision,
};
use serde::Serialize;

use crate::call::{Call, Slot};
use crate::child::Child;
use crate::clock::Clock;
use crate::error::Error;
use crate::link::{Link, Role};
use crate::pool::Pool;

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
    pub fn on_elicitation(self, answer: impl Fn(Elicit) -> ElicitResult + Send + Sync + 'static) -> Self {
        self.handle("elicitation/create", Capability::ElicitationForm, move |form: Elicit| Ok(answer(form)))
    }

    /// Has `sample` ask a model for what servers ask of it: params and result of `sampling/createMessage`.
    pub fn on_sampling(
        self,
        sample: impl Fn(Raw) -> Result<Raw, ErrorObject> + Send + Sync + 'static,
    ) -> Self {
        self.handle("sampling/createMessage", Capability::Sampling, sample)
    }

    /// Has `roots` say which roots there are: the result of `roots/list`.
    pub fn on_roots(self, roots: impl Fn() -> Raw + Send + Sync + 'static) -> Self {
        self.handle("roots/list", Capability::Roots, move |_: Raw| Ok(roots()))
    }

    fn handle<Q: Decode, A: Encode + 'static>(
        mut self,
        method: &'static str,
        capability: Capability,
        answer: impl Fn(Q) -> Result<A, ErrorObject> + Send + Sync + 'static,
    ) -> Self {
        self.config = self.config.capability(capability);
        let handler = move |request: &Request| {
            let question =
                request.decode().map_err(|error| ErrorObject::invalid_params(error.to_string()))?;
            Ok(Box::new(answer(question)?) as Box<dyn Encode>)
        };
        self.handlers.insert(method, Box::new(handler));
        self
    }

    /// Has `hear` hear of the server's notifications, log messages among them, in order, on one thread.
    ///
    /// While it is busy, up to 1,024 wait; then the connection waits, so it must not wait for a call.
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
        let exited: Arc<Mutex<Option<Arc<Link<Machine>>>>> = Arc::default();
        let on_exit = Arc::clone(&exited);
        let (child, stdout, stdin) = Child::spawn(command, move |_| {
            let link = on_exit.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(link) = link {
                end_after_exit(&link);
            }
        })?;
        let (link, machine) = self.link();
        *exited.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&link));
        if child.status().is_some() {
            // It exited before there was anybody to tell.
            end_after_exit(&link);
        }
        machine.open(link, stdout, stdin, Some(child))
    }

    /// Connects over a pair of byte streams; waits until the session is open.
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
            notify: self.notified.and_then(notifier),
            on_violation: self.on_violation,
        };
        (Link::new(clock, machine, shared), Opening { limits: self.limits })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// Starts the thread that hands notifications to the application.
fn notifier(mut hear: Notified) -> Option<Notify> {
    let (sender, receiver) = sync_channel::<(Box<str>, Option<Raw>)>(NOTIFICATIONS_MAX);
    let started = thread::Builder::new().name("mcp-notify".into()).spawn(move || {
        while let Ok((method, params)) = receiver.recv() {
            hear(&method, params.as_ref());
        }
    });
    started.ok().map(|_| sender)
}

type Notify = SyncSender<(Box<str>, Option<Raw>)>;

/// Notifications that wait for the application; then the connection waits.
const NOTIFICATIONS_MAX: usize = 1024;

/// How long a server's last output may take to arrive once its process is gone.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// The server's process is gone. Its output may be held open by others; it ends all the same.
fn end_after_exit(link: &Arc<Link<Machine>>) {
    if !link.wait_until(LAST_OUTPUT, |state| state.session.is_closed()) {
        link.with(|state, now| state.session.handle_eof(now));
    }
}

/// A connection whose session is not open yet.
struct Opening {
    limits: Limits,
}

impl Opening {
    fn open(
        self,
        link: Arc<Link<Machine>>,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        child: Option<Arc<Child>>,
    ) -> Result<Connection, Error> {
        link.start(reader, writer)?;
        let runner = {
            let (link, child, limits) = (Arc::clone(&link), child.clone(), self.limits);
            let run = move || {
                link.run();
                if let Some(child) = &child {
                    end_child(&link, child, &limits);
                }
            };
            thread::Builder::new().name("mcp-client".into()).spawn(run)?
        };
        let inner = Inner { link, child, runner: Mutex::new(Some(runner)) };
        let connection = Connection { inner: Arc::new(inner) };
        let link = &connection.inner.link;
        link.wait_until(Duration::MAX, |state| state.open.peer.is_some() || state.open.closed.is_some());
        match link.with(|state, _| state.open.closed.clone()) {
            None => Ok(connection),
            Some(why) => Err(connection.failed_start(why)),
        }
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
        if child.wait(patience).is_some() || shutdown.poll_timeout().is_none() {
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
    runner: Mutex<Option<JoinHandle<()>>>,
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
        for _ in 0..PAGES_MAX {
            let mut request = ListTools::new();
            request.cursor.clone_from(&cursor);
            let page = self.call(request).wait()?;
            tools.extend(page.tools);
            if page.next_cursor.is_none() {
                return Ok(tools);
            }
            if page.next_cursor == cursor {
                break;
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
        let send = |state: &mut crate::link::State<Machine>, now| {
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
        match self.inner.link.with(|state, _| state.open.closed.clone()) {
            Some(why @ Close::Fault(_)) => Err(Error::Closed(why)),
            _ => Ok(self.inner.child.as_ref().and_then(|child| child.status())),
        }
    }

    /// How the connection ended, if it has.
    #[must_use]
    pub fn closed(&self) -> Option<Close> {
        self.inner.link.with(|state, _| state.open.closed.clone())
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
        let runner = self.runner.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runner) = runner {
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
    pool: Pool,
    notify: Option<Notify>,
    on_violation: Option<ViolationHandler>,
}

/// What is open on the application's side.
#[derive(Default)]
pub(crate) struct Open {
    calls: HashMap<CallId, Arc<Slot>>,
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
                link.shared.pool.run(move || answer(&answering, incoming, &request));
            }
            Event::Notification { method, params, .. } => {
                if let Some(notify) = &link.shared.notify {
                    let _over = notify.send(((*method).into(), params));
                }
            }
            Event::Violation(violation) => {
                if let Some(hear) = &link.shared.on_violation {
                    hear(&violation);
                }
            }
            Event::Ready(peer) => link.with(|state, _| state.open.peer = Some(peer)),
            Event::Closed(why) => link.with(|state, _| state.open.closed = Some(why)),
            _ => {}
        }
    }
}

/// Answers a request of the server.
fn answer(link: &Arc<Link<Machine>>, incoming: IncomingId, request: &Request) {
    let answer = match link.shared.handlers.get(&*request.method) {
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
