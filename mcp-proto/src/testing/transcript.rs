//! [`Transcript`]: a log of messages and events for failure reports.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::time::Instant;

/// The number of entries kept.
const ENTRIES_MAX: usize = 400;

/// The maximum length of an entry in bytes; longer ones are truncated.
const ENTRY_BYTES_MAX: usize = 600;

/// A log of messages and events with their times.
///
/// To keep failure messages readable, only the latest 400 entries are kept, each truncated to 600
/// bytes. Control characters are escaped. A transcript contains payloads, so use it only in tests.
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
    /// The beginning of the text.
    bytes: Vec<u8>,
    /// The length of the whole text.
    length: usize,
}

impl Transcript {
    /// Adds an entry that consists of `text`. `mark` names the source of the text.
    pub fn note(&mut self, at: Instant, mark: &'static str, text: impl AsRef<str>) {
        self.note_bytes(at, mark, text.as_ref().as_bytes());
    }

    /// Adds an entry that consists of a message's bytes. `mark` names the source of the message.
    pub fn note_bytes(&mut self, at: Instant, mark: &'static str, bytes: &[u8]) {
        let kept = bytes.get(..ENTRY_BYTES_MAX).unwrap_or(bytes).to_vec();
        self.entries.push_back(Entry { at, mark, bytes: kept, length: bytes.len() });
        if self.entries.len() > ENTRIES_MAX {
            self.entries.pop_front();
            self.dropped += 1;
        }
    }

    /// Adds an entry for each line that `piece` completes, without its line break. `partial` holds
    /// the incomplete line, which the next piece continues.
    pub fn note_lines(
        &mut self,
        at: Instant,
        mark: &'static str,
        partial: &mut Vec<u8>,
        piece: &[u8],
    ) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            partial.extend_from_slice(part);
            if partial.pop_if(|byte| *byte == b'\n').is_some() {
                self.note_bytes(at, mark, partial);
                partial.clear();
            }
        }
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dropped > 0 {
            writeln!(f, "({} earlier entries)", self.dropped)?;
        }
        for Entry { at, mark, bytes, length } in &self.entries {
            write!(f, "{at} {mark} {}", EscapedLine(bytes))?;
            if bytes.len() < *length {
                write!(f, " … ({length} bytes)")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Displays bytes as one line of text. Escapes control characters and invalid UTF-8.
pub(super) struct EscapedLine<'a>(pub(super) &'a [u8]);

impl fmt::Display for EscapedLine<'_> {
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
