//! The tasks of an earlier run of the server.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::clock::TaskTime;
use super::entry::TaskEntry;
use super::event::TaskEvent;
use super::record::{OnRestart, Outcome, TaskRecord};
use super::status::{State, Step};
use super::store::NUMBER_MAX;
use super::table::TaskTable;
use crate::rpc::ErrorObject;
use crate::time::Instant;

impl TaskTable {
    /// Restores tasks from the records of a durable store, after a restart of the server.
    ///
    /// A task that ran fails, or is handed to its handler again ([`TaskEvent::Run`]), as its
    /// [`OnRestart`] says. Its outstanding input requests are gone: the handler asks again, with
    /// new keys. Tasks that are over stay as they are. Expired tasks are not restored
    /// ([`TaskEvent::Removed`]). A record of a task that the table has already is ignored, so no
    /// handler runs twice.
    ///
    /// Call this once, before the table is used, and by one process for each store. Limits do not
    /// apply to restored tasks, but further tasks are refused until the table is below its limits.
    pub fn restore(&mut self, time: TaskTime, records: impl IntoIterator<Item = TaskRecord>) {
        let now = self.advance(time.now);
        let mut records: Vec<TaskRecord> = records.into_iter().collect();
        // The order of lists and the meaning of cursors survive.
        records.sort_by_key(|record| record.number);
        for record in records {
            if self.store.number(record.id).is_none() {
                self.restore_one(time, now, record);
            }
        }
    }

    fn restore_one(&mut self, time: TaskTime, now: Instant, mut record: TaskRecord) {
        let expires = record.expires_unix_ms();
        if expires <= time.unix_ms {
            self.queue(TaskEvent::Removed { task: record.id });
            return;
        }
        // A wall clock that went backwards makes no task live longer than its ttl.
        let ttl = core::time::Duration::from_millis(record.ttl_ms);
        let deadline = time.at_unix_ms(expires).min(now + ttl);
        let (id, state) = (record.id, record.state);
        let restart = record.restart.clone();
        let last = self.store.last_number();
        if record.number <= last || record.number > NUMBER_MAX {
            record.number = last + 1;
        }
        if !state.is_final() {
            record.state = State::Working;
        }
        let number = record.number;
        self.store.insert(TaskEntry::new(record, deadline, None));
        match restart {
            _ if state.is_final() => {}
            OnRestart::Fail => {
                let error = ErrorObject::internal("the server was restarted while the task ran");
                self.end(time, number, Step::Fail, Outcome::Error(Box::new(error)));
            }
            OnRestart::Run(checkpoint) => {
                if state != State::Working {
                    self.announce(number);
                }
                self.queue(TaskEvent::Run { task: id, checkpoint });
            }
        }
    }
}
