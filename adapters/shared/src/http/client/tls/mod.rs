//! TLS connections to servers; none without the `tls` feature.

#[cfg(not(feature = "tls"))]
mod disabled;
#[cfg(feature = "tls")]
mod enabled;
#[cfg(feature = "tls")]
mod identity;

#[cfg(not(feature = "tls"))]
pub(crate) use disabled::{Tls, TlsConfig};
#[cfg(feature = "tls")]
pub(crate) use enabled::{Tls, TlsConfig};
#[cfg(feature = "tls")]
pub use identity::ClientIdentity;
