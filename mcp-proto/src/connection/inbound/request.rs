//! One request of the peer, until it is answered.
//!
//! ```text
//!                respond, cancel
//!   Delivered ───────────────────▶ over
//!    │    ▲
//!    │    │ all answers are in: delivered again, as a new request
//!    ▼    │
//!   Asking               (legacy: the client is asked by requests; the application has no say)
//! ```

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::batches::BatchId;
use crate::json::Raw;
use crate::revision::MethodRule;
use crate::rpc::RequestId;
use crate::schema::Level;
use crate::vocabulary::{CallId, Peer, StreamId};

/// Where the answer to a request goes.
#[derive(Clone, Debug)]
pub(crate) enum ReplyTo {
    /// To the peer, as a response.
    Peer { wire: RequestId, to: Destination },
    /// Into the next round of a call of ours that asked for input, as the answer to its question
    /// number `index`.
    Call { call: CallId, index: usize },
}

/// Where a response goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Destination {
    pub(crate) stream: StreamId,
    /// The batch that it becomes part of.
    pub(crate) batch: Option<BatchId>,
}

#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) reply: ReplyTo,
    /// The peer as this request sees it; the answer is written in its revision.
    pub(crate) peer: Arc<Peer>,
    /// The method's row, if a revision has it.
    pub(crate) rule: Option<&'static MethodRule>,
    /// The threshold for log messages of this request, where each request carries its own.
    pub(crate) log_level: Option<Level>,
    /// The params, for delivering the request again; only where that can happen.
    pub(crate) again: Option<Raw>,
    /// Bytes of params that count against the limit.
    pub(crate) bytes: usize,
    pub(crate) rare: Option<Box<RareRequest>>,
}

/// Rarely used fields, boxed to keep `Open` small.
#[derive(Debug)]
pub(crate) struct RareRequest {
    /// The token under which the peer wants progress.
    progress_token: Option<RequestId>,
    /// The last progress sent, which the next must exceed. (PRG-05)
    pub(crate) progress: f64,
    /// Params of the latest progress that could not be sent yet.
    pub(super) deferred: Option<Vec<u8>>,
    /// Set while the client is asked.
    pub(crate) asking: Option<Box<Asking>>,
    /// How often the request was delivered with input.
    pub(crate) rounds: u32,
}

impl Default for RareRequest {
    fn default() -> Self {
        Self {
            progress_token: None,
            progress: f64::NEG_INFINITY,
            deferred: None,
            asking: None,
            rounds: 0,
        }
    }
}

/// Questions that the client was asked.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) keys: Vec<Box<str>>,
    pub(crate) answers: Vec<Option<Raw>>,
    pub(crate) state: Option<Box<str>>,
}

impl Open {
    /// The stream that it came on, unless it is a question in a result.
    pub(crate) fn stream(&self) -> Option<StreamId> {
        match &self.reply {
            ReplyTo::Peer { to, .. } => Some(to.stream),
            ReplyTo::Call { .. } => None,
        }
    }

    /// The peer's id and where the response goes, if the application may respond now.
    pub(crate) fn to_answer(&self) -> Option<(RequestId, Destination)> {
        match &self.reply {
            ReplyTo::Peer { wire, to } if self.asking().is_none() => Some((wire.clone(), *to)),
            ReplyTo::Peer { .. } | ReplyTo::Call { .. } => None,
        }
    }

    /// The token under which the peer wants progress.
    pub(crate) fn progress_token(&self) -> Option<&RequestId> {
        self.rare.as_ref()?.progress_token.as_ref()
    }

    /// Set while the client is asked.
    pub(crate) fn asking(&self) -> Option<&Asking> {
        self.rare.as_ref()?.asking.as_deref()
    }

    pub(crate) fn asking_mut(&mut self) -> Option<&mut Asking> {
        self.rare.as_mut()?.asking.as_deref_mut()
    }

    /// How often the request was delivered with input.
    pub(crate) fn rounds(&self) -> u32 {
        self.rare.as_ref().map_or(0, |rare| rare.rounds)
    }

    pub(crate) fn rare(&mut self) -> &mut RareRequest {
        self.rare.get_or_insert_default()
    }
}

impl RareRequest {
    /// The fields of a request that wants progress, if it does.
    pub(crate) fn new(progress_token: Option<RequestId>) -> Option<Box<Self>> {
        progress_token
            .map(|token| Box::new(Self { progress_token: Some(token), ..Self::default() }))
    }
}
