//! A store that encrypts the records of another store.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64ct::{Base64, Encoding as _};
use mcp_proto::Secret;
use mcp_proto::auth::RecordKey;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroizing;

use super::{LockedRecord, RECORD_BYTES_MAX, Store};

/// The first bytes of a sealed record.
const PREFIX: &str = "mcp-sealed-1:";

/// The maximum length of a record in bytes: sealed, it is a third longer.
const SEALED_BYTES_MAX: usize = 192_000;

const _: () = assert!(PREFIX.len() + (SEALED_BYTES_MAX + 64) / 3 * 4 < RECORD_BYTES_MAX);

/// A [`Store`] that encrypts what another store keeps, with ChaCha20-Poly1305.
///
/// The application keeps the key, or the keyring of the operating system does
/// ([`keyring`](SealedStore::keyring)). Keyrings themselves are no good stores: some limit entries
/// to 2,560 bytes, and none locks them.
///
/// A record that was sealed with another key, moved from another place or changed is reported as
/// damaged. Records may have up to 192,000 bytes.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::auth::{FileStore, SealedStore};
///
/// # fn key_of_application() -> [u8; 32] { [0; 32] }
/// let files = FileStore::new("/home/me/.local/state/my-app/authorization");
/// let store = SealedStore::new(files, key_of_application());
/// # drop(store);
/// ```
#[derive(Clone)]
#[must_use]
pub struct SealedStore<S> {
    store: S,
    key: Arc<SealingKey>,
}

impl<S: Store> SealedStore<S> {
    /// Encrypts the records of `store` with `key`, which must be random.
    pub fn new(store: S, key: [u8; 32]) -> Self {
        Self { store, key: Arc::new(SealingKey(Zeroizing::new(key))) }
    }
}

impl<S: Store> Store for SealedStore<S> {
    fn acquire(&self, key: &RecordKey, timeout: Duration) -> io::Result<Box<dyn LockedRecord>> {
        let record = self.store.acquire(key, timeout)?;
        Ok(Box::new(SealedRecord { record, name: key.file_name(), key: Arc::clone(&self.key) }))
    }
}

opaque_debug!(SealedStore<S> [S: fmt::Debug], it => store: it.store);

/// A locked record whose text is sealed.
struct SealedRecord {
    record: Box<dyn LockedRecord>,
    /// The name of the record, which is authenticated: records cannot be exchanged.
    name: String,
    key: Arc<SealingKey>,
}

impl LockedRecord for SealedRecord {
    fn read(&mut self) -> io::Result<Option<Secret>> {
        let Some(sealed) = self.record.read()? else { return Ok(None) };
        let opened = self.key.open(&self.name, sealed.expose());
        opened.map(Some).ok_or_else(|| {
            let why = "the stored authorization is damaged or was sealed with another key: delete \
                       it to sign in again";
            io::Error::new(io::ErrorKind::InvalidData, why)
        })
    }

    fn save(&mut self, record: &Secret) -> io::Result<()> {
        if record.len() > SEALED_BYTES_MAX {
            let why = format!(
                "a record of {} bytes exceeds the maximum of {SEALED_BYTES_MAX} of sealed records",
                record.len()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        self.record.save(&self.key.seal(&self.name, record)?)
    }

    fn remove(&mut self) -> io::Result<()> {
        self.record.remove()
    }
}

struct SealingKey(Zeroizing<[u8; 32]>);

impl SealingKey {
    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &*self.0).ok().map(LessSafeKey::new)
    }

    /// Returns the prefix, and in base64 a random nonce, the encrypted record and its tag.
    fn seal(&self, name: &str, record: &Secret) -> io::Result<Secret> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|error| io::Error::other(error.to_string()))?;
        // With room for the tag: growing would leave a copy of the record in memory.
        let mut text =
            Zeroizing::new(Vec::with_capacity(record.len() + CHACHA20_POLY1305.tag_len()));
        text.extend_from_slice(record.expose().as_bytes());
        let failed = || io::Error::other("sealing a record failed");
        let cipher = self.cipher().ok_or_else(failed)?;
        let nonce_used = Nonce::assume_unique_for_key(nonce);
        cipher
            .seal_in_place_append_tag(nonce_used, Aad::from(name.as_bytes()), &mut *text)
            .map_err(|_| failed())?;
        let sealed = [&nonce[..], &text].concat();
        Ok(Secret::new(format!("{PREFIX}{}", Base64::encode_string(&sealed))))
    }

    /// Returns the record; `None` if it was not sealed with this key and name.
    fn open(&self, name: &str, sealed: &str) -> Option<Secret> {
        let mut bytes = Zeroizing::new(Base64::decode_vec(sealed.strip_prefix(PREFIX)?).ok()?);
        let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let opened = self.cipher()?.open_in_place(nonce, Aad::from(name.as_bytes()), text).ok()?;
        std::str::from_utf8(opened).ok().map(Secret::new)
    }
}

#[cfg(test)]
mod tests {
    use super::super::MemoryStore;
    use super::*;

    const SOON: Duration = Duration::from_secs(40);

    fn key(name: &str) -> RecordKey {
        RecordKey::grant("https://mcp.example", name, [])
    }

    fn read(store: &impl Store, name: &str) -> io::Result<Option<Secret>> {
        store.acquire(&key(name), SOON).unwrap().read()
    }

    fn save(store: &impl Store, name: &str, record: &Secret) {
        store.acquire(&key(name), SOON).unwrap().save(record).unwrap();
    }

    #[test]
    fn records_are_sealed_in_the_inner_store() {
        let inner = MemoryStore::new();
        let store = SealedStore::new(inner.clone(), [7; 32]);
        assert_eq!(read(&store, "a").unwrap(), None);
        save(&store, "a", &"hunter2".into());
        assert_eq!(read(&store, "a").unwrap(), Some("hunter2".into()));
        let sealed = read(&inner, "a").unwrap().unwrap();
        assert!(sealed.expose().starts_with(PREFIX) && !sealed.expose().contains("hunter2"));
        save(&store, "a", &"hunter2".into());
        assert_ne!(read(&inner, "a").unwrap().unwrap(), sealed, "each nonce is fresh");
        store.acquire(&key("a"), SOON).unwrap().remove().unwrap();
        assert_eq!(read(&store, "a").unwrap(), None);
        assert!(!format!("{store:?}").contains('7'));
    }

    #[test]
    fn damaged_and_foreign_records_are_refused() {
        let inner = MemoryStore::new();
        let store = SealedStore::new(inner.clone(), [7; 32]);
        save(&store, "a", &"hunter2".into());
        let sealed = read(&inner, "a").unwrap().unwrap();
        let text = sealed.expose();
        let changed = text.replace(text.get(20..24).unwrap(), "AAAA");
        assert_ne!(changed, text);
        let truncated = text.get(..text.len() - 4).unwrap();
        for damaged in ["hunter2", PREFIX, "mcp-sealed-1:aGVsbG8=", &changed, truncated] {
            save(&inner, "a", &damaged.into());
            let error = read(&store, "a").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{damaged}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
        save(&inner, "b", &sealed);
        read(&store, "b").unwrap_err();
        save(&inner, "a", &sealed);
        assert_eq!(read(&store, "a").unwrap(), Some("hunter2".into()));
        read(&SealedStore::new(inner, [8; 32]), "a").unwrap_err();
    }

    #[test]
    fn the_longest_record_fits_the_inner_store() {
        let store = SealedStore::new(MemoryStore::new(), [7; 32]);
        let longest = Secret::new("x".repeat(SEALED_BYTES_MAX));
        save(&store, "a", &longest);
        assert!(read(&store, "a").unwrap() == Some(longest));
        let longer = Secret::new("x".repeat(SEALED_BYTES_MAX + 1));
        let error = store.acquire(&key("a"), SOON).unwrap().save(&longer).unwrap_err();
        assert!(error.to_string().contains("192001"), "{error}");
    }
}
