//! [`PoolOptions`]: the limits of the connections to one server, and their version of HTTP.

use std::io;
use std::time::Duration;

/// The default number of connections for streams, subscriptions, notifications and responses.
pub(super) const CONNECTIONS_FOR_STREAMS: usize = 384;

/// The limits of a connection pool, which [`Remote`](super::remote::Remote) documents.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolOptions {
    /// `None`: [`CONNECTIONS_FOR_STREAMS`] more than calls in flight.
    pub(super) connections_max: Option<usize>,
    /// `None`: as many as are used at a time.
    pub(super) idle_max: Option<usize>,
    pub(super) idle_timeout: Duration,
    pub(super) version: HttpVersion,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            connections_max: None,
            idle_max: None,
            idle_timeout: Duration::from_secs(30),
            version: HttpVersion::Negotiated,
        }
    }
}

/// How the version of HTTP is chosen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(not(feature = "tls"), allow(dead_code, reason = "only the feature has a choice"))]
pub(super) enum HttpVersion {
    /// By the TLS handshake; HTTP/1.1 without TLS.
    Negotiated,
    Http1,
    /// Without asking the server.
    Http2,
}

impl HttpVersion {
    /// Returns whether TLS offers HTTP/2 to the server.
    pub(super) fn offers_http2(self) -> bool {
        self != Self::Http1
    }

    /// Fails if this version cannot be used through a proxy that forwards requests.
    pub(super) fn check(self, is_forwarded: bool) -> io::Result<()> {
        if self == Self::Http2 && is_forwarded {
            let why = "a proxy does not forward HTTP/2 (`Remote::http2_prior_knowledge`)";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(())
    }
}
