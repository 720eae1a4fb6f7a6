//! [`ProxyError`]: why a proxy cannot be used.

use std::fmt;
use std::io;

/// Why a proxy cannot be used, or did not open a connection.
///
/// An [`io::Error`] contains it: the cause of an [`HttpFailure`](crate::http::HttpFailure), or the
/// one of [`Error::Io`](crate::Error::Io). The credentials of the proxy are never shown.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::{Proxy, ProxyError};
///
/// let error = Proxy::all("socks5://proxy.example:1080").unwrap_err();
/// let error = error.get_ref().and_then(|error| error.downcast_ref::<ProxyError>());
/// assert!(matches!(error, Some(ProxyError::UnsupportedScheme { .. })));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ProxyError {
    /// The URL of the proxy is malformed. The URL is not shown, since it may contain a password.
    InvalidUrl {
        /// The environment variable with the URL; `None` if the application has set the proxy.
        variable: Option<&'static str>,
    },
    /// The scheme of the proxy's URL is not `http`.
    UnsupportedScheme {
        /// The scheme.
        scheme: String,
        /// The environment variable with the URL; `None` if the application has set the proxy.
        variable: Option<&'static str>,
    },
    /// The proxy cannot be connected to, or the connection to it broke.
    Unreachable {
        /// The host and port of the proxy.
        proxy: String,
        /// The kind of the I/O error.
        kind: io::ErrorKind,
        /// The I/O or HTTP error.
        why: String,
    },
    /// The proxy requires credentials, or refused those of its URL (status 407).
    CredentialsRequired {
        /// The host and port of the proxy.
        proxy: String,
        /// Whether credentials were sent.
        had_credentials: bool,
    },
    /// The proxy refused to open a tunnel.
    Refused {
        /// The host and port of the proxy.
        proxy: String,
        /// The host and port that the tunnel should lead to.
        target: String,
        /// The status of the response.
        status: u16,
    },
}

impl fmt::Display for ProxyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidUrl { variable } => write!(
                f,
                "the URL of the proxy{} is invalid: it must look like \
                 `http://user:password@proxy.example:3128`",
                In(*variable)
            ),
            Self::UnsupportedScheme { scheme, variable } => write!(
                f,
                "the proxy{} has the scheme `{scheme}`, but only `http` proxies are supported: \
                 use one, or exempt the host with `NO_PROXY` or `Proxy::none`",
                In(*variable)
            ),
            Self::Unreachable { proxy, why, .. } => write!(
                f,
                "the proxy `{proxy}` cannot be reached ({why}): check `HTTPS_PROXY`, `HTTP_PROXY` \
                 or `Remote::proxy`"
            ),
            Self::CredentialsRequired { proxy, had_credentials } => {
                let what = if *had_credentials { "refused the" } else { "requires" };
                write!(
                    f,
                    "the proxy `{proxy}` {what} credentials (status 407): set the right ones in \
                     its URL, as in `http://user:password@{proxy}`"
                )
            }
            Self::Refused { proxy, target, status } => write!(
                f,
                "the proxy `{proxy}` opened no tunnel to `{target}` (status {status}): allow this \
                 host there, or exempt it with `NO_PROXY` or `Proxy::no_proxy`"
            ),
        }
    }
}

impl std::error::Error for ProxyError {}

impl From<ProxyError> for io::Error {
    fn from(error: ProxyError) -> Self {
        let kind = match &error {
            ProxyError::InvalidUrl { .. } => io::ErrorKind::InvalidInput,
            ProxyError::UnsupportedScheme { .. } => io::ErrorKind::Unsupported,
            ProxyError::Unreachable { kind, .. } => *kind,
            ProxyError::CredentialsRequired { .. } => io::ErrorKind::PermissionDenied,
            ProxyError::Refused { .. } => io::ErrorKind::ConnectionRefused,
        };
        Self::new(kind, error)
    }
}

/// Shows the variable that a URL is from.
struct In(Option<&'static str>);

impl fmt::Display for In {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |variable| write!(f, " in `{variable}`"))
    }
}
