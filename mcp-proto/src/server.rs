//! The server role: configuration, connection, commands and events.
//!
//! A [`Server`] is one connection to a client; one [`Config`] serves any number of them. Drive it
//! through [`Stdio`](crate::stdio::Stdio), the module `http`, or the trait [`MessageEndpoint`],
//! and poll its [`Event`]s.

mod config;
mod event;

use alloc::sync::Arc;
use alloc::vec::Vec;

pub use self::config::Config;
pub use self::event::Event;
pub use crate::command::server::Command;
use crate::command::{CommandOutcome, OwnedCommand};
use crate::connection::Connection;
use crate::error::Misuse;
use crate::json::Raw;
use crate::message_endpoint::MessageEndpoint;
use crate::message_endpoint::sealed::HasConnection;
use crate::revision::Side;
use crate::rpc::ErrorObject;
use crate::schema::{Encode, Level, ServerRequest};
use crate::time::Instant;
use crate::vocabulary::{
    CallId, CallOptions, Caller, Change, CloseReason, IncomingId, NeededInput, Peer, Progress,
};

/// A server's connection to one client, without framing.
///
/// The methods come in four groups, like those of [`Client`](crate::client::Client): inputs,
/// commands, outputs and queries. To run the server over a byte stream, wrap it in
/// [`Stdio`](crate::stdio::Stdio).
///
/// The server handles some requests itself, without the application:
///
/// - The server answers `initialize`, `server/discover`, `ping` and `logging/setLevel`.
/// - The server answers requests that begin or end subscriptions. With
///   [`Config::decide_subscriptions`], the application decides about subscriptions to resources.
/// - The server refuses requests that need a capability that it did not declare.
/// - The server refuses requests that the revision of the request does not define.
///   [`Config::extension`] and [`Config::serve_method`] make exceptions.
///
/// ```
/// use mcp_proto::server::{Config, Event, Server};
/// use mcp_proto::schema::CallToolResult;
/// use mcp_proto::{Capability, Instant, MessageEndpoint, StreamId};
///
/// let now = Instant::ZERO;
/// let config = Config::new("weather", "1.0.0").capability(Capability::Tools);
/// let mut server = Server::new(now, config);
/// let mut send = |server: &mut Server, message: &str| {
///     server.handle_message(now, StreamId::ONLY, message.as_bytes());
/// };
/// send(&mut server, r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
///     "protocolVersion":"2025-06-18","capabilities":{},
///     "clientInfo":{"name":"c","version":"1"}}}"#);
/// send(&mut server, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
/// assert!(matches!(server.poll_event(), Some(Event::Ready(_))));
///
/// let request = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"today"}}"#;
/// send(&mut server, request);
/// let Some(Event::Request { incoming, request, .. }) = server.poll_event() else { panic!() };
/// assert_eq!(request.method, "tools/call");
/// server.respond(now, incoming, &CallToolResult::text("sunny")).unwrap();
///
/// server.poll_outgoing(); // the response to `initialize`
/// let response = server.poll_outgoing().unwrap().body;
/// assert_eq!(
///     response,
///     br#"{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"sunny"}]}}"#
/// );
/// ```
#[derive(Debug)]
pub struct Server {
    connection: Connection,
}

impl Server {
    /// Creates a server that waits for a client's first message.
    #[cfg(feature = "server")]
    #[must_use]
    pub fn new(now: Instant, config: Config) -> Self {
        Self { connection: Connection::new(Side::Server, now, config.identity, config.meta) }
    }

    /// Returns the description of a legacy session's client; `None` if no session was established.
    ///
    /// In every revision, the [`Context`](crate::Context) of a request describes the request's
    /// client.
    #[must_use]
    pub fn peer(&self) -> Option<&Arc<Peer>> {
        self.connection.peer()
    }

    /// Sets the sender of the requests that arrive from now on. Default: none.
    ///
    /// The sender reaches the application in [`Context::caller`](crate::Context::caller). A driver
    /// that authenticates each message, as over HTTP, calls this method before each message.
    ///
    /// All callers of one connection must have one principal, or none: they can cancel and answer
    /// each other's requests, and share subscriptions. A driver that serves several principals
    /// opens a connection for each, as a [`SessionTable`](crate::http::SessionTable) ensures.
    pub fn set_caller(&mut self, caller: impl Into<Option<Arc<Caller>>>) {
        self.connection.set_caller(caller.into());
    }

    /// Returns why the connection closed; `None` until it is closed.
    ///
    /// The reason is available even before [`Event::Closed`] is polled.
    #[must_use]
    pub fn close_reason(&self) -> Option<&CloseReason> {
        self.connection.closed()
    }

    // LOG-02: `logging/setLevel` sets the threshold of a session.
    /// Returns the minimum severity of log messages, if the client of a legacy session has set one.
    #[must_use]
    pub fn log_level(&self) -> Option<Level> {
        self.connection.log_level()
    }

    /// Returns the cache of the latest request context.
    #[allow(dead_code, reason = "used only by HTTP")]
    pub(crate) fn context_cache(&mut self) -> &mut crate::meta::ContextCache {
        self.connection.context_cache()
    }

    /// Returns the bytes of the client's requests in flight, queued events and unsent messages.
    #[allow(dead_code, reason = "used only by HTTP")]
    pub(crate) fn request_bytes(&self) -> usize {
        self.connection.request_bytes()
    }

    /// Returns the bytes of the client's subscriptions.
    #[allow(dead_code, reason = "used only by HTTP")]
    pub(crate) fn subscription_bytes(&self) -> usize {
        self.connection.subscription_bytes()
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
            Command::NotifyChanged { change } => {
                connection.changed(now, change).map(CommandOutcome::done)
            }
            Command::Close => {
                connection.close(now);
                Ok(CommandOutcome::Done)
            }
            Command::EndStream { incoming } => {
                connection.end_stream(now, incoming).map(CommandOutcome::done)
            }
            Command::Log { incoming, level, logger, data } => {
                connection.log(now, incoming, level, logger, data).map(CommandOutcome::done)
            }
            Command::Notify { method, params } => {
                let params = |revision, out: &mut Vec<u8>| params.encode(revision, out);
                connection.notify(now, method, &params).map(CommandOutcome::done)
            }
            Command::Progress { incoming, progress } => {
                connection.progress(now, incoming, progress).map(CommandOutcome::done)
            }
            Command::RefuseUndeclared { incoming, questions } => {
                connection.refuse_undeclared(now, incoming, &questions).map(CommandOutcome::done)
            }
            Command::RequestInput { incoming, questions, state } => {
                connection.request_input(now, incoming, &questions, state).map(CommandOutcome::done)
            }
            Command::Respond { incoming, result } => {
                let result = |revision, out: &mut Vec<u8>| result.encode(revision, out);
                connection.respond(now, incoming, &result).map(CommandOutcome::done)
            }
            Command::RespondError { incoming, error } => {
                connection.respond_error(now, incoming, error).map(CommandOutcome::done)
            }
        }
    }

    /// Responds to a request with a result, which must encode as a JSON object.
    ///
    /// # Errors
    /// The request remains open after any error except [`Misuse::Stale`]. Fails with
    /// - [`Misuse::Stale`] if the request was answered or cancelled;
    /// - [`Misuse::Unencodable`] if the result cannot be encoded or its `resultType` is no text;
    /// - [`Misuse::Undeclared`] if the result has a `resultType` that neither the protocol nor an
    ///   [extension](crate::Extension) of both sides defines for the method. Respond without it, or
    ///   with [`ErrorObject::missing_extension`].
    pub fn respond(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        result: &dyn Encode,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::respond(incoming, result)).map(CommandOutcome::into_done)
    }

    /// Responds to a request with an error.
    ///
    /// Some codes are replaced, depending on the client's revision:
    ///
    /// - Revisions use different codes for an unknown resource and for a missing capability. The
    ///   constants [`RESOURCE_NOT_FOUND`](crate::code::RESOURCE_NOT_FOUND) and
    ///   [`MISSING_CLIENT_CAPABILITY`](crate::code::MISSING_CLIENT_CAPABILITY) are sent as the code
    ///   of the client's revision.
    /// - Revision 2026-07-28 reserves the codes from -32099 to -32020 for the specification. In
    ///   that revision, an undefined code in this range is sent as
    ///   [`INTERNAL_ERROR`](crate::code::INTERNAL_ERROR).
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the request was answered or cancelled.
    ///
    /// In revision 2025-11-25, an error with the code
    /// [`URL_ELICITATION_REQUIRED`](crate::code::URL_ELICITATION_REQUIRED) must list at least one
    /// URL elicitation in its data, each with a URL and an id. Otherwise, fails with
    /// [`Misuse::Unencodable`], and the request remains open.
    pub fn respond_error(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        error: &ErrorObject,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::RespondError { incoming, error }).map(CommandOutcome::into_done)
    }

    /// Responds to a request with a result or an error.
    ///
    /// ```
    /// use mcp_proto::schema::EmptyResult;
    /// use mcp_proto::server::{Config, Event, Server};
    /// use mcp_proto::{ErrorObject, Instant, MessageEndpoint};
    ///
    /// fn serve(server: &mut Server, now: Instant) {
    ///     while let Some(event) = server.poll_event() {
    ///         let Event::Request { incoming, request, .. } = event else { continue };
    ///         let outcome = match &*request.method {
    ///             "x/reset" => Ok(EmptyResult::new()),
    ///             other => Err(ErrorObject::method_not_found(other)),
    ///         };
    ///         // The client may have cancelled the request.
    ///         let _stale = server.respond_with(now, incoming, &outcome);
    ///     }
    /// }
    /// # serve(&mut Server::new(Instant::ZERO, Config::new("s", "1")), Instant::ZERO);
    /// ```
    ///
    /// # Errors
    /// Fails under the conditions listed for [`respond`](Self::respond) and
    /// [`respond_error`](Self::respond_error).
    pub fn respond_with<R: Encode>(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        outcome: &Result<R, ErrorObject>,
    ) -> Result<(), Misuse> {
        match outcome {
            Ok(result) => self.respond(now, incoming, result),
            Err(error) => self.respond_error(now, incoming, error),
        }
    }

    /// Responds to a request by asking the client for input.
    ///
    /// For the application, the request ends here. When the client has provided the input, the
    /// request is delivered again as a new [`Event::Request`], whose [`Context`](crate::Context)
    /// contains the responses and `state`. In a legacy session,
    /// [`Event::RequestCancelled`] with this `incoming` comes instead if the request ends before.
    ///
    /// Works in every revision. A modern client receives an `input_required` result. A legacy
    /// client receives one request per question, once it has completed the handshake.
    ///
    /// Each question needs a key that is unique among `questions`. See [Multi Round-Trip Requests](
    /// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).
    ///
    /// # Errors
    /// The request remains open after any error except [`Misuse::Stale`]. Fails with
    /// - [`Misuse::Stale`] if the request was answered or cancelled, or already waits for input;
    /// - [`Misuse::Unsupported`] if the method is not `tools/call`, `resources/read` or
    ///   `prompts/get`;
    /// - [`Misuse::Unsupported`] if the client's revision does not define a question or a value in
    ///   it;
    /// - [`Misuse::Undeclared`] if the client lacks a required capability; see
    ///   [`refuse_undeclared`](Self::refuse_undeclared);
    /// - [`Misuse::Unencodable`] if there is neither a question nor state, if a key is repeated, or
    ///   if a question cannot be encoded;
    /// - [`Misuse::Blocked`] if there are more questions than
    ///   [`Limits::input_requests_max`](crate::Limits::input_requests_max).
    ///
    /// In a legacy session, also fails with
    /// - [`Misuse::Closed`] if the session is closing or closed;
    /// - [`Misuse::Blocked`] if the request has reached
    ///   [`Limits::input_rounds_max`](crate::Limits::input_rounds_max);
    /// - [`Misuse::Blocked`] if the questions would exceed
    ///   [`Limits::calls_max`](crate::Limits::calls_max);
    /// - [`Misuse::Blocked`] if the outbound queue is full;
    /// - [`Misuse::Blocked`] if the handshake is not complete and the questions, which wait for it,
    ///   would exceed [`Limits::requests_bytes_max`](crate::Limits::requests_bytes_max).
    pub fn request_input(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, NeededInput)],
        state: Option<&str>,
    ) -> Result<(), Misuse> {
        let questions = questions.into();
        self.apply(now, Command::RequestInput { incoming, questions, state })
            .map(CommandOutcome::into_done)
    }

    // CAP-15: the error lists the capabilities that the client lacks.
    /// Refuses a request with an error that lists the client capabilities needed for `questions`.
    ///
    /// Use it for a request whose [`request_input`](Self::request_input) failed with
    /// [`Misuse::Undeclared`].
    ///
    /// # Errors
    /// The request remains open after any error except [`Misuse::Stale`]. Fails with
    /// - [`Misuse::Stale`] if the request was answered or cancelled;
    /// - [`Misuse::Unencodable`] if the params of a question cannot be encoded as a JSON object;
    /// - [`Misuse::Unsupported`] if the client's revision does not define the mode of a question.
    pub fn refuse_undeclared(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, NeededInput)],
    ) -> Result<(), Misuse> {
        let questions = questions.into();
        self.apply(now, Command::RefuseUndeclared { incoming, questions })
            .map(CommandOutcome::into_done)
    }

    // CAP-12: changes are reported only if the server declares that it does.
    /// Reports a change to the client, on every subscription that covers the change.
    ///
    /// Without such a subscription, the change is not reported. The exceptions are a change of a
    /// list and one of an extension in a legacy session, which are always reported.
    ///
    /// See [Subscriptions](
    /// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions).
    ///
    /// # Errors
    /// Fails, without sending anything, with
    /// - [`Misuse::Undeclared`] if this server did not declare the capability or the extension for
    ///   such changes;
    /// - [`Misuse::Unencodable`] if the params of a notification are not an object;
    /// - [`Misuse::Blocked`] if the outbound queue is full;
    /// - [`Misuse::Closed`] if the connection is closing or closed.
    pub fn notify_changed(&mut self, now: Instant, change: Change<'_>) -> Result<(), Misuse> {
        self.apply(now, Command::NotifyChanged { change }).map(CommandOutcome::into_done)
    }

    /// Sends the progress of a request from the client as a notification.
    ///
    /// Nothing is sent if the client did not ask for the progress of this request. The value
    /// [`Progress::progress`] must increase with each call. If the client reads too slowly, only
    /// the latest progress of each request is queued. See [Progress](
    /// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress).
    ///
    /// If the server has asked for input with [`request_input`](Self::request_input), it receives
    /// the request again, together with the answers. Values may then start from the beginning. In a
    /// legacy session, the client still sees one sequence, so a value is sent only if it exceeds
    /// all values that were sent for the request.
    ///
    /// # Errors
    /// Fails, without sending anything, with
    /// - [`Misuse::Stale`] if the request was answered or cancelled, or waits for input;
    /// - [`Misuse::Unencodable`] if the value is not finite, or if the client asked for progress
    ///   and the value does not exceed the previous one since the request was last received.
    pub fn progress(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        progress: &Progress,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::Progress { incoming, progress }).map(CommandOutcome::into_done)
    }

    // LOG-01…07: the capability, the thresholds of both eras, and the content of log messages.
    /// Sends a log message, unless its level is below the client's threshold.
    ///
    /// `incoming` is the request that the message belongs to, if any.
    ///
    /// A modern client receives log messages only for requests in which it set a level. A message
    /// that belongs to no request needs a legacy session. If there is no session, a server that
    /// supports revision 2026-07-28 discards such a message. See [Logging](
    /// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging).
    ///
    /// # Errors
    /// Fails, without sending anything, with
    /// - [`Misuse::Undeclared`] if this server did not declare logging;
    /// - [`Misuse::Stale`] if the request was answered or cancelled;
    /// - [`Misuse::Blocked`] if the outbound queue is full;
    /// - [`Misuse::NotReady`] if the server supports only legacy revisions and has no session yet;
    /// - [`Misuse::Closed`] if the connection is closed.
    pub fn log(
        &mut self,
        now: Instant,
        incoming: Option<IncomingId>,
        level: Level,
        logger: Option<&str>,
        data: &Raw,
    ) -> Result<(), Misuse> {
        self.apply(now, Command::Log { incoming, level, logger, data })
            .map(CommandOutcome::into_done)
    }

    /// Sends a request to the client.
    ///
    /// The call ends with exactly one [`Event::Completed`].
    ///
    /// Only legacy sessions allow requests from the server. To ask for input in every revision, use
    /// [`request_input`](Self::request_input).
    ///
    /// # Errors
    /// Fails with [`Misuse`], without sending anything, if
    /// - the connection is not ready or is closed;
    /// - a limit in [`Limits`](crate::Limits) is reached;
    /// - the client lacks the required capability;
    /// - the negotiated revision does not let a server send this request;
    /// - the params do not encode as a JSON object; or
    /// - the request in [`CallOptions::parent`] has ended, or uses revision 2026-07-28, in which
    ///   clients accept no requests.
    pub fn call<R: ServerRequest>(
        &mut self,
        now: Instant,
        request: &R,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.apply(now, Command::call(request, options)).and_then(CommandOutcome::into_call)
    }

    /// Sends a request to the client by method name.
    ///
    /// The method may be one that no revision defines.
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

    /// Cancels a call.
    ///
    /// The client is notified, and the call completes immediately with
    /// [`CallError::Cancelled`](crate::CallError::Cancelled).
    ///
    /// See [Cancellation](
    /// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation).
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the call has completed.
    pub fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse> {
        self.apply(now, Command::Cancel { call, reason }).map(CommandOutcome::into_done)
    }

    /// Sends a notification to the client by method name.
    ///
    /// This method requires a legacy session. In every revision,
    /// [`notify_changed`](Self::notify_changed), [`progress`](Self::progress) and
    /// [`log`](Self::log) send notifications.
    ///
    /// A log message below the client's threshold is not sent, as with [`log`](Self::log).
    ///
    /// # Errors
    /// Fails with [`Misuse`], without sending anything, if
    /// - the session is not ready, or the connection is closed;
    /// - the outbound queue is full;
    /// - this server did not declare the required capability;
    /// - the negotiated revision does not let a server send this notification; or
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

    // HTTP-15: a server may disconnect an event stream before the response to the request.
    /// Closes a request's HTTP event stream without answering the request.
    ///
    /// The client reconnects after the retry delay that it received on the stream, and gets the
    /// response on the new stream. Only streams of revision 2025-11-25 can be resumed in this way:
    /// for any other stream, this method does nothing.
    ///
    /// # Errors
    /// Fails with [`Misuse::Stale`] if the request was answered or cancelled.
    pub fn end_stream(&mut self, now: Instant, incoming: IncomingId) -> Result<(), Misuse> {
        self.apply(now, Command::EndStream { incoming }).map(CommandOutcome::into_done)
    }

    /// Closes the connection once all open requests have been answered.
    ///
    /// The server waits for the answers for at most
    /// [`Limits::drain_timeout`](crate::Limits::drain_timeout). This limit also
    /// applies if the client has already closed its side. The last event is [`Event::Closed`].
    pub fn close(&mut self, now: Instant) {
        let _done = self.apply(now, Command::Close);
    }
}

#[expect(private_interfaces, reason = "no other crate can name the trait")]
impl HasConnection for Server {
    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl MessageEndpoint for Server {
    type Event = Event;
    type Command<'a> = Command<'a>;

    const SIDE: Side = Side::Server;

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
