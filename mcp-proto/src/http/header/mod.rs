//! Parsing and encoding of HTTP header values.
//!
//! Input is raw bytes. Nothing here relies on validation by the HTTP stack.

mod authority;
mod challenge;
mod media;

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

use base64ct::{Base64, Encoding};

pub use authority::{Authority, Host, Origin};
pub use challenge::{CHALLENGES_MAX, ChallengeRef, PARAMS_MAX, challenges};
pub use media::{accepts, is_media_type};

/// The error for a malformed header value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("malformed header value")
    }
}

impl core::error::Error for Malformed {}

/// The prefix of an encoded value; case-sensitive.
const PREFIX: &str = "=?base64?";

/// The suffix of an encoded value.
const SUFFIX: &str = "?=";

/// The largest integer that a double represents exactly, with all smaller ones: 2^53 - 1.
// HTTP-49: only safe integers are mirrored into headers.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

/// Returns a header value as text, without surrounding spaces and tabs.
///
/// Returns `None` if the value contains anything but visible ASCII, spaces and tabs.
///
/// ```
/// use mcp_proto::http::header::text;
///
/// assert_eq!(text(b" 2026-07-28\t"), Some("2026-07-28"));
/// assert_eq!(text(b"tools/call\r\nx: y"), None);
/// ```
// HTTP-45: invalid characters are rejected. HTTP-46: surrounding whitespace is not significant.
#[must_use]
pub fn text(value: &[u8]) -> Option<&str> {
    let value = trim(value);
    let plain = is_each(value, |byte| matches!(byte, b'\t' | b' '..=b'~'));
    core::str::from_utf8(value).ok().filter(|_| plain)
}

/// Returns a header value, trimmed, if it consists only of visible ASCII.
///
/// Returns `None` unless the trimmed value has 1 to `bytes_max` characters, all in 0x21 to 0x7E.
/// Session ids and `MCP-Protocol-Version` have this form.
///
/// ```
/// use mcp_proto::http::header::visible;
///
/// assert_eq!(visible(b"1868a90c-7d7e", 64), Some("1868a90c-7d7e"));
/// assert_eq!(visible(b"two words", 64), None);
/// assert_eq!(visible(b"too-long", 7), None);
/// ```
// HTTP-30: a session id is visible ASCII.
#[must_use]
pub fn visible(value: &[u8], bytes_max: usize) -> Option<&str> {
    let value = trim(value);
    let visible = !value.is_empty()
        && value.len() <= bytes_max
        && is_each(value, |byte| byte.is_ascii_graphic());
    core::str::from_utf8(value).ok().filter(|_| visible)
}

/// Returns whether `name` is a token (RFC 9110) and therefore a valid header name.
///
/// ```
/// use mcp_proto::http::header::is_token;
///
/// assert!(is_token("Region"));
/// assert!(!is_token("") && !is_token("My Region") && !is_token("a:b") && !is_token("é"));
/// ```
// HTTP-48: an `x-mcp-header` annotation is a token.
#[must_use]
pub fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(is_token_byte)
}

/// Returns whether an event id can be sent unchanged in a `Last-Event-ID` header.
///
/// Such an id has 1 to `bytes_max` bytes, no control characters, and no space or tab at either end.
/// Non-ASCII ids are sent as UTF-8.
// SSE-16: a stream is resumed with `Last-Event-ID`.
#[must_use]
pub fn is_event_id(id: &str, bytes_max: usize) -> bool {
    let clean = !id.is_empty() && !id.bytes().any(|byte| byte.is_ascii_control());
    clean && id.len() <= bytes_max && trim(id.as_bytes()).len() == id.len()
}

/// Encodes text as a header value.
///
/// Plain text is unchanged; any other text becomes `=?base64?…?=`. Text is plain if it
/// - consists of visible ASCII, spaces and tabs;
/// - has no space or tab at either end; and
/// - does not itself have the form `=?base64?…?=`.
///
/// ```
/// use mcp_proto::http::header::{decode, encode};
///
/// assert_eq!(encode("us-west1"), "us-west1");
/// assert_eq!(encode("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
/// assert_eq!(decode(b"=?base64?SGVsbG8sIOS4lueVjA==?=").unwrap(), "Hello, 世界");
/// ```
// HTTP-49: values that are not plain ASCII are Base64. T-46: so are values that look encoded.
#[must_use]
pub fn encode(value: &str) -> Cow<'_, str> {
    let plain = text(value.as_bytes()).is_some_and(|trimmed| trimmed.len() == value.len());
    if plain && !(value.starts_with(PREFIX) && value.ends_with(SUFFIX)) {
        return Cow::Borrowed(value);
    }
    let mut encoded = String::from(PREFIX);
    encoded.push_str(&Base64::encode_string(value.as_bytes()));
    encoded.push_str(SUFFIX);
    Cow::Owned(encoded)
}

/// Decodes a header value written by [`encode`].
///
/// Surrounding spaces and tabs are removed. Apart from that, a value is returned unchanged unless
/// it starts with `=?base64?` and ends with `?=`.
///
/// # Errors
///
/// Returns [`Malformed`] if
/// - the value contains anything but visible ASCII, spaces and tabs;
/// - the encoded part is not canonical, padded Base64 in the standard alphabet; or
/// - the decoded part is not UTF-8.
// HTTP-45, HTTP-50: headers are decoded before they are compared with the body.
pub fn decode(value: &[u8]) -> Result<Cow<'_, str>, Malformed> {
    let value = text(value).ok_or(Malformed)?;
    let Some(encoded) = value.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX))
    else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = Base64::decode_vec(encoded).map_err(|_| Malformed)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Malformed)
}

/// Parses a JSON number whose value is an integer within ±(2^53 - 1).
///
/// Only the value counts, not the notation: `42.0` and `4.2e1` are both 42. Returns `None` for any
/// other number and for invalid text.
///
/// ```
/// use mcp_proto::http::header::safe_integer;
///
/// assert_eq!(safe_integer("-42.0"), Some(-42));
/// assert_eq!(safe_integer("42.5"), None);
/// assert_eq!(safe_integer("9007199254740992"), None);
/// ```
// HTTP-49, HTTP-50: integers are mirrored and compared as numbers.
#[must_use]
pub fn safe_integer(number: &str) -> Option<i64> {
    let magnitude = number.strip_prefix('-').unwrap_or(number);
    let (mantissa, exponent) = match magnitude.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (magnitude, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let power = exponent.map_or("0", |power| power.strip_prefix(['+', '-']).unwrap_or(power));
    let fits = digits(whole) && fraction.is_none_or(digits) && digits(power);
    if !fits || whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    let fraction = fraction.unwrap_or_default();
    let zeros = |text: &str| text.len() - text.trim_end_matches('0').len();
    let trailing = match zeros(fraction) {
        all if all == fraction.len() => all + zeros(whole),
        some => some,
    };
    let significant = (whole.len() + fraction.len()).saturating_sub(trailing);
    if significant == 0 {
        return Some(0);
    }
    // An exponent beyond i64 cannot yield a safe integer: the mantissa is not zero.
    let power: i64 = exponent.map_or(Some(0), |power| power.parse().ok())?;
    let scale = power
        .checked_add(i64::try_from(trailing).ok()?)?
        .checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let scale = u32::try_from(scale).ok()?;
    let mut sum: u64 = 0;
    for digit in whole.bytes().chain(fraction.bytes()).take(significant) {
        sum = sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    let sum = sum.checked_mul(10_u64.checked_pow(scale)?).filter(|sum| *sum <= SAFE_INTEGER_MAX)?;
    let sum = i64::try_from(sum).ok()?;
    Some(if magnitude.len() < number.len() { -sum } else { sum })
}

/// Strips surrounding spaces and tabs.
// HTTP-46: surrounding whitespace is not significant.
fn trim(value: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().position(|byte| !blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    value.get(start..end).unwrap_or_default()
}

/// Returns whether all bytes are allowed.
///
/// Tests each byte, without an early end: the compiler then tests many together.
pub(super) fn is_each(value: &[u8], is_allowed: impl Fn(u8) -> bool) -> bool {
    value.iter().fold(true, |all, byte| all & is_allowed(*byte))
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
