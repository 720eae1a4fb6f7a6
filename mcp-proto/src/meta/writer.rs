//! Adds the members that the protocol requires in modern messages: the `_meta` of requests, and the
//! `_meta`, `resultType` and cache members of results.
//!
//! The members are inserted into JSON that the application wrote, so that it cannot omit them.

// STL-01, STL-02, STL-05, STL-39: the required members.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::json::{find, find_rare, members, unescape, unescape_key, with_meta, write_u64};
use crate::revision::{Era, MethodRule, Revision, Side};
use crate::schema::{Encode, Level, key};
use crate::vocabulary::Identity;

/// The members that the protocol requires, encoded in advance for this side and revision.
#[derive(Debug)]
pub(crate) struct MetaWriter {
    version: &'static str,
    capabilities: Box<[u8]>,
    /// The name and version, unless the configuration withholds them.
    info: Option<Box<[u8]>>,
}

impl MetaWriter {
    /// Creates the writer of a side that has not negotiated a revision yet.
    pub(crate) fn of(me: &Identity, side: Side) -> Self {
        Self::new(me, side, me.newest(Era::Modern).unwrap_or_else(|| me.preferred()))
    }

    /// Creates the writer for `revision`.
    pub(crate) fn new(me: &Identity, side: Side, revision: Revision) -> Self {
        let mut capabilities = Vec::new();
        me.declared_in(revision).write(&mut capabilities, side, revision);
        let mut info = Vec::new();
        let has_info = me.sends_info && me.info.encode(revision, &mut info).is_ok();
        Self {
            version: revision.name(),
            capabilities: capabilities.into(),
            info: has_info.then(|| info.into()),
        }
    }

    /// Writes the params of a request with the members of `_meta` that the protocol requires.
    // STL-01, STL-02: revision, capabilities and name of the client.
    pub(crate) fn write_params(
        &self,
        out: &mut Vec<u8>,
        params: Option<&[u8]>,
        progress_token: Option<u64>,
        log_level: Option<Level>,
    ) {
        let has_own_level = log_level.is_some() && asks_for_logs(params);
        with_meta(out, params, RESERVED, |meta| {
            meta.str(key::PROTOCOL_VERSION, self.version);
            meta.raw(key::CLIENT_CAPABILITIES, &self.capabilities);
            if let Some(info) = &self.info {
                meta.raw(key::CLIENT_INFO, info);
            }
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
        let is_cacheable = is_complete && rule.is_some_and(|rule| rule.cached_until.is_some());
        let info = self
            .info
            .as_deref()
            .filter(|_| meta.is_none_or(|meta| find(meta, key::SERVER_INFO).is_none()));
        let (has_meta, has_kind) = (meta.is_some(), kind.is_some());
        if let Some(info) = info.filter(|_| has_meta) {
            let bare = out.split_off(start);
            with_meta(out, Some(&bare), &[], |meta| meta.raw(key::SERVER_INFO, info));
        }
        out.pop();
        let mut separator = if is_empty { "" } else { "," };
        let mut add = |text: &[&[u8]]| {
            out.extend_from_slice(separator.as_bytes());
            separator = ",";
            text.iter().for_each(|part| out.extend_from_slice(part));
        };
        // JSON-23: every result has a type.
        if !has_kind {
            add(&[b"\"resultType\":\"complete\""]);
        }
        if is_cacheable && !ttl {
            add(&[b"\"ttlMs\":0"]);
        }
        if is_cacheable && !scope {
            add(&[b"\"cacheScope\":\"private\""]);
        }
        if let Some(info) = info.filter(|_| !has_meta) {
            add(&[b"\"_meta\":{\"", key::SERVER_INFO.as_bytes(), b"\":", info, b"}"]);
        }
        out.push(b'}');
        is_defined
    }
}

/// The members of `_meta` that the application cannot set.
const RESERVED: &[&str] =
    &[key::PROGRESS_TOKEN, key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES, key::CLIENT_INFO];

/// Returns whether the application set a log level in the params.
pub(crate) fn asks_for_logs(params: Option<&[u8]>) -> bool {
    params
        .and_then(|params| find_rare(params, "_meta"))
        .and_then(|meta| find_rare(meta, key::LOG_LEVEL))
        .and_then(unescape)
        .is_some()
}

#[cfg(test)]
mod tests;
