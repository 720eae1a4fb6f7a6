//! What happened, in order and in words; knows nothing of whether it should have.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::time::Instant;

/// The most entries that are kept: the latest.
const ENTRIES_MAX: usize = 400;

/// The longest entry that is kept whole.
const ENTRY_BYTES_MAX: usize = 600;

/// A log of what went in and came out of one or more machines, with the times.
///
/// It keeps the latest 400 entries and cuts those over 600 bytes, so that a failure can be read.
/// Control characters are escaped. It shows payloads: it is for tests.
///
/// ```
/// use mcp_proto::Instant;
/// use mcp_proto::testing::Transcript;
///
/// let mut transcript = Transcript::default();
/// transcript.note(Instant::from_millis(5), "server →", "{}");
/// assert_eq!(transcript.to_string(), "0.005000000s server → {}\n");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    entries: VecDeque<Entry>,
    dropped: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    at: Instant,
    mark: &'static str,
    /// The beginning of what was said.
    bytes: Vec<u8>,
    /// How long all of it was.
    length: usize,
}

impl Transcript {
    /// Adds words behind a mark.
    pub fn note(&mut self, at: Instant, mark: &'static str, words: impl AsRef<str>) {
        self.note_bytes(at, mark, words.as_ref().as_bytes());
    }

    /// Adds what the bytes of one message say, behind a mark.
    pub fn note_bytes(&mut self, at: Instant, mark: &'static str, bytes: &[u8]) {
        let kept = bytes.get(..ENTRY_BYTES_MAX).unwrap_or(bytes).to_vec();
        self.entries.push_back(Entry { at, mark, bytes: kept, length: bytes.len() });
        if self.entries.len() > ENTRIES_MAX {
            self.entries.pop_front();
            self.dropped += 1;
        }
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dropped > 0 {
            writeln!(f, "({} earlier entries)", self.dropped)?;
        }
        for Entry { at, mark, bytes, length } in &self.entries {
            write!(f, "{at} {mark} {}", Shown(bytes))?;
            if bytes.len() < *length {
                write!(f, " … ({length} bytes)")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Bytes as text on one line: what is no text, or would break the line, is escaped.
pub(super) struct Shown<'a>(pub(super) &'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(self.0).chars().try_for_each(|character| {
            if character.is_control() || character == char::REPLACEMENT_CHARACTER {
                write!(f, "{}", character.escape_default())
            } else {
                write!(f, "{character}")
            }
        })
    }
}
