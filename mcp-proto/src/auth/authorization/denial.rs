//! [`Denial`]: the reason why there are no credentials.

use alloc::boxed::Box;
use core::fmt;

use crate::auth::{
    EndpointError, InvalidRequest, InvalidScopes, MetadataError, OAuthError, RedirectFault,
    RegistrationError, Scopes, TokenError, UriRefusal,
};

/// The reason why a request cannot be authorized.
///
/// Texts of a server appear in it only if they are short and printable; nothing secret does.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Denial {
    /// The server rejects requests without naming a way to authorize.
    Unsupported,
    /// A server could not be reached, or failed temporarily, several times in a row.
    Unreachable {
        /// The URL, without its query.
        url: Box<str>,
    },
    /// A metadata document cannot be used.
    Metadata {
        /// The URL of the document, without its query.
        url: Box<str>,
        /// The reason.
        error: MetadataError,
    },
    /// No metadata of the authorization server were found.
    NoMetadata {
        /// The issuer: the identifier of the authorization server.
        issuer: Box<str>,
    },
    /// The metadata describe another MCP server.
    ResourceMismatch {
        /// The URL of the MCP server, without its query, which may be a secret.
        expected: Box<str>,
        /// The `resource` of the metadata.
        found: Box<str>,
    },
    /// The metadata describe another authorization server.
    IssuerMismatch {
        /// The issuer that was asked.
        expected: Box<str>,
        /// The issuer of the metadata.
        found: Box<str>,
    },
    /// The authorization server does not advertise PKCE with the method `S256`.
    Pkce {
        /// The issuer.
        issuer: Box<str>,
    },
    /// A URL that a server named must not be used.
    Blocked(UriRefusal),
    /// The authorization server lacks an endpoint that is needed.
    Endpoint {
        /// The issuer.
        issuer: Box<str>,
        /// The reason.
        error: EndpointError,
    },
    /// The scopes to ask for exceed the limits.
    TooManyScopes(InvalidScopes),
    /// The authorization server did not register this client.
    Registration {
        /// The issuer.
        issuer: Box<str>,
        /// The reason.
        error: RegistrationError,
    },
    /// There is no way to identify this client to the authorization server.
    NoClient {
        /// The issuer.
        issuer: Box<str>,
    },
    /// The configured clients belong to other authorization servers.
    ClientBound {
        /// The issuer that the MCP server names.
        issuer: Box<str>,
    },
    /// The application has no identity assertion for the user or the workload.
    NoIdentity,
    /// The user cannot be asked: there is no browser, and no other way to show the URL.
    NoBrowser,
    /// The redirect of the browser cannot be received.
    NoListener,
    /// Another program uses the port of the redirect URI.
    PortTaken {
        /// The port.
        port: u16,
    },
    /// The operating system provided no random bytes in time.
    NoRandomness,
    /// The client's private key did not sign in time.
    NoSignature,
    /// The authorization request cannot be written.
    Request(InvalidRequest),
    /// The user, or the application, did not answer in time.
    TimedOut,
    /// The application cancelled the flow.
    Cancelled,
    /// The credential store stayed locked by another process.
    Locked,
    /// The authorization response was rejected.
    Redirect(RedirectFault),
    /// The authorization server, or its user, refused the authorization request.
    Refused {
        /// The issuer.
        issuer: Box<str>,
        /// The reason.
        error: OAuthError,
    },
    /// The token endpoint issued no token.
    Token {
        /// The issuer; for an identity provider, its token endpoint.
        issuer: Box<str>,
        /// The reason.
        error: TokenError,
    },
    /// The server accepts only tokens that are bound to a key, and no key is configured.
    DpopRequired,
    /// The authorization server issued a token that is not bound to the key, as is required.
    NotBound {
        /// The issuer.
        issuer: Box<str>,
    },
    /// The MCP server rejects the proof that the client holds the key of its token.
    Proof(OAuthError),
    /// The MCP server rejects an access token that was just issued for it.
    Rejected,
    /// The MCP server forbids the request for a reason other than missing scopes.
    Forbidden,
    /// The operation needs scopes that were not granted.
    Scopes {
        /// The missing scopes.
        missing: Scopes,
    },
    /// Repeated authorization did not lead to an accepted request.
    Loop,
    /// The flow needed more requests than
    /// [`AuthLimits::requests_max`](crate::auth::AuthLimits::requests_max).
    TooManyRequests,
    /// The authorization was closed.
    Closed,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { url } => {
                write!(f, "{url} cannot be reached or keeps failing; try again later")
            }
            Self::Metadata { url, error } => write!(f, "{error} ({url})"),
            Self::NoMetadata { issuer } => {
                write!(f, "no metadata of the authorization server {issuer} were found")
            }
            Self::ResourceMismatch { expected, found } => write!(
                f,
                "the metadata of {expected} describe {found:?}; the server must correct `resource`"
            ),
            Self::IssuerMismatch { expected, found } => write!(
                f,
                "the authorization server {expected:?} calls itself {found:?}; if they differ by \
                 a final slash, see `Quirks::issuer_slash`"
            ),
            Self::Pkce { issuer } => write!(
                f,
                "{issuer} does not advertise PKCE with S256; if it supports PKCE nevertheless, see \
                 `Quirks::unadvertised_pkce`"
            ),
            Self::Blocked(refusal) => write!(f, "a URL of the server is not used: {refusal}"),
            Self::Endpoint { issuer, error } => write!(f, "{issuer}: {error}"),
            Self::TooManyScopes(error) => error.fmt(f),
            Self::Registration { issuer, error } => {
                write!(f, "{issuer}: {error}; configure a registered client")
            }
            Self::NoClient { issuer } => {
                write!(f, "{issuer} has no way to identify this client; configure a client for it")
            }
            Self::ClientBound { issuer } => write!(
                f,
                "the server uses the authorization server {issuer}, and the configured clients \
                 belong to others; configure a client for this one"
            ),
            Self::PortTaken { port } => write!(
                f,
                "another program uses the port {port}, which the redirect needs; end that program, \
                 or register another port (`Redirect::Loopback`)"
            ),
            Self::Request(error) => error.fmt(f),
            Self::Redirect(fault) => write!(f, "the authorization response is rejected: {fault}"),
            Self::Refused { issuer, error } => write!(f, "{issuer}: {error}"),
            Self::Token { issuer, error } => {
                write!(f, "{issuer} issued no access token: {error}")
            }
            Self::NotBound { issuer } => write!(
                f,
                "{issuer} issued an access token that is not bound to the key; if such tokens may \
                 be used, see `AuthConfig::dpop`"
            ),
            Self::Proof(error) => {
                write!(f, "the server rejects the DPoP proof; check the system clock: {error}")
            }
            Self::Scopes { missing } if missing.is_empty() => f.write_str(
                "the operation needs scopes that were not granted, and the server does not name \
                 them; see `AuthConfig::scopes`",
            ),
            Self::Scopes { missing } => {
                write!(f, "the operation needs scopes that were not granted: {missing}")
            }
            _ => f.write_str(self.text()),
        }
    }
}

impl Denial {
    /// Returns the message of a reason without details.
    const fn text(&self) -> &'static str {
        match self {
            Self::Unsupported => "the server names no usable authorization server",
            Self::NoIdentity => "the application provided no identity assertion",
            Self::NoBrowser => {
                "no browser can be opened for the user to log in, and the application does not \
                 show the URL by itself"
            }
            Self::NoListener => {
                "no loopback port can receive the redirect; configure `Redirect::Fixed`"
            }
            Self::NoRandomness => "the operating system provided no random bytes",
            Self::NoSignature => "the private key of the client did not sign",
            Self::TimedOut => "the authorization was not completed in time",
            Self::Cancelled => "the authorization was cancelled",
            Self::Locked => "another process holds the lock of the credential store",
            Self::DpopRequired => {
                "the server accepts only tokens that are bound to a key; configure one with \
                 `AuthConfig::dpop`"
            }
            Self::Rejected => "the server rejects the access token that was just issued for it",
            Self::Forbidden => "the server forbids the request",
            Self::Loop => "repeated authorization led to no accepted request",
            Self::TooManyRequests => {
                "the authorization takes too many requests (`AuthLimits::requests_max`)"
            }
            _ => "the authorization is closed",
        }
    }
}

impl core::error::Error for Denial {}

impl From<InvalidScopes> for Denial {
    fn from(error: InvalidScopes) -> Self {
        Self::TooManyScopes(error)
    }
}
