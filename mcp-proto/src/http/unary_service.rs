//! A whole service for programs that answer each request immediately, from their own loop.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use bytes::Bytes;

use super::admit::{Admitted, PostHead, admit, check_origin};
use super::cross_origin::CrossOrigin;
use super::headers::Headers;
use super::policy::Policy;
use super::refusal::Refusal;
use super::reply::{Body, BodyChunk, Reply};
use super::server::{HttpServer, ServerExchangeId, StreamSettings};
use super::session_table::SessionTable;
use super::validate::{Post, check_version};
use crate::json::Raw;
use crate::message_endpoint::MessageEndpoint as _;
use crate::rpc::ErrorObject;
use crate::schema::Encode;
use crate::server::{Config, Event, Server};
use crate::time::Instant;
use crate::vocabulary::{Caller, Context, Principal, Request};

/// The default maximum number of sessions.
const SESSIONS_MAX: usize = 1000;

/// The default time after which an idle session ends.
const IDLE_MAX: Duration = Duration::from_secs(1800);

/// Returns the input schema of a tool.
type SchemaOf = dyn Fn(&str) -> Option<Raw> + Send;

/// A whole HTTP request, for [`UnaryService::handle`].
#[derive(Clone)]
#[non_exhaustive]
pub struct UnaryRequest<'a> {
    /// The HTTP method, in upper case.
    pub method: &'a str,
    /// The headers.
    pub headers: &'a dyn Headers,
    /// The complete body. The driver limits its length while it reads.
    pub body: Bytes,
    /// The authenticated sender; `None` if the driver does not authenticate clients.
    pub caller: Option<Arc<Caller>>,
}

// Headers and body may hold credentials.
impl fmt::Debug for UnaryRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnaryRequest")
            .field("method", &self.method)
            .field("body_bytes", &self.body.len())
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}

impl<'a> UnaryRequest<'a> {
    /// Creates a request of an unauthenticated sender.
    #[must_use]
    pub fn new(method: &'a str, headers: &'a dyn Headers, body: impl Into<Bytes>) -> Self {
        Self { method, headers, body: body.into(), caller: None }
    }

    /// Sets the sender.
    #[must_use]
    pub fn caller(mut self, caller: impl Into<Option<Arc<Caller>>>) -> Self {
        self.caller = caller.into();
        self
    }

    fn principal(&self) -> Option<&Principal> {
        self.caller.as_ref()?.principal()
    }
}

/// Streamable HTTP for programs that respond to each request immediately: one whole request in, one
/// whole response out.
///
/// This type is for programs with their own event loop, such as a game or an editor, and for HTTP
/// libraries without streaming responses. It admits requests, keeps the sessions of legacy clients,
/// and serves both eras.
///
/// Features that need an open stream are not available: progress, log messages, input requests and
/// change notifications.
/// A GET is refused with 405, and a modern subscription ends as soon as it is acknowledged. For
/// these, use [`admit`], [`HttpServer`] and [`SessionTable`], as this type does.
///
/// Notifications of clients are accepted and discarded.
///
/// Holds at most 1,000 [sessions](Self::sessions). A session ends after 30 min without a request,
/// or after 20 s if its client has sent only `initialize`. If there is no room for a new session,
/// the longest idle one ends, of any client; if clients are not trusted, limit the rate of their
/// requests first.
///
/// ```
/// use mcp_proto::http::{UnaryRequest, UnaryService};
/// use mcp_proto::schema::CallToolResult;
/// use mcp_proto::server::Config;
/// use mcp_proto::{Capability, ErrorObject, Instant};
///
/// let config = Config::new("clock", "1.0.0").capability(Capability::Tools);
/// // A real program draws 128 random bits.
/// let mut service = UnaryService::new(config, || "7c1e".into());
///
/// let headers = [
///     ("Host", "localhost:8080"),
///     ("Content-Type", "application/json"),
///     ("Accept", "application/json, text/event-stream"),
///     ("MCP-Protocol-Version", "2026-07-28"),
///     ("Mcp-Method", "tools/call"),
///     ("Mcp-Name", "now"),
/// ];
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"now","_meta":{
///     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
///     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
/// let request = UnaryRequest::new("POST", &headers, &body[..]);
/// let reply = service.handle(Instant::ZERO, &request, |request, _context| {
///     match &*request.method {
///         "tools/call" => Ok(CallToolResult::text("noon")),
///         other => Err(ErrorObject::method_not_found(other)),
///     }
/// });
/// assert_eq!(reply.status, 200);
/// assert!(reply.body.bytes().starts_with(b"{"));
/// ```
pub struct UnaryService {
    config: Config,
    policy: Policy,
    settings: Arc<StreamSettings>,
    sessions: SessionTable<HttpServer>,
    new_session_id: Box<dyn FnMut() -> String + Send>,
    schema_of: Box<SchemaOf>,
}

impl fmt::Debug for UnaryService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnaryService")
            .field("policy", &self.policy)
            .field("sessions", &self.sessions.len())
            .finish_non_exhaustive()
    }
}

impl UnaryService {
    /// Creates a service with the [policy](Policy::from_config) of `config`.
    ///
    /// `new_session_id` returns a new id for each legacy session: unpredictable, visible ASCII, at
    /// most 256 bytes. Draw at least 128 random bits.
    // HTTP-30: ids are unguessable, and drawn by the driver.
    #[must_use]
    pub fn new(config: Config, new_session_id: impl FnMut() -> String + Send + 'static) -> Self {
        Self {
            policy: Policy::from_config(&config),
            config,
            settings: Arc::default(),
            sessions: SessionTable::new(SESSIONS_MAX, IDLE_MAX),
            new_session_id: Box::new(new_session_id),
            schema_of: Box::new(|_| None),
        }
    }

    /// Replaces the policy, for example to accept other hosts than loopback ones.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Limits the sessions to `max`, each of which ends when idle for `idle_max`.
    ///
    /// Default: 1,000 sessions and 30 min. A session takes about 2 KB while idle.
    #[must_use]
    pub fn sessions(mut self, max: usize, idle_max: Duration) -> Self {
        self.sessions = SessionTable::new(max, idle_max);
        self
    }

    /// Sets the function that returns the input schema of a tool, so that `Mcp-Param-*` headers are
    /// checked, as [`PostHead::read`] describes. Default: they are not checked.
    #[must_use]
    pub fn tool_schemas(
        mut self,
        schema_of: impl Fn(&str) -> Option<Raw> + Send + 'static,
    ) -> Self {
        self.schema_of = Box::new(schema_of);
        self
    }

    /// Handles a request and returns its response, whose body is always [`Body::Whole`].
    ///
    /// `respond` is called for each MCP request that the application must answer: once for most
    /// HTTP requests, several times for a batch, and never for notifications, `initialize` and the
    /// like. Requests that are refused do not reach it.
    pub fn handle<R: Encode>(
        &mut self,
        now: Instant,
        request: &UnaryRequest<'_>,
        respond: impl FnMut(&Request, &Context) -> Result<R, ErrorObject>,
    ) -> Reply {
        self.sessions.expire(now, |_| false);
        let page = CrossOrigin::of(&self.policy, request.headers);
        let preflight = page.preflight(&self.policy, request.method, request.headers);
        let mut reply = match preflight {
            Some(granted) => check_origin(&self.policy, request.headers).map(|()| granted),
            None => self.serve(now, request, respond),
        }
        .unwrap_or_else(Reply::from);
        page.apply(&mut reply);
        reply
    }

    fn serve<R: Encode>(
        &mut self,
        now: Instant,
        request: &UnaryRequest<'_>,
        respond: impl FnMut(&Request, &Context) -> Result<R, ErrorObject>,
    ) -> Result<Reply, Refusal> {
        match admit(&self.policy, request.method, request.headers)? {
            Admitted::Post(head) => self.post(now, &head, request, respond),
            // HTTP-22: a server need not offer a stream.
            Admitted::Get(_) => Err(Refusal::new(405, "this server opens no event streams")
                .header("allow", "POST, DELETE")),
            Admitted::Delete(id) => {
                let ended = self.sessions.remove(&id, request.principal());
                ended.map(|_| Reply::empty(204)).ok_or_else(|| Refusal::unknown_session(None))
            }
        }
    }

    fn post<R: Encode>(
        &mut self,
        now: Instant,
        head: &PostHead,
        request: &UnaryRequest<'_>,
        respond: impl FnMut(&Request, &Context) -> Result<R, ErrorObject>,
    ) -> Result<Reply, Refusal> {
        let (post, decoded) =
            head.read_decoded(&self.policy, request.headers, &request.body, &*self.schema_of)?;
        match post {
            Post::Modern { revision, message } => {
                let server = Server::new(now, self.config.clone());
                let mut server = HttpServer::modern(server, revision, Arc::clone(&self.settings));
                server.set_caller(request.caller.clone());
                let id = server.handle_decoded(now, message.needs_response(), decoded);
                Ok(answer(now, &mut server, (head, id), respond))
            }
            Post::Sessionless { message, .. } if !message.needs_response() => Ok(Reply::empty(202)),
            Post::Sessionless { revision, message } => {
                let server = Server::new(now, self.config.clone().without_sessions());
                let settings = Arc::clone(&self.settings);
                let mut server = HttpServer::sessionless(now, server, revision, &message, settings);
                server.set_caller(request.caller.clone());
                let id = server.handle_decoded(now, true, decoded);
                Ok(answer(now, &mut server, (head, id), respond))
            }
            Post::Initialize { .. } => {
                let session: Arc<str> = (self.new_session_id)().into();
                let server = Server::new(now, self.config.clone());
                let mut server =
                    HttpServer::legacy(server, Arc::clone(&session), Arc::clone(&self.settings));
                server.set_caller(request.caller.clone());
                let id = server.handle_decoded(now, true, decoded);
                let reply = answer(now, &mut server, (head, id), respond);
                server.set_caller(None);
                if server.peer().is_some() {
                    self.insert(now, session, request.principal(), server)?;
                }
                Ok(reply)
            }
            Post::Session { session, version, message } => {
                let request_id = message.request_id();
                let server = self.sessions.get_mut(now, &session, request.principal());
                let server = server.filter(|server| !server.is_closed());
                let server = server.ok_or_else(|| Refusal::unknown_session(request_id))?;
                let negotiated = server.peer().map(|peer| peer.revision);
                check_version(version, negotiated, request_id)?;
                server.set_caller(request.caller.clone());
                let id = server.handle_decoded(now, message.needs_response(), decoded);
                let reply = answer(now, server, (head, id), respond);
                // An idle session keeps no data of its caller.
                server.set_caller(None);
                Ok(reply)
            }
        }
    }

    /// Adds a session, which may end another one.
    fn insert(
        &mut self,
        now: Instant,
        id: Arc<str>,
        principal: Option<&Principal>,
        server: HttpServer,
    ) -> Result<(), Refusal> {
        if self.sessions.has_room().is_err() {
            self.sessions.evict(now, |_| false);
        }
        Ok(self.sessions.insert(now, id, principal, server)?)
    }

    /// Ends all sessions of `principal`, for example because it is locked out.
    pub fn end_principal(&mut self, principal: &Principal) {
        self.sessions.remove_principal(principal);
    }

    /// Returns the number of open sessions.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }
}

/// Lets the application respond to a message, and returns the whole HTTP response.
fn answer<R: Encode>(
    now: Instant,
    server: &mut HttpServer,
    (head, id): (&PostHead, ServerExchangeId),
    mut respond: impl FnMut(&Request, &Context) -> Result<R, ErrorObject>,
) -> Reply {
    if !head.accepts_events() {
        server.require_json(id);
    }
    while let Some(event) = server.poll_event() {
        let Event::Request { incoming, request, context } = event else { continue };
        let outcome = respond(&request, &context);
        if server.respond_with(now, incoming, &outcome).is_err() {
            let error = ErrorObject::internal("the result cannot be encoded in this revision");
            // Another message of the batch may have cancelled the request.
            let _stale = server.respond_error(now, incoming, &error);
        }
    }
    let Some(mut reply) = server.poll_reply(id) else {
        server.handle_gone(now, id);
        return Refusal::new(503, "the request has no response").into();
    };
    if reply.body == Body::Events {
        let mut events = Vec::new();
        while let Some(BodyChunk::Bytes(chunk)) = server.poll_chunk(id) {
            events.extend_from_slice(&chunk);
        }
        // A subscription has no end, and is cut here.
        server.handle_gone(now, id);
        reply.body = Body::Whole(events.into());
    }
    reply
}

#[cfg(test)]
mod tests;
