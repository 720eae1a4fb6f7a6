//! [`RegistrationRequest`] and [`RegisteredClient`]: dynamic client registration (RFC 7591).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::client_auth::{ClientAuthMethod, CredentialKind};
use super::document::{Document, InvalidDocument};
use super::limits::AuthLimits;
use super::oauth_error::OAuthError;
use super::scopes::Scopes;
use super::uri::{Scheme, Uri};
use crate::json::{Array, Object, write_str};
use crate::secret::Secret;

/// A request to register a client.
///
/// ```
/// use mcp_proto::auth::{ClientAuthMethod, RegistrationRequest};
///
/// let request = RegistrationRequest {
///     client_name: "My app",
///     redirect_uris: &["http://127.0.0.1:8000/callback"],
///     auth_method: ClientAuthMethod::None,
///     wants_refresh_tokens: true,
///     scopes: None,
/// };
/// let body = String::from_utf8(request.to_json()).unwrap();
/// assert!(body.contains(r#""application_type":"native""#));
/// ```
///
/// [Specification][spec]
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
#[derive(Clone, Copy, Debug)]
pub struct RegistrationRequest<'a> {
    /// The name that authorization servers show to users.
    pub client_name: &'a str,
    /// The redirect URIs, which the server compares exactly.
    pub redirect_uris: &'a [&'a str],
    /// How the client is to authenticate: see [`ClientAuthMethod::to_register`].
    pub auth_method: ClientAuthMethod,
    /// Whether the client asks for refresh tokens.
    pub wants_refresh_tokens: bool,
    /// The scopes that the client may ask for. Without them, the authorization server decides; with
    /// them, it may refuse others later.
    pub scopes: Option<&'a Scopes>,
}

impl RegistrationRequest<'_> {
    /// Writes the request as JSON.
    ///
    /// `application_type` is `web` if all redirect URIs use HTTPS on hosts other than this one,
    /// otherwise `native`.
    // AUT-19, AUT-22, AUT-45.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        self.write(None, self.auth_method)
    }

    /// Writes the client id metadata document, which identifies the client by its URL where it is
    /// not registered. The document must be served at `url` as `application/json`.
    ///
    /// Returns `None` unless `url` uses HTTPS and has a path. The document always describes a
    /// public client: nothing secret can be in it.
    ///
    /// ```
    /// # use mcp_proto::auth::{AuthLimits, ClientAuthMethod, RegistrationRequest, Uri};
    /// # let request = RegistrationRequest {
    /// #     client_name: "My app",
    /// #     redirect_uris: &["http://127.0.0.1/callback", "http://localhost/callback"],
    /// #     auth_method: ClientAuthMethod::None,
    /// #     wants_refresh_tokens: true,
    /// #     scopes: None,
    /// # };
    /// let url = "https://app.example/client.json";
    /// let url = Uri::parse(url, &AuthLimits::default()).unwrap();
    /// let document = String::from_utf8(request.to_metadata_document(&url).unwrap()).unwrap();
    /// assert!(document.starts_with(r#"{"client_id":"https://app.example/client.json","#));
    /// ```
    // AUT-20, AUT-44.
    #[must_use]
    pub fn to_metadata_document(&self, url: &Uri) -> Option<Vec<u8>> {
        let has_path = !url.path_without_final_slash().is_empty();
        let is_id = url.scheme() == Scheme::Https && has_path;
        is_id.then(|| self.write(Some(url), ClientAuthMethod::None))
    }

    fn write(&self, client_id: Option<&Uri>, auth_method: ClientAuthMethod) -> Vec<u8> {
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        object.opt_str("client_id", client_id.map(Uri::as_str));
        object.str("client_name", self.client_name);
        write_list(object.key("redirect_uris"), self.redirect_uris);
        let grant_types: &[&str] = if self.wants_refresh_tokens {
            &["authorization_code", "refresh_token"]
        } else {
            &["authorization_code"]
        };
        write_list(object.key("grant_types"), grant_types);
        write_list(object.key("response_types"), &["code"]);
        object.str("token_endpoint_auth_method", auth_method.name());
        let is_web = !self.redirect_uris.is_empty() && self.redirect_uris.iter().all(is_web);
        object.str("application_type", if is_web { "web" } else { "native" });
        object.opt_str("scope", self.scopes.and_then(Scopes::to_param).as_deref());
        object.end();
        out
    }
}

fn is_web(uri: &&str) -> bool {
    let uri = Uri::parse(uri, &AuthLimits::default());
    uri.is_ok_and(|uri| uri.scheme() == Scheme::Https && !uri.is_loopback())
}

fn write_list(out: &mut Vec<u8>, texts: &[&str]) {
    let mut array = Array::begin(out);
    for text in texts {
        write_str(array.next(), text);
    }
    array.end();
}

/// A client as an authorization server knows it.
///
/// ```
/// use mcp_proto::auth::{AuthLimits, ClientAuthMethod, RegisteredClient};
///
/// let body = br#"{"client_id":"c1","client_secret":"","client_id_issued_at":1790000000}"#;
/// let asked = ClientAuthMethod::None;
/// let client = RegisteredClient::parse(201, body, asked, &AuthLimits::default()).unwrap();
/// assert_eq!((&*client.client_id, client.secret), ("c1", None));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RegisteredClient {
    /// The client id.
    pub client_id: Box<str>,
    /// The client secret, if the server issued one.
    pub secret: Option<Secret>,
    /// When the secret expires, in seconds since the Unix epoch; `None` for never.
    pub secret_expires_at: Option<u64>,
    /// The method of client authentication that the client is registered with.
    pub auth_method: ClientAuthMethod,
}

impl RegisteredClient {
    /// Parses the response to a registration that asked for `requested`.
    ///
    /// An empty secret counts as none. Without a method in the response, the requested one applies
    /// if the secret that it needs was issued.
    ///
    /// # Errors
    ///
    /// Returns [`RegistrationError`] for an error response, and if the id is missing or the client
    /// cannot use the method that the server chose.
    // AUT-46.
    pub fn parse(
        status: u16,
        body: &[u8],
        requested: ClientAuthMethod,
        limits: &AuthLimits,
    ) -> Result<Self, RegistrationError> {
        let document = Document::parse(body, limits.registration_bytes_max, limits);
        if let Some(error) = document.ok().and_then(|document| OAuthError::of(&document)) {
            return Err(RegistrationError::Refused { status, error });
        }
        if !(200..300).contains(&status) {
            return Err(RegistrationError::Status(status));
        }
        let document = document?;
        let client_id = document.required("client_id")?;
        if !is_client_id(&client_id, limits) {
            return Err(RegistrationError::Invalid("client_id"));
        }
        let secret = document.secret("client_secret", limits.client_secret_bytes_max)?;
        let secret = secret.filter(|secret| !secret.is_empty());
        let kind = if secret.is_some() { CredentialKind::Secret } else { CredentialKind::Nothing };
        let auth_method = match document.text("token_endpoint_auth_method")? {
            None => ClientAuthMethod::choose(None, Some(requested), kind),
            Some(name) => ClientAuthMethod::by_name(&name).filter(|m| m.works_with(kind)),
        };
        let expires_at = document.integer("client_secret_expires_at")?;
        Ok(Self {
            client_id: client_id.into(),
            secret,
            secret_expires_at: expires_at.filter(|time| *time != 0),
            auth_method: auth_method
                .ok_or(RegistrationError::Invalid("token_endpoint_auth_method"))?,
        })
    }

    /// Returns whether the secret has expired at `now`, in seconds since the Unix epoch.
    #[must_use]
    pub fn is_expired(&self, now: u64) -> bool {
        self.secret_expires_at.is_some_and(|time| time <= now)
    }

    /// Returns what the client can authenticate with.
    #[must_use]
    pub const fn credential_kind(&self) -> CredentialKind {
        if self.secret.is_some() { CredentialKind::Secret } else { CredentialKind::Nothing }
    }
}

/// Returns whether a client id is 1 to [`AuthLimits::client_id_bytes_max`] printable ASCII
/// characters (RFC 6749, appendix A.1).
pub(super) fn is_client_id(text: &str, limits: &AuthLimits) -> bool {
    let fits = (1..=limits.client_id_bytes_max).contains(&text.len());
    fits && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Why a registration failed.
///
/// ```
/// use mcp_proto::auth::{AuthLimits, ClientAuthMethod, RegisteredClient};
///
/// let body = br#"{"error":"invalid_redirect_uri"}"#;
/// let asked = ClientAuthMethod::None;
/// let error = RegisteredClient::parse(400, body, asked, &AuthLimits::default()).unwrap_err();
/// assert!(error.is("invalid_redirect_uri"));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RegistrationError {
    /// The server reported an error.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The error.
        error: OAuthError,
    },
    /// The HTTP status is not one of success, and the body has no error code.
    Status(u16),
    /// The body exceeds [`AuthLimits::registration_bytes_max`].
    Length,
    /// The body is not a JSON object.
    Json,
    /// The named member is missing or invalid, or asks for what the client cannot do.
    Invalid(&'static str),
}

impl RegistrationError {
    /// Returns whether the server reported this error code.
    #[must_use]
    pub fn is(&self, code: &str) -> bool {
        matches!(self, Self::Refused { error, .. } if error.is(code))
    }
}

impl fmt::Display for RegistrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { error, .. } => write!(f, "client registration failed: {error}"),
            Self::Status(status) => write!(f, "client registration failed with status {status}"),
            Self::Length => {
                f.write_str("the registration exceeds `AuthLimits::registration_bytes_max`")
            }
            Self::Json => f.write_str("the registration is not a JSON object"),
            Self::Invalid(name) => {
                write!(f, "`{name}` of the registration is missing, invalid or unusable")
            }
        }
    }
}

impl core::error::Error for RegistrationError {}

impl From<InvalidDocument> for RegistrationError {
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
