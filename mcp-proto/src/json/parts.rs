//! The parts of checked values: members and elements, found again by scanning; knows nothing of what they mean.

use super::scan::{DEPTH_CEILING, Scanner};
use super::text::key_is;

/// The members of a checked object, in order: key without its quotes, still escaped, and value.
///
/// Anything but an object has none. An error in the text ends the list.
pub(crate) fn members(object: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut scanner = Scanner::over(object, DEPTH_CEILING);
    let mut more = scanner.accept(b'{') && scanner.peek() != Some(b'}');
    core::iter::from_fn(move || {
        if !more {
            return None;
        }
        let key = scanner.key().ok()?;
        let value = scanner.value().ok()?;
        more = scanner.accept(b',');
        Some((key.get(1..key.len() - 1).unwrap_or_default(), value))
    })
}

/// The elements of a checked array, in order; anything but an array has none.
pub(crate) fn elements(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut scanner = Scanner::over(array, DEPTH_CEILING);
    let mut more = scanner.accept(b'[') && scanner.peek() != Some(b']');
    core::iter::from_fn(move || {
        if !more {
            return None;
        }
        let value = scanner.value().ok()?;
        more = scanner.accept(b',');
        Some(value)
    })
}

/// The value of the member `name` of a checked object; the last one where the name is repeated (T-10).
pub(crate) fn find<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).filter(|(key, _)| key_is(key, name)).map(|(_, value)| value).last()
}

#[cfg(test)]
mod tests;
