//! [`SealedStore::keyring`]: files that are encrypted by a key in the system's keyring.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use keyring_core::{CredentialStore, Entry, Error as Failure, get_default_store};
use mcp_proto::auth::RecordKey;
use zeroize::Zeroizing;

use super::{FileStore, SealedStore, Store as _};

/// The name of the key among the application's entries in the keyring.
const ENTRY: &str = "mcp-authorization-key";

/// How long another process may take to create the key.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

type Key = Zeroizing<[u8; 32]>;

impl SealedStore<FileStore> {
    /// Keeps records in files in `directory`, encrypted by a key in the keyring of the operating
    /// system. The key is created at first; it is the entry `mcp-authorization-key` of
    /// `application`.
    ///
    /// | system | keyring |
    /// |---|---|
    /// | macOS | the user's keychain |
    /// | Windows | the Credential Manager |
    /// | Linux | the kernel's keys of the user |
    ///
    /// **On Linux, the kernel forgets keys at a reboot**, and some days after the user has logged
    /// out. Users then sign in again. If the program has called `set_default_store` of the crate
    /// [`keyring-core`](https://docs.rs/keyring-core/1), that store is used instead, on each
    /// system: such as the Secret Service of a desktop, by `zbus-secret-service-keyring-store`.
    ///
    /// Blocks, because the system may ask the user to unlock the keyring. Call it once, and use one
    /// directory for each application.
    ///
    /// ```no_run
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::auth::{Auth, SealedStore};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let store = SealedStore::keyring("/home/me/.local/state/my-app/authorization", "My app")?;
    /// let auth = Auth::user("My app").store(store);
    /// # drop(auth);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails with a [`KeyringError`] if there is no keyring, as in many containers, or the keyring
    /// is locked. Fails if the directory cannot be used.
    pub fn keyring(directory: impl Into<PathBuf>, application: &str) -> io::Result<Self> {
        let keyring = get_default_store().map_or_else(system_keyring, Ok);
        Self::with_keyring(FileStore::new(directory), &*keyring.map_err(unavailable)?, application)
    }

    fn with_keyring(
        files: FileStore,
        keyring: &CredentialStore,
        application: &str,
    ) -> io::Result<Self> {
        let entry = keyring.build(application, ENTRY, None).map_err(unavailable)?;
        let key = match read(&entry)? {
            Some(key) => key,
            None => create(&files, &entry)?,
        };
        Ok(Self::new(files, *key))
    }
}

/// Creates the key, unless another process has just done so.
fn create(files: &FileStore, entry: &Entry) -> io::Result<Key> {
    let _locked = files.acquire(&RecordKey::grant("keyring", ENTRY, []), LOCK_TIMEOUT)?;
    if let Some(key) = read(entry)? {
        return Ok(key);
    }
    let mut key = Key::default();
    getrandom::fill(&mut *key).map_err(|error| io::Error::other(error.to_string()))?;
    entry.set_secret(&*key).map_err(unavailable)?;
    Ok(key)
}

/// Returns the key of an entry; `None` if there is none yet.
fn read(entry: &Entry) -> io::Result<Option<Key>> {
    let secret = match entry.get_secret() {
        Ok(secret) => Zeroizing::new(secret),
        Err(Failure::NoEntry) => return Ok(None),
        Err(failure) => return Err(unavailable(failure)),
    };
    let key = <[u8; 32]>::try_from(&**secret).map_err(|_| KeyringError::Damaged)?;
    Ok(Some(Zeroizing::new(key)))
}

#[cfg(any(target_os = "linux", target_os = "macos", windows))]
fn system_keyring() -> keyring_core::Result<Arc<CredentialStore>> {
    #[cfg(target_os = "macos")]
    use apple_native_keyring_store::keychain::Store;
    #[cfg(target_os = "linux")]
    use linux_keyutils_keyring_store::Store;
    #[cfg(windows)]
    use windows_native_keyring_store::Store;

    let store: Arc<CredentialStore> = Store::new()?;
    Ok(store)
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn system_keyring() -> keyring_core::Result<Arc<CredentialStore>> {
    Err(Failure::NoDefaultStore)
}

/// Why [`SealedStore::keyring`] has no key. An [`io::Error`] contains it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyringError {
    /// There is no keyring, or access to it was refused.
    Unavailable {
        /// The error of the keyring.
        why: String,
    },
    /// The entry in the keyring is no key.
    Damaged,
}

impl fmt::Display for KeyringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable { why } => write!(
                f,
                "the keyring of the system cannot be used ({why}): unlock it, set another one with \
                 `keyring_core::set_default_store`, or pass your own key to `SealedStore::new`"
            ),
            Self::Damaged => write!(
                f,
                "the entry `{ENTRY}` in the keyring of the system is no key: delete it to create \
                 another one and sign in again"
            ),
        }
    }
}

impl std::error::Error for KeyringError {}

impl From<KeyringError> for io::Error {
    fn from(error: KeyringError) -> Self {
        let kind = match &error {
            KeyringError::Unavailable { .. } => io::ErrorKind::Unsupported,
            KeyringError::Damaged => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// Explains a failure of the keyring, without the secret that some failures contain.
fn unavailable(failure: Failure) -> io::Error {
    let error = match failure {
        Failure::BadEncoding(_) | Failure::BadDataFormat(..) => KeyringError::Damaged,
        Failure::Ambiguous(_) => {
            KeyringError::Unavailable { why: format!("there are several entries `{ENTRY}`") }
        }
        other => KeyringError::Unavailable { why: other.to_string() },
    };
    error.into()
}

#[cfg(test)]
mod tests;
