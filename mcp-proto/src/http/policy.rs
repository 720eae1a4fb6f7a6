//! What an HTTP server lets in: from which hosts and origins, in which revisions, and how much;
//! reads no head itself.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::field::{Authority, Origin};
use crate::limits::Limits;
use crate::revision::{Era, Revision};
use crate::server;

/// What a server accepts over HTTP, before any session or handler hears of it.
///
/// By default a request must be addressed to this machine by a name that no name service can point
/// elsewhere (`localhost`, 127.0.0.0/8 or `::1`, at any port), and come from a page that this
/// machine served, or from no page. So a page on the web cannot reach a server on its reader's
/// machine. (HTTP-55, HTTP-56)
///
/// ```
/// use mcp_proto::http::Policy;
/// use mcp_proto::server::Config;
///
/// let config = Config::new("weather", "1.0.0");
/// let policy = Policy::of(&config).host("api.example.com").origin("https://app.example.com");
/// assert!(policy.offers_sessions());
/// assert_eq!(policy.body_bytes_max(), 16 << 20);
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    any_host: bool,
    any_origin: bool,
    hosts: Vec<Box<str>>,
    origins: Vec<Box<str>>,
    /// Oldest first.
    pub(super) revisions: Vec<Revision>,
    served: Vec<Box<str>>,
    limits: Limits,
    session_id_bytes_max: usize,
    event_id_bytes_max: usize,
}

/// Every revision, the default limits, this machine only.
impl Default for Policy {
    fn default() -> Self {
        Self {
            any_host: false,
            any_origin: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            revisions: Revision::ALL.to_vec(),
            served: Vec::new(),
            limits: Limits::default(),
            session_id_bytes_max: 256,
            event_id_bytes_max: 256,
        }
    }
}

impl Policy {
    /// What fits the server that `config` describes: its revisions, its limits, and the methods
    /// that it serves besides the protocol's.
    #[must_use]
    pub fn of(config: &server::Config) -> Self {
        Self {
            revisions: config.spoken().to_vec(),
            served: config.also_served().map(Into::into).collect(),
            limits: config.bounds().clone(),
            ..Self::default()
        }
    }

    /// Also accepts requests that are addressed to this host: at any port, or at the one that is
    /// named with it. What is no host accepts nothing more.
    #[must_use]
    pub fn host(mut self, host: &str) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Accepts requests whatever host they are addressed to, as long as they name one.
    ///
    /// For servers that ask who the client is, or behind a proxy that checks: a page that has its
    /// own name point to this server can then read from it.
    #[must_use]
    pub const fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Also accepts requests of this origin's pages, such as `https://app.example.com`. `null` stands for all that do
    /// not say where they come from. (T-90) What is no origin accepts nothing more.
    #[must_use]
    pub fn origin(mut self, origin: &str) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Accepts requests of all pages: every page that is open beside this server can then use it.
    #[must_use]
    pub const fn any_origin(mut self) -> Self {
        self.any_origin = true;
        self
    }

    /// Speaks these revisions only. Without one that has sessions there are none, and nothing to
    /// GET or DELETE. (HTTP-02, HTTP-52)
    #[must_use]
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.revisions = revisions.to_vec();
        self.revisions.sort_unstable();
        self
    }

    /// Also lets in requests of this method, which no revision has; as [`server::Config::serve`]
    /// does.
    #[must_use]
    pub fn serve(mut self, method: &str) -> Self {
        self.served.push(method.into());
        self
    }

    /// The longest body, by default [`Limits::message_bytes_max`], 16 MiB. A longer one is refused
    /// by what its head says of it, and the driver reads no more than this of one that does not
    /// say. Costs this much per request that is being read.
    #[must_use]
    pub const fn with_body_bytes_max(mut self, bytes: usize) -> Self {
        self.limits.message_bytes_max = bytes;
        self
    }

    /// The longest id of a session, 256. A longer one is none of ours. (HTTP-30) Costs up to this
    /// much per request.
    #[must_use]
    pub const fn with_session_id_bytes_max(mut self, bytes: usize) -> Self {
        self.session_id_bytes_max = bytes;
        self
    }

    /// The longest `Last-Event-ID`, 256; a longer one is refused. (SSE-16) Costs up to this much
    /// per request.
    #[must_use]
    pub const fn with_event_id_bytes_max(mut self, bytes: usize) -> Self {
        self.event_id_bytes_max = bytes;
        self
    }

    /// The longest body.
    #[must_use]
    pub const fn body_bytes_max(&self) -> usize {
        self.limits.message_bytes_max
    }

    /// The longest id of a session.
    #[must_use]
    pub const fn session_id_bytes_max(&self) -> usize {
        self.session_id_bytes_max
    }

    /// The longest id of an event.
    #[must_use]
    pub const fn event_id_bytes_max(&self) -> usize {
        self.event_id_bytes_max
    }

    /// Whether the server speaks this revision.
    #[must_use]
    pub fn speaks(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }

    /// Whether the server speaks a revision that has sessions.
    #[must_use]
    pub fn offers_sessions(&self) -> bool {
        self.speaks_of(Era::Legacy)
    }

    /// Whether the server speaks a revision of this era.
    pub(super) fn speaks_of(&self, era: Era) -> bool {
        self.revisions.iter().any(|revision| revision.era() == era)
    }

    pub(super) const fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn serves(&self, method: &str) -> bool {
        self.served.iter().any(|served| **served == *method)
    }

    /// Whether a request may be addressed to this host.
    pub(super) fn takes_host(&self, host: &Authority<'_>) -> bool {
        self.any_host
            || host.is_loopback()
            || self.hosts.iter().filter_map(|allowed| Authority::parse(allowed.as_bytes())).any(
                |allowed| {
                    allowed.host.is(&host.host)
                        && allowed.port.is_none_or(|port| host.port == Some(port))
                },
            )
    }

    /// Whether a request may come from a page of this origin, which is none if it cannot be read.
    pub(super) fn takes_origin(&self, origin: &[u8]) -> bool {
        let same = |one: &Origin<'_>, other: &Origin<'_>| match (one, other) {
            (Origin::Opaque, Origin::Opaque) => true,
            (one, other) => one.is(other),
        };
        self.any_origin
            || Origin::parse(origin).is_some_and(|origin| {
                let mut allowed =
                    self.origins.iter().filter_map(|allowed| Origin::parse(allowed.as_bytes()));
                origin.is_loopback() || allowed.any(|allowed| same(&allowed, &origin))
            })
    }
}

#[cfg(test)]
mod tests;
