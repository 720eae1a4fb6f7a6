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

use super::super::input_required::round::{Input, Retry};
use crate::cache::CacheSlot;
use crate::time::Instant;
use crate::vocabulary::{CallId, IncomingId, Route, StreamId};

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
    pub(super) cache_as: Option<CacheSlot>,
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
    pub(crate) fn take_cache_as(&mut self) -> Option<CacheSlot> {
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
