//! [`FileTaskStore`]: tasks in one file, which survives crashes.

mod open;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use mcp_proto::Raw;
use mcp_proto::tasks::{TaskId, TaskRecord};
use redb::{Database, ReadableTable as _, StorageError, Table, TableDefinition};

use self::open::io_error;
use super::store::TaskStore;
use crate::trace;

/// Records as JSON, by the text of their ids.
const TASKS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("tasks");

/// A [`TaskStore`] in one file, which one process at a time can open (feature `task-store`).
///
/// [`save`](TaskStore::save) and [`remove`](TaskStore::remove) return when the change is flushed to
/// the disk, each in its own transaction. A crash leaves every record in its old or in its new
/// form. One change costs about one flush of the disk: some hundred microseconds on a solid-state
/// disk, some ten milliseconds on a rotating one. Changes are made one at a time. After an error,
/// such as a full disk, the next change opens the file again.
///
/// [`load`](TaskStore::load) removes the tasks that have expired by the clock of the system. A
/// record that cannot be read, such as one of a later version, is skipped with a warning to
/// `tracing`; it remains in the file, so that an upgrade finds it.
///
/// **The file is not encrypted.** On Unix it has the mode 0600, and a file that other users can
/// access is refused. On Windows it inherits the access rights of its directory. The file must be
/// on a local disk; network file systems may neither lock nor flush files. It has at least 1 MiB
/// and does not shrink.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::tasks::{FileTaskStore, TaskStore};
///
/// let path = std::env::temp_dir().join(format!("tasks-{}.redb", std::process::id()));
/// let store = FileTaskStore::open(&path)?;
/// assert!(store.load()?.is_empty());
///
/// let error = FileTaskStore::open(&path).unwrap_err();
/// assert!(error.to_string().contains("in use"));
/// # drop(store);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct FileTaskStore {
    /// `None` after an error, such as a full disk: the file is then opened again.
    database: Mutex<Option<Database>>,
    path: PathBuf,
}

impl FileTaskStore {
    /// Opens the file at `path`, which is created if it does not exist. Its directory must exist.
    ///
    /// After a crash, the file is repaired first, which reads all of it.
    ///
    /// # Errors
    /// Fails with
    /// - [`WouldBlock`](io::ErrorKind::WouldBlock) if the file is open already, in this process or
    ///   in another one;
    /// - [`PermissionDenied`](io::ErrorKind::PermissionDenied) if other users can access the file;
    /// - [`InvalidData`](io::ErrorKind::InvalidData) if the file is not a store;
    /// - another kind if the file cannot be created, opened or repaired.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let database = open::database(&path).map_err(|error| explain("open", &path, error))?;
        Ok(Self { database: Mutex::new(Some(database)), path })
    }

    /// Runs `change` in a transaction that is durable when this returns.
    fn write<T>(
        &self,
        change: impl FnOnce(&mut Table<'_, &str, &[u8]>) -> Result<T, StorageError>,
    ) -> io::Result<T> {
        let mut open = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out: after an error or a panic, the database refuses all changes.
        let database = open.take().map_or_else(|| open::database(&self.path), Ok)?;
        let transaction = database.begin_write().map_err(io_error)?;
        let changed = change(&mut transaction.open_table(TASKS).map_err(io_error)?);
        let changed = changed.map_err(io_error)?;
        transaction.commit().map_err(io_error)?;
        *open = Some(database);
        Ok(changed)
    }

    /// Reads all records, and removes the expired ones.
    fn read(&self, now_unix_ms: u64) -> io::Result<Vec<TaskRecord>> {
        self.write(|table| {
            let mut records = Vec::new();
            let mut expired = Vec::new();
            for entry in table.iter()? {
                let (id, record) = entry?;
                match parse(id.value(), record.value()) {
                    Ok(record) if record.expires_unix_ms() <= now_unix_ms => expired.push(record),
                    Ok(record) => records.push(record),
                    Err(why) => trace::unreadable_task(&self.path, &why),
                }
            }
            for record in expired {
                table.remove(&*record.id().to_text())?;
            }
            Ok(records)
        })
    }
}

impl TaskStore for FileTaskStore {
    fn load(&self) -> io::Result<Vec<TaskRecord>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_unix_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        self.read(now_unix_ms).map_err(|error| explain("read", &self.path, error))
    }

    fn save(&self, record: &TaskRecord) -> io::Result<()> {
        let (id, json) = (record.id().to_text(), record.to_json());
        self.write(|table| table.insert(&*id, json.as_bytes()).map(drop))
            .map_err(|error| explain("write", &self.path, error))
    }

    fn remove(&self, task: TaskId) -> io::Result<()> {
        self.write(|table| table.remove(&*task.to_text()).map(drop))
            .map_err(|error| explain("write", &self.path, error))
    }
}

// Shows the path of the file.
opaque_debug!(FileTaskStore, it => path: it.path);

/// Reads a record that was stored under `id`. An error shows neither the id nor the record.
fn parse(id: &str, json: &[u8]) -> Result<TaskRecord, String> {
    let text = std::str::from_utf8(json).ok().and_then(|text| Raw::from_text(text).ok());
    let text = text.ok_or("the stored task is not JSON")?;
    let record = TaskRecord::parse(&text).map_err(|error| error.to_string())?;
    if record.id().to_text() != id {
        return Err("the stored task has the id of another one".to_owned());
    }
    Ok(record)
}

/// Returns an error that names the file, the cause and a remedy.
fn explain(what: &str, path: &Path, error: io::Error) -> io::Error {
    use io::ErrorKind::{InvalidData, NotFound, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let remedy = match error.kind() {
        StorageFull | QuotaExceeded => ": free space on the disk",
        NotFound => ": create its directory",
        ReadOnlyFilesystem => ": choose a file in a writable directory",
        InvalidData => ": choose another file, or move this one away to start without tasks",
        _ => "",
    };
    let why = format!("cannot {what} the tasks in {}: {error}{remedy}", path.display());
    io::Error::new(error.kind(), why)
}

#[cfg(test)]
mod tests;
