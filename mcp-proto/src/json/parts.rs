//! The parts of checked values: members and elements, found again by skipping; knows nothing of what they mean.

use super::skip::Skipper;
use super::text::key_is;

/// The members of a checked object, in order: key without its quotes, still escaped, and value.
///
/// Anything but an object has none.
pub(crate) fn members(object: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut skipper = Skipper::over(object);
    let mut more = skipper.accept(b'{') && skipper.peek() != Some(b'}');
    core::iter::from_fn(move || {
        if !more {
            return None;
        }
        let key = skipper.key()?;
        let value = skipper.value()?;
        more = skipper.accept(b',');
        Some((key.get(1..key.len() - 1).unwrap_or_default(), value))
    })
}

/// The elements of a checked array, in order; anything but an array has none.
pub(crate) fn elements(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut skipper = Skipper::over(array);
    let mut more = skipper.accept(b'[') && skipper.peek() != Some(b']');
    core::iter::from_fn(move || {
        if !more {
            return None;
        }
        let value = skipper.value()?;
        more = skipper.accept(b',');
        Some(value)
    })
}

/// The value of the member `name` of a checked object; the last one where the name is repeated (T-10).
pub(crate) fn find<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).filter(|(key, _)| key_is(key, name)).map(|(_, value)| value).last()
}

/// The values of all the members `names` of a checked object, found in one pass, each as `find` would.
pub(crate) fn find_each<'a, const N: usize>(object: &'a [u8], names: [&str; N]) -> [Option<&'a [u8]>; N] {
    let mut found = [None; N];
    for (key, value) in members(object) {
        for (found, name) in found.iter_mut().zip(names) {
            if key_is(key, name) {
                *found = Some(value);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
