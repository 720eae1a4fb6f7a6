//! The options of a server over HTTP: access control and limits.

use std::future::Future;
use std::io;
use std::sync::Arc;

use http::request::Parts;
use mcp_proto::http::legacy_sse::SseSettings;
use mcp_proto::http::{Policy, Refusal, StreamSettings};
use mcp_proto::{Limits, Principal};

use super::authentication::{Authenticator, Check};
use super::budget::{Counters, HttpStats};
use super::limits::HttpLimits;
use super::request_head::RequestHead;
use super::session_control::SessionControl;
use super::session_ids::SessionIds;

/// The paths of HTTP+SSE.
#[derive(Clone, Debug)]
pub(super) struct SsePaths {
    pub(super) stream: String,
    pub(super) messages: String,
}

/// The options of a server over
/// [Streamable HTTP](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports).
///
/// By default, a server accepts only requests to loopback hosts. A request from a web page is
/// accepted only if the page's origin is also on a loopback host. These checks prevent DNS
/// rebinding attacks.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::Http;
///
/// let public = Http::new().host("mcp.example.com").origin("https://app.example.com");
/// # drop(public);
/// ```
// HTTP-55, HTTP-56: `Host` and `Origin` are validated.
#[derive(Clone)]
#[must_use]
pub struct Http {
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
    pub(super) any_host: bool,
    pub(super) path: Option<String>,
    pub(super) sse: Option<SsePaths>,
    pub(super) limits: HttpLimits,
    pub(super) health: Option<String>,
    pub(super) has_no_sessions: bool,
    pub(super) without_cors: bool,
    pub(super) session_ids: SessionIds,
    pub(super) counters: Arc<Counters>,
    pub(super) sessions: SessionControl,
    pub(super) settings: Arc<StreamSettings>,
    pub(super) check: Option<Check>,
    pub(super) authenticator: Option<Authenticator>,
}

impl Http {
    /// Returns the default options.
    pub fn new() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            any_host: false,
            path: Some("/mcp".into()),
            sse: None,
            limits: HttpLimits::default(),
            health: None,
            has_no_sessions: false,
            without_cors: false,
            session_ids: SessionIds::default(),
            counters: Arc::default(),
            sessions: SessionControl::default(),
            settings: Arc::default(),
            check: None,
            authenticator: None,
        }
    }

    /// Makes the server accept requests to `host` in addition to loopback hosts.
    ///
    /// If `host` names no port, as in `example.com`, requests to any port of the host are accepted.
    /// If it names a port, as in `example.com:8080`, only requests to that port are accepted. With
    /// anything else, such as a URL or a wildcard, the server does not start.
    ///
    /// `serve_http` fails if other machines can reach its listener and no host is named. To serve
    /// only clients that use a loopback host, for example through a published port of a container,
    /// name `localhost`.
    pub fn host(mut self, host: &str) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Makes the server accept requests to any host. This disables the protection against DNS
    /// rebinding.
    ///
    /// Use this only for servers behind a proxy that validates the host.
    pub const fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Makes the server accept requests from web pages of this origin, for example
    /// `https://app.example.com`. With a path or a wildcard, the server does not start.
    ///
    /// Pages of these origins can also read the responses: the server answers the preflight
    /// requests of browsers and adds the headers of [CORS]. Requests from pages on loopback hosts,
    /// such as `http://localhost:3000`, are always accepted, but browsers send most of them, and
    /// let the pages read responses, only if their origin is passed here. Cookies are not shared;
    /// pages authenticate with the `Authorization` header.
    ///
    /// [CORS]: https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CORS
    pub fn origin(mut self, origin: &str) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Sets the path of the endpoint. Default: `/mcp`. Requests to other paths receive status 404.
    ///
    /// The path begins with a slash and has no query or fragment; otherwise, the server does not
    /// start.
    pub fn path(mut self, path: &str) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Makes the server accept requests to any path, for use behind a router that matches the path.
    pub fn any_path(mut self) -> Self {
        self.path = None;
        self
    }

    /// Also offers [HTTP+SSE], the transport of revision 2024-11-05, at the paths `/sse` and
    /// `/messages`.
    ///
    /// Only clients that do not know Streamable HTTP, which is from March 2025, need it. Such a
    /// client opens a stream with a GET request to `/sse`. The stream is the client's session,
    /// which counts in all limits of sessions and belongs to the client's principal. The session
    /// ends with the stream, and if the client stops reading for
    /// [`Limits::stall_timeout`](mcp_proto::Limits::stall_timeout). If the server supports modern
    /// revisions only, the paths do not exist.
    ///
    /// [HTTP+SSE]: https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
    pub fn sse(self) -> Self {
        self.sse_at("/sse", "/messages")
    }

    /// Like [`sse`](Self::sse), with other paths.
    ///
    /// `stream_path` is the path that clients know. `message_path` is sent to them when a stream
    /// opens, and requests must arrive with it, so that HTTP+SSE does not work behind a router or
    /// proxy that changes paths. Both take precedence over [`path`](Self::path). A server whose
    /// paths are invalid or equal does not start.
    pub fn sse_at(mut self, stream_path: &str, message_path: &str) -> Self {
        let (stream, messages) = (stream_path.into(), message_path.into());
        self.sse = Some(SsePaths { stream, messages });
        self
    }

    /// Sets the limits and timeouts of the service. Default: [`HttpLimits::default`].
    pub fn limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits.bounded();
        self
    }

    /// Sets how event streams are kept alive and resumed. Default: [`StreamSettings::default`].
    pub fn settings(mut self, settings: StreamSettings) -> Self {
        self.settings = Arc::new(settings);
        self
    }

    /// Authenticates the sender of each request with a function, which may block.
    ///
    /// The function runs on a separate thread. Before, the host, origin, path and HTTP method are
    /// validated, the headers are counted in the limits, and [`checking`](Self::checking) is
    /// called. The function returns the sender's [`Principal`], or the refusal that the client
    /// receives. A refusal with status 401 must contain a challenge, which
    /// `Refusal::header("www-authenticate", …)` adds. If the function panics, the client receives
    /// status 500. If it takes too long ([`HttpLimits::authentication_timeout`]),
    /// the client receives status 503.
    ///
    /// Handlers read the principal with [`Cx::principal`](crate::Cx::principal). A session and its
    /// streams belong to the principal that opened the session: requests of others receive status
    /// 404, as for an unknown session. The state of a handler that asks the client opens only for
    /// its principal, unless the server is [without a seal](crate::Server::seal).
    ///
    /// A request is authenticated once, when it arrives. Its response, which may be an event
    /// stream, continues if the credentials expire or are revoked while it is open.
    ///
    /// Without this method, requests have the `Principal` that a layer of a router has inserted
    /// into their extensions, if any.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::http::{Http, Principal, Refusal};
    ///
    /// fn user_of(token: &str) -> Option<&'static str> {
    ///     (token == "Bearer of-ada").then_some("ada") // look up the token
    /// }
    ///
    /// let options = Http::new().authenticating(|head| {
    ///     let token = head.headers.get("authorization").and_then(|token| token.to_str().ok());
    ///     let user = token.and_then(user_of).and_then(Principal::new);
    ///     user.ok_or_else(|| {
    ///         Refusal::new(401, "unknown token").header("www-authenticate", "Bearer")
    ///     })
    /// });
    /// # drop(options);
    /// ```
    // SEC-13: sessions are bound to their principal.
    pub fn authenticating(
        mut self,
        authenticate: impl Fn(&RequestHead) -> Result<Principal, Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.authenticator = Some(Authenticator::function(authenticate));
        self
    }

    /// Authenticates the sender of each request with a future.
    ///
    /// The future runs on the adapter's runtime and must not block. With `mcp-blocking`, use
    /// [`authenticating`](Self::authenticating), which this method otherwise resembles.
    pub fn authenticating_async<F>(
        mut self,
        authenticate: impl Fn(RequestHead) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Principal, Refusal>> + Send + 'static,
    {
        self.authenticator = Some(Authenticator::future(authenticate));
        self
    }

    /// Calls `check` with the head of each request, for example to limit the rate of requests.
    ///
    /// To learn who sent a request, use [`authenticating`](Self::authenticating) or
    /// [`authorizing`](Self::authorizing) instead; they run after `check`.
    ///
    /// `check` runs on a separate thread and may block. It runs after the host, origin and path
    /// have been validated. If it panics, the client receives status 500. If it takes too long
    /// ([`HttpLimits::authentication_timeout`]), the client receives status 503.
    /// If it returns a refusal, the client receives the refusal, and the request is not processed.
    /// A refusal with status 401 must contain a challenge, which
    /// `Refusal::header("www-authenticate", …)` adds.
    pub fn checking(
        mut self,
        check: impl Fn(&Parts) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Returns the counters of the servers that are started with this value or its clones.
    ///
    /// These servers also share the limits per client address, and the limits on the total bytes of
    /// requests and sessions. All other limits apply to each server separately.
    #[must_use]
    pub fn stats(&self) -> HttpStats {
        HttpStats(Arc::clone(&self.counters))
    }

    /// Returns a handle that ends sessions of the servers started with these options.
    ///
    /// Clones of the options share the handle.
    #[must_use]
    pub fn session_control(&self) -> SessionControl {
        self.sessions.clone()
    }

    /// Returns whether hosts other than this machine are allowed.
    pub(super) const fn names_hosts(&self) -> bool {
        self.any_host || !self.hosts.is_empty()
    }

    /// Returns the limits of a connection over HTTP.
    pub(super) fn connection_limits(&self, limits: &Limits) -> Limits {
        Limits {
            message_bytes_max: limits.message_bytes_max.min(self.limits.body_bytes_max),
            peer_bytes_max: limits.peer_bytes_max.min(self.limits.peer_bytes_max),
            drain_timeout: self.limits.drain_timeout,
            ..limits.clone()
        }
    }

    /// Returns the settings of HTTP+SSE, if it is offered.
    pub(super) fn sse_settings(
        &self,
        config: &mcp_proto::server::Config,
    ) -> io::Result<Option<SseSettings>> {
        let Some(paths) = &self.sse else { return Ok(None) };
        let settings = SseSettings::new(config.clone(), &paths.messages).map_err(|error| {
            let why = format!("{error}: {:?}", paths.messages);
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })?;
        Ok(Some(settings.keep_alive(self.settings.keep_alive)))
    }

    /// Returns the policy of the service.
    ///
    /// # Errors
    /// Fails if a host or an origin can match no request.
    pub(super) fn policy(&self, config: &mcp_proto::server::Config) -> io::Result<Policy> {
        let mut policy = Policy::from_config(config);
        for host in &self.hosts {
            policy = policy.host(host);
        }
        for origin in &self.origins {
            policy = policy.origin(origin);
        }
        if self.without_cors {
            policy = policy.without_cors();
        }
        if self.has_no_sessions {
            policy = policy.without_sessions();
        }
        policy.validate().map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        Ok(if self.any_host { policy.any_host() } else { policy })
    }
}

impl Default for Http {
    fn default() -> Self {
        Self::new()
    }
}

opaque_debug!(Http, it => hosts: it.hosts, origins: it.origins, path: it.path);
