//! The options of a server over HTTP: access control and limits.

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use mcp_proto::http::legacy_sse::SseSettings;
use mcp_proto::http::{Policy, Refusal, StreamSettings};
use mcp_proto::{Limits, Principal};

use super::authentication::{Authenticator, Check};
use super::budget::{Counters, HttpStats};
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
/// let public = Http::new()
///     .host("mcp.example.com")
///     .origin("https://app.example.com")
///     .sessions_max(1_000);
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
    pub(super) connections_max: usize,
    pub(super) connections_per_address_max: usize,
    #[cfg(feature = "http2")]
    pub(super) http2_streams_max: u32,
    pub(super) sessions_max: usize,
    pub(super) sessions_per_address_max: usize,
    pub(super) sessions_per_principal_max: usize,
    pub(super) sessions_bytes_max: usize,
    pub(super) requests_bytes_max: usize,
    pub(super) requests_bytes_per_address_max: usize,
    pub(super) body_bytes_max: usize,
    pub(super) peer_bytes_max: usize,
    pub(super) listeners_max: usize,
    pub(super) listeners_per_address_max: usize,
    pub(super) idle_max: Duration,
    pub(super) unconfirmed_max: Duration,
    pub(super) connection_idle_max: Duration,
    pub(super) head_timeout: Duration,
    pub(super) body_timeout: Duration,
    pub(super) authentication_timeout: Duration,
    pub(super) drain_timeout: Duration,
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
            connections_max: 10_000,
            connections_per_address_max: 2_500,
            #[cfg(feature = "http2")]
            http2_streams_max: 100,
            sessions_max: 10_000,
            sessions_per_address_max: 2_500,
            sessions_per_principal_max: 2_500,
            sessions_bytes_max: 256 << 20,
            requests_bytes_max: 256 << 20,
            requests_bytes_per_address_max: 64 << 20,
            body_bytes_max: 4 << 20,
            peer_bytes_max: 64 << 10,
            listeners_max: 10_000,
            listeners_per_address_max: 1_250,
            idle_max: Duration::from_secs(30 * 60),
            unconfirmed_max: Duration::from_secs(20),
            connection_idle_max: Duration::from_secs(75),
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            authentication_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(2),
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

    /// Sets the maximum number of open connections. Default: 10,000.
    ///
    /// When the maximum is reached and another client connects, the connections that have been idle
    /// for longest are closed. If all connections have a request in progress, the new client
    /// receives status 503. Each connection costs about 10 KiB, and up to 200 KiB while its client
    /// sends long headers. The limit applies only to servers that are started with `serve_http`.
    // SEC-18: bounds the memory that clients can claim.
    pub const fn connections_max(mut self, connections_max: usize) -> Self {
        self.connections_max = connections_max;
        self
    }

    /// Sets the maximum number of open connections of one client address. Default: 2,500.
    ///
    /// When the maximum is reached and the address connects again, its connections that have been
    /// idle for longest are closed. If all of them have a request in progress, requests on further
    /// connections receive status 429. The 64-bit network of an IPv6 address counts as one address,
    /// and so do all loopback addresses. Behind a proxy, all clients have the proxy's address: set
    /// this limit to the value of [`connections_max`](Self::connections_max).
    // SEC-18: bounds what one client can claim.
    pub const fn connections_per_address_max(mut self, connections_max: usize) -> Self {
        self.connections_per_address_max = connections_max;
        self
    }

    /// Sets the maximum number of concurrent sessions. Default: 10,000.
    ///
    /// Only clients of legacy revisions (up to 2025-11-25) open sessions.
    ///
    /// When the maximum is reached and another client opens a session, the idle session that would
    /// expire first is ended. Only the 64 sessions that expire first are examined. If all of them
    /// have a request in flight or an open stream, the new client receives status 503. Each idle
    /// session costs about 3 KiB.
    // SEC-18: bounds the memory that clients can claim.
    pub const fn sessions_max(mut self, sessions_max: usize) -> Self {
        self.sessions_max = sessions_max;
        self
    }

    /// Sets the maximum number of sessions of one client address. Default: 2,500.
    ///
    /// Requests for further sessions receive status 429. The 64-bit network of an IPv6 address
    /// counts as one address. Behind a proxy, all clients have the proxy's address: set this limit
    /// to the value of [`sessions_max`](Self::sessions_max).
    // SEC-18: bounds what one client can claim.
    pub const fn sessions_per_address_max(mut self, sessions_max: usize) -> Self {
        self.sessions_per_address_max = sessions_max;
        self
    }

    /// Sets the maximum number of sessions of one [`Principal`]. Default: 2,500.
    ///
    /// Requests for further sessions receive status 429. Without this limit, a client could end the
    /// idle sessions of all others by opening sessions until
    /// [`sessions_max`](Self::sessions_max) is reached. Requests without a principal are not
    /// limited.
    // SEC-18: bounds what one client can claim.
    pub const fn sessions_per_principal_max(mut self, sessions_max: usize) -> Self {
        self.sessions_per_principal_max = sessions_max;
        self
    }

    /// Sets the maximum bytes that all sessions and subscriptions together hold while idle.
    /// Default: 256 MiB.
    ///
    /// The limit counts replay buffers, subscriptions, and the data that clients send in
    /// `initialize` requests of more than 1 KiB.
    ///
    /// While the limit is exceeded, a session that grows loses its replay buffers. A message in a
    /// session, or a request for a new session or subscription, then ends idle sessions. If this
    /// does not free enough bytes, the message or request receives status 503.
    // SEC-18: bounds the memory that clients can claim.
    pub const fn sessions_bytes_max(mut self, bytes: usize) -> Self {
        self.sessions_bytes_max = bytes;
        self
    }

    /// Sets the maximum bytes that all requests and responses together hold. Default: 256 MiB.
    ///
    /// The limit counts request bodies that are being read, requests in flight, and responses that
    /// wait for their clients. It also counts the headers of each request until its handler has
    /// ended: their text, and 512 bytes plus 128 bytes a header.
    ///
    /// Further requests receive status 503.
    // SEC-18: bounds the memory that clients can claim.
    pub const fn requests_bytes_max(mut self, bytes: usize) -> Self {
        self.requests_bytes_max = bytes;
        self
    }

    /// Sets the maximum total bytes of the requests of one client address. Default: 64 MiB.
    ///
    /// A body counts from its arrival until the response is complete. If the client hangs up, the
    /// body counts for as long as the session keeps the request. A request that is cancelled stops
    /// counting at once, even if its handler goes on. The headers count as in
    /// [`requests_bytes_max`](Self::requests_bytes_max).
    ///
    /// Further requests from the address receive status 429. The limit applies only to requests
    /// with a [`PeerAddress`](super::PeerAddress) extension. Behind a proxy, all requests may have
    /// the proxy's address. In that case, set this limit to the value of
    /// [`requests_bytes_max`](Self::requests_bytes_max).
    // SEC-18: bounds the memory that one client can keep from others.
    pub const fn requests_bytes_per_address_max(mut self, bytes: usize) -> Self {
        self.requests_bytes_per_address_max = bytes;
        self
    }

    /// Sets the maximum size of a request body in bytes. Default: 4 MiB.
    ///
    /// Larger bodies receive status 413.
    /// [`Limits::message_bytes_max`](mcp_proto::Limits::message_bytes_max) applies as well.
    pub const fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }

    /// Sets the maximum size, in bytes, of a client's identity and capabilities in `initialize`.
    ///
    /// Default: 64 KiB.
    ///
    /// An `initialize` request with larger data is refused.
    /// [`Limits::peer_bytes_max`](mcp_proto::Limits::peer_bytes_max) applies as well. Each session
    /// keeps the decoded data, which takes up to 24 times as much memory as the JSON text.
    pub const fn peer_bytes_max(mut self, bytes: usize) -> Self {
        self.peer_bytes_max = bytes;
        self
    }

    /// Sets the maximum number of concurrent subscriptions outside of sessions. Default: 10,000.
    ///
    /// Clients open such subscriptions in the modern era (from revision 2026-07-28), which has no
    /// sessions. Requests for further subscriptions receive status 503.
    // SEC-18: bounds the memory that clients can claim.
    pub const fn listeners_max(mut self, listeners_max: usize) -> Self {
        self.listeners_max = listeners_max;
        self
    }

    /// Sets the maximum number of event streams of one client address that wait for messages:
    /// subscriptions, and the streams that clients of sessions open with a GET request. Default:
    /// 1,250.
    ///
    /// Requests for further streams receive status 429. Over HTTP/2, such a stream does not count
    /// in [`connections_per_address_max`](Self::connections_per_address_max). Behind a proxy, set
    /// this limit to the value of [`connections_max`](Self::connections_max).
    // SEC-18: bounds what one client can claim, and leaves it connections for its requests.
    pub const fn listeners_per_address_max(mut self, listeners_max: usize) -> Self {
        self.listeners_per_address_max = listeners_max;
        self
    }

    /// Sets how long a session may be idle before the server ends it. Default: 30 min.
    ///
    /// A session with a request in flight or an open stream is not idle.
    pub const fn idle_max(mut self, idle_max: Duration) -> Self {
        self.idle_max = idle_max;
        self
    }

    /// Sets how long a session is kept if no message follows `initialize`. Default: 20 s.
    pub const fn unconfirmed_max(mut self, unconfirmed_max: Duration) -> Self {
        self.unconfirmed_max = unconfirmed_max;
        self
    }

    /// Sets how long the body of a request may take to arrive. Default: 30 s.
    ///
    /// A request that takes longer receives status 408.
    pub const fn body_timeout(mut self, body_timeout: Duration) -> Self {
        self.body_timeout = body_timeout;
        self
    }

    /// Sets how long [`authenticating`](Self::authenticating),
    /// [`authorizing`](Self::authorizing) and [`checking`](Self::checking) may take for a request.
    /// Default: 30 s.
    ///
    /// A request for which one of them takes longer receives status 503.
    pub const fn authentication_timeout(mut self, timeout: Duration) -> Self {
        self.authentication_timeout = timeout;
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
    /// status 500. If it takes too long ([`authentication_timeout`](Self::authentication_timeout)),
    /// the client receives status 503.
    ///
    /// Handlers read the principal with [`Cx::principal`](crate::Cx::principal). A session and its
    /// streams belong to the principal that opened the session: requests of others receive status
    /// 404, as for an unknown session. The state of a handler that asks the client opens only for
    /// its principal, unless the feature `seal` is disabled.
    ///
    /// A request is authenticated once, when it arrives. Its response, which may be an event
    /// stream, continues if the credentials expire or are revoked meanwhile.
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
    /// ([`authentication_timeout`](Self::authentication_timeout)), the client receives status 503.
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

    /// Returns the maximum memory, in bytes, that clients can make a server with these options
    /// hold.
    ///
    /// The value is an upper bound, not an estimate. With the default options, the value is about
    /// 4.5 GiB, and with the feature `http2`, which adds 0.9 MiB a connection, about 13 GiB.
    ///
    /// The bound covers all connections, sessions, subscriptions and requests of a service. In
    /// contrast, [`Limits::memory_max`](mcp_proto::Limits::memory_max) covers a single connection.
    /// The bound does not include socket buffers, or memory that the application supplies, such as
    /// its responses.
    #[must_use]
    pub const fn memory_max(&self) -> usize {
        let connection_bytes = CONNECTION_BYTES;
        #[cfg(feature = "http2")]
        let connection_bytes = connection_bytes + http2_bytes(self.http2_streams_max);
        let connections = self.connections_max.saturating_mul(connection_bytes);
        let sessions = self.sessions_max.saturating_mul(SESSION_BYTES);
        let listeners = self.listeners_max.saturating_mul(SESSION_BYTES);
        // One request beyond the budget may be in progress on each limit.
        let requests = self.requests_bytes_max.saturating_add(self.body_bytes_max);
        let kept = self.sessions_bytes_max.saturating_add(self.body_bytes_max);
        let counted = requests.saturating_add(kept).saturating_mul(COUNTED_FACTOR);
        connections.saturating_add(sessions).saturating_add(listeners).saturating_add(counted)
    }

    /// Returns whether hosts other than this machine are allowed.
    pub(super) const fn names_hosts(&self) -> bool {
        self.any_host || !self.hosts.is_empty()
    }

    /// Returns the limits of a connection over HTTP.
    pub(super) fn limits(&self, limits: &Limits) -> Limits {
        Limits {
            message_bytes_max: limits.message_bytes_max.min(self.body_bytes_max),
            peer_bytes_max: limits.peer_bytes_max.min(self.peer_bytes_max),
            drain_timeout: self.drain_timeout,
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

/// The memory of a connection: its task, and two buffers for heads of at most 64 KiB.
const CONNECTION_BYTES: usize = 200 << 10;

/// The memory of an HTTP/2 connection beyond that of any connection: the bodies that were not read,
/// the tables of header compression, and for each stream a request that was reset or the end of a
/// response that its client has not read.
#[cfg(feature = "http2")]
const fn http2_bytes(streams_max: u32) -> usize {
    (512 << 10) + streams_max as usize * (4 << 10)
}

/// The memory of a session or subscription that is not counted in a budget: its tables, its tasks,
/// and the description of its client if that is short.
const SESSION_BYTES: usize = 32 << 10;

/// The memory behind a counted byte: a retained part of a body keeps the whole body alive, and
/// buffers double their capacity.
const COUNTED_FACTOR: usize = 4;

impl Default for Http {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_service_follows_from_its_options() {
        let default = Http::new().memory_max();
        let gib = if cfg!(feature = "http2") { 12..14 } else { 4..5 };
        assert!(gib.contains(&(default >> 30)), "{default}");
        let small = Http::new()
            .connections_max(100)
            .sessions_max(100)
            .listeners_max(100)
            .sessions_bytes_max(8 << 20)
            .requests_bytes_max(8 << 20);
        let mib = if cfg!(feature = "http2") { 256 } else { 128 };
        assert!(small.memory_max() < mib << 20, "{}", small.memory_max());
        assert_eq!(Http::new().sessions_max(usize::MAX).memory_max(), usize::MAX);
    }
}
