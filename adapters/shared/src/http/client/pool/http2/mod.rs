//! Connections over HTTP/2; none without the `tls` feature.

#[cfg(not(feature = "tls"))]
mod disabled;
#[cfg(feature = "tls")]
mod enabled;

#[cfg(not(feature = "tls"))]
pub(in crate::http::client) use disabled::Http2Lease;
#[cfg(not(feature = "tls"))]
pub(super) use disabled::{Http2Pool, Patience};
#[cfg(feature = "tls")]
pub(in crate::http::client) use enabled::Http2Lease;
#[cfg(feature = "tls")]
pub(super) use enabled::{Http2Pool, Patience};
