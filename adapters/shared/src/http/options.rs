//! The options of a server over HTTP: who may use it, and its limits.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use mcp_proto::http::{Policy, Refusal, StreamSettings};

type Check = Arc<dyn Fn(&Parts) -> Result<(), Refusal> + Send + Sync>;

/// The options of a server over
/// [Streamable HTTP](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports).
///
/// By default, accepts loopback hosts only and rejects browser origins. This prevents DNS rebinding
/// attacks.
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

    /// Accepts requests to this host as well, at any port or at the given one.
    pub fn host(mut self, host: &str) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Accepts requests to any host. For servers behind a proxy that validates the host.
    pub const fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Accepts requests from browser pages of this origin, such as `https://app.example.com`.
    pub fn origin(mut self, origin: &str) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Sets the path of the endpoint, `/mcp` by default. Other paths are answered with 404.
    pub fn path(mut self, path: &str) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Accepts requests to any path. For servers behind a router.
    pub fn any_path(mut self) -> Self {
        self.path = None;
        self
    }

    /// Sets the maximum number of sessions, 10,000 by default. Further clients are answered with
    /// 503.
    // SEC-18: bounds the memory that clients can claim.
    pub const fn sessions_max(mut self, sessions_max: usize) -> Self {
        self.sessions_max = sessions_max;
        self
    }

    /// Sets the maximum number of modern-era subscriptions, 10,000 by default. Further ones are
    /// answered with 503.
    // SEC-18: bounds the memory that clients can claim.
    pub const fn listeners_max(mut self, listeners_max: usize) -> Self {
        self.listeners_max = listeners_max;
        self
    }

    /// Sets how long a session may be idle before it is ended, 30 min by default. A session with a
    /// request in flight or an open stream is not idle.
    pub const fn idle_max(mut self, idle_max: Duration) -> Self {
        self.idle_max = idle_max;
        self
    }

    /// Sets how long the body of a request may take to arrive, 30 s by default. Later ones are
    /// answered with 408.
    pub const fn body_timeout(mut self, body_timeout: Duration) -> Self {
        self.body_timeout = body_timeout;
        self
    }

    /// Sets how event streams are kept alive and resumed.
    pub fn settings(mut self, settings: StreamSettings) -> Self {
        self.settings = Arc::new(settings);
        self
    }

    /// Calls `check` with the head of each request, after the validation of host and origin and
    /// before anything else. For authorization: a refusal with status 401 must carry a challenge,
    /// added with `Refusal::header("www-authenticate", …)`.
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
