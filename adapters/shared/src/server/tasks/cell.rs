//! [`TaskCell`]: the tasks of a server, created when it first serves.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::server::handler::task_service::{OpenTasks, TaskService};
use crate::tasks::Tasks;

/// The tasks of a server and its clones.
#[derive(Clone, Default)]
pub(crate) struct TaskCell {
    settings: Tasks,
    tasks: Arc<Mutex<Option<Arc<dyn TaskService>>>>,
}

impl TaskCell {
    pub(crate) fn new(settings: Tasks) -> Self {
        Self { settings, tasks: Arc::default() }
    }

    /// Returns the tasks.
    ///
    /// # Errors
    /// Fails if their store cannot be read.
    pub(crate) fn get(&self, open: OpenTasks) -> io::Result<Arc<dyn TaskService>> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if tasks.is_none() {
            *tasks = Some(open(&self.settings)?);
        }
        tasks.clone().ok_or_else(|| io::ErrorKind::Other.into())
    }
}
