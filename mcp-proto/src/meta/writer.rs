//! Adds the members that the protocol requires in modern messages: the `_meta` of requests, and the
//! `_meta`, `resultType` and cache members of results.
//!
//! The members are inserted into JSON that the application wrote, so that it cannot omit them.

// STL-01, STL-02, STL-05, STL-39: the required members.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::json::{
    Object, TextWithMeta, find, find_rare, members, unescape, unescape_key, with_meta, write_u64,
};
use crate::revision::{Era, MethodRule, Revision, Side};
use crate::schema::{Encode, Level, key};
use crate::vocabulary::Identity;

/// The members that the protocol requires, encoded in advance for this side and revision.
#[derive(Debug)]
pub(crate) struct MetaWriter {
    /// The members of `_meta`, without braces: all of a client, or the name and version of a
    /// server, unless the configuration withholds them.
    members: Box<[u8]>,
}

impl MetaWriter {
    /// Creates the writer of a side that has not negotiated a revision yet.
    pub(crate) fn of(me: &Identity, side: Side) -> Self {
        Self::new(me, side, me.newest(Era::Modern).unwrap_or_else(|| me.preferred()))
    }

    /// Creates the writer for `revision`.
    pub(crate) fn new(me: &Identity, side: Side, revision: Revision) -> Self {
        let mut out = Vec::new();
        let mut meta = Object::begin(&mut out);
        let name = match side {
            Side::Client => {
                meta.str(key::PROTOCOL_VERSION, revision.name());
                let capabilities = meta.key(key::CLIENT_CAPABILITIES);
                me.declared_in(revision).write(capabilities, side, revision);
                key::CLIENT_INFO
            }
            Side::Server => key::SERVER_INFO,
        };
        let mut info = Vec::new();
        if me.sends_info && me.info.encode(revision, &mut info).is_ok() {
            meta.raw(name, &info);
        }
        Self { members: out.get(1..).unwrap_or_default().into() }
    }

    /// Writes the params of a request with the members of `_meta` that the protocol requires.
    // STL-01, STL-02: revision, capabilities and name of the client.
    pub(crate) fn write_params(
        &self,
        out: &mut Vec<u8>,
        params: TextWithMeta<'_>,
        progress_token: Option<u64>,
        log_level: Option<Level>,
    ) {
        let has_own_level = log_level.is_some() && asks_for_logs(params);
        with_meta(out, params, RESERVED, |meta| {
            meta.encoded(&self.members);
            if let Some(level) = log_level.filter(|_| !has_own_level) {
                meta.str(key::LOG_LEVEL, level.name());
            }
            if let Some(token) = progress_token {
                write_u64(meta.key(key::PROGRESS_TOKEN), token);
            }
        });
    }

    /// Adds the required members to the result in `out[start..]`. A value other than an object is
    /// left unchanged. Returns whether the protocol defines the type of the result.
    // STL-05, STL-39, STL-40: server info, result type and cache members.
    pub(crate) fn finish_result(
        &self,
        out: &mut Vec<u8>,
        start: usize,
        rule: Option<&MethodRule>,
    ) -> bool {
        let object = out.get(start..).unwrap_or_default();
        if !object.starts_with(b"{") {
            return true;
        }
        let may_be_cached = rule.is_some_and(|rule| rule.cached_until.is_some());
        // Most results are written by types of this crate, which write the type last.
        if !may_be_cached && object.ends_with(COMPLETE) && find_rare(object, "_meta").is_none() {
            out.pop();
            self.write_meta(out);
            out.push(b'}');
            return true;
        }
        let (mut meta, mut kind, mut ttl, mut scope, mut is_empty) =
            (None, None, false, false, true);
        for (name, value) in members(object) {
            is_empty = false;
            match &*unescape_key(name) {
                "_meta" => meta = Some(value),
                "resultType" => kind = Some(value),
                "ttlMs" => ttl = true,
                "cacheScope" => scope = true,
                _ => {}
            }
        }
        let is_complete = kind.is_none_or(|kind| kind == b"\"complete\"");
        let is_defined = is_complete || kind == Some(b"\"input_required\"");
        let is_cacheable = is_complete && may_be_cached;
        let lacks_info = meta.is_some_and(|meta| find(meta, key::SERVER_INFO).is_none());
        let (has_meta, has_kind) = (meta.is_some(), kind.is_some());
        if lacks_info && !self.members.is_empty() {
            let bare = out.split_off(start);
            let bare = TextWithMeta { text: Some(&bare), meta: find(&bare, "_meta") };
            with_meta(out, bare, &[], |meta| meta.encoded(&self.members));
        }
        out.pop();
        let mut separator = if is_empty { "" } else { "," };
        let mut add = |member: &[u8]| {
            out.extend_from_slice(separator.as_bytes());
            separator = ",";
            out.extend_from_slice(member);
        };
        // JSON-23: every result has a type.
        if !has_kind {
            add(b"\"resultType\":\"complete\"");
        }
        if is_cacheable && !ttl {
            add(b"\"ttlMs\":0");
        }
        if is_cacheable && !scope {
            add(b"\"cacheScope\":\"private\"");
        }
        if !has_meta {
            self.write_meta(out);
        }
        out.push(b'}');
        is_defined
    }

    /// Adds the `_meta` of a result after another member.
    fn write_meta(&self, out: &mut Vec<u8>) {
        if !self.members.is_empty() {
            out.extend_from_slice(b",\"_meta\":{");
            out.extend_from_slice(&self.members);
            out.push(b'}');
        }
    }
}

/// The end of an object whose last member has this name and value. None of the quotes follows a
/// backslash, so the text cannot be the content of a string.
const COMPLETE: &[u8] = b",\"resultType\":\"complete\"}";

/// The members of `_meta` that the application cannot set.
const RESERVED: &[&str] =
    &[key::PROGRESS_TOKEN, key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES, key::CLIENT_INFO];

/// Returns whether the application set a log level in the params.
pub(crate) fn asks_for_logs(params: TextWithMeta<'_>) -> bool {
    params.meta_member(key::LOG_LEVEL).and_then(unescape).is_some()
}

#[cfg(test)]
mod tests;
