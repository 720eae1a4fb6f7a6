//! [`OAuthError`]: the error code of a response of an authorization server.

use alloc::boxed::Box;
use core::fmt;

use super::document::Document;
use super::limits::AuthLimits;

/// The error code of an OAuth response, such as `invalid_grant`.
///
/// Descriptions and links that servers send with it are not kept: they could contain secrets of
/// the request.
///
/// ```
/// use mcp_proto::auth::OAuthError;
///
/// assert!(OAuthError::new("invalid_grant").is("invalid_grant"));
/// assert_eq!(OAuthError::new("oh\nno").code(), "unspecified");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OAuthError(Box<str>);

/// The maximum length of an error code.
const CODE_BYTES_MAX: usize = 64;

impl OAuthError {
    /// Creates an error from a code; `unspecified` unless the code is 1 to 64 visible ASCII
    /// characters.
    #[must_use]
    pub fn new(code: &str) -> Self {
        let fits = (1..=CODE_BYTES_MAX).contains(&code.len());
        let is_plain = fits && code.bytes().all(|byte| byte.is_ascii_graphic());
        Self(if is_plain { code.into() } else { "unspecified".into() })
    }

    /// Returns the code.
    #[must_use]
    pub const fn code(&self) -> &str {
        &self.0
    }

    /// Returns whether this is the given code. Codes are case-sensitive.
    #[must_use]
    pub fn is(&self, code: &str) -> bool {
        self.code() == code
    }

    /// Reads the member `error` of a response body.
    ///
    /// Returns `None` if the body is no JSON object of at most
    /// [`AuthLimits::token_response_bytes_max`], or has no such member.
    #[must_use]
    pub fn from_body(body: &[u8], limits: &AuthLimits) -> Option<Self> {
        let document = Document::parse(body, limits.token_response_bytes_max, limits).ok()?;
        Self::of(&document)
    }

    /// Returns the error of a document. A member `error` that is no text is an error too.
    pub(super) fn of(document: &Document<'_>) -> Option<Self> {
        match document.text("error") {
            Ok(code) => code.map(|code| Self::new(&code)),
            Err(_) => Some(Self::new("")),
        }
    }
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the authorization server reported `{}`", self.code())
    }
}

impl core::error::Error for OAuthError {}

#[cfg(test)]
mod tests;
