//! The server's half of the protocol, as an application sees it.

mod summary;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use crate::command::server::Command;
use crate::command::{Applied, Apply, OwnedCommand};
use crate::connection::{
    self, CallError, CallId, CallOptions, Change, Close, Connection, Context, Identity, IncomingId,
    MetaWriter, Peer, Progress, Question, Request, Violation, ViolationPolicy,
    session_over_connection,
};
use crate::error::Misuse;
use crate::json::Raw;
use crate::limits::Limits;
use crate::method::Method;
use crate::revision::{Revision, Side};
use crate::rpc::ErrorObject;
use crate::schema::{Capabilities, Encode, Implementation, Level, ServerRequest};
use crate::time::Instant;

/// What a server is.
///
/// ```
/// use mcp_proto::server::Config;
/// use mcp_proto::Capability;
///
/// let config = Config::new("weather", "1.0.0").capability(Capability::Tools).instructions("Ask for a city.");
/// ```
///
/// Cheap to clone: all connections share one copy of the configuration.
#[derive(Clone, Debug)]
pub struct Config {
    identity: Arc<Identity>,
    /// Derived from the identity, for the messages of all connections.
    meta: Arc<MetaWriter>,
}

impl Config {
    /// A server that speaks every revision, and offers nothing.
    pub fn new(name: &str, version: &str) -> Self {
        let identity = Identity {
            info: Implementation::new(name, version),
            capabilities: Capabilities::none(),
            instructions: None,
            revisions: Revision::ALL.to_vec(),
            served_methods: Vec::new(),
            limits: Limits::default(),
            policy: ViolationPolicy::Reply,
            accepts_modern_initialize_result: false,
            expected_era: None,
            sends_info: true,
        };
        let meta = MetaWriter::of(&identity, Side::Server);
        Self { identity: Arc::new(identity), meta: Arc::new(meta) }
    }

    fn with(mut self, change: impl FnOnce(&mut Identity)) -> Self {
        change(Arc::make_mut(&mut self.identity));
        self.meta = Arc::new(MetaWriter::of(&self.identity, Side::Server));
        self
    }

    /// Who to say we are, in place of the name and version.
    #[must_use]
    pub fn info(self, info: Implementation) -> Self {
        self.with(|identity| identity.info = info)
    }

    /// Offers this: requests for it are delivered instead of refused. (CAP-01)
    #[must_use]
    pub fn capability(self, capability: crate::Capability) -> Self {
        self.with(|identity| {
            let capabilities = core::mem::replace(&mut identity.capabilities, Capabilities::none());
            identity.capabilities = capabilities.with(capability);
        })
    }

    /// Offers these capabilities in place of those offered so far.
    #[must_use]
    pub fn capabilities(self, capabilities: Capabilities) -> Self {
        self.with(|identity| identity.capabilities = capabilities)
    }

    /// What a model should know before it uses the server.
    #[must_use]
    pub fn instructions(self, instructions: &str) -> Self {
        self.with(|identity| identity.instructions = Some(instructions.into()))
    }

    /// Speaks these revisions only.
    #[must_use]
    pub fn revisions(self, revisions: &[Revision]) -> Self {
        self.with(|identity| {
            identity.revisions = revisions.to_vec();
            identity.revisions.sort_unstable();
        })
    }

    /// Has clients' requests of a method that no revision knows delivered instead of refused.
    #[must_use]
    pub fn serve(self, method: &str) -> Self {
        self.with(|identity| identity.served_methods.push(method.into()))
    }

    /// The bounds of the connection.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|identity| identity.limits = limits)
    }

    /// What to do about violations; by default they are answered where that helps, and reported.
    #[must_use]
    pub fn on_violation(self, policy: ViolationPolicy) -> Self {
        self.with(|identity| identity.policy = policy)
    }

    /// Returns the revisions that the server speaks, oldest first.
    #[must_use]
    pub fn spoken(&self) -> &[Revision] {
        &self.identity.revisions
    }

    /// Returns the methods that are served although no revision has them.
    pub fn also_served(&self) -> impl Iterator<Item = &str> {
        self.identity.served_methods.iter().map(|method| &**method)
    }

    /// Returns the bounds of the connection.
    #[must_use]
    pub fn bounds(&self) -> &Limits {
        &self.identity.limits
    }
}

/// A server's connection: the session, without framing.
///
/// Its methods come in the same four kinds as those of [`Client`](crate::client::Client). Pings,
/// `initialize` and `logging/setLevel` are answered here; what the tables of the revision in force
/// do not know, or what was not offered, is refused here. Over a byte stream, wrap it in
/// [`Stdio`](crate::stdio::Stdio).
///
/// ```
/// use mcp_proto::server::{Config, Event, Server};
/// use mcp_proto::schema::CallToolResult;
/// use mcp_proto::{Capability, Instant, Session, StreamId};
///
/// let now = Instant::ZERO;
/// let mut server = Server::new(now, Config::new("weather", "1.0.0").capability(Capability::Tools));
/// let mut tell = |server: &mut Server, text: &str| server.handle_message(now, StreamId::ONLY, text.as_bytes());
/// tell(&mut server, r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",
///     "capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#);
/// tell(&mut server, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
/// assert!(matches!(server.poll_event(), Some(Event::Ready(_))));
/// tell(&mut server, r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"today"}}"#);
///
/// let Some(Event::Request { incoming, request, .. }) = server.poll_event() else { panic!() };
/// assert_eq!(request.method, "tools/call");
/// server.respond(now, incoming, &CallToolResult::text("sunny")).unwrap();
/// server.poll_outgoing(); // the answer to initialize
/// let answer = server.poll_outgoing().unwrap().body;
/// assert_eq!(answer, br#"{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"sunny"}]}}"#);
/// ```
#[derive(Debug)]
pub struct Server {
    connection: Connection,
}

impl Server {
    /// A server that waits for a client's first message.
    #[must_use]
    pub fn new(now: Instant, config: Config) -> Self {
        Self { connection: Connection::new(Side::Server, now, config.identity, config.meta) }
    }

    /// The client of the session, once there is one. Requests bring who makes them in their
    /// [`Context`].
    #[must_use]
    pub fn peer(&self) -> Option<&Arc<Peer>> {
        self.connection.peer()
    }

    /// Why the connection is over, once it is: known before [`Event::Closed`] is polled.
    #[must_use]
    pub fn closed(&self) -> Option<&Close> {
        self.connection.closed()
    }

    /// The least grave log message that the client wants, once it has said so. (LOG-02)
    #[must_use]
    pub fn log_level(&self) -> Option<Level> {
        self.connection.log_level()
    }

    /// Applies a command. Every method that commands the server builds one and calls this.
    ///
    /// # Errors
    /// [`Misuse`], and nothing was changed or sent.
    #[expect(
        clippy::inline_always,
        reason = "each method folds the match to one arm: 2 % of a response"
    )]
    #[inline(always)]
    pub fn apply(&mut self, now: Instant, command: Command<'_>) -> Result<Applied, Misuse> {
        let connection = &mut self.connection;
        match command {
            Command::Call { method, params, options } => {
                let params = |revision, out: &mut Vec<u8>| params.encode(revision, out);
                connection.call(now, method, &params, &options).map(Applied::Call)
            }
            Command::Cancel { call, reason } => {
                connection.cancel(now, call, reason).map(Applied::done)
            }
            Command::Changed { change } => connection.changed(now, change).map(Applied::done),
            Command::Close => {
                connection.close(now);
                Ok(Applied::Done)
            }
            Command::EndStream { incoming } => {
                connection.end_stream(now, incoming).map(Applied::done)
            }
            Command::Log { incoming, level, logger, data } => {
                connection.log(now, incoming, level, logger, data).map(Applied::done)
            }
            Command::Notify { method, params } => {
                let params = |revision, out: &mut Vec<u8>| params.encode(revision, out);
                connection.notify(now, method, &params).map(Applied::done)
            }
            Command::Progress { incoming, progress } => {
                connection.progress(now, incoming, progress).map(Applied::done)
            }
            Command::RefuseUndeclared { incoming, questions } => {
                connection.refuse_undeclared(now, incoming, &questions).map(Applied::done)
            }
            Command::RequestInput { incoming, questions, state } => {
                connection.request_input(now, incoming, &questions, state).map(Applied::done)
            }
            Command::Respond { incoming, result } => {
                let result = |revision, out: &mut Vec<u8>| result.encode(revision, out);
                connection.respond(now, incoming, &result).map(Applied::done)
            }
            Command::RespondError { incoming, error } => {
                connection.respond_error(now, incoming, error).map(Applied::done)
            }
        }
    }

    /// Answers a request with a result, which must be an object.
    ///
    /// # Errors
    /// [`Misuse::Stale`] when it was answered or cancelled; [`Misuse::Unencodable`], and it is
    /// still open.
    pub fn respond(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        result: &dyn Encode,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::respond(incoming, result)).map(Applied::into_done)
    }

    /// Answers a request with an error.
    ///
    /// # Errors
    /// [`Misuse::Stale`] when it was answered or cancelled.
    pub fn respond_error(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        error: &ErrorObject,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::RespondError { incoming, error }).map(Applied::into_done)
    }

    /// Answers a request with questions: it is over for the application, and comes again as a new
    /// [`Event::Request`] with the answers and with `state` in its [`Context`].
    ///
    /// If the client cannot answer, the request fails for it and does not come again.
    ///
    /// # Errors
    /// [`Misuse::Unsupported`] for a method that cannot ask: `tools/call`, `resources/read` and
    /// `prompts/get` can. [`Misuse::Undeclared`] when the client did not declare what answering
    /// takes. [`Misuse::Blocked`] for more questions or rounds than allowed. The request is
    /// still open then.
    pub fn request_input(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, Question)],
        state: Option<&str>,
    ) -> Result<(), Misuse> {
        let questions = questions.into();
        self.apply(now, Command::RequestInput { incoming, questions, state })
            .map(Applied::into_done)
    }

    /// Refuses a request that would have to ask what its client did not declare: after
    /// [`request_input`](Self::request_input) failed with [`Misuse::Undeclared`]. The error says
    /// what is missing. (CAP-15)
    ///
    /// # Errors
    /// [`Misuse::Stale`] when it was answered or cancelled; [`Misuse::Unencodable`] when a question
    /// cannot be written.
    pub fn refuse_undeclared(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, Question)],
    ) -> Result<(), Misuse> {
        let questions = questions.into();
        self.apply(now, Command::RefuseUndeclared { incoming, questions }).map(Applied::into_done)
    }

    /// Tells every client that listens that something changed; nobody listening is fine. (CAP-12)
    ///
    /// # Errors
    /// [`Misuse::Undeclared`] when such changes were not declared, [`Misuse::Blocked`] when too
    /// much waits to be sent; nobody was told then.
    pub fn changed(&mut self, now: Instant, change: Change<'_>) -> Result<(), Misuse> {
        self.apply(now, Command::Changed { change }).map(Applied::into_done)
    }

    /// Tells the client how far its request has come, if it wants to hear of it. While the client
    /// does not read, the latest progress of each request is kept and the rest is left out.
    ///
    /// # Errors
    /// [`Misuse::Stale`] when it was answered or cancelled, [`Misuse::Unencodable`] when the number
    /// does not grow.
    pub fn progress(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        progress: &Progress,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::Progress { incoming, progress }).map(Applied::into_done)
    }

    /// Sends a log message, for a request or for none, unless the client does not want it: it may
    /// have asked for graver ones only; and one that makes requests without a session hears
    /// only of requests that ask for messages. (LOG-01…07)
    ///
    /// # Errors
    /// [`Misuse`], and nothing was sent.
    pub fn log(
        &mut self,
        now: Instant,
        incoming: Option<IncomingId>,
        level: Level,
        logger: Option<&str>,
        data: &Raw,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::Log { incoming, level, logger, data }).map(Applied::into_done)
    }

    /// Calls a method of the client. The answer comes as [`Event::Completed`], exactly once.
    ///
    /// Only clients of revisions up to 2025-11-25 can be called;
    /// [`request_input`](Self::request_input) asks every client.
    ///
    /// # Errors
    /// [`Misuse`], and nothing was sent.
    pub fn call<R: ServerRequest>(
        &mut self,
        now: Instant,
        request: &R,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.apply(now, Command::call(request, options)).and_then(Applied::into_call)
    }

    /// Calls a method of the client by name.
    ///
    /// # Errors
    /// [`Misuse`], and nothing was sent.
    pub fn call_raw(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&dyn Encode>,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        let params = params.into();
        self.apply(now, Command::Call { method, params, options }).and_then(Applied::into_call)
    }

    /// Cancels a call: the client is told, and the call completes with [`CallError::Cancelled`] at
    /// once.
    ///
    /// # Errors
    /// [`Misuse::Stale`] when the call is over.
    pub fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse> {
        self.apply(now, Command::Cancel { call, reason }).map(Applied::into_done)
    }

    /// Sends a notification by name.
    ///
    /// # Errors
    /// [`Misuse`], and nothing was sent.
    pub fn notify_raw(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&dyn Encode>,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::Notify { method, params: params.into() }).map(Applied::into_done)
    }

    /// Over HTTP, closes the response on which the answer to a request would come: the client
    /// fetches it over another one, after the time that it was told. Where that cannot be,
    /// nothing happens. (HTTP-15)
    ///
    /// # Errors
    /// [`Misuse::Stale`] when it was answered or cancelled.
    pub fn hang_up(&mut self, now: Instant, incoming: IncomingId) -> Result<(), Misuse> {
        self.apply(now, Command::EndStream { incoming }).map(Applied::into_done)
    }

    /// Ends the connection: requests may be answered for [`Limits::drain_timeout`] more, then comes
    /// [`Event::Closed`]. With nothing open, it comes at once.
    pub fn close(&mut self, now: Instant) {
        let _done = self.apply(now, Command::Close);
    }
}

session_over_connection!(Server, Event, Event::from_connection);

impl Apply for Server {
    const SIDE: Side = Side::Server;

    type Command<'a> = Command<'a>;

    fn apply(&mut self, now: Instant, command: Command<'_>) -> Result<Applied, Misuse> {
        self.apply(now, command)
    }

    fn to_owned_command(&self, command: Command<'_>) -> OwnedCommand {
        let revision = self.connection.revision_for(command.incoming());
        command.into_owned(revision)
    }

    fn peer(&self) -> Option<&Arc<Peer>> {
        self.peer()
    }
}

impl Event {
    fn from_connection(event: connection::Event) -> Option<Self> {
        Some(match event {
            connection::Event::Closed(why) => Self::Closed(why),
            connection::Event::Completed { call, outcome } => Self::Completed { call, outcome },
            connection::Event::Notification { method, params, .. } => {
                Self::Notification { method, params }
            }
            connection::Event::Progress { call, progress } => Self::Progress { call, progress },
            connection::Event::Ready(peer) => Self::Ready(peer),
            connection::Event::Request { incoming, request, context, .. } => {
                Self::Request { incoming, request, context }
            }
            connection::Event::RequestCancelled { incoming, reason } => Self::RequestCancelled {
                incoming,
                reason: reason.and_then(|reason| reason.to_text().map(Into::into)),
            },
            connection::Event::Violation(violation) => Self::Violation(violation),
            connection::Event::Unwatched { uri } => Self::Unwatched { uri },
            connection::Event::Watched { uri } => Self::Watched { uri },
            connection::Event::Listening { .. } => return None,
        })
    }
}

/// What a server's application hears, in the order in which it came about.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The connection is over. Nothing comes after it.
    Closed(Close),
    /// A call of ours has ended. Nothing comes after it for this call.
    Completed {
        /// Which one.
        call: CallId,
        /// The result, or why there is none.
        outcome: Result<Raw, CallError>,
    },
    /// The client tells of something.
    Notification {
        /// What it tells of.
        method: Method,
        /// The params, an object.
        params: Option<Raw>,
    },
    /// A call of ours has come further.
    Progress {
        /// Which one.
        call: CallId,
        /// How far.
        progress: Progress,
    },
    /// The client's session is open: it can be called and notified. Clients without sessions never
    /// cause it.
    Ready(Arc<Peer>),
    /// The client asks for something: answer it.
    Request {
        /// What to answer by.
        incoming: IncomingId,
        /// What it asks for.
        request: Request,
        /// Who asks, and what has been asked of them.
        context: Context,
    },
    /// The client no longer wants an answer; none can be given.
    RequestCancelled {
        /// To which request.
        incoming: IncomingId,
        /// Why, if it said so.
        reason: Option<Box<str>>,
    },
    /// Nobody listens to changes of this resource any more.
    Unwatched {
        /// Which one.
        uri: Box<str>,
    },
    /// The client broke a rule that the connection survived.
    Violation(Violation),
    /// Somebody listens to changes of this resource: tell of them with [`Server::changed`].
    Watched {
        /// Which one.
        uri: Box<str>,
    },
}
