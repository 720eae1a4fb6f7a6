//! The random id and the creation time of a task.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use mcp_proto::Instant;
use mcp_proto::tasks::{TaskId, TaskTime};

/// Returns an id from a secure source.
// TSK-09, TSK-38
pub(crate) fn random_id() -> io::Result<TaskId> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(TaskId::from_random(bytes))
}

/// Returns the time by both clocks; `now` is that of the monotonic one.
pub(crate) fn task_time(now: Instant) -> TaskTime {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    TaskTime { now, unix_ms: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX) }
}
