//! Room for what is read, little as long as little comes, and how much of it is handled at a time;
//! knows nothing of what it is, but for lines.

/// A buffer to read into, of 8 KiB at first, that grows up to 256 KiB while reads fill it.
#[derive(Debug)]
pub struct ReadBuffer {
    bytes: Vec<u8>,
    was_filled: bool,
}

const BYTES_MIN: usize = 8 * 1024;
const BYTES_MAX: usize = 256 * 1024;

impl Default for ReadBuffer {
    fn default() -> Self {
        Self { bytes: vec![0; BYTES_MIN], was_filled: false }
    }
}

impl ReadBuffer {
    /// The room.
    pub fn space(&mut self) -> &mut [u8] {
        if std::mem::take(&mut self.was_filled) && self.bytes.len() < BYTES_MAX {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
        &mut self.bytes
    }

    /// What was read into it.
    pub fn filled(&mut self, count: usize) -> &[u8] {
        self.was_filled = count == self.bytes.len();
        self.bytes.get(..count).unwrap_or_default()
    }
}

/// What a connection may handle before others have their turn: a peer that never stops must not
/// keep a thread from all else.
#[derive(Debug)]
pub(crate) struct Turn {
    left: usize,
}

/// Pieces of what was read are handled one by one: this is the longest.
pub(crate) const PIECE_BYTES_MAX: usize = 16 * 1024;

/// What a turn is: 96 messages, or 384 KiB of one. Many clients send less at a time: theirs end by
/// waiting.
const TURN: usize = MESSAGES * MESSAGE;

const MESSAGES: usize = 96;

/// What a message takes, in the time of that for eight bytes more.
const MESSAGE: usize = 512;

/// What is shorter holds few messages.
const SHORT: usize = 256;

impl Default for Turn {
    fn default() -> Self {
        Self { left: TURN }
    }
}

impl Turn {
    /// One more piece was handled; true when the turn is over, and the next begins.
    pub(crate) fn is_over(&mut self, piece: &[u8]) -> bool {
        let messages = match piece.len() {
            // To count them would cost more than to have a turn more often.
            length @ ..SHORT => length / 16,
            _ => memchr::memchr_iter(b'\n', piece).count(),
        };
        self.passes(piece.len(), messages)
    }

    /// The same of so many bytes that were written, whatever they are.
    pub(crate) fn is_over_with(&mut self, written: usize) -> bool {
        self.passes(written, 1)
    }

    fn passes(&mut self, bytes: usize, messages: usize) -> bool {
        self.left = self.left.saturating_sub(bytes / 8 + messages.max(1) * MESSAGE);
        if self.left > 0 {
            return false;
        }
        *self = Self::default();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{MESSAGES, PIECE_BYTES_MAX, Turn};

    #[test]
    fn a_turn_ends_after_some_messages_or_many_bytes_of_one() {
        let pieces = |piece: &[u8]| {
            let mut turn = Turn::default();
            (1..).find(|_| turn.is_over(piece)).unwrap()
        };
        let many = [b'\n'; PIECE_BYTES_MAX];
        assert_eq!(pieces(&many), 1);
        assert!(
            (MESSAGES / 8..MESSAGES)
                .contains(&pieces(b"{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\"}\n"))
        );
        let part = [b'x'; PIECE_BYTES_MAX];
        assert!((12..24).contains(&pieces(&part)));
        assert!(pieces(b"x") <= MESSAGES, "what trickles takes its turns as well");
    }
}
