//! Stores for the records of authorization: client registrations and tokens.

mod file_lock;
mod files;
mod keyring;
mod memory;
mod sealed;

use std::io;
use std::time::Duration;

use mcp_proto::Secret;
use mcp_proto::auth::RecordKey;

pub use files::FileStore;
pub use keyring::KeyringError;
pub use memory::MemoryStore;
pub use sealed::SealedStore;

/// The maximum length of a record in bytes, 256 KiB.
pub const RECORD_BYTES_MAX: usize = 256 << 10;

/// Keeps the records of authorization, each under a key.
///
/// A record holds secrets: the tokens for one server, or the client's registration at one
/// authorization server. A key names the record and is no secret.
///
/// Refreshing tokens is safe only if a record is locked from reading to saving, in all processes
/// that share the store: many authorization servers revoke all tokens of a client that presents a
/// refresh token twice. The store therefore lends records instead of reading and writing them.
///
/// The methods may block. Connections call them on threads where that is allowed, and never while
/// they wait for a user.
///
/// [`MemoryStore`] and [`FileStore`] implement the trait, and [`SealedStore`] encrypts either.
/// Implement it to keep records elsewhere,
/// such as in a database with transactions.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::auth::{MemoryStore, Store};
/// use mcp_tokio::proto::auth::RecordKey;
///
/// # fn main() -> std::io::Result<()> {
/// let store = MemoryStore::new();
/// let key = RecordKey::grant("https://mcp.example/mcp", "default", ["My app"]);
/// let mut record = store.acquire(&key, Duration::from_secs(5))?;
/// assert!(record.read()?.is_none());
/// record.save(&"tokens".into())?;
/// drop(record);
///
/// let mut record = store.acquire(&key, Duration::from_secs(5))?;
/// assert_eq!(record.read()?, Some("tokens".into()));
/// # Ok(())
/// # }
/// ```
pub trait Store: Send + Sync + 'static {
    /// Locks the record with this key for the caller, in all processes that share the store.
    ///
    /// Waits until the current owner has released the record, for at most `timeout`. Dropping the
    /// returned value releases the record. So does the end of the process, however it ends.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::TimedOut`] if the record is still locked after `timeout`, and
    /// with another error if the store cannot be used. Errors contain nothing secret.
    fn acquire(&self, key: &RecordKey, timeout: Duration) -> io::Result<Box<dyn LockedRecord>>;
}

/// A record of a [`Store`] that is locked until this value is dropped.
pub trait LockedRecord: Send {
    /// Returns the record; `None` if there is none yet.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidData`] if the record is damaged, and with another error
    /// if it cannot be read. A damaged record can still be replaced by [`save`](Self::save).
    fn read(&mut self) -> io::Result<Option<Secret>>;

    /// Replaces the record, completely or not at all, and waits until it is on permanent storage,
    /// as far as the store has any.
    ///
    /// # Errors
    /// Fails if the record is longer than [`RECORD_BYTES_MAX`] or cannot be written. The record is
    /// then unchanged.
    fn save(&mut self, record: &Secret) -> io::Result<()>;

    /// Deletes the record, if there is one.
    ///
    /// # Errors
    /// Fails if the record cannot be deleted. It is then unchanged.
    fn remove(&mut self) -> io::Result<()>;
}

/// Fails if a record is too long.
fn check_length(record: &Secret) -> io::Result<()> {
    if record.len() <= RECORD_BYTES_MAX {
        return Ok(());
    }
    let why =
        format!("a record of {} bytes exceeds the maximum of {RECORD_BYTES_MAX}", record.len());
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

/// Returns the error for a record that stayed locked.
fn still_locked(timeout: Duration) -> io::Error {
    let why = format!("another task or process kept the stored authorization for {timeout:?}");
    io::Error::new(io::ErrorKind::TimedOut, why)
}
