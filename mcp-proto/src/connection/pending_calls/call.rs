//! One request of ours, from when it is made to when it completes.
//!
//! ```text
//!               response
//!   InFlight ──────────────▶ over        a timeout or a cancel ends it in every state
//!    │    ▲
//!    │    │ the input is complete, or the pause is over: sent again under a new id
//!    ▼    │
//!   Gathering          (modern: the response asked for input)
//!
//!   Local ────────────────▶ over        (no message stands for it: a subscription of a legacy session)
//! ```

use alloc::boxed::Box;
use core::time::Duration;

use super::super::cache::Place;
use super::super::ids::{CallId, IncomingId, StreamId};
use super::super::input_required::round::{Input, Retry};
use super::super::outbound::Route;
use crate::limits::Limits;
use crate::revision::{MethodRule, Patience};
use crate::time::Instant;

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

/// The part that receives the outcome of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Owner {
    /// The application.
    Application,
    /// The lifecycle: it is `initialize`.
    Handshake,
    /// Keep-alive: it is a ping.
    KeepAlive,
    /// The application, and the subscriptions: it listens to changes.
    Listen,
    /// The lifecycle: it is `server/discover`, which shows the server's era.
    Probe,
    /// Input-required: it asks question `.1` of incoming request `.0`.
    Question(IncomingId, u32),
    /// The subscriptions: it subscribes to a resource.
    Subscribe,
    /// The subscriptions: it ends the subscription to a resource.
    Unsubscribe,
}

impl Owner {
    /// Whether the application made the call, and may cancel it.
    pub(crate) const fn is_application(self) -> bool {
        matches!(self, Self::Application | Self::Listen)
    }
}

/// The state of a call: see the drawing above.
#[derive(Debug)]
pub(crate) enum CallState {
    /// The peer has the request and owes the answer.
    InFlight,
    /// The peer asked for input, which is being gathered.
    Gathering(Box<Input>),
    /// No message stands for it.
    Local,
}

#[derive(Debug)]
pub(crate) struct Call {
    /// The application's handle: the wire id of the first round.
    pub(crate) id: CallId,
    pub(crate) owner: Owner,
    pub(crate) state: CallState,
    /// How long to wait from each sign of life.
    pub(super) patience: Duration,
    /// When to give up in any case.
    pub(super) give_up: Instant,
    pub(super) deadline: Option<Instant>,
    pub(crate) wants_progress: bool,
    /// Whether the request asked for log messages. (T-92)
    pub(crate) wants_logs: bool,
    /// The last progress, which the next must exceed. (PRG-05)
    pub(crate) progress: f64,
    pub(super) rare: Option<Box<RareCall>>,
}

/// Rarely used fields, boxed to keep `Call` small.
#[derive(Debug, Default)]
pub(crate) struct RareCall {
    pub(super) stream: Option<StreamId>,
    pub(super) retry: Option<Retry>,
    pub(super) cache_as: Option<Place>,
}

impl Call {
    /// Whether the peer owes the answer.
    pub(crate) fn is_in_flight(&self) -> bool {
        matches!(self.state, CallState::InFlight)
    }

    /// Where messages that belong to it go.
    pub(crate) fn route(&self) -> Route {
        Route::of(self.rare.as_ref().and_then(|rare| rare.stream))
    }

    /// What it takes to repeat the call, where the peer may ask for input.
    pub(crate) fn retry(&self) -> Option<&Retry> {
        self.rare.as_ref()?.retry.as_ref()
    }

    pub(super) fn retry_mut(&mut self) -> Option<&mut Retry> {
        self.rare.as_mut()?.retry.as_mut()
    }

    /// The input that is being gathered.
    pub(crate) fn input(&self) -> Option<&Input> {
        match &self.state {
            CallState::Gathering(input) => Some(input),
            CallState::InFlight | CallState::Local => None,
        }
    }

    pub(super) fn input_mut(&mut self) -> Option<&mut Input> {
        match &mut self.state {
            CallState::Gathering(input) => Some(input),
            CallState::InFlight | CallState::Local => None,
        }
    }

    /// Takes the place of its result in the cache, if it may be cached.
    pub(crate) fn take_cache_as(&mut self) -> Option<Place> {
        self.rare.as_mut()?.cache_as.take()
    }

    pub(super) fn rare(&mut self) -> &mut RareCall {
        self.rare.get_or_insert_default()
    }

    /// Bytes that are kept for repeating the call.
    pub(super) fn kept(&self) -> usize {
        self.retry().map_or(0, |retry| retry.params.len()) + self.input().map_or(0, Input::kept)
    }
}
