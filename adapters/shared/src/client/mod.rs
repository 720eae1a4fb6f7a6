//! The builder of clients, and their connections.

pub(crate) mod answerer;
pub(crate) mod cache_owner;
pub(crate) mod call;
pub(crate) mod call_hooks;
pub(crate) mod call_questions;
pub(crate) mod changed;
pub(crate) mod connect;
pub(crate) mod connection;
pub(crate) mod connector;
pub(crate) mod context;
pub(crate) mod events;
pub(crate) mod extension_settings;
pub(crate) mod feed;
mod handlers;
pub(crate) mod in_flight;
mod pages;
pub(crate) mod progress;
mod question_routing;
pub(crate) mod questions;
pub(crate) mod recovery;
pub(crate) mod request_handler;
pub(crate) mod settings;
pub(crate) mod subscription;
pub(crate) mod task;
mod unsent_call;

#[cfg(feature = "tracing")]
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Capability, Era, Instant, Limits, Revision};

use crate::client::call_hooks::{CallEnd, HookError, OutgoingCall};
use crate::client::settings::ClientSettings;
use crate::exec::workers::handler_threads;
#[cfg(feature = "tracing")]
use crate::recorder::Recorder;

/// A builder of [clients](https://modelcontextprotocol.io/specification/2025-11-25/client).
///
/// Set handlers and options, then connect to a server with an adapter crate, such as `mcp-tokio`.
///
/// Setting a handler declares the corresponding capability.
///
/// Cheap to clone. Clones share their handlers and threads. Each clone can be configured further
/// and connect to its own server:
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
#[must_use = "a client does nothing until it is connected"]
pub struct Client<R = ()> {
    pub(crate) settings: ClientSettings,
    runtime: PhantomData<fn() -> R>,
}

impl<R> Client<R> {
    /// Creates a client without handlers. `name` and `version` identify it to servers.
    pub fn new(name: &str, version: &str) -> Self {
        Self::with(ClientSettings::new(name, version))
    }

    fn with(settings: ClientSettings) -> Self {
        Self { settings, runtime: PhantomData }
    }

    /// Returns the client for another runtime.
    pub(crate) fn on<Q>(self) -> Client<Q> {
        Client::with(self.settings)
    }

    /// Sets a name for the connection, which its handlers and callbacks receive in their
    /// [context](crate::ClientCx::label). Default: none.
    ///
    /// Use it to tell apart connections that share handlers. The server does not receive the label.
    pub fn label(mut self, label: &str) -> Self {
        self.settings.label = Some(label.into());
        self
    }

    /// Declares a capability that no registered handler implies, such as sampling with tools.
    pub(crate) fn capability(self, capability: Capability) -> Self {
        self.configure(|config| config.capability(capability))
    }

    /// Changes the configuration of the protocol state machine, for settings without a method here,
    /// such as experimental features, the full description of the client, and a server that names a
    /// modern revision in its `initialize` response.
    ///
    /// Set limits with [`limits`](Self::limits).
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Client;
    ///
    /// let client = Client::new("demo", "1.0.0")
    ///     .configure(|config| config.accept_modern_initialize());
    /// # drop(client);
    /// ```
    pub fn configure(mut self, configure: impl FnOnce(Config) -> Config) -> Self {
        self.settings.config = configure(self.settings.config);
        self
    }

    /// Calls `hook` before each call is sent, and the function that it returns when the call has
    /// ended.
    ///
    /// `hook` may add entries to the `_meta` of the call. If it returns an error, the call is not
    /// sent and fails with [`Error::Hook`](crate::Error::Hook). Hooks run in the order in which
    /// they were added; the functions that they return run in the reverse order, also for calls
    /// that are cancelled.
    ///
    /// Hooks run on the threads that send calls and receive results: they must neither block nor
    /// use the connection. They are functions, and not futures around the call, because a call may
    /// be started and awaited in different tasks.
    ///
    /// Name the type of the parameter of the returned function, as in this example. A hook that
    /// does not need the end of the call returns `Ok(|_: &CallEnd<'_>| {})`.
    ///
    /// Hooks see all calls that [`Connection::call`](crate::Connection::call) and the methods based
    /// on it make, such as [`Connection::call_tool`](crate::Connection::call_tool). They do not see
    /// subscriptions and [`Connection::set_log_level`](crate::Connection::set_log_level).
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
        self.settings.on_call.push(Arc::new(move |call| Ok(Box::new(hook(call)?))));
        self
    }

    /// Restricts the client to these protocol revisions. Default: all supported revisions.
    pub fn revisions(self, revisions: &[Revision]) -> Self {
        self.configure(|config| config.revisions(revisions))
    }

    /// Sets the era that the server is expected to have, usually that of the previous connection.
    ///
    /// An era is a family of protocol revisions: *legacy* up to 2025-11-25, *modern* from
    /// 2026-07-28. By default, the client probes the server with `server/discover` to detect its
    /// era. Expecting the legacy era skips the probe and saves a round trip. If the expectation is
    /// wrong, the client detects this while connecting and uses the actual era.
    // LIF-31: the cached era is a hint only.
    pub fn expect_era(self, era: Era) -> Self {
        self.configure(|config| config.expect_era(era))
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
    /// Every entry has a timestamp. [`Recording`](mcp_proto::record::Recording) prints and replays
    /// recordings.
    ///
    /// `open` is called once for each connection and returns the writer for its recording. A client
    /// opens several connections if it restarts a legacy server after the initial probe, if it
    /// [recovers](Self::recovery) a lost connection, or if
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
    #[cfg(feature = "tracing")]
    pub fn record<W: io::Write + Send + 'static>(
        mut self,
        open: impl Fn() -> io::Result<W> + Send + Sync + 'static,
    ) -> Self {
        self.settings.recorder = Recorder::new(open);
        self
    }

    /// Sets the resource limits and timeouts of each connection. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits.clone();
        self.configure(|config| config.limits(limits))
    }

    /// Sets the maximum number of threads in the pool that handles requests from the server.
    /// Default: 512, minimum: 1.
    ///
    /// Clones of this client share the pool. Requests beyond the maximum wait. A thread costs about
    /// 20 KiB of memory, plus the memory that its handler needs. Handlers that keep running after
    /// their cancellation may occupy up to this many additional threads.
    pub fn threads_max(mut self, threads_max: usize) -> Self {
        self.settings.threads = handler_threads(threads_max);
        self
    }

    /// Creates the protocol state machine that this client uses for its first connection over a
    /// byte stream.
    ///
    /// Use it to replay a recording or to drive a connection by hand. `began` is the time at which
    /// the connection starts.
    ///
    /// If the client opens further connections, for example by
    /// [`reconnect`](crate::Connection::reconnect), their state machines already expect the
    /// server's era, as if it had been set with [`expect_era`](Self::expect_era).
    #[must_use]
    pub fn machine(&self, began: Instant) -> Stdio<Machine> {
        Stdio::new(Machine::new(began, self.settings.machine_config()))
    }
}

impl<R> Clone for Client<R> {
    fn clone(&self) -> Self {
        Self::with(self.settings.clone())
    }
}

opaque_debug!(Client<R> [R]);
