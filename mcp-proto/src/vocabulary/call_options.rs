//! How a call is made, and how long it waits.

use core::time::Duration;

use crate::limits::Limits;
use crate::revision::{MethodRule, Patience};
use crate::vocabulary::ids::IncomingId;

/// How a call is made.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::CallOptions;
///
/// let patient = CallOptions { timeout: Some(Duration::from_secs(300)), ..CallOptions::default() };
/// assert!(!patient.progress);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CallOptions {
    /// Whether to ask the peer for progress. A `progressToken` in the params does the same; the
    /// token on the wire is the connection's own.
    pub progress: bool,
    /// How long to wait for an answer or for further progress; `None` for the limit that fits the
    /// method.
    pub timeout: Option<Duration>,
    /// How long to wait in all; `None` for the limit that fits the method, or `timeout` if that is
    /// longer.
    pub timeout_max: Option<Duration>,
    /// The request of the peer that this call is made for.
    pub parent: Option<IncomingId>,
    /// Whether to ask the server even where the cache holds an answer that is still good.
    pub fresh: bool,
}

impl CallOptions {
    /// How long a call of a method waits. (TMO-03, T-60)
    pub(crate) fn wait_for(&self, rule: Option<&MethodRule>, limits: &Limits) -> Wait {
        let patience = rule.map_or(Patience::Call, |rule| rule.patience);
        let (timeout, timeout_max) = match patience {
            Patience::Call => (limits.call_timeout, limits.call_timeout_max),
            Patience::Human => (limits.human_timeout, limits.human_timeout_max),
        };
        let timeout = self.timeout.unwrap_or(timeout);
        Wait { each: timeout, in_all: self.timeout_max.unwrap_or_else(|| timeout_max.max(timeout)) }
    }
}

/// How long a call waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// From each sign of life.
    pub(crate) each: Duration,
    /// From the beginning, whatever signs of life there are. (TMO-05, T-57)
    pub(crate) in_all: Duration,
}

impl Wait {
    pub(crate) const fn exactly(timeout: Duration) -> Self {
        Self { each: timeout, in_all: timeout }
    }
}
