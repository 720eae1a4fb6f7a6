//! Interprets the head of a refusal: the error of the call, and whether and when to retry.

use alloc::boxed::Box;
use alloc::format;
use core::time::Duration;

use super::credentials::CurrentCredentials;
use super::error_text::{REASON_CHARS_MAX, challenge_text};
use crate::http::Headers;
use crate::http::header::visible;
use crate::printable::printable;
use crate::vocabulary::CallError;

/// The maximum length of a `Location` header in bytes; longer ones are not reported.
const LOCATION_BYTES_MAX: usize = 2048;

/// The maximum length of a reported content coding in bytes.
const CODING_BYTES_MAX: usize = 64;

/// Returns the error for an unsuccessful status, which the driver explains by `reason`.
///
/// Without a `reason`, the challenges explain it, without the access token.
pub(super) fn refusal(
    authorization: &CurrentCredentials,
    status: u16,
    fields: &dyn Headers,
    reason: Option<&str>,
) -> CallError {
    match redirect_target(fields).filter(|_| (300..400).contains(&status)) {
        Some(target) => CallError::Redirected { status, target: target.into() },
        None => {
            let challenge =
                || challenge_text(fields, |text| authorization.removed_from(text)).map(Into::into);
            let reason = safe_reason(reason).or_else(challenge);
            CallError::Http { status, reason }
        }
    }
}

/// Returns the error for a body with a content coding, which is not decoded and was not asked for.
pub(super) fn content_coding(fields: &dyn Headers) -> Option<CallError> {
    let values = (0..).map_while(|index| fields.value("content-encoding", index));
    let coding = values
        .filter_map(|value| visible_text(value, CODING_BYTES_MAX))
        .find(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))?;
    let why =
        format!("response has the `Content-Encoding` {coding:?}, the client accepts `identity`");
    Some(CallError::Invalid(why.into()))
}

/// Returns the text of a header value, truncated to `bytes_max`.
fn visible_text(value: &[u8], bytes_max: usize) -> Option<&str> {
    core::str::from_utf8(value.get(..bytes_max).unwrap_or(value)).ok().map(str::trim)
}

/// Returns the explanation by the driver, safe for logs, unless it is empty.
pub(super) fn safe_reason(reason: Option<&str>) -> Option<Box<str>> {
    let reason = printable(reason?.as_bytes(), REASON_CHARS_MAX);
    (!reason.is_empty()).then(|| reason.into())
}

/// Returns whether the server redirects the request.
pub(super) fn is_redirect(status: u16, fields: &dyn Headers) -> bool {
    (300..400).contains(&status) && redirect_target(fields).is_some()
}

/// Returns the target of a redirect, without its query, which may be a secret.
fn redirect_target(fields: &dyn Headers) -> Option<&str> {
    let target = visible(fields.value("location", 0)?, LOCATION_BYTES_MAX)?;
    target.split(['?', '#']).next()
}

/// Returns the time of a `Retry-After` header in seconds. A date is ignored: there is no calendar.
pub(super) fn retry_after(fields: &dyn Headers) -> Option<Duration> {
    let value = core::str::from_utf8(fields.value("retry-after", 0)?).ok()?.trim();
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(value.parse().unwrap_or(u64::MAX)))
}

/// Returns whether a stream that was refused with `status` may be opened later.
///
/// 409 means that the server has not yet noticed the end of the stream's last connection.
pub(super) const fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500 | 502..600)
}

/// Returns whether a status says nothing about the server's era.
pub(super) const fn is_unavailable(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 502..=504)
}

#[cfg(test)]
mod tests {
    use super::super::credentials::{Credentials, Generation};
    use super::super::error_text::body_text;
    use super::*;
    use crate::secret::Secret;

    #[test]
    fn a_long_access_token_is_in_no_explanation() {
        let token = "ab/cd".repeat(120);
        let escaped = token.replace('/', "\\/").replace('a', "\\u0061");
        for authorization in [format!("Bearer {token}"), token.clone()] {
            let mut current = CurrentCredentials::default();
            current.set(Credentials::new(Generation::new(1), Secret::new(authorization)));
            for start in ["", &"x".repeat(200)] {
                let explained = format!("{start}[removed]");
                let why = format!(r#"Bearer error="e", error_description="{start}{token}""#);
                let fields = [("www-authenticate", why)];
                assert_eq!(
                    refusal(&current, 401, &fields, None),
                    CallError::Http { status: 401, reason: Some(explained.as_str().into()) }
                );
                let percent_encoded = token.replace('/', "%2F");
                for echo in [&token, &escaped, &percent_encoded] {
                    let body = format!(r#"{{"message":"{start}{echo}"}}"#);
                    let text = body_text(body.as_bytes(), |text| current.removed_from(text));
                    assert_eq!(text.unwrap(), explained);
                }
            }
        }
    }
}
