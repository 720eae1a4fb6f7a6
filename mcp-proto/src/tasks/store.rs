//! The tasks of a table by id, by owner and by deadline, and what each owner holds.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};

use super::entry::TaskEntry;
use super::id::TaskId;
use super::protocol::TaskProtocol;
use crate::collections::{DeadlineHeap, IdMap};
use crate::time::Instant;
use crate::vocabulary::Principal;

/// The tasks. Every operation takes at most logarithmic time.
#[derive(Debug)]
pub(super) struct Store {
    tasks: IdMap<Box<TaskEntry>>,
    numbers: BTreeMap<TaskId, u64>,
    accounts: BTreeMap<Option<Principal>, Account>,
    /// Of the tasks in `tasks`; entries of removed tasks are stale.
    deadlines: DeadlineHeap<Instant>,
    bytes: usize,
    /// The highest number so far.
    last_number: u64,
}

/// What one principal holds.
#[derive(Debug, Default)]
struct Account {
    tasks: BTreeSet<(TaskProtocol, u64)>,
    /// The tasks that can make room for others.
    evictable: BTreeSet<u64>,
    bytes: usize,
}

/// Higher numbers do not come from this table.
pub(super) const NUMBER_MAX: u64 = 1 << 53;

impl Store {
    pub(super) const fn new() -> Self {
        Self {
            tasks: IdMap::new(),
            numbers: BTreeMap::new(),
            accounts: BTreeMap::new(),
            deadlines: DeadlineHeap::new(),
            bytes: 0,
            last_number: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns the number of tasks and the bytes of a principal.
    pub(super) fn usage(&self, owner: &Option<Principal>) -> (usize, usize) {
        self.accounts.get(owner).map_or((0, 0), |account| (account.tasks.len(), account.bytes))
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) const fn last_number(&self) -> u64 {
        self.last_number
    }

    pub(super) fn number(&self, id: TaskId) -> Option<u64> {
        self.numbers.get(&id).copied()
    }

    pub(super) fn get(&self, number: u64) -> Option<&TaskEntry> {
        self.tasks.get(number).map(|task| &**task)
    }

    /// Returns a task to be changed. Call [`settle`](Self::settle) after the change.
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut TaskEntry> {
        self.tasks.get_mut(number).map(|task| &mut **task)
    }

    /// Adds a task. Its number must be higher than all before, and its id must be new.
    pub(super) fn insert(&mut self, task: TaskEntry) {
        let record = &task.record;
        let number = record.number;
        self.last_number = number;
        self.numbers.insert(record.id, number);
        let account = self.accounts.entry(record.owner.clone()).or_default();
        account.tasks.insert((record.protocol, number));
        self.deadlines.push(task.deadline, number);
        // A new highest key is never refused.
        let _never_refused = self.tasks.insert(number, Box::new(task));
        self.settle(number);
        self.prune();
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Box<TaskEntry>> {
        let task = self.tasks.remove(number)?;
        self.numbers.remove(&task.record.id);
        self.bytes = self.bytes.saturating_sub(task.charged);
        if let Some(account) = self.accounts.get_mut(&task.record.owner) {
            account.tasks.remove(&(task.record.protocol, number));
            account.evictable.remove(&number);
            account.bytes = account.bytes.saturating_sub(task.charged);
            if account.tasks.is_empty() {
                self.accounts.remove(&task.record.owner);
            }
        }
        self.prune();
        Some(task)
    }

    /// Brings the account of the owner up to date after a change of the task.
    pub(super) fn settle(&mut self, number: u64) {
        let Some(task) = self.tasks.get_mut(number) else { return };
        let (before, after) = (task.charged, task.bytes());
        task.charged = after;
        self.bytes = self.bytes.saturating_sub(before).saturating_add(after);
        if let Some(account) = self.accounts.get_mut(&task.record.owner) {
            account.bytes = account.bytes.saturating_sub(before).saturating_add(after);
            if task.is_evictable() {
                account.evictable.insert(number);
            }
        }
    }

    /// Returns the oldest task of a principal that can make room for others.
    pub(super) fn evictable(&self, owner: &Option<Principal>) -> Option<u64> {
        self.accounts.get(owner)?.evictable.first().copied()
    }

    /// Iterates over the tasks of a principal that are newer than the one with number `after`.
    pub(super) fn newer_than(
        &self,
        owner: &Option<Principal>,
        protocol: TaskProtocol,
        after: u64,
    ) -> impl Iterator<Item = &TaskEntry> + '_ {
        let range = (protocol, after.saturating_add(1))..=(protocol, u64::MAX);
        let numbers = self.accounts.get(owner).into_iter();
        let numbers = numbers.flat_map(move |account| account.tasks.range(range.clone()));
        numbers.filter_map(|(_, number)| self.get(*number))
    }

    /// Returns the earliest deadline.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }

    /// Returns a task whose time is over at `now`.
    pub(super) fn expired(&self, now: Instant) -> Option<u64> {
        self.deadlines.peek().filter(|(deadline, _)| *deadline <= now).map(|(_, number)| number)
    }

    fn prune(&mut self) {
        let tasks = &self.tasks;
        let is_valid = |_, number| tasks.get(number).is_some();
        self.deadlines.prune(tasks.len(), is_valid);
    }
}
