//! A client and a server in one process, on two links, in virtual time; knows nothing of what they should say.

use std::collections::VecDeque;
use std::fmt::Display;
use std::time::Duration;

use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallError, CallId, CallOptions, Context, Endpoint, Era, IncomingId, Instant, Misuse, Raw, Request,
};

use crate::check::Checked;
use crate::link::{Chunking, Link};
use crate::parse;
use crate::role::Role;
use crate::seed::Seed;
use crate::transcript::Transcript;
use crate::witness::Witness;

/// The most steps that one `drive` may take before it counts as a storm.
const STEPS_MAX: usize = 1_000_000;

/// Two checked machines and the links between them.
///
/// Nothing happens by itself: [`step`](Self::step) does what can be done at this moment, [`drive`](Self::drive) goes
/// on until nothing is under way, [`wait`](Self::wait) lets time pass with all that happens in it, and
/// [`drive_until_quiet`](Self::drive_until_quiet) lets all timers go off. Events gather per side; the application is
/// the test.
///
/// ```
/// use mcp_harness::Pair;
/// use mcp_proto::{Capability, Raw, client, server};
///
/// let config = server::Config::new("weather", "1.0.0").capability(Capability::Tools);
/// let mut pair = Pair::ready(client::Config::new("demo", "1.0.0"), config);
/// let call = pair.call("tools/list", "{}").unwrap();
/// let (incoming, request, _) = pair.next_request();
/// assert_eq!(request.method, "tools/list");
/// pair.respond(incoming, r#"{"tools":[]}"#).unwrap();
/// let tools = pair.outcome(call).unwrap().member("tools").unwrap();
/// assert_eq!(tools, Raw::from_text("[]").unwrap());
/// ```
#[derive(Debug)]
pub struct Pair {
    /// The client's machine.
    pub client: Checked<Stdio<Client>>,
    /// The server's machine.
    pub server: Checked<Stdio<Server>>,
    /// The pipe that the client reads.
    pub to_client: Link,
    /// The pipe that the server reads.
    pub to_server: Link,
    /// What time it is.
    pub now: Instant,
    /// Events that the client gave and the test has not taken.
    pub client_events: VecDeque<client::Event>,
    /// Events that the server gave and the test has not taken.
    pub server_events: VecDeque<server::Event>,
    /// While set, the client's events stay in the machine.
    pub is_client_busy: bool,
    /// While set, the server's events stay in the machine.
    pub is_server_busy: bool,
    transcript: Transcript,
    halves: [Vec<u8>; 2],
    label: String,
}

impl Pair {
    /// Two machines that have just been connected.
    #[must_use]
    pub fn new(client: client::Config, server: server::Config) -> Self {
        let now = Instant::ZERO;
        Self {
            client: Checked::new(Stdio::new(Client::new(now, client))),
            server: Checked::new(Stdio::new(Server::new(now, server))),
            to_client: Link::default(),
            to_server: Link::default(),
            now,
            client_events: VecDeque::new(),
            server_events: VecDeque::new(),
            is_client_busy: false,
            is_server_busy: false,
            transcript: Transcript::default(),
            halves: [Vec::new(), Vec::new()],
            label: String::new(),
        }
    }

    /// Two machines whose client is ready to make calls: it knows what its server speaks.
    ///
    /// If that is a revision with sessions, the server is ready too; without sessions a server never becomes it.
    #[must_use]
    pub fn ready(client: client::Config, server: server::Config) -> Self {
        let mut pair = Self::new(client, server);
        pair.drive();
        let Some(client::Event::Ready(peer)) = pair.client_events.pop_front() else {
            pair.breach("the client is not ready");
        };
        let has_session = peer.revision.era() == Era::Legacy;
        match pair.server_events.pop_front() {
            Some(server::Event::Ready(_)) if has_session => {}
            None if !has_session => {}
            other => pair.breach(format!("in {} the server told {other:?}", peer.revision)),
        }
        pair
    }

    /// Splits what both links carry at random, and has failures name the seed.
    pub fn shuffle(&mut self, seed: u64, bytes_max: usize) {
        self.label = format!("seed {seed}");
        self.client.label(&self.label);
        self.server.label(&self.label);
        self.to_client.chunking = Chunking::Seeded(Seed(seed), bytes_max);
        self.to_server.chunking = Chunking::Seeded(Seed(!seed), bytes_max);
    }

    /// Every line each way and every event, with the times.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Fails with all that is known.
    ///
    /// # Panics
    /// Always.
    pub fn breach(&self, what: impl Display) -> ! {
        panic!("at {}: {what} {}\n{}", self.now, self.label, self.transcript)
    }

    /// Does what can be done at this moment; false when there was nothing.
    pub fn step(&mut self) -> bool {
        let now = self.now;
        let mut moved = false;
        if self.client.poll_timeout().is_some_and(|at| at <= now) {
            self.client.handle_timeout(now);
            moved = true;
        }
        if self.server.poll_timeout().is_some_and(|at| at <= now) {
            self.server.handle_timeout(now);
            moved = true;
        }
        moved |= self.poll();
        let [client_half, server_half] = &mut self.halves;
        let log = &mut self.transcript;
        moved |= self.to_server.send(now, self.client.outbox(), |piece| {
            note_lines(log, now, "client →", client_half, piece);
        });
        moved |= self.to_client.send(now, self.server.outbox(), |piece| {
            note_lines(log, now, "server →", server_half, piece);
        });
        if self.client.is_closed() && self.client.outbox().is_empty() {
            self.to_server.close(now);
        }
        if self.server.is_closed() && self.server.outbox().is_empty() {
            self.to_client.close(now);
        }
        moved |= deliver(now, &mut self.to_server, &mut self.server);
        moved |= deliver(now, &mut self.to_client, &mut self.client);
        moved | self.poll()
    }

    /// Steps until nothing is under way and nothing can be done; timers that go off meanwhile do.
    pub fn drive(&mut self) {
        for _ in 0..STEPS_MAX {
            if self.step() {
                continue;
            }
            let Some(arrival) = self.next_arrival() else { return };
            let next = self.next_deadline().map_or(arrival, |deadline| arrival.min(deadline));
            self.now = self.now.max(next);
        }
        self.breach("a storm: the two never come to rest");
    }

    /// Lets time pass, with all that happens in it.
    pub fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        for _ in 0..STEPS_MAX {
            if self.step() {
                continue;
            }
            let next = self.next_arrival().into_iter().chain(self.next_deadline()).min();
            match next.filter(|at| *at <= until) {
                Some(at) => self.now = self.now.max(at),
                None => {
                    self.now = until;
                    return;
                }
            }
        }
        self.breach("a storm: the two never come to rest");
    }

    /// Steps until no bytes are under way and no timer is set.
    pub fn drive_until_quiet(&mut self) {
        for _ in 0..STEPS_MAX {
            self.drive();
            let Some(deadline) = self.next_deadline() else { return };
            self.now = self.now.max(deadline);
        }
        self.breach("the timers never come to rest");
    }

    /// Has the client call a method, with params as text.
    ///
    /// # Errors
    /// The client's [`Misuse`].
    pub fn call(&mut self, method: &str, params: &str) -> Result<CallId, Misuse> {
        self.call_with(method, params, CallOptions::default())
    }

    /// Has the client call a method in a given way.
    ///
    /// # Errors
    /// The client's [`Misuse`].
    pub fn call_with(&mut self, method: &str, params: &str, options: CallOptions) -> Result<CallId, Misuse> {
        self.client.call_raw(self.now, method, Some(&parse::raw(params)), options)
    }

    /// Has the server answer a request.
    ///
    /// # Errors
    /// The server's [`Misuse`].
    pub fn respond(&mut self, incoming: IncomingId, result: &str) -> Result<(), Misuse> {
        self.server.respond(self.now, incoming, &parse::raw(result))
    }

    /// Drives until the server gets a request; other events before it are dropped.
    pub fn next_request(&mut self) -> (IncomingId, Request, Context) {
        self.drive();
        while let Some(event) = self.server_events.pop_front() {
            if let server::Event::Request { incoming, request, context } = event {
                return (incoming, request, context);
            }
        }
        self.breach("no request came to the server")
    }

    /// Drives until the client gets a request; other events before it are dropped.
    pub fn next_client_request(&mut self) -> (IncomingId, Request) {
        self.drive();
        while let Some(event) = self.client_events.pop_front() {
            if let client::Event::Request { incoming, request, .. } = event {
                return (incoming, request);
            }
        }
        self.breach("no request came to the client")
    }

    /// Drives until the client's call ends; other events before its end are dropped.
    ///
    /// # Errors
    /// How the call failed.
    pub fn outcome(&mut self, call: CallId) -> Result<Raw, CallError> {
        self.drive();
        while let Some(event) = self.client_events.pop_front() {
            match event {
                client::Event::Completed { call: ended, outcome } if ended == call => return outcome,
                _ => {}
            }
        }
        self.breach(format!("{call} did not end"))
    }

    /// What the client told so far, in the words of golden transcripts.
    pub fn client_told(&mut self) -> Vec<String> {
        self.client_events.drain(..).map(|event| event.tell()).collect()
    }

    /// What the server told so far, in the words of golden transcripts.
    pub fn server_told(&mut self) -> Vec<String> {
        self.server_events.drain(..).map(|event| event.tell()).collect()
    }

    fn poll(&mut self) -> bool {
        let mut moved = false;
        while let Some(event) = (!self.is_client_busy).then(|| self.client.poll_event()).flatten() {
            self.transcript.note(self.now, "client !", event.tell());
            self.client_events.push_back(event);
            moved = true;
        }
        while let Some(event) = (!self.is_server_busy).then(|| self.server.poll_event()).flatten() {
            self.transcript.note(self.now, "server !", event.tell());
            self.server_events.push_back(event);
            moved = true;
        }
        moved
    }

    fn next_arrival(&self) -> Option<Instant> {
        let to_server = self.to_server.next_arrival().filter(|_| self.server.wants_input());
        let to_client = self.to_client.next_arrival().filter(|_| self.client.wants_input());
        to_server.into_iter().chain(to_client).min()
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.client.poll_timeout().into_iter().chain(self.server.poll_timeout()).min()
    }
}

/// Hands over what has arrived, as long as it is wanted.
fn deliver<R: Role>(now: Instant, link: &mut Link, to: &mut Checked<R>) -> bool {
    let mut moved = false;
    while to.wants_input() {
        let Some(piece) = link.receive(now) else { break };
        to.handle_input(now, &piece);
        moved = true;
    }
    if to.wants_input() && link.receive_end(now) {
        to.handle_eof(now);
        moved = true;
    }
    moved
}

/// Notes the lines that end in `piece`.
fn note_lines(log: &mut Transcript, now: Instant, mark: &'static str, half: &mut Vec<u8>, piece: &[u8]) {
    for part in piece.split_inclusive(|byte| *byte == b'\n') {
        half.extend_from_slice(part);
        if half.pop_if(|byte| *byte == b'\n').is_some() {
            log.note_bytes(now, mark, half);
            half.clear();
        }
    }
}
