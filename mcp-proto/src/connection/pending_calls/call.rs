//! The state of one call.
//!
//! ```text
//!               response
//!   InFlight ──────────────▶ over        a timeout or cancellation ends every state
//!    │    ▲
//!    │    │ input complete, or pause over: sent again under a new id
//!    ▼    │
//!   Gathering          (modern: the response requires input)
//!
//!   Local ────────────────▶ over        (has no request: a subscription in a legacy session)
//! ```

use alloc::boxed::Box;
use core::time::Duration;

use super::super::input_required::round::{Input, Recovery, Retry};
use crate::cache::CacheSlot;
use crate::method::Method;
use crate::time::Instant;
use crate::vocabulary::{CallId, IncomingId, Route, StreamId};

/// The part that receives the outcome of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Owner {
    /// The application.
    Application,
    /// The lifecycle: `initialize`.
    Handshake,
    /// Keep-alive: a ping.
    KeepAlive,
    /// The application and the subscriptions: a subscription to changes.
    Listen,
    /// The lifecycle: the `server/discover` probe.
    Probe,
    /// Inbound requests: question `.1` of incoming request `.0`.
    Question(IncomingId, u32),
    /// The subscriptions: `resources/subscribe`.
    Subscribe,
    /// The transport: `tools/list`.
    ToolList,
    /// The subscriptions: `resources/unsubscribe`.
    Unsubscribe,
}

impl Owner {
    /// Returns whether the application made the call, and may cancel it.
    pub(crate) const fn is_application(self) -> bool {
        matches!(self, Self::Application | Self::Listen)
    }
}

/// The state of a call; see the module diagram.
#[derive(Debug)]
pub(crate) enum CallState {
    /// The request was sent and awaits a response.
    InFlight,
    /// The server requires input, which is being gathered, or the retry is paused.
    Gathering(Box<Input>),
    /// No request represents the call.
    Local,
}

#[derive(Debug)]
pub(crate) struct Call {
    /// The application's handle: the wire id of the first round.
    pub(crate) id: CallId,
    pub(crate) owner: Owner,
    pub(crate) state: CallState,
    /// The timeout, restarted by progress.
    pub(super) timeout: Duration,
    /// Whether the timeout is never suspended.
    pub(super) is_strict: bool,
    /// The latest possible deadline.
    pub(super) deadline_max: Instant,
    pub(super) deadline: Option<Instant>,
    pub(crate) wants_progress: bool,
    /// Whether the request only reads.
    pub(crate) is_read: bool,
    // T-92: whether the request asked for log messages.
    pub(crate) wants_logs: bool,
    // PRG-05: the latest progress, which the next must exceed.
    pub(crate) progress: f64,
    pub(super) rare: Option<Box<RareCall>>,
}

/// Rarely used fields, boxed to keep `Call` small.
#[derive(Debug, Default)]
pub(crate) struct RareCall {
    pub(super) parked: Option<ParkedTimeout>,
    pub(super) stream: Option<StreamId>,
    pub(super) retry: Option<Retry>,
    /// The method, if an extension adds result types to it.
    pub(super) extended: Option<Method>,
    pub(super) cache_as: Option<CacheSlot>,
    /// Whether the request asks for a task (2025-11-25), and is thus not cancelled by notification.
    pub(super) asks_for_task: bool,
    /// Whether a result that requires input ends the call.
    pub(super) takes_input_required: bool,
}

/// The timeout of a parked call, which does not run.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParkedTimeout {
    /// When the call was parked.
    pub(super) since: Instant,
    /// Whether the call has a timeout otherwise.
    pub(super) had_deadline: bool,
}

impl Call {
    /// Returns whether the timeout does not run, because the request waits for credentials.
    pub(crate) fn is_parked(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.parked.is_some())
    }

    /// Returns whether the call awaits a response.
    pub(crate) fn is_in_flight(&self) -> bool {
        matches!(self.state, CallState::InFlight)
    }

    /// Returns the route of the messages that belong to the call.
    pub(crate) fn route(&self) -> Route {
        Route::of(self.rare.as_ref().and_then(|rare| rare.stream))
    }

    /// Returns the data for retrying the call, if the server may require input.
    pub(crate) fn retry(&self) -> Option<&Retry> {
        self.rare.as_ref()?.retry.as_ref()
    }

    /// Returns whether the request is sent again once the connection is open.
    pub(super) fn waits_for_session(&self) -> bool {
        self.retry().is_some_and(|retry| retry.recovery == Recovery::Waiting)
    }

    /// Returns whether the request was sent again because its response was lost.
    pub(super) fn is_recovered(&self) -> bool {
        self.retry().is_some_and(|retry| retry.recovery == Recovery::Used)
    }

    /// Returns the method, if an extension adds result types to it.
    pub(super) fn extended_method(&self) -> Option<&Method> {
        self.rare.as_ref()?.extended.as_ref()
    }

    /// Returns whether the request asks for a task. (2025-11-25)
    pub(super) fn asks_for_task(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.asks_for_task)
    }

    /// Returns the latest possible deadline, within a round that does not restart the timeout.
    pub(super) fn latest(&self) -> Instant {
        let until = self.retry().and_then(|retry| retry.until);
        until.map_or(self.deadline_max, |until| until.min(self.deadline_max))
    }

    pub(super) fn retry_mut(&mut self) -> Option<&mut Retry> {
        self.rare.as_mut()?.retry.as_mut()
    }

    /// Returns the input being gathered.
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

    /// Takes the cache entry reserved for the result.
    pub(crate) fn take_cache_as(&mut self) -> Option<CacheSlot> {
        self.rare.as_mut()?.cache_as.take()
    }

    pub(super) fn rare(&mut self) -> &mut RareCall {
        self.rare.get_or_insert_default()
    }

    /// Returns the bytes retained for retrying the call.
    pub(super) fn retained_bytes(&self) -> usize {
        self.retry().map_or(0, |retry| retry.params.len())
            + self.input().map_or(0, Input::retained_bytes)
    }
}
