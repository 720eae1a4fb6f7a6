//! The parts of checked values: members and elements, found again by skipping; knows nothing of
//! what they mean.

use super::cursor::Cursor;
use super::escape::key_is;

/// The members of a checked object, in order: key without its quotes, still escaped, and value.
///
/// Anything but an object has none.
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

/// The elements of a checked array, in order; anything but an array has none.
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

/// The value of the member `name` of a checked object; the last one where the name is repeated
/// (T-10).
pub(crate) fn find<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).filter(|(key, _)| key_is(key, name)).map(|(_, value)| value).last()
}

/// As `find`, for a member that is seldom there: that it is not is mostly found out without a look
/// at the structure.
pub(crate) fn find_rare<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    if mentions(object, name) { find(object, name) } else { None }
}

/// Whether a checked text may have a member `name`, however deep and however it is spelled.
pub(crate) fn mentions(text: &[u8], name: &str) -> bool {
    // Of what a name has, capitals and the like are the least frequent, and `k` is seldom, too.
    let rarity = |byte: &u8| (!byte.is_ascii_lowercase(), *byte == b'k');
    let Some((place, rare)) =
        name.as_bytes().iter().enumerate().max_by_key(|(_, byte)| rarity(byte))
    else {
        return true;
    };
    let is_here = |at: usize| {
        at.checked_sub(place)
            .and_then(|start| text.get(start..))
            .is_some_and(|from| from.starts_with(name.as_bytes()))
    };
    // Of what names are made of, only a slash has an escape of its own.
    let escapes_here = |at| matches!(text.get(at + 1), Some(b'u' | b'/'));
    memchr::memchr_iter(*rare, text).any(is_here)
        || memchr::memchr_iter(b'\\', text).any(escapes_here)
}

/// The values of all the members `names` of a checked object, found in one pass, each as `find`
/// would.
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
