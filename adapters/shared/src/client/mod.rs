//! The builder of clients, and their connections.

pub(crate) mod call;
pub(crate) mod connect;
pub(crate) mod connection;
pub(crate) mod connector;
pub(crate) mod events;
mod notification_queue;
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
use crate::exec::workers::{Spawn, handler_threads};
use crate::recorder::Recorder;
use crate::transport::shutdown::DriverHandle;

/// A [client](https://modelcontextprotocol.io/specification/2025-11-25/client): the builder of its
/// configuration, which an adapter then connects.
///
/// A client declares the capabilities that it has handlers for.
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
    /// Creates a client without handlers.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            limits: Limits::default(),
            handlers: HashMap::new(),
            on_notification: None,
            on_violation: None,
            threads_max: 16,
            pipe_bytes: None,
            trace_payloads: false,
            recorder: Recorder::default(),
        }
    }

    /// Answers form
    /// [elicitations](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation)
    /// with `answer`, which shows the form to the user.
    ///
    /// A [`Form`](mcp_proto::schema::Form) can fill in its own defaults and check an answer.
    // CAP-02: the handler declares the capability.
    pub fn on_elicitation(
        self,
        answer: impl Fn(Elicit) -> ElicitResult + Send + Sync + 'static,
    ) -> Self {
        self.declare(Capability::ElicitationForm).handle(FORM, move |form: Elicit| Ok(answer(form)))
    }

    /// Answers URL elicitations (since 2025-11-25) with `answer`, which sends the user to the URL.
    /// It must show the full URL and open it only with the user's consent.
    // SEC-07: no URL is opened without consent.
    pub fn on_url_elicitation(
        self,
        answer: impl Fn(ElicitUrl) -> ElicitResult + Send + Sync + 'static,
    ) -> Self {
        self.declare(Capability::ElicitationUrl).handle(URL, move |url: ElicitUrl| Ok(answer(url)))
    }

    /// Like [`on_elicitation`](Self::on_elicitation), with a future that runs on the runtime. The
    /// future is dropped once the request is cancelled or the connection has ended, as are those of
    /// the other asynchronous handlers.
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

    /// Like [`on_url_elicitation`](Self::on_url_elicitation), with a future that runs on the
    /// runtime.
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

    /// Answers [sampling](https://modelcontextprotocol.io/specification/2025-11-25/client/sampling)
    /// requests with `sample`, which asks a model. An error refuses the request.
    pub fn on_sampling(
        self,
        sample: impl Fn(CreateMessage) -> Result<CreateMessageResult, ErrorObject>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.declare(Capability::Sampling).handle("sampling/createMessage", sample)
    }

    /// Like [`on_sampling`](Self::on_sampling), with a future that runs on the runtime.
    pub fn on_sampling_async<F>(
        self,
        sample: impl Fn(CreateMessage) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.declare(Capability::Sampling).handle_async("sampling/createMessage", sample)
    }

    /// Answers requests for the list of
    /// [roots](https://modelcontextprotocol.io/specification/2025-11-25/client/roots) with `roots`.
    pub fn on_roots(self, roots: impl Fn() -> Vec<Root> + Send + Sync + 'static) -> Self {
        let answer = move |_: ListRoots| Ok(ListRootsResult::new(roots()));
        self.declare(Capability::Roots).handle("roots/list", answer)
    }

    /// Declares another capability, such as sampling with tools.
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

    /// Passes the method and params of each notification of the server to `callback`, in order and
    /// one at a time. Log messages are included; changes reported by a
    /// [`Subscription`](crate::Subscription) are not.
    ///
    /// Up to 1,024 notifications are queued while `callback` runs. Then the connection stops
    /// reading, so `callback` must not wait for a call.
    pub fn on_notification(
        mut self,
        callback: impl FnMut(&str, Option<&Raw>) + Send + 'static,
    ) -> Self {
        self.on_notification = Some(Arc::new(Mutex::new(callback)));
        self
    }

    /// Calls `callback` for every protocol violation of the server. It must not wait for the
    /// connection.
    pub fn on_violation(
        mut self,
        callback: impl Fn(&mcp_proto::Violation) + Send + Sync + 'static,
    ) -> Self {
        self.on_violation = Some(Arc::new(callback));
        self
    }

    /// Restricts the protocol revisions.
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.config = self.config.revisions(revisions);
        self
    }

    /// Expects a server of this era, for example the era of the previous connection. A legacy
    /// server is then not probed first, which saves a round trip. A wrong expectation is detected.
    // LIF-31: the cached era is a hint only.
    pub fn expect_era(mut self, era: Era) -> Self {
        self.config = self.config.expect_era(era);
        self
    }

    /// Accepts a response to `initialize` that names a modern revision, and continues in that
    /// revision. By default, connecting to such a server fails.
    // T-31: a deviation from the specification, so it is opt-in.
    pub fn accept_modern_initialize(mut self) -> Self {
        self.config = self.config.accept_modern_initialize();
        self
    }

    /// Enlarges the pipes to and from a server started by `spawn` to at least `bytes`. Off by
    /// default: the system decides, 64 KiB on Linux.
    ///
    /// Larger pipes save context switches when messages are large; 512 KiB is a good choice then.
    /// On Linux and Android only, and within the limits of the system (see `pipe(7)`): the total of
    /// all pipes of a user is bounded, so small clients should keep the default.
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
    ///
    /// `open` returns the writer of a recording, once for each connection. A client that restarts
    /// its server, because of its era or by [`reconnect`](crate::Connection::reconnect), opens
    /// several connections.
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
        self.limits = limits.clone();
        self.config = self.config.limits(limits);
        self
    }

    /// Starts a server and connects to its stdin and stdout; `runtime` drives the connection. Used
    /// by the `spawn` methods of adapters.
    ///
    /// # Errors
    /// [`Error::Io`] if the server cannot be started; [`Error::Start`], with its latest stderr
    /// lines, if the connection cannot be opened.
    pub async fn spawn_on(
        self,
        runtime: Arc<dyn Runtime>,
        command: Command,
    ) -> Result<Connection, Error> {
        let (connection, machine) = self.into_config();
        Connector::to_child(command, connection, machine, runtime).connect().await
    }

    /// Connects to a server over HTTP; `runtime` opens the sockets. Used by the `connect_http`
    /// methods of adapters.
    ///
    /// # Errors
    /// [`Error::Start`] if the connection cannot be opened.
    #[cfg(feature = "http")]
    pub async fn open_http(
        self,
        runtime: Arc<dyn crate::http::Dial>,
        remote: crate::http::Remote,
    ) -> Result<Connection, Error> {
        let (connection, machine) = self.into_config();
        Connector::to_remote(remote, connection, machine, runtime).connect().await
    }

    /// Creates a connection over a pair of byte streams, to be driven and awaited by the adapter.
    ///
    /// # Errors
    /// If the runtime cannot run futures.
    pub fn open_on(
        self,
        runtime: &Arc<dyn Spawn>,
    ) -> io::Result<(Connecting, DriverHandle<Machine>)> {
        let (connection, machine) = self.into_config();
        connection.open(machine, runtime)
    }

    /// Creates the protocol machine of the first connection over a byte stream, with `began` as its
    /// start time, to replay a recording or to be driven by hand. The machines of later connections
    /// differ: they expect an era, see [`expect_era`](Self::expect_era).
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
