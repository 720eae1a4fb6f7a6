//! The builder of servers, and the handling of their requests on any runtime.

pub(crate) mod catalog;
pub(crate) mod connection;
pub(crate) mod handler;
pub mod layers;
pub(crate) mod manual;
pub(crate) mod settings;
pub(crate) mod tasks;

use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use mcp_proto::schema::Tool;
use mcp_proto::server::{Config, Server as Machine};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Capability, Instant, Limits, Raw, Revision};

use crate::exec::workers::handler_threads;
use crate::process::settings::StdioSettings;
#[cfg(feature = "tracing")]
use crate::recorder::Recorder;
use crate::server::catalog::changes::Changes;
use crate::server::handler::state_sealing::StateSealing;
use crate::server::layers::{Layer, Layers};
use crate::server::settings::ServerSettings;
use crate::server::settings::lists::Lists;
use crate::server::tasks::TaskCell;
use crate::tasks::Tasks;

/// A builder of [servers](https://modelcontextprotocol.io/specification/2025-11-25/server).
///
/// Register tools, resources and prompts, then serve them with an adapter crate, such as
/// `mcp-tokio`.
///
/// The capabilities for the registered entries (tools, resources and prompts) are declared
/// automatically. Lists keep the order of registration. The start of the server fails if an entry
/// is invalid, such as a tool whose schema does not describe an object, or if a second entry has
/// the name of an earlier one. To change entries while the server runs, use [`Changes::edit`].
///
/// The specification recommends tool names of 1 to 128 ASCII letters, digits, `_`, `-` and `.`.
/// Other names are accepted; with the `tracing` feature, a warning reports them.
///
/// A handler is a function or a future. If it panics, its request fails with an internal error;
/// other requests are not affected.
///
/// | handler | `mcp-tokio`, `mcp-smol` | `mcp-blocking` |
/// |---|---|---|
/// | function measured to be quick | driving thread | driving thread |
/// | any other function | thread pool | thread pool |
/// | future, until it first waits | driving thread | like a function, to its end |
/// | future, after that | the runtime | |
///
/// The driving thread reads the requests of a connection and sends the responses. A handler that
/// runs there costs no context switch, but everything else on the thread waits for it. A function
/// therefore starts on the thread pool. It moves to the driving thread after about 16 consecutive
/// runs of at most 0.1 ms. Several longer runs in short succession, or a single run above 5 ms,
/// send it back to the pool.
///
/// A run above 5 ms on the driving thread has a further consequence: to return to that thread, the
/// function now needs eight times as many short runs as before, but never more than 65,536. With
/// the `tracing` feature, a warning names the handler.
///
/// If a function is quick for some arguments and slow for others, use
/// [`Tool::always_on_pool`](crate::Tool::always_on_pool), so that it stays on the pool. A function
/// that has called [`Cx::sleep`](crate::Cx::sleep) or [`Cx::log`](crate::Cx::log) also stays on the
/// pool.
///
/// The pool adds threads only while work waits, and ends idle threads. A free thread runs the
/// request whose handler occupies the fewest threads for the request's connection. An eighth of the
/// pool's maximum is reserved for requests whose handler occupies no thread for their connection. A
/// cancelled handler that keeps running no longer counts towards the maximum.
///
/// Cheap to clone. Clones share their handlers, threads and [`Changes`], and each clone can serve
/// connections.
#[must_use = "a server does nothing until it is served"]
pub struct Server<R = ()> {
    pub(crate) settings: ServerSettings,
    runtime: PhantomData<fn() -> R>,
}

impl<R> Server<R> {
    /// Creates a server without tools, resources or prompts.
    pub fn new(name: &str, version: &str) -> Self {
        Self::with(ServerSettings::new(name, version))
    }

    fn with(settings: ServerSettings) -> Self {
        Self { settings, runtime: PhantomData }
    }

    /// Returns the server for another runtime.
    pub(crate) fn on<Q>(self) -> Server<Q> {
        Server::with(self.settings)
    }

    /// Adds a layer: middleware around every request that reaches the application.
    ///
    /// The requests about [tasks](crate::tasks) (`tasks/*`) do not: layers surround the handlers of
    /// tasks instead.
    ///
    /// The layer added first is the outermost: it sees a request first and the response last. See
    /// [`layers`] for what layers can do, and for layers for common tasks.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use std::time::Duration;
    ///
    /// use mcp_tokio::Server;
    /// use mcp_tokio::layers::{Incoming, Next, Timeout};
    ///
    /// let server = Server::new("weather", "1.0.0")
    ///     .layer(|request: Incoming, next: Next| async move {
    ///         eprintln!("{} {:?}", request.method(), request.name());
    ///         next.run(request).await
    ///     })
    ///     .layer(Timeout::new(Duration::from_secs(30)));
    /// # drop(server);
    /// ```
    pub fn layer(mut self, layer: impl Layer) -> Self {
        let layers = &mut self.settings.layers;
        let layers = layers.get_or_insert_with(|| Arc::new(Layers::new(layers::start)));
        Arc::make_mut(layers).push(layer);
        self
    }

    /// Calls `check` with the arguments of every tool call before the handler runs.
    ///
    /// If `check` returns an error message, the handler is not called. The client receives a tool
    /// error with this message, so that the model can correct the call.
    ///
    /// `check` must not wait for a message from the client, and must not change the server's tools,
    /// resources or prompts.
    ///
    /// `check` runs on the thread that reads requests, which is fast for small arguments. If the
    /// params of the call have more than 16 KiB, it runs on the thread pool, so that a long check
    /// delays no other request. If the pool has [one thread](Self::threads_max), it always runs on
    /// the thread that reads requests.
    pub fn check_arguments(
        mut self,
        check: impl Fn(&Tool, &Raw) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.settings.check_arguments(move |tool, _, arguments| check(tool, arguments));
        self
    }

    /// Checks the arguments and structured results of tools against their JSON Schemas (feature
    /// `jsonschema`).
    ///
    /// Schemas are compiled when the server starts; the start fails if a schema is invalid.
    /// Arguments that do not match produce a tool error that the model can correct. If a structured
    /// result does not match, the call fails with the error code `-32603`. External references are
    /// never fetched.
    ///
    /// Both errors describe only the first mismatch. A value fails the check if it has more than
    /// 500,000 members and elements in total, or more than 10,000 objects and arrays and a schema
    /// with `uniqueItems`. For schemas with patterns that have lookarounds or backreferences, the
    /// size of the value times the length of its longest text must not exceed (64 KiB)². During the
    /// check, each member and element takes about 64 bytes of memory.
    ///
    /// An optional field of a derived schema may also be `null`, as without this method, although
    /// the schema that clients receive does not say so.
    ///
    /// Without this method, arguments are only decoded into the type of the handler's argument. Of
    /// results, only the presence of structured content is checked, for tools with an output
    /// schema: more would take time proportional to the size of each result.
    ///
    /// Of this method and [`check_arguments`](Self::check_arguments), which sets another check, the
    /// one called last applies to arguments.
    #[cfg(feature = "jsonschema")]
    pub fn checked(mut self) -> Self {
        let schemas = self.settings.builder.changes.enable_checks();
        self.settings.check_arguments(move |tool, handler, arguments| {
            let schema = &tool.input_schema;
            let checked = schemas.check(schema, arguments).or_else(|mismatch| {
                // Serde reads `null` as an optional field that is left out.
                let nullable = handler.nullable_form(schema).ok_or_else(|| mismatch.clone())?;
                schemas.check(nullable, arguments).map_err(|_| mismatch)
            });
            checked.map_err(|error| format!("invalid arguments: {error}"))
        });
        self
    }

    /// Returns a handle that changes the running server and notifies clients, for use outside
    /// handlers.
    ///
    /// This method also declares tools, resources and prompts, with change notifications and
    /// resource subscriptions, even if their lists are empty: the handle may add their first
    /// entries later. Handlers use [`Cx::changes`](crate::Cx::changes), and a server that needs no
    /// handle elsewhere declares less with [`Lists::announce_changes`].
    pub fn changes(&mut self) -> Changes {
        self.settings.builder.has_changes = true;
        self.settings.builder.has_subscriptions = true;
        self.settings.builder.changes.clone()
    }

    /// Declares a capability beyond those derived from the registered entries.
    ///
    /// A server needs this, for example, if a handler adds the first prompt through
    /// [`Cx::changes`](crate::Cx::changes) after the server has started: declare
    /// `Capability::PromptsListChanged`.
    pub(crate) fn capability(self, capability: Capability) -> Self {
        self.configure(|config| config.capability(capability))
    }

    /// Restricts the server to these protocol revisions. Default: all supported revisions.
    ///
    /// Without a legacy revision (up to 2025-11-25), servers over HTTP have no sessions.
    pub fn revisions(self, revisions: &[Revision]) -> Self {
        self.configure(|config| config.revisions(revisions))
    }

    /// Declares the logging capability, which [`Cx::log`](crate::Cx::log) requires.
    pub fn logging(self) -> Self {
        self.capability(Capability::Logging)
    }

    /// Sets the instructions that tell a model how to use the server. Default: none.
    pub fn instructions(self, instructions: &str) -> Self {
        self.configure(|config| config.instructions(instructions))
    }

    /// Adds message contents to the `tracing` output, at level `TRACE` (feature `tracing`).
    ///
    /// Message contents may include secrets. By default, only the lengths of messages are traced.
    #[cfg(feature = "tracing")]
    pub fn trace_payloads(mut self) -> Self {
        self.settings.trace_payloads = true;
        self
    }

    /// Records each connection over a byte stream: its input, output and commands.
    /// (feature `tracing`)
    ///
    /// `open` is called once for each connection and returns the writer for its recording. Every
    /// entry has a timestamp. [`Recording`](mcp_proto::record::Recording) prints and replays
    /// recordings.
    ///
    /// **A recording contains all messages, including secrets**: create its file with
    /// [`private_file`](crate::private_file), or protect it in another way. Connections
    /// over HTTP are not recorded.
    ///
    /// The recording is buffered and flushed when the connection ends; a program that is killed
    /// loses up to 64 KiB of the recording. The connection waits for each write, so the writer must
    /// not wait for the connection. If the writer fails or panics, the recording ends and the
    /// connection continues; with the `tracing` feature, this is reported once.
    ///
    /// Replaying requires a protocol state machine with an equal configuration;
    /// [`machine`](Self::machine) creates one.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use std::fs;
    /// use mcp_tokio::{Server, private_file};
    /// use mcp_tokio::proto::record::Recording;
    ///
    /// let server = Server::new("weather", "1.0.0").record(|| private_file("weather.tape"));
    /// # if false {
    /// // Later, in a program with an equally configured server:
    /// let tape = fs::read("weather.tape").unwrap();
    /// let recording = Recording::read(&tape).unwrap();
    /// recording.replay(&mut server.machine(recording.created_at()).unwrap()).unwrap();
    /// # }
    /// ```
    #[cfg(feature = "tracing")]
    pub fn record<W: io::Write + Send + 'static>(
        mut self,
        open: impl Fn() -> io::Result<W> + Send + Sync + 'static,
    ) -> Self {
        self.settings.recorder = Recorder::new(open);
        self
    }

    /// Sets the resource limits and timeouts of each connection. Default: [`Limits::default`].
    pub fn limits(self, limits: Limits) -> Self {
        self.configure(|config| config.limits(limits))
    }

    /// Sets the maximum number of threads in the pool that runs handlers. Default: 512, minimum: 1.
    ///
    /// Requests beyond the maximum wait. With 1, functions run one at a time, in the order of their
    /// requests. A thread costs about 20 KiB of memory, plus the memory that its handler needs.
    /// Handlers that keep running after their cancellation may occupy up to this many additional
    /// threads. Quick functions also run on the threads that drive their connections, unless the
    /// maximum is 1.
    pub fn threads_max(mut self, threads_max: usize) -> Self {
        self.settings.threads = handler_threads(threads_max);
        self
    }

    /// Sets what the lists announce, who sees their entries, and how clients may cache them.
    pub fn lists(mut self, lists: Lists) -> Self {
        lists.apply(&mut self.settings);
        self
    }

    /// Sets what a server on stdin and stdout does to its process and its pipes.
    pub const fn stdio(mut self, settings: StdioSettings) -> Self {
        self.settings.stdio = settings;
        self
    }

    /// Sets the limits and the store of this server's tasks. Default: [`Tasks::new`].
    ///
    /// [`Tool::as_task`](crate::Tool::as_task) lets calls become tasks.
    pub fn tasks(mut self, tasks: Tasks) -> Self {
        self.settings.tasks = TaskCell::new(tasks);
        self
    }

    /// Sets the seal that authenticates the state of a handler while the client gathers input.
    /// Default: a seal with a random key of this process.
    ///
    /// In the modern era (from revision 2026-07-28), the client holds this state and returns it
    /// with its next request. The request fails if the state
    /// - is forged or modified;
    /// - belongs to a different request;
    /// - was sealed for another principal;
    /// - is more than an hour old;
    /// - was sealed with another key.
    ///
    /// The state includes all answers so far and the results of `Cx::once`. If it exceeds 64 KiB,
    /// or if the request has more than 64 params, the request fails with `-32603`.
    ///
    /// `None` leaves the state unauthenticated: any client can then forge it, so handlers must not
    /// trust it.
    ///
    /// Set a seal if the next request may reach another process: one of several instances, or this
    /// program after a restart. They must share its key.
    pub fn seal(mut self, seal: impl Into<Option<mcp_proto::seal::Seal>>) -> Self {
        self.settings.builder.sealing = match seal.into() {
            Some(seal) => StateSealing::With(seal),
            None => StateSealing::Plain,
        };
        self
    }

    /// Changes the configuration of the protocol state machine, for settings without a method here,
    /// such as the full description of the server and experimental features.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Server;
    /// use mcp_tokio::proto::schema::Implementation;
    ///
    /// let server = Server::new("demo", "1.0.0")
    ///     .configure(|config| config.info(Implementation::new("demo", "1.0.0").title("Demo")));
    /// # drop(server);
    /// ```
    pub fn configure(mut self, configure: impl FnOnce(Config) -> Config) -> Self {
        let builder = &mut self.settings.builder;
        builder.config = configure(builder.config.clone());
        self
    }

    /// Creates the protocol state machine of a connection over a byte stream.
    ///
    /// Use it to replay a recording or to drive a connection by hand. `began` is the time at which
    /// the connection starts. The state machine declares the capabilities for the tools, resources
    /// and prompts registered so far.
    ///
    /// # Errors
    /// Fails if a registered tool, resource, resource template or prompt is invalid.
    pub fn machine(&self, began: Instant) -> io::Result<Stdio<Machine>> {
        Ok(Stdio::new(Machine::new(began, self.settings.config()?)))
    }
}

impl<R> Clone for Server<R> {
    fn clone(&self) -> Self {
        Self::with(self.settings.clone())
    }
}

opaque_debug!(Server<R> [R], it => catalog: it.settings.builder.changes.catalog());
