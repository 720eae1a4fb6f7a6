//! One exchange in the network, from the client's request to the end of its response.

use std::collections::VecDeque;

use mcp_harness::Seed;
use mcp_proto::Instant;
use mcp_proto::http::client::{ExchangeFailure, HttpRequest};
use mcp_proto::http::sse;

use super::host_session::Source;

/// An exchange, unique in its world.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct ConnId(pub(super) u64);

/// A part of the response that reaches a client.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Head(u16, Vec<(String, String)>),
    Body(Vec<u8>),
    End,
    Failure(ExchangeFailure),
}

/// The server's progress with the exchange.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    /// The request is in transit.
    Coming,
    /// The client waits for the response head.
    Waiting,
    /// The response is an event stream.
    Streaming,
    /// The server is done with the exchange, or never saw it.
    Done,
}

#[derive(Debug)]
pub(super) struct Conn {
    /// The client's index.
    pub(super) client: usize,
    pub(super) send: HttpRequest,
    /// The tag of the request; zero for none.
    pub(super) tag: u64,
    /// Whether the request names a session.
    pub(super) session: Option<String>,
    pub(super) stage: Stage,
    /// The session or host that responds.
    pub(super) host: Option<(u64, Source)>,
    /// Whether the client stopped reading, or saw the end.
    pub(super) is_left: bool,
    /// Whether the path to the client is broken.
    pub(super) is_cut: bool,
    /// Data that arrived and was not read yet.
    pub(super) inbox: VecDeque<Piece>,
    /// Bytes in transit to the client, and their maximum.
    pub(super) in_flight: usize,
    pub(super) window: usize,
    /// The server cannot write before this time.
    pub(super) stalled_until: Instant,
    /// The body is cut after this many bytes; `None` cuts before the head.
    pub(super) cut_after: Option<usize>,
    pub(super) sent: usize,
    /// The arrival time of the last data: later data arrives later.
    pub(super) last_down: Instant,
    pub(super) last_up: Instant,
    /// The server waits for room until this time.
    pub(super) patience: Option<Instant>,
    pub(super) random: Seed,
    /// Whether this is the stream of HTTP+SSE, whose session ends with it.
    pub(super) is_sse_stream: bool,
    /// The client's reader of an event stream.
    pub(super) reader: Option<Box<sse::EventReader>>,
}

impl Conn {
    pub(super) fn new(client: usize, send: HttpRequest, tag: u64, random: Seed) -> Self {
        let target = send.target.as_ref().map(|target| target.expose());
        let session = target.or_else(|| send.header("mcp-session-id")).map(str::to_owned);
        Self {
            client,
            send,
            tag,
            session,
            stage: Stage::Coming,
            host: None,
            is_left: false,
            is_cut: false,
            inbox: VecDeque::new(),
            in_flight: 0,
            window: 1 << 20,
            stalled_until: Instant::ZERO,
            cut_after: None,
            sent: 0,
            last_down: Instant::ZERO,
            last_up: Instant::ZERO,
            patience: None,
            random,
            is_sse_stream: false,
            reader: None,
        }
    }

    /// Returns the headers that reach the server.
    pub(super) fn fields(&self) -> Vec<(&str, &str)> {
        let fields = self.send.headers.iter().map(|(name, value)| (&**name, &**value));
        fields.chain([("Host", "localhost")]).collect()
    }

    /// Returns whether both sides are done with the exchange.
    pub(super) fn is_over(&self) -> bool {
        self.is_left && self.stage == Stage::Done
    }

    /// Passes bytes of an event stream to the client; returns whether it has become resumable.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> bool {
        let Some(reader) = &mut self.reader else { return false };
        while reader.next(&mut bytes).is_some() {}
        reader.last_id().is_some()
    }
}
