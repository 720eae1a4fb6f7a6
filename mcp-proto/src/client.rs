//! The client role: configuration, connection, commands and events.
//!
//! A [`Client`] is one connection to a server. Create it from a [`Config`], drive it through
//! [`Stdio`](crate::stdio::Stdio), the module `http`, or the trait [`MessageEndpoint`],
//! and poll its [`Event`]s.

mod config;
mod event;
mod exchange_endpoint;

use alloc::sync::Arc;
use alloc::vec::Vec;

pub use self::config::Config;
pub use self::event::Event;
pub use self::exchange_endpoint::ExchangeEndpoint;
pub use crate::command::client::Command;
use crate::command::{CommandOutcome, OwnedCommand};
use crate::connection::Connection;
use crate::error::Misuse;
use crate::message_endpoint::MessageEndpoint;
use crate::message_endpoint::sealed::HasConnection;
use crate::revision::{Era, Revision, Side};
use crate::rpc::ErrorObject;
use crate::schema::{ClientRequest, Encode, Level};
use crate::time::Instant;
use crate::vocabulary::{CallId, CallOptions, CloseReason, Filter, IncomingId, Peer, Progress};

/// A client's connection to one server, without framing.
///
/// The methods come in four groups:
///
/// - **inputs** from the transport: [`handle_message`](crate::MessageEndpoint::handle_message),
///   [`handle_eof`](crate::MessageEndpoint::handle_eof) and
///   [`handle_timeout`](crate::MessageEndpoint::handle_timeout). Each takes the current time and
///   cannot fail.
/// - **commands** from the application: [`call`](Self::call), [`notify_raw`](Self::notify_raw),
///   [`respond`](Self::respond), [`cancel`](Self::cancel) and [`close`](Self::close). A command
///   that fails with [`Misuse`] has no effect.
/// - **outputs**: [`poll_event`](crate::MessageEndpoint::poll_event),
///   [`poll_outgoing`](crate::MessageEndpoint::poll_outgoing) and
///   [`poll_timeout`](crate::MessageEndpoint::poll_timeout). Poll them in any order; each is O(1).
/// - **queries**: [`peer`](Self::peer), [`is_closed`](crate::MessageEndpoint::is_closed) and
///   [`wants_input`](crate::MessageEndpoint::wants_input).
///
/// Inputs and commands take full effect before they return. To run the client over a byte stream,
/// wrap it in [`Stdio`](crate::stdio::Stdio). The inputs and outputs are in the trait
/// [`MessageEndpoint`], and those for transports like HTTP in [`ExchangeEndpoint`].
///
/// ```
/// use mcp_proto::client::{Client, Config, Event};
/// use mcp_proto::schema::{CallTool, CallToolResult, Decode};
/// use mcp_proto::{CallOptions, Instant, MessageEndpoint, StreamId};
///
/// let now = Instant::ZERO;
/// let mut client = Client::new(now, Config::new("demo", "1.0.0"));
/// assert!(client.poll_outgoing().is_some()); // server/discover
/// let server = br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",
///     "supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},
///     "ttlMs":0,"cacheScope":"private"}}"#;
/// client.handle_message(now, StreamId::ONLY, &server[..]);
/// assert!(matches!(client.poll_event(), Some(Event::Ready(_))));
///
/// let call = client.call(now, &CallTool::new("today"), CallOptions::default()).unwrap();
/// let response =
///     br#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"sunny"}]}}"#;
/// client.handle_message(now, StreamId::ONLY, &response[..]);
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
    /// Creates a client and queues its first request.
    ///
    /// The request is `initialize` if the configuration [expects](Config::expect_era) a legacy
    /// server or allows only legacy revisions. Otherwise, the request is `server/discover`, which
    /// detects whether the server is legacy or modern. The request's timeout starts at `now`.
    ///
    /// See [Versioning](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning)
    /// and [Lifecycle](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle).
    #[cfg(feature = "client")]
    #[must_use]
    pub fn new(now: Instant, config: Config) -> Self {
        let meta = Arc::new(crate::meta::MetaWriter::of(&config.0, Side::Client));
        let mut connection = Connection::new(Side::Client, now, Arc::new(config.0), meta);
        // LIF-01, LIF-26: the client sends the first message.
        connection.open();
        Self { connection }
    }

    /// Returns the server's description; `None` until the handshake or discovery is complete.
    #[must_use]
    pub fn peer(&self) -> Option<&Arc<Peer>> {
        self.connection.peer()
    }

    /// Returns the negotiated revision, or the proposed one if none is negotiated yet.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.connection.revision()
    }

    /// Applies a command.
    ///
    /// The command methods of this type build a [`Command`] and call this method.
    ///
    /// # Errors
    /// Fails with [`Misuse`] under the conditions documented for the corresponding command method,
    /// such as [`call`](Self::call). A failed command has no effect.
    #[expect(
        clippy::inline_always,
        reason = "each caller compiles to one arm of the match; saves 2 % per response"
    )]
    #[inline(always)]
    pub fn apply(&mut self, now: Instant, command: Command<'_>) -> Result<CommandOutcome, Misuse> {
        let connection = &mut self.connection;
        match command {
            Command::Call { method, params, options } => {
                let params = |revision, out: &mut Vec<u8>| params.encode(revision, out);
                connection.call(now, method, &params, &options).map(CommandOutcome::Call)
            }
            Command::Cancel { call, reason } => {
                connection.cancel(now, call, reason).map(CommandOutcome::done)
            }
            Command::Close => {
                connection.close(now);
                Ok(CommandOutcome::Done)
            }
            Command::Subscribe { filter, options } => {
                connection.listen(now, filter, &options).map(CommandOutcome::Call)
            }
            Command::Notify { method, params } => {
                let params = |revision, out: &mut Vec<u8>| params.encode(revision, out);
                connection.notify(now, method, &params).map(CommandOutcome::done)
            }
            Command::Progress { incoming, progress } => {
                connection.progress(now, incoming, progress).map(CommandOutcome::done)
            }
            Command::Respond { incoming, result } => {
                let result = |revision, out: &mut Vec<u8>| result.encode(revision, out);
                connection.respond(now, incoming, &result).map(CommandOutcome::done)
            }
            Command::RespondError { incoming, error } => {
                connection.respond_error(now, incoming, error).map(CommandOutcome::done)
            }
            Command::SetLogLevel { level, options } => {
                connection.set_log_level(now, level, &options).map(CommandOutcome::Call)
            }
        }
    }

    /// Sends a request to the server.
    ///
    /// The call ends with exactly one [`Event::Completed`].
    ///
    /// # Errors
    /// Fails with [`Misuse`], without sending anything, if
    /// - the connection is not ready, or is closed;
    /// - a limit in [`Limits`](crate::Limits) is reached;
    /// - the server did not declare the required capability or [extension](crate::Extension);
    /// - the negotiated revision does not define the request, or clients may not send it;
    /// - the params do not encode as a JSON object.
    pub fn call<R: ClientRequest>(
        &mut self,
        now: Instant,
        request: &R,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.apply(now, Command::call(request, options)).and_then(CommandOutcome::into_call)
    }

    /// Sends a request to the server by method name.
    ///
    /// Methods that no revision defines are allowed.
    ///
    /// # Errors
    /// Fails under the conditions documented for [`call`](Self::call).
    pub fn call_raw(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&dyn Encode>,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        let params = params.into();
        self.apply(now, Command::Call { method, params, options })
            .and_then(CommandOutcome::into_call)
    }

    /// Subscribes to changes on the server until the call ends.
    ///
    /// [`Event::Subscribed`] lists the kinds of changes that the server will report. Each change
    /// arrives as an [`Event::Notification`] for this call. [Cancel](Self::cancel) the call to
    /// unsubscribe.
    ///
    /// In the modern era, a subscription is one `subscriptions/listen` request. In a legacy
    /// session, the client subscribes to each resource with a separate request. At most 64 of these
    /// requests are in flight at a time. See [Subscriptions](
    /// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions).
    ///
    /// # Errors
    /// Fails, without sending anything, with
    /// - [`Misuse::NotReady`] if the handshake is not complete;
    /// - [`Misuse::Closed`] if the connection is closing or closed;
    /// - [`Misuse::Blocked`] if a limit in [`Limits`](crate::Limits) is reached.
    pub fn subscribe(
        &mut self,
        now: Instant,
        filter: &Filter,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.apply(now, Command::Subscribe { filter, options }).and_then(CommandOutcome::into_call)
    }

    // LOG-02: `logging/setLevel` in a session; LOG-05: modern requests carry the level in `_meta`.
    /// Sets the minimum severity of the log messages that the server may send.
    ///
    /// In a legacy session, the call sends the level to the server. In the modern era, the call
    /// completes immediately, and each later request contains the level. See [Logging](
    /// https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging).
    ///
    /// # Errors
    /// Fails with [`Misuse::Undeclared`] if the server does not declare logging, and under the
    /// conditions documented for [`call`](Self::call).
    pub fn set_log_level(
        &mut self,
        now: Instant,
        level: Level,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.apply(now, Command::SetLogLevel { level, options }).and_then(CommandOutcome::into_call)
    }

    // T-36: a legacy server may end at the first request it does not know.
    /// Returns a legacy-only configuration to reconnect with if `server/discover` ended the server.
    ///
    /// Some legacy servers do not know `server/discover`, the client's first request. They exit
    /// when they receive it, or when they receive `initialize` afterwards. With the returned
    /// configuration, a new client sends `initialize` first.
    ///
    /// Returns a configuration only if all of these conditions hold:
    /// - The client sent `server/discover`, and the server did not answer it.
    /// - The server closed the connection before the handshake was complete.
    /// - The client's configuration allows a legacy revision.
    #[must_use]
    pub fn fallback(&self) -> Option<Config> {
        self.connection.fallback().map(Config)
    }

    // LIF-31: a guess is not remembered.
    /// Returns the [`Era`] to [expect](Config::expect_era) of the server on the next connection.
    ///
    /// Returns `None` until the handshake or discovery is complete. Also returns `None` for a
    /// legacy session if the era is only a guess: the server was unavailable when the client sent
    /// `server/discover`, but later answered `initialize`.
    #[must_use]
    pub fn era_to_expect(&self) -> Option<Era> {
        self.connection.era_to_expect()
    }

    // STL-38: a client subscribes again after it has reconnected.
    /// Returns the open subscriptions, each with its filter.
    ///
    /// Before a subscription is acknowledged, its filter is the requested one; afterwards, its
    /// filter is the acknowledged one.
    ///
    /// After the connection has closed, returns the subscriptions that were open at that time, so
    /// that the application can renew them on the next connection.
    pub fn subscriptions(&self) -> impl Iterator<Item = (CallId, &Filter)> {
        self.connection.listening()
    }

    /// Cancels a call.
    ///
    /// The call completes immediately with [`CallError::Cancelled`](crate::CallError::Cancelled).
    /// The server is notified if it still has to respond to the request.
    ///
    /// See [Cancellation](
    /// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation).
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the call has completed.
    pub fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse> {
        self.apply(now, Command::Cancel { call, reason }).map(CommandOutcome::into_done)
    }

    /// Sends a notification to the server by method name.
    ///
    /// # Errors
    /// Fails with [`Misuse`], without sending anything, if
    /// - the connection is not ready, or is closed;
    /// - the outbound queue is full;
    /// - the client did not declare the required capability;
    /// - the negotiated revision does not define the notification, or the application may not send
    ///   it;
    /// - the params do not encode as a JSON object.
    pub fn notify_raw(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&dyn Encode>,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::Notify { method, params: params.into() })
            .map(CommandOutcome::into_done)
    }

    /// Returns why the connection closed; `None` while it is open.
    ///
    /// The reason is available even before [`Event::Closed`] is polled.
    #[must_use]
    pub fn close_reason(&self) -> Option<&CloseReason> {
        self.connection.closed()
    }

    /// Responds to a request from the server with a result, which must encode as a JSON object.
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the request was answered or cancelled, and with
    /// [`Misuse::Unencodable`] if the result does not encode as a JSON object. In the latter case,
    /// the request remains open.
    pub fn respond(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        result: &dyn Encode,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::respond(incoming, result)).map(CommandOutcome::into_done)
    }

    /// Responds to a request from the server with an error.
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the request was answered or cancelled, and with
    /// [`Misuse::Unencodable`] if an error with the code
    /// [`URL_ELICITATION_REQUIRED`](crate::code::URL_ELICITATION_REQUIRED) names no URL elicitation
    /// or one without an id. In the latter case, the request remains open.
    pub fn respond_error(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        error: &ErrorObject,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::RespondError { incoming, error }).map(CommandOutcome::into_done)
    }

    /// Sends a progress notification for a request from the server.
    ///
    /// Does nothing if the server did not ask for progress.
    ///
    /// See [Progress](
    /// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress).
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the request was answered or cancelled, and with
    /// [`Misuse::Unencodable`] if the progress value is not finite, or if it does not exceed the
    /// previous value.
    pub fn progress(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        progress: &Progress,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::Progress { incoming, progress }).map(CommandOutcome::into_done)
    }

    // LIF-35: the protocol has no message that ends a connection.
    /// Closes the connection immediately.
    ///
    /// Every open call completes with [`CallError::Lost`](crate::CallError::Lost), then
    /// [`Event::Closed`] follows.
    ///
    /// The protocol has no closing message. After this call, the program may send the queued output
    /// and must then close the transport.
    pub fn close(&mut self, now: Instant) {
        let _done = self.apply(now, Command::Close);
    }
}

#[expect(private_interfaces, reason = "no other crate can name the trait")]
impl HasConnection for Client {
    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl MessageEndpoint for Client {
    type Event = Event;
    type Command<'a> = Command<'a>;

    const SIDE: Side = Side::Client;

    fn apply(&mut self, now: Instant, command: Command<'_>) -> Result<CommandOutcome, Misuse> {
        self.apply(now, command)
    }

    fn to_owned_command(&self, command: Command<'_>) -> OwnedCommand {
        let revision = self.connection.revision_for(command.incoming());
        command.into_owned(revision)
    }

    fn poll_event(&mut self) -> Option<Event> {
        // A connection emits no events of the other role.
        self.connection.poll_event().and_then(Event::from_connection)
    }
}
