//! The network between clients and a server: exchanges may overtake each other, and responses may
//! be split, late or cut.

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_proto::Instant;
use mcp_proto::http::client::{ExchangeFailure, HttpRequest};

use super::conn::{Conn, ConnId, Piece, Stage};
use super::plan::Plan;
use crate::case::{Case, Feature};
use crate::coverage::Coverage;

/// A packet in transit.
#[derive(Clone, Debug)]
pub(super) enum Packet {
    /// A request, at the server.
    Request(ConnId),
    /// A piece of a response, at the client.
    Down(ConnId, Piece),
    /// The client's disconnect, at the server.
    Gone(ConnId),
}

impl Packet {
    fn is_down(&self, of: ConnId) -> bool {
        matches!(self, Self::Down(id, _) if *id == of)
    }
}

#[derive(Debug)]
pub(super) struct Net {
    case: Case,
    packets: BTreeMap<(Instant, u64), Packet>,
    pub(super) conns: BTreeMap<ConnId, Conn>,
    next: u64,
    serial: u64,
    /// Whether connections no longer break.
    pub(super) is_calm: bool,
}

impl Net {
    pub(super) fn new(case: &Case) -> Self {
        Self {
            case: case.clone(),
            packets: BTreeMap::new(),
            conns: BTreeMap::new(),
            next: 0,
            serial: 0,
            is_calm: false,
        }
    }

    fn put(&mut self, at: Instant, packet: Packet) {
        self.serial += 1;
        self.packets.insert((at, self.serial), packet);
    }

    /// Returns when the next packet arrives.
    pub(super) fn next_arrival(&self) -> Option<Instant> {
        self.packets.first_key_value().map(|((at, _), _)| *at)
    }

    /// Returns the packets that have arrived.
    pub(super) fn arrive(&mut self, now: Instant) -> Option<Packet> {
        let entry = self.packets.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }

    /// Starts an exchange of a client; its faults are drawn now.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        plan: &Plan,
        coverage: &mut Coverage,
        client: usize,
        send: HttpRequest,
        tag: u64,
    ) -> ConnId {
        self.next += 1;
        let id = ConnId(self.next);
        let mut random = self.case.fork(1_000_000 + self.next);
        let latency = plan.latency(&mut random);
        let (fate, depth, window) = (random.below(24), random.below(3000), 1 + random.below(2000));
        let mut conn = Conn::new(client, send, tag, random);
        if plan.has(Feature::Stalls) {
            conn.window = window;
        }
        let drops = plan.has(Feature::Drops) && !self.is_calm;
        let mut arrives = true;
        match fate {
            0 if drops => {
                coverage.mark("http.net unreached");
                (arrives, conn.is_cut) = (false, true);
                self.put(
                    now + latency,
                    Packet::Down(id, Piece::Failure(ExchangeFailure::Unreached)),
                );
            }
            1 if drops => {
                coverage.mark("http.net request-lost");
                (arrives, conn.is_cut) = (false, true);
                self.put(now + 2 * latency, Packet::Down(id, Piece::Failure(ExchangeFailure::Cut)));
            }
            2 if drops => {
                coverage.mark("http.net response-lost");
                conn.cut_after = Some(0);
            }
            3..6 if drops => conn.cut_after = Some(depth / (1 + depth % 7)),
            _ => {}
        }
        if arrives {
            conn.last_up = now + latency;
            self.put(conn.last_up, Packet::Request(id));
        } else {
            conn.stage = Stage::Done;
        }
        self.conns.insert(id, conn);
        id
    }

    /// Delivers a request to the server again, later.
    pub(super) fn postpone(&mut self, now: Instant, id: ConnId) {
        self.put(now + Duration::from_millis(40), Packet::Request(id));
    }

    /// Sends a part of a response.
    pub(super) fn down(
        &mut self,
        now: Instant,
        plan: &Plan,
        coverage: &mut Coverage,
        id: ConnId,
        piece: Piece,
    ) {
        let Some(conn) = self.conns.get_mut(&id).filter(|conn| !conn.is_cut && !conn.is_left)
        else {
            return;
        };
        let room =
            conn.cut_after.filter(|_| !self.is_calm).map(|bytes| bytes.saturating_sub(conn.sent));
        let is_cut = match &piece {
            Piece::Head(..) => conn.cut_after == Some(0) && !self.is_calm,
            Piece::Body(bytes) => room.is_some_and(|room| room < bytes.len()),
            Piece::End | Piece::Failure(_) => false,
        };
        let pieces = match piece {
            Piece::Head(..) if is_cut => Vec::new(),
            Piece::Body(mut bytes) => {
                bytes.truncate(room.unwrap_or(usize::MAX));
                conn.sent += bytes.len();
                split(bytes, plan.has(Feature::Splits), &mut conn.random)
            }
            other => vec![other],
        };
        let mut at = conn.last_down.max(now + plan.latency(&mut conn.random));
        let mut timed = Vec::new();
        for piece in pieces {
            if let Piece::Body(bytes) = &piece {
                conn.in_flight += bytes.len();
            }
            timed.push((at, piece));
            at += Duration::from_micros(conn.random.next() % 3000);
        }
        conn.last_down = timed.last().map_or(at, |(at, _)| *at);
        for (at, piece) in timed {
            self.put(at, Packet::Down(id, piece));
        }
        if is_cut {
            coverage.mark("http.net cut-in-response");
            self.break_off(now, plan, coverage, id);
        }
    }

    /// Breaks a connection: data in transit is lost.
    pub(super) fn cut(&mut self, now: Instant, plan: &Plan, coverage: &mut Coverage, id: ConnId) {
        if self.conns.get(&id).is_some_and(|conn| !conn.is_cut && !conn.is_left) {
            self.packets.retain(|_, packet| !packet.is_down(id));
            coverage.mark("http.net cut");
            self.break_off(now, plan, coverage, id);
        }
    }

    fn break_off(&mut self, now: Instant, plan: &Plan, coverage: &mut Coverage, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.is_cut = true;
        let at = conn.last_down.max(now + plan.latency(&mut conn.random));
        self.put(at, Packet::Down(id, Piece::Failure(ExchangeFailure::Cut)));
        self.gone(now, plan, coverage, id);
    }

    /// Closes an exchange from the client's side.
    pub(super) fn leave(&mut self, now: Instant, plan: &Plan, coverage: &mut Coverage, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id).filter(|conn| !conn.is_left) else { return };
        conn.is_left = true;
        conn.inbox.clear();
        self.packets.retain(|_, packet| !packet.is_down(id));
        if !self.conns.get(&id).is_some_and(|conn| conn.is_cut) {
            self.gone(now, plan, coverage, id);
        }
    }

    /// Schedules the moment the server notices the disconnect.
    fn gone(&mut self, now: Instant, plan: &Plan, coverage: &mut Coverage, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id).filter(|conn| conn.stage != Stage::Done) else {
            return;
        };
        let mut at = conn.last_up.max(now + plan.latency(&mut conn.random));
        let late = conn.random.next() % 50_000;
        if plan.has(Feature::LateGone) && !late.is_multiple_of(3) {
            coverage.mark("http.net gone-late");
            at += Duration::from_millis(late);
        }
        self.put(at, Packet::Gone(id));
    }

    /// Removes exchanges that both sides are done with.
    pub(super) fn sweep(&mut self) {
        self.conns.retain(|_, conn| !conn.is_over());
    }
}

fn split(mut bytes: Vec<u8>, is_split: bool, random: &mut mcp_harness::Seed) -> Vec<Piece> {
    let mut pieces = Vec::new();
    while is_split && bytes.len() > 1 && pieces.len() < 40 {
        let most = if random.below(4) == 0 { 4 } else { 200 };
        let rest = bytes.split_off((1 + random.below(most)).min(bytes.len()));
        pieces.push(Piece::Body(std::mem::replace(&mut bytes, rest)));
    }
    if !bytes.is_empty() {
        pieces.push(Piece::Body(bytes));
    }
    pieces
}
