//! [`TokenResponse`]: the response of a token endpoint.

use core::fmt;

use super::document::{Document, InvalidDocument};
use super::limits::AuthLimits;
use super::oauth_error::OAuthError;
use super::scopes::Scopes;
use super::token_request::ID_JAG;
use crate::secret::Secret;

/// The tokens in a response of a token endpoint.
///
/// ```
/// use mcp_proto::auth::{AuthLimits, TokenResponse, TokenType};
///
/// let body = br#"{"access_token":"a1","token_type":"bearer","expires_in":3600}"#;
/// let now = 1_790_000_000; // in seconds since the Unix epoch
/// let tokens = TokenResponse::parse(200, body, now, &AuthLimits::default()).unwrap();
/// assert_eq!(tokens.access_token.expose(), "a1");
/// assert_eq!((tokens.token_type, tokens.expires_at), (TokenType::Bearer, Some(now + 3600)));
/// assert_eq!(tokens.refresh_token, None);
/// ```
///
/// See RFC 6749, section 5.1.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TokenResponse {
    /// The access token.
    pub access_token: Secret,
    /// How the access token is used.
    pub token_type: TokenType,
    /// When the access token expires, in seconds since the Unix epoch; `None` if unknown.
    pub expires_at: Option<u64>,
    /// The refresh token, if there is one. After a refresh, `None` keeps the earlier one.
    // AUT-58, AUT-59.
    pub refresh_token: Option<Secret>,
    /// The granted scopes; `None` if they are those that were requested.
    pub scopes: Option<Scopes>,
}

/// How an access token is used.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TokenType {
    /// The token alone gives access (RFC 6750).
    Bearer,
    /// The token is bound to a key, of which each request carries a proof (RFC 9449).
    Dpop,
}

/// Expiry times further away count as unknown: ten years, in seconds.
const LIFETIME_MAX: u64 = 10 * 365 * 86_400;

impl TokenType {
    /// Returns the scheme of the header `Authorization`.
    #[must_use]
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::Dpop => "DPoP",
        }
    }

    /// Returns the type of this name, ignoring case.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let all = [Self::Bearer, Self::Dpop];
        all.into_iter().find(|token_type| token_type.scheme().eq_ignore_ascii_case(name))
    }
}

impl TokenResponse {
    /// Parses a response, received at `now` (in seconds since the Unix epoch).
    ///
    /// Tolerates common mistakes of servers: an error with a status of success, an expiry time as
    /// text or with a fraction, and an unusable `scope`, which counts as absent. The caller decides
    /// whether the token type is acceptable.
    ///
    /// # Errors
    ///
    /// Returns [`TokenError`] for an error response, and if the access token or its type is
    /// missing or invalid.
    // AUT-55.
    pub fn parse(
        status: u16,
        body: &[u8],
        now: u64,
        limits: &AuthLimits,
    ) -> Result<Self, TokenError> {
        let document = success(status, body, limits)?;
        let token_type = TokenType::by_name(&document.required("token_type")?)
            .ok_or(TokenError::Invalid("token_type"))?;
        Ok(Self {
            access_token: token(&document, limits)?,
            token_type,
            expires_at: lifetime(&document)?.map(|seconds| now.saturating_add(seconds)),
            refresh_token: non_empty(document.secret("refresh_token", limits.token_bytes_max)?),
            scopes: scopes(&document, limits),
        })
    }

    /// Parses the response of an identity provider that exchanged an ID token for an assertion,
    /// and returns the assertion.
    ///
    /// # Errors
    ///
    /// Returns [`TokenError`] for an error response, and unless the response holds an ID-JAG that
    /// is no access token.
    // AUT-80.
    pub fn parse_id_jag(
        status: u16,
        body: &[u8],
        limits: &AuthLimits,
    ) -> Result<Secret, TokenError> {
        let document = success(status, body, limits)?;
        if document.required("issued_token_type")? != ID_JAG {
            return Err(TokenError::Invalid("issued_token_type"));
        }
        if !document.required("token_type")?.eq_ignore_ascii_case("N_A") {
            return Err(TokenError::Invalid("token_type"));
        }
        token(&document, limits)
    }
}

/// Returns the body of a successful response.
fn success<'a>(
    status: u16,
    body: &'a [u8],
    limits: &AuthLimits,
) -> Result<Document<'a>, TokenError> {
    let document = Document::parse(body, limits.token_response_bytes_max, limits);
    // Some servers report errors with a status of success.
    if let Some(error) = document.ok().and_then(|document| OAuthError::of(&document)) {
        return Err(TokenError::Refused { status, error });
    }
    if !(200..300).contains(&status) {
        return Err(TokenError::Status(status));
    }
    Ok(document?)
}

/// Reads the access token, which must fit into a header.
fn token(document: &Document<'_>, limits: &AuthLimits) -> Result<Secret, TokenError> {
    let token = non_empty(document.secret("access_token", limits.token_bytes_max)?);
    token.filter(|token| !token.expose().contains(' ')).ok_or(TokenError::Invalid("access_token"))
}

fn non_empty(secret: Option<Secret>) -> Option<Secret> {
    secret.filter(|secret| !secret.is_empty())
}

/// Reads `expires_in` in whole seconds. Negative values count as 0.
fn lifetime(document: &Document<'_>) -> Result<Option<u64>, InvalidDocument> {
    let text = document.number_text("expires_in")?;
    let seconds = text.and_then(|text| text.trim().parse::<f64>().ok());
    let seconds = seconds.filter(|seconds| *seconds <= LIFETIME_MAX as f64);
    // The conversion rounds down, and turns negative values into 0.
    Ok(seconds.map(|seconds| seconds as u64))
}

fn scopes(document: &Document<'_>, limits: &AuthLimits) -> Option<Scopes> {
    let text = document.text("scope").ok().flatten()?;
    Scopes::parse(&text, limits).ok().filter(|scopes| !scopes.is_empty())
}

/// Returns when to renew a token, in seconds since the Unix epoch.
///
/// The time is before the expiry by a tenth of the lifetime, but by at least 60 s, and never before
/// half of the lifetime. `jitter` moves it earlier by up to a tenth of the time since the issue, so
/// that clients with tokens of one age do not renew them together.
///
/// ```
/// use mcp_proto::auth::renewal_time;
///
/// assert_eq!(renewal_time(0, 3600, 0), 3240);
/// assert_eq!(renewal_time(0, 300, 0), 240);
/// assert_eq!(renewal_time(0, 60, 0), 30);
/// assert_eq!(renewal_time(0, 3600, u32::MAX), 2917);
/// ```
#[must_use]
pub fn renewal_time(issued_at: u64, expires_at: u64, jitter: u32) -> u64 {
    let lifetime = expires_at.saturating_sub(issued_at);
    let margin = (lifetime / 10).max(60);
    let half = lifetime / 2;
    let latest = lifetime.saturating_sub(margin).max(half);
    let spread = (u128::from(latest / 10) * u128::from(jitter)) >> 32;
    let early = u64::try_from(spread).unwrap_or_default();
    issued_at.saturating_add(latest.saturating_sub(early).max(half))
}

/// Why a token request failed.
///
/// ```
/// use mcp_proto::auth::{AuthLimits, TokenResponse};
///
/// let parse = |status, body| {
///     TokenResponse::parse(status, body, 0, &AuthLimits::default()).unwrap_err()
/// };
/// let error = parse(400, br#"{"error":"invalid_grant"}"#);
/// assert!(error.is("invalid_grant") && !error.is_temporary());
/// assert!(parse(502, b"Bad Gateway").is_temporary());
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TokenError {
    /// The server reported an error.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The error.
        error: OAuthError,
    },
    /// The HTTP status is not one of success, and the body has no error code.
    Status(u16),
    /// The body exceeds [`AuthLimits::token_response_bytes_max`].
    Length,
    /// The body is not a JSON object.
    Json,
    /// The named member is missing or invalid.
    Invalid(&'static str),
}

impl TokenError {
    /// Returns whether the request may succeed later, without any change.
    // AUT-41, AUT-61.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Refused { status, error } => {
                let codes = ["server_error", "slow_down", "temporarily_unavailable"];
                is_temporary_status(*status) || codes.iter().any(|code| error.is(code))
            }
            Self::Status(status) => is_temporary_status(*status),
            Self::Length | Self::Json | Self::Invalid(_) => false,
        }
    }

    /// Returns whether the server reported this error code.
    #[must_use]
    pub fn is(&self, code: &str) -> bool {
        matches!(self, Self::Refused { error, .. } if error.is(code))
    }
}

/// Returns whether an HTTP status says that a request may succeed later: 408, 425, 429 or 5xx.
///
/// ```
/// use mcp_proto::auth::is_temporary_status;
///
/// assert!(is_temporary_status(503) && is_temporary_status(429));
/// assert!(!is_temporary_status(404) && !is_temporary_status(200));
/// ```
// AUT-41: such a response never means that there are no metadata.
#[must_use]
pub const fn is_temporary_status(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { error, .. } => error.fmt(f),
            Self::Status(status) => write!(f, "the token endpoint answered with status {status}"),
            Self::Length => {
                f.write_str("the token response exceeds `AuthLimits::token_response_bytes_max`")
            }
            Self::Json => f.write_str("the token response is not a JSON object"),
            Self::Invalid(name) => {
                write!(f, "`{name}` of the token response is missing or invalid")
            }
        }
    }
}

impl core::error::Error for TokenError {}

impl From<InvalidDocument> for TokenError {
    fn from(invalid: InvalidDocument) -> Self {
        match invalid {
            InvalidDocument::Length => Self::Length,
            InvalidDocument::Json => Self::Json,
            InvalidDocument::Member(name) => Self::Invalid(name),
        }
    }
}

#[cfg(test)]
mod tests;
