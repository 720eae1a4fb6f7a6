//! [`TaskLimits`]: the bounds of a task table.

use core::time::Duration;

/// The memory and time limits of one [`TaskTable`](super::TaskTable).
///
/// Each task counts for an account: that of its principal or, if the requestor is not
/// authenticated, that of its [source](super::NewTask::source). When a limit is reached, tasks are
/// evicted to make room, the oldest first. If none may be evicted, the new task or data is refused:
///
/// 1. At every limit, cancelled tasks of the account are evicted, and tasks whose result was
///    retrieved; for a source, also tasks that are over in another way.
/// 2. If the table is full and a principal creates a task, tasks of the source that uses most of
///    the table are evicted, even running ones.
/// 3. If the table is still full, tasks of the account that uses most are evicted, if it uses more
///    than the account of the new task: a source evicts tasks of a source, and a principal those of
///    a principal. Running tasks of a source, and results of a principal that were not retrieved,
///    are evicted only if their account then still uses as much as that of the new task. Running
///    tasks of a principal are never evicted.
///
/// The use of an account is the bytes of its tasks, plus `bytes_max / tasks_max` for each task.
///
/// ```
/// use mcp_proto::tasks::TaskLimits;
///
/// let limits = TaskLimits { tasks_max: 100_000, ..TaskLimits::default() };
/// assert_eq!(limits.tasks_per_principal_max, 1000);
/// ```
///
/// Minor releases add fields: write `..TaskLimits::default()`, and do not destructure without `..`.
// SEC-19: whatever a peer sends, memory is bounded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TaskLimits {
    /// Maximum number of tasks. Default: 10,000.
    ///
    /// Further tasks are refused with [`TaskError::TasksFull`](super::TaskError::TasksFull). Each
    /// task costs about 500 bytes, or 870 if it is the only one of its account, plus the bytes that
    /// [`bytes_max`](Self::bytes_max) counts and its status message.
    pub tasks_max: usize,
    /// Maximum number of tasks of one principal, or of one source. Default: 1,000.
    ///
    /// Further tasks are refused with
    /// [`TaskError::PrincipalFull`](super::TaskError::PrincipalFull).
    pub tasks_per_principal_max: usize,
    /// Maximum total size of results, errors, input requests and checkpoints, and of the requests
    /// whose handlers run, in bytes of JSON. Default: 256 MiB.
    ///
    /// A task whose result would exceed this limit fails; its result is dropped. A call whose
    /// request would exceed it is refused.
    pub bytes_max: usize,
    /// Like [`bytes_max`](Self::bytes_max), for the tasks of one account. Default: 64 MiB.
    pub bytes_per_principal_max: usize,
    /// Time for which a task is kept after its creation if the requestor names none. Default: 1 h.
    pub ttl_default: Duration,
    /// Maximum time for which a task is kept after its creation. Default: 24 h.
    ///
    /// The table deletes a task after that time, even a running one. A longer or unlimited time is
    /// never granted.
    pub ttl_max: Duration,
    /// Like [`ttl_max`](Self::ttl_max), for requestors with a [source](super::NewTask::source).
    /// Default: 1 h.
    pub ttl_anonymous_max: Duration,
    /// Suggested time between two status requests of a requestor. Default: 1 s.
    pub poll_interval: Duration,
    /// Maximum number of input requests of one task that are not answered yet. Default: 16.
    pub inputs_max: usize,
    /// Maximum number of requests that wait for the result of a task. Default: 4,096.
    ///
    /// Further `tasks/result` requests are answered with an error. Each costs about 100 bytes.
    pub waiters_max: usize,
    /// Maximum number of requests that wait for results of one account's tasks. Default: 1,024.
    pub waiters_per_principal_max: usize,
    /// Maximum number of requests that wait for the result of one task. Default: 16.
    pub waiters_per_task_max: usize,
    /// Maximum number of pairs of a subscription and a task. Default: 16,384.
    ///
    /// Further tasks are left out of the subscription. Each pair costs about 100 bytes.
    pub watchers_max: usize,
    /// Maximum number of pairs of a subscription and a task of one account. Default: 4,096.
    pub watchers_per_principal_max: usize,
    /// Maximum number of subscriptions to one task. Default: 16.
    pub watchers_per_task_max: usize,
    /// Maximum number of tasks on a page of `tasks/list`. Default: 100. Zero is treated as one.
    pub page_max: usize,
    /// Maximum length of a status message in bytes; the rest is cut off. Default: 1,024.
    pub message_bytes_max: usize,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            tasks_max: 10_000,
            tasks_per_principal_max: 1000,
            bytes_max: 256 << 20,
            bytes_per_principal_max: 64 << 20,
            ttl_default: Duration::from_secs(3600),
            ttl_max: Duration::from_secs(24 * 3600),
            ttl_anonymous_max: Duration::from_secs(3600),
            poll_interval: Duration::from_secs(1),
            inputs_max: 16,
            waiters_max: 4096,
            waiters_per_principal_max: 1024,
            waiters_per_task_max: 16,
            watchers_max: 16_384,
            watchers_per_principal_max: 4096,
            watchers_per_task_max: 16,
            page_max: 100,
            message_bytes_max: 1024,
        }
    }
}

impl TaskLimits {
    /// Returns the time for which a task is kept, in milliseconds.
    // TSK-11: the receiver may override the requested time.
    pub(super) fn ttl_ms(&self, requested_ms: Option<i64>, is_anonymous: bool) -> u64 {
        let max =
            if is_anonymous { self.ttl_max.min(self.ttl_anonymous_max) } else { self.ttl_max };
        let max = millis(max);
        let ttl = match requested_ms {
            None => millis(self.ttl_default),
            Some(ms) => u64::try_from(ms).unwrap_or(0),
        };
        ttl.min(max).max(1)
    }
}

/// Returns a duration in milliseconds, at most 2^53 - 1.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).min((1 << 53) - 1)
}
