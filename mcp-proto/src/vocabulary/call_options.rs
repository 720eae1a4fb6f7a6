//! The options of a call, and the timeouts that follow from them.

use core::time::Duration;

use crate::limits::Limits;
use crate::revision::{MethodRule, Patience};
use crate::vocabulary::ids::IncomingId;

/// The options of one outgoing request.
///
/// [`CallOptions::default()`] suits most calls: no progress, and the timeouts of
/// [`Limits`](crate::Limits).
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::CallOptions;
///
/// let slow = CallOptions {
///     progress: true,
///     timeout: Some(Duration::from_secs(300)),
///     ..CallOptions::default()
/// };
/// assert_eq!(slow.timeout_max, None);
/// ```
///
/// When a timeout expires, the peer is asked to cancel the request and the call completes with
/// [`CallError::TimedOut`](crate::CallError::TimedOut).
///
/// Minor releases add fields: write `..CallOptions::default()`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CallOptions {
    /// Whether to request [progress] notifications from the peer. Default: false.
    ///
    /// A `progressToken` in the params also requests progress; the connection replaces the value of
    /// that token.
    ///
    /// [progress]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
    pub progress: bool,
    /// The maximum time to wait for a response, restarted by each progress notification. Peers send
    /// some only if [`progress`](Self::progress) asks for them.
    ///
    /// This timeout does not end a client's call while the server waits for an answer from the
    /// client, for example for input from a human. The maximum total time still applies. Exception:
    /// if `timeout` is set and [`timeout_max`](Self::timeout_max) is `None`, `timeout` always ends
    /// the call.
    ///
    /// In revision 2026-07-28, a server may respond that it requires input, after which the call is
    /// sent again. Unless the exception applies, a response with questions restarts the timeout
    /// once they are answered; a response without questions never does.
    ///
    /// Default: `None`, which selects [`Limits::call_timeout`](crate::Limits::call_timeout), or
    /// [`Limits::human_timeout`](crate::Limits::human_timeout) for a method that a human answers.
    pub timeout: Option<Duration>,
    /// The maximum total time to wait, regardless of progress.
    ///
    /// Default: `None`, which selects
    /// [`Limits::call_timeout_max`](crate::Limits::call_timeout_max), or
    /// [`Limits::human_timeout_max`](crate::Limits::human_timeout_max) for a method that a human
    /// answers. If [`timeout`](Self::timeout) or its default is longer, the longer time applies.
    pub timeout_max: Option<Duration>,
    /// The incoming request for which a server makes this call. Default: none.
    ///
    /// Over HTTP, the call is sent on that request's stream.
    ///
    /// The call fails with [`Misuse::Stale`](crate::Misuse::Stale) if the request has ended, and
    /// with [`Misuse::Unsupported`](crate::Misuse::Unsupported) if the request uses revision
    /// 2026-07-28, in which clients accept no requests.
    pub parent: Option<IncomingId>,
    /// Whether to send the request even if the client has cached its result. Default: false.
    ///
    /// The new result is cached nevertheless. Has no effect while
    /// [`Limits::cache_bytes_max`](crate::Limits::cache_bytes_max) is 0.
    pub bypass_cache: bool,
    /// Whether a result that asks for [input] ends the call. Default: false.
    ///
    /// The application then receives the result itself,
    /// [`InputRequired`](crate::schema::InputRequired), instead of its questions as requests. To
    /// continue, it sends the request again, with the answers and the state as params. A gateway
    /// passes both on, and keeps nothing between the two calls. As without this option, the
    /// questions must be of kinds whose capability this side has declared.
    ///
    /// Has no effect before revision 2026-07-28, in which servers ask by requests.
    ///
    /// [input]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
    pub input_required: bool,
}

impl CallOptions {
    /// Returns the timeouts of a call with these options; `rule` is the rule of its method.
    // TMO-03, T-60: explicit options override the limits of the method.
    pub(crate) fn wait_for(&self, rule: Option<&MethodRule>, limits: &Limits) -> CallTimeouts {
        let patience = rule.map_or(Patience::Call, |rule| rule.patience);
        let (timeout, timeout_max) = match patience {
            Patience::Call => (limits.call_timeout, limits.call_timeout_max),
            Patience::Human => (limits.human_timeout, limits.human_timeout_max),
        };
        let timeout = self.timeout.unwrap_or(timeout);
        let total = self.timeout_max.unwrap_or_else(|| timeout_max.max(timeout));
        // A caller who sets nothing but a timeout wants to wait no longer, whatever the reason.
        let is_strict = self.timeout.is_some() && self.timeout_max.is_none();
        CallTimeouts { idle: timeout, total, is_strict }
    }
}

/// The timeouts of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallTimeouts {
    /// The time without progress, restarted by each progress notification.
    pub(crate) idle: Duration,
    /// The time since the call was made.
    // TMO-05, T-57: progress does not extend it.
    pub(crate) total: Duration,
    /// Whether the time without progress also counts while the application has to answer the peer.
    pub(crate) is_strict: bool,
}

impl CallTimeouts {
    /// Returns timeouts that progress does not extend.
    pub(crate) const fn exactly(timeout: Duration) -> Self {
        Self { idle: timeout, total: timeout, is_strict: true }
    }
}
