//! The proxy as a driver sees it: two sides, with bytes and time in, bytes and one deadline out; it
//! does no IO itself.

use std::io;

use bytes::Buf;
use mcp_proto::client::{self, Client};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Endpoint, Instant, Outbox, Side};

use crate::across::declared;
use crate::relay::Relay;
use crate::trace::Trace;

/// The longest first message of a client.
const FIRST_BYTES_MAX: usize = 1 << 20;

/// With more than this to be sent to one side, nothing is read from the other: well below what the
/// machines take.
const WAITING_BYTES_MAX: usize = 1 << 19;

pub(crate) struct Proxy {
    state: State,
    trace: Trace,
}

/// A server answers `initialize` at once, and a client sends it at once. So the client's first
/// message is looked at, to know what the client can do; then the server is asked what it is; and
/// only then is the message handed in.
enum State {
    /// What the client said so far.
    Greeting(Vec<u8>),
    Connecting {
        first: Vec<u8>,
        server: Box<Stdio<Client>>,
    },
    Relaying(Box<Relay>),
    Over,
}

impl Proxy {
    pub(crate) const fn new(trace: Trace) -> Self {
        Self { state: State::Greeting(Vec::new()), trace }
    }

    pub(crate) fn handle_input(&mut self, now: Instant, side: Side, bytes: &[u8]) {
        self.trace.received(side, bytes);
        match (&mut self.state, side) {
            (State::Greeting(first), Side::Client) => {
                first.extend(bytes);
                if let Some(end) = first.iter().position(|byte| *byte == b'\n') {
                    let config =
                        client::Config::new("proxy", "1.0.0").capabilities(declared(&first[..end]));
                    let server = Box::new(Stdio::new(Client::new(now, config)));
                    self.state = State::Connecting { first: std::mem::take(first), server };
                } else if first.len() > FIRST_BYTES_MAX {
                    self.state = State::Over;
                }
            }
            (State::Connecting { first, .. }, Side::Client) => first.extend(bytes),
            (State::Connecting { server, .. }, Side::Server) => server.handle_input(now, bytes),
            (State::Relaying(relay), Side::Client) => relay.client.handle_input(now, bytes),
            (State::Relaying(relay), Side::Server) => relay.server.handle_input(now, bytes),
            (State::Greeting(_) | State::Over, _) => {}
        }
        self.settle(now);
    }

    pub(crate) fn handle_eof(&mut self, now: Instant, side: Side) {
        match (&mut self.state, side) {
            (State::Relaying(relay), Side::Client) => relay.client.handle_eof(now),
            (State::Relaying(relay), Side::Server) => relay.server.handle_eof(now),
            (state, _) => {
                self.trace.note("hung up before anything could be passed on");
                *state = State::Over;
            }
        }
        self.settle(now);
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        match &mut self.state {
            State::Greeting(_) | State::Over => {}
            State::Connecting { server, .. } => server.handle_timeout(now),
            State::Relaying(relay) => {
                relay.client.handle_timeout(now);
                relay.server.handle_timeout(now);
            }
        }
        self.settle(now);
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match &self.state {
            State::Greeting(_) | State::Over => None,
            State::Connecting { server, .. } => server.poll_timeout(),
            State::Relaying(relay) => {
                relay.client.poll_timeout().into_iter().chain(relay.server.poll_timeout()).min()
            }
        }
    }

    /// Whether to read from a side. What fills up on one side holds up the other, so that neither
    /// end can make the proxy hold more than its limits.
    pub(crate) fn wants_input(&mut self, side: Side) -> bool {
        match (&mut self.state, side) {
            (State::Greeting(_), side) => side == Side::Client,
            (State::Connecting { server, .. }, side) => {
                side == Side::Server && server.wants_input()
            }
            (State::Relaying(relay), Side::Client) => {
                relay.client.wants_input() && relay.server.outbox().len() < WAITING_BYTES_MAX
            }
            (State::Relaying(relay), Side::Server) => {
                relay.server.wants_input() && relay.client.outbox().len() < WAITING_BYTES_MAX
            }
            (State::Over, _) => false,
        }
    }

    /// Whether bytes wait to be sent to a side.
    pub(crate) fn has_output(&mut self, side: Side) -> bool {
        self.outbox(side).is_some_and(|outbox| outbox.has_remaining())
    }

    /// Has `write` send once what waits for a side, as far as it will.
    pub(crate) fn send(
        &mut self,
        side: Side,
        write: impl FnOnce(&[u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        let outbox = match (&mut self.state, side) {
            (State::Connecting { server, .. }, Side::Server) => server.outbox(),
            (State::Relaying(relay), Side::Client) => relay.client.outbox(),
            (State::Relaying(relay), Side::Server) => relay.server.outbox(),
            _ => return Ok(()),
        };
        let count = write(outbox.chunk())?;
        self.trace.sent(side, &outbox.chunk()[..count]);
        outbox.advance(count);
        Ok(())
    }

    /// Whether a side is over, for the driver to close what it has of it once the last bytes are
    /// sent.
    pub(crate) fn is_closed(&self, side: Side) -> bool {
        match (&self.state, side) {
            (State::Greeting(_) | State::Connecting { .. }, _) => false,
            (State::Relaying(relay), Side::Client) => relay.client.is_closed(),
            (State::Relaying(relay), Side::Server) => relay.server.is_closed(),
            (State::Over, _) => true,
        }
    }

    fn outbox(&mut self, side: Side) -> Option<&mut Outbox> {
        match (&mut self.state, side) {
            (State::Connecting { server, .. }, Side::Server) => Some(server.outbox()),
            (State::Relaying(relay), Side::Client) => Some(relay.client.outbox()),
            (State::Relaying(relay), Side::Server) => Some(relay.server.outbox()),
            _ => None,
        }
    }

    fn settle(&mut self, now: Instant) {
        if let State::Connecting { server, .. } = &mut self.state {
            match server.poll_event() {
                Some(client::Event::Ready(peer)) => self.connect(now, &peer),
                Some(client::Event::Closed(why)) => {
                    self.trace.note(&format!("the server's side: {why}"));
                    self.state = State::Over;
                }
                _ => {}
            }
        }
        if let State::Relaying(relay) = &mut self.state {
            relay.settle(now, &mut self.trace);
        }
    }

    fn connect(&mut self, now: Instant, peer: &mcp_proto::Peer) {
        let state = std::mem::replace(&mut self.state, State::Over);
        if let State::Connecting { first, server } = state {
            self.trace
                .note(&format!("{} {}, {}", peer.info.name, peer.info.version, peer.revision));
            let mut relay = Box::new(Relay::new(now, *server, peer));
            relay.client.handle_input(now, &first);
            self.state = State::Relaying(relay);
        }
    }
}
