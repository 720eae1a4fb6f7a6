//! The stored form of a poller, with which a restarted requestor continues.

use alloc::vec::Vec;
use core::time::Duration;

use super::{PollLimits, TaskPoller};
use crate::json::{Array, Object, Raw, write_str, write_u64};
use crate::tasks::clock::TaskTime;
use crate::tasks::protocol::TaskProtocol;

/// The version of the format. Records of other versions are not read.
const VERSION: u64 = 1;

impl TaskPoller {
    /// Writes what is needed to continue after a restart, as JSON: the id of the task, its times,
    /// and the keys of the input requests whose answers arrived.
    ///
    /// Store it when the task was created, and after each answer. The id may give access to the
    /// task: protect it.
    // TSK-39: ids are kept.
    #[must_use]
    pub fn record(&self, time: TaskTime) -> Raw {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let age = self.age + time.now.duration_since(self.started);
        let created = time.unix_ms.saturating_sub(ms(age));
        let expires = time.unix_ms.saturating_add(ms(self.expires.duration_since(time.now)));
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        write_u64(object.key("version"), VERSION);
        object.str("protocol", self.protocol.rules().name);
        object.str("taskId", &self.task_id);
        write_u64(object.key("created_ms"), created);
        write_u64(object.key("expires_ms"), expires);
        let mut answered = Array::begin(object.key("answered"));
        for key in self.inputs.done() {
            write_str(answered.next(), key);
        }
        answered.end();
        object.end();
        Raw::from_written(out)
    }

    /// Creates a poller from a record of an earlier run. It polls immediately.
    ///
    /// The time of the task is measured by the wall clock: it counts from the creation of the task,
    /// as the server counts it, and not from the restart. If the time is over already, the poller
    /// still polls once, since the server may have kept the task.
    ///
    /// An input request whose answer did not arrive is reported again. Returns `None` if `record`
    /// is not a record of this version.
    #[must_use]
    pub fn restore(time: TaskTime, record: &Raw, limits: PollLimits) -> Option<Self> {
        let number = |name| record.member(name)?.parse::<u64>().ok();
        if number("version") != Some(VERSION) {
            return None;
        }
        let protocol = TaskProtocol::by_name(&record.member("protocol")?.to_text()?)?;
        let task_id = record.member("taskId")?.to_text()?.into();
        let expires = time.at_unix_ms(number("expires_ms")?);
        let mut poller = Self::begin(time.now, protocol, task_id, limits);
        poller.age = Duration::from_millis(time.unix_ms.saturating_sub(number("created_ms")?));
        poller.expires = expires.min(poller.expires);
        for key in record.member("answered")?.elements() {
            poller.inputs.restore(&key.to_text()?);
        }
        Some(poller)
    }
}
