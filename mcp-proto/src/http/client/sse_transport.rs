//! The state of the transport HTTP+SSE, to which a client falls back.
//!
//! ```text
//!          400, 404 or 405 to `initialize`            event `endpoint`
//!   Unused ───────────────────────────────► Opening ───────────────────► Open
//!      ▲                                     │   ▲                         │
//!      └── fails before the first session ───┘   └─ stream ends, or 404 ───┘
//! ```

use alloc::boxed::Box;

use super::event_stream::StreamEnd;
use super::outbound_post::OutboundPost;
use crate::secret::Secret;
use crate::vocabulary::CallError;

/// The transport HTTP+SSE of a client.
#[derive(Debug, Default)]
pub(super) struct SseTransport {
    pub(super) state: SseState,
    /// The number of streams in a row that brought no message.
    pub(super) attempts: u32,
    /// A call was sent since the session began or the server last answered a call.
    pub(super) is_asked: bool,
}

#[derive(Debug, Default)]
pub(super) enum SseState {
    /// Messages use Streamable HTTP.
    #[default]
    Unused,
    /// A stream is requested, or has not brought the event `endpoint`.
    Opening(Box<SseOpening>),
    /// Messages are sent to the message endpoint.
    Open {
        /// The path and query of the message endpoint; they contain the session id.
        target: Secret,
        /// The wire id of the request that opened the session.
        initialize: u64,
    },
}

/// A stream that is being opened.
#[derive(Debug)]
pub(super) struct SseOpening {
    /// The request that opens the session, to be sent once the message endpoint is known.
    pub(super) initialize: OutboundPost,
    /// The wire id of that request.
    pub(super) wire: u64,
    /// The error of that request over Streamable HTTP; `None` when reconnecting.
    pub(super) refused: Option<CallError>,
}

impl SseTransport {
    pub(super) fn is_used(&self) -> bool {
        !matches!(self.state, SseState::Unused)
    }

    /// Returns whether no message may be sent because the message endpoint is unknown.
    pub(super) fn is_opening(&self) -> bool {
        matches!(self.state, SseState::Opening(_))
    }

    /// Returns the path and query to send messages to, unless Streamable HTTP is in use.
    pub(super) fn target(&self) -> Option<&Secret> {
        match &self.state {
            SseState::Open { target, .. } => Some(target),
            SseState::Unused | SseState::Opening(_) => None,
        }
    }

    /// Returns the wire id of the request that waits for the stream.
    pub(super) fn waiting(&self) -> Option<u64> {
        match &self.state {
            SseState::Opening(opening) => Some(opening.wire),
            SseState::Unused | SseState::Open { .. } => None,
        }
    }

    /// Handles a message on the stream.
    pub(super) fn on_message(&mut self) {
        self.attempts = 0;
    }

    /// Handles the end of a stream, and returns it with the number of attempts.
    pub(super) fn on_end(&mut self, end: StreamEnd) -> StreamEnd {
        let attempts = self.attempts;
        self.attempts = attempts.saturating_add(1);
        StreamEnd { attempts, ..end }
    }
}
