//! Shortens the peer's text for error messages.

use alloc::string::String;

/// Characters of a name that an error message quotes.
const NAME_CHARS_MAX: usize = 64;

/// Returns enough of the peer's name to recognise it, on one line. (JSON-19)
pub(super) fn quoted(name: &str) -> String {
    shortened(name, NAME_CHARS_MAX)
}

/// Returns at most `chars_max` characters of `text`, without control characters.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    text.chars().filter(|char| !char.is_control()).take(chars_max).collect()
}
