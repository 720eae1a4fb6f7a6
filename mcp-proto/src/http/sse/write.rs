//! Serialization of events with single-line data.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// An event to write.
///
/// An event with empty data delivers no message; it only sets the reader's last event id and
/// reconnection time.
///
/// ```
/// use mcp_proto::http::sse::OutgoingEvent;
/// use std::time::Duration;
///
/// let mut stream = Vec::new();
/// let retry = Some(Duration::from_millis(500));
/// let priming = OutgoingEvent { id: Some("a-0"), retry, ..OutgoingEvent::default() };
/// priming.write(&mut stream).unwrap();
/// assert_eq!(stream, b"id: a-0\nretry: 500\ndata: \n\n");
/// ```
// HTTP-16, SSE-09: an event with empty data primes the client to reconnect.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OutgoingEvent<'a> {
    /// The event's id, which becomes the reader's last event id. An empty id clears it; `None`
    /// leaves it unchanged.
    pub id: Option<&'a str>,
    /// The event type; `None` means `message`.
    pub kind: Option<&'a str>,
    /// The reconnection time, truncated to milliseconds; `None` keeps the reader's current one.
    pub retry: Option<Duration>,
    /// The data: UTF-8 without line breaks.
    // SSE-13: a message is one `data` line.
    pub data: &'a [u8],
}

/// The error for text that an event stream cannot represent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unwritable {
    /// A field or comment contains a character that is not allowed in it.
    ///
    /// CR and LF are not allowed because they end a line. NUL is not allowed in an id because
    /// readers ignore such an id.
    Character,
    /// The data is not UTF-8.
    NotUtf8,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Character => "event stream fields cannot contain CR, LF, or (in an id) NUL",
            Self::NotUtf8 => "event stream data must be UTF-8",
        })
    }
}

impl core::error::Error for Unwritable {}

impl OutgoingEvent<'_> {
    /// Appends the event to `out`, including its final blank line.
    ///
    /// # Errors
    ///
    /// Returns [`Unwritable`], without appending anything, if a field contains a line break, if the
    /// id contains NUL, or if the data is not UTF-8. Data is neither split nor escaped, so remove
    /// line breaks from JSON first.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        let id = self.id.unwrap_or_default().as_bytes();
        let kind = self.kind.unwrap_or_default().as_bytes();
        if breaks_line(id) || breaks_line(kind) || breaks_line(self.data) || id.contains(&0) {
            return Err(Unwritable::Character);
        }
        core::str::from_utf8(self.data).map_err(|_| Unwritable::NotUtf8)?;
        out.reserve(self.data.len() + id.len() + kind.len() + FIELDS_BYTES);
        if self.id.is_some() {
            line(out, b"id: ", id);
        }
        if self.kind.is_some() {
            line(out, b"event: ", kind);
        }
        if let Some(retry) = self.retry {
            let milliseconds = u64::try_from(retry.as_millis()).unwrap_or(u64::MAX);
            line(out, b"retry: ", alloc::format!("{milliseconds}").as_bytes());
        }
        line(out, b"data: ", self.data);
        out.push(b'\n');
        Ok(())
    }
}

/// The type of an event that carries a message.
// SSE-12: events of other types are ignored.
pub(in crate::http) const MESSAGE: &str = "message";

/// Returns the data of an event that carries `message`, a JSON text on one line.
///
/// Some readers also end lines at U+0085, U+2028 and U+2029, as Unicode does. In JSON these
/// characters occur in strings only, where they can be escaped.
pub(in crate::http) fn message_data(message: &[u8]) -> Cow<'_, [u8]> {
    let mut escaped = Vec::new();
    let mut rest = message;
    let mut from = 0;
    while let Some(at) = memchr::memchr2(0xC2, 0xE2, rest.get(from..).unwrap_or_default()) {
        let (before, found) = rest.split_at(from + at);
        let separator: Option<(&[u8], usize)> = match found {
            [0xC2, 0x85, ..] => Some((b"\\u0085", 2)),
            [0xE2, 0x80, 0xA8, ..] => Some((b"\\u2028", 3)),
            [0xE2, 0x80, 0xA9, ..] => Some((b"\\u2029", 3)),
            _ => None,
        };
        from = match separator {
            Some((escape, length)) => {
                escaped.extend_from_slice(before);
                escaped.extend_from_slice(escape);
                rest = found.get(length..).unwrap_or_default();
                0
            }
            None => before.len() + 1,
        };
    }
    if escaped.is_empty() {
        return Cow::Borrowed(message);
    }
    escaped.extend_from_slice(rest);
    Cow::Owned(escaped)
}

/// The maximum length of field names, line ends and a retry value.
const FIELDS_BYTES: usize = 64;

/// Appends a comment, which readers ignore. An empty comment keeps an idle stream open.
///
/// ```
/// let mut stream = Vec::new();
/// mcp_proto::http::sse::comment(&mut stream, "").unwrap();
/// assert_eq!(stream, b":\n\n");
/// ```
///
/// # Errors
///
/// Returns [`Unwritable`], without appending anything, if `text` contains a line break.
// HTTP-54: comments keep a connection alive.
pub fn comment(out: &mut Vec<u8>, text: &str) -> Result<(), Unwritable> {
    if breaks_line(text.as_bytes()) {
        return Err(Unwritable::Character);
    }
    line(out, if text.is_empty() { b":" } else { b": " }, text.as_bytes());
    // No event is open, so this ends none. It helps readers that process input per blank line.
    out.push(b'\n');
    Ok(())
}

fn breaks_line(text: &[u8]) -> bool {
    memchr::memchr2(b'\r', b'\n', text).is_some()
}

fn line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(value);
    out.push(b'\n');
}
