//! The builder of clients, and their connections.

pub(crate) mod call;
pub(crate) mod connect;
pub(crate) mod connection;
pub(crate) mod connector;
pub(crate) mod events;
mod pages;
pub(crate) mod subscription;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex};

use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::schema::{
    CreateMessage, CreateMessageResult, Decode, Elicit, ElicitResult, ElicitUrl, Encode, ListRoots,
    ListRootsResult, Root,
};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Capability, Era, ErrorObject, Instant, Limits, Raw, Request, Revision};

use crate::BoxFuture;
use crate::client::connect::Connecting;
use crate::client::connection::Connection;
use crate::client::connector::{ConnectionConfig, Connector, Runtime};
use crate::client::events::{
    Answer, FORM, NotificationHandler, RequestHandler, URL, ViolationHandler,
};
use crate::error::Error;
use crate::exec::callbacks::CallbackThreads;
use crate::exec::workers::{Spawn, THREADS_MAX, handler_threads};
use crate::recorder::Recorder;
use crate::transport::shutdown::DriverHandle;

/// A builder of [clients](https://modelcontextprotocol.io/specification/2025-11-25/client).
///
/// Set handlers and options, then connect to a server with an adapter crate, such as `mcp-tokio`.
///
/// Setting a handler declares the corresponding capability.
#[must_use = "a client does nothing until an adapter connects it"]
pub struct Client {
    config: Config,
    limits: Limits,
    handlers: HashMap<&'static str, RequestHandler>,
    on_notification: Option<NotificationHandler>,
    on_violation: Option<ViolationHandler>,
    threads_max: usize,
    pipe_bytes: Option<usize>,
    trace_payloads: bool,
    recorder: Recorder,
}

impl Client {
    /// Creates a client without handlers. `name` and `version` identify it to servers.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            limits: Limits::default(),
            handlers: HashMap::new(),
            on_notification: None,
            on_violation: None,
            threads_max: THREADS_MAX,
            pipe_bytes: None,
            trace_payloads: false,
            recorder: Recorder::default(),
        }
    }

    /// Sets the function that answers form [elicitations] by showing the form to the user.
    ///
    /// `answer` may block.
    ///
    /// [`Form`](mcp_proto::schema::Form) has methods that fill in default values and check an
    /// answer.
    ///
    /// [elicitations]: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
    // CAP-02: the handler declares the capability.
    pub fn on_elicitation(
        self,
        answer: impl Fn(Elicit) -> ElicitResult + Send + Sync + 'static,
    ) -> Self {
        self.declare(Capability::ElicitationForm).handle(FORM, move |form: Elicit| Ok(answer(form)))
    }

    /// Sets the function that answers URL elicitations (since 2025-11-25) by sending the user to
    /// the URL.
    ///
    /// `answer` must show the full URL to the user and open it only with the user's consent.
    // SEC-07: no URL is opened without consent.
    pub fn on_url_elicitation(
        self,
        answer: impl Fn(ElicitUrl) -> ElicitResult + Send + Sync + 'static,
    ) -> Self {
        self.declare(Capability::ElicitationUrl).handle(URL, move |url: ElicitUrl| Ok(answer(url)))
    }

    /// Sets an asynchronous function that answers form elicitations.
    ///
    /// See [`on_elicitation`](Self::on_elicitation). The future that `answer` returns runs on the
    /// adapter's runtime. The future is dropped when the request is cancelled or the connection
    /// ends.
    pub fn on_elicitation_async<F: Future<Output = ElicitResult> + Send + 'static>(
        self,
        answer: impl Fn(Elicit) -> F + Send + Sync + 'static,
    ) -> Self {
        let answer = move |form: Elicit| {
            let answer = answer(form);
            async move { Ok(answer.await) }
        };
        self.declare(Capability::ElicitationForm).handle_async(FORM, answer)
    }

    /// Sets an asynchronous function that answers URL elicitations.
    ///
    /// See [`on_url_elicitation`](Self::on_url_elicitation). The function's future runs on the
    /// adapter's runtime.
    pub fn on_url_elicitation_async<F: Future<Output = ElicitResult> + Send + 'static>(
        self,
        answer: impl Fn(ElicitUrl) -> F + Send + Sync + 'static,
    ) -> Self {
        let answer = move |url: ElicitUrl| {
            let answer = answer(url);
            async move { Ok(answer.await) }
        };
        self.declare(Capability::ElicitationUrl).handle_async(URL, answer)
    }

    /// Sets the function that answers [sampling] requests by calling a model.
    ///
    /// If `sample` returns an error, the server receives the error.
    ///
    /// [sampling]: https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
    pub fn on_sampling(
        self,
        sample: impl Fn(CreateMessage) -> Result<CreateMessageResult, ErrorObject>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.declare(Capability::Sampling).handle("sampling/createMessage", sample)
    }

    /// Sets an asynchronous function that answers sampling requests.
    ///
    /// See [`on_sampling`](Self::on_sampling). The function's future runs on the adapter's runtime.
    pub fn on_sampling_async<F>(
        self,
        sample: impl Fn(CreateMessage) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.declare(Capability::Sampling).handle_async("sampling/createMessage", sample)
    }

    /// Sets the function that returns the list of [roots] when the server requests it.
    ///
    /// [roots]: https://modelcontextprotocol.io/specification/2025-11-25/client/roots
    pub fn on_roots(self, roots: impl Fn() -> Vec<Root> + Send + Sync + 'static) -> Self {
        let answer = move |_: ListRoots| Ok(ListRootsResult::new(roots()));
        self.declare(Capability::Roots).handle("roots/list", answer)
    }

    /// Declares a capability that no registered handler implies, such as sampling with tools.
    pub fn declare(mut self, capability: Capability) -> Self {
        self.config = self.config.capability(capability);
        self
    }

    fn handle<Q: Decode, A: Encode + Send + 'static>(
        mut self,
        key: &'static str,
        answer: impl Fn(Q) -> Result<A, ErrorObject> + Send + Sync + 'static,
    ) -> Self {
        let handler = move |request: &Request| {
            Ok(Box::new(answer(decode(request)?)?) as Box<dyn Encode + Send>)
        };
        self.handlers.insert(key, RequestHandler::Blocking(Arc::new(handler)));
        self
    }

    fn handle_async<Q: Decode + Send, A: Encode + Send + 'static, F>(
        mut self,
        key: &'static str,
        answer: impl Fn(Q) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<A, ErrorObject>> + Send + 'static,
    {
        let handler = move |request: &Request| {
            let answer = decode(request).map(&answer);
            let answer = async move { Ok(Box::new(answer?.await?) as Box<dyn Encode + Send>) };
            Box::pin(answer) as BoxFuture<'static, Answer>
        };
        self.handlers.insert(key, RequestHandler::Async(Arc::new(handler)));
        self
    }

    /// Calls `callback` with the method and params of each notification from the server.
    ///
    /// Notifications arrive in order and one at a time. Log messages are included; changes reported
    /// by a [`Subscription`](crate::Subscription) are not.
    ///
    /// `callback` runs on a separate thread and may block. Each connection queues up to 1,024
    /// notifications, with up to 32 MiB of params in total.
    ///
    /// While the queue is full, the connection reads no messages. If `callback` waits for the
    /// result of a call during that time, the call may time out.
    pub fn on_notification(
        mut self,
        callback: impl FnMut(&str, Option<&Raw>) + Send + 'static,
    ) -> Self {
        self.on_notification = Some(Arc::new(Mutex::new(callback)));
        self
    }

    /// Calls `callback` for every protocol violation by the server.
    ///
    /// `callback` may block. For one connection, this callback and that of
    /// [`on_notification`](Self::on_notification) never run concurrently.
    pub fn on_violation(
        mut self,
        callback: impl Fn(&mcp_proto::Violation) + Send + Sync + 'static,
    ) -> Self {
        self.on_violation = Some(Arc::new(callback));
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

    /// Adds message contents to the `tracing` output, at level `TRACE`.
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
    #[cfg(feature = "record")]
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

    /// Starts a server process and connects to its stdin and stdout.
    ///
    /// `runtime` reads, writes and runs timers. The `spawn` methods of adapters call this method.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Io`] if the server cannot be started;
    /// - [`Error::Start`] if the connection cannot be opened. This error contains the last lines
    ///   that the server wrote to stderr.
    pub async fn spawn_on(
        self,
        runtime: Arc<dyn Runtime>,
        command: Command,
    ) -> Result<Connection, Error> {
        let (connection, machine) = self.into_config();
        Connector::to_child(command, connection, machine, runtime).connect().await
    }

    /// Connects to a server over HTTP.
    ///
    /// `runtime` opens the sockets. The `connect_http` methods of adapters call this method.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Start`] if the connection cannot be opened;
    /// - [`Error::Io`] if credentials would be sent unencrypted (see
    ///   [`Remote::allow_plain_credentials`](crate::http::Remote::allow_plain_credentials)), if TLS
    ///   cannot be configured for the host, if the operating system returns no random bytes, or if
    ///   `runtime` cannot spawn futures.
    #[cfg(feature = "http")]
    pub async fn open_http(
        self,
        runtime: Arc<dyn crate::http::Dial>,
        remote: crate::http::Remote,
    ) -> Result<Connection, Error> {
        let (connection, machine) = self.into_config();
        Connector::to_remote(remote, connection, machine, runtime).connect().await
    }

    /// Creates a connection over a pair of byte streams.
    ///
    /// The adapter must drive the connection with the returned [`DriverHandle`] and await the
    /// [`Connecting`] value.
    ///
    /// # Errors
    /// Currently never fails.
    pub fn open_on(
        self,
        runtime: &Arc<dyn Spawn>,
    ) -> io::Result<(Connecting, DriverHandle<Machine>)> {
        let (connection, machine) = self.into_config();
        connection.open(machine, runtime)
    }

    /// Sets the maximum number of threads in the pool that handles requests from the server.
    /// Default: 512, minimum: 1.
    ///
    /// Requests beyond the maximum wait. A thread costs about 20 KiB of memory, plus the memory
    /// that its handler needs. Handlers that keep running after their cancellation may occupy up to
    /// this many additional threads.
    pub fn threads_max(mut self, threads_max: usize) -> Self {
        self.threads_max = threads_max;
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
        Stdio::new(Machine::new(began, self.config.clone()))
    }

    fn into_config(self) -> (ConnectionConfig, Config) {
        let connection = ConnectionConfig {
            limits: self.limits,
            handlers: Arc::new(self.handlers),
            on_notification: self.on_notification,
            on_violation: self.on_violation,
            threads: handler_threads(self.threads_max),
            callbacks: CallbackThreads::default(),
            pipe_bytes: self.pipe_bytes,
            trace_payloads: self.trace_payloads,
            recorder: self.recorder,
        };
        (connection, self.config)
    }
}

fn decode<Q: Decode>(request: &Request) -> Result<Q, ErrorObject> {
    request.decode().map_err(|error| ErrorObject::invalid_params(error.to_string()))
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
