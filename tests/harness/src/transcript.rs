//! What happened, in order and in words; knows nothing of whether it should have.

use std::collections::VecDeque;
use std::fmt;

use mcp_proto::Instant;

/// The most entries that are kept: the latest.
const ENTRIES_MAX: usize = 400;

/// The longest entry that is kept whole.
const ENTRY_BYTES_MAX: usize = 600;

/// A log of what went in and came out of one or more machines, with the times.
///
/// It keeps the latest entries and cuts long ones, so that a failure can be read.
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
            write!(f, "{at} {mark} ")?;
            for character in String::from_utf8_lossy(bytes).chars() {
                if character.is_control() || character == char::REPLACEMENT_CHARACTER {
                    write!(f, "{}", character.escape_default())?;
                } else {
                    write!(f, "{character}")?;
                }
            }
            if bytes.len() < *length {
                write!(f, " … ({length} bytes)")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
