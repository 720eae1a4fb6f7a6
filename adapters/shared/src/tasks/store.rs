//! [`TaskStore`]: where tasks survive a restart of the server.

use std::io;

use mcp_proto::tasks::{TaskId, TaskRecord};

/// Keeps the tasks of a server across restarts.
///
/// Without a store, tasks are kept in memory only. A store belongs to one server in one process at
/// a time.
///
/// What a crash can lose, given that the store keeps what it has saved:
/// - A client knows only tasks that were saved, and learns only outcomes that were saved.
/// - A task whose handler has ended, but whose outcome was not saved yet, counts as running: it
///   fails, or its handler runs again
///   ([`TaskPolicy::restarts_max`](crate::tasks::TaskPolicy::restarts_max)).
/// - The answer to an input request is lost if the process ends after the answer was acknowledged
///   and before it was saved. A handler that starts again then asks again, with a new key.
/// - Status messages since the last save are lost.
///
/// The methods may block: the server calls them on its own thread, one after the other. A
/// record contains the id, the owner and the result of its task: protect the store as you protect
/// these.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::collections::BTreeMap;
/// use std::io;
/// use std::sync::Mutex;
///
/// use mcp_tokio::proto::tasks::{TaskId, TaskRecord};
/// use mcp_tokio::tasks::TaskStore;
///
/// /// For tests: survives the server, but not the process.
/// #[derive(Default)]
/// struct InMemory(Mutex<BTreeMap<TaskId, TaskRecord>>);
///
/// impl TaskStore for InMemory {
///     fn load(&self) -> io::Result<Vec<TaskRecord>> {
///         Ok(self.0.lock().unwrap().values().cloned().collect())
///     }
///
///     fn save(&self, record: &TaskRecord) -> io::Result<()> {
///         self.0.lock().unwrap().insert(record.id(), record.clone());
///         Ok(())
///     }
///
///     fn remove(&self, task: TaskId) -> io::Result<()> {
///         self.0.lock().unwrap().remove(&task);
///         Ok(())
///     }
/// }
/// ```
pub trait TaskStore: Send + Sync + 'static {
    /// Returns all records. Called once, before the server accepts requests.
    ///
    /// # Errors
    /// Fails if the store cannot be read; the server then does not start. A single record that
    /// cannot be read may be left out.
    fn load(&self) -> io::Result<Vec<TaskRecord>>;

    /// Adds a record, or replaces the one that has its id.
    ///
    /// Returns when the record survives the end of the process, and the loss of power as far as the
    /// store promises that: a client learns the id of its task only after that.
    ///
    /// # Errors
    /// Fails if the record cannot be kept. The request that would create a task then fails. A later
    /// change takes effect nevertheless, and is saved again after a second. Errors are reported to
    /// `tracing`; a panic counts as one.
    fn save(&self, record: &TaskRecord) -> io::Result<()>;

    /// Removes a record, if it exists.
    ///
    /// # Errors
    /// Fails if the record cannot be removed. It is loaded again at the next start, unless it has
    /// expired by then.
    fn remove(&self, task: TaskId) -> io::Result<()>;
}
