//! Results that a client may use again: by method and params, for as long as the server allows.
//!
//! Off unless `Limits::cache_bytes_max` is set. Each connection has a cache of its own. (STL-39…45,
//! D-17)

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use crate::collections::Empty;
use crate::error::code;
use crate::json::{Raw, find, members, unescape_key};
use crate::method::MethodId;
use crate::revision::{METHODS, MethodRule};
use crate::time::Instant;
use crate::vocabulary::CallError;

/// What an answer is found by: the method, and the params but for `_meta`, as they were written.
pub(crate) type CacheKey = Box<[u8]>;

#[derive(Debug)]
struct Entry {
    method: &'static str,
    result: Raw,
    good_until: Instant,
    /// When it came, counted.
    serial: u64,
}

/// The answers that are kept.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    entries: BTreeMap<CacheKey, Entry>,
    /// The keys by age, oldest first.
    by_age: BTreeMap<u64, CacheKey>,
    bytes: usize,
    next: u64,
    /// Changes that were told of, counted.
    changes: u64,
    /// Which change was the last to end the answers to a method.
    ended: BTreeMap<&'static str, u64>,
}

/// Where the answer to a call goes, and how many changes were told of before it was made.
#[derive(Debug)]
pub(crate) struct CacheSlot {
    key: CacheKey,
    changes: u64,
}

/// What an entry costs besides its bytes.
const ENTRY_BYTES: usize = 200;

impl Empty for Cache {
    const EMPTY: &'static Self = &Self {
        entries: BTreeMap::new(),
        by_age: BTreeMap::new(),
        bytes: 0,
        next: 0,
        changes: 0,
        ended: BTreeMap::new(),
    };
}

impl Cache {
    /// The key of a call; `None` when its result cannot be used again.
    pub(crate) fn key(rule: Option<&MethodRule>, params: Option<&[u8]>) -> Option<CacheKey> {
        let rule = rule.filter(|rule| rule.cached_until.is_some())?;
        let mut key = Vec::from(rule.name.as_bytes());
        for (name, value) in members(params.unwrap_or_default()) {
            match &*unescape_key(name) {
                "_meta" => {}
                // It takes input to get this answer, whoever gathered it.
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

    /// An answer that is still good. (STL-42)
    pub(crate) fn find(&self, key: &CacheKey, now: Instant) -> Option<Raw> {
        self.entries
            .get(key)
            .filter(|entry| now < entry.good_until)
            .map(|entry| entry.result.clone())
    }

    /// Keeps an answer for as long as it says that it is good, in no more than `bytes_max`; the
    /// oldest give way.
    pub(crate) fn keep(&mut self, key: CacheKey, result: &Raw, now: Instant, bytes_max: usize) {
        self.remove(&key);
        let ttl = find(result.as_bytes(), "ttlMs")
            .and_then(|ttl| core::str::from_utf8(ttl).ok()?.parse().ok());
        let Some(ttl) = ttl.filter(|ttl: &u64| *ttl > 0) else { return };
        let cost = key.len() * 2 + result.as_bytes().len() + ENTRY_BYTES;
        let method = METHODS.iter().find(|rule| is_of(&key, rule.name));
        let Some(method) = method.filter(|_| cost <= bytes_max) else { return };
        while self.bytes + cost > bytes_max {
            let Some((_, oldest)) = self.by_age.first_key_value() else { break };
            let oldest = oldest.clone();
            self.remove(&oldest);
        }
        self.next += 1;
        self.bytes += cost;
        self.by_age.insert(self.next, key.clone());
        let good_until = now + Duration::from_millis(ttl);
        let entry =
            Entry { method: method.name, result: result.clone(), good_until, serial: self.next };
        self.entries.insert(key, entry);
    }

    /// Forgets what the notification `method` says is out of date. (STL-42)
    pub(crate) fn invalidate_for(&mut self, method: MethodId) {
        let ends = |name: &str| {
            METHODS.iter().any(|rule| {
                rule.name == name && rule.cached_until.is_some_and(|until| until.contains(&method))
            })
        };
        self.forget(ends);
        // What was asked for before may be as old, though it comes later.
        self.changes += 1;
        let ended = METHODS.iter().map(|rule| rule.name).filter(|name| ends(name));
        self.ended.extend(ended.map(|name| (name, self.changes)));
    }

    /// Where the answer to a call that is made now goes.
    pub(crate) fn slot(&self, key: CacheKey) -> CacheSlot {
        CacheSlot { key, changes: self.changes }
    }

    /// Whether an answer was asked for before a change that ends it.
    fn is_outdated(&self, place: &CacheSlot) -> bool {
        self.ended
            .iter()
            .any(|(method, change)| *change > place.changes && is_of(&place.key, method))
    }

    /// Forgets all answers to `method`: a cursor among them is no longer good. (STL-45)
    pub(crate) fn invalidate_method(&mut self, method: &str) {
        self.forget(|name| name == method);
    }

    fn forget(&mut self, which: impl Fn(&str) -> bool) {
        let keys: Vec<CacheKey> = self
            .entries
            .iter()
            .filter(|(_, entry)| which(entry.method))
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
    /// Handles the outcome of a call whose result had a place: keeps it, unless `is_first` is false
    /// because it took input to get it. (STL-41, STL-45)
    pub(crate) fn on_completed(
        &mut self,
        place: CacheSlot,
        outcome: &Result<Raw, CallError>,
        is_first: bool,
        now: Instant,
        bytes_max: usize,
    ) {
        let is_outdated = self.is_outdated(&place);
        let key = place.key;
        match outcome {
            Ok(result) if !is_outdated && is_first => self.keep(key, result, now, bytes_max),
            Err(CallError::Refused(error)) if error.code == code::INVALID_PARAMS => {
                let method = METHODS.iter().map(|rule| rule.name).find(|name| is_of(&key, name));
                if let Some(method) = method.filter(|_| has_cursor(&key)) {
                    self.invalidate_method(method);
                }
            }
            _ => {}
        }
    }
}

fn is_of(key: &[u8], method: &str) -> bool {
    key.strip_prefix(method.as_bytes())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"\n"))
}

fn has_cursor(key: &[u8]) -> bool {
    memchr::memmem::find(key, b"\ncursor:").is_some()
}

#[cfg(test)]
mod tests;
