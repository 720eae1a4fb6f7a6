//! A store of files that only their owner can read, locked across processes.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcp_proto::Secret;
use mcp_proto::auth::RecordKey;

use super::file_lock::{self, FileLock};
use super::{LockedRecord, RECORD_BYTES_MAX, Store, check_length, still_locked};

/// A [`Store`] of one file per record, in a directory that only the user can enter.
///
/// All processes that use one directory share their records. Each record is locked by the
/// operating system, which frees the lock when a process ends.
///
/// A new record is written beside the old one, flushed to the disk, and renamed. A crash thus
/// leaves either of them whole. Files are named by digests of their keys.
///
/// **The files are not encrypted**, unless by a [`SealedStore`](super::SealedStore). On Unix, the
/// directory has the mode 0700 and files have 0600. On Windows, they inherit the access rights of
/// the parent directory: choose one in the user's profile. The directory must be on a local disk;
/// network file systems may not lock files.
///
/// ```no_run
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::auth::FileStore;
///
/// let store = FileStore::new("/home/me/.local/state/my-app/authorization");
/// # drop(store);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct FileStore {
    directory: PathBuf,
}

impl FileStore {
    /// Uses the files in `directory`, which is created when the first record is acquired.
    ///
    /// If the directory exists, it must belong to the user and be accessible to no other.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }
}

impl Store for FileStore {
    fn acquire(&self, key: &RecordKey, timeout: Duration) -> io::Result<Box<dyn LockedRecord>> {
        prepare(&self.directory)?;
        let path = self.directory.join(file_name(key));
        let lock_path = path.with_extension("lock");
        let lock = file_lock::lock(&lock_path, timeout)
            .map_err(|error| explain("cannot lock", &lock_path, &error))?;
        let lock = lock.ok_or_else(|| still_locked(timeout))?;
        Ok(Box::new(LockedFile { path, _lock: lock }))
    }
}

/// Returns the file name of a record: nothing of the key can lead out of the directory.
fn file_name(key: &RecordKey) -> String {
    format!("{}.json", key.file_name())
}

/// Creates the directory unless it exists, and checks that it is private.
fn prepare(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory).map_err(|error| explain("cannot create", directory, &error))?;
    check_private(directory)
}

#[cfg(unix)]
fn check_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let found =
        fs::metadata(directory).map_err(|error| explain("cannot read", directory, &error))?;
    let refused = |why: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    let path = directory.display();
    if found.uid() != nix::unistd::geteuid().as_raw() {
        return refused(format!("{path} belongs to another user: choose another directory"));
    }
    let mode = found.mode() & 0o777;
    if mode & 0o077 != 0 {
        return refused(format!(
            "{path} is accessible to other users (mode {mode:03o}): set its mode to 700, or choose \
             a directory that does not exist yet"
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "shared signature")]
fn check_private(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A file whose lock is held.
struct LockedFile {
    path: PathBuf,
    _lock: FileLock,
}

impl LockedRecord for LockedFile {
    fn read(&mut self) -> io::Result<Option<Secret>> {
        match read_file(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(explain("cannot read", &self.path, &error)),
        }
    }

    fn save(&mut self, record: &Secret) -> io::Result<()> {
        check_length(record)?;
        let staged = self.path.with_extension("new");
        replace(&self.path, &staged, record).map_err(|error| {
            let _absent = fs::remove_file(&staged);
            explain("cannot write", &self.path, &error)
        })
    }

    fn remove(&mut self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Ok(()) => sync_directory(&self.path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
        .map_err(|error| explain("cannot delete", &self.path, &error))
    }
}

/// Reads a record. Follows no link and opens nothing but regular files.
fn read_file(path: &Path) -> io::Result<Secret> {
    let damaged = |why: &str| {
        let why = format!("{why}: delete it to sign in again");
        io::Error::new(io::ErrorKind::InvalidData, why)
    };
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(damaged("not a regular file"));
    }
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
    }
    // Allocated in full: growing would leave copies of the record in memory.
    let mut text = String::with_capacity(RECORD_BYTES_MAX + 1);
    let read = options.open(path)?.take(RECORD_BYTES_MAX as u64 + 1).read_to_string(&mut text);
    let text = Secret::new(text);
    match read {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(damaged("not UTF-8")),
        Err(error) => Err(error),
        Ok(0) => Err(damaged("an empty file")),
        Ok(length) if length > RECORD_BYTES_MAX => Err(damaged("longer than 256 KiB")),
        Ok(_) => Ok(Secret::new(text.expose())),
    }
}

/// Writes a record beside its file and renames it.
fn replace(path: &Path, staged: &Path, record: &Secret) -> io::Result<()> {
    match fs::remove_file(staged) {
        // A process may have ended while it wrote.
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut options = File::options();
    // Fails if the file exists, so that no link is followed.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(staged)?;
    file.write_all(record.expose().as_bytes())?;
    file.sync_all()?;
    drop(file);
    fs::rename(staged, path)?;
    sync_directory(path)
}

/// Makes a renaming durable.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "shared signature")]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns an error that names the file, the cause and a remedy.
fn explain(what: &str, path: &Path, error: &io::Error) -> io::Error {
    use io::ErrorKind::{
        NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    let remedy = match error.kind() {
        StorageFull | QuotaExceeded => ": free space on the disk",
        NotADirectory | PermissionDenied | ReadOnlyFilesystem => {
            ": choose a writable directory (`FileStore::new`)"
        }
        _ => "",
    };
    let is_lock = path.extension() == Some(OsStr::new("lock"));
    let thing = if is_lock { "the lock of stored authorization" } else { "stored authorization" };
    let why = format!("{what} {thing} {}: {error}{remedy}", path.display());
    io::Error::new(error.kind(), why)
}

#[cfg(test)]
mod tests;
