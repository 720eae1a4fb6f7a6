//! The two ends of a test pair: moves their messages and advances their clocks.

#![allow(clippy::panic, reason = "a test kit reports failures by panicking")]

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use mcp_proto::client::Client as ClientMachine;
use mcp_proto::testing::{Transcript, WireChecker};
use mcp_proto::{Instant, Side};

use crate::server::manual::ManualServer;
use crate::transport::manual_driver::ManualDriver;

/// The maximum number of steps until a future completes.
const STEPS_MAX: usize = 1_000_000;

/// The two ends, and what connects them.
pub(super) struct Ends {
    client: ManualDriver<ClientMachine>,
    server: ManualServer,
    now: Instant,
    transcript: Transcript,
    watch: WireChecker,
    /// The incomplete last line of the client and of the server.
    partial_lines: [Vec<u8>; 2],
    /// Whether the client and the server have received the end of the other's output.
    has_eof: [bool; 2],
}

impl Ends {
    pub(super) fn new(
        client: ManualDriver<ClientMachine>,
        server: ManualServer,
        now: Instant,
    ) -> Self {
        Self {
            client,
            server,
            now,
            transcript: Transcript::default(),
            watch: WireChecker::default(),
            partial_lines: [Vec::new(), Vec::new()],
            has_eof: [false; 2],
        }
    }

    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    pub(super) const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Advances the clock by `time` and does everything that becomes due until then.
    pub(super) fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        for _ in 0..STEPS_MAX {
            if self.step() {
                continue;
            }
            match self.next_deadline().filter(|at| *at <= until) {
                Some(at) => self.advance_clocks(at),
                None => {
                    self.advance_clocks(until);
                    return;
                }
            }
        }
        self.fail("the exchange of messages does not end");
    }

    /// Runs a future of the client to its end.
    pub(super) fn run<T>(&mut self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        for _ in 0..STEPS_MAX {
            // First: callbacks for what preceded a response run before its call returns.
            if self.client.run_next(self.now) {
                continue;
            }
            if woken.0.swap(false, Ordering::AcqRel) {
                if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return done;
                }
            } else if !self.step() {
                let Some(next) = self.next_deadline() else {
                    self.fail("client and server wait forever")
                };
                self.advance_clocks(next);
            }
        }
        self.fail("the exchange of messages does not end")
    }

    /// Advances the clocks of both sides: even without other work, a side may send a request next.
    fn advance_clocks(&mut self, until: Instant) {
        self.now = self.now.max(until);
        self.client.advance_clock(self.now);
        self.server.advance_clock(self.now);
    }

    /// Does the next piece of work at the current time; returns false if there is none.
    fn step(&mut self) -> bool {
        let now = self.now;
        if self.client.poll_timeout().is_some_and(|at| at <= now) {
            self.client.handle_timeout(now);
            return true;
        }
        if self.server.poll_timeout().is_some_and(|at| at <= now) {
            self.server.handle_timeout(now);
            return true;
        }
        self.client.run_next(now) || self.server.run_handler(now) || self.transfer()
    }

    /// Hands the output of both sides to the other one; returns false if there is none.
    fn transfer(&mut self) -> bool {
        let now = self.now;
        let [client_partial, server_partial] = &mut self.partial_lines;
        let mut broken = None;
        let mut check = |side, mark, partial: &mut Vec<u8>, bytes: &[u8]| {
            self.transcript.note_lines(now, mark, partial, bytes);
            if let Err(violation) = self.watch.check(side, bytes) {
                broken.get_or_insert(violation);
            }
        };
        let from_client = self.client.output().to_vec();
        if !from_client.is_empty() {
            self.client.advance(from_client.len());
            check(Side::Client, "client →", client_partial, &from_client);
            self.server.handle_input(now, &from_client);
        }
        let from_server = self.server.output().to_vec();
        if !from_server.is_empty() {
            self.server.advance(from_server.len());
            check(Side::Server, "server →", server_partial, &from_server);
            self.client.handle_input(now, &from_server);
        }
        if let Some(violation) = broken {
            self.fail(violation);
        }
        let is_idle = from_client.is_empty() && from_server.is_empty();
        !is_idle || self.transfer_eof()
    }

    /// Hands the end of a closed side's output to the other one; returns false if that was done.
    fn transfer_eof(&mut self) -> bool {
        let [client_eof, server_eof] = &mut self.has_eof;
        if self.client.is_closed() && !std::mem::replace(server_eof, true) {
            self.server.handle_eof(self.now);
            return true;
        }
        if self.server.is_closed() && !std::mem::replace(client_eof, true) {
            self.client.handle_eof(self.now);
            return true;
        }
        false
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.client.poll_timeout().into_iter().chain(self.server.poll_timeout()).min()
    }

    fn fail(&self, what: impl fmt::Display) -> ! {
        panic!("at {}: {what}\n{}", self.now, self.transcript)
    }
}

/// Wakes the future of the test.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}
