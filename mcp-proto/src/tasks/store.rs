//! The tasks of a table by id, by owner and by deadline, and what each account holds.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::account::AccountId;
use super::entry::{TaskEntry, Worth};
use super::id::TaskId;
use super::protocol::TaskProtocol;
use crate::collections::{DeadlineHeap, IdMap, SortedMap};
use crate::time::Instant;
use crate::vocabulary::Principal;

/// The tasks. Lookups take logarithmic time, and changes as long as those of a [`SortedMap`].
#[derive(Debug)]
pub(super) struct Store {
    tasks: IdMap<Box<TaskEntry>>,
    numbers: SortedMap<TaskId, u64>,
    by_owner: SortedMap<(Option<Principal>, TaskProtocol, u64), ()>,
    accounts: SortedMap<AccountId, Account>,
    /// The accounts with tasks that others can replace: whether it is that of a source, and its
    /// load.
    by_load: SortedMap<(bool, usize, AccountId), ()>,
    /// Of the tasks in `tasks`; entries of removed tasks are stale.
    deadlines: DeadlineHeap<Instant>,
    bytes: usize,
    /// The highest number so far.
    last_number: u64,
    /// What a task adds to the load of its account, beside its bytes.
    task_load: usize,
}

/// The tasks of one account, and the memory that they use.
#[derive(Debug, Default)]
struct Account {
    /// In the order in which they make room.
    tasks: SortedMap<(Worth, u64), ()>,
    bytes: usize,
}

/// Higher numbers do not come from this table.
pub(super) const NUMBER_MAX: u64 = 1 << 53;

impl Account {
    fn load(&self, task_load: usize) -> usize {
        self.tasks.len().saturating_mul(task_load).saturating_add(self.bytes)
    }
}

impl Store {
    pub(super) const fn new(task_load: usize) -> Self {
        Self {
            tasks: IdMap::new(),
            numbers: SortedMap::new(),
            by_owner: SortedMap::new(),
            accounts: SortedMap::new(),
            by_load: SortedMap::new(),
            deadlines: DeadlineHeap::new(),
            bytes: 0,
            last_number: 0,
            task_load,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns the number of tasks and the bytes of an account.
    pub(super) fn usage(&self, id: &AccountId) -> (usize, usize) {
        self.accounts.get(id).map_or((0, 0), |account| (account.tasks.len(), account.bytes))
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
        self.by_owner.insert((record.owner.clone(), record.protocol, number), ());
        self.deadlines.push(task.deadline, number);
        // A new highest key is never refused.
        let _never_refused = self.tasks.insert(number, Box::new(task));
        self.settle(number);
        self.prune();
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Box<TaskEntry>> {
        let task = self.tasks.remove(number)?;
        self.numbers.remove(&task.record.id);
        self.by_owner.remove(&(task.record.owner.clone(), task.record.protocol, number));
        let (bytes, worth) = task.charged;
        self.bytes = self.bytes.saturating_sub(bytes);
        self.change(task.record.account(), |account| {
            account.tasks.remove(&(worth, number));
            account.bytes = account.bytes.saturating_sub(bytes);
        });
        self.prune();
        Some(task)
    }

    /// Brings the account of the task up to date after a change of the task.
    pub(super) fn settle(&mut self, number: u64) {
        let Some(task) = self.tasks.get_mut(number) else { return };
        let after = (task.bytes(), task.worth());
        let (before, account) =
            (core::mem::replace(&mut task.charged, after), task.record.account());
        self.bytes = self.bytes.saturating_sub(before.0).saturating_add(after.0);
        self.change(account, |account| {
            account.bytes = account.bytes.saturating_sub(before.0).saturating_add(after.0);
            account.tasks.remove(&(before.1, number));
            account.tasks.insert((after.1, number), ());
        });
    }

    /// Changes an account and its place among the others.
    fn change(&mut self, id: AccountId, change: impl FnOnce(&mut Account)) {
        let task_load = self.task_load;
        let place = |account: &Account| {
            let first = account.tasks.keys().next();
            let is_replaceable =
                first.is_some_and(|(worth, _)| id.is_source() || *worth < Worth::Running);
            is_replaceable.then(|| (id.is_source(), account.load(task_load), id.clone()))
        };
        if !self.accounts.contains_key(&id) {
            self.accounts.insert(id.clone(), Account::default());
        }
        let Some(account) = self.accounts.get_mut(&id) else { return };
        let before = place(account);
        change(account);
        let after = place(account);
        if before != after {
            before.and_then(|before| self.by_load.remove(&before));
            after.and_then(|after| self.by_load.insert(after, ()));
        }
        if account.tasks.is_empty() {
            self.accounts.remove(&id);
        }
    }

    /// Returns the task of this account that makes room for another one of it.
    pub(super) fn own_spare(&self, id: &AccountId) -> Option<u64> {
        let (worth, number) = self.accounts.get(id)?.tasks.keys().next()?;
        let max = if id.is_source() { Worth::Final } else { Worth::Spent };
        (*worth <= max).then_some(*number)
    }

    /// Returns the task of another account that makes room for this one in a full table.
    // SEC-19: clients that are not authenticated cannot take the places of principals, and one that
    // holds much not those of others.
    pub(super) fn foreign_spare(&self, id: &AccountId, tasks: usize, bytes: usize) -> Option<u64> {
        let ((is_source, load, most), ()) = self.by_load.last()?;
        let (worth, number) = self.accounts.get(most)?.tasks.keys().next()?;
        let loses = self.get(*number)?.charged.0.saturating_add(self.task_load);
        let gains = tasks.saturating_mul(self.task_load).saturating_add(bytes);
        let own = self.accounts.get(id).map_or(0, |account| account.load(self.task_load));
        let yields = match (id.is_source(), is_source, worth) {
            (false, true, _) => true,
            (true, false, _) => false,
            (_, _, Worth::Spent) | (_, true, Worth::Final) => own < *load,
            _ => own.saturating_add(gains) <= load.saturating_sub(loses),
        };
        yields.then_some(*number)
    }

    /// Iterates over the tasks of an owner that are newer than the one with number `after`.
    pub(super) fn newer_than(
        &self,
        owner: &Option<Principal>,
        protocol: TaskProtocol,
        after: u64,
    ) -> impl Iterator<Item = &TaskEntry> + '_ {
        let at = (owner.clone(), protocol, after.saturating_add(1));
        let later = self.by_owner.range_from(&at).map(|(key, ())| key);
        let own = later.take_while(move |(it, of, _)| (it, of) == (&at.0, &at.1));
        own.filter_map(|(_, _, number)| self.get(*number))
    }

    /// Returns the tasks of an owner.
    pub(super) fn of_owner(&self, owner: &Principal) -> Vec<u64> {
        let [first, _] = TaskProtocol::ALL;
        let from = (Some(owner.clone()), first, 0);
        let tasks = self.by_owner.range_from(&from).map(|(key, ())| key);
        tasks.take_while(|(it, ..)| *it == from.0).map(|(_, _, number)| *number).collect()
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
