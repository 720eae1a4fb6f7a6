//! A client and a server in one process, with bytes in virtual time between them.

use std::time::Duration;

use mcp_harness::Seed;
use mcp_proto::client::Client;
use mcp_proto::server::Server;
use mcp_proto::stdio::Stdio;
use mcp_proto::{Endpoint, Instant, client, server};

use super::application::{ClientApplication, ServerApplication};

/// The most moves of a script.
const MOVES_MAX: usize = 1_000_000;

/// How bytes are split, and in which order the parties act.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Course {
    /// Whole outboxes, in a fixed order.
    Plain,
    /// At random.
    Random(Seed),
}

/// Two machines, the bytes between them, and their applications.
pub(crate) struct Wire {
    pub(crate) client: Stdio<Client>,
    pub(crate) server: Stdio<Server>,
    pub(crate) at_client: ClientApplication,
    pub(crate) at_server: ServerApplication,
    pub(crate) now: Instant,
    /// While set, nothing from the client arrives.
    pub(crate) is_stalled: bool,
    to_client: Vec<u8>,
    to_server: Vec<u8>,
    has_ended: [bool; 2],
    course: Course,
}

impl Wire {
    pub(crate) fn new(client: client::Config, server: server::Config, course: Course) -> Self {
        let now = Instant::ZERO;
        Self {
            client: Stdio::new(Client::new(now, client)),
            server: Stdio::new(Server::new(now, server)),
            at_client: ClientApplication::default(),
            at_server: ServerApplication::default(),
            now,
            is_stalled: false,
            to_client: Vec::new(),
            to_server: Vec::new(),
            has_ended: [false; 2],
            course,
        }
    }

    /// Continues until nothing is in transit, without passing time.
    pub(crate) fn settle(&mut self) {
        for _ in 0..MOVES_MAX {
            if !self.turn() {
                return;
            }
        }
        panic!("an endless loop: the two never come to rest");
    }

    /// Advances to the next thing that is due, at most to `until`; returns false once that is
    /// reached.
    pub(crate) fn pass_time(&mut self, until: Instant) -> bool {
        let due =
            [self.client.poll_timeout(), self.server.poll_timeout(), self.at_server.next_due()];
        let Some(at) = due.into_iter().flatten().min().filter(|at| *at <= until) else {
            self.now = self.now.max(until);
            return false;
        };
        self.now = self.now.max(at);
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        self.at_server.wake(self.now, &mut self.server);
        self.settle();
        true
    }

    /// Settles, and lets `time` pass with everything that happens in it.
    pub(crate) fn wait(&mut self, time: Duration) {
        self.settle();
        let until = self.now + time;
        while self.pass_time(until) {}
    }

    fn turn(&mut self) -> bool {
        let start = match &mut self.course {
            Course::Plain => 0,
            Course::Random(seed) => seed.below(6),
        };
        (0..6).any(|step| self.act((start + step) % 6))
    }

    fn act(&mut self, which: usize) -> bool {
        match which {
            0 => take(&mut self.client, &mut self.to_server, &mut self.course),
            1 => take(&mut self.server, &mut self.to_client, &mut self.course),
            2 if self.is_stalled => false,
            2 => {
                let is_over = self.client.is_closed() && self.client.outbox().is_empty();
                let to = &mut self.server;
                give(
                    self.now,
                    &mut self.to_server,
                    to,
                    is_over,
                    &mut self.has_ended[0],
                    &mut self.course,
                )
            }
            3 => {
                let is_over = self.server.is_closed() && self.server.outbox().is_empty();
                let to = &mut self.client;
                give(
                    self.now,
                    &mut self.to_client,
                    to,
                    is_over,
                    &mut self.has_ended[1],
                    &mut self.course,
                )
            }
            4 => match self.client.poll_event() {
                Some(event) => {
                    self.at_client.hear(self.now, &mut self.client, event);
                    true
                }
                None => false,
            },
            _ => match self.server.poll_event() {
                Some(event) => {
                    self.at_server.hear(self.now, &mut self.server, event);
                    true
                }
                None => false,
            },
        }
    }
}

fn some_of(len: usize, course: &mut Course) -> usize {
    match course {
        Course::Plain => len,
        Course::Random(seed) => len.min(1 + seed.below(48)),
    }
}

fn take<E: Endpoint>(from: &mut E, pipe: &mut Vec<u8>, course: &mut Course) -> bool {
    let outbox = from.outbox();
    let count = some_of(outbox.chunk().len(), course);
    pipe.extend_from_slice(&outbox.chunk()[..count]);
    outbox.advance(count);
    count > 0
}

fn give<E: Endpoint>(
    now: Instant,
    pipe: &mut Vec<u8>,
    to: &mut E,
    is_over: bool,
    has_ended: &mut bool,
    course: &mut Course,
) -> bool {
    if !pipe.is_empty() && !to.is_closed() {
        let rest = pipe.split_off(some_of(pipe.len(), course));
        to.handle_input(now, pipe);
        *pipe = rest;
        return true;
    }
    if is_over && !*has_ended {
        *has_ended = true;
        to.handle_eof(now);
        return true;
    }
    false
}
