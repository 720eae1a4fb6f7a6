//! [`TaskId`]: the unguessable id of a task.

use alloc::string::String;
use core::fmt;

/// The id of a task: 128 random bits, written as 32 hexadecimal digits.
///
/// Without authentication, the id alone gives access to the task. Its `Debug` output therefore
/// shows only the first eight digits.
///
/// ```
/// use mcp_proto::tasks::TaskId;
///
/// let random = 0x786512e2_9e0d_44bd_8f29_789f320fe840_u128; // from a secure source
/// let id = TaskId::from_random(random.to_be_bytes());
/// assert_eq!(id.to_text(), "786512e29e0d44bd8f29789f320fe840");
/// assert_eq!(TaskId::parse(&id.to_text()), Some(id));
/// assert_eq!(format!("{id:?}"), "TaskId(786512e2…)");
/// ```
// TSK-21, TSK-38: ids are unguessable.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TaskId(u128);

/// The length of an id in hexadecimal digits.
const DIGITS: usize = 32;

impl TaskId {
    /// Creates an id from bytes of a cryptographically secure random number generator.
    #[must_use]
    pub const fn from_random(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// Reads an id from a message. Returns `None` unless it is exactly 32 lower-case digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if text.len() != DIGITS || !is_digits {
            return None;
        }
        u128::from_str_radix(text, 16).ok().map(Self)
    }

    /// Returns the id as it is sent in messages.
    #[must_use]
    pub fn to_text(self) -> String {
        let mut text = String::with_capacity(DIGITS);
        for byte in self.0.to_be_bytes() {
            for digit in [byte >> 4, byte & 15] {
                let zero = if digit < 10 { b'0' } else { b'a' - 10 };
                text.push(char::from(zero + digit));
            }
        }
        text
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({:08x}…)", self.0 >> 96)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_written_form_is_read() {
        for bits in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef] {
            let id = TaskId::from_random(bits.to_be_bytes());
            assert_eq!(id.to_text(), alloc::format!("{bits:032x}"));
            assert_eq!(TaskId::parse(&id.to_text()), Some(id));
        }
        for text in
            ["", "1", "+0000000000000000000000000000001", "0000000000000000000000000000000A"]
        {
            assert_eq!(TaskId::parse(text), None, "{text}");
        }
    }
}
