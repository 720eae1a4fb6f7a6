//! [`OAuthError`]: the error of a response of an authorization server.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::document::Document;
use super::limits::AuthLimits;
use crate::http::redact::DECODERS;

/// The error of an OAuth response: its code, such as `invalid_grant`, and its description.
///
/// The description of an error that is parsed from a response may repeat secrets of the request. In
/// a [`Denial`](super::Denial), it repeats no token, code or client secret, and no twelve
/// characters of one, not even percent-encoded or JSON-escaped. Client assertions and DPoP proofs,
/// which expire soon, are not looked for. Links that servers send with it are not kept.
///
/// ```
/// use mcp_proto::auth::OAuthError;
///
/// assert!(OAuthError::new("invalid_grant").is("invalid_grant"));
/// assert_eq!(OAuthError::new("oh\nno").code(), "unspecified");
/// let error = OAuthError::new("access_denied").describe("Ask your administrator.");
/// assert!(error.to_string().ends_with("`access_denied`: Ask your administrator."));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OAuthError {
    code: Box<str>,
    description: Option<Box<str>>,
}

/// The maximum length of an error code.
const CODE_BYTES_MAX: usize = 64;

/// The maximum length of a description.
const DESCRIPTION_BYTES_MAX: usize = 256;

impl OAuthError {
    /// Creates an error from a code; `unspecified` unless the code is 1 to 64 visible ASCII
    /// characters.
    #[must_use]
    pub fn new(code: &str) -> Self {
        let fits = (1..=CODE_BYTES_MAX).contains(&code.len());
        let is_plain = fits && code.bytes().all(|byte| byte.is_ascii_graphic());
        let code = if is_plain { code.into() } else { "unspecified".into() };
        Self { code, description: None }
    }

    /// Adds a description: its first 256 printable ASCII characters.
    // RFC 6749 §5.2: there are no others. This also keeps it from controlling a terminal.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        let printable: String = printable_ascii(description).take(DESCRIPTION_BYTES_MAX).collect();
        self.description = Some(printable.trim()).filter(|text| !text.is_empty()).map(Box::from);
        self
    }

    /// Removes the description if it repeats one of these secrets, also in an encoding.
    // AUT-34.
    pub(super) fn without<'a>(mut self, mut secrets: impl Iterator<Item = &'a str>) -> Self {
        self.description = self.description.take().filter(|text| {
            let plain = String::from(&**text);
            let decoded = DECODERS.into_iter().scan(plain.clone(), |text, decode| {
                *text = decode(text);
                Some(printable_ascii(text).collect())
            });
            let texts: Vec<String> = decoded.chain([plain]).collect();
            !secrets.any(|secret| texts.iter().any(|text| repeats(text, secret)))
        });
        self
    }

    /// Returns the code.
    #[must_use]
    pub const fn code(&self) -> &str {
        &self.code
    }

    /// Returns the description, if there is one.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Returns whether this is the given code. Codes are case-sensitive.
    #[must_use]
    pub fn is(&self, code: &str) -> bool {
        self.code() == code
    }

    /// Reads the members `error` and `error_description` of a response body.
    ///
    /// Returns `None` if the body is no JSON object of at most
    /// [`AuthLimits::token_response_bytes_max`], or has no member `error`.
    #[must_use]
    pub fn from_body(body: &[u8], limits: &AuthLimits) -> Option<Self> {
        let document = Document::parse(body, limits.token_response_bytes_max, limits).ok()?;
        Self::of(&document)
    }

    /// Returns the error of a document. A member `error` that is no text is an error too.
    pub(super) fn of(document: &Document<'_>) -> Option<Self> {
        let error = match document.text("error") {
            Ok(code) => Self::new(&code?),
            Err(_) => Self::new(""),
        };
        let description = document.text("error_description").ok().flatten().unwrap_or_default();
        Some(error.describe(&description))
    }
}

/// Returns the characters of a text that a description may have.
fn printable_ascii(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|char| matches!(char, ' '..='~'))
}

/// Returns whether a description repeats a secret, or a part of it that is long enough to matter.
fn repeats(description: &str, secret: &str) -> bool {
    let secret: String = printable_ascii(secret).collect();
    let secret = secret.trim();
    if secret.len() < SECRET_PART_BYTES {
        return !secret.is_empty() && description.contains(secret);
    }
    // Both are ASCII, and the description is short.
    let starts = 0..=description.len().saturating_sub(SECRET_PART_BYTES);
    let mut parts = starts.filter_map(|at| description.get(at..at + SECRET_PART_BYTES));
    parts.any(|part| secret.contains(part))
}

/// The length of the part of a secret that no description may have.
const SECRET_PART_BYTES: usize = 12;

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the authorization server reported `{}`", self.code)?;
        self.description.as_ref().map_or(Ok(()), |text| write!(f, ": {text}"))
    }
}

impl core::error::Error for OAuthError {}

#[cfg(test)]
mod tests;
