//! The client's half of the protocol, as an application sees it.

mod summary;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use crate::command::client::Command;
use crate::command::{Applied, Apply, OwnedCommand};
use crate::connection::{
    self, CallError, CallId, CallOptions, Close, Connection, Fault, Filter, Identity, IncomingId,
    MetaWriter, Peer, Progress, Request, Violation, ViolationPolicy, session_over_connection,
};
use crate::error::Misuse;
use crate::json::Raw;
use crate::limits::Limits;
use crate::method::Method;
use crate::revision::{Era, Revision, Side};
use crate::rpc::ErrorObject;
use crate::schema::{Capabilities, ClientRequest, Encode, Implementation, Level};
use crate::time::Instant;

/// What a client is.
///
/// ```
/// use mcp_proto::client::Config;
/// use mcp_proto::{Capability, Revision};
///
/// let config = Config::new("demo", "1.0.0").capability(Capability::Roots).revisions(&[Revision::V2025_06_18]);
/// ```
#[derive(Clone, Debug)]
pub struct Config(Identity);

impl Config {
    /// A client that speaks every revision, and offers nothing.
    pub fn new(name: &str, version: &str) -> Self {
        Self(Identity {
            info: Implementation::new(name, version),
            capabilities: Capabilities::none(),
            instructions: None,
            revisions: Revision::ALL.to_vec(),
            served_methods: Vec::new(),
            limits: Limits::default(),
            policy: ViolationPolicy::Ignore,
            accepts_modern_initialize_result: false,
            expected_era: None,
            sends_info: true,
        })
    }

    /// Who to say we are, in place of the name and version.
    #[must_use]
    pub fn info(mut self, info: Implementation) -> Self {
        self.0.info = info;
        self
    }

    /// Declares that servers may ask for this. (CAP-02)
    #[must_use]
    pub fn capability(mut self, capability: crate::Capability) -> Self {
        self.0.capabilities = self.0.capabilities.with(capability);
        self
    }

    /// Declares these capabilities in place of those declared so far.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.0.capabilities = capabilities;
        self
    }

    /// Speaks these revisions only.
    #[must_use]
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.0.revisions = revisions.to_vec();
        self.0.revisions.sort_unstable();
        self
    }

    /// Expects a server of this era, as it was the last time: one of the legacy era is not asked
    /// first which it is of. If it is of the other after all, that is found out. (LIF-31)
    #[must_use]
    pub const fn expect(mut self, era: Era) -> Self {
        self.0.expected_era = Some(era);
        self
    }

    /// Takes an answer to `initialize` that names a revision without sessions, if this side speaks
    /// it, and goes on in that one; otherwise such a server is one that cannot be spoken to.
    /// Some servers answer so to whatever they are asked. (T-31)
    #[must_use]
    pub const fn take_modern_welcome(mut self) -> Self {
        self.0.accepts_modern_initialize_result = true;
        self
    }

    /// Does not tell servers the name and version with each request. A session's handshake always
    /// tells them. (STL-02)
    #[must_use]
    pub const fn without_info(mut self) -> Self {
        self.0.sends_info = false;
        self
    }

    /// Has servers' requests of a method that no revision knows delivered instead of refused.
    #[must_use]
    pub fn serve(mut self, method: &str) -> Self {
        self.0.served_methods.push(method.into());
        self
    }

    /// The bounds of the connection.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// What to do about violations; by default nothing beyond reporting them.
    #[must_use]
    pub const fn on_violation(mut self, policy: ViolationPolicy) -> Self {
        self.0.policy = policy;
        self
    }
}

/// A client's connection: the session, without framing.
///
/// Four kinds of methods:
///
/// - **what the driver brings**: [`handle_message`](crate::Session::handle_message),
///   [`handle_eof`](crate::Session::handle_eof),
///   [`handle_timeout`](crate::Session::handle_timeout), each with the time; they cannot fail;
/// - **what the application does**: [`call`](Self::call), [`notify`](Self::notify_raw),
///   [`respond`](Self::respond), [`cancel`](Self::cancel), [`close`](Self::close); they fail with
///   [`Misuse`] and then changed nothing;
/// - **what is handed over**: [`poll_event`](crate::Session::poll_event),
///   [`poll_outgoing`](crate::Session::poll_outgoing),
///   [`poll_timeout`](crate::Session::poll_timeout); in any order, as often as one likes, each in
///   O(1);
/// - **what is the case**: [`peer`](Self::peer), [`is_closed`](crate::Session::is_closed),
///   [`wants_input`](crate::Session::wants_input).
///
/// Nothing waits for a later call: whatever a call causes is there when it returns. Over a byte
/// stream, wrap it in [`Stdio`](crate::stdio::Stdio).
///
/// ```
/// use mcp_proto::client::{Client, Config, Event};
/// use mcp_proto::schema::{CallTool, CallToolResult, Decode};
/// use mcp_proto::{CallOptions, Instant, Session, StreamId};
///
/// let now = Instant::ZERO;
/// let mut client = Client::new(now, Config::new("demo", "1.0.0"));
/// assert!(client.poll_outgoing().is_some()); // server/discover
/// let server = br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],
///     "capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}"#;
/// client.handle_message(now, StreamId::ONLY, &server[..]);
/// assert!(matches!(client.poll_event(), Some(Event::Ready(_))));
///
/// let call = client.call(now, &CallTool::new("today"), CallOptions::default()).unwrap();
/// let answer = br#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"sunny"}]}}"#;
/// client.handle_message(now, StreamId::ONLY, &answer[..]);
/// let Some(Event::Completed { call: done, outcome }) = client.poll_event() else { panic!() };
/// assert_eq!(done, call);
/// let result = CallToolResult::decode(&outcome.unwrap()).unwrap();
/// assert_eq!(result.content[0].as_text(), Some("sunny"));
/// ```
#[derive(Debug)]
pub struct Client {
    connection: Connection,
}

impl Client {
    /// A client that has just connected: the question which era the server is of waits in the
    /// outbox, or `initialize`, and its deadline runs. (LIF-01, LIF-26)
    #[must_use]
    pub fn new(now: Instant, config: Config) -> Self {
        let meta = Arc::new(MetaWriter::of(&config.0, Side::Client));
        let mut connection = Connection::new(Side::Client, now, Arc::new(config.0), meta);
        connection.open();
        Self { connection }
    }

    /// The server, once it has said who it is.
    #[must_use]
    pub fn peer(&self) -> Option<&Arc<Peer>> {
        self.connection.peer()
    }

    /// Applies a command. Every method that commands the client builds one and calls this.
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
            Command::Close => {
                connection.close(now);
                Ok(Applied::Done)
            }
            Command::Listen { filter, options } => {
                connection.listen(now, filter, &options).map(Applied::Call)
            }
            Command::Notify { method, params } => {
                let params = |revision, out: &mut Vec<u8>| params.encode(revision, out);
                connection.notify(now, method, &params).map(Applied::done)
            }
            Command::Progress { incoming, progress } => {
                connection.progress(now, incoming, progress).map(Applied::done)
            }
            Command::Respond { incoming, result } => {
                let result = |revision, out: &mut Vec<u8>| result.encode(revision, out);
                connection.respond(now, incoming, &result).map(Applied::done)
            }
            Command::RespondError { incoming, error } => {
                connection.respond_error(now, incoming, error).map(Applied::done)
            }
            Command::SetLogLevel { level, options } => {
                connection.set_log_level(now, level, &options).map(Applied::Call)
            }
        }
    }

    /// Calls a method of the server. The answer comes as [`Event::Completed`], exactly once.
    ///
    /// # Errors
    /// [`Misuse`], and nothing was sent.
    pub fn call<R: ClientRequest>(
        &mut self,
        now: Instant,
        request: &R,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.apply(now, Command::call(request, options)).and_then(Applied::into_call)
    }

    /// Calls a method by name, one that no revision knows as well as any that may be sent.
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

    /// Listens to changes, for as long as the call is open: [`Event::Listening`] says of what the
    /// server will tell, [`Event::Notification`] with this call tells of it. Cancel the call to
    /// end it.
    ///
    /// In a session the resources are subscribed to a few at a time, however many there are.
    ///
    /// # Errors
    /// [`Misuse`], and nothing was sent.
    pub fn listen(
        &mut self,
        now: Instant,
        filter: &Filter,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.apply(now, Command::Listen { filter, options }).and_then(Applied::into_call)
    }

    /// Wants log messages of `level` and above. Where each request says so for itself, all from now
    /// on do, and the call is completed at once. (LOG-02, LOG-05)
    ///
    /// # Errors
    /// [`Misuse::Undeclared`] when the server sends none.
    pub fn set_log_level(
        &mut self,
        now: Instant,
        level: Level,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.apply(now, Command::SetLogLevel { level, options }).and_then(Applied::into_call)
    }

    /// What to connect with once more, when the server went away instead of saying which era it is
    /// of: some end at the first message that they do not know. `None` when that is not what
    /// happened. (T-36)
    #[must_use]
    pub fn fallback(&self) -> Option<Config> {
        self.connection.fallback().map(Config)
    }

    /// What is listened to, with the calls that do; once the connection is over, what was at its
    /// end: after a reconnection, what to listen to anew. (STL-38)
    pub fn listening(&self) -> impl Iterator<Item = (CallId, &Filter)> {
        self.connection.listening()
    }

    /// Cancels a call: the server is told, and the call completes with [`CallError::Cancelled`] at
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

    /// Why the connection is over, once it is: known before [`Event::Closed`] is polled.
    #[must_use]
    pub fn closed(&self) -> Option<&Close> {
        self.connection.closed()
    }

    /// Answers a request of the server with a result, which must be an object.
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

    /// Answers a request of the server with an error.
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

    /// Tells the server how far its request has come, if it wants to hear of it.
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

    /// Ends the connection: every open call completes with [`CallError::Lost`], then comes
    /// [`Event::Closed`].
    ///
    /// The protocol has no message for it (LIF-35): what waits in the outbox can still be sent,
    /// then the driver closes the transport.
    pub fn close(&mut self, now: Instant) {
        let _done = self.apply(now, Command::Close);
    }
}

/// What a transport does that carries each message in an exchange of its own, as HTTP does.
///
/// A request is named by its id on the wire,
/// [`OutgoingKind::Request`](crate::OutgoingKind::Request): a call that is repeated with input is
/// another request each time.
impl Client {
    /// Declares that each message travels by itself: two requests can reach two servers. To be
    /// called before the first message is taken. From then on
    /// [`drain_ended`](Self::drain_ended) reports requests that have ended.
    pub fn use_exchanges(&mut self) {
        self.connection.use_exchanges();
    }

    /// Moves the ids of requests that have ended since the last time to `ended`: their exchanges
    /// have no purpose any more.
    pub fn drain_ended(&mut self, ended: &mut Vec<u64>) {
        self.connection.drain_ended(ended);
    }

    /// Returns whether the server owes an answer to the request `id`.
    #[must_use]
    pub fn is_in_flight(&self, id: u64) -> bool {
        self.connection.is_in_flight(id)
    }

    /// Returns the application's call that the request `id` belongs to, if it made it.
    #[must_use]
    pub fn call_of(&self, id: u64) -> Option<CallId> {
        self.connection.call_of(id)
    }

    /// Returns the revision that is spoken: the one agreed on, or the one that is tried.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.connection.revision()
    }

    /// Ends the request `id` with an error: its exchange is over, and no answer can come. Ignored
    /// when the request has ended.
    pub fn handle_unanswered(&mut self, now: Instant, id: u64, why: CallError) {
        self.connection.handle_unanswered(now, id, why);
    }

    /// Reports a rule of the transport that the server broke, as [`Event::Violation`].
    pub fn report(&mut self, now: Instant, detail: impl Into<Cow<'static, str>>) {
        self.connection.report(now, detail.into());
    }

    /// Ends the connection: the transport cannot go on.
    pub fn fail(&mut self, now: Instant, fault: Fault) {
        self.connection.fail(now, fault);
    }

    /// Ends the session, which the server has forgotten, and opens another one: calls complete with
    /// [`CallError::Lost`], requests are cancelled, and [`Event::Ready`] follows. Nothing is
    /// repeated by itself, and messages that were not taken are dropped. Ignored where there is
    /// no session.
    pub fn handle_session_lost(&mut self, now: Instant) {
        self.connection.handle_session_lost(now);
    }
}

session_over_connection!(Client, Event, Event::from_connection);

impl Apply for Client {
    const SIDE: Side = Side::Client;

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
            connection::Event::Listening { call, filter } => Self::Listening { call, filter },
            connection::Event::Notification { call, method, params } => {
                Self::Notification { call, method, params }
            }
            connection::Event::Progress { call, progress } => Self::Progress { call, progress },
            connection::Event::Ready(peer) => Self::Ready(peer),
            connection::Event::Request { incoming, call, request, .. } => {
                Self::Request { incoming, call, request }
            }
            connection::Event::RequestCancelled { incoming, reason } => {
                Self::RequestCancelled { incoming, reason: reason.and_then(text) }
            }
            connection::Event::Violation(violation) => Self::Violation(violation),
            connection::Event::Unwatched { .. } | connection::Event::Watched { .. } => return None,
        })
    }
}

fn text(raw: Raw) -> Option<Box<str>> {
    raw.to_text().map(Into::into)
}

/// What a client's application hears, in the order in which it came about.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The connection is over. Nothing comes after it.
    Closed(Close),
    /// A call has ended. Nothing comes after it for this call.
    Completed {
        /// Which one.
        call: CallId,
        /// The result, or why there is none.
        outcome: Result<Raw, CallError>,
    },
    /// A subscription is open.
    Listening {
        /// Which call.
        call: CallId,
        /// Of what the server will tell, which can be less than it was asked for.
        filter: Filter,
    },
    /// The server tells of something.
    Notification {
        /// The call that it belongs to, where that can be known.
        call: Option<CallId>,
        /// What it tells of.
        method: Method,
        /// The params, an object.
        params: Option<Raw>,
    },
    /// A call has come further.
    Progress {
        /// Which one.
        call: CallId,
        /// How far.
        progress: Progress,
    },
    /// The server has said who it is: calls can be made. Over HTTP it comes again when the server
    /// forgot the session: another one is open then.
    Ready(Arc<Peer>),
    /// The server asks for something: answer it with [`Client::respond`] or
    /// [`Client::respond_error`].
    Request {
        /// What to answer by.
        incoming: IncomingId,
        /// The call that it belongs to, where that can be known.
        call: Option<CallId>,
        /// What it asks for.
        request: Request,
    },
    /// The server no longer wants an answer; none can be given.
    RequestCancelled {
        /// To which request.
        incoming: IncomingId,
        /// Why, if it said so.
        reason: Option<Box<str>>,
    },
    /// The server broke a rule that the connection survived.
    Violation(Violation),
}
