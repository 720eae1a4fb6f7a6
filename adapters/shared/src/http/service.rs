//! The HTTP service of a server, for any runtime and any HTTP library.

use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_lite::future::{or, yield_now};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use mcp_proto::http::{
    Admitted, Body as ReplyBody, ContextCache, GetRequest, HttpServer, Policy, Post, PostHead,
    PostedMessage, Refusal, Reply, SessionTable, admit, check_origin,
};
use mcp_proto::server::{Config, Server as Machine};
use mcp_proto::{DecodedMessage, ErrorObject, MessageEndpoint as _, RequestId, Revision, code};

use super::body::{Exchange, ResponseBody};
use super::body_buffer::BodyBuffer;
use super::budget::{AddressShare, ByteLease, HttpStats, PeerAddress, Rejection};
use super::options::Http;
use super::runtime::HttpRuntime;
use super::sessions::{SessionTimers, Sessions};
use super::sockets::Sockets;
use super::transport::MeteredServer;
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
        let limits = options.limits(config.limits_ref());
        let config = config.limits(limits);
        let policy = options.policy(&config);
        let sessions = Sessions::new(
            SessionTable::new(options.sessions_max, options.idle_max)
                .unconfirmed_max(options.unconfirmed_max),
            options.listeners_max,
            Arc::clone(&options.counters),
            options.sessions_bytes_max,
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

    /// Returns the live counters of this service.
    #[must_use]
    pub fn stats(&self) -> HttpStats {
        self.shared.options.stats()
    }

    pub(super) fn runtime(&self) -> &Arc<dyn HttpRuntime> {
        &self.shared.runtime
    }

    pub(super) fn head_timeout(&self) -> Duration {
        self.shared.options.head_timeout
    }

    pub(super) fn stall_timeout(&self) -> Duration {
        self.shared.config.limits_ref().stall_timeout
    }

    /// Creates the table of the connections of a listening server.
    pub(super) fn sockets(&self) -> Arc<Sockets> {
        let Http { counters, connections_max, connections_per_address_max, .. } =
            &self.shared.options;
        Sockets::new(Arc::clone(counters), *connections_max, *connections_per_address_max)
    }

    pub(super) fn refuse(&self, refusal: Refusal) -> Response<ResponseBody> {
        self.shared.reply(refusal.into(), None)
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
            Err(refusal) => self.refuse(refusal),
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
                // Counted until the connection has the message, which then counts it.
                let counters = &self.options.counters;
                let mut lease = ByteLease::new(&counters.requests_bytes);
                let address = parts.extensions.get::<PeerAddress>().copied();
                let mut share = counters.requests_bytes_by_address.share(address);
                let body = self.read(body, &mut lease, &mut share).await?;
                let exchange = self.post(parts, &head, body, lease).await?;
                let mut response = self.respond(exchange).await;
                response.body_mut().hold(share);
                Ok(response)
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

    /// Reads a body, within the limits on its size and duration, and counts its bytes.
    async fn read<B>(
        &self,
        body: B,
        lease: &mut ByteLease,
        share: &mut AddressShare,
    ) -> Result<Bytes, Refusal>
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
                let most = self.options.requests_bytes_per_address_max;
                if !share.try_add(data.remaining(), most) {
                    let why = "too many bytes of requests (`Http::requests_bytes_per_address_max`)";
                    return Err(self.refusal(Rejection::Address, why));
                }
                if !lease.try_add(data.remaining(), self.options.requests_bytes_max) {
                    return Err(self.refusal(
                        Rejection::Service,
                        "too many bytes of requests (`Http::requests_bytes_max`)",
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
        lease: ByteLease,
    ) -> Result<Exchange, Refusal> {
        let schema_of = |name: &str| self.server.schema_of(name);
        let (post, decoded) = head.read_decoded(&self.policy, &parts.headers, &body, &schema_of)?;
        let exchange = match post {
            Post::Modern { revision, message } => {
                self.open_modern(revision, &message, &body, decoded)?
            }
            Post::Initialize { .. } => {
                let address = parts.extensions.get::<PeerAddress>().copied();
                self.open_session(address, &body, decoded)?
            }
            Post::Session { session, version, message } => {
                let id = match &message {
                    PostedMessage::Request { id, .. } => Some(id),
                    _ => None,
                };
                let link =
                    self.sessions.get(&session).ok_or_else(|| Refusal::unknown_session(id))?;
                if !self.sessions.has_bytes() {
                    return Err(self.sessions_too_large());
                }
                let is_answered = is_answered(&message);
                check_version(&link, version, id)?;
                if link.wants_input_now() {
                    self.exchange(&link, false, is_answered, &body, Some(decoded))?
                } else {
                    // The message is decoded again later, so it need not be kept meanwhile.
                    let id = id.cloned();
                    drop((message, decoded));
                    let has_changed = |state: &State<Machine>| {
                        state.wants_input() || state.connection.is_closed()
                    };
                    let has_changed = link.wait_until(PATIENCE, has_changed).await;
                    if link.inspect(|state| state.connection.is_closed()) {
                        return Err(Refusal::unknown_session(id.as_ref()));
                    }
                    if !has_changed {
                        return Err(self.refusal(
                            Rejection::Service,
                            "the session has too many requests in flight",
                        ));
                    }
                    self.exchange(&link, false, is_answered, &body, None)?
                }
            }
        };
        drop(lease);
        Ok(exchange)
    }

    /// Returns a refusal because of a limit, and counts it.
    fn refusal(&self, rejection: Rejection, why: &'static str) -> Refusal {
        self.options.counters.refuse(rejection);
        Refusal::new(rejection.status(), why).header("retry-after", RETRY_AFTER)
    }

    fn sessions_too_large(&self) -> Refusal {
        self.refusal(
            Rejection::Service,
            "sessions hold too many bytes (`Http::sessions_bytes_max`)",
        )
    }

    // ID-10: the ids of one POST are independent of those of others.
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
        let link = self.link(clock, session, 0);
        // Only a subscription needs change notifications.
        let is_subscription = matches!(
            message,
            PostedMessage::Request { method, .. } if **method == *"subscriptions/listen"
        );
        let listening = if is_subscription {
            if !self.sessions.has_bytes() {
                return Err(self.sessions_too_large());
            }
            let full = || {
                let why = "too many subscriptions (`Http::listeners_max`)";
                self.refusal(Rejection::Service, why)
            };
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
            let latest = state.http().map(|http| std::mem::take(http.context_cache()));
            *contexts = latest.unwrap_or_default();
        }
        Ok(exchange)
    }

    /// Starts a session.
    // HTTP-29: the response to `initialize` carries the session id.
    fn open_session(
        self: &Arc<Self>,
        address: Option<PeerAddress>,
        body: &Bytes,
        decoded: DecodedMessage<'_>,
    ) -> Result<Exchange, Refusal> {
        let Http { counters, sessions_per_address_max, .. } = &self.options;
        let place = counters.sessions_by_address.take(address, *sessions_per_address_max);
        let place = place.ok_or_else(|| {
            let why = "too many sessions of this address (`Http::sessions_per_address_max`)";
            self.refusal(Rejection::Address, why)
        })?;
        if !self.sessions.has_bytes() {
            return Err(self.sessions_too_large());
        }
        let id =
            session_id().map_err(|_| Refusal::new(500, "no source of randomness is available"))?;
        let clock = Clock::new();
        let machine = Machine::new(clock.now(), self.config.clone());
        let session = HttpServer::legacy(machine, &id, Arc::clone(&self.options.settings));
        let link = self.link(clock, session, description_bytes(body.len()));
        let serving = Serving::new(Arc::clone(&link), false);
        let exchange = self.exchange(&link, false, true, body, Some(decoded))?;
        let is_open = link.inspect(|state| state.connection.peer().is_some());
        if is_open {
            if !self.sessions.insert(&self.runtime, &id, &link, serving, place) {
                let why = "too many sessions (`Http::sessions_max`)";
                return Err(self.refusal(Rejection::Service, why));
            }
            link.spawn_timers_with(Arc::clone(&self.timers));
        }
        Ok(exchange)
    }

    async fn get(self: &Arc<Self>, get: &GetRequest) -> Result<Response<ResponseBody>, Refusal> {
        let link = self.sessions.get(&get.session).ok_or_else(|| Refusal::unknown_session(None))?;
        let last = get.last_event_id.as_deref();
        let opened = link.with(|state, now| state.http().map(|http| http.handle_get(now, last)));
        let id = opened.ok_or_else(|| Refusal::unknown_session(None))?.map_err(Refusal::from)?;
        Ok(self
            .respond(Exchange { link, id, is_modern: false, is_over: false, listening: None })
            .await)
    }

    /// Creates a connection whose client's description takes `description` bytes.
    fn link(&self, clock: Clock, session: HttpServer, description: usize) -> Arc<Link<Machine>> {
        let Http { counters, sessions_bytes_max, .. } = &self.options;
        let metered = MeteredServer::new(session, counters, *sessions_bytes_max, description);
        let link = self.server.link(clock, Transport::Http(Box::new(metered)), self.spawn());
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
            let http = state.http()?;
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
        let reply = link.when(|state| state.poll_http(|http| http.poll_reply(id)));
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

fn is_answered(message: &PostedMessage) -> bool {
    match message {
        PostedMessage::Request { .. } => true,
        PostedMessage::Notification { .. } | PostedMessage::Response => false,
        PostedMessage::Batch { requests } => !requests.is_empty(),
    }
}

/// Fails if a request names another revision than its session has.
// HTTP-36: the header names the negotiated revision.
fn check_version(
    link: &Link<Machine>,
    version: Option<Revision>,
    id: Option<&RequestId>,
) -> Result<(), Refusal> {
    let negotiated = link.inspect(|state| state.connection.peer().map(|peer| peer.revision));
    match (version, negotiated) {
        (Some(version), Some(negotiated)) if version != negotiated => {
            let why = format!("`MCP-Protocol-Version` must be {negotiated}, as negotiated");
            let error = ErrorObject::new(code::INVALID_REQUEST, why);
            Err(Refusal::with_error(400, Some(negotiated), id, &error))
        }
        _ => Ok(()),
    }
}

/// Copies the authority of the request target to the `Host` field.
///
/// HTTP/2 requests always have one. In HTTP/1.1, it takes precedence over the field.
fn add_host(parts: &mut Parts) {
    let authority =
        parts.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    if let Some(host) = authority {
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

/// Returns the memory of a client's description in a body of this length, beyond what each session
/// may hold anyway.
///
/// Decoded, a long list of small values takes many times the size of its text.
const fn description_bytes(body: usize) -> usize {
    const FREE: usize = 1024;
    const FACTOR: usize = 24;
    // The budget counts text, and a byte of text costs up to four.
    if body > FREE { body * FACTOR / 4 } else { 0 }
}

/// How long a client that was refused should wait, in seconds.
const RETRY_AFTER: &str = "5";

/// How long a message waits for room in its session.
const PATIENCE: Duration = Duration::from_secs(10);
