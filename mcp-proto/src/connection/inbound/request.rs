//! The state of one inbound request.
//!
//! ```text
//!                respond, cancel
//!   Delivered ───────────────────▶ over
//!    │    ▲
//!    │    │ all answers received: delivered again, under a new `IncomingId`
//!    ▼    │
//!   Asking               (legacy: the questions are requests to the client)
//! ```

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::batches::BatchId;
use crate::json::Raw;
use crate::method::Method;
use crate::revision::MethodRule;
use crate::rpc::RequestId;
use crate::schema::Level;
use crate::vocabulary::{CallId, Caller, Peer, Principal, StreamId};

/// The recipient of the application's response.
#[derive(Clone, Debug)]
pub(crate) enum ReplyTo {
    /// The peer, as a response.
    Peer { wire: RequestId, to: Destination },
    /// Our own call, as the answer to question `index` of the server.
    Call { call: CallId, index: usize },
}

/// The destination of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Destination {
    pub(crate) stream: StreamId,
    /// The batch that the response is part of.
    pub(crate) batch: Option<BatchId>,
}

/// An open request of the peer, or a question of the server about one of our calls.
#[derive(Debug)]
pub(crate) struct InboundRequest {
    pub(crate) reply: ReplyTo,
    /// The sender; the response is encoded in its revision.
    pub(crate) peer: Arc<Peer>,
    /// The rule of the method, if the revision defines it.
    pub(crate) rule: Option<&'static MethodRule>,
    /// The log level threshold of a modern request.
    pub(crate) log_level: Option<Level>,
    /// The sender, as far as the driver knows it.
    pub(crate) caller: Option<Arc<Caller>>,
    /// The params, if the request may be delivered again.
    pub(crate) again: Option<Raw>,
    /// Bytes that count towards `Limits::requests_bytes_max`.
    pub(crate) bytes: usize,
    pub(crate) rare: Option<Box<RareRequest>>,
}

/// Rarely used fields, boxed to keep `InboundRequest` small.
#[derive(Debug)]
pub(crate) struct RareRequest {
    /// The progress token, if the peer requested progress.
    progress_token: Option<RequestId>,
    // PRG-05: the latest progress that was sent or deferred, which the next to be sent must exceed.
    pub(crate) progress: f64,
    /// The latest progress since the request was delivered, which the application must exceed.
    pub(crate) round_progress: f64,
    /// Params of the deferred progress notification.
    pub(super) deferred: Option<Vec<u8>>,
    /// The questions that the client has not answered yet.
    pub(crate) asking: Option<Box<Asking>>,
    /// The method, if it is one of an extension.
    pub(super) extension_method: Option<Method>,
    /// How often the request was delivered again with answers.
    pub(crate) rounds: u32,
}

impl Default for RareRequest {
    fn default() -> Self {
        Self {
            progress_token: None,
            progress: f64::NEG_INFINITY,
            round_progress: f64::NEG_INFINITY,
            deferred: None,
            asking: None,
            extension_method: None,
            rounds: 0,
        }
    }
}

/// The questions sent to the client, and its answers.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) keys: Vec<Box<str>>,
    pub(crate) answers: Vec<Option<Raw>>,
    pub(crate) state: Option<Box<str>>,
}

impl InboundRequest {
    /// Returns the sender, if it is authenticated.
    pub(crate) fn principal(&self) -> Option<&Principal> {
        self.caller.as_ref()?.principal()
    }

    /// Returns the stream of the request; `None` for a question of the server.
    pub(crate) fn stream(&self) -> Option<StreamId> {
        match &self.reply {
            ReplyTo::Peer { to, .. } => Some(to.stream),
            ReplyTo::Call { .. } => None,
        }
    }

    /// Returns the wire id and destination of the response, if the application may respond now.
    pub(crate) fn to_answer(&self) -> Option<(RequestId, Destination)> {
        match &self.reply {
            ReplyTo::Peer { wire, to } if self.asking().is_none() => Some((wire.clone(), *to)),
            ReplyTo::Peer { .. } | ReplyTo::Call { .. } => None,
        }
    }

    /// Returns the progress token, if the peer requested progress.
    pub(crate) fn progress_token(&self) -> Option<&RequestId> {
        self.rare.as_ref()?.progress_token.as_ref()
    }

    /// Returns the method that the protocol or an extension defines; `None` for another method that
    /// the application serves.
    pub(crate) fn defined_method(&self) -> Option<&str> {
        let extended = || self.rare.as_ref()?.extension_method.as_deref();
        self.rule.map(|rule| rule.name).or_else(extended)
    }

    /// Returns the questions that the client has not answered yet.
    pub(crate) fn asking(&self) -> Option<&Asking> {
        self.rare.as_ref()?.asking.as_deref()
    }

    pub(crate) fn asking_mut(&mut self) -> Option<&mut Asking> {
        self.rare.as_mut()?.asking.as_deref_mut()
    }

    /// Returns how often the request was delivered again with answers.
    pub(crate) fn rounds(&self) -> u32 {
        self.rare.as_ref().map_or(0, |rare| rare.rounds)
    }

    pub(crate) fn rare(&mut self) -> &mut RareRequest {
        self.rare.get_or_insert_default()
    }
}

impl RareRequest {
    /// Returns the fields of a request with a progress token; `None` without one.
    pub(crate) fn new(progress_token: Option<RequestId>) -> Option<Box<Self>> {
        progress_token
            .map(|token| Box::new(Self { progress_token: Some(token), ..Self::default() }))
    }
}
