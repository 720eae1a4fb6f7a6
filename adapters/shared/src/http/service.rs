//! The HTTP service of a server, for any runtime and any HTTP library.

use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use futures_lite::future::{or, yield_now};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use mcp_proto::http::{
    Admitted, Body as ReplyBody, ContextCache, GetRequest, HttpServer, Policy, Post, PostHead,
    PostedMessage, Refusal, Reply, SessionTable, admit, check_origin,
};
use mcp_proto::server::{Config, Server as Machine};
use mcp_proto::{DecodedMessage, MessageEndpoint as _, Revision};

use super::body::{Exchange, ResponseBody};
use super::options::Http;
use super::runtime::HttpRuntime;
use super::sessions::{SessionTimers, Sessions};
use crate::exec::callbacks::Callbacks;
use crate::exec::clock::Clock;
use crate::exec::workers::Spawn;
use crate::server::Server;
use crate::server::events::Serving;
use crate::transport::link::{Link, SpawnTimer, State, Transport};

/// An MCP server as an HTTP service that works with any HTTP library.
///
/// Cheap to clone; clones share all sessions.
#[derive(Clone)]
pub struct HttpService {
    shared: Arc<ServiceShared>,
}

struct ServiceShared {
    server: Server,
    config: Config,
    options: Http,
    policy: Policy,
    sessions: Arc<Sessions>,
    timers: Arc<dyn SpawnTimer<Link<Machine>>>,
    callbacks: Callbacks,
    runtime: Arc<dyn HttpRuntime>,
    /// The latest context of a modern request. A client repeats it in each request.
    contexts: Mutex<ContextCache>,
}

impl HttpService {
    /// Creates a service for `server`. The `http_service` methods of adapters call this method.
    ///
    /// # Errors
    /// Fails if a registered tool, resource or prompt is invalid.
    pub fn new(server: &Server, options: Http, runtime: Arc<dyn HttpRuntime>) -> io::Result<Self> {
        let config = server.config()?;
        let policy = options.policy(&config);
        let sessions = Sessions::new(
            SessionTable::new(options.sessions_max, options.idle_max),
            options.listeners_max,
        );
        let server = server.clone();
        let timers = Arc::new(SessionTimers {
            sessions: Arc::downgrade(&sessions),
            runtime: Arc::clone(&runtime),
        });
        let callbacks = server.callbacks(Arc::clone(&runtime).as_spawn());
        let shared = ServiceShared {
            server,
            config,
            options,
            policy,
            sessions,
            timers,
            callbacks,
            runtime,
            contexts: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the number of open sessions.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.shared.sessions.len()
    }

    /// Ends all sessions and subscriptions, and rejects new ones.
    ///
    /// Requests in progress may still be answered within
    /// [`Limits::drain_timeout`](mcp_proto::Limits::drain_timeout).
    pub fn close(&self) {
        self.shared.sessions.close();
    }

    /// Processes an HTTP request and returns the response, which may be an event stream.
    pub async fn respond<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let (mut parts, body) = request.into_parts();
        add_host(&mut parts);
        match self.shared.answer(&parts, body).await {
            Ok(response) => response,
            Err(refusal) => self.shared.reply(refusal.into(), None),
        }
    }
}

impl ServiceShared {
    async fn answer<B>(
        self: &Arc<Self>,
        parts: &Parts,
        body: B,
    ) -> Result<Response<ResponseBody>, Refusal>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let fields = &parts.headers;
        let is_elsewhere =
            self.options.path.as_deref().is_some_and(|path| path != parts.uri.path());
        // `admit` screens the request as well, so it is screened here only if something comes
        // first.
        if is_elsewhere || self.options.check.is_some() {
            check_origin(&self.policy, fields)?;
        }
        if is_elsewhere {
            return Err(Refusal::new(404, "not found"));
        }
        if let Some(check) = self.options.check.clone() {
            let head = parts.clone();
            let failed = || Refusal::new(500, "the check of the request failed");
            self.callbacks.call(move || check(&head)).await.ok_or_else(failed)??;
        }
        match admit(&self.policy, parts.method.as_str(), fields)? {
            Admitted::Post(head) => {
                let body = self.read(body).await?;
                self.post(parts, &head, body).await
            }
            Admitted::Get(get) => self.get(&get).await,
            Admitted::Delete(id) => {
                if self.sessions.remove(&id) {
                    Ok(response(204, &[], ResponseBody::whole(Bytes::new())))
                } else {
                    Err(Refusal::unknown_session(None))
                }
            }
        }
    }

    /// Reads a body, within the limits on its size and duration.
    async fn read<B>(&self, body: B) -> Result<Bytes, Refusal>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let bytes_max = self.policy.body_bytes_max();
        let mut body = pin!(body);
        let mut buffer = BodyBuffer::Empty;
        let read = async {
            while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
                let frame = frame.map_err(|_| Refusal::new(400, "the body was cut off"))?;
                let Ok(mut data) = frame.into_data() else { continue };
                if buffer.len() + data.remaining() > bytes_max {
                    return Err(Refusal::new(
                        413,
                        "the body exceeds the size limit of this server",
                    ));
                }
                buffer.push(data.copy_to_bytes(data.remaining()));
            }
            Ok(())
        };
        let late = async {
            // Most bodies are available after one poll and need no timer.
            yield_now().await;
            self.runtime.sleep(self.options.body_timeout).await;
            Err(Refusal::new(408, "the body took too long to arrive"))
        };
        or(read, late).await?;
        Ok(buffer.into_bytes())
    }

    async fn post(
        self: &Arc<Self>,
        parts: &Parts,
        head: &PostHead,
        body: Bytes,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let schema_of = |name: &str| self.server.schema_of(name);
        let (post, decoded) = head.read_decoded(&self.policy, &parts.headers, &body, &schema_of)?;
        let exchange = match post {
            Post::Modern { revision, message } => {
                self.open_modern(revision, &message, &body, decoded)?
            }
            Post::Initialize { .. } => self.open_session(&body, decoded)?,
            Post::Session { session, message, .. } => {
                let id = match &message {
                    PostedMessage::Request { id, .. } => Some(id),
                    _ => None,
                };
                let link =
                    self.sessions.get(&session).ok_or_else(|| Refusal::unknown_session(id))?;
                let is_answered = is_answered(&message);
                if link.wants_input_now() {
                    self.exchange(&link, false, is_answered, &body, Some(decoded))?
                } else {
                    // The message is decoded again later, so it need not be kept meanwhile.
                    let id = id.cloned();
                    drop((message, decoded));
                    if !link.wait_until(PATIENCE, State::wants_input).await {
                        if link.inspect(|state| state.connection.is_closed()) {
                            return Err(Refusal::unknown_session(id.as_ref()));
                        }
                        return Err(Refusal::new(
                            503,
                            "the session has too many requests in flight",
                        ));
                    }
                    self.exchange(&link, false, is_answered, &body, None)?
                }
            }
        };
        Ok(self.respond(exchange).await)
    }

    /// Starts an exchange of the modern era, with a connection of its own.
    fn open_modern(
        self: &Arc<Self>,
        revision: Revision,
        message: &PostedMessage,
        body: &Bytes,
        decoded: DecodedMessage<'_>,
    ) -> Result<Exchange, Refusal> {
        let clock = Clock::new();
        let machine = Machine::new(clock.now(), self.config.clone());
        let mut session = HttpServer::modern(machine, revision, Arc::clone(&self.options.settings));
        // Another thread may have taken it: this request is then parsed in full.
        if let Ok(mut contexts) = self.contexts.try_lock() {
            *session.context_cache() = std::mem::take(&mut *contexts);
        }
        let link = self.link(clock, session);
        // Only a subscription needs change notifications.
        let is_subscription = matches!(
            message,
            PostedMessage::Request { method, .. } if **method == *"subscriptions/listen"
        );
        let listening = if is_subscription {
            let full = || Refusal::new(503, "too many subscriptions").header("retry-after", "10");
            Some((
                Serving::new(Arc::clone(&link), false),
                self.sessions.listen(&link).ok_or_else(full)?,
            ))
        } else {
            None
        };
        let mut exchange = self.exchange(&link, true, is_answered(message), body, Some(decoded))?;
        exchange.listening = listening;
        if let Ok(mut contexts) = self.contexts.try_lock() {
            let mut state = link.lock();
            let latest = state.connection.http().map(|http| std::mem::take(http.context_cache()));
            *contexts = latest.unwrap_or_default();
        }
        Ok(exchange)
    }

    /// Starts a session.
    // HTTP-29: the response to `initialize` carries the session id.
    fn open_session(
        self: &Arc<Self>,
        body: &Bytes,
        decoded: DecodedMessage<'_>,
    ) -> Result<Exchange, Refusal> {
        let full = || Refusal::new(503, "too many sessions").header("retry-after", "10");
        if !self.sessions.has_room() {
            return Err(full());
        }
        let id =
            session_id().map_err(|_| Refusal::new(500, "no source of randomness is available"))?;
        let clock = Clock::new();
        let machine = Machine::new(clock.now(), self.config.clone());
        let session = HttpServer::legacy(machine, &id, Arc::clone(&self.options.settings));
        let link = self.link(clock, session);
        let serving = Serving::new(Arc::clone(&link), false);
        let exchange = self.exchange(&link, false, true, body, Some(decoded))?;
        let is_open = link.inspect(|state| state.connection.peer().is_some());
        if is_open {
            if !self.sessions.insert(&self.runtime, &id, &link, serving) {
                return Err(full());
            }
            link.spawn_timers_with(Arc::clone(&self.timers));
        }
        Ok(exchange)
    }

    async fn get(self: &Arc<Self>, get: &GetRequest) -> Result<Response<ResponseBody>, Refusal> {
        let link = self.sessions.get(&get.session).ok_or_else(|| Refusal::unknown_session(None))?;
        let last = get.last_event_id.as_deref();
        let opened =
            link.with(|state, now| state.connection.http().map(|http| http.handle_get(now, last)));
        let id = opened.ok_or_else(|| Refusal::unknown_session(None))?.map_err(Refusal::from)?;
        Ok(self
            .respond(Exchange { link, id, is_modern: false, is_over: false, listening: None })
            .await)
    }

    fn link(&self, clock: Clock, session: HttpServer) -> Arc<Link<Machine>> {
        let link = self.server.link(clock, Transport::Http(Box::new(session)), self.spawn());
        link.has_no_writer();
        link
    }

    fn spawn(&self) -> Arc<dyn Spawn> {
        Arc::clone(&self.runtime).as_spawn()
    }

    /// Starts an exchange with a message, which may have been decoded already.
    fn exchange(
        &self,
        link: &Arc<Link<Machine>>,
        is_modern: bool,
        is_answered: bool,
        body: &Bytes,
        decoded: Option<DecodedMessage<'_>>,
    ) -> Result<Exchange, Refusal> {
        link.trace.input(body);
        let posted = link.with_request(|state, now| {
            let http = state.connection.http()?;
            let id = match decoded {
                Some(decoded) => http.handle_decoded(now, is_answered, decoded),
                None => http.handle_post(now, is_answered, body.clone()),
            };
            Some(id)
        });
        let id = posted.ok_or_else(|| Refusal::unknown_session(None))?;
        Ok(Exchange { link: Arc::clone(link), id, is_modern, is_over: false, listening: None })
    }

    /// Waits for the reply of an exchange and returns it as a response.
    async fn respond(self: &Arc<Self>, exchange: Exchange) -> Response<ResponseBody> {
        let (link, id) = (&exchange.link, exchange.id);
        let reply = link.when(|state| state.connection.http().and_then(|http| http.poll_reply(id)));
        let reply = if exchange.is_modern {
            let timers = async {
                // Most replies are available after one poll and need no timer.
                yield_now().await;
                link.keep_time(|duration| self.runtime.sleep(duration)).await;
                std::future::pending().await
            };
            or(reply, timers).await
        } else {
            reply.await
        };
        self.reply(reply, Some(exchange))
    }

    fn reply(&self, reply: Reply, exchange: Option<Exchange>) -> Response<ResponseBody> {
        let Reply { status, headers: fields, body } = reply;
        let body = match (body, exchange) {
            (ReplyBody::Whole(bytes), exchange) => {
                if let Some(mut exchange) = exchange {
                    exchange.link.trace.output(&bytes);
                    exchange.is_over = true;
                }
                ResponseBody::whole(bytes)
            }
            (ReplyBody::Events, Some(exchange)) => ResponseBody::events(exchange, &self.runtime),
            (ReplyBody::Events, None) => ResponseBody::whole(Bytes::new()),
        };
        response(status, &fields, body)
    }
}

/// The part of a request body that was read. Most bodies arrive in one piece, which is not copied.
enum BodyBuffer {
    Empty,
    One(Bytes),
    Many(BytesMut),
}

impl BodyBuffer {
    fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One(bytes) => bytes.len(),
            Self::Many(bytes) => bytes.len(),
        }
    }

    fn push(&mut self, piece: Bytes) {
        *self = match std::mem::replace(self, Self::Empty) {
            Self::Empty => Self::One(piece),
            Self::One(first) => {
                let mut bytes = BytesMut::with_capacity(2 * (first.len() + piece.len()));
                bytes.extend_from_slice(&first);
                bytes.extend_from_slice(&piece);
                Self::Many(bytes)
            }
            Self::Many(mut bytes) => {
                bytes.extend_from_slice(&piece);
                Self::Many(bytes)
            }
        };
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Empty => Bytes::new(),
            Self::One(bytes) => bytes,
            Self::Many(bytes) => bytes.freeze(),
        }
    }
}

fn is_answered(message: &PostedMessage) -> bool {
    match message {
        PostedMessage::Request { .. } => true,
        PostedMessage::Notification { .. } | PostedMessage::Response => false,
        PostedMessage::Batch { requests } => !requests.is_empty(),
    }
}

/// Copies the authority of an HTTP/2 request to the `Host` field.
fn add_host(parts: &mut Parts) {
    let authority =
        parts.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    if let Some(host) = authority.filter(|_| !parts.headers.contains_key("host")) {
        parts.headers.insert("host", host);
    }
}

/// Returns a session id of 128 random bits.
// HTTP-30: the id must be unguessable.
fn session_id() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn response(
    status: u16,
    fields: &[(&'static str, String)],
    body: ResponseBody,
) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in fields {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().append(HeaderName::from_static(name), value);
        }
    }
    response
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService").field("sessions", &self.sessions()).finish_non_exhaustive()
    }
}

/// How long a message waits for room in its session.
const PATIENCE: Duration = Duration::from_secs(10);
