//! Shortens a peer's text for error messages.

use alloc::string::String;

/// Longest quoted name, in characters.
const NAME_CHARS_MAX: usize = 64;

/// Returns a recognisable prefix of a peer's name, on one line.
// JSON-19: an error message is one short sentence.
pub(super) fn quoted(name: &str) -> String {
    shortened(name, NAME_CHARS_MAX)
}

/// Returns at most `chars_max` characters of `text`, without control characters.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    text.chars().filter(|char| !char.is_control()).take(chars_max).collect()
}
