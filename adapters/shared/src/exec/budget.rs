//! Cooperative scheduling: how much one connection may handle before it yields.

/// The work that a connection may still do before it yields to other tasks, so that a peer that
/// floods cannot monopolize a thread.
#[derive(Debug)]
pub(crate) struct Budget {
    left: usize,
}

/// The longest piece of input handled at a time, in bytes.
pub(crate) const PIECE_BYTES_MAX: usize = 16 * 1024;

/// The units of a fresh budget: 96 messages, or 384 KiB of a single message. Most clients send less
/// at a time, and the connection yields by waiting for them.
const BUDGET: usize = MESSAGES * MESSAGE;

const MESSAGES: usize = 96;

/// The units charged for a message, where one unit is charged for every eight bytes.
const MESSAGE: usize = 512;

/// Below this many bytes, messages are estimated from the length instead of counted.
const SHORT: usize = 256;

impl Default for Budget {
    fn default() -> Self {
        Self { left: BUDGET }
    }
}

impl Budget {
    /// Charges a piece of input. Returns true, and starts a fresh budget, once this one is spent.
    pub(crate) fn charge_input(&mut self, piece: &[u8]) -> bool {
        let messages = match piece.len() {
            // Counting would cost more than yielding a little too often.
            length @ ..SHORT => length / 16,
            _ => memchr::memchr_iter(b'\n', piece).count(),
        };
        self.charge(piece.len(), messages)
    }

    /// Charges output of this many bytes, like [`charge_input`](Self::charge_input).
    pub(crate) fn charge_output(&mut self, written: usize) -> bool {
        self.charge(written, 1)
    }

    fn charge(&mut self, bytes: usize, messages: usize) -> bool {
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
    use super::{Budget, MESSAGES, PIECE_BYTES_MAX};

    #[test]
    fn a_budget_covers_some_messages_or_many_bytes_of_one() {
        let pieces = |piece: &[u8]| {
            let mut budget = Budget::default();
            (1..).find(|_| budget.charge_input(piece)).unwrap()
        };
        let many = [b'\n'; PIECE_BYTES_MAX];
        assert_eq!(pieces(&many), 1);
        assert!(
            (MESSAGES / 8..MESSAGES)
                .contains(&pieces(b"{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\"}\n"))
        );
        let part = [b'x'; PIECE_BYTES_MAX];
        assert!((12..24).contains(&pieces(&part)));
        assert!(pieces(b"x") <= MESSAGES, "a trickle of single bytes is charged as well");
    }
}
