//! Text that is never shown: tokens, codes, keys of clients.

use alloc::string::String;
use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Text that is never shown, such as an access token.
///
/// `Debug` prints the length only, there is no `Display`, and no format of the `serde` crate writes
/// it. [`expose`](Self::expose) is the one way to read it, so that each use can be found by that
/// name. Comparisons take a time that depends on the lengths alone, and the memory is overwritten
/// when the value is dropped; each clone is its own copy.
///
/// # Examples
///
/// ```
/// use mcp_proto::Secret;
///
/// let token = Secret::new("abc");
/// assert_eq!(format!("{token:?}"), "Secret(3 bytes)");
/// assert_eq!(token.expose(), "abc");
/// assert_eq!(token, Secret::new("abc"));
/// ```
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Keeps `text` as a secret.
    ///
    /// A `String` is moved without a copy. Other text is copied, and the caller must erase the
    /// original.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Returns the secret itself, for example to send it. Do not log or display it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for Secret {}

// AUT-34: only the length.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.len())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn debug_shows_the_length_only() {
        assert_eq!(format!("{:?}", Some(Secret::new("hunter2"))), "Some(Secret(7 bytes))");
    }

    #[test]
    fn equal_text_is_equal_and_other_text_is_not() {
        let secret = Secret::new("abc");
        for (other, equal) in [("abc", true), ("abd", false), ("ab", false), ("", false)] {
            assert_eq!(secret == Secret::new(other), equal, "{other}");
        }
    }
}
