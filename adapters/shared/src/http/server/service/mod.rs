//! The HTTP service of a server, for any runtime and any HTTP library.

mod authorize_batch;
mod open;
mod receive;
mod reply;
mod shared;
mod sse;
mod tower;

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response};
use mcp_proto::http::{
    Admitted, CrossOrigin, Refusal, Reply, admit, admit_screened, check_host, check_origin,
};
use mcp_proto::{Principal, Secret};

use self::receive::Received;
use self::reply::{response, share};
use self::shared::ServiceShared;
use self::sse::ServiceEndpoint;
use super::authentication::{Authenticator, HeadCall};
use super::body::ResponseBody;
use super::budget::{AddressShare, ByteLease, HttpStats, PeerAddress, Rejection};
use super::options::Http;
use super::request_head::{RequestHead, head_bytes};
use super::sockets::Sockets;
use crate::http::dial::Dial;
use crate::server::settings::ServerSettings;
use crate::trace;

/// A server as a service for `hyper`, `tower`, or a router such as `axum`.
///
/// Cheap to clone; clones share all sessions. For hyper 1, wrap it in
/// `hyper_util::service::TowerToHyperService`. The versions of HTTP are those that the router or
/// hyper speaks.
///
/// The service does not accept connections itself, so some limits have no effect:
/// [`connections_max`](crate::http::HttpLimits::connections_max),
/// [`connections_per_address_max`](crate::http::HttpLimits::connections_per_address_max) and
/// [`head_timeout`](crate::http::HttpLimits::head_timeout). Limit connections where your program
/// accepts them. The limits on sessions, streams and request bytes per client address apply only to
/// requests with a [`PeerAddress`](crate::http::PeerAddress) extension.
///
/// A router that stops gracefully waits for its open event streams: call [`close`](Self::close)
/// as soon as the program should stop, not after the router has stopped.
#[derive(Clone)]
pub struct HttpService {
    shared: Arc<ServiceShared>,
}

impl HttpService {
    /// Creates a service on a runtime.
    ///
    /// # Errors
    /// Fails if a registered tool, resource, resource template or prompt is invalid.
    pub(crate) fn on(
        server: &ServerSettings,
        options: Http,
        runtime: Arc<dyn Dial>,
    ) -> io::Result<Self> {
        Ok(Self { shared: Arc::new(ServiceShared::new(server, options, runtime)?) })
    }

    /// Returns the number of open sessions.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.shared.sessions.len()
    }

    /// Ends all sessions and subscriptions, and rejects new ones.
    ///
    /// Requests in progress may still be answered within
    /// [`HttpLimits::drain_timeout`](crate::http::HttpLimits::drain_timeout).
    pub fn close(&self) {
        self.shared.sessions.close();
    }

    /// Ends all sessions and subscriptions of `principal` and returns their number; see
    /// [`SessionControl::end_principal`](crate::http::SessionControl::end_principal).
    pub fn end_principal(&self, principal: &Principal) -> usize {
        self.shared.sessions.end_principal(principal)
    }

    /// Returns the live counters of this service.
    #[must_use]
    pub fn stats(&self) -> HttpStats {
        self.shared.options.stats()
    }

    pub(super) fn runtime(&self) -> &Arc<dyn Dial> {
        &self.shared.runtime
    }

    pub(super) fn connection_idle_max(&self) -> Duration {
        self.shared.options.limits.connection_idle_max
    }

    pub(super) fn drain_timeout(&self) -> Duration {
        self.shared.options.limits.drain_timeout
    }

    pub(super) fn head_timeout(&self) -> Duration {
        self.shared.options.limits.head_timeout
    }

    #[cfg(feature = "tls")]
    pub(super) fn http2_streams_max(&self) -> u32 {
        self.shared.options.limits.http2_streams_max
    }

    /// Returns whether the options allow hosts other than this machine.
    pub(super) fn names_hosts(&self) -> bool {
        self.shared.options.names_hosts()
    }

    pub(super) fn stall_timeout(&self) -> Duration {
        self.shared.config.limits_ref().stall_timeout
    }

    /// Creates the table of the connections of a listening server.
    pub(super) fn sockets(&self) -> Arc<Sockets> {
        let Http { counters, limits, .. } = &self.shared.options;
        let per_address_max = limits.connections_per_address_max;
        Sockets::new(Arc::clone(counters), limits.connections_max, per_address_max)
    }

    pub(super) fn refuse(&self, refusal: Refusal) -> Response<ResponseBody> {
        self.shared.refuse(refusal)
    }

    /// Processes an HTTP request and returns the response, which may be an event stream.
    pub fn respond<B>(
        &self,
        request: Request<B>,
    ) -> impl Future<Output = Response<ResponseBody>> + use<B>
    where
        B: http_body::Body<Error: Into<Box<dyn StdError + Send + Sync>>>,
    {
        self.respond_to(request.extensions().get().copied(), request)
    }

    /// Like [`respond`](Self::respond), to a request from `address`.
    pub(super) fn respond_to<B>(
        &self,
        address: Option<PeerAddress>,
        request: Request<B>,
    ) -> impl Future<Output = Response<ResponseBody>> + use<B>
    where
        B: http_body::Body<Error: Into<Box<dyn StdError + Send + Sync>>>,
    {
        let shared = Arc::clone(&self.shared);
        let (parts, body) = request.into_parts();
        // Outside of the future, which stays small without the head.
        let page = CrossOrigin::of(&shared.policy, &parts.headers);
        let screened = shared.screen(parts, address, &page);
        async move {
            let answered = match screened {
                Ok(Screened::Request(head, token)) => shared.answer(&head, token, body).await,
                Ok(Screened::Answered(reply)) => Ok(shared.reply(reply, None)),
                Err(refusal) => Err(refusal),
            };
            let mut response = answered.unwrap_or_else(|refusal| shared.refuse(refusal));
            share(&mut response, &page);
            response
        }
    }
}

/// A request before it is authenticated.
enum Screened {
    /// The head, and the access token that was taken out of it.
    Request(RequestHead, Option<Secret>),
    /// The reply to a request that needs no authentication: for the metadata of the resource, for
    /// the health of the server, or of a browser that asks for permission.
    Answered(Reply),
}

impl ServiceShared {
    fn refuse(&self, refusal: Refusal) -> Response<ResponseBody> {
        trace::refused(refusal.status, refusal.reason());
        self.reply(refusal.into(), None)
    }

    /// Answers or refuses a request that needs no authentication for that, or keeps its head.
    fn screen(
        &self,
        mut parts: Parts,
        address: Option<PeerAddress>,
        page: &CrossOrigin,
    ) -> Result<Screened, Refusal> {
        if self.options.health.is_some()
            && let Some(reply) = self.options.health_reply(&parts, self.sessions.is_closed())
        {
            return Ok(Screened::Answered(reply));
        }
        add_host(&mut parts);
        let authorizer = self.options.authenticator.as_ref().and_then(Authenticator::authorizer);
        if let Some(metadata) = authorizer.and_then(|authorizer| authorizer.metadata_reply(&parts))
        {
            check_host(&self.policy, &parts.headers)?;
            return Ok(Screened::Answered(metadata));
        }
        let endpoint = self.endpoint(parts.uri.path());
        let is_elsewhere = endpoint == ServiceEndpoint::None;
        // `admit` screens the request as well, so it is screened here only if something comes
        // first.
        if is_elsewhere || self.authenticates() {
            check_origin(&self.policy, &parts.headers)?;
        }
        if is_elsewhere {
            return Err(self.not_found(parts.uri.path()));
        }
        if ![Method::POST, Method::GET, Method::DELETE].contains(&parts.method) {
            // Without credentials: a browser sends none before it has permission.
            if let Some(granted) =
                page.preflight(&self.policy, parts.method.as_str(), &parts.headers)
            {
                check_origin(&self.policy, &parts.headers)?;
                return Ok(Screened::Answered(granted));
            }
            admit(&self.policy, parts.method.as_str(), &parts.headers)?;
        }
        self.screen_sse(endpoint, &parts)?;
        let token = authorizer.map(|authorizer| authorizer.take_token(&mut parts)).transpose()?;
        // AUT-05: a proxy and the application must not see different credentials.
        if self.authenticates() && parts.headers.get_all(AUTHORIZATION).iter().nth(1).is_some() {
            return Err(Refusal::new(400, "`Authorization` is repeated"));
        }
        Ok(Screened::Request(self.keep_head(parts, address)?, token))
    }

    /// Refuses a request to a path that belongs to no endpoint.
    ///
    /// Names the endpoint only to clients that nearly know it: its path may be a secret.
    fn not_found(&self, path: &str) -> Refusal {
        let known = self.options.path.as_deref().unwrap_or_default();
        if path.trim_matches('/').eq_ignore_ascii_case(known.trim_matches('/')) {
            return Refusal::new(404, format!("not found: the path of the endpoint is {known:?}"));
        }
        Refusal::new(404, "not found")
    }

    async fn answer<B>(
        self: &Arc<Self>,
        head: &RequestHead,
        token: Option<Secret>,
        body: B,
    ) -> Result<Response<ResponseBody>, Refusal>
    where
        B: http_body::Body<Error: Into<Box<dyn StdError + Send + Sync>>>,
    {
        let principal = if self.authenticates() {
            // Boxed: inline it would enlarge the requests of all servers.
            Box::pin(self.authenticate(head, token)).await?
        } else {
            head.inserted_principal()
        };
        let principal = principal.as_ref();
        match head.peek(|parts| self.endpoint(parts.uri.path())) {
            ServiceEndpoint::Mcp | ServiceEndpoint::None => {}
            // Boxed: these are rare, and inline they would enlarge all requests.
            ServiceEndpoint::SseStream => return Box::pin(self.open_sse(head, principal)).await,
            ServiceEndpoint::SseMessages => {
                return Box::pin(self.post_sse(head, principal, body)).await;
            }
        }
        let admit = if self.authenticates() { admit_screened } else { admit };
        let admitted =
            head.peek(|parts| admit(&self.policy, parts.method.as_str(), &parts.headers))?;
        match admitted {
            Admitted::Post(post) => {
                let exchange = match self.receive(head, principal, &post, body).await? {
                    Received::Exchange(exchange) => exchange,
                    Received::Answered(reply) => return Ok(self.reply(reply, None)),
                };
                let mut response = self.respond(exchange).await;
                head.authorization().apply(&mut response);
                Ok(response)
            }
            // Boxed, like other rare waits.
            Admitted::Get(get) => Box::pin(self.get(&get, head.peer_address(), principal)).await,
            Admitted::Delete(id) => {
                if self.sessions.remove(&id, principal) {
                    Ok(response(204, Vec::new(), ResponseBody::whole(Bytes::new())))
                } else {
                    Err(Refusal::unknown_session(None))
                }
            }
        }
    }

    /// Returns whether the application checks or authenticates requests before they are admitted.
    fn authenticates(&self) -> bool {
        self.options.check.is_some() || self.options.authenticator.is_some()
    }

    /// Runs the check and the authentication of the application.
    async fn authenticate(
        &self,
        head: &RequestHead,
        token: Option<Secret>,
    ) -> Result<Option<Principal>, Refusal> {
        let Http { check, authenticator, .. } = &self.options;
        let call = HeadCall {
            head,
            callbacks: &self.callbacks,
            runtime: &self.runtime,
            timeout: self.options.limits.authentication_timeout,
        };
        if let Some(check) = check {
            call.check(check).await?;
        }
        match authenticator {
            Some(authenticator) => authenticator.authenticate(&call, token).await.map(Some),
            None => Ok(head.inserted_principal()),
        }
    }

    /// Counts the bytes of a head until its request has been handled.
    fn keep_head(
        &self,
        parts: Parts,
        address: Option<PeerAddress>,
    ) -> Result<RequestHead, Refusal> {
        let bytes = head_bytes(&parts);
        let mut lease = ByteLease::new(&self.options.counters.requests_bytes);
        let mut share = self.address_share(address);
        self.count(bytes, &mut lease, &mut share)?;
        Ok(RequestHead::new(parts, address, lease, share))
    }

    /// Counts bytes of a request in the limits of the service and of the client's address.
    fn count(
        &self,
        bytes: usize,
        lease: &mut ByteLease,
        share: &mut AddressShare,
    ) -> Result<(), Refusal> {
        if !share.try_add(bytes, self.options.limits.requests_bytes_per_address_max) {
            let why = "too many bytes of requests (`HttpLimits::requests_bytes_per_address_max`)";
            return Err(self.refusal(Rejection::Address, why));
        }
        if !lease.try_add(bytes, self.options.limits.requests_bytes_max) {
            let why = "too many bytes of requests (`HttpLimits::requests_bytes_max`)";
            return Err(self.refusal(Rejection::Service, why));
        }
        Ok(())
    }

    pub(super) fn address_share(&self, address: Option<PeerAddress>) -> AddressShare {
        self.options.counters.requests_bytes_by_address.share(address.map(PeerAddress::network))
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

opaque_debug!(HttpService, it => sessions: it.sessions());
