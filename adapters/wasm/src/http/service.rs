//! Servers as functions of HTTP requests.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use mcp_proto::http::{
    Admitted, Body, BodyChunk, CrossOrigin, HttpServer, Policy, Post, PostHead, Refusal, Reply,
    ServerExchangeId, SessionTable, StreamSettings, admit, check_origin, check_version,
};
use mcp_proto::server::{Config, Server as ServerMachine};

use crate::link::{Link, ServerLink};
use crate::platform::{DeadlineTimer, Platform};
use crate::server::Server;
use crate::server::entries::Entries;
use crate::server::serving::Serving;

/// The default for the most sessions, and for how long one may be idle.
const SESSIONS_MAX: usize = 1_000;
const IDLE_MAX: Duration = Duration::from_secs(30 * 60);

/// The head of an HTTP request.
///
/// ```
/// use mcp_wasm::http::WebRequest;
///
/// let request = WebRequest {
///     method: "POST".into(),
///     headers: vec![("host".into(), "localhost".into())],
/// };
/// # drop(request);
/// ```
#[derive(Clone, Debug, Default)]
pub struct WebRequest {
    /// The HTTP method, in upper case.
    pub method: String,
    /// The headers, in any case. `host` is required.
    pub headers: Vec<(String, String)>,
}

/// An HTTP response.
#[derive(Debug)]
pub struct WebReply {
    /// The status code.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: WebBody,
}

/// The body of a response.
#[derive(Debug)]
pub enum WebBody {
    /// The complete body; may be empty.
    Whole(Bytes),
    /// An event stream, to be polled for chunks.
    Events(EventBody),
}

/// The server of one session, or of one modern request, and its handlers.
struct Session {
    link: Rc<Link<HttpServer>>,
    serving: Serving,
    /// The number of open HTTP requests.
    exchanges: Cell<usize>,
}

/// A server over HTTP, as a function from requests to responses.
///
/// Both eras are served. A modern request, or one of a policy
/// [without sessions](Policy::without_sessions), is independent of all others: its handler runs
/// while the response is awaited, and dropping the response cancels it. The handlers of a session
/// run while a request of the session is open.
///
/// Sessions live in the memory of this value: at most 1,000 unless [`sessions`](Self::sessions) is
/// called, each of about 3 KB while idle. Where several instances serve one address, as Workers do,
/// use a policy without sessions.
///
/// ```
/// use std::rc::Rc;
///
/// use mcp_wasm::http::{WebRequest, WebService};
/// use mcp_wasm::{Platform, Server, StdPlatform};
///
/// let std_platform = StdPlatform::new();
/// let platform: Rc<dyn Platform> = Rc::new(std_platform.clone());
/// let service = WebService::new(&Server::new("quiet", "1.0.0"), &platform).unwrap();
/// let request = WebRequest {
///     method: "PUT".into(),
///     headers: vec![("host".into(), "localhost".into())],
/// };
/// let reply = std_platform.block_on(service.handle(&request, async { Some(Vec::new()) }));
/// assert_eq!(reply.status, 405);
/// ```
#[derive(Clone)]
pub struct WebService {
    config: Config,
    entries: Rc<Entries>,
    policy: Rc<Policy>,
    settings: Arc<StreamSettings>,
    platform: Rc<dyn Platform>,
    sessions: Rc<RefCell<SessionTable<Rc<Session>>>>,
    next_exchange: Rc<RefCell<u64>>,
}

impl WebService {
    /// Creates a service with the default [`Policy`], which accepts loopback hosts only.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if a registered entry is invalid.
    pub fn new(server: &Server, platform: &Rc<dyn Platform>) -> io::Result<Self> {
        let (config, entries) = server.parts()?;
        Ok(Self {
            policy: Rc::new(Policy::from_config(&config)),
            config,
            entries,
            settings: Arc::default(),
            platform: Rc::clone(platform),
            sessions: Rc::new(RefCell::new(SessionTable::new(SESSIONS_MAX, IDLE_MAX))),
            next_exchange: Rc::default(),
        })
    }

    /// Changes the policy, for example to accept other hosts than loopback ones.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if a host or an origin can match no request.
    pub fn policy(mut self, change: impl FnOnce(Policy) -> Policy) -> io::Result<Self> {
        let policy = change((*self.policy).clone());
        policy.validate().map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        self.policy = Rc::new(policy);
        Ok(self)
    }

    /// Limits the sessions to `max`, each of which ends when idle for `idle_max`.
    ///
    /// Default: 1,000 sessions and 30 min. Existing sessions end.
    #[must_use]
    pub fn sessions(mut self, max: usize, idle_max: Duration) -> Self {
        self.sessions = Rc::new(RefCell::new(SessionTable::new(max, idle_max)));
        self
    }

    /// Returns the maximum size of a request body in bytes. A host should read one byte more at
    /// most, so that a longer body is refused.
    #[must_use]
    pub fn body_bytes_max(&self) -> usize {
        self.policy.body_bytes_max()
    }

    /// Handles a request and returns its response.
    ///
    /// `body` is awaited after the head was accepted; it returns `None` if the client disconnects.
    /// Dropping the returned future counts as a disconnection.
    pub async fn handle(
        &self,
        request: &WebRequest,
        body: impl Future<Output = Option<Vec<u8>>>,
    ) -> WebReply {
        let headers = &request.headers;
        let page = CrossOrigin::of(&self.policy, headers);
        let served = match page.preflight(&self.policy, &request.method, headers) {
            Some(granted) => {
                check_origin(&self.policy, headers).map(|()| Answer { reply: granted, open: None })
            }
            None => self.serve(request, body).await,
        };
        let Answer { mut reply, open } =
            served.unwrap_or_else(|refusal| Answer { reply: refusal.into(), open: None });
        page.apply(&mut reply);
        let body = match (reply.body, open) {
            (Body::Whole(bytes), _) => WebBody::Whole(bytes),
            (Body::Events, Some(exchange)) => WebBody::Events(EventBody(exchange)),
            (Body::Events, None) => WebBody::Whole(Bytes::new()),
        };
        let headers = reply.headers.into_iter().map(|(name, value)| (name, value.into_owned()));
        WebReply { status: reply.status, headers: headers.collect(), body }
    }

    async fn serve(
        &self,
        request: &WebRequest,
        body: impl Future<Output = Option<Vec<u8>>>,
    ) -> Result<Answer, Refusal> {
        let now = self.platform.now();
        let expired = self.sessions.borrow_mut().expire(now, |session| is_busy(session));
        drop(expired);
        match admit(&self.policy, &request.method, &request.headers)? {
            Admitted::Post(head) => {
                let body = body.await.ok_or_else(|| Refusal::new(400, "the body is incomplete"))?;
                self.post(&head, request, &body.into()).await
            }
            Admitted::Get(get) => {
                let session = self.session(&get.session, None)?;
                let last = get.last_event_id.as_deref();
                let opened = session.link.machine.borrow_mut().handle_get(now, last);
                let id = opened.map_err(|why| Refusal::new(404, why.to_string()))?;
                // The response that had the stream before ends.
                session.link.wake();
                Ok(self.open(session, id).answer().await)
            }
            Admitted::Delete(id) => {
                let session = self.sessions.borrow_mut().remove(&id, None);
                let session = session.ok_or_else(|| Refusal::unknown_session(None))?;
                session.link.machine.borrow_mut().close(now);
                session.link.wake();
                Ok(Answer { reply: Reply::empty(204), open: None })
            }
        }
    }

    async fn post(
        &self,
        head: &PostHead,
        request: &WebRequest,
        body: &Bytes,
    ) -> Result<Answer, Refusal> {
        let (post, decoded) =
            head.read_decoded(&self.policy, &request.headers, body, &|_tool| None)?;
        let now = self.platform.now();
        let settings = Arc::clone(&self.settings);
        let (session, needs_response) = match post {
            Post::Modern { revision, message } => {
                let server = ServerMachine::new(now, self.config.clone());
                let server = HttpServer::modern(server, revision, settings);
                (self.new_session(server), message.needs_response())
            }
            Post::Sessionless { message, .. } if !message.needs_response() => {
                return Ok(Answer { reply: Reply::empty(202), open: None });
            }
            Post::Sessionless { revision, message } => {
                let server = ServerMachine::new(now, self.config.clone().without_sessions());
                let server = HttpServer::sessionless(now, server, revision, &message, settings);
                (self.new_session(server), true)
            }
            Post::Initialize { .. } => {
                let id = self.new_session_id()?;
                let server = ServerMachine::new(now, self.config.clone());
                let session =
                    self.new_session(HttpServer::legacy(server, Arc::clone(&id), settings));
                let exchange = session.link.machine.borrow_mut().handle_decoded(now, true, decoded);
                let answer = self.open(Rc::clone(&session), exchange).answer().await;
                if session.link.machine.borrow().peer().is_some() {
                    self.insert(id, session)?;
                }
                return Ok(answer);
            }
            Post::Session { session, version, message } => {
                let session = self.session(&session, message.request_id())?;
                let negotiated = session.link.machine.borrow().peer().map(|peer| peer.revision);
                check_version(version, negotiated, message.request_id())?;
                (session, message.needs_response())
            }
        };
        let handled = {
            let mut machine = session.link.machine.borrow_mut();
            let handled = machine.handle_decoded(now, needs_response, decoded);
            if !head.accepts_events() {
                machine.require_json(handled);
            }
            handled
        };
        session.link.wake();
        Ok(self.open(session, handled).answer().await)
    }

    fn new_session(&self, server: HttpServer) -> Rc<Session> {
        let link = Rc::new(Link::new(&self.platform, server));
        let serving = Serving::new(&self.entries, Rc::clone(&link) as Rc<dyn ServerLink>);
        Rc::new(Session { link, serving, exchanges: Cell::new(0) })
    }

    /// Returns 128 random bits in hexadecimal digits.
    fn new_session_id(&self) -> Result<Arc<str>, Refusal> {
        let mut bits = [0; 16];
        let no_entropy = |_| Refusal::new(500, "no source of randomness is available");
        self.platform.fill_random(&mut bits).map_err(no_entropy)?;
        Ok(format!("{:032x}", u128::from_le_bytes(bits)).into())
    }

    /// Returns an open session.
    fn session(
        &self,
        id: &str,
        request: Option<&mcp_proto::RequestId>,
    ) -> Result<Rc<Session>, Refusal> {
        let mut sessions = self.sessions.borrow_mut();
        let session = sessions.get(self.platform.now(), id, None).cloned();
        session
            .filter(|session| !session.link.machine.borrow().is_closed_session())
            .ok_or_else(|| Refusal::unknown_session(request))
    }

    /// Adds a session, which may end an idle one.
    fn insert(&self, id: Arc<str>, session: Rc<Session>) -> Result<(), Refusal> {
        let now = self.platform.now();
        let mut sessions = self.sessions.borrow_mut();
        if sessions.has_room().is_err() {
            drop(sessions.evict(now, |session| is_busy(session)));
        }
        Ok(sessions.insert(now, id, None, session)?)
    }

    fn open(&self, session: Rc<Session>, id: ServerExchangeId) -> Exchange {
        session.exchanges.set(session.exchanges.get() + 1);
        let mut next = self.next_exchange.borrow_mut();
        *next += 1;
        let timer = DeadlineTimer::new(&self.platform);
        Exchange { session, id, key: *next, timer, is_over: false }
    }
}

impl fmt::Debug for WebService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebService").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Whether a session must not count as idle. Without an exchange nothing drives its handlers, so
/// that requests without an answer would keep it forever.
fn is_busy(session: &Rc<Session>) -> bool {
    session.exchanges.get() > 0 && session.link.machine.borrow_mut().is_busy()
}

/// Whether the server of a session has closed.
trait IsClosedSession {
    fn is_closed_session(&self) -> bool;
}

impl IsClosedSession for HttpServer {
    fn is_closed_session(&self) -> bool {
        mcp_proto::MessageEndpoint::is_closed(&**self)
    }
}

/// A response, and the exchange that sends the rest of it.
struct Answer {
    reply: Reply,
    open: Option<Exchange>,
}

/// An open HTTP request, which drives its session while it is polled.
struct Exchange {
    session: Rc<Session>,
    id: ServerExchangeId,
    /// Tells the exchanges of a session apart.
    key: u64,
    timer: DeadlineTimer,
    is_over: bool,
}

/// How often handlers and the protocol take turns before other tasks of the thread do.
const TURNS_MAX: usize = 64;

impl Exchange {
    /// Waits for the head of the response.
    async fn answer(mut self) -> Answer {
        let reply =
            poll_fn(|cx| self.poll(cx, |exchange| exchange.machine_mut(HttpServer::poll_reply)))
                .await;
        self.is_over = reply.body != Body::Events;
        let open = if self.is_over { None } else { Some(self) };
        Answer { reply, open }
    }

    fn machine_mut<T>(&self, poll: impl FnOnce(&mut HttpServer, ServerExchangeId) -> T) -> T {
        poll(&mut self.session.link.machine.borrow_mut(), self.id)
    }

    /// Drives the session until `output` returns something.
    fn poll<T>(&mut self, cx: &mut Context<'_>, output: impl Fn(&Self) -> Option<T>) -> Poll<T> {
        let session = Rc::clone(&self.session);
        let link = &session.link;
        link.set_driver(self.key, cx.waker());
        let polled = self.poll_session(cx, output);
        if polled.is_ready() {
            // Until it is polled again, this exchange does not run the handlers.
            link.remove_driver(self.key);
        }
        polled
    }

    fn poll_session<T>(
        &mut self,
        cx: &mut Context<'_>,
        output: impl Fn(&Self) -> Option<T>,
    ) -> Poll<T> {
        let session = Rc::clone(&self.session);
        let Session { link, serving, .. } = &*session;
        for _ in 0..TURNS_MAX {
            let mut is_busy = false;
            loop {
                let event = link.machine.borrow_mut().poll_event();
                let Some(event) = event else { break };
                serving.on_event(event);
                is_busy = true;
            }
            is_busy |= serving.poll(cx.waker());
            if let Some(output) = output(self) {
                return Poll::Ready(output);
            }
            if is_busy {
                continue;
            }
            let deadline = link.machine.borrow().poll_timeout();
            if !self.timer.poll(cx, deadline) {
                return Poll::Pending;
            }
            link.machine.borrow_mut().handle_timeout(link.now());
            link.wake();
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// The client has disconnected, unless the response is complete.
impl Drop for Exchange {
    fn drop(&mut self) {
        let Session { link, serving, exchanges } = &*self.session;
        exchanges.set(exchanges.get() - 1);
        if !self.is_over {
            link.machine.borrow_mut().handle_gone(link.now(), self.id);
            // A modern request is cancelled, and its handler dropped.
            loop {
                let event = link.machine.borrow_mut().poll_event();
                let Some(event) = event else { break };
                serving.on_event(event);
            }
        }
        link.remove_driver(self.key);
    }
}

/// An event stream. Dropping it counts as a disconnection of the client.
///
/// While nothing polls it, its handler does not continue, unless another request of its session is
/// open.
pub struct EventBody(Exchange);

impl EventBody {
    /// Returns the next chunk of the stream, or `None` at its end.
    pub async fn next(&mut self) -> Option<Bytes> {
        let exchange = &mut self.0;
        if exchange.is_over {
            return None;
        }
        let chunk = poll_fn(|cx| {
            exchange.poll(cx, |exchange| exchange.machine_mut(HttpServer::poll_chunk))
        })
        .await;
        match chunk {
            BodyChunk::Bytes(bytes) => Some(bytes),
            BodyChunk::End => {
                exchange.is_over = true;
                None
            }
        }
    }
}

impl fmt::Debug for EventBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventBody").finish_non_exhaustive()
    }
}
