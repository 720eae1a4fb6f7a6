//! The HTTP service of a server, for any runtime and any HTTP library.

mod open;
mod reply;
mod shared;

use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_lite::future::{or, yield_now};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response};
use mcp_proto::http::{Admitted, Refusal, admit, check_origin};

use self::reply::response;
use self::shared::ServiceShared;
use super::authentication::HeadCall;
use super::body::ResponseBody;
use super::body_buffer::BodyBuffer;
use super::budget::{AddressShare, ByteLease, HttpStats, PeerAddress, Rejection};
use super::options::Http;
use super::request_head::{RequestHead, head_bytes};
use super::runtime::HttpRuntime;
use super::sockets::Sockets;
use crate::server::Server;

/// An MCP server as an HTTP service that works with any HTTP library.
///
/// Cheap to clone; clones share all sessions.
#[derive(Clone)]
pub struct HttpService {
    shared: Arc<ServiceShared>,
}

impl HttpService {
    /// Creates a service for `server`. The `http_service` methods of adapters call this method.
    ///
    /// # Errors
    /// Fails if a registered tool, resource, resource template or prompt is invalid.
    pub fn new(server: &Server, options: Http, runtime: Arc<dyn HttpRuntime>) -> io::Result<Self> {
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
        match self.shared.answer(parts, body).await {
            Ok(response) => response,
            Err(refusal) => self.refuse(refusal),
        }
    }
}

impl ServiceShared {
    async fn answer<B>(
        self: &Arc<Self>,
        parts: Parts,
        body: B,
    ) -> Result<Response<ResponseBody>, Refusal>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        let is_elsewhere =
            self.options.path.as_deref().is_some_and(|path| path != parts.uri.path());
        let Http { check, authenticator, .. } = &self.options;
        // `admit` screens the request as well, so it is screened here only if something comes
        // first.
        if is_elsewhere || check.is_some() || authenticator.is_some() {
            check_origin(&self.policy, &parts.headers)?;
        }
        if is_elsewhere {
            return Err(Refusal::new(404, "not found"));
        }
        if ![Method::POST, Method::GET, Method::DELETE].contains(&parts.method) {
            // Refused without credentials: a browser sends none before it asks for permission.
            admit(&self.policy, parts.method.as_str(), &parts.headers)?;
        }
        let head = self.keep_head(parts)?;
        let call = HeadCall {
            head: &head,
            callbacks: &self.callbacks,
            runtime: &self.runtime,
            timeout: self.options.authentication_timeout,
        };
        if let Some(check) = check {
            call.check(check).await?;
        }
        let principal = match authenticator {
            Some(authenticator) => Some(authenticator.authenticate(&call).await?),
            None => head.inserted_principal(),
        };
        let principal = principal.as_ref();
        let admitted =
            head.peek(|parts| admit(&self.policy, parts.method.as_str(), &parts.headers))?;
        match admitted {
            Admitted::Post(post) => {
                // Counted until the connection has the message, which then counts it.
                let mut lease = ByteLease::new(&self.options.counters.requests_bytes);
                let mut share = self.address_share(head.peer_address());
                let body = self.read(body, &mut lease, &mut share).await?;
                let exchange = self.post(&head, principal, &post, body, lease).await?;
                let mut response = self.respond(exchange).await;
                response.body_mut().hold(share);
                Ok(response)
            }
            Admitted::Get(get) => self.get(&get, principal).await,
            Admitted::Delete(id) => {
                if self.sessions.remove(&id, principal) {
                    Ok(response(204, Vec::new(), ResponseBody::whole(Bytes::new())))
                } else {
                    Err(Refusal::unknown_session(None))
                }
            }
        }
    }

    /// Counts the bytes of a head until its request has been handled.
    fn keep_head(&self, parts: Parts) -> Result<RequestHead, Refusal> {
        let bytes = head_bytes(&parts);
        let mut lease = ByteLease::new(&self.options.counters.requests_bytes);
        let address = parts.extensions.get::<PeerAddress>();
        let mut share = self.address_share(address.copied());
        self.count(bytes, &mut lease, &mut share)?;
        Ok(RequestHead::new(parts, lease, share))
    }

    /// Counts bytes of a request in the limits of the service and of the client's address.
    fn count(
        &self,
        bytes: usize,
        lease: &mut ByteLease,
        share: &mut AddressShare,
    ) -> Result<(), Refusal> {
        if !share.try_add(bytes, self.options.requests_bytes_per_address_max) {
            let why = "too many bytes of requests (`Http::requests_bytes_per_address_max`)";
            return Err(self.refusal(Rejection::Address, why));
        }
        if !lease.try_add(bytes, self.options.requests_bytes_max) {
            let why = "too many bytes of requests (`Http::requests_bytes_max`)";
            return Err(self.refusal(Rejection::Service, why));
        }
        Ok(())
    }

    fn address_share(&self, address: Option<PeerAddress>) -> AddressShare {
        self.options.counters.requests_bytes_by_address.share(address.map(PeerAddress::network))
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
                self.count(data.remaining(), lease, share)?;
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

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService").field("sessions", &self.sessions()).finish_non_exhaustive()
    }
}
