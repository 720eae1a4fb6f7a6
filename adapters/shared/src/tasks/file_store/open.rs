//! Opens the file of a task store, and creates it whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use redb::{Database, DatabaseError};

/// The bytes of pages that are cached in memory.
const CACHE_BYTES: usize = 4 * 1024 * 1024;

/// Opens the database at `path` and locks it.
pub(super) fn database(path: &Path) -> io::Result<Database> {
    let file = match options().open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(path)?;
            options().open(path)?
        }
        opened => opened?,
    };
    check(&file)?;
    from_file(file)
}

fn from_file(file: File) -> io::Result<Database> {
    let opened = Database::builder().set_cache_size(CACHE_BYTES).create_file(file);
    opened.map_err(|error| match error {
        DatabaseError::DatabaseAlreadyOpen => {
            let why = "the file is in use: close the other server, or choose another file";
            io::Error::new(io::ErrorKind::WouldBlock, why)
        }
        other => io_error(other),
    })
}

/// Creates an empty database at `path`, unless another process just did.
///
/// A database that was not initialized completely cannot be opened. It is thus initialized under
/// another name.
fn create(path: &Path) -> io::Result<()> {
    let staged = staged(path);
    // An earlier process with this id may have ended while it created the file.
    ignore(io::ErrorKind::NotFound, fs::remove_file(&staged))?;
    let created = options().create_new(true).open(&staged).and_then(from_file);
    let linked = created.and_then(|database| {
        drop(database);
        ignore(io::ErrorKind::AlreadyExists, fs::hard_link(&staged, path))
    });
    let removed = fs::remove_file(&staged);
    linked.and(removed).and_then(|()| sync_directory(path))
}

/// Returns the name under which this process creates the file.
fn staged(path: &Path) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(format!(".{}.new", process::id()));
    path.with_file_name(name)
}

fn ignore(kind: io::ErrorKind, result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == kind { Ok(()) } else { Err(error) })
}

/// Returns the options with which the file is opened: they follow no link.
fn options() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600).custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
    }
    options
}

/// Checks that the file is a regular one, and private.
fn check(file: &File) -> io::Result<()> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a regular file"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let mode = metadata.mode() & 0o777;
        if mode & 0o077 != 0 {
            let why = format!(
                "the file is accessible to other users (mode {mode:03o}): set its mode to 600"
            );
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
    }
    Ok(())
}

/// Makes a new name in a directory durable.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or_else(|| Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "shared signature")]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn io_error(error: impl Into<redb::Error>) -> io::Error {
    match error.into() {
        redb::Error::Io(error) => error,
        redb::Error::PreviousIo => io::Error::other("an earlier write failed: open the file again"),
        redb::Error::Corrupted(why) => io::Error::new(io::ErrorKind::InvalidData, why),
        other => io::Error::other(other),
    }
}
