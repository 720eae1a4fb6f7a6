//! [`Proxy`]: the proxy as a sans-IO state machine with two sides.

use std::io;

use bytes::Buf;
use mcp_proto::client::{self, Client};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Endpoint, Instant, Outbox, Side};

use crate::relay::Relay;
use crate::trace::Trace;
use crate::translation::declared_capabilities;

/// The longest accepted first message of a client.
const FIRST_BYTES_MAX: usize = 1 << 20;

/// The proxy stops reading from one side while more bytes are queued for the other. Well below the
/// limits of the connections.
const QUEUED_BYTES_MAX: usize = 1 << 19;

pub(crate) struct Proxy {
    state: State,
    trace: Trace,
}

/// The phases of a proxied session.
///
/// A server responds to `initialize` immediately, before the proxy knows the capabilities of the
/// real server. The proxy therefore holds back the client's first message, reads the client's
/// capabilities from it, connects to the server, and handles the message only afterwards.
enum State {
    /// Collects the first message of the client.
    Greeting(Vec<u8>),
    /// Connects to the server.
    Connecting { first: Vec<u8>, server: Box<Stdio<Client>> },
    /// Relays messages.
    Relaying(Box<Relay>),
    /// Both sides are closed.
    Closed,
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
                    let config = client::Config::new("proxy", "1.0.0")
                        .capabilities(declared_capabilities(&first[..end]));
                    let server = Box::new(Stdio::new(Client::new(now, config)));
                    self.state = State::Connecting { first: std::mem::take(first), server };
                } else if first.len() > FIRST_BYTES_MAX {
                    self.state = State::Closed;
                }
            }
            (State::Connecting { first, .. }, Side::Client) => first.extend(bytes),
            (State::Connecting { server, .. }, Side::Server) => server.handle_input(now, bytes),
            (State::Relaying(relay), Side::Client) => relay.client.handle_input(now, bytes),
            (State::Relaying(relay), Side::Server) => relay.server.handle_input(now, bytes),
            (State::Greeting(_) | State::Closed, _) => {}
        }
        self.settle(now);
    }

    pub(crate) fn handle_eof(&mut self, now: Instant, side: Side) {
        match (&mut self.state, side) {
            (State::Relaying(relay), Side::Client) => relay.client.handle_eof(now),
            (State::Relaying(relay), Side::Server) => relay.server.handle_eof(now),
            (state, _) => {
                self.trace.note("disconnected before the proxy was connected");
                *state = State::Closed;
            }
        }
        self.settle(now);
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        match &mut self.state {
            State::Greeting(_) | State::Closed => {}
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
            State::Greeting(_) | State::Closed => None,
            State::Connecting { server, .. } => server.poll_timeout(),
            State::Relaying(relay) => {
                relay.client.poll_timeout().into_iter().chain(relay.server.poll_timeout()).min()
            }
        }
    }

    /// Returns whether to read from a side. Output queued for one side stops input from the other,
    /// so that memory use is bounded.
    pub(crate) fn wants_input(&mut self, side: Side) -> bool {
        match (&mut self.state, side) {
            (State::Greeting(_), side) => side == Side::Client,
            (State::Connecting { server, .. }, side) => {
                side == Side::Server && server.wants_input()
            }
            (State::Relaying(relay), Side::Client) => {
                relay.client.wants_input() && relay.server.outbox().len() < QUEUED_BYTES_MAX
            }
            (State::Relaying(relay), Side::Server) => {
                relay.server.wants_input() && relay.client.outbox().len() < QUEUED_BYTES_MAX
            }
            (State::Closed, _) => false,
        }
    }

    /// Returns whether output is queued for a side.
    pub(crate) fn has_output(&mut self, side: Side) -> bool {
        self.outbox(side).is_some_and(|outbox| outbox.has_remaining())
    }

    /// Calls `write` once with the output for a side and removes as many bytes as it returns.
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

    /// Returns whether a side is closed. The driver closes its pipes once all output is sent.
    pub(crate) fn is_closed(&self, side: Side) -> bool {
        match (&self.state, side) {
            (State::Greeting(_) | State::Connecting { .. }, _) => false,
            (State::Relaying(relay), Side::Client) => relay.client.is_closed(),
            (State::Relaying(relay), Side::Server) => relay.server.is_closed(),
            (State::Closed, _) => true,
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
                    self.trace.note(&format!("server: {why}"));
                    self.state = State::Closed;
                }
                _ => {}
            }
        }
        if let State::Relaying(relay) = &mut self.state {
            relay.settle(now, &mut self.trace);
        }
    }

    fn connect(&mut self, now: Instant, peer: &mcp_proto::Peer) {
        let state = std::mem::replace(&mut self.state, State::Closed);
        if let State::Connecting { first, server } = state {
            self.trace
                .note(&format!("{} {}, {}", peer.info.name, peer.info.version, peer.revision));
            let mut relay = Box::new(Relay::new(now, *server, peer));
            relay.client.handle_input(now, &first);
            self.state = State::Relaying(relay);
        }
    }
}
