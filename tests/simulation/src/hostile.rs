//! A peer that is not a machine: it sends almost valid lines at almost valid times.

use std::collections::VecDeque;

use bytes::Bytes;
use mcp_harness::{Pipe, Seed};
use mcp_proto::{Instant, Side};
use serde_json::Value;

use crate::party::{Party, Shared};
use crate::phrases;
use crate::plan::Action;
use crate::wire::Lines;

/// The maximum weight of each kind of line; the first kinds are valid.
const KINDS: [usize; 14] = [20, 14, 8, 8, 6, 6, 4, 4, 4, 2, 2, 4, 4, 3];

/// An untrustworthy peer.
#[derive(Debug)]
pub(crate) struct Hostile {
    side: Side,
    weights: Vec<usize>,
    /// How often it performs a valid handshake, out of four.
    manners: usize,
    out: Bytes,
    lines: Lines,
    /// The machine's requests it knows: their ids and contents.
    asked: VecDeque<(Value, Value)>,
    /// Ids of the machine's requests and of the peer's.
    ids: Vec<String>,
    said: Vec<Vec<u8>>,
    next: u64,
    random: Seed,
    heard_end: bool,
    is_over: bool,
}

impl Hostile {
    /// Creates a peer that plays `side`.
    #[must_use]
    pub(crate) fn new(side: Side, mut random: Seed) -> Self {
        let weights = KINDS.map(|most| random.below(most + 1)).to_vec();
        let mut hostile = Self {
            side,
            weights,
            manners: random.below(5),
            out: Bytes::new(),
            lines: Lines::default(),
            asked: VecDeque::new(),
            ids: Vec::new(),
            said: Vec::new(),
            next: 1,
            random,
            heard_end: false,
            is_over: false,
        };
        if side == Side::Client && hostile.random.below(4) < hostile.manners {
            let line = phrases::initialize(&mut hostile.random);
            hostile.say(line.into_bytes());
            hostile.say(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_vec());
        }
        hostile
    }

    fn say(&mut self, mut line: Vec<u8>) {
        if self.said.len() < 64 {
            self.said.push(line.clone());
        }
        line.push(b'\n');
        self.out = [&self.out[..], &line].concat().into();
    }

    /// Draws an id: one of this peer's, one of the machine's, or an unknown one.
    fn id(&mut self) -> String {
        match self.random.below(8) {
            0..5 if !self.ids.is_empty() => self.ids[self.random.below(self.ids.len())].clone(),
            5 => phrases::odd_id(&mut self.random),
            _ => self.random.below(20).to_string(),
        }
    }

    fn new_id(&mut self) -> String {
        self.next += 1;
        let id = match self.random.below(6) {
            0 => self.id(),
            1 => format!("\"{}\"", self.next),
            _ => self.next.to_string(),
        };
        self.ids.push(id.clone());
        id
    }

    fn answer(&mut self, is_good: bool) -> Option<Vec<u8>> {
        let (id, request) = self.asked.pop_front()?;
        let line = if is_good {
            phrases::answer(&id, &request, &mut self.random)
        } else {
            phrases::bad_answer(&id, &mut self.random)
        };
        if self.random.below(6) == 0 {
            self.asked.push_back((id, request));
        }
        Some(line.into_bytes())
    }

    fn line(&mut self) -> Vec<u8> {
        let mut choice = self.random.below(self.weights.iter().sum::<usize>().max(1));
        let kind = self.weights.iter().position(|weight| {
            let is_it = choice < *weight;
            choice = choice.saturating_sub(*weight);
            is_it
        });
        let (id, side) = (self.id(), self.side);
        match kind.unwrap_or(1) {
            0 => self.answer(true).unwrap_or_else(|| b"".to_vec()),
            1 => {
                let id = self.new_id();
                phrases::request(side, &id, &mut self.random).into_bytes()
            }
            2 => phrases::notification(side, &id, &mut self.random).into_bytes(),
            3 => phrases::cancel(&id, &mut self.random).into_bytes(),
            4 => {
                // Mostly of open calls; otherwise hardly any call would see progress twice.
                let (index, is_any) =
                    (self.random.below(self.asked.len()), self.random.below(3) == 0);
                let open = self.asked.get(index).filter(|_| !is_any);
                let token = open.map_or(id, |(id, _)| id.to_string());
                phrases::progress(&token, &mut self.random).into_bytes()
            }
            5 => self.answer(false).unwrap_or_else(|| b" \t".to_vec()),
            6 => self.mutated(),
            7 => self.said.get(self.random.below(self.said.len())).cloned().unwrap_or_default(),
            8 => self.batch(),
            9 => phrases::huge(&id, &mut self.random),
            10 => phrases::deep(&id, &mut self.random),
            11 => {
                phrases::bad_answer(&id.parse().unwrap_or_default(), &mut self.random).into_bytes()
            }
            12 => phrases::request(side.other(), &id, &mut self.random).into_bytes(),
            _ => phrases::garbage(&mut self.random),
        }
    }

    fn mutated(&mut self) -> Vec<u8> {
        let mut line = match self.said.get(self.random.below(self.said.len())) {
            Some(line) => line.clone(),
            None => return phrases::garbage(&mut self.random),
        };
        for _ in 0..=self.random.below(3) {
            let at = self.random.below(line.len());
            match self.random.below(4) {
                0 if !line.is_empty() => _ = line.remove(at),
                1 if !line.is_empty() => line[at] ^= 1 << self.random.below(8),
                2 => line.truncate(at),
                _ => line.insert(at, b"{}[],:\"0\\\0\r\xFF"[self.random.below(12)]),
            }
        }
        line
    }

    fn batch(&mut self) -> Vec<u8> {
        let mut line = b"[".to_vec();
        for index in 0..self.random.below(5) {
            if index > 0 {
                line.push(b',');
            }
            let member = match self.random.below(4) {
                0 => self.answer(true),
                1 => Some(phrases::notification(self.side, "1", &mut self.random).into_bytes()),
                _ => None,
            };
            let member = member.unwrap_or_else(|| {
                let id = self.new_id();
                phrases::request(self.side, &id, &mut self.random).into_bytes()
            });
            line.extend_from_slice(&member);
        }
        line.push(b']');
        line
    }

    fn heard(&mut self, line: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        if message["method"].is_string() && message.get("id").is_some() {
            let id = message["id"].clone();
            self.ids.push(id.to_string());
            if matches!(message["method"].as_str(), Some("initialize" | "server/discover"))
                && self.random.below(4) < self.manners
            {
                let line = phrases::answer(&id, &message, &mut self.random);
                self.say(line.into_bytes());
                return;
            }
            self.asked.push_back((id, message));
        }
    }
}

impl Party for Hostile {
    fn send(&mut self, shared: &mut Shared, link: &mut Pipe) -> bool {
        link.send(shared.now, &mut self.out, |_| {})
    }

    fn wants_input(&self) -> bool {
        !self.heard_end
    }

    fn hear(&mut self, _: &mut Shared, piece: &[u8]) {
        for line in self.lines.take(piece) {
            self.heard(&line);
        }
    }

    fn hear_end(&mut self, _: &mut Shared) {
        self.heard_end = true;
        self.is_over = true;
    }

    fn next_wake(&self, _: &Shared) -> Option<Instant> {
        None
    }

    fn wake(&mut self, _: &mut Shared) -> bool {
        false
    }

    fn look(&mut self, _: &mut Shared) -> bool {
        false
    }

    fn act(&mut self, _: &mut Shared, action: Action, random: &mut Seed) -> bool {
        match action {
            Action::Close => self.is_over = true,
            Action::Say | Action::Call | Action::Answer if self.out.len() < 1 << 20 => {
                for _ in 0..=random.below(4) {
                    self.random = Seed(random.next());
                    let line = self.line();
                    self.say(line);
                }
            }
            _ => return false,
        }
        true
    }

    fn catch_up(&mut self, _: &mut Shared) -> bool {
        false
    }

    fn is_open(&self) -> bool {
        false
    }

    fn check_rest(&mut self, _: &mut Shared) {}

    fn stop_listening(&mut self, _: &mut Shared) -> bool {
        false
    }

    fn check_room_again(&mut self, _: &mut Shared, _: bool) {}

    fn check_end(&mut self, _: &mut Shared) {}

    fn is_done(&mut self) -> bool {
        self.is_over && self.out.is_empty()
    }

    fn timeline(&self) -> String {
        String::new()
    }
}
