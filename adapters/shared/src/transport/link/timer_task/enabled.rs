//! Timer tasks that are spawned while a connection without a driver has a deadline.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Spawns the timer tasks of connections that have no driver.
pub(crate) trait SpawnTimer<L>: Send + Sync {
    /// Spawns a task that runs the timers of a connection and sees it end. Called with the
    /// connection's lock held, so the task must not start on this thread right away.
    fn spawn_timer(&self, link: Arc<L>);
}

/// The timer task of a connection, if it has no driver.
pub(crate) struct TimerTask<L> {
    spawner: OnceLock<(Arc<dyn SpawnTimer<L>>, Weak<L>)>,
    /// Read and written under the connection's lock only.
    is_running: AtomicBool,
}

impl<L> Default for TimerTask<L> {
    fn default() -> Self {
        Self { spawner: OnceLock::new(), is_running: AtomicBool::new(false) }
    }
}

impl<L> TimerTask<L> {
    /// Sets the spawner of the task. Later calls are ignored.
    pub(crate) fn set_spawner(&self, spawner: Arc<dyn SpawnTimer<L>>, link: Weak<L>) {
        let _first = self.spawner.set((spawner, link));
    }

    /// Spawns the task, unless it is running or the connection has a driver.
    pub(crate) fn ensure_running(&self) {
        if self.is_running.load(Ordering::Relaxed) {
            return;
        }
        let Some((spawner, link)) = self.spawner.get() else { return };
        if let Some(link) = link.upgrade() {
            self.is_running.store(true, Ordering::Relaxed);
            spawner.spawn_timer(link);
        }
    }

    /// Records that the task ends, so that the next deadline spawns another one.
    pub(crate) fn retire(&self) {
        self.is_running.store(false, Ordering::Relaxed);
    }
}
