//! Matching of `Content-Type` and `Accept` values; case and parameters are ignored.

use super::trim;

/// Returns whether a `Content-Type` value is the media type `wanted`, ignoring case and parameters.
///
/// ```
/// use mcp_proto::http::header::is_media_type;
///
/// assert!(is_media_type(b"Application/JSON; charset=utf-8", "application/json"));
/// assert!(!is_media_type(b"application/json-rpc", "application/json"));
/// ```
// SSE-26, T-91: parameters such as `charset` do not matter.
#[must_use]
pub fn is_media_type(value: &[u8], wanted: &str) -> bool {
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
    trim(essence).eq_ignore_ascii_case(wanted.as_bytes())
}

/// Returns whether a request's `Accept` values accept the media type `wanted`.
///
/// The most specific media range that matches `wanted` decides: it accepts `wanted` unless its
/// weight is zero (`q=0`). If several ranges are equally specific, it is enough if one of them
/// accepts `wanted`. Invalid ranges are ignored.
///
/// Returns false if no range matches. A missing `Accept` header conventionally accepts everything;
/// callers must handle that case themselves.
///
/// ```
/// use mcp_proto::http::header::accepts;
///
/// let value = &b"application/json, text/*;q=0.5, */*;q=0"[..];
/// assert!(accepts([value], "text/event-stream"));
/// assert!(!accepts([value], "image/png"));
/// ```
// HTTP-04, HTTP-05, SSE-26: what a client must accept.
#[must_use]
pub fn accepts<'a>(values: impl IntoIterator<Item = &'a [u8]>, wanted: &str) -> bool {
    let mut best = (Specificity::None, false);
    for value in values {
        // Fast path: without quotes and parameters, a plain split finds the exact type.
        let is_plain = memchr::memchr(b'"', value).is_none();
        if is_plain && split_at_commas(value).any(|range| is_exact(range, wanted)) {
            return true;
        }
        for range in split_unquoted(value, b',') {
            // The exact type without a weight always accepts.
            if is_exact(range, wanted) {
                return true;
            }
            let mut parts = split_unquoted(range, b';');
            let specificity = specificity(trim(parts.next().unwrap_or_default()), wanted);
            if specificity > Specificity::None {
                best = best.max((specificity, !parts.any(is_zero_weight)));
            }
        }
    }
    best.1
}

fn is_exact(range: &[u8], wanted: &str) -> bool {
    // Most clients write it like this, and a plain comparison is faster.
    let (range, wanted) = (trim(range), wanted.as_bytes());
    range == wanted || range.eq_ignore_ascii_case(wanted)
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Specificity {
    /// The range does not match.
    None,
    /// `*/*`
    Any,
    /// `type/*`
    Type,
    /// `type/subtype`
    Exact,
}

/// Returns how specifically a media range matches the media type.
fn specificity(range: &[u8], wanted: &str) -> Specificity {
    let wanted = wanted.as_bytes();
    let kind = wanted.split_inclusive(|byte| *byte == b'/').next().unwrap_or_default();
    if range.eq_ignore_ascii_case(wanted) {
        return Specificity::Exact;
    }
    match range.strip_suffix(b"*") {
        Some(b"*/") => Specificity::Any,
        Some(start) if start.ends_with(b"/") && start.eq_ignore_ascii_case(kind) => {
            Specificity::Type
        }
        _ => Specificity::None,
    }
}

/// Returns whether this parameter is a weight of zero.
fn is_zero_weight(parameter: &[u8]) -> bool {
    let mut parts = parameter.splitn(2, |byte| *byte == b'=');
    let name = trim(parts.next().unwrap_or_default());
    let weight = trim(parts.next().unwrap_or_default());
    let zero = match weight.split_first() {
        Some((b'0', rest)) => {
            rest.strip_prefix(b".").unwrap_or(rest).iter().all(|digit| *digit == b'0')
        }
        _ => false,
    };
    name.eq_ignore_ascii_case(b"q") && zero
}

/// Splits at commas, also inside a quoted string.
fn split_at_commas(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(value);
    core::iter::from_fn(move || {
        let value = rest?;
        let comma = memchr::memchr(b',', value);
        rest = comma.and_then(|comma| value.get(comma + 1..));
        value.get(..comma.unwrap_or(value.len()))
    })
}

/// Splits at a separator, except inside a quoted string.
fn split_unquoted(value: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let (mut quoted, mut escaped) = (false, false);
    value.split(move |byte| {
        if escaped {
            escaped = false;
        } else {
            escaped = quoted && *byte == b'\\';
            quoted ^= *byte == b'"';
        }
        !quoted && *byte == separator
    })
}
