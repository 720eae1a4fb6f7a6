//! TLS connections to servers; none without the `tls` feature.

#[cfg(not(feature = "tls"))]
mod disabled;
#[cfg(feature = "tls")]
mod enabled;

#[cfg(not(feature = "tls"))]
pub(super) use disabled::{Tls, TlsConfig};
#[cfg(feature = "tls")]
pub(super) use enabled::{Tls, TlsConfig};
