//! The builder of clients, and their connections.

pub(crate) mod answerer;
pub(crate) mod call;
pub(crate) mod call_hooks;
pub(crate) mod changed;
pub(crate) mod connect;
pub(crate) mod connection;
pub(crate) mod connector;
pub(crate) mod context;
pub(crate) mod events;
mod extension_settings;
mod handlers;
pub(crate) mod in_flight;
mod pages;
pub(crate) mod progress;
pub(crate) mod request_handler;
pub(crate) mod served_tasks;
mod spawn;
mod stderr;
pub(crate) mod subscription;
pub(crate) mod task;
mod tasks;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Capability, Era, Instant, Limits, Raw, Revision, Side};

use crate::client::call_hooks::{CallEnd, CallHook, HookError, OutgoingCall};
use crate::client::connect::Connecting;
#[cfg(feature = "http")]
use crate::client::connection::Connection;
use crate::client::connector::ConnectionConfig;
#[cfg(feature = "http")]
use crate::client::connector::Connector;
use crate::client::events::ClientCallbacks;
use crate::client::request_handler::{FORM, RequestHandler, URL};
use crate::client::task::settings::TaskSettings;
use crate::declared_extensions::DeclaredExtensions;
#[cfg(feature = "http")]
use crate::error::Error;
use crate::exec::callbacks::CallbackThreads;
use crate::exec::clock::Clock;
use crate::exec::workers::{HandlerThreads, Spawn, THREADS_MAX, handler_threads};
use crate::recorder::Recorder;
use crate::transport::shutdown::DriverHandle;

/// A builder of [clients](https://modelcontextprotocol.io/specification/2025-11-25/client).
///
/// Set handlers and options, then connect to a server with an adapter crate, such as `mcp-tokio`.
///
/// Setting a handler declares the corresponding capability.
///
/// Cheap to clone. Clones share their handlers and threads. Each clone can be configured further
/// and connect to a server of its own:
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::schema::Root;
/// use mcp_tokio::{Client, ClientCx};
///
/// let client = Client::new("demo", "1.0.0").on_roots(|cx: ClientCx| match cx.label() {
///     Some("files") => vec![Root::new("file:///home")],
///     _ => Vec::new(),
/// });
/// let servers = ["files", "weather"].map(|label| client.clone().label(label));
/// # drop(servers);
/// ```
#[derive(Clone)]
#[must_use = "a client does nothing until an adapter connects it"]
pub struct Client {
    config: Config,
    extensions: DeclaredExtensions,
    limits: Limits,
    handlers: HashMap<&'static str, RequestHandler>,
    callbacks: ClientCallbacks,
    on_call: Vec<CallHook>,
    label: Option<Arc<str>>,
    tasks: TaskSettings,
    threads: HandlerThreads,
    callback_threads: CallbackThreads,
    pipe_bytes: Option<usize>,
    inherits_environment: bool,
    trace_payloads: bool,
    recorder: Recorder,
}

impl Client {
    /// Creates a client without handlers. `name` and `version` identify it to servers.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            extensions: DeclaredExtensions::default(),
            limits: Limits::default(),
            handlers: HashMap::new(),
            callbacks: ClientCallbacks::default(),
            on_call: Vec::new(),
            label: None,
            tasks: TaskSettings::default(),
            threads: handler_threads(THREADS_MAX),
            callback_threads: CallbackThreads::default(),
            pipe_bytes: None,
            inherits_environment: false,
            trace_payloads: false,
            recorder: Recorder::default(),
        }
    }

    /// Sets a name for the connection, which its handlers and callbacks receive in their
    /// [context](crate::ClientCx::label). Default: none.
    ///
    /// Use it to tell connections apart that share their handlers. The server does not receive it.
    pub fn label(mut self, label: &str) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Declares a capability that no registered handler implies, such as sampling with tools.
    pub fn declare(mut self, capability: Capability) -> Self {
        self.config = self.config.capability(capability);
        self
    }

    /// Declares experimental, non-standard features: an object with a member for each.
    ///
    /// A value that is not an object declares none. Prefer an [extension](Self::extension) for new
    /// features.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Client;
    /// use mcp_tokio::proto::Raw;
    ///
    /// let client = Client::new("demo", "1.0.0")
    ///     .experimental(Raw::from_text(r#"{"example.com/echo":{}}"#).unwrap());
    /// # drop(client);
    /// ```
    pub fn experimental(mut self, features: impl Into<Raw>) -> Self {
        self.config = self.config.experimental(features);
        self
    }

    /// Calls `hook` before each call is sent, and the function that it returns when the call has
    /// ended.
    ///
    /// `hook` may add entries to the `_meta` of the call. If it returns an error, the call is not
    /// sent and fails with [`Error::Hook`]. Hooks run in the order in which they were added; the
    /// functions that they return run in the reverse order, also for calls that are cancelled.
    ///
    /// Hooks run on the threads that send calls and receive results: they must neither block nor
    /// use the connection. They are functions, and not futures around the call, because a call may
    /// be started and awaited in different tasks.
    ///
    /// Name the type of the parameter of the returned function, as in this example. A hook that
    /// does not need the end of the call returns `Ok(|_: &CallEnd<'_>| {})`.
    ///
    /// Hooks see all calls that [`Connection::call`] and the methods based on it make, such as
    /// [`Connection::call_tool`]. They do not see subscriptions and
    /// [`Connection::set_log_level`].
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{CallEnd, Client};
    ///
    /// # fn current_trace() -> String { String::new() }
    /// let client = Client::new("demo", "1.0.0").on_call(|call| {
    ///     call.set_meta("traceparent", &current_trace())?;
    ///     let method = call.method().to_owned();
    ///     Ok(move |end: &CallEnd<'_>| {
    ///         eprintln!("{method} {} {:?}", end.outcome().as_str(), end.duration());
    ///     })
    /// });
    /// # drop(client);
    /// ```
    pub fn on_call<F>(
        mut self,
        hook: impl Fn(&mut OutgoingCall<'_>) -> Result<F, HookError> + Send + Sync + 'static,
    ) -> Self
    where
        F: FnOnce(&CallEnd<'_>) + Send + 'static,
    {
        self.on_call.push(Arc::new(move |call| Ok(Box::new(hook(call)?))));
        self
    }

    /// Restricts the client to these protocol revisions. Default: all supported revisions.
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.config = self.config.revisions(revisions);
        self
    }

    /// Sets the era that the server is expected to have, usually that of the previous connection.
    ///
    /// An era is a family of protocol revisions: *legacy* up to 2025-11-25, *modern* from
    /// 2026-07-28. By default, the client probes the server with `server/discover` to detect its
    /// era. Expecting the legacy era skips the probe and saves a round trip. If the expectation is
    /// wrong, the client detects this while connecting and uses the actual era.
    // LIF-31: the cached era is a hint only.
    pub fn expect_era(mut self, era: Era) -> Self {
        self.config = self.config.expect_era(era);
        self
    }

    /// Makes the client accept an `initialize` response that names a modern revision.
    ///
    /// The client then continues with that revision (2026-07-28 or later). By default, connecting
    /// to a server that sends such a response fails.
    // T-31: a deviation from the specification, so it is opt-in.
    pub fn accept_modern_initialize(mut self) -> Self {
        self.config = self.config.accept_modern_initialize();
        self
    }

    /// Sets the minimum size, in bytes, of the pipes to and from a server started by `spawn`.
    ///
    /// By default, the pipes keep the system's size, 64 KiB on Linux.
    ///
    /// If messages are large, larger pipes save context switches; 512 KiB is then a good choice.
    /// This setting takes effect only on Linux and Android, within the system's limits (see
    /// `pipe(7)`). The system also limits the sum of all pipe sizes of one user, so a client with
    /// small messages should keep the default.
    pub fn pipe_bytes(mut self, bytes: usize) -> Self {
        self.pipe_bytes = Some(bytes);
        self
    }

    /// Adds message contents to the `tracing` output, at level `TRACE` (feature `tracing`).
    ///
    /// Message contents may include secrets. By default, only the lengths of messages are traced.
    #[cfg(feature = "tracing")]
    pub fn trace_payloads(mut self) -> Self {
        self.trace_payloads = true;
        self
    }

    /// Records the input, output and commands of each connection over a byte stream.
    ///
    /// Every entry has a timestamp. [`Recording`](mcp_proto::record::Recording) prints and replays
    /// recordings.
    ///
    /// `open` is called once for each connection and returns the writer for its recording. A client
    /// opens several connections if it restarts a legacy server after the initial probe, or if
    /// [`reconnect`](crate::Connection::reconnect) is called.
    ///
    /// **A recording contains all messages, including secrets**: create its file with
    /// [`private_file`](crate::private_file), or protect it in another way. Connections
    /// over HTTP are not recorded.
    ///
    /// The recording is buffered, and the buffer is flushed when the connection ends. A program
    /// that is killed loses up to 64 KiB of the recording. The connection waits for each write, so
    /// the writer must not wait for the connection. If the writer fails or panics, the recording
    /// ends and the connection continues. With the `tracing` feature, the failure is reported once.
    ///
    /// Replaying requires a protocol state machine with an equal configuration;
    /// [`machine`](Self::machine) creates one.
    pub fn record<W: io::Write + Send + 'static>(
        mut self,
        open: impl Fn() -> io::Result<W> + Send + Sync + 'static,
    ) -> Self {
        self.recorder = Recorder::new(open);
        self
    }

    /// Sets the resource limits and timeouts of each connection. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits.clone();
        self.config = self.config.limits(limits);
        self
    }

    /// Connects to a server over HTTP (feature `http`).
    ///
    /// `runtime` opens the sockets. The `connect_http` methods of adapters call this method.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Start`] if the connection cannot be opened;
    /// - [`Error::Io`] if an [extension](Self::extension) is invalid, if credentials would be sent
    ///   unencrypted (see
    ///   [`Remote::allow_plain_credentials`](crate::http::Remote::allow_plain_credentials)), if TLS
    ///   cannot be configured for the host, if the operating system returns no random bytes, or if
    ///   `runtime` cannot spawn futures.
    #[cfg(feature = "http")]
    pub async fn open_http(
        self,
        runtime: Arc<dyn crate::http::Dial>,
        remote: crate::http::Remote,
    ) -> Result<Connection, Error> {
        let (connection, machine) = self.into_config()?;
        Connector::to_remote(remote, connection, machine, runtime).connect().await
    }

    /// Creates a connection over a pair of byte streams.
    ///
    /// The adapter must drive the connection with the returned [`DriverHandle`] and await the
    /// [`Connecting`] value.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if an [extension](Self::extension) or the handler
    /// of one of its requests is invalid.
    pub fn open_on(
        self,
        runtime: &Arc<dyn Spawn>,
    ) -> io::Result<(Connecting, DriverHandle<Machine>)> {
        let (connection, machine) = self.into_config()?;
        connection.open(Clock::new(), machine, runtime)
    }

    /// Creates a connection over a pair of byte streams whose time the caller advances.
    pub(crate) fn open_manually(
        self,
        now: Instant,
        runtime: &Arc<dyn Spawn>,
    ) -> io::Result<(Connecting, DriverHandle<Machine>)> {
        let (connection, machine) = self.into_config()?;
        connection.open(Clock::manual(now), machine, runtime)
    }

    /// Sets the maximum number of threads in the pool that handles requests from the server.
    /// Default: 512, minimum: 1.
    ///
    /// Clones of this client share the pool. Requests beyond the maximum wait. A thread costs about
    /// 20 KiB of memory, plus the memory that its handler needs. Handlers that keep running after
    /// their cancellation may occupy up to this many additional threads.
    pub fn threads_max(mut self, threads_max: usize) -> Self {
        self.threads = handler_threads(threads_max);
        self
    }

    /// Creates the protocol state machine that this client uses for its first connection over a
    /// byte stream.
    ///
    /// Use it to replay a recording or to drive a connection by hand. `began` is the time at which
    /// the connection starts.
    ///
    /// If the client opens further connections, for example by
    /// [`reconnect`](Connection::reconnect), their state machines already expect the server's era,
    /// as if it had been set with [`expect_era`](Self::expect_era).
    #[must_use]
    pub fn machine(&self, began: Instant) -> Stdio<Machine> {
        Stdio::new(Machine::new(began, self.machine_config()))
    }

    /// Returns the configuration of the protocol state machine.
    // TSK-01: the requests that may become tasks are those that have handlers.
    fn machine_config(&self) -> Config {
        let has = |keys: &[&str]| keys.iter().any(|key| self.handlers.contains_key(key));
        let requests = [
            (Capability::TasksElicitation, has(&[FORM, URL])),
            (Capability::TasksSampling, has(&["sampling/createMessage"])),
        ];
        let offered: Vec<_> = requests.into_iter().filter(|(_, is_offered)| *is_offered).collect();
        if self.tasks.served.is_none() || offered.is_empty() {
            return self.config.clone();
        }
        let common = [Capability::Tasks, Capability::TasksCancel, Capability::TasksList];
        let declared = common.into_iter().chain(offered.into_iter().map(|(it, _)| it));
        declared.fold(self.config.clone(), Config::capability)
    }

    /// Splits off the configuration of the protocol state machine.
    ///
    /// # Errors
    /// Fails if an extension or the handler of one of its requests is invalid.
    pub(crate) fn into_config(self) -> io::Result<(ConnectionConfig, Config)> {
        let checked = self.extensions.check(Side::Server);
        checked.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let machine = self.machine_config();
        let connection = ConnectionConfig {
            limits: self.limits,
            handlers: Arc::new(self.handlers),
            callbacks: self.callbacks,
            on_call: self.on_call.into(),
            label: self.label,
            tasks: self.tasks,
            threads: self.threads,
            callback_threads: self.callback_threads,
            pipe_bytes: self.pipe_bytes,
            trace_payloads: self.trace_payloads,
            recorder: self.recorder,
        };
        Ok((connection, machine))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
