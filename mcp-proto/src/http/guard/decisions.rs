//! The decisions of a guard on requests and their tokens.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use bytes::Bytes;

use super::challenge::BearerChallenge;
use super::config::GuardConfig;
use super::insufficient_scope::InsufficientScope;
use super::scopes::insert;
use super::token::{AcceptedToken, TokenExpiry, VerifiedToken};
use crate::http::header::{is_each, text};
use crate::http::headers::Headers;
use crate::http::refusal::Refusal;
use crate::http::reply::Reply;
use crate::secret::Secret;

/// The maximum length of an access token in bytes.
pub(super) const TOKEN_BYTES_MAX: usize = 32 << 10;

/// The maximum number of scopes of a token. Looking for one takes time linear in their number.
pub(super) const SCOPES_MAX: usize = 1024;

/// Accepts requests with an access token that was issued for this server, and refuses others.
///
/// The driver passes each request through these steps, after it has checked the host:
///
/// ```text
/// metadata_reply ──▶ bearer ──▶ the driver's verifier ──▶ judge ──▶ body ──▶ allows ──▶ handler
///     200             401, 400      401, 503               401               403
/// ```
///
/// Nothing is taken from the headers but the token: the identifier of the resource is configured,
/// and metadata, challenges and the check of the audience use it byte for byte. Cheap to clone.
///
/// ```
/// use mcp_proto::http::{Guard, TokenExpiry, VerifiedToken};
///
/// let guard = Guard::builder("https://mcp.example.com/mcp")
///     .authorization_server("https://id.example.com")
///     .scopes_supported(["notes:read"])
///     .implies("notes:write", ["notes:read"])
///     .build()
///     .unwrap();
/// let refusal = guard.bearer(&[("Host", "mcp.example.com")], None).unwrap_err();
/// assert_eq!(refusal.status, 401);
///
/// let bearer = guard.bearer(&[("Authorization", "Bearer abc")], None).unwrap();
/// assert_eq!(bearer.expose(), "abc");
/// let mut token = VerifiedToken::new("https://id.example.com"); // checked by the driver
/// token.subject = Some("ada".into());
/// token.audience = vec!["https://mcp.example.com/mcp".into()];
/// token.scopes = vec!["notes:write".into()];
/// token.expiry = TokenExpiry::At(1_800_000_000);
/// let token = guard.judge(token, 1_799_999_000).unwrap();
/// assert!(guard.allows(&token, ["notes:read"]).is_ok());
/// let refused = guard.allows(&token, ["notes:delete"]).unwrap_err();
/// assert_eq!(
///     refused.challenge(),
///     "Bearer error=\"insufficient_scope\", \
///      error_description=\"the access token needs the scopes notes:delete\", \
///      scope=\"notes:delete\", resource_metadata=\
///      \"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\""
/// );
/// ```
// AUT-70: the resource is configured, never derived from a request.
#[derive(Clone, Debug)]
pub struct Guard(Arc<GuardConfig>);

impl Guard {
    pub(super) fn from_config(config: GuardConfig) -> Self {
        Self(Arc::new(config))
    }

    /// Returns the identifier of the resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.0.metadata.resource
    }

    /// Iterates over the issuers whose tokens are accepted.
    pub fn authorization_servers(&self) -> impl Iterator<Item = &str> {
        self.0.issuers.iter().map(|issuer| &**issuer)
    }

    /// Iterates over the audiences that are accepted.
    pub fn audiences(&self) -> impl Iterator<Item = &str> {
        self.0.audiences.iter().map(|audience| &**audience)
    }

    /// Iterates over the paths that serve the metadata: after the well-known path, the path of the
    /// resource, or nothing.
    pub fn metadata_paths(&self) -> impl Iterator<Item = &str> {
        self.0.metadata.paths.iter().map(|path| &**path)
    }

    /// Returns the [metadata of the protected resource](https://www.rfc-editor.org/rfc/rfc9728) as
    /// JSON.
    #[must_use]
    pub fn metadata(&self) -> &Bytes {
        self.0.metadata.document()
    }

    /// Answers a request for the metadata; `None` if `path` is not one of
    /// [`metadata_paths`](Self::metadata_paths).
    ///
    /// Needs no token and no allowed origin: web pages of any origin may read the metadata.
    #[must_use]
    pub fn metadata_reply(&self, method: &str, path: &str) -> Option<Reply> {
        self.0.metadata.reply(method, path)
    }

    /// Finds the access token of a request in its `Authorization` header.
    ///
    /// `query` is the query of the request target, in which a token is not accepted.
    ///
    /// # Errors
    /// Returns the refusal to send: with status 401 if there is no `Bearer` token, and with status
    /// 400 if the header is repeated, the token is malformed or has more than 32 KiB, or there is a
    /// token in the query.
    // AUT-03, AUT-73: one header, and no token anywhere else.
    pub fn bearer(&self, headers: &dyn Headers, query: Option<&str>) -> Result<Secret, Refusal> {
        let parameters = query.unwrap_or_default().split('&');
        let mut names = parameters.map(|parameter| parameter.split('=').next().unwrap_or_default());
        if names.any(|name| name.eq_ignore_ascii_case("access_token")) {
            return Err(self.malformed("a token in the query is not accepted"));
        }
        let value = match headers.single("authorization") {
            Ok(None) => return Err(self.unauthorized(None)),
            Ok(Some(value)) => value,
            Err(_) => return Err(self.malformed("`Authorization` is repeated")),
        };
        let value = text(value).ok_or_else(|| self.malformed("`Authorization` is malformed"))?;
        let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(self.unauthorized(None));
        }
        let token = token.trim_start_matches(' ');
        if token.len() > TOKEN_BYTES_MAX {
            return Err(self.malformed("the token has more than 32 KiB"));
        }
        if !is_token68(token) {
            return Err(self.malformed("the token is malformed"));
        }
        Ok(Secret::new(token))
    }

    /// Accepts a token, or refuses it.
    ///
    /// `unix` is the current time, in seconds since the Unix epoch. A token is refused if the
    /// verifier left out a claim that this check needs.
    ///
    /// # Errors
    /// Returns the refusal to send, with status 401, if the issuer is not one of the authorization
    /// servers, the audience contains no accepted one, the token has expired, is not valid yet, is
    /// [bound to a key](VerifiedToken::confirmation), has more than 1,024 scopes, or does not say
    /// when it expires and who uses it.
    // AUT-04, AUT-76: checked here, whatever the verifier has checked.
    pub fn judge(&self, mut token: VerifiedToken, unix: u64) -> Result<AcceptedToken, Refusal> {
        let GuardConfig { issuers, audiences, implications, clock_skew, .. } = &*self.0;
        let refused = |why| Err(self.invalid_token(why));
        if !token.issuer.as_ref().is_some_and(|issuer| issuers.contains(issuer)) {
            return refused("the issuer of the token is not trusted");
        }
        if !token.audience.iter().any(|audience| audiences.contains(audience)) {
            return refused("the token was not issued for this server");
        }
        if token.scopes.len() > SCOPES_MAX {
            return refused("the token has more than 1024 scopes");
        }
        match token.expiry {
            TokenExpiry::Unknown => return refused("the token does not say when it expires"),
            TokenExpiry::At(expiry) if unix >= expiry.saturating_add(*clock_skew) => {
                return refused("the token has expired");
            }
            TokenExpiry::At(_) | TokenExpiry::Never => {}
        }
        if token.not_before.is_some_and(|start| unix.saturating_add(*clock_skew) < start) {
            return refused("the token is not valid yet");
        }
        // AUT-82: without a check of proofs, a stolen token would give access.
        if token.confirmation.is_some() {
            return refused("the token is bound to a key, and proofs of the key are not supported");
        }
        let Some(principal) = token.principal() else {
            return refused("the token names neither a subject nor a client");
        };
        let scopes = implications.expand(core::mem::take(&mut token.scopes));
        Ok(AcceptedToken::new(token, principal, scopes))
    }

    /// Checks that a token has the scopes of an operation, and those that every request needs.
    ///
    /// # Errors
    /// Returns the challenge if a scope is missing. It names all scopes of the operation, so that
    /// the client asks once.
    // AUT-24, AUT-65: one challenge with all scopes of the operation.
    pub fn allows<'a>(
        &self,
        token: &AcceptedToken,
        scopes: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), InsufficientScope> {
        let required = self.0.required.iter().map(|scope| &**scope);
        let all: Vec<&str> =
            required.chain(scopes.into_iter().map(|scope| -> &str { scope })).collect();
        if all.iter().all(|scope| token.has_scope(scope)) {
            return Ok(());
        }
        let mut needed = Vec::with_capacity(all.len());
        all.into_iter().for_each(|scope| insert(&mut needed, scope));
        let why = format!("the access token needs the scopes {}", needed.join(" "));
        let challenge = self.challenge(Some(("insufficient_scope", &why)), &needed);
        Err(InsufficientScope::new(needed, why, challenge))
    }

    /// Returns the refusal of a token that a verifier has rejected, with status 401.
    #[must_use]
    pub fn invalid_token(&self, why: &str) -> Refusal {
        self.unauthorized(Some(("invalid_token", why)))
    }

    /// Returns the refusal of a request without a valid token.
    // AUT-72: no `error` for a request without credentials. AUT-24, AUT-25: only the scopes that
    // the request needs, because a client asks its user for all that a challenge names.
    fn unauthorized(&self, error: Option<(&str, &str)>) -> Refusal {
        let why = error.map_or("an access token is required", |(_, why)| why);
        let challenge = self.challenge(error, &self.0.required);
        Refusal::new(401, why.to_string()).header("www-authenticate", challenge)
    }

    fn malformed(&self, why: &'static str) -> Refusal {
        let challenge = self.challenge(Some(("invalid_request", why)), &self.0.required);
        Refusal::new(400, why).header("www-authenticate", challenge)
    }

    // AUT-10: every challenge names the metadata.
    fn challenge(&self, error: Option<(&str, &str)>, scopes: &[Box<str>]) -> String {
        BearerChallenge { error, scopes, metadata_url: &self.0.metadata.url }.to_value()
    }
}

/// Returns whether this is a `token68` by RFC 9110.
fn is_token68(token: &str) -> bool {
    let unpadded = token.trim_end_matches('=');
    // From `-` to `9`: the hyphen, the full stop, the slash and the digits.
    let is_allowed =
        |byte| matches!(byte, b'-'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'~' | b'+');
    !unpadded.is_empty() && is_each(unpadded.as_bytes(), is_allowed)
}
