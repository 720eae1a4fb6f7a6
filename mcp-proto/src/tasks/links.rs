//! Which requests and subscriptions wait for which tasks.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::account::AccountId;

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
    by_task: BTreeMap<(u64, TaskListener), AccountId>,
    by_listener: BTreeSet<(TaskListener, u64)>,
    /// The number of pairs of each account that has some.
    by_account: BTreeMap<AccountId, usize>,
}

impl Links {
    pub(super) const fn new() -> Self {
        Self { by_task: BTreeMap::new(), by_listener: BTreeSet::new(), by_account: BTreeMap::new() }
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
        self.by_listener.insert((listener, task));
        *self.by_account.entry(account).or_default() += 1;
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
        let most = TaskListener { connection: u64::MAX, request: u64::MAX };
        self.by_task.range((task, least)..=(task, most)).map(|((_, listener), _)| *listener)
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
        self.remove_range((listener, 0)..=(listener, u64::MAX));
    }

    pub(super) fn remove_connection(&mut self, connection: u64) {
        let at = |request| TaskListener { connection, request };
        self.remove_range((at(0), 0)..=(at(u64::MAX), u64::MAX));
    }

    fn remove_range(&mut self, range: RangeInclusive<(TaskListener, u64)>) {
        let pairs: Vec<_> = self.by_listener.range(range).copied().collect();
        for (listener, task) in pairs {
            self.remove(task, listener);
        }
    }
}
