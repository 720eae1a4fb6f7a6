//! [`PendingAuthorization`]: judges the query of a redirect from an authorization server.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use core::fmt;

use subtle::ConstantTimeEq;

use super::form;
use super::limits::AuthLimits;
use super::oauth_error::OAuthError;
use crate::secret::Secret;

/// What a client records before it sends the user to an authorization server.
///
/// ```
/// use mcp_proto::Secret;
/// use mcp_proto::auth::{AuthLimits, PendingAuthorization, RedirectVerdict};
///
/// let pending = PendingAuthorization {
///     state: Secret::new("s1"),
///     issuer: "https://as.example".into(),
///     sends_issuer: true,
/// };
/// let judge = |query| pending.judge(query, &AuthLimits::default());
/// let query = "code=c1&state=s1&iss=https%3A%2F%2Fas.example";
/// assert_eq!(judge(query), RedirectVerdict::Code(Secret::new("c1")));
/// assert!(matches!(judge("code=c1&state=other"), RedirectVerdict::Foreign(_)));
/// assert!(matches!(judge("code=c1&state=s1"), RedirectVerdict::Rejected(_))); // no `iss`
/// ```
///
/// [Specification][spec]
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
// AUT-51: recorded before the redirect.
#[derive(Clone, Debug)]
pub struct PendingAuthorization {
    /// The `state` of the authorization request.
    pub state: Secret,
    /// The issuer, as its validated metadata state it.
    pub issuer: Box<str>,
    /// Whether the issuer's metadata announce that responses name their issuer (RFC 9207).
    pub sends_issuer: bool,
}

/// The verdict on a redirect.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RedirectVerdict {
    /// The redirect does not belong to the flow, which keeps waiting.
    Foreign(RedirectFault),
    /// The redirect ends the flow: it may be the attack of another authorization server.
    Rejected(RedirectFault),
    /// The redirect ends the flow: the authorization server refused.
    Denied(OAuthError),
    /// The authorization code, to be redeemed at the issuer's token endpoint.
    Code(Secret),
}

/// The reason why a redirect is not accepted. Contains nothing of its query.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RedirectFault {
    /// The query exceeds [`AuthLimits::redirect_bytes_max`].
    Length,
    /// The query is not form-encoded, or has too many parameters.
    Malformed,
    /// `code`, `state`, `iss` or `error` is repeated.
    Repeated,
    /// `state` is missing or not the one that was sent.
    State,
    /// `iss` is missing, though the metadata announce it.
    IssuerMissing,
    /// `iss` is another issuer.
    IssuerMismatch,
    /// There is neither an error nor a usable code.
    Code,
}

impl PendingAuthorization {
    /// Judges the query of a redirect, without its `?`.
    ///
    /// The checks are made in this order: length, form and repeated parameters, `state` (in
    /// constant time), `iss`, `error`, `code`. After a failed check, nothing else of the query is
    /// used. Once the verdict is not [`Foreign`](RedirectVerdict::Foreign), the flow is used up:
    /// the caller must not judge another redirect with this value.
    #[must_use]
    pub fn judge(&self, query: &str, limits: &AuthLimits) -> RedirectVerdict {
        let params = match Params::parse(query, limits) {
            Ok(params) => params,
            Err(fault) => return RedirectVerdict::Foreign(fault),
        };
        // AUT-16.
        if !params.state.is_some_and(|state| is_equal(&state, self.state.expose())) {
            return RedirectVerdict::Foreign(RedirectFault::State);
        }
        // AUT-17, AUT-18, AUT-52: compared byte for byte, before anything else is looked at.
        match params.iss {
            Some(issuer) if *issuer != *self.issuer => {
                return RedirectVerdict::Rejected(RedirectFault::IssuerMismatch);
            }
            None if self.sends_issuer => {
                return RedirectVerdict::Rejected(RedirectFault::IssuerMissing);
            }
            Some(_) | None => {}
        }
        if let Some(error) = params.error {
            let error = OAuthError::new(&error).describe(&params.description.unwrap_or_default());
            return RedirectVerdict::Denied(error.without([self.state.expose()].into_iter()));
        }
        let is_usable = |code: &Cow<'_, str>| {
            let fits = (1..=limits.token_bytes_max).contains(&code.len());
            fits && code.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        };
        match params.code.filter(is_usable) {
            Some(code) => RedirectVerdict::Code(Secret::new(code)),
            None => RedirectVerdict::Rejected(RedirectFault::Code),
        }
    }
}

/// The parameters of a redirect.
#[derive(Default)]
struct Params<'a> {
    code: Option<Cow<'a, str>>,
    state: Option<Cow<'a, str>>,
    iss: Option<Cow<'a, str>>,
    error: Option<Cow<'a, str>>,
    description: Option<Cow<'a, str>>,
}

impl<'a> Params<'a> {
    fn parse(query: &'a str, limits: &AuthLimits) -> Result<Self, RedirectFault> {
        if query.len() > limits.redirect_bytes_max {
            return Err(RedirectFault::Length);
        }
        let mut params = Self::default();
        for (name, value) in form::parse(query).ok_or(RedirectFault::Malformed)? {
            let param = match &*name {
                "code" => &mut params.code,
                "state" => &mut params.state,
                "iss" => &mut params.iss,
                "error" => &mut params.error,
                "error_description" => {
                    params.description = params.description.or(Some(value));
                    continue;
                }
                _ => continue,
            };
            if param.replace(value).is_some() {
                return Err(RedirectFault::Repeated);
            }
        }
        Ok(params)
    }
}

fn is_equal(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// Returns the query of a redirect from what a user pasted: a whole URL, or the query alone.
///
/// ```
/// use mcp_proto::auth::query_of_redirect;
///
/// let pasted = " http://127.0.0.1:8000/callback?code=c1&state=s1 ";
/// assert_eq!(query_of_redirect(pasted), "code=c1&state=s1");
/// assert_eq!(query_of_redirect("code=c1&state=s1"), "code=c1&state=s1");
/// ```
#[must_use]
pub fn query_of_redirect(pasted: &str) -> &str {
    let text = pasted.trim();
    let text = text.split_once('#').map_or(text, |(before, _)| before);
    match text.split_once('?') {
        Some((url, query)) if !url.contains('=') => query,
        _ => text,
    }
}

impl fmt::Display for RedirectFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "the redirect's query exceeds `AuthLimits::redirect_bytes_max`",
            Self::Malformed => "the redirect's query is not form-encoded",
            Self::Repeated => "the redirect repeats a parameter",
            Self::State => "the redirect's `state` is not the one of this flow",
            Self::IssuerMissing => "the redirect lacks `iss`, which the server's metadata announce",
            Self::IssuerMismatch => "the redirect's `iss` is not the issuer of this flow",
            Self::Code => "the redirect has neither an error nor a usable code",
        })
    }
}

impl core::error::Error for RedirectFault {}

#[cfg(test)]
mod tests;
