//! Media types and what is accepted of them, case and parameters ignored; knows none of them by
//! name.

use super::trim;

/// Whether a `Content-Type` is this media type, whatever its case and its parameters. (SSE-26,
/// T-91)
///
/// ```
/// use mcp_proto::http::field::is_media_type;
///
/// assert!(is_media_type(b"Application/JSON; charset=utf-8", "application/json"));
/// assert!(!is_media_type(b"application/json-rpc", "application/json"));
/// ```
#[must_use]
pub fn is_media_type(value: &[u8], wanted: &str) -> bool {
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
    trim(essence).eq_ignore_ascii_case(wanted.as_bytes())
}

/// Whether the values of all `Accept` fields of a head accept this media type. (HTTP-04, HTTP-05,
/// SSE-26)
///
/// The range that names it most closely decides, and refuses with `q=0`; of two that are as close,
/// one that accepts is enough. What is no range is ignored. Without any value nothing is accepted:
/// what that means is the caller's.
///
/// ```
/// use mcp_proto::http::field::accepts;
///
/// let value = &b"application/json, text/*;q=0.5, */*;q=0"[..];
/// assert!(accepts([value], "text/event-stream"));
/// assert!(!accepts([value], "image/png"));
/// ```
#[must_use]
pub fn accepts<'a>(values: impl IntoIterator<Item = &'a [u8]>, wanted: &str) -> bool {
    let mut best = (Closeness::None, false);
    for value in values {
        // Whoever says no more than what it accepts needs no look at anything else.
        let is_plain = memchr::memchr(b'"', value).is_none();
        if is_plain && value.split(|byte| *byte == b',').any(|range| is(range, wanted)) {
            return true;
        }
        for range in split(value, b',') {
            // As close as can be, and without a weight: nothing else matters.
            if is(range, wanted) {
                return true;
            }
            let mut parts = split(range, b';');
            let close = closeness(trim(parts.next().unwrap_or_default()), wanted);
            if close > Closeness::None {
                best = best.max((close, !parts.any(refuses)));
            }
        }
    }
    best.1
}

fn is(range: &[u8], wanted: &str) -> bool {
    trim(range).eq_ignore_ascii_case(wanted.as_bytes())
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Closeness {
    None,
    Anything,
    Kind,
    Exact,
}

/// How closely a media range names the media type.
fn closeness(range: &[u8], wanted: &str) -> Closeness {
    let wanted = wanted.as_bytes();
    let kind = wanted.split_inclusive(|byte| *byte == b'/').next().unwrap_or_default();
    if range.eq_ignore_ascii_case(wanted) {
        return Closeness::Exact;
    }
    match range.strip_suffix(b"*") {
        Some(b"*/") => Closeness::Anything,
        Some(start) if start.ends_with(b"/") && start.eq_ignore_ascii_case(kind) => Closeness::Kind,
        _ => Closeness::None,
    }
}

/// Whether this parameter is a weight of zero.
fn refuses(parameter: &[u8]) -> bool {
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

/// Splits at a separator, except within quotes.
fn split(value: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
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
