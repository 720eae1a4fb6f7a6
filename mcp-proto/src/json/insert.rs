//! Insertion of members into the `_meta` of an object, without parsing the rest.

use alloc::vec::Vec;

use super::escape::key_is;
use super::lookup::{find_rare, members};
use super::writer::Object;

/// The text of an object, if there is one, and its `_meta`, which several functions need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextWithMeta<'a> {
    pub(crate) text: Option<&'a [u8]>,
    pub(crate) meta: Option<&'a [u8]>,
}

impl<'a> TextWithMeta<'a> {
    pub(crate) fn of(text: Option<&'a [u8]>) -> Self {
        Self { text, meta: text.and_then(|text| find_rare(text, "_meta")) }
    }

    /// Returns the `name` member of the `_meta`.
    pub(crate) fn meta_member(&self, name: &str) -> Option<&'a [u8]> {
        find_rare(self.meta?, name)
    }
}

/// Writes `object` with the members written by `add` at the front of its `_meta`.
///
/// Drops the members named in `replaced` from the existing `_meta`. `None` is treated as an empty
/// object. An object without `_meta` is copied verbatim after the new member.
pub(crate) fn with_meta(
    out: &mut Vec<u8>,
    object: TextWithMeta<'_>,
    replaced: &[&str],
    add: impl FnOnce(&mut Object<'_>),
) {
    let TextWithMeta { text, meta: old_meta } = object;
    let object = text.unwrap_or(b"{}");
    out.extend_from_slice(b"{\"_meta\":");
    let mut meta = Object::begin(out);
    add(&mut meta);
    for (key, value) in old_meta.into_iter().flat_map(members) {
        if !replaced.iter().any(|name| key_is(key, name)) {
            meta.escaped_key(key).extend_from_slice(value);
        }
    }
    meta.end();

    if old_meta.is_none() {
        let rest = object.get(1..).unwrap_or(b"}").trim_ascii_start();
        if !rest.starts_with(b"}") {
            out.push(b',');
        }
        out.extend_from_slice(rest);
        return;
    }
    for (key, value) in members(object).filter(|(key, _)| !key_is(key, "_meta")) {
        out.extend_from_slice(b",\"");
        out.extend_from_slice(key);
        out.extend_from_slice(b"\":");
        out.extend_from_slice(value);
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests;
