//! The builder of servers, and the handling of their requests on any runtime.

mod async_handlers;
pub(crate) mod builder;
pub(crate) mod changes;
pub(crate) mod events;
pub(crate) mod handler;
mod id_hasher;
mod pending_changes;
mod sync_handlers;

use std::fmt;
use std::io;
use std::sync::Arc;

use mcp_proto::catalog::Variables;
use mcp_proto::schema::{
    Complete, CompleteResult, GetPrompt, GetPromptResult, Implementation, Prompt, ReadResource,
    ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use mcp_proto::server::{Config, Server as Machine};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Capability, Instant, Limits, Raw, Violation};

use crate::exec::clock::Clock;
use crate::exec::workers::{HandlerThreads, Spawn, Workers, handler_threads};
use crate::recorder::Recorder;
use crate::server::builder::Builder;
use crate::server::changes::Changes;
use crate::server::events::{Callback, ServerShared, Serving, SubscriptionChange};
use crate::server::handler::{Handler, HandlerFn};
use crate::trace::Trace;
use crate::transport::link::{Link, Transport};
use crate::transport::shutdown::DriverHandle;

/// A [server](https://modelcontextprotocol.io/specification/2025-11-25/server): the builder of its
/// offer, which an adapter then serves.
///
/// A server declares the capabilities of what is registered. Lists keep the order of registration;
/// an entry under an existing name replaces the old one in place. An entry that cannot be offered,
/// such as a tool whose schema does not describe an object, is an error when the server starts to
/// serve.
///
/// Handlers are blocking functions, which run on a bounded pool of threads, or futures, which run
/// on the adapter's runtime. A handler that panics answers with an error; other requests are not
/// affected.
///
/// A handler starts on the thread that read its request, so that a quick one costs no context
/// switch: a future is polled there once, and on the byte streams of `mcp-blocking` a function runs
/// there. If the function takes longer than a few milliseconds, another thread takes over reading.
/// After a handler that took longer than 10 ms, or two of eight that took longer than 0.5 ms,
/// handlers start on the pool or the runtime instead, for 25 ms or ten times the duration of the
/// slow handler, whichever is longer.
///
/// Cheap to clone: a clone serves further connections with shared handlers, threads and
/// [`Changes`].
#[derive(Clone)]
#[must_use = "a server does nothing until an adapter serves it"]
pub struct Server {
    builder: Builder,
    threads: HandlerThreads,
    trace_payloads: bool,
    recorder: Recorder,
    exit_with_parent: bool,
    pipe_bytes: Option<usize>,
    on_violation: Option<Callback<Violation>>,
    on_watch: Option<Callback<SubscriptionChange>>,
}

impl Server {
    /// Creates a server that offers nothing yet.
    pub fn new(name: &str, version: &str) -> Self {
        let server = Self {
            builder: Builder::new(name, version),
            threads: handler_threads(64),
            trace_payloads: false,
            recorder: Recorder::default(),
            exit_with_parent: false,
            pipe_bytes: None,
            on_violation: None,
            on_watch: None,
        };
        server.page_max(100)
    }

    /// Calls `check` with the arguments of every tool call before the handler runs, for example to
    /// validate them. Its error becomes a tool error that the model can correct.
    ///
    /// `check` runs on the thread that reads requests: it must neither wait for the connection nor
    /// change the catalog.
    pub fn check_arguments(
        self,
        check: impl Fn(&Tool, &Raw) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.builder.configure(|catalog| catalog.check_arguments(check));
        self
    }

    /// Checks the arguments and structured results of tools against their JSON Schemas.
    ///
    /// Schemas are compiled when the server starts to serve; an invalid one is an error then.
    /// Arguments that do not match produce a tool error that the model can correct; a structured
    /// result that does not match becomes the error `-32603`. External references are never
    /// fetched. Replaces [`check_arguments`](Self::check_arguments).
    #[cfg(feature = "jsonschema")]
    pub fn checked(mut self) -> Self {
        let schemas = self.builder.checks.enable();
        self.check_arguments(move |tool, arguments| schemas.check(&tool.input_schema, arguments))
    }

    /// Declares change notifications for every list that is not empty, and resource subscriptions
    /// if there are resources. [`Changes`] sends them.
    pub fn declare_list_changed(mut self) -> Self {
        self.builder.configure(mcp_proto::catalog::Catalog::declare_list_changed);
        self.builder.has_subscriptions = true;
        self
    }

    /// Returns the handle that notifies clients of changes, for use outside of handlers; declares
    /// the notifications like [`declare_list_changed`](Self::declare_list_changed). Handlers use
    /// [`Cx::changes`](crate::Cx::changes).
    pub fn changes(&mut self) -> Changes {
        self.builder.configure(mcp_proto::catalog::Catalog::declare_list_changed);
        self.builder.has_subscriptions = true;
        self.builder.changes.clone()
    }

    /// Calls `callback` when the first subscription to a resource over a connection begins and when
    /// the last one ends; declares resource subscriptions. `callback` must not wait for the
    /// connection.
    pub fn on_subscription(
        mut self,
        callback: impl Fn(&SubscriptionChange) + Send + Sync + 'static,
    ) -> Self {
        self.builder.has_subscriptions = true;
        self.on_watch = Some(Arc::new(callback));
        self
    }

    /// Declares a capability in addition to those of the registered entries, for example for a list
    /// that is filled later.
    pub fn capability(mut self, capability: Capability) -> Self {
        self.builder.extra.push(capability);
        self
    }

    /// Declares log messages, which [`Cx::log`](crate::Cx::log) sends.
    pub fn logging(self) -> Self {
        self.capability(Capability::Logging)
    }

    /// Sets the instructions for models that use the server.
    pub fn instructions(mut self, instructions: &str) -> Self {
        self.builder.config = self.builder.config.instructions(instructions);
        self
    }

    /// Replaces the name and version with a full description of the server.
    pub fn info(mut self, info: Implementation) -> Self {
        self.builder.config = self.builder.config.info(info);
        self
    }

    /// Seals the state that requests keep between rounds of questions.
    ///
    /// A client can then neither change nor forge the state, nor use it for another request or more
    /// than an hour later. Without a seal, the state that a client returns cannot be trusted.
    #[cfg(feature = "seal")]
    pub fn seal(mut self, seal: mcp_proto::seal::Seal) -> Self {
        self.builder.sealing.seal = Some(seal);
        self
    }

    /// Closes a server on stdin and stdout once its parent process has ended, even if another
    /// process keeps stdin open. On Unix only, within half a second.
    pub fn exit_with_parent(mut self) -> Self {
        self.exit_with_parent = true;
        self
    }

    /// Enlarges the pipes behind stdin and stdout to at least `bytes` when the server starts to
    /// serve on them. Off by default: the system decides, 64 KiB on Linux.
    ///
    /// Larger pipes save context switches when messages are large; 512 KiB is a good choice then.
    /// On Linux and Android only, and within the limits of the system (see `pipe(7)`): the total of
    /// all pipes of a user is bounded, so small servers should keep the default.
    pub fn pipe_bytes(mut self, bytes: usize) -> Self {
        self.pipe_bytes = Some(bytes);
        self
    }

    /// Traces the contents of messages at level `TRACE`, which may include secrets, instead of only
    /// their lengths.
    #[cfg(feature = "tracing")]
    pub fn trace_payloads(mut self) -> Self {
        self.trace_payloads = true;
        self
    }

    /// Records each connection over a byte stream: its input, its output and all commands, each
    /// with its time. [`Recording`](mcp_proto::record::Recording) prints and replays the result.
    /// `open` returns the writer of a recording, once for each connection.
    ///
    /// **A recording contains all messages, including secrets**: protect it accordingly.
    /// Connections over HTTP are not recorded.
    ///
    /// The recording is buffered and flushed when the connection ends; a program that is killed
    /// loses up to 64 KiB of it. The connection waits for the writer, so the writer must not wait
    /// for the connection. If the writer fails or panics, the recording ends and the connection
    /// continues; the feature `tracing` reports this once.
    ///
    /// Replaying requires a machine of equal configuration, which [`machine`](Self::machine)
    /// returns.
    ///
    /// ```
    /// use std::fs::{self, File};
    /// use mcp_adapter::Server;
    /// use mcp_adapter::proto::record::Recording;
    ///
    /// let server = Server::new("weather", "1.0.0").record(|| File::create("weather.tape"));
    /// # if false {
    /// // Later, in a program with an equal offer:
    /// let tape = fs::read("weather.tape").unwrap();
    /// let recording = Recording::read(&tape).unwrap();
    /// recording.replay(&mut server.machine(recording.created_at()).unwrap()).unwrap();
    /// # }
    /// ```
    #[cfg(feature = "record")]
    pub fn record<W: io::Write + Send + 'static>(
        mut self,
        open: impl Fn() -> io::Result<W> + Send + Sync + 'static,
    ) -> Self {
        self.recorder = Recorder::new(open);
        self
    }

    /// Sets the limits of each connection.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.builder.config = self.builder.config.limits(limits);
        self
    }

    /// Sets how many blocking handlers run at a time, 64 by default and at least one. Further
    /// requests wait in order.
    pub fn threads_max(mut self, threads_max: usize) -> Self {
        self.threads = handler_threads(threads_max);
        self
    }

    /// Sets the number of entries on one page of a list, 100 by default and at least one.
    pub fn page_max(self, page_max: usize) -> Self {
        self.builder.configure(|catalog| catalog.entries_max(page_max));
        self
    }

    /// Calls `callback` for every protocol violation of the client. It must not wait for the
    /// connection.
    pub fn on_violation(mut self, callback: impl Fn(&Violation) + Send + Sync + 'static) -> Self {
        self.on_violation = Some(Arc::new(callback));
        self
    }

    /// Creates a connection over a pair of byte streams, to be driven by the adapter. Used by the
    /// `serve` methods of adapters.
    ///
    /// # Errors
    /// If an entry cannot be offered.
    pub fn open_on(&self, runtime: Arc<dyn Spawn>) -> io::Result<(Serving, DriverHandle<Machine>)> {
        let clock = Clock::new();
        let began = clock.now();
        let transport = match self.recorder.start(self.machine(began)?, began) {
            Ok(recorded) => Transport::Recorded(Box::new(recorded)),
            Err(machine) => Transport::Bytes(Box::new(machine)),
        };
        let link = self.link(clock, transport, runtime);
        let driving = DriverHandle::new(Arc::clone(&link), None, Limits::default())
            .pipe_bytes(self.pipe_bytes);
        Ok((Serving::new(link, self.exit_with_parent), driving))
    }

    /// Creates the protocol machine of a connection over a byte stream, with `began` as its start
    /// time, to replay a recording or to be driven by hand. It declares the current offer.
    ///
    /// # Errors
    /// If an entry cannot be offered.
    pub fn machine(&self, began: Instant) -> io::Result<Stdio<Machine>> {
        Ok(Stdio::new(Machine::new(began, self.config()?)))
    }

    /// Returns the configuration of the server's connections.
    pub(crate) fn config(&self) -> io::Result<Config> {
        self.builder.config()
    }

    /// Returns the input schema of a tool.
    #[cfg(feature = "http")]
    pub(crate) fn schema_of(&self, tool: &str) -> Option<Raw> {
        let catalog = self.builder.changes.catalog();
        catalog.tool(tool).map(|tool| tool.input_schema.0.clone())
    }

    /// Creates a connection.
    pub(crate) fn link(
        &self,
        clock: Clock,
        transport: Transport<Machine>,
        runtime: Arc<dyn Spawn>,
    ) -> Arc<Link<Machine>> {
        let shared = ServerShared {
            changes: self.builder.changes.clone(),
            sealing: self.builder.sealing.clone(),
            checks: self.builder.checks.clone(),
            workers: Workers::new(Arc::clone(&self.threads), runtime),
            on_violation: self.on_violation.clone(),
            on_watch: self.on_watch.clone(),
        };
        Link::over_transport(clock, transport, shared, Trace::new("server", self.trace_payloads))
    }
}

// Registration, for handlers of either kind.
impl Server {
    fn add_tool(mut self, tool: Tool, handler: Handler) -> Self {
        self.builder
            .add(&format!("the tool `{}`", tool.name), |catalog| catalog.add_tool(tool, handler));
        self
    }

    fn add_resource(
        mut self,
        resource: Resource,
        handler: HandlerFn<(ReadResource, Variables), ReadResourceResult>,
    ) -> Self {
        self.builder.add(&format!("the resource `{}`", resource.uri), |catalog| {
            catalog.add_resource(resource, Handler::Resource(handler))
        });
        self
    }

    fn add_template(
        mut self,
        template: ResourceTemplate,
        handler: HandlerFn<(ReadResource, Variables), ReadResourceResult>,
    ) -> Self {
        self.builder
            .add(&format!("the resource template `{}`", template.uri_template), |catalog| {
                catalog.add_template(template, Handler::Resource(handler))
            });
        self
    }

    fn complete_template(
        mut self,
        uri_template: &str,
        variable: &str,
        handler: HandlerFn<Complete, CompleteResult>,
    ) -> Self {
        self.builder.add(&format!("a completion of `{variable}` in `{uri_template}`"), |catalog| {
            catalog.add_template_completion(uri_template, variable, Handler::Completion(handler))
        });
        self
    }

    fn add_prompt(
        mut self,
        prompt: Prompt,
        handler: HandlerFn<GetPrompt, GetPromptResult>,
    ) -> Self {
        self.builder.add(&format!("the prompt `{}`", prompt.name), |catalog| {
            catalog.add_prompt(prompt, Handler::Prompt(handler))
        });
        self
    }

    fn complete_prompt(
        mut self,
        prompt: &str,
        argument: &str,
        handler: HandlerFn<Complete, CompleteResult>,
    ) -> Self {
        self.builder
            .add(&format!("a completion of `{argument}` of the prompt `{prompt}`"), |catalog| {
                catalog.add_prompt_completion(prompt, argument, Handler::Completion(handler))
            });
        self
    }
}

/// Derives the schema of a tool's arguments from their type.
#[cfg(feature = "schemars")]
fn schema_of<A: schemars::JsonSchema>() -> Raw {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    // The protocol requires `"type": "object"`, which the schema of a type without fields lacks.
    schema.insert("type".into(), "object".into());
    schema.remove("title");
    // The catalog refuses an invalid schema.
    Raw::new(&schema).unwrap_or_else(|_| Raw::empty_object())
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("catalog", &*self.builder.changes.catalog())
            .finish_non_exhaustive()
    }
}
