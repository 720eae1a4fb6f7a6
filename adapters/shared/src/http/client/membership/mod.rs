//! The authorization that a connection shares with others; none without the `auth` feature.

#[cfg(not(feature = "auth"))]
mod disabled;
#[cfg(feature = "auth")]
mod enabled;

#[cfg(not(feature = "auth"))]
pub(super) use disabled::{AllowedAddresses, AuthMember, RequestProofs};
#[cfg(feature = "auth")]
pub(super) use enabled::{AllowedAddresses, AuthMember, RequestProofs};
