//! How a server is served over HTTP: who may use it, and within which bounds; knows nothing of what
//! it serves.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use mcp_proto::http::{Policy, Refusal, Settings};

type Check = Arc<dyn Fn(&Parts) -> Result<(), Refusal> + Send + Sync>;

/// How a server is served over HTTP.
///
/// By default only requests to this machine itself are let in, from no page on the web: what a name
/// service or a page can point to this server is refused. (HTTP-55, HTTP-56)
///
/// ```
/// use mcp_adapter::http::Http;
///
/// let public = Http::new().host("mcp.example.com").origin("https://app.example.com").sessions_max(1_000);
/// # drop(public);
/// ```
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
    pub(super) settings: Arc<Settings>,
    pub(super) check: Option<Check>,
}

impl Http {
    /// The defaults.
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

    /// Lets in requests to this host as well: at any port, or at the one that is named with it.
    pub fn host(mut self, host: &str) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Lets in requests to any host: for servers behind a proxy that has looked already.
    pub const fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Lets in requests of this origin's pages, such as `https://app.example.com`.
    pub fn origin(mut self, origin: &str) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// The one path that there is, `/mcp`; any other is answered with 404.
    pub fn path(mut self, path: &str) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Serves on whatever path a request came by: where a router has looked already.
    pub fn any_path(mut self) -> Self {
        self.path = None;
        self
    }

    /// Sessions at a time, 10,000; the next client is answered with 503. (SEC-18)
    pub const fn sessions_max(mut self, sessions_max: usize) -> Self {
        self.sessions_max = sessions_max;
        self
    }

    /// Clients without a session that listen to changes at a time, 10,000; the next is answered
    /// with 503. (SEC-18)
    pub const fn listeners_max(mut self, listeners_max: usize) -> Self {
        self.listeners_max = listeners_max;
        self
    }

    /// How long a session may be idle until it is ended, 30 min. One with a request in flight or an
    /// open stream is not.
    pub const fn idle_max(mut self, idle_max: Duration) -> Self {
        self.idle_max = idle_max;
        self
    }

    /// How long a request's body may take to arrive, 30 s; then it is answered with 408.
    pub const fn body_timeout(mut self, body_timeout: Duration) -> Self {
        self.body_timeout = body_timeout;
        self
    }

    /// How event streams are kept up and resumed.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = Arc::new(settings);
        self
    }

    /// Has `check` look at the head of each request that comes from where it may, before anything
    /// else does: the place to ask who the client is. A refusal of 401 says how to be let in
    /// with `Refusal::field("www-authenticate", …)`.
    pub fn checking(
        mut self,
        check: impl Fn(&Parts) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    pub(super) fn policy(&self, config: &mcp_proto::server::Config) -> Policy {
        let mut policy = Policy::of(config);
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
