//! [`Requestor`] and [`NewTask`]: who asks for a task, and with which settings.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::protocol::TaskProtocol;
use super::record::OnRestart;
use crate::rpc::RequestId;
use crate::vocabulary::Principal;

/// Who sends a request about tasks: an identity, and the protocol of its connection.
///
/// Requestors without a principal, such as those over stdio, share one identity. Over transports
/// where strangers meet, tell them apart: by authentication, or by a principal for each session.
/// Otherwise the id of a task is all that protects it, and `tasks/list` should not be offered.
///
/// ```
/// use mcp_proto::Principal;
/// use mcp_proto::tasks::{Requestor, TaskProtocol};
///
/// let ada = Principal::new("ada").unwrap();
/// let requestor = Requestor { principal: Some(&ada), protocol: TaskProtocol::Core };
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Requestor<'a> {
    /// The authenticated identity, if there is one.
    pub principal: Option<&'a Principal>,
    /// The protocol that the connection uses.
    pub protocol: TaskProtocol,
}

/// The settings of a new task.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::tasks::NewTask;
///
/// let new = NewTask { requested_ttl_ms: Some(60_000), ..NewTask::default() };
/// let slow = NewTask { poll_interval: Some(Duration::from_secs(30)), ..NewTask::default() };
/// ```
#[derive(Clone, Debug, Default)]
pub struct NewTask {
    /// The `ttl` of the request, in milliseconds. The table grants at most
    /// [`TaskLimits::ttl_max`](super::TaskLimits::ttl_max), and at least 1 ms.
    pub requested_ttl_ms: Option<i64>,
    /// Suggested time between two status requests. Default:
    /// [`TaskLimits::poll_interval`](super::TaskLimits::poll_interval).
    pub poll_interval: Option<Duration>,
    /// The progress token of the request.
    pub progress_token: Option<RequestId>,
    /// The bytes of the request that its handler holds. They count for
    /// [`TaskLimits::bytes_max`](super::TaskLimits::bytes_max) until the task is over. Default: 0.
    pub request_bytes: usize,
    /// A number that identifies where an unauthenticated requestor comes from: its network address,
    /// or its connection. Default: none, for authenticated requestors and for the only client of a
    /// process.
    ///
    /// The task then counts for its source instead of its principal, is kept for at most
    /// [`TaskLimits::ttl_anonymous_max`](super::TaskLimits::ttl_anonymous_max), and may be evicted
    /// for tasks of others if the table is full: see [`TaskLimits`](super::TaskLimits).
    pub source: Option<u64>,
    /// What happens to the task if the server is restarted while it runs.
    pub restart: OnRestart,
    /// The scopes that access tokens need for requests about the task, which
    /// [`TaskTable::scopes`](super::TaskTable::scopes) returns. Default: none.
    ///
    /// They are kept with the task and count for
    /// [`TaskLimits::bytes_max`](super::TaskLimits::bytes_max).
    pub scopes: Vec<String>,
}
