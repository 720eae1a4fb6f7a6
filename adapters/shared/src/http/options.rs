//! The options of a server over HTTP: access control and limits.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use mcp_proto::http::{Policy, Refusal, StreamSettings};

type Check = Arc<dyn Fn(&Parts) -> Result<(), Refusal> + Send + Sync>;

/// The options of a server over
/// [Streamable HTTP](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports).
///
/// By default, only requests to loopback hosts are accepted, and requests from web pages only if
/// the page's origin is on a loopback host. This prevents DNS rebinding attacks.
///
/// ```
/// use mcp_adapter::http::Http;
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
    pub(super) sessions_max: usize,
    pub(super) listeners_max: usize,
    pub(super) idle_max: Duration,
    pub(super) body_timeout: Duration,
    pub(super) settings: Arc<StreamSettings>,
    pub(super) check: Option<Check>,
}

impl Http {
    /// Returns the default options.
    pub fn new() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            any_host: false,
            path: Some("/mcp".into()),
            sessions_max: 10_000,
            listeners_max: 10_000,
            idle_max: Duration::from_secs(30 * 60),
            body_timeout: Duration::from_secs(30),
            settings: Arc::default(),
            check: None,
        }
    }

    /// Makes the server accept requests to `host` in addition to loopback hosts.
    ///
    /// If `host` names no port, as in `example.com`, requests to any port of the host are accepted.
    /// If it names a port, as in `example.com:8080`, only requests to that port are accepted.
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
    /// `https://app.example.com`.
    pub fn origin(mut self, origin: &str) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Sets the path of the endpoint. Default: `/mcp`. Requests to other paths receive status 404.
    pub fn path(mut self, path: &str) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Makes the server accept requests to any path, for use behind a router that matches the path.
    pub fn any_path(mut self) -> Self {
        self.path = None;
        self
    }

    /// Sets the maximum number of concurrent sessions. Default: 10,000.
    ///
    /// Requests for further sessions receive status 503.
    // SEC-18: bounds the memory that clients can claim.
    pub const fn sessions_max(mut self, sessions_max: usize) -> Self {
        self.sessions_max = sessions_max;
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

    /// Sets how long a session may be idle before the server ends it. Default: 30 min.
    ///
    /// A session with a request in flight or an open stream is not idle.
    pub const fn idle_max(mut self, idle_max: Duration) -> Self {
        self.idle_max = idle_max;
        self
    }

    /// Sets how long the body of a request may take to arrive. Default: 30 s.
    ///
    /// A request that takes longer receives status 408.
    pub const fn body_timeout(mut self, body_timeout: Duration) -> Self {
        self.body_timeout = body_timeout;
        self
    }

    /// Sets how event streams are kept alive and resumed. Default: [`StreamSettings::default`].
    pub fn settings(mut self, settings: StreamSettings) -> Self {
        self.settings = Arc::new(settings);
        self
    }

    /// Calls `check` with the head of each request, for example to authorize it.
    ///
    /// `check` runs after the host, origin and path have been validated. If it returns a refusal,
    /// the client receives the refusal, and the request is not processed. A refusal with status 401
    /// must contain a challenge, which `Refusal::header("www-authenticate", …)` adds.
    pub fn checking(
        mut self,
        check: impl Fn(&Parts) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    pub(super) fn policy(&self, config: &mcp_proto::server::Config) -> Policy {
        let mut policy = Policy::from_config(config);
        for host in &self.hosts {
            policy = policy.host(host);
        }
        for origin in &self.origins {
            policy = policy.origin(origin);
        }
        if self.any_host { policy.any_host() } else { policy }
    }
}

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
