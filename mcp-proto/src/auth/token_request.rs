//! [`TokenRequest`]: the body of a request to a token endpoint.

use super::client_auth::ClientAuthentication;
use super::form::Form;
use super::scopes::Scopes;
use super::server_metadata::GrantType;
use crate::secret::Secret;

/// The grant that a client presents to receive tokens.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum TokenGrant<'a> {
    /// The code of a redirect.
    AuthorizationCode {
        /// The code.
        code: &'a Secret,
        /// The redirect URI of the authorization request.
        redirect_uri: &'a str,
        /// The PKCE verifier.
        verifier: &'a Secret,
    },
    /// A refresh token.
    Refresh {
        /// The refresh token.
        token: &'a Secret,
    },
    /// The client's own authority.
    ClientCredentials,
    /// An ID token, to be exchanged at the identity provider for an assertion for another
    /// authorization server (RFC 8693, ID-JAG).
    ///
    /// Its response is read by [`TokenResponse::parse_id_jag`](super::TokenResponse::parse_id_jag).
    IdJag {
        /// The ID token of the user.
        id_token: &'a Secret,
        /// The issuer that is to accept the assertion.
        audience: &'a str,
    },
    /// An assertion of another party (RFC 7523).
    JwtBearer {
        /// The assertion.
        assertion: &'a Secret,
    },
}

/// A request to a token endpoint.
///
/// ```
/// use mcp_proto::Secret;
/// use mcp_proto::auth::{ClientAuthentication, TokenGrant, TokenRequest};
///
/// let token = Secret::new("r1");
/// let request = TokenRequest {
///     resource: Some("https://mcp.example"),
///     ..TokenRequest::new(TokenGrant::Refresh { token: &token })
/// };
/// let request = request.encode(&ClientAuthentication::None { client_id: "app" });
/// let body = "grant_type=refresh_token&refresh_token=r1&resource=https%3A%2F%2Fmcp.example";
/// assert_eq!(request.body.expose(), format!("{body}&client_id=app"));
/// assert_eq!(request.authorization, None);
/// ```
///
/// [Specification][spec]
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
#[derive(Clone, Copy, Debug)]
pub struct TokenRequest<'a> {
    /// The grant.
    pub grant: TokenGrant<'a>,
    /// The identifier of the MCP server, byte for byte as in its metadata.
    ///
    /// `None` only for servers of revision 2025-03-26.
    // AUT-14: in every token request.
    pub resource: Option<&'a str>,
    /// The scopes to ask for; `None` for those that were authorized.
    pub scopes: Option<&'a Scopes>,
}

/// The secret parts of an HTTP request to a token endpoint, or to another endpoint with a form.
///
/// The content type is `application/x-www-form-urlencoded`. Requests should have the header
/// `Accept: application/json`: without it, some servers respond with a form.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct EncodedTokenRequest {
    /// The value of the header `Authorization`, if there is to be one.
    pub authorization: Option<Secret>,
    /// The body.
    pub body: Secret,
}

impl TokenGrant<'_> {
    /// Returns the grant type.
    #[must_use]
    pub const fn grant_type(&self) -> GrantType {
        match self {
            Self::AuthorizationCode { .. } => GrantType::AuthorizationCode,
            Self::Refresh { .. } => GrantType::RefreshToken,
            // AUT-77.
            Self::ClientCredentials => GrantType::ClientCredentials,
            Self::IdJag { .. } => GrantType::TokenExchange,
            Self::JwtBearer { .. } => GrantType::JwtBearer,
        }
    }
}

impl<'a> TokenRequest<'a> {
    /// Creates a request without resource and scopes.
    #[must_use]
    pub const fn new(grant: TokenGrant<'a>) -> Self {
        Self { grant, resource: None, scopes: None }
    }

    /// Encodes the request for a client.
    #[must_use]
    pub fn encode(&self, client: &ClientAuthentication<'_>) -> EncodedTokenRequest {
        let scope = self.scopes.and_then(Scopes::to_param);
        let mut form = Form::new();
        form.push("grant_type", self.grant.grant_type().name());
        match self.grant {
            TokenGrant::AuthorizationCode { code, redirect_uri, verifier } => {
                form.push("code", code.expose());
                form.push("redirect_uri", redirect_uri);
                form.push("code_verifier", verifier.expose());
            }
            TokenGrant::Refresh { token } => form.push("refresh_token", token.expose()),
            TokenGrant::ClientCredentials => {}
            // AUT-79.
            TokenGrant::IdJag { id_token, audience } => {
                form.push("requested_token_type", ID_JAG);
                form.push("audience", audience);
                form.push("subject_token", id_token.expose());
                form.push("subject_token_type", "urn:ietf:params:oauth:token-type:id_token");
            }
            TokenGrant::JwtBearer { assertion } => form.push("assertion", assertion.expose()),
        }
        form.push_some("resource", self.resource);
        form.push_some("scope", scope.as_deref());
        client.add_to(&mut form);
        EncodedTokenRequest { authorization: client.header(), body: form.encode("") }
    }
}

/// The token type of an identity assertion for another authorization server.
pub(super) const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

#[cfg(test)]
mod tests;
