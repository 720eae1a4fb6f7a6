//! Why a request of authorization has no response.

use std::fmt;
use std::io;

use mcp_proto::auth::{FetchFailure, Reach};

/// Why an [`OAuthRequest`](super::OAuthRequest) has no response.
///
/// Nothing of the request or of a response is shown.
#[derive(Debug)]
pub enum OAuthFailure {
    /// No connection was established, so no server has received the request.
    Unreached(io::Error),
    /// The connection broke, or the response is not valid HTTP. The server may have acted on the
    /// request.
    Cut(io::Error),
    /// The host has no address that the request may reach.
    Blocked {
        /// The host.
        host: String,
        /// The most private reach that was allowed.
        reach: Reach,
    },
}

impl OAuthFailure {
    /// Returns the kind of the failure, to pass to
    /// [`Authorization::handle_failure`](mcp_proto::auth::Authorization::handle_failure).
    #[must_use]
    pub const fn kind(&self) -> FetchFailure {
        match self {
            Self::Unreached(_) => FetchFailure::Unreached,
            Self::Cut(_) => FetchFailure::Cut,
            Self::Blocked { .. } => FetchFailure::Blocked,
        }
    }
}

impl fmt::Display for OAuthFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached(error) => write!(f, "the server cannot be reached: {error}"),
            Self::Cut(error) => write!(f, "the response is incomplete: {error}"),
            Self::Blocked { host, reach } => write!(
                f,
                "`{host}` resolves only to reserved addresses, or to addresses more private than \
                 those of the server that named it ({reach:?})"
            ),
        }
    }
}

impl std::error::Error for OAuthFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreached(error) | Self::Cut(error) => Some(error),
            Self::Blocked { .. } => None,
        }
    }
}
