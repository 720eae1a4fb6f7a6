//! Writing an object with members added to its `_meta`, without parsing the rest; knows only the
//! name `_meta`.

use alloc::vec::Vec;

use super::escape::key_is;
use super::lookup::{members, mentions};
use super::writer::Object;

/// Writes `object` with the members that `add` writes at the front of its `_meta`.
///
/// The members named in `replaced` are left out of the `_meta` that the object had. No object
/// counts as an empty one. An object that does not mention `_meta` is copied as it is, behind the
/// new member.
pub(crate) fn with_meta(
    out: &mut Vec<u8>,
    object: Option<&[u8]>,
    replaced: &[&str],
    add: impl FnOnce(&mut Object<'_>),
) {
    let object = object.unwrap_or(b"{}");
    let plain = !mentions(object, "_meta");
    let mut old_meta = None;
    if !plain {
        old_meta = super::find(object, "_meta");
    }

    out.extend_from_slice(b"{\"_meta\":");
    let mut meta = Object::begin(out);
    add(&mut meta);
    for (key, value) in old_meta.into_iter().flat_map(members) {
        if !replaced.iter().any(|name| key_is(key, name)) {
            meta.escaped(key, value);
        }
    }
    meta.end();

    if plain {
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
