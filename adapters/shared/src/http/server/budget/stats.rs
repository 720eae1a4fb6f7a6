//! Counters of an HTTP service, which are also its metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use mcp_proto::Principal;

use super::bytes::Gauge;
use super::owners::{AddressCounts, Counts};

/// The live counters of the HTTP servers that share one [`Http`](super::super::Http) value.
///
/// Cheap to clone; clones share the counters. All methods are lock-free.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::Http;
///
/// let options = Http::new();
/// let stats = options.stats();
/// // Start a server with `options`, and export the counters as metrics.
/// assert_eq!((stats.connections(), stats.sessions(), stats.refused()), (0, 0, 0));
/// ```
#[derive(Clone)]
pub struct HttpStats(pub(in crate::http) Arc<Counters>);

/// The counters of a service.
#[derive(Debug, Default)]
pub(in crate::http) struct Counters {
    pub(in crate::http) connections: AtomicUsize,
    pub(in crate::http) connections_by_address: Arc<AddressCounts>,
    pub(in crate::http) listeners_by_address: Arc<AddressCounts>,
    pub(in crate::http) sessions: AtomicUsize,
    pub(in crate::http) sessions_by_address: Arc<AddressCounts>,
    pub(in crate::http) sessions_by_principal: Arc<Counts<Principal>>,
    pub(in crate::http) requests_bytes: Arc<Gauge>,
    pub(in crate::http) requests_bytes_by_address: Arc<AddressCounts>,
    pub(in crate::http) sessions_bytes: Arc<Gauge>,
    pub(in crate::http) refused: AtomicU64,
    pub(in crate::http) refused_by_address: AtomicU64,
    pub(in crate::http) sessions_evicted: AtomicU64,
    pub(in crate::http) connections_evicted: AtomicU64,
    pub(in crate::http) connections_stalled: AtomicU64,
}

/// The limit that a refused request or connection exceeds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::http) enum Rejection {
    /// A limit of one client address or principal.
    Address,
    /// A limit of the whole service.
    Service,
}

impl Rejection {
    /// Returns the HTTP status that reports the limit.
    pub(in crate::http) const fn status(self) -> u16 {
        match self {
            Self::Address => 429,
            Self::Service => 503,
        }
    }
}

impl Counters {
    /// Counts a refusal.
    pub(in crate::http) fn refuse(&self, rejection: Rejection) {
        match rejection {
            Rejection::Address => self.refused_by_address.fetch_add(1, Relaxed),
            Rejection::Service => self.refused.fetch_add(1, Relaxed),
        };
    }
}

impl HttpStats {
    /// Counts a stream whose client has stopped reading.
    #[cfg(feature = "tls")]
    pub(in crate::http) fn count_stall(&self) {
        self.0.connections_stalled.fetch_add(1, Relaxed);
    }

    /// Returns the number of open connections to servers that were started with `serve_http`.
    ///
    /// Connections to a router in front of a service do not count.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.0.connections.load(Relaxed)
    }

    /// Returns the number of open sessions.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.0.sessions.load(Relaxed)
    }

    /// Returns the number of bytes held for requests that are being read or processed, and for
    /// their responses.
    ///
    /// Limited by [`HttpLimits::requests_bytes_max`](super::super::HttpLimits::requests_bytes_max).
    #[must_use]
    pub fn requests_bytes(&self) -> usize {
        self.0.requests_bytes.get()
    }

    /// Returns the number of bytes held for sessions: the clients' descriptions, replay buffers and
    /// subscriptions.
    ///
    /// The number is computed from the lengths of this data. In memory, the data takes at most
    /// about four times as much.
    ///
    /// Limited by [`HttpLimits::sessions_bytes_max`](super::super::HttpLimits::sessions_bytes_max).
    #[must_use]
    pub fn sessions_bytes(&self) -> usize {
        self.0.sessions_bytes.get()
    }

    /// Returns how many requests and connections were refused because of a limit of the service.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Relaxed)
    }

    /// Returns how many requests and connections were refused because of a limit per client
    /// address or principal.
    #[must_use]
    pub fn refused_by_address(&self) -> u64 {
        self.0.refused_by_address.load(Relaxed)
    }

    /// Returns the number of idle sessions that were ended to make room for others.
    #[must_use]
    pub fn sessions_evicted(&self) -> u64 {
        self.0.sessions_evicted.load(Relaxed)
    }

    /// Returns the number of idle connections that were closed to make room for others.
    #[must_use]
    pub fn connections_evicted(&self) -> u64 {
        self.0.connections_evicted.load(Relaxed)
    }

    /// Returns the number of connections that were closed, and of HTTP/2 streams that were reset,
    /// because their client stopped reading.
    #[must_use]
    pub fn connections_stalled(&self) -> u64 {
        self.0.connections_stalled.load(Relaxed)
    }
}

opaque_debug!(HttpStats, it =>
    connections: it.connections(),
    sessions: it.sessions(),
    requests_bytes: it.requests_bytes(),
    sessions_bytes: it.sessions_bytes(),
    refused: it.refused(),
    refused_by_address: it.refused_by_address()
);
