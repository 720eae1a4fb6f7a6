//! The configuration of an HTTP server: allowed hosts and origins, revisions, and size limits.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::header::{Authority, Origin};
use crate::extension::Extensions;
use crate::limits::Limits;
use crate::permissions::incoming_extension;
use crate::revision::{Era, Revision, Side};
use crate::server;

/// The rules by which a server accepts or rejects HTTP requests.
///
/// By default, `Host` must be a loopback host (`localhost`, 127.0.0.0/8 or `::1`, at any port), and
/// `Origin`, if present, must be an HTTP or HTTPS origin on a loopback host. This protects local
/// servers against [DNS rebinding] and requests from web pages.
///
/// [DNS rebinding]: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
///
/// ```
/// use mcp_proto::http::Policy;
/// use mcp_proto::server::Config;
///
/// let config = Config::new("weather", "1.0.0");
/// let policy = Policy::from_config(&config).host("api.example.com").origin("https://app.example.com");
/// assert!(policy.offers_sessions());
/// // The default limit, 16 MiB.
/// assert_eq!(policy.body_bytes_max(), 16 << 20);
/// ```
// HTTP-55, HTTP-56: the origin is validated, and local servers serve only local clients.
#[derive(Clone, Debug)]
pub struct Policy {
    any_host: bool,
    any_origin: bool,
    without_cors: bool,
    hosts: Vec<Box<str>>,
    origins: Vec<Box<str>>,
    /// Oldest first.
    pub(super) revisions: Vec<Revision>,
    served: Vec<Box<str>>,
    pub(super) extensions: Extensions,
    has_no_sessions: bool,
    limits: Limits,
}

/// Accepts all revisions, but only loopback hosts and origins, with the default limits.
impl Default for Policy {
    fn default() -> Self {
        Self {
            any_host: false,
            any_origin: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            revisions: Revision::ALL.to_vec(),
            served: Vec::new(),
            extensions: Extensions::default(),
            has_no_sessions: false,
            without_cors: false,
            limits: Limits::default(),
        }
    }
}

impl Policy {
    /// Creates a policy with the revisions, limits, extensions and [served methods] of `config`.
    ///
    /// [served methods]: server::Config::serve_method
    #[must_use]
    pub fn from_config(config: &server::Config) -> Self {
        Self {
            revisions: config.supported_revisions().to_vec(),
            served: config.served_methods().map(Into::into).collect(),
            extensions: config.extensions().clone(),
            limits: config.limits_ref().clone(),
            ..Self::default()
        }
    }

    /// Makes the server also accept this host, for example `example.com` or `example.com:8080`.
    ///
    /// If `host` has no port, it is accepted at any port. An invalid host has no effect, except on
    /// [`validate`](Self::validate).
    #[must_use]
    pub fn host(mut self, host: &str) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Makes the server accept every valid host.
    ///
    /// This disables the protection against DNS rebinding. Use it only for servers that
    /// authenticate clients or that run behind a proxy that checks the host.
    #[must_use]
    pub const fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Makes the server also accept this origin, for example `https://app.example.com`.
    ///
    /// [`CrossOrigin`](super::CrossOrigin) lets its pages read the responses. Origins of this
    /// machine, such as `http://localhost:3000`, are always accepted, but their pages can read
    /// responses only if they are passed here.
    ///
    /// Pass `null` to accept all opaque origins, which browsers send as `null`. A final slash is
    /// dropped. An invalid origin has no effect, except on [`validate`](Self::validate).
    // T-90: a `null` origin is rejected unless configured.
    #[must_use]
    pub fn origin(mut self, origin: &str) -> Self {
        self.origins.push(origin.strip_suffix('/').unwrap_or(origin).into());
        self
    }

    /// Makes the server accept every origin.
    ///
    /// This removes the protection against requests from web pages, which may also read the
    /// responses ([`CrossOrigin`](super::CrossOrigin)).
    #[must_use]
    pub const fn any_origin(mut self) -> Self {
        self.any_origin = true;
        self
    }

    /// Checks that each [host](Self::host) and [origin](Self::origin) can match a request.
    ///
    /// ```
    /// use mcp_proto::http::{InvalidPolicy, Policy};
    ///
    /// let policy = Policy::default().host("api.example.com").origin("https://app.example.com/");
    /// assert!(policy.validate().is_ok());
    /// let refused = policy.host("https://api.example.com").validate().unwrap_err();
    /// assert_eq!(refused, InvalidPolicy::Host("https://api.example.com".into()));
    /// ```
    ///
    /// # Errors
    /// Returns the first value that is invalid and would have no effect.
    pub fn validate(&self) -> Result<(), InvalidPolicy> {
        let is_host =
            |host: &str| Authority::parse(host.as_bytes()).is_some_and(|host| host.port != Some(0));
        let is_origin = |origin: &str| match Origin::parse(origin.as_bytes()) {
            Some(Origin::Known { authority, .. }) => authority.port != Some(0),
            Some(Origin::Opaque) => true,
            None => false,
        };
        if let Some(host) = self.hosts.iter().find(|host| !is_host(host)) {
            return Err(InvalidPolicy::Host(host.clone()));
        }
        match self.origins.iter().find(|origin| !is_origin(origin)) {
            Some(origin) => Err(InvalidPolicy::Origin(origin.clone())),
            None => Ok(()),
        }
    }

    /// Leaves out the headers that let pages of accepted origins read responses, for servers behind
    /// a proxy that adds these headers.
    #[must_use]
    pub const fn without_cors(mut self) -> Self {
        self.without_cors = true;
        self
    }

    /// Restricts the server to these protocol revisions. Default: all.
    ///
    /// If none of them is a legacy revision, the server has no sessions and rejects GET and DELETE.
    // HTTP-02, HTTP-52: a modern-only endpoint supports POST only.
    #[must_use]
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.revisions = revisions.to_vec();
        self.revisions.sort_unstable();
        self
    }

    /// Serves legacy revisions without sessions, so that any instance can serve any request.
    ///
    /// Each POST is then independent of all others, as in the modern era, and no `Mcp-Session-Id`
    /// is sent. Legacy clients do without the features that need a session: input requests,
    /// subscriptions, cancellation by notification, and resumption. GET and DELETE are rejected
    /// with 405, and HTTP+SSE with 404. Messages of legacy clients become [`Post::Sessionless`].
    ///
    /// [`Post::Sessionless`]: super::Post::Sessionless
    // HTTP-29: a server may assign a session id. HTTP-23: 405 without a stream for GET.
    #[must_use]
    pub const fn without_sessions(mut self) -> Self {
        self.has_no_sessions = true;
        self
    }

    /// Makes the server accept requests for a method that no revision defines.
    ///
    /// Modern requests for other unknown methods are rejected with 404.
    /// [`from_config`](Self::from_config) adds the methods of [`server::Config::serve_method`].
    #[must_use]
    pub fn serve_method(mut self, method: &str) -> Self {
        self.served.push(method.into());
        self
    }

    /// Sets the maximum body size in bytes. Default: 16 MiB.
    ///
    /// [`from_config`](Self::from_config) sets it to [`Limits::message_bytes_max`].
    ///
    /// A request with a larger `Content-Length` is rejected. If a request has no `Content-Length`,
    /// the driver must stop reading its body at this limit. Each request costs up to this much
    /// memory while its body is read.
    #[must_use]
    pub const fn with_body_bytes_max(mut self, bytes: usize) -> Self {
        self.limits.message_bytes_max = bytes;
        self
    }

    /// Returns the maximum body size in bytes.
    #[must_use]
    pub const fn body_bytes_max(&self) -> usize {
        self.limits.message_bytes_max
    }

    /// Returns whether the server supports this revision.
    #[must_use]
    pub fn supports(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }

    /// Returns whether the server has sessions: it supports at least one legacy revision, and
    /// [`without_sessions`](Self::without_sessions) is not set.
    #[must_use]
    pub fn offers_sessions(&self) -> bool {
        !self.has_no_sessions && self.speaks_era(Era::Legacy)
    }

    /// Returns the revision of a legacy request without a session whose header names none.
    // HTTP-37: without the header, the server assumes 2025-03-26.
    pub(super) fn sessionless_revision(&self) -> Revision {
        let assumed = Revision::V2025_03_26;
        if self.supports(assumed) {
            return assumed;
        }
        self.of_era(Era::Legacy).next().unwrap_or(assumed)
    }

    /// Returns whether legacy requests have no session.
    pub(super) const fn has_no_sessions(&self) -> bool {
        self.has_no_sessions
    }

    /// Returns whether the server supports a revision of this era.
    pub(super) fn speaks_era(&self, era: Era) -> bool {
        self.of_era(era).next().is_some()
    }

    /// Returns the supported revisions of an era, oldest first.
    fn of_era(&self, era: Era) -> impl Iterator<Item = Revision> {
        self.revisions.iter().copied().filter(move |revision| revision.era() == era)
    }

    pub(super) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns whether the server serves a request that `revision` does not define.
    pub(super) fn serves(&self, method: &str, revision: Revision) -> bool {
        let of_extension = || {
            let extensions = &self.extensions;
            incoming_extension(extensions, Side::Server, revision, method, true).is_some()
        };
        self.served.iter().any(|served| **served == *method) || of_extension()
    }

    /// Returns whether this host is allowed.
    pub(super) fn allows_host(&self, host: &Authority<'_>) -> bool {
        self.any_host
            || host.is_loopback()
            || self.hosts.iter().filter_map(|allowed| Authority::parse(allowed.as_bytes())).any(
                |allowed| {
                    // Clients leave out the default port of their scheme.
                    let is_default = |port| host.port.is_none() && matches!(port, 80 | 443);
                    let is_port = |port| host.port == Some(port) || is_default(port);
                    allowed.host.is(&host.host) && allowed.port.is_none_or(is_port)
                },
            )
    }

    /// Returns whether this `Origin` value is allowed. A malformed one is allowed by `any_origin`
    /// only.
    pub(super) fn allows_origin(&self, origin: &[u8]) -> bool {
        self.any_origin
            || Origin::parse(origin)
                .is_some_and(|origin| origin.is_loopback() || self.names_origin(&origin))
    }

    /// Returns whether pages of this `Origin` may read responses. Those of this machine may only if
    /// they are configured: any local program can serve a page.
    pub(super) fn shares_with(&self, origin: &[u8]) -> bool {
        let is_named = || Origin::parse(origin).is_some_and(|origin| self.names_origin(&origin));
        !self.without_cors && (self.any_origin || is_named())
    }

    /// Returns whether pages of any `Origin` may read responses.
    pub(super) fn shares(&self) -> bool {
        !self.without_cors && (self.any_origin || !self.origins.is_empty())
    }

    fn names_origin(&self, origin: &Origin<'_>) -> bool {
        let mut named = self.origins.iter().filter_map(|named| Origin::parse(named.as_bytes()));
        named.any(|named| match (&named, origin) {
            (Origin::Opaque, Origin::Opaque) => true,
            (named, origin) => named.is(origin),
        })
    }
}

/// The error for a value of a [`Policy`] that can match no request.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InvalidPolicy {
    /// The value of [`Policy::host`].
    Host(Box<str>),
    /// The value of [`Policy::origin`], without a final slash.
    Origin(Box<str>),
}

impl fmt::Display for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => write!(
                f,
                "{host:?} matches no host: pass a name or address with an optional port, such as \
                 `example.com` or `example.com:8080`, or accept all hosts with `any_host`"
            ),
            Self::Origin(origin) => write!(
                f,
                "{origin:?} matches no origin: pass a scheme, a host and an optional port, such as \
                 `https://app.example.com`, for each origin; there are no wildcards"
            ),
        }
    }
}

impl core::error::Error for InvalidPolicy {}

#[cfg(test)]
mod tests;
