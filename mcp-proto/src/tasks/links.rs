//! Which requests and subscriptions wait for which tasks.

use alloc::vec::Vec;

use super::account::AccountId;
use crate::collections::SortedMap;

/// A request or subscription of a connection. The driver chooses both numbers.
///
/// ```
/// use mcp_proto::tasks::TaskListener;
///
/// let waiting = TaskListener { connection: 7, request: 42 };
/// assert!(waiting < TaskListener { connection: 8, request: 0 });
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TaskListener {
    /// The connection, unique among all that use the table.
    pub connection: u64,
    /// The request or subscription, unique within its connection.
    pub request: u64,
}

/// Pairs of tasks and listeners, found by either. Each pair is two entries of a tree.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// With the account of the task.
    by_task: SortedMap<(u64, TaskListener), AccountId>,
    by_listener: SortedMap<(TaskListener, u64), ()>,
    /// The number of pairs of each account that has some.
    by_account: SortedMap<AccountId, usize>,
}

impl Links {
    pub(super) const fn new() -> Self {
        Self {
            by_task: SortedMap::new(),
            by_listener: SortedMap::new(),
            by_account: SortedMap::new(),
        }
    }

    /// Adds a pair. Returns false if that would exceed a maximum: in total, of the account, or of
    /// the task.
    pub(super) fn add(
        &mut self,
        task: u64,
        listener: TaskListener,
        account: AccountId,
        [max, per_account_max, per_task_max]: [usize; 3],
    ) -> bool {
        if self.by_task.contains_key(&(task, listener)) {
            return true;
        }
        // One client cannot take the places of others.
        let of_account = self.by_account.get(&account).copied().unwrap_or_default();
        let of_task = self.of_task(task).take(per_task_max).count();
        if self.by_task.len() >= max || of_account >= per_account_max || of_task >= per_task_max {
            return false;
        }
        self.by_task.insert((task, listener), account.clone());
        self.by_listener.insert((listener, task), ());
        self.by_account.insert(account, of_account + 1);
        true
    }

    fn remove(&mut self, task: u64, listener: TaskListener) {
        self.by_listener.remove(&(listener, task));
        let Some(account) = self.by_task.remove(&(task, listener)) else { return };
        match self.by_account.get_mut(&account) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.by_account.remove(&account)),
        }
    }

    pub(super) fn of_task(&self, task: u64) -> impl Iterator<Item = TaskListener> + '_ {
        let least = TaskListener { connection: 0, request: 0 };
        let pairs = self.by_task.range_from(&(task, least)).map(|(pair, _)| *pair);
        pairs.take_while(move |(of, _)| *of == task).map(|(_, listener)| listener)
    }

    /// Removes all pairs of a task. Returns their listeners.
    pub(super) fn remove_task(&mut self, task: u64) -> Vec<TaskListener> {
        let listeners: Vec<_> = self.of_task(task).collect();
        for listener in &listeners {
            self.remove(task, *listener);
        }
        listeners
    }

    pub(super) fn remove_listener(&mut self, listener: TaskListener) {
        self.remove_where(listener, |it| it == listener);
    }

    pub(super) fn remove_connection(&mut self, connection: u64) {
        let first = TaskListener { connection, request: 0 };
        self.remove_where(first, |it| it.connection == connection);
    }

    /// Removes the pairs from listener `first` to the last one for which `is_removed`.
    fn remove_where(&mut self, first: TaskListener, is_removed: impl Fn(TaskListener) -> bool) {
        let pairs = self.by_listener.range_from(&(first, 0)).map(|(pair, ())| *pair);
        let pairs: Vec<_> = pairs.take_while(|(listener, _)| is_removed(*listener)).collect();
        for (listener, task) in pairs {
            self.remove(task, listener);
        }
    }
}
