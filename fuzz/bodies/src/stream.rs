//! One machine of either role, driven by a script of bytes, times and actions.
//!
//! A script consists of input bytes. Bytes that never occur in UTF-8 denote other steps: see
//! [`mark`].

use std::time::Duration;

use bytes::Buf;
use mcp_harness::{Checked, Role};
use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Endpoint, Instant, RoleEndpoint as _, ViolationPolicy};

use crate::app::{self, App};

/// The meaning of script bytes that are not input; most take one or two more bytes.
pub mod mark {
    /// The next byte is input, whatever it is.
    pub const BYTE: u8 = 0xF8;
    /// The input is split here.
    pub const CUT: u8 = 0xF9;
    /// Time passes: a power of two, in milliseconds.
    pub const WAIT: u8 = 0xFA;
    /// The application acts: the command and its details.
    pub const ACT: u8 = 0xFB;
    /// The input ends.
    pub const EOF: u8 = 0xFC;
    /// This many bytes are taken from the outbox.
    pub const TAKE: u8 = 0xFD;
    /// This many events are polled.
    pub const POLL: u8 = 0xFE;
    /// A timeout is handled early, at a time long past.
    pub const PAST: u8 = 0xFF;
}

/// Whatever bytes, times and actions a server gets, it keeps its promises and its limits, and ends.
pub fn stream_server(data: &[u8]) {
    let Some((config, script)) = data.split_first_chunk::<3>() else { return };
    let [revisions, limits, rest] = *config;
    let config = server::Config::new("s", "1")
        .revisions(app::revisions(revisions))
        .limits(app::limits(limits));
    let config = app::capabilities(rest).iter().fold(config, |config, it| config.capability(*it));
    let config = match policy(rest) {
        Some(policy) => config.on_violation(policy),
        None => config,
    };
    run(Stdio::new(Server::new(Instant::ZERO, config.serve_method("x/y"))), script);
}

/// Whatever bytes, times and actions a client gets, it keeps its promises and its limits, and ends.
pub fn stream_client(data: &[u8]) {
    let Some((config, script)) = data.split_first_chunk::<3>() else { return };
    let [revisions, limits, rest] = *config;
    let config = client::Config::new("c", "1")
        .revisions(app::revisions(revisions))
        .limits(app::limits(limits));
    let config = app::capabilities(rest).iter().fold(config, |config, it| config.capability(*it));
    let config = match policy(rest) {
        Some(policy) => config.on_violation(policy),
        None => config,
    };
    run(Stdio::new(Client::new(Instant::ZERO, config.serve_method("x/y"))), script);
}

fn policy(which: u8) -> Option<ViolationPolicy> {
    match which >> 1 & 3 {
        0 => Some(ViolationPolicy::Close),
        1 => Some(ViolationPolicy::Ignore),
        2 => Some(ViolationPolicy::Reply),
        _ => None,
    }
}

/// More timeouts than any limit in use can cause.
const TIMEOUTS_MAX: usize = 20_000;

struct Run<R: Role> {
    machine: Checked<R>,
    app: App,
    now: Instant,
    input: Vec<u8>,
    has_ended: bool,
}

fn run<R: Role>(machine: R, script: &[u8]) {
    let mut run = Run {
        machine: Checked::with_hostile_peer(machine),
        app: App::default(),
        now: Instant::ZERO,
        input: Vec::new(),
        has_ended: false,
    };
    let mut script = script.iter().copied();
    while let Some(byte) = script.next() {
        if byte < mark::BYTE {
            run.input.push(byte);
            continue;
        }
        let mut next = || script.next().unwrap_or_default();
        if byte == mark::BYTE {
            run.input.push(next());
            continue;
        }
        run.hand_in();
        match byte {
            mark::WAIT => run.wait(Duration::from_millis(1 << (next() % 24))),
            mark::ACT => run.app.act(&mut run.machine, run.now, next(), next()),
            mark::EOF => run.end(),
            mark::TAKE => {
                let outbox = run.machine.outbox();
                outbox.advance(usize::from(next()).min(outbox.remaining()));
            }
            mark::POLL => run.poll(usize::from(next())),
            mark::PAST => run.machine.handle_timeout(Instant::ZERO),
            _ => {}
        }
    }
    run.hand_in();
    run.finish();
}

impl<R: Role> Run<R> {
    /// Passes pending input if the machine wants it; otherwise takes events and bytes first, as a
    /// driver does.
    fn hand_in(&mut self) {
        let input = std::mem::take(&mut self.input);
        if input.is_empty() || self.has_ended {
            return;
        }
        if !self.machine.wants_input() {
            self.poll(usize::MAX);
            self.take();
            assert!(self.machine.wants_input() || self.machine.is_closed() || self.is_draining());
        }
        self.machine.handle_input(self.now, &input);
    }

    /// Returns whether the machine is closing and not yet closed.
    fn is_draining(&self) -> bool {
        self.machine.poll_timeout().is_some()
    }

    fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        for _ in 0..TIMEOUTS_MAX {
            let Some(at) = self.machine.poll_timeout().filter(|at| *at <= until) else { break };
            self.now = self.now.max(at);
            self.machine.handle_timeout(self.now);
        }
        self.now = until;
        self.machine.handle_timeout(until);
    }

    fn poll(&mut self, count: usize) {
        for polled in 0..count {
            let Some(event) = self.machine.poll_event() else { return self.check_held(polled) };
            self.app.note(&event);
        }
    }

    /// Checks the machine's visible contents against its limits: the outbox, the polled events, and
    /// then everything open.
    fn check_held(&mut self, events: usize) {
        let limits = self.machine.limits().clone();
        let bytes = self.machine.outbox().len() + events * size_of::<R::Event>();
        assert!(bytes <= limits.memory_max(), "{bytes} bytes are held");
        let (calls, requests) = (
            self.machine.ledger().open_calls().count(),
            self.machine.ledger().open_requests().count(),
        );
        assert!(
            calls <= limits.calls_max && requests <= limits.requests_max,
            "{calls} and {requests} are open"
        );
    }

    fn take(&mut self) {
        let outbox = self.machine.outbox();
        outbox.advance(outbox.remaining());
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.has_ended, true) {
            self.machine.handle_eof(self.now);
        }
    }

    /// Lets every timer fire while the peer is silent; then the input ends, and so does the
    /// machine.
    fn finish(mut self) {
        self.rest();
        if self.machine.poll_timeout().is_none() {
            let (closed, lines) = (self.machine.is_closed(), self.machine.lines_sent());
            self.machine.handle_timeout(self.now + Duration::from_secs(1 << 30));
            assert_eq!(
                (closed, lines),
                (self.machine.is_closed(), self.machine.lines_sent()),
                "waiting changed something"
            );
        }
        self.end();
        self.rest();
        assert!(self.machine.is_closed(), "it never ends");
        self.poll(usize::MAX);
        assert!(self.machine.ledger().is_closed(), "`Closed` never came");
        assert_eq!(self.machine.poll_timeout(), None);
        self.take();
        self.app.act(&mut self.machine, self.now, 0, 0);
        self.machine.handle_input(self.now, b"{}\n");
        assert!(
            self.machine.poll_event().is_none() && self.machine.outbox().is_empty(),
            "the machine is not closed"
        );
    }

    fn rest(&mut self) {
        for _ in 0..TIMEOUTS_MAX {
            let Some(at) = self.machine.poll_timeout() else { return };
            self.now = self.now.max(at);
            self.machine.handle_timeout(self.now);
            self.poll(usize::MAX);
            self.take();
        }
        self.machine.breach("the timers never come to rest");
    }
}
