//! Clients that are being put together: what they declare, what they answer, and how they connect.

pub(crate) mod call;
pub(crate) mod connect;
pub(crate) mod connection;
pub(crate) mod connector;
pub(crate) mod events;
pub(crate) mod listening;
pub(crate) mod notification_queue;

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
use crate::client::connect::Opening;
use crate::client::connection::Connection;
use crate::client::connector::{Origin, Recipe, Runtime};
use crate::client::events::{Answer, FORM, Handler, Notified, URL, ViolationHandler};
use crate::error::Error;
use crate::exec::workers::{Spawn, threads};
use crate::recorder::Tapes;
use crate::transport::shutdown::Driving;

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
    payloads: bool,
    tapes: Tapes,
}

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
            payloads: false,
            tapes: Tapes::default(),
        }
    }

    /// Has `answer` fill in the forms that servers show to the user. (CAP-02)
    ///
    /// A [`Form`](mcp_proto::schema::Form) can fill in its own defaults and check an answer.
    pub fn on_elicitation(
        self,
        answer: impl Fn(Elicit) -> ElicitResult + Send + Sync + 'static,
    ) -> Self {
        self.declare(Capability::ElicitationForm).handle(FORM, move |form: Elicit| Ok(answer(form)))
    }

    /// Has `answer` send the user where servers want them to go. The URL is to be shown in full and
    /// opened only with consent. (since 2025-11-25, SEC-07)
    pub fn on_url_elicitation(
        self,
        answer: impl Fn(ElicitUrl) -> ElicitResult + Send + Sync + 'static,
    ) -> Self {
        self.declare(Capability::ElicitationUrl).handle(URL, move |url: ElicitUrl| Ok(answer(url)))
    }

    /// As [`on_elicitation`](Self::on_elicitation), with a future that the runtime runs. It is
    /// dropped once the question is no longer open, or the connection has ended; so are those
    /// of the other questions.
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

    /// As [`on_url_elicitation`](Self::on_url_elicitation), with a future that the runtime runs.
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

    /// Has `sample` ask a model for what servers ask of it. An error says that it will not.
    pub fn on_sampling(
        self,
        sample: impl Fn(CreateMessage) -> Result<CreateMessageResult, ErrorObject>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.declare(Capability::Sampling).handle("sampling/createMessage", sample)
    }

    /// As [`on_sampling`](Self::on_sampling), with a future that the runtime runs.
    pub fn on_sampling_async<F>(
        self,
        sample: impl Fn(CreateMessage) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.declare(Capability::Sampling).handle_async("sampling/createMessage", sample)
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

    fn handle<Q: Decode, A: Encode + Send + 'static>(
        mut self,
        key: &'static str,
        answer: impl Fn(Q) -> Result<A, ErrorObject> + Send + Sync + 'static,
    ) -> Self {
        let handler = move |request: &Request| {
            Ok(Box::new(answer(decode(request)?)?) as Box<dyn Encode + Send>)
        };
        self.handlers.insert(key, Handler::Plain(Arc::new(handler)));
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
        self.handlers.insert(key, Handler::Future(Arc::new(handler)));
        self
    }

    /// Has `hear` hear of the server's notifications, log messages among them, in order, on one
    /// thread. Changes that a [`Listening`](crate::Listening) is told of are not among them.
    ///
    /// While it is busy, up to 1,024 wait; then nothing more is read, so it must not wait for a
    /// call.
    pub fn on_notification(
        mut self,
        hear: impl FnMut(&str, Option<&Raw>) + Send + 'static,
    ) -> Self {
        self.notified = Some(Arc::new(Mutex::new(hear)));
        self
    }

    /// Has `hear` hear of the rules that the server breaks. It must not wait for the connection.
    pub fn on_violation(
        mut self,
        hear: impl Fn(&mcp_proto::Violation) + Send + Sync + 'static,
    ) -> Self {
        self.on_violation = Some(Arc::new(hear));
        self
    }

    /// Speaks these revisions only.
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.config = self.config.revisions(revisions);
        self
    }

    /// Expects a server of this era, as it was the last time: one of the legacy era is not asked
    /// first which it is of. If it is of the other after all, that is found out. (LIF-31)
    pub fn expect(mut self, era: Era) -> Self {
        self.config = self.config.expect(era);
        self
    }

    /// Takes an answer to `initialize` that names a revision without sessions, and goes on in that
    /// one. Without it, such a server cannot be spoken to. (T-31)
    pub fn take_modern_welcome(mut self) -> Self {
        self.config = self.config.take_modern_welcome();
        self
    }

    /// Has `tracing` told, at its level `TRACE`, what is sent and received, which may be anybody's
    /// secrets. Without it, only how much.
    #[cfg(feature = "tracing")]
    pub fn trace_payloads(mut self) -> Self {
        self.payloads = true;
        self
    }

    /// Records each connection over a byte stream, for [`Recording`](mcp_proto::record::Recording)
    /// to print and to replay: what comes in and goes out, and what is done here, each with its
    /// time. `make` makes what a recording is written to, once for each connection. A client
    /// that starts its server once more, because that is of another era or on
    /// [`reconnect`](crate::Connection::reconnect), has one connection after another.
    ///
    /// **A recording holds all that is said, secrets included**: keep it as you would keep those.
    /// Connections over HTTP are not recorded.
    ///
    /// It is written through a buffer, which is flushed when the connection ends; a program that is
    /// killed loses up to 64 KiB of it. The connection waits for what is written to, which must
    /// not wait for the connection. Where that fails or panics, the recording ends and the
    /// connection goes on; with the feature `tracing`, that is told once.
    ///
    /// To replay a recording takes a machine of the same configuration: [`machine`](Self::machine)
    /// makes it.
    #[cfg(feature = "record")]
    pub fn record<W: io::Write + Send + 'static>(
        mut self,
        make: impl Fn() -> io::Result<W> + Send + Sync + 'static,
    ) -> Self {
        self.tapes = Tapes::new(make);
        self
    }

    /// The bounds of the connection.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits.clone();
        self.config = self.config.limits(limits);
        self
    }

    /// Starts a server and connects to its stdin and stdout, with `runtime` driving the connection:
    /// what adapters call `spawn`.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be started; [`Error::Start`], with its last words, when no
    /// session opens.
    pub async fn spawn_on(
        self,
        runtime: Arc<dyn Runtime>,
        command: Command,
    ) -> Result<Connection, Error> {
        let (recipe, config) = self.into_recipe();
        Origin::of_child(command, recipe, config, runtime).connect().await
    }

    /// Connects to a server over HTTP, with `runtime` opening the connections: what adapters call
    /// `connect_http`.
    ///
    /// # Errors
    /// [`Error::Start`] when no session opens.
    #[cfg(feature = "http")]
    pub async fn open_http(
        self,
        runtime: Arc<dyn crate::http::Dial>,
        remote: crate::http::Remote,
    ) -> Result<Connection, Error> {
        let (recipe, config) = self.into_recipe();
        Origin::of_remote(remote, recipe, config, runtime).connect().await
    }

    /// A connection over streams that the adapter has: it drives it, and waits for it to be open.
    ///
    /// # Errors
    /// When nothing can be run.
    pub fn open_on(self, runtime: &Arc<dyn Spawn>) -> io::Result<(Opening, Driving<Machine>)> {
        let (recipe, config) = self.into_recipe();
        recipe.open(config, runtime)
    }

    /// The machine of the first connection over a byte stream, made at `began`: as it is before the
    /// first byte, to replay what was recorded of it, or to be driven by hand. Those that
    /// follow on it expect an era: see [`expect`](Self::expect).
    #[must_use]
    pub fn machine(&self, began: Instant) -> Stdio<Machine> {
        Stdio::new(Machine::new(began, self.config.clone()))
    }

    pub(crate) fn into_recipe(self) -> (Recipe, Config) {
        let recipe = Recipe {
            limits: self.limits,
            handlers: Arc::new(self.handlers),
            notified: self.notified,
            on_violation: self.on_violation,
            threads: threads(self.threads_max),
            payloads: self.payloads,
            tapes: self.tapes,
        };
        (recipe, self.config)
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
