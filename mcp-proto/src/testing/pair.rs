//! [`Pair`]: a client and a server connected by two pipes in virtual time.

mod waits;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::link::{Chunking, Pipe};
use super::seed::Seed;
use super::transcript::Transcript;
use super::watch::WireChecker;
use crate::client::{self, Client};
use crate::endpoint::RoleEndpoint;
use crate::revision::Side;
use crate::server::{self, Server};
use crate::stdio::Stdio;
use crate::time::Instant;

/// The maximum number of steps of one `drive`.
const STEPS_MAX: usize = 1_000_000;

/// The maximum length of an event in the transcript, in characters.
const EVENT_CHARS_MAX: usize = 160;

/// A callback for the events of one side.
type EventHandler<E> = Box<dyn FnMut(&mut E, Instant, <E as RoleEndpoint>::Event)>;

/// A function that formats an event for the transcript.
type Describe<E> = fn(&<E as RoleEndpoint>::Event) -> String;

/// A client and a server connected by two pipes, with a virtual clock.
///
/// A pair makes progress only when the test calls a method, mainly one of these:
///
/// - [`step`](Self::step) does everything possible at the current time;
/// - [`drive`](Self::drive) continues until no more bytes arrive;
/// - [`drive_until_quiet`](Self::drive_until_quiet) also fires all timers;
/// - [`wait`](Self::wait) advances the time by a duration.
///
/// The test acts as the application of each side. The test takes events from
/// [`client_events`](Self::client_events) and [`server_events`](Self::server_events), and calls the
/// methods of [`client`](Self::client) and [`server`](Self::server). The time to pass to these
/// methods is [`now`](Self::now). Alternatively, set a handler for the events with
/// [`on_client_event`](Self::on_client_event) or [`on_server_event`](Self::on_server_event).
///
/// To inject faults, set the fields of a [`Pipe`]. A [`WireChecker`] checks the messages of both
/// sides.
///
/// Each endpoint is a [`Stdio`] or another [`RoleEndpoint`], such as a wrapper.
///
/// The `Display` output of a pair consists of the label and the transcript; include it in
/// assertion messages.
///
/// # Panics
/// The methods that advance the pair panic if an endpoint sends an invalid message, or if the
/// endpoints never stop exchanging messages.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::testing::Pair;
/// use mcp_proto::{CallOptions, Capability, Raw, client, server};
///
/// let config = server::Config::new("weather", "1.0.0").capability(Capability::Tools);
/// let mut pair = Pair::new(client::Config::new("demo", "1.0.0"), config);
/// pair.to_server.latency = Duration::from_millis(40);
/// pair.drive();
/// let call = pair.client.call_raw(pair.now, "tools/list", None, CallOptions::default()).unwrap();
/// let (incoming, request, _) = pair.next_request();
/// assert_eq!(&*request.method, "tools/list");
/// pair.server.respond(pair.now, incoming, &Raw::from_text(r#"{"tools":[]}"#).unwrap()).unwrap();
/// assert_eq!(pair.outcome(call).unwrap().member("tools").unwrap().as_str(), "[]");
/// ```
pub struct Pair<C: RoleEndpoint = Stdio<Client>, S: RoleEndpoint = Stdio<Server>> {
    /// The client.
    pub client: C,
    /// The server.
    pub server: S,
    /// The pipe from the server to the client.
    pub to_client: Pipe,
    /// The pipe from the client to the server.
    pub to_server: Pipe,
    /// The current time, initially zero.
    pub now: Instant,
    /// Client events that the test has not taken yet. Empty if the client has a handler.
    pub client_events: VecDeque<C::Event>,
    /// Server events that the test has not taken yet. Empty if the server has a handler.
    pub server_events: VecDeque<S::Event>,
    /// Whether to leave client events unpolled, as a busy application does. Default: false.
    pub is_client_busy: bool,
    /// Whether to leave server events unpolled, as a busy application does. Default: false.
    pub is_server_busy: bool,
    /// The checker of the messages in both directions.
    ///
    /// If the test passes bytes to an endpoint directly instead of through its pipe, it must also
    /// pass them to the checker.
    pub watch: WireChecker,
    on_client_event: Option<EventHandler<C>>,
    on_server_event: Option<EventHandler<S>>,
    describe_client: Describe<C>,
    describe_server: Describe<S>,
    transcript: Transcript,
    /// The incomplete last line of the client and of the server.
    partial_lines: [Vec<u8>; 2],
    /// Inserted lines that wait for the current line of that side to end.
    inserted_lines: Vec<(Side, Vec<u8>)>,
    label: String,
}

impl Pair {
    /// Creates and connects a client and a server.
    #[must_use]
    pub fn new(client: client::Config, server: server::Config) -> Self {
        let now = Instant::ZERO;
        Self::from_endpoints(
            Stdio::new(Client::new(now, client)),
            Stdio::new(Server::new(now, server)),
        )
    }
}

impl<C: RoleEndpoint, S: RoleEndpoint> Pair<C, S> {
    /// Connects two endpoints, which must have been created at [`Instant::ZERO`].
    pub fn from_endpoints(client: C, server: S) -> Self {
        Self {
            client,
            server,
            to_client: Pipe::default(),
            to_server: Pipe::default(),
            now: Instant::ZERO,
            client_events: VecDeque::new(),
            server_events: VecDeque::new(),
            is_client_busy: false,
            is_server_busy: false,
            on_client_event: None,
            on_server_event: None,
            watch: WireChecker::default(),
            describe_client: debug_excerpt,
            describe_server: debug_excerpt,
            transcript: Transcript::default(),
            partial_lines: [Vec::new(), Vec::new()],
            inserted_lines: Vec::new(),
            label: String::new(),
        }
    }

    /// Sets a handler that receives all server events; they are no longer queued.
    pub fn on_server_event(
        &mut self,
        application: impl FnMut(&mut S, Instant, S::Event) + 'static,
    ) {
        self.on_server_event = Some(Box::new(application));
    }

    /// Sets a handler that receives all client events; they are no longer queued.
    ///
    /// Methods that wait for a queued client event, such as [`outcome`](Self::outcome), then panic.
    pub fn on_client_event(
        &mut self,
        application: impl FnMut(&mut C, Instant, C::Event) + 'static,
    ) {
        self.on_client_event = Some(Box::new(application));
    }

    /// Makes both pipes split bytes at random, and adds random delays of less than 20 ms.
    ///
    /// No bytes are lost, so a correct peer behaves as it would without shuffling. Also sets the
    /// [`label`](Self::label) to the seed, so that failure messages include the seed.
    pub fn shuffle(&mut self, seed: u64) {
        self.label(format!("seed {seed}"));
        let mut seed = Seed(seed);
        for link in [&mut self.to_client, &mut self.to_server] {
            link.chunking = Chunking::Seeded(Seed(seed.next()), 1 + seed.below(100));
            link.jitter = (Seed(seed.next()), Duration::from_millis(20));
        }
    }

    /// Sets the label that failure messages include, such as a seed or the name of a test case.
    pub fn label(&mut self, label: impl fmt::Display) {
        self.label = label.to_string();
    }

    /// Inserts a line into the output of `from`, as if a library had printed it to stdout.
    ///
    /// The line is inserted between two of the endpoint's own lines, with a line terminator. The
    /// line itself is not checked. Later messages of both sides are checked less strictly; see
    /// [`WireChecker::insert_line`].
    pub fn insert_line(&mut self, from: Side, line: &[u8]) {
        let mut line = line.to_vec();
        line.push(b'\n');
        self.inserted_lines.push((from, line));
    }

    /// Sets how the transcript shows client and server events.
    ///
    /// Default: the beginning of the `Debug` output.
    pub fn describe_events(
        &mut self,
        client: fn(&C::Event) -> String,
        server: fn(&S::Event) -> String,
    ) {
        (self.describe_client, self.describe_server) = (client, server);
    }

    /// Returns the transcript: the lines in both directions and the events, with their times.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Fails the test: panics with `what`, the label and the transcript.
    ///
    /// # Panics
    /// Always.
    pub fn fail(&self, what: impl fmt::Display) -> ! {
        panic!("at {}: {what} {self}", self.now)
    }

    /// Performs one round of work at the current time. Returns whether there was any work.
    ///
    /// A round fires the timers that are due, polls the events, moves output into the pipes, and
    /// delivers the pieces that have arrived.
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
        moved |= self.send();
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

    /// Steps until no more bytes arrive, advancing the clock to each arrival in turn.
    ///
    /// Timers that expire before the last arrival fire. Bytes remain in flight if their pipe is
    /// stalled or if the receiver accepts no input.
    pub fn drive(&mut self) {
        for _ in 0..STEPS_MAX {
            if self.step() {
                continue;
            }
            let Some(arrival) = self.next_arrival() else { return };
            let next = self.next_deadline().map_or(arrival, |deadline| arrival.min(deadline));
            self.now = self.now.max(next);
        }
        self.fail("the exchange of messages does not end");
    }

    /// Advances the clock by `time` and does everything that becomes due until then.
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
        self.fail("the exchange of messages does not end");
    }

    /// Steps until no more bytes arrive and no timer is set, advancing the clock as needed.
    pub fn drive_until_quiet(&mut self) {
        for _ in 0..STEPS_MAX {
            self.drive();
            let Some(deadline) = self.next_deadline() else { return };
            self.now = self.now.max(deadline);
        }
        self.fail("timers keep being set");
    }

    /// Closes the connection from the client's side and checks the final state.
    ///
    /// Fails the test in these cases:
    ///
    /// - before the connection closes, a request is neither answered nor cancelled (except
    ///   `subscriptions/listen`, which stays open);
    /// - after that, one of the two sides is not closed.
    ///
    /// Call this method only if no pipe has lost bytes.
    pub fn finish(&mut self) {
        self.drive();
        let must_be_answered =
            |(_, _, method): &(Side, &str, &str)| *method != "subscriptions/listen";
        if let Some((side, id, method)) = self.watch.unanswered().find(must_be_answered) {
            let sender = if side == Side::Client { "client" } else { "server" };
            self.fail(format!("request {id} of the {sender} ({method}) was not answered"));
        }
        self.to_server.close(self.now);
        self.drive_until_quiet();
        for (name, is_closed) in
            [("client", self.client.is_closed()), ("server", self.server.is_closed())]
        {
            if !is_closed {
                self.fail(format!("the {name} did not close with the connection"));
            }
        }
    }

    fn poll(&mut self) -> bool {
        let mut moved = false;
        while let Some(event) = (!self.is_client_busy).then(|| self.client.poll_event()).flatten() {
            self.transcript.note(self.now, "client !", (self.describe_client)(&event));
            match &mut self.on_client_event {
                Some(handle) => handle(&mut self.client, self.now, event),
                None => self.client_events.push_back(event),
            }
            moved = true;
        }
        while let Some(event) = (!self.is_server_busy).then(|| self.server.poll_event()).flatten() {
            self.transcript.note(self.now, "server !", (self.describe_server)(&event));
            match &mut self.on_server_event {
                Some(handle) => handle(&mut self.server, self.now, event),
                None => self.server_events.push_back(event),
            }
            moved = true;
        }
        moved
    }

    /// Moves the output of both sides and inserted lines to the links.
    fn send(&mut self) -> bool {
        let now = self.now;
        let mut broken = None;
        let Self { watch, transcript, partial_lines: [client_partial, server_partial], .. } = self;
        let mut transfer =
            |side, link: &mut Pipe, outbox: &mut crate::wire::Outbox, partial: &mut Vec<u8>| {
                let mark = if side == Side::Client { "client →" } else { "server →" };
                link.send(now, outbox, |piece| {
                    transcript.note_lines(now, mark, partial, piece);
                    if let Err(breach) = watch.check(side, piece) {
                        broken.get_or_insert(breach);
                    }
                })
            };
        let mut moved =
            transfer(Side::Client, &mut self.to_server, self.client.outbox(), client_partial);
        moved |= transfer(Side::Server, &mut self.to_client, self.server.outbox(), server_partial);
        if let Some(breach) = broken {
            self.fail(breach);
        }
        let Self { inserted_lines, watch, transcript, to_server, to_client, .. } = self;
        inserted_lines.retain(|(side, line)| {
            let can_insert = watch.is_between_lines(*side);
            if can_insert {
                transcript.note_bytes(now, "inserted →", line);
                watch.insert_line(*side, line);
                let link = if *side == Side::Client { &mut *to_server } else { &mut *to_client };
                link.insert(now, line);
                moved = true;
            }
            !can_insert
        });
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

/// Writes the label and the transcript.
impl<C: RoleEndpoint, S: RoleEndpoint> fmt::Display for Pair<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.label)?;
        self.transcript.fmt(f)
    }
}

impl<C: RoleEndpoint, S: RoleEndpoint> fmt::Debug for Pair<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair")
            .field("now", &self.now)
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

/// Passes arrived bytes to an endpoint while it wants input.
fn deliver(now: Instant, link: &mut Pipe, to: &mut impl RoleEndpoint) -> bool {
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

/// Returns the beginning of the `Debug` output of an event.
fn debug_excerpt(event: &impl fmt::Debug) -> String {
    let mut text = format!("{event:?}");
    if let Some((end, _)) = text.char_indices().nth(EVENT_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
