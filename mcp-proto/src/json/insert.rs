//! Insertion of members into the `_meta` of an object, without parsing the rest.

use alloc::vec::Vec;

use super::escape::key_is;
use super::lookup::{find_rare, members};
use super::writer::Object;

/// Writes `object` with the members written by `add` at the front of its `_meta`.
///
/// Drops the members named in `replaced` from the existing `_meta`. `None` is treated as an empty
/// object. An object without `_meta` is copied verbatim after the new member.
pub(crate) fn with_meta(
    out: &mut Vec<u8>,
    object: Option<&[u8]>,
    replaced: &[&str],
    add: impl FnOnce(&mut Object<'_>),
) {
    let object = object.unwrap_or(b"{}");
    let old_meta = find_rare(object, "_meta");
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
