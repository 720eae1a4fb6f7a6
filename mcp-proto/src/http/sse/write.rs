//! Writes events, each as one line of data; knows nothing of what they say.

use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// One event to write. With empty data it primes its reader: the id counts and there is no message.
/// (HTTP-16, SSE-09)
///
/// ```
/// use mcp_proto::http::sse::Frame;
/// use std::time::Duration;
///
/// let mut stream = Vec::new();
/// let priming = Frame { id: Some("a-0"), retry: Some(Duration::from_millis(500)), ..Frame::default() };
/// priming.write(&mut stream).unwrap();
/// assert_eq!(stream, b"id: a-0\nretry: 500\ndata: \n\n");
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Frame<'a> {
    /// What to resume after, once this was read; the empty one takes the one in force back.
    pub id: Option<&'a str>,
    /// The type; `None` is `message`.
    pub kind: Option<&'a str>,
    /// The time to reconnect after, in whole milliseconds.
    pub retry: Option<Duration>,
    /// UTF-8 on one line. (SSE-13)
    pub data: &'a [u8],
}

/// The text cannot be written to an event stream as it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unwritable {
    /// CR or LF, which would end the line, or NUL in an id, which its reader ignores.
    Character,
    /// The data is not UTF-8.
    NotUtf8,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Character => "a line of an event stream cannot hold this character",
            Self::NotUtf8 => "an event stream is UTF-8",
        })
    }
}

impl core::error::Error for Unwritable {}

impl Frame<'_> {
    /// Adds the event to `out`, up to the blank line that ends it; on an error it adds nothing.
    ///
    /// # Errors
    ///
    /// [`Unwritable`] if a field would break its line or could not be read as it is. Nothing is
    /// split or escaped: data of several lines is JSON with line breaks, which belongs on one
    /// line first.
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

/// What names, line ends and a retry take.
const FIELDS_BYTES: usize = 64;

/// Adds a comment, which every reader ignores: with an empty `text`, what keeps a quiet stream
/// open. (HTTP-54)
///
/// ```
/// let mut stream = Vec::new();
/// mcp_proto::http::sse::comment(&mut stream, "").unwrap();
/// assert_eq!(stream, b":\n\n");
/// ```
///
/// # Errors
///
/// [`Unwritable`] if `text` has line breaks; then nothing is added.
pub fn comment(out: &mut Vec<u8>, text: &str) -> Result<(), Unwritable> {
    if breaks_line(text.as_bytes()) {
        return Err(Unwritable::Character);
    }
    line(out, if text.is_empty() { b":" } else { b": " }, text.as_bytes());
    // Ends no event, as none is open; a reader that waits for blank lines gets one.
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
