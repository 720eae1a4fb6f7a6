//! Values of header fields: which may be sent as they are, how the others are, and what the
//! structured ones say; knows nothing of which fields there are.
//!
//! What comes in is bytes that some HTTP stack cut out of a head; nothing here trusts that it did
//! more.

mod authority;
mod challenge;
mod media;

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

use base64ct::{Base64, Encoding};

pub use authority::{Authority, Host, Origin};
pub use challenge::{CHALLENGES_MAX, Challenge, PARAMS_MAX, challenges};
pub use media::{accepts, is_media_type};

/// The value is not what its field can hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("malformed header value")
    }
}

impl core::error::Error for Malformed {}

/// What an encoded value begins with, in exactly this case.
const PREFIX: &str = "=?base64?";

/// What an encoded value ends with.
const SUFFIX: &str = "?=";

/// The largest integer that every reader of numbers can hold, 2^53 - 1. (HTTP-49)
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

/// The value without the spaces and tabs around it, if it is visible ASCII, spaces and tabs.
/// (HTTP-45, HTTP-46)
///
/// ```
/// use mcp_proto::http::field::text;
///
/// assert_eq!(text(b" 2026-07-28\t"), Some("2026-07-28"));
/// assert_eq!(text(b"tools/call\r\nx: y"), None);
/// ```
#[must_use]
pub fn text(value: &[u8]) -> Option<&str> {
    let value = trim(value);
    let plain = value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    core::str::from_utf8(value).ok().filter(|_| plain)
}

/// The value without the spaces and tabs around it, if it is one to `bytes_max` characters of
/// visible ASCII, 0x21 to 0x7E: what an id of a session is. (HTTP-30)
///
/// ```
/// use mcp_proto::http::field::visible;
///
/// assert_eq!(visible(b"1868a90c-7d7e", 64), Some("1868a90c-7d7e"));
/// assert_eq!(visible(b"two words", 64), None);
/// assert_eq!(visible(b"too-long", 7), None);
/// ```
#[must_use]
pub fn visible(value: &[u8], bytes_max: usize) -> Option<&str> {
    let value = trim(value);
    let visible =
        !value.is_empty() && value.len() <= bytes_max && value.iter().all(u8::is_ascii_graphic);
    core::str::from_utf8(value).ok().filter(|_| visible)
}

/// Whether this is a token: what names a field. (HTTP-48)
///
/// ```
/// use mcp_proto::http::field::is_token;
///
/// assert!(is_token("Region"));
/// assert!(!is_token("") && !is_token("My Region") && !is_token("a:b") && !is_token("é"));
/// ```
#[must_use]
pub fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(is_token_byte)
}

/// Whether the id of an event comes back as it is when it is sent as `Last-Event-ID`: one to
/// `bytes_max` bytes, without control characters, and neither space nor tab at an end. Beyond ASCII
/// it travels as UTF-8. (SSE-16)
#[must_use]
pub fn is_event_id(id: &str, bytes_max: usize) -> bool {
    let clean = !id.is_empty() && !id.bytes().any(|byte| byte.is_ascii_control());
    clean && id.len() <= bytes_max && trim(id.as_bytes()).len() == id.len()
}

/// A value as it may be sent: as it is if it is plain, and otherwise as `=?base64?…?=`. (HTTP-49,
/// T-46)
///
/// Plain is visible ASCII, spaces and tabs, neither space nor tab at an end, and nothing that reads
/// as encoded.
///
/// ```
/// use mcp_proto::http::field::{decode, encode};
///
/// assert_eq!(encode("us-west1"), "us-west1");
/// assert_eq!(encode("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
/// assert_eq!(decode(b"=?base64?SGVsbG8sIOS4lueVjA==?=").unwrap(), "Hello, 世界");
/// ```
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

/// What a value says that was sent as [`encode`] tells. (HTTP-45, HTTP-50)
///
/// The spaces and tabs around it do not count. A value that lacks the prefix or the suffix, in any
/// letter, says itself.
///
/// # Errors
///
/// [`Malformed`] if it holds what is no visible ASCII, space or tab, or if it is encoded and not as
/// it has to be: the standard alphabet, padded, no bits left over, and UTF-8 inside.
pub fn decode(value: &[u8]) -> Result<Cow<'_, str>, Malformed> {
    let value = text(value).ok_or(Malformed)?;
    let Some(encoded) = value.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX))
    else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = Base64::decode_vec(encoded).map_err(|_| Malformed)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Malformed)
}

/// The integer that a decimal number is, if it is one that every reader of numbers can hold: `42.0`
/// and `4.2e1` are 42. (HTTP-49, HTTP-50)
///
/// ```
/// use mcp_proto::http::field::safe_integer;
///
/// assert_eq!(safe_integer("-42.0"), Some(-42));
/// assert_eq!(safe_integer("42.5"), None);
/// assert_eq!(safe_integer("9007199254740992"), None);
/// ```
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
    // More digits than a power can have make nothing that is safe, whatever the mantissa.
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

/// Drops the spaces and tabs around a value. (HTTP-46)
fn trim(value: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().position(|byte| !blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    value.get(start..end).unwrap_or_default()
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
