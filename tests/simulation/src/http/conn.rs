//! One exchange as the network has it, from the client's request to the end of its response; knows
//! bytes and times, and nothing of what they say.

use std::collections::VecDeque;

use mcp_harness::Seed;
use mcp_proto::Instant;
use mcp_proto::http::client::{Failure, Send};
use mcp_proto::http::{self, sse};

/// An exchange, of all that there ever are in a world.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct ConnId(pub(super) u64);

/// A piece of what a client is told of an exchange.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Head(u16, Vec<(String, String)>),
    Body(Vec<u8>),
    End,
    Failure(Failure),
}

/// Where the server is with it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    /// The request is under way.
    Coming,
    /// It waits for the head of its response.
    Waiting,
    /// Its response is an event stream.
    Streaming,
    /// The server is done with it, or never heard of it.
    Done,
}

#[derive(Debug)]
pub(super) struct Conn {
    /// Which client's.
    pub(super) client: usize,
    pub(super) send: Send,
    /// The tag of the request in its body; zero for none.
    pub(super) tag: u64,
    /// Its request names a session.
    pub(super) session: Option<String>,
    pub(super) stage: Stage,
    /// Who at the server answers.
    pub(super) host: Option<(u64, http::ExchangeId)>,
    /// The client takes no more, or was told the end.
    pub(super) is_left: bool,
    /// Nothing more gets through to the client.
    pub(super) is_cut: bool,
    /// What came and the client did not take yet.
    pub(super) inbox: VecDeque<Piece>,
    /// Bytes on their way to the client, and how many there may be.
    pub(super) in_flight: usize,
    pub(super) window: usize,
    /// The server cannot write before this.
    pub(super) stalled_until: Instant,
    /// It is cut after so many bytes of the body; with none it is before the head.
    pub(super) cut_after: Option<usize>,
    pub(super) sent: usize,
    /// Nothing arrives before what was sent before it.
    pub(super) last_down: Instant,
    pub(super) last_up: Instant,
    /// The server waits for room, until then.
    pub(super) patience: Option<Instant>,
    pub(super) random: Seed,
    /// What the client read of an event stream.
    pub(super) reader: Option<Box<sse::Reader>>,
}

impl Conn {
    pub(super) fn new(client: usize, send: Send, tag: u64, random: Seed) -> Self {
        let session = send.field("mcp-session-id").map(str::to_owned);
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
            reader: None,
        }
    }

    /// Whether both sides are done with it.
    pub(super) fn is_over(&self) -> bool {
        self.is_left && self.stage == Stage::Done
    }

    /// The client reads bytes of an event stream; whether it can be resumed from now on.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> bool {
        let Some(reader) = &mut self.reader else { return false };
        while reader.next(&mut bytes).is_some() {}
        reader.last_id().is_some()
    }
}
