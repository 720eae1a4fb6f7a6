//! [`AuthorizationRequest`]: the URL to which the user is sent.

use core::fmt;

use super::form::Form;
use super::limits::AuthLimits;
use super::scopes::Scopes;
use super::uri::Uri;
use crate::secret::Secret;

/// An authorization request with PKCE.
///
/// ```
/// use mcp_proto::auth::{AuthLimits, AuthorizationRequest, FlowSecrets, Uri};
///
/// let limits = AuthLimits::default();
/// let endpoint = Uri::parse("https://as.example/authorize", &limits).unwrap();
/// let flow = FlowSecrets::new([7; 32]); // random bytes
/// let request = AuthorizationRequest {
///     endpoint: &endpoint,
///     client_id: "app",
///     redirect_uri: "http://127.0.0.1:8000/callback",
///     code_challenge: &flow.challenge(),
///     state: &flow.state(),
///     scopes: None,
///     resource: Some("https://mcp.example"),
///     extra: &[("prompt", "consent")],
/// };
/// let url = request.to_uri(&limits).unwrap();
/// assert!(url.expose().starts_with("https://as.example/authorize?response_type=code&client_id="));
/// ```
///
/// [Specification][spec]
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
#[derive(Clone, Copy, Debug)]
pub struct AuthorizationRequest<'a> {
    /// The authorization endpoint. Its query is kept.
    pub endpoint: &'a Uri,
    /// The client id.
    pub client_id: &'a str,
    /// The redirect URI, exactly as it is registered.
    pub redirect_uri: &'a str,
    /// The PKCE challenge, for the method `S256`.
    pub code_challenge: &'a str,
    /// The value that ties the redirect to this request.
    pub state: &'a Secret,
    /// The scopes to ask for; `None` or an empty set asks for the server's default scopes.
    pub scopes: Option<&'a Scopes>,
    /// The identifier of the MCP server, byte for byte as in its metadata.
    ///
    /// `None` only for servers of revision 2025-03-26.
    // AUT-14, AUT-49.
    pub resource: Option<&'a str>,
    /// Further parameters that a server needs.
    pub extra: &'a [(&'a str, &'a str)],
}

/// The parameters that [`AuthorizationRequest::extra`] cannot set.
const RESERVED: &[&str] = &[
    "client_id",
    "code_challenge",
    "code_challenge_method",
    "redirect_uri",
    "request",
    "request_uri",
    "resource",
    "response_mode",
    "response_type",
    "scope",
    "state",
];

impl AuthorizationRequest<'_> {
    /// Returns the URL to show to the user. The URL is secret because it contains `state`.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidRequest`] if the URL exceeds [`AuthLimits::authorization_uri_bytes_max`],
    /// or if `extra` has a parameter that this type sets or that would replace the request.
    pub fn to_uri(&self, limits: &AuthLimits) -> Result<Secret, InvalidRequest> {
        let scope = self.scopes.and_then(Scopes::to_param);
        let mut form = Form::new();
        form.push("response_type", "code");
        form.push("client_id", self.client_id);
        form.push("redirect_uri", self.redirect_uri);
        form.push("code_challenge", self.code_challenge);
        form.push("code_challenge_method", "S256");
        form.push("state", self.state.expose());
        form.push_some("scope", scope.as_deref());
        form.push_some("resource", self.resource);
        for (name, value) in self.extra {
            if RESERVED.contains(name) {
                return Err(InvalidRequest::Reserved);
            }
            form.push(name, value);
        }
        let endpoint = self.endpoint.as_str();
        let separator = match self.endpoint.query() {
            None => "?",
            Some("") => "",
            Some(_) => "&",
        };
        let uri = form.encode(&[endpoint, separator].concat());
        if uri.len() > limits.authorization_uri_bytes_max {
            return Err(InvalidRequest::Length);
        }
        Ok(uri)
    }
}

/// Why an authorization request cannot be written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InvalidRequest {
    /// The URL exceeds [`AuthLimits::authorization_uri_bytes_max`].
    Length,
    /// An extra parameter is one that the request sets itself.
    Reserved,
}

impl fmt::Display for InvalidRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => {
                "the URL of the authorization request is too long \
                 (`AuthLimits::authorization_uri_bytes_max`)"
            }
            Self::Reserved => "an extra parameter is one that the authorization request sets",
        })
    }
}

impl core::error::Error for InvalidRequest {}

#[cfg(test)]
mod tests;
