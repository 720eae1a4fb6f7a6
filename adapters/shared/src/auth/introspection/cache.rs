//! What an authorization server has said about tokens, for a short time.

use std::collections::HashMap;
use std::time::Duration;

use mcp_proto::Raw;
use mcp_proto::http::VerifiedToken;

use crate::http::VerifyError;

/// The digest of a token. The cache keeps no tokens.
pub(super) type Digest = [u8; 32];

/// The maximum number of answers of each kind.
const ENTRIES_MAX: usize = 10_000;

/// The maximum memory of the claims of tokens.
const BYTES_MAX: usize = 16 << 20;

/// Answers about tokens. Times count from any start.
///
/// Tokens that are not active have their own table: anybody can invent such tokens, and must
/// not displace others with them.
#[derive(Default)]
pub(super) struct AnswerCache {
    active: Table<VerifiedToken>,
    inactive: Table<()>,
}

impl AnswerCache {
    /// Returns the answer about a token, unless it is too old.
    pub(super) fn get(
        &self,
        digest: &Digest,
        now: Duration,
    ) -> Option<Result<VerifiedToken, VerifyError>> {
        let active = self.active.get(digest, now).cloned().map(Ok);
        active.or_else(|| self.inactive.get(digest, now).map(|()| Err(VerifyError::Invalid)))
    }

    /// Keeps an answer until a time, and drops others if there are too many.
    pub(super) fn insert(
        &mut self,
        digest: Digest,
        answer: &Result<VerifiedToken, VerifyError>,
        now: Duration,
        until: Duration,
    ) {
        if until <= now {
            return;
        }
        match answer {
            Ok(token) => {
                let bytes = ENTRY_BYTES + 3 * token.claims.as_ref().map_or(0, claims_bytes);
                self.active.insert(digest, Entry { answer: token.clone(), until, bytes }, now);
            }
            Err(VerifyError::Invalid) => {
                let entry = Entry { answer: (), until, bytes: ENTRY_BYTES };
                self.inactive.insert(digest, entry, now);
            }
            Err(_) => {}
        }
    }

    /// Drops the answer about a token.
    pub(super) fn remove(&mut self, digest: &Digest) {
        self.active.remove(digest);
        self.inactive.remove(digest);
    }
}

/// The bytes held per cached response, claims excluded.
const ENTRY_BYTES: usize = 256;

fn claims_bytes(claims: &Raw) -> usize {
    claims.as_bytes().len()
}

struct Table<T> {
    entries: HashMap<Digest, Entry<T>>,
    bytes: usize,
}

struct Entry<T> {
    answer: T,
    until: Duration,
    bytes: usize,
}

impl<T> Table<T> {
    fn get(&self, digest: &Digest, now: Duration) -> Option<&T> {
        self.entries.get(digest).filter(|entry| now < entry.until).map(|entry| &entry.answer)
    }

    fn insert(&mut self, digest: Digest, entry: Entry<T>, now: Duration) {
        self.remove(&digest);
        if self.is_full(entry.bytes) {
            self.entries.retain(|_, entry| now < entry.until);
            self.bytes = self.entries.values().map(|entry| entry.bytes).sum();
        }
        while self.is_full(entry.bytes) {
            let first = self.entries.iter().min_by_key(|(_, entry)| entry.until);
            let Some(first) = first.map(|(digest, _)| *digest) else { return };
            self.remove(&first);
        }
        self.bytes += entry.bytes;
        self.entries.insert(digest, entry);
    }

    fn remove(&mut self, digest: &Digest) {
        self.bytes -= self.entries.remove(digest).map_or(0, |entry| entry.bytes);
    }

    /// Returns whether an entry of this size must displace others.
    fn is_full(&self, bytes: usize) -> bool {
        self.entries.len() >= ENTRIES_MAX || self.bytes + bytes > BYTES_MAX
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { entries: HashMap::new(), bytes: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(number: usize) -> Digest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_le_bytes());
        digest
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn answers_are_kept_until_their_time() {
        let mut cache = AnswerCache::default();
        let active = Ok(VerifiedToken::new("https://i"));
        cache.insert(digest(1), &active, seconds(5), seconds(7));
        cache.insert(digest(2), &Err(VerifyError::Invalid), seconds(5), seconds(6));
        cache.insert(digest(3), &Err(VerifyError::Unavailable), seconds(5), seconds(7));
        cache.insert(digest(4), &active, seconds(5), seconds(5));
        assert_eq!(cache.get(&digest(1), seconds(6)), Some(active));
        assert_eq!(cache.get(&digest(1), seconds(7)), None);
        assert_eq!(cache.get(&digest(2), seconds(5)), Some(Err(VerifyError::Invalid)));
        assert_eq!(cache.get(&digest(2), seconds(6)), None);
        assert_eq!(cache.get(&digest(3), seconds(5)), None);
        assert_eq!(cache.get(&digest(4), seconds(5)), None);
    }

    #[test]
    fn invented_tokens_displace_no_active_ones() {
        let mut cache = AnswerCache::default();
        cache.insert(digest(0), &Ok(VerifiedToken::new("https://i")), seconds(0), seconds(9));
        for number in 1..ENTRIES_MAX + 10 {
            cache.insert(digest(number), &Err(VerifyError::Invalid), seconds(0), seconds(9));
        }
        assert_eq!(cache.inactive.entries.len(), ENTRIES_MAX);
        assert!(cache.get(&digest(0), seconds(1)).is_some());
    }

    #[test]
    fn the_memory_of_claims_is_bounded() {
        let claims = format!("{{\"a\":\"{}\"}}", "x".repeat(60 << 10));
        let mut token = VerifiedToken::new("https://i");
        token.claims = Raw::from_text(&claims).ok();
        let token = Ok(token);
        let mut cache = AnswerCache::default();
        for number in 0..200 {
            let until = seconds(10 + number as u64);
            cache.insert(digest(number), &token, seconds(0), until);
        }
        assert!(cache.active.bytes <= BYTES_MAX && cache.active.entries.len() < 100);
        assert!(cache.get(&digest(199), seconds(0)).is_some(), "the newest is kept");
        assert!(cache.get(&digest(0), seconds(0)).is_none());
        cache.insert(digest(0), &token, seconds(1000), seconds(1001));
        assert_eq!(cache.active.entries.len(), 1, "what is too old goes first");
    }
}
