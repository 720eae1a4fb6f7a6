//! Connections over HTTP/2; none without the `http2` feature.

#[cfg(not(feature = "http2"))]
mod disabled;
#[cfg(feature = "http2")]
mod enabled;

#[cfg(not(feature = "http2"))]
pub(in crate::http::client) use disabled::Http2Lease;
#[cfg(not(feature = "http2"))]
pub(super) use disabled::{Http2Pool, Patience};
#[cfg(feature = "http2")]
pub(in crate::http::client) use enabled::Http2Lease;
#[cfg(feature = "http2")]
pub(super) use enabled::{Http2Pool, Patience};
