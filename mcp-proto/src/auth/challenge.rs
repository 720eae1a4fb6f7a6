//! [`TokenChallenge`]: what the `WWW-Authenticate` header of an MCP server asks for.

use super::limits::AuthLimits;
use super::oauth_error::OAuthError;
use super::scopes::Scopes;
use super::token_response::TokenType;
use super::uri::{InvalidUri, Uri};
use crate::http::header::challenges;

/// The `Bearer` and `DPoP` challenges of a response with status 401 or 403.
///
/// Other schemes are ignored, and so are values that are not well-formed. If both schemes have a
/// parameter, the first one counts.
///
/// ```
/// use mcp_proto::auth::{TokenChallenge, AuthLimits};
///
/// let value: &[u8] = br#"Negotiate, Bearer scope="files:read", error="insufficient_scope""#;
/// let challenge = TokenChallenge::parse([value], &AuthLimits::default()).unwrap();
/// assert!(challenge.is_insufficient_scope());
/// assert!(challenge.scopes.unwrap().contains("files:read"));
/// assert!(TokenChallenge::parse([b"Basic realm=x".as_slice()], &AuthLimits::default()).is_none());
/// ```
///
/// [Specification][spec]
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct TokenChallenge {
    /// The URL of the protected resource metadata, or why it cannot be used.
    pub resource_metadata: Option<Result<Uri, InvalidUri>>,
    /// The scopes that the operation needs; `None` also if they are invalid.
    pub scopes: Option<Scopes>,
    /// The error.
    pub error: Option<OAuthError>,
    /// Whether the server accepts tokens that are bound to a key.
    pub accepts_dpop: bool,
}

impl TokenChallenge {
    /// Parses the values of all `WWW-Authenticate` headers of a response.
    ///
    /// Returns `None` if there is neither a `Bearer` nor a `DPoP` challenge.
    // AUT-11.
    #[must_use]
    pub fn parse<'a>(
        values: impl IntoIterator<Item = &'a [u8]>,
        limits: &AuthLimits,
    ) -> Option<Self> {
        let mut found = None;
        for challenge in values.into_iter().filter_map(|value| challenges(value).ok()).flatten() {
            let Some(token_type) = TokenType::by_name(challenge.scheme) else { continue };
            let found: &mut Self = found.get_or_insert_default();
            found.accepts_dpop |= token_type == TokenType::Dpop;
            let param = |name| challenge.param(name);
            if found.resource_metadata.is_none() {
                let uri = param("resource_metadata");
                found.resource_metadata = uri.map(|uri| Uri::parse(uri, limits));
            }
            if found.scopes.is_none() {
                found.scopes = param("scope").and_then(|text| Scopes::parse(text, limits).ok());
            }
            if found.error.is_none() {
                found.error = param("error").map(OAuthError::new);
            }
        }
        found
    }

    /// Returns whether the token lacks scopes. A response with status 403 concerns authorization
    /// only in this case.
    // AUT-64.
    #[must_use]
    pub fn is_insufficient_scope(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.is("insufficient_scope"))
    }
}

#[cfg(test)]
mod tests;
