//! Lookup of members and elements in validated JSON, by skipping over values.

use super::cursor::Cursor;
use super::escape::key_is;

/// Iterates over the members of a validated object, in order: the key without quotes, still
/// escaped, and the value. Yields nothing for any other value.
pub(crate) fn members(object: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut cursor = Cursor::trusted(object);
    let mut more = cursor.accept(b'{') && cursor.peek() != Some(b'}');
    core::iter::from_fn(move || {
        if !more {
            return None;
        }
        let key = cursor.skip_key()?;
        let value = cursor.skip_value()?;
        more = cursor.accept(b',');
        Some((key.get(1..key.len() - 1).unwrap_or_default(), value))
    })
}

/// Iterates over the elements of a validated array, in order. Yields nothing for any other value.
pub(crate) fn elements(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut cursor = Cursor::trusted(array);
    let mut more = cursor.accept(b'[') && cursor.peek() != Some(b']');
    core::iter::from_fn(move || {
        if !more {
            return None;
        }
        let value = cursor.skip_value()?;
        more = cursor.accept(b',');
        Some(value)
    })
}

// T-10: the last of several members of one name wins.
/// Returns the value of the last member called `name` of a validated object.
pub(crate) fn find<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).filter(|(key, _)| key_is(key, name)).map(|(_, value)| value).last()
}

/// Like [`find`], but first rules the member out with a substring search. Faster if the member is
/// rarely present.
pub(crate) fn find_rare<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    if mentions(object, name) { find(object, name) } else { None }
}

/// Returns whether validated JSON may contain a member called `name`, at any depth and in any
/// spelling. May return true for text without one, never false for text with one.
fn mentions(text: &[u8], name: &str) -> bool {
    // Search for a byte that is rare in text: not a lowercase letter, or `k`.
    let is_rare = |byte| !u8::is_ascii_lowercase(&byte) || byte == b'k';
    let place = name.bytes().position(is_rare).unwrap_or(0);
    let Some(rare) = name.as_bytes().get(place) else { return true };
    let is_here = |at: usize| {
        at.checked_sub(place)
            .and_then(|start| text.get(start..))
            .is_some_and(|from| from.starts_with(name.as_bytes()))
    };
    // The key may be escaped. Of the characters in names, only `/` has a short escape.
    let escapes_here = |at| matches!(text.get(at + 1), Some(b'u' | b'/'));
    memchr::memchr_iter(*rare, text).any(is_here)
        || memchr::memchr_iter(b'\\', text).any(escapes_here)
}

/// Returns the values of several members of a validated object in one pass, each as by [`find`].
pub(crate) fn find_each<'a, const N: usize>(
    object: &'a [u8],
    names: [&str; N],
) -> [Option<&'a [u8]>; N] {
    let mut found = [None; N];
    for (key, value) in members(object) {
        let is_plain = memchr::memchr(b'\\', key).is_none();
        for (found, name) in found.iter_mut().zip(names) {
            if (is_plain && key == name.as_bytes()) || (!is_plain && key_is(key, name)) {
                *found = Some(value);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
