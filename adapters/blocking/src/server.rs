//! Servers: tools as functions, on stdin and stdout or on any pair of byte streams.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::schema::{CallTool, CallToolResult, Encode, ListToolsResult, Tool};
use mcp_proto::server::{Config, Event, Server as Machine};
use mcp_proto::{Capability, Close, Context, ErrorObject, IncomingId, Limits, Misuse, Raw, Request};
use serde::de::DeserializeOwned;

use crate::clock::Clock;
use crate::cx::{Cancelled, Carried, Cx, Failure, ToolError};
use crate::link::{AfterClose, LAST_EVENTS, Link, Role};
use crate::pool::Pool;
use crate::signal::{self, Closeable};

/// A server that is being put together, and then serves.
///
/// What it offers is what is registered. Tools are listed in the order in which they were added. Handlers run on a
/// bounded pool of threads; one that panics answers with an error and takes nothing else down.
#[must_use = "a server serves once it is told to"]
pub struct Server {
    config: Config,
    tools: Vec<Tool>,
    handlers: HashMap<String, ToolHandler>,
    threads_max: usize,
    page_max: usize,
    on_violation: Option<ViolationHandler>,
}

type ToolHandler = Box<dyn Fn(Raw, Cx) -> Result<CallToolResult, ToolError> + Send + Sync>;
type ViolationHandler = Box<dyn Fn(&mcp_proto::Violation) + Send + Sync>;

impl Server {
    /// A server that offers nothing yet.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            tools: Vec::new(),
            handlers: HashMap::new(),
            threads_max: 64,
            page_max: 100,
            on_violation: None,
        }
    }

    /// Adds a tool whose arguments are a Rust type; their schema is derived from it.
    ///
    /// Arguments that do not fit the type are answered with an error in the tool's result, for the model to mend.
    #[cfg(feature = "schemars")]
    pub fn tool<A, R>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + schemars::JsonSchema,
        R: Into<CallToolResult>,
    {
        let mut schema =
            schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<A>();
        // A type without fields has a schema that says nothing of objects, which the protocol requires.
        schema.insert("type".into(), "object".into());
        schema.remove("title");
        let schema = Raw::new(&schema).unwrap_or_else(|_| any_object());
        self.tool_with(Tool::new(name, schema).description(description), handler)
    }

    /// Adds a tool whose arguments are a Rust type, described by hand.
    pub fn tool_with<A, R>(
        self,
        tool: Tool,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: Into<CallToolResult>,
    {
        self.add(tool, move |arguments, cx| {
            let arguments = arguments
                .parse()
                .map_err(|error| ToolError::failed(format!("invalid arguments: {error}")))?;
            handler(arguments, cx).map(Into::into)
        })
    }

    /// Adds a tool that takes its arguments as they come: an object, described by `schema`.
    pub fn tool_raw<R>(
        self,
        name: &str,
        description: &str,
        schema: Raw,
        handler: impl Fn(Raw, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        R: Into<CallToolResult>,
    {
        self.add(Tool::new(name, schema).description(description), move |arguments, cx| {
            handler(arguments, cx).map(Into::into)
        })
    }

    fn add(
        mut self,
        tool: Tool,
        handler: impl Fn(Raw, Cx) -> Result<CallToolResult, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.config = self.config.capability(Capability::Tools);
        let replaced = self.handlers.insert(tool.name.clone(), Box::new(handler)).is_some();
        match self.tools.iter_mut().find(|listed| replaced && listed.name == tool.name) {
            Some(listed) => *listed = tool,
            None => self.tools.push(tool),
        }
        self
    }

    /// Offers log messages: [`Cx::log`] works.
    pub fn logging(mut self) -> Self {
        self.config = self.config.capability(Capability::Logging);
        self
    }

    /// What a model should know before it uses the server.
    pub fn instructions(mut self, instructions: &str) -> Self {
        self.config = self.config.instructions(instructions);
        self
    }

    /// The bounds of each connection.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config = self.config.limits(limits);
        self
    }

    /// Handlers run at a time, 64 by default, at least one; further requests wait in order.
    pub fn threads_max(mut self, threads_max: usize) -> Self {
        self.threads_max = threads_max;
        self
    }

    /// Tools on one page of a list, 100 by default, at least one.
    pub fn page_max(mut self, page_max: usize) -> Self {
        self.page_max = page_max.max(1);
        self
    }

    /// Has `hear` hear of the rules that the client breaks. It must not wait for the connection.
    pub fn on_violation(mut self, hear: impl Fn(&mcp_proto::Violation) + Send + Sync + 'static) -> Self {
        self.on_violation = Some(Box::new(hear));
        self
    }

    /// Serves on stdin and stdout until the client hangs up, or SIGINT or SIGTERM comes.
    ///
    /// Requests that are open then may still be answered for [`Limits::drain_timeout`], and what is left to send is
    /// sent for as long as the client goes on reading, 2 s at most. Both streams are this server's from now on:
    /// what else is printed to stdout corrupts the protocol. A thread stays blocked on stdin if it is still open at
    /// the end, so let the process end.
    ///
    /// # Errors
    /// When the streams cannot be had, a thread cannot be started, or the client broke a rule that the connection
    /// cannot survive.
    pub fn serve_stdio(self) -> io::Result<()> {
        let (stdin, stdout) = standard_streams()?;
        let link = self.link();
        // Before the first word: whoever hears one may send a signal.
        let closeable: Arc<dyn Closeable> = Arc::new(OnSignal(Arc::clone(&link)));
        signal::close_on_signal(Arc::downgrade(&closeable));
        run(&link, stdin, stdout)
    }

    /// Serves on a pair of byte streams until the client hangs up.
    ///
    /// The writer is dropped at the end, which must tell the client. A bare `TcpStream` or `UnixStream` is shut down
    /// besides, so the reader may be a clone of it.
    ///
    /// # Errors
    /// As [`serve_stdio`](Self::serve_stdio).
    pub fn serve(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> io::Result<()> {
        run(&self.link(), reader, writer)
    }

    fn link(self) -> Arc<Link<Machine>> {
        let clock = Clock::new();
        let machine = Machine::new(clock.now(), self.config);
        let shared = Shared {
            tools: self.tools,
            handlers: self.handlers,
            page_max: self.page_max,
            pool: Pool::new(self.threads_max),
            on_violation: self.on_violation,
        };
        Link::new(clock, machine, shared)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}

/// Runs a connection from its beginning to its end.
fn run(
    link: &Arc<Link<Machine>>,
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
) -> io::Result<()> {
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

fn any_object() -> Raw {
    Raw::from_text(r#"{"type":"object"}"#).unwrap_or_else(|_| Raw::empty_object())
}

/// Stdin and stdout without the buffers and locks around them.
#[cfg(unix)]
fn standard_streams() -> io::Result<(std::fs::File, std::fs::File)> {
    use std::os::fd::AsFd;
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    Ok((stdin.into(), stdout.into()))
}

#[cfg(not(unix))]
fn standard_streams() -> io::Result<(io::Stdin, io::Stdout)> {
    Ok((io::stdin(), io::stdout()))
}

/// Closes a server when a signal comes.
struct OnSignal(Arc<Link<Machine>>);

impl Closeable for OnSignal {
    fn close(&self) {
        self.0.with(|state, now| state.session.close(now));
    }
}

pub(crate) struct Shared {
    tools: Vec<Tool>,
    handlers: HashMap<String, ToolHandler>,
    page_max: usize,
    pool: Pool<IncomingId>,
    on_violation: Option<ViolationHandler>,
}

/// What is open on the application's side.
#[derive(Default)]
pub(crate) struct Open {
    running: HashMap<IncomingId, Arc<Cancelled>>,
    closed: Option<Close>,
}

impl Role for Machine {
    type Open = Open;
    type Shared = Shared;

    /// What was asked can no longer be answered.
    const LAST_INPUT: Duration = Duration::ZERO;

    fn dispatch(link: &Arc<Link<Self>>, event: Event) {
        match event {
            Event::Request { incoming, request, context } => serve(link, incoming, &request, context),
            Event::RequestCancelled { incoming, .. } => {
                link.shared.pool.withdraw(&incoming);
                let cancelled = link.with(|state, _| state.open.running.remove(&incoming));
                if let Some(cancelled) = cancelled {
                    cancelled.set();
                }
            }
            Event::Violation(violation) => {
                if let Some(hear) = &link.shared.on_violation {
                    hear(&violation);
                }
            }
            Event::Closed(why) => link.with(|state, _| state.open.closed = Some(why)),
            _ => {}
        }
    }
}

fn serve(link: &Arc<Link<Machine>>, incoming: IncomingId, request: &Request, context: Context) {
    match &*request.method {
        "tools/list" => {
            let answer = list_tools(&link.shared, request);
            respond(link, incoming, &answer);
        }
        "tools/call" => match request.decode::<CallTool>() {
            Ok(call) => call_tool(link, incoming, call, context),
            Err(error) => refuse(link, incoming, ErrorObject::invalid_params(error.to_string())),
        },
        other => refuse(link, incoming, ErrorObject::method_not_found(other)),
    }
}

/// A page of the tools. A cursor is the number of the tool that a page begins with. (PAG-05)
fn list_tools(shared: &Shared, request: &Request) -> Result<ListToolsResult, ErrorObject> {
    let cursor = request.params.as_ref().and_then(|params| params.member("cursor"));
    let start = match &cursor {
        Some(cursor) if cursor.as_bytes() != b"null" => cursor
            .to_text()
            .and_then(|cursor| cursor.parse().ok())
            .filter(|start| *start < shared.tools.len()),
        _ => Some(0),
    };
    let Some(start) = start else { return Err(ErrorObject::invalid_params("no such cursor")) };
    let end = shared.tools.len().min(start + shared.page_max);
    let mut page = ListToolsResult::new(shared.tools.get(start..end).unwrap_or_default().to_vec());
    page.next_cursor = (end < shared.tools.len()).then(|| end.to_string());
    Ok(page)
}

fn call_tool(link: &Arc<Link<Machine>>, incoming: IncomingId, call: CallTool, context: Context) {
    if !link.shared.handlers.contains_key(&call.name) {
        return refuse(link, incoming, ErrorObject::invalid_params(format!("no tool `{}`", call.name)));
    }
    let cancelled = Arc::new(Cancelled::default());
    link.with(|state, _| state.open.running.insert(incoming, Arc::clone(&cancelled)));
    let carried = Carried::from_context(&context);
    let cx = Cx { link: Arc::clone(link), incoming, context, carried, cancelled };
    link.shared.pool.run(incoming, move || run_tool(cx, call));
}

/// Runs a tool's handler to its end, whatever that is.
fn run_tool(cx: Cx, call: CallTool) {
    let Cx { link, incoming, carried, .. } = cx.clone();
    let Some(handler) = link.shared.handlers.get(&call.name) else { return };
    let arguments = call.arguments.map_or_else(Raw::empty_object, |arguments| arguments.0);
    let outcome = catch_unwind(AssertUnwindSafe(|| handler(arguments, cx)));
    link.with(|state, _| state.open.running.remove(&incoming));
    match outcome {
        Ok(Ok(result)) => respond(&link, incoming, &Ok(result)),
        Ok(Err(ToolError(Failure::Failed(result)))) => respond(&link, incoming, &Ok(*result)),
        Ok(Err(ToolError(Failure::Refused(error)))) => refuse(&link, incoming, error),
        Ok(Err(ToolError(Failure::Ask(key, question)))) => {
            let state_so_far = carried.to_state();
            let asked = link.with_room(ASK_PATIENCE, |state, now| {
                let questions = [(key.as_str(), (*question).clone())];
                state.session.request_input(now, incoming, &questions, state_so_far.as_deref())
            });
            if let Err(misuse) = asked {
                refuse(&link, incoming, ErrorObject::internal(format!("cannot ask for `{key}`: {misuse}")));
            }
        }
        // What the panic says is for the server's own log; it never reaches the wire.
        Err(_panic) => refuse(&link, incoming, ErrorObject::internal("the handler failed")),
    }
}

/// How long a question waits for room.
const ASK_PATIENCE: Duration = Duration::from_secs(1);

/// Answers; a request that is gone needs no answer, and a result that cannot be written is an error.
fn respond<T: Encode>(link: &Arc<Link<Machine>>, incoming: IncomingId, answer: &Result<T, ErrorObject>) {
    link.with(|state, now| {
        let sent = match answer {
            Ok(result) => state.session.respond(now, incoming, result),
            Err(error) => state.session.respond_error(now, incoming, error),
        };
        if sent == Err(Misuse::Unencodable) {
            let error = ErrorObject::internal("the result cannot be written as JSON");
            let _gone = state.session.respond_error(now, incoming, &error);
        }
    });
}

fn refuse(link: &Arc<Link<Machine>>, incoming: IncomingId, error: ErrorObject) {
    respond::<Raw>(link, incoming, &Err(error));
}
