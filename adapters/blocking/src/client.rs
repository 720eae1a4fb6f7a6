//! Clients that are being put together: what they declare, what they answer, and how they connect.

use std::collections::HashMap;
use std::fmt;
use std::io::{Read, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};

use mcp_proto::client::Config;
use mcp_proto::schema::{
    CreateMessage, CreateMessageResult, Decode, Elicit, ElicitResult, ElicitUrl, Encode, ListRoots,
    ListRootsResult, Root,
};
use mcp_proto::{Capability, Era, ErrorObject, Limits, Raw, Request, Revision};

use crate::answering::{FORM, Handler, Notified, URL, ViolationHandler};
use crate::connection::Connection;
use crate::error::Error;
use crate::opening::{Origin, Recipe};

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

    /// Has `hear` hear of the server's notifications, log messages among them, in order, on one thread. Changes that
    /// a [`Listening`](crate::Listening) is told of are not among them.
    ///
    /// While it is busy, up to 1,024 wait; then nothing more is read, so it must not wait for a call.
    pub fn on_notification(mut self, hear: impl FnMut(&str, Option<&Raw>) + Send + 'static) -> Self {
        self.notified = Some(Arc::new(Mutex::new(hear)));
        self
    }

    /// Has `hear` hear of the rules that the server breaks. It must not wait for the connection.
    pub fn on_violation(mut self, hear: impl Fn(&mcp_proto::Violation) + Send + Sync + 'static) -> Self {
        self.on_violation = Some(Arc::new(hear));
        self
    }

    /// Speaks these revisions only.
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.config = self.config.revisions(revisions);
        self
    }

    /// Expects a server of this era, as it was the last time: one of the legacy era is not asked first which it is
    /// of. If it is of the other after all, that is found out. (LIF-31)
    pub fn expect(mut self, era: Era) -> Self {
        self.config = self.config.expect(era);
        self
    }

    /// The bounds of the connection.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits.clone();
        self.config = self.config.limits(limits);
        self
    }

    /// Starts a server and connects to its stdin and stdout; waits until it has said who it is.
    ///
    /// The server runs in a process group of its own. It is ended with the connection: its stdin is closed, then
    /// it is told to terminate, then it is killed, along with whatever it started.
    ///
    /// The first message asks which era the server is of. One that ends instead of answering is started a second
    /// time, and gets `initialize` at once. (T-36)
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be started; [`Error::Start`], with its last words, when no session opens.
    pub fn spawn(self, command: Command) -> Result<Connection, Error> {
        let (recipe, config) = self.into_recipe();
        Origin::new(command, recipe, config).spawn()
    }

    /// Connects over a pair of byte streams; waits until the server has said who it is.
    ///
    /// The writer is dropped at the end, which must tell the server. A bare `TcpStream` or `UnixStream` is shut down
    /// besides, so the reader may be a clone of it.
    ///
    /// # Errors
    /// [`Error::Start`] when no session opens. A server that hung up when it was asked which era it is of may be an
    /// old one: the error says so, and [`expect`](Self::expect) leaves the question out.
    pub fn connect(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Connection, Error> {
        let (recipe, config) = self.into_recipe();
        recipe.connect(config, reader, writer)
    }

    fn into_recipe(self) -> (Recipe, Config) {
        let recipe = Recipe {
            limits: self.limits,
            handlers: Arc::new(self.handlers),
            notified: self.notified,
            on_violation: self.on_violation,
            threads_max: self.threads_max,
        };
        (recipe, self.config)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
