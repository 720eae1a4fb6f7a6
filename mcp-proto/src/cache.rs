//! Caches results on a client, by method and params, for as long as the server allows.
//!
//! The cache is off unless `Limits::cache_bytes_max` is set. Each connection has its own cache.

// STL-39…45, D-17: the rules of caching.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use crate::collections::{Empty, SortedMap};
use crate::error::code;
use crate::json::{Raw, find, members, unescape_key, unsigned};
use crate::method::MethodId;
use crate::revision::{METHODS, MethodRule};
use crate::time::Instant;
use crate::vocabulary::CallError;

/// The key of a result: the method and the text of the params without `_meta`.
pub(crate) type CacheKey = Box<[u8]>;

#[derive(Debug)]
struct Entry {
    method: &'static str,
    result: Raw,
    /// Whether the result may depend on the credentials of the request.
    is_private: bool,
    /// When the result expires.
    expires: Instant,
    /// The number of insertions so far, for eviction by age.
    serial: u64,
}

/// The cached results of a connection.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    entries: SortedMap<CacheKey, Entry>,
    /// The keys by serial, oldest first.
    by_age: SortedMap<u64, CacheKey>,
    /// The bytes of all entries, including overhead.
    bytes: usize,
    /// The serial of the latest entry.
    serial: u64,
    /// The number of change notifications received.
    changes: u64,
    /// The number of the latest change that invalidated the results of a method.
    invalidated: SortedMap<&'static str, u64>,
    /// The number of the latest change that invalidated all private results.
    private_invalidated: u64,
}

/// The place reserved for the result of a call, with the number of changes before the call.
#[derive(Debug)]
pub(crate) struct CacheSlot {
    key: CacheKey,
    changes: u64,
}

/// The estimated overhead of an entry in bytes.
const ENTRY_BYTES: usize = 200;

impl Empty for Cache {
    const EMPTY: &'static Self = &Self {
        entries: SortedMap::new(),
        by_age: SortedMap::new(),
        bytes: 0,
        serial: 0,
        changes: 0,
        invalidated: SortedMap::new(),
        private_invalidated: 0,
    };
}

impl Cache {
    /// Returns the key of a call; `None` if its result cannot be cached.
    pub(crate) fn key(rule: Option<&MethodRule>, params: Option<&[u8]>) -> Option<CacheKey> {
        let rule = rule.filter(|rule| rule.cached_until.is_some())?;
        let mut key = Vec::from(rule.name.as_bytes());
        for (name, value) in members(params.unwrap_or_default()) {
            match &*unescape_key(name) {
                "_meta" => {}
                // The result depends on input.
                "inputResponses" | "requestState" => return None,
                _ => {
                    key.push(b'\n');
                    key.extend_from_slice(name);
                    key.push(b':');
                    key.extend_from_slice(value);
                }
            }
        }
        Some(key.into())
    }

    /// Returns the cached result, unless it has expired.
    // STL-42: a result is fresh for its `ttlMs`.
    pub(crate) fn find(&self, key: &CacheKey, now: Instant) -> Option<Raw> {
        self.entries.get(key).filter(|entry| now < entry.expires).map(|entry| entry.result.clone())
    }

    /// Caches a result for its `ttlMs`, evicting the oldest entries beyond `bytes_max`.
    pub(crate) fn insert(&mut self, key: CacheKey, result: &Raw, now: Instant, bytes_max: usize) {
        self.remove(&key);
        let ttl = find(result.as_bytes(), "ttlMs")
            .and_then(|ttl| unsigned(core::str::from_utf8(ttl).ok()?));
        let Some(ttl) = ttl.filter(|ttl: &u64| *ttl > 0) else { return };
        let cost = key.len() * 2 + result.as_bytes().len() + ENTRY_BYTES;
        let method = METHODS.iter().find(|rule| is_result_of(&key, rule.name));
        let Some(method) = method.filter(|_| cost <= bytes_max) else { return };
        while self.bytes + cost > bytes_max {
            let Some(oldest) = self.by_age.values().next() else { break };
            let oldest = oldest.clone();
            self.remove(&oldest);
        }
        self.serial += 1;
        self.bytes += cost;
        self.by_age.insert(self.serial, key.clone());
        let expires = now + Duration::from_millis(ttl);
        let is_private = is_private(result);
        let (method, serial) = (method.name, self.serial);
        let entry = Entry { method, result: result.clone(), is_private, expires, serial };
        self.entries.insert(key, entry);
    }

    /// Invalidates the results that the change notification `method` makes stale.
    // STL-42: a change ends freshness early.
    pub(crate) fn invalidate_for(&mut self, method: MethodId) {
        let is_stale = |name: &str| {
            METHODS.iter().any(|rule| {
                rule.name == name && rule.cached_until.is_some_and(|until| until.contains(&method))
            })
        };
        self.remove_methods(is_stale);
        // The result of a call made before the change may be stale although it arrives later.
        self.changes += 1;
        let stale = METHODS.iter().map(|rule| rule.name).filter(|name| is_stale(name));
        for name in stale {
            self.invalidated.insert(name, self.changes);
        }
    }

    /// Reserves the place for the result of a call made now.
    pub(crate) fn slot(&self, key: CacheKey) -> CacheSlot {
        CacheSlot { key, changes: self.changes }
    }

    /// Returns whether a change has invalidated the result since the call was made.
    fn is_stale(&self, slot: &CacheSlot) -> bool {
        self.invalidated
            .iter()
            .any(|(method, change)| *change > slot.changes && is_result_of(&slot.key, method))
    }

    /// Removes all results of `method`, because a cursor in one of them is invalid.
    // STL-45: an invalid cursor invalidates the pages of its list.
    pub(crate) fn invalidate_method(&mut self, method: &str) {
        self.remove_methods(|name| name == method);
    }

    /// Removes the private results, and those of calls in flight.
    // STL-41, T-110: the new credentials may belong to another user.
    pub(crate) fn forget_private(&mut self) {
        self.remove_where(|entry| entry.is_private);
        self.changes += 1;
        self.private_invalidated = self.changes;
    }

    /// Removes the results of all methods that `which` accepts.
    fn remove_methods(&mut self, which: impl Fn(&str) -> bool) {
        self.remove_where(|entry| which(entry.method));
    }

    fn remove_where(&mut self, which: impl Fn(&Entry) -> bool) {
        let keys: Vec<CacheKey> = self
            .entries
            .iter()
            .filter(|(_, entry)| which(entry))
            .map(|(key, _)| key.clone())
            .collect();
        keys.iter().for_each(|key| self.remove(key));
    }

    fn remove(&mut self, key: &CacheKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_age.remove(&entry.serial);
            self.bytes -= key.len() * 2 + entry.result.as_bytes().len() + ENTRY_BYTES;
        }
    }
}

impl Cache {
    /// Handles the outcome of a call and caches its result, if allowed. A result is not cached if
    /// it is stale or if `is_first_round` is false because the call required input.
    // STL-41, STL-45: results that required input are not cached; an invalid cursor ends a list.
    pub(crate) fn on_completed(
        &mut self,
        slot: CacheSlot,
        outcome: &Result<Raw, CallError>,
        is_first_round: bool,
        now: Instant,
        bytes_max: usize,
    ) {
        let is_of_others =
            |result: &Raw| self.private_invalidated > slot.changes && is_private(result);
        let is_stale = self.is_stale(&slot) || outcome.as_ref().is_ok_and(is_of_others);
        let key = slot.key;
        match outcome {
            Ok(result) if !is_stale && is_first_round => self.insert(key, result, now, bytes_max),
            Err(CallError::Refused(error)) if error.code == code::INVALID_PARAMS => {
                let method =
                    METHODS.iter().map(|rule| rule.name).find(|name| is_result_of(&key, name));
                if let Some(method) = method.filter(|_| has_cursor(&key)) {
                    self.invalidate_method(method);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a result is for the user of the request only.
fn is_private(result: &Raw) -> bool {
    find(result.as_bytes(), "cacheScope") != Some(b"\"public\"")
}

fn is_result_of(key: &[u8], method: &str) -> bool {
    key.strip_prefix(method.as_bytes())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"\n"))
}

fn has_cursor(key: &[u8]) -> bool {
    memchr::memmem::find(key, b"\ncursor:").is_some()
}

#[cfg(test)]
mod tests;
