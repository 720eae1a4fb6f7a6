//! A client and a server in one process, on two links, in virtual time; knows nothing of what they
//! should say.

mod waits;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::link::{Chunking, Link};
use super::seed::Seed;
use super::transcript::Transcript;
use super::watch::Watch;
use crate::client::{self, Client};
use crate::endpoint::Endpoint;
use crate::revision::Side;
use crate::server::{self, Server};
use crate::stdio::Stdio;
use crate::time::Instant;

/// The most steps that one `drive` may take before it counts as a storm.
const STEPS_MAX: usize = 1_000_000;

/// How much of an event the transcript shows, in characters.
const EVENT_CHARS_MAX: usize = 160;

/// An application: what it does with each event of its machine.
type Application<E> = Box<dyn FnMut(&mut E, Instant, <E as Endpoint>::Event)>;

/// An event in words.
type Words<E> = fn(&<E as Endpoint>::Event) -> String;

/// A client, a server, the links between them, and the time.
///
/// Nothing happens by itself: [`step`](Self::step) does what can be done at this moment,
/// [`drive`](Self::drive) goes on until nothing is under way, [`wait`](Self::wait) lets time pass
/// with all that happens in it, and [`drive_until_quiet`](Self::drive_until_quiet) lets all timers
/// go off. A side's events go to its application, where it has one ([`serve`](Self::serve),
/// [`attend`](Self::attend)); otherwise they gather, and the application is the test: it calls the
/// machines' own methods, with [`now`](Self::now).
///
/// The links are there to be meddled with: each field of a [`Link`] is a fault. What both sides say
/// is held against the rules of the wire by a [`Watch`].
///
/// The machines are those of this crate, or what wraps them and implements [`Endpoint`]. `{pair}`
/// is the seed and the transcript: give it to the assertions of the test.
///
/// # Panics
/// The methods that do something panic when a machine breaks a rule of the wire, or when the two
/// never come to rest.
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
pub struct Pair<C: Endpoint = Stdio<Client>, S: Endpoint = Stdio<Server>> {
    /// The client's machine.
    pub client: C,
    /// The server's machine.
    pub server: S,
    /// The pipe that the client reads.
    pub to_client: Link,
    /// The pipe that the server reads.
    pub to_server: Link,
    /// What time it is; it begins at zero.
    pub now: Instant,
    /// Events that the client gave and nobody has taken.
    pub client_events: VecDeque<C::Event>,
    /// Events that the server gave and nobody has taken.
    pub server_events: VecDeque<S::Event>,
    /// While set, the client's events stay in the machine.
    pub is_client_busy: bool,
    /// While set, the server's events stay in the machine.
    pub is_server_busy: bool,
    /// The listener on the wire. Tell it of what a machine is given past its link.
    pub watch: Watch,
    attend: Option<Application<C>>,
    serve: Option<Application<S>>,
    tell_client: Words<C>,
    tell_server: Words<S>,
    transcript: Transcript,
    halves: [Vec<u8>; 2],
    /// Lines of somebody else's that wait for a line to end.
    strays: Vec<(Side, Vec<u8>)>,
    label: String,
}

impl Pair {
    /// A client's machine and a server's that have just been connected.
    #[must_use]
    pub fn new(client: client::Config, server: server::Config) -> Self {
        let now = Instant::ZERO;
        Self::of(Stdio::new(Client::new(now, client)), Stdio::new(Server::new(now, server)))
    }
}

impl<C: Endpoint, S: Endpoint> Pair<C, S> {
    /// Two machines that have just been connected; they were made at [`Instant::ZERO`].
    pub fn of(client: C, server: S) -> Self {
        Self {
            client,
            server,
            to_client: Link::default(),
            to_server: Link::default(),
            now: Instant::ZERO,
            client_events: VecDeque::new(),
            server_events: VecDeque::new(),
            is_client_busy: false,
            is_server_busy: false,
            attend: None,
            serve: None,
            watch: Watch::default(),
            tell_client: shown,
            tell_server: shown,
            transcript: Transcript::default(),
            halves: [Vec::new(), Vec::new()],
            strays: Vec::new(),
            label: String::new(),
        }
    }

    /// Has `application` do what the server's application does: it is given each event.
    pub fn serve(&mut self, application: impl FnMut(&mut S, Instant, S::Event) + 'static) {
        self.serve = Some(Box::new(application));
    }

    /// Has `application` do what the client's application does: it is given each event. The methods
    /// that wait for one of the client's events do not see them then.
    pub fn attend(&mut self, application: impl FnMut(&mut C, Instant, C::Event) + 'static) {
        self.attend = Some(Box::new(application));
    }

    /// Has both links split what they carry anywhere and delay it by up to 20 ms, as the seed will
    /// have it, and failures name the seed. Nothing is lost by it: a peer that it makes a
    /// difference to is wrong.
    pub fn shuffle(&mut self, seed: u64) {
        self.label(format!("seed {seed}"));
        let mut seed = Seed(seed);
        for link in [&mut self.to_client, &mut self.to_server] {
            link.chunking = Chunking::Seeded(Seed(seed.next()), 1 + seed.below(100));
            link.jitter = (Seed(seed.next()), Duration::from_millis(20));
        }
    }

    /// Has failures say this too: a seed, a file, a case.
    pub fn label(&mut self, label: impl fmt::Display) {
        self.label = label.to_string();
    }

    /// Has somebody else say a line, in the name of `from`: what a library prints to stdout, say.
    /// It comes between two lines of that side, and its end is added. The line itself breaks no
    /// rule; what the other side makes of it can.
    pub fn insert(&mut self, from: Side, line: &[u8]) {
        let mut line = line.to_vec();
        line.push(b'\n');
        self.strays.push((from, line));
    }

    /// Has the transcript show events in these words, the client's and the server's; otherwise it
    /// shows the beginning of what `Debug` does.
    pub fn tell(&mut self, client: fn(&C::Event) -> String, server: fn(&S::Event) -> String) {
        (self.tell_client, self.tell_server) = (client, server);
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
    pub fn breach(&self, what: impl fmt::Display) -> ! {
        panic!("at {}: {what} {self}", self.now)
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

    /// Ends the connection as a client does that goes away, and sees that nothing is left: no
    /// request without an answer, except those that were taken back and subscriptions; and both
    /// sides come to their end. It is for links that lost nothing.
    pub fn finish(&mut self) {
        self.drive();
        let is_left = |(_, _, method): &(Side, &str, &str)| *method != "subscriptions/listen";
        if let Some((side, id, method)) = self.watch.unanswered().find(is_left) {
            let asker = if side == Side::Client { "client" } else { "server" };
            self.breach(format!("{method}, number {id} of the {asker}, was not answered"));
        }
        self.to_server.close(self.now);
        self.drive_until_quiet();
        for (name, is_closed) in
            [("client", self.client.is_closed()), ("server", self.server.is_closed())]
        {
            if !is_closed {
                self.breach(format!("the {name} did not end with the connection"));
            }
        }
    }

    fn poll(&mut self) -> bool {
        let mut moved = false;
        while let Some(event) = (!self.is_client_busy).then(|| self.client.poll_event()).flatten() {
            self.transcript.note(self.now, "client !", (self.tell_client)(&event));
            match &mut self.attend {
                Some(attend) => attend(&mut self.client, self.now, event),
                None => self.client_events.push_back(event),
            }
            moved = true;
        }
        while let Some(event) = (!self.is_server_busy).then(|| self.server.poll_event()).flatten() {
            self.transcript.note(self.now, "server !", (self.tell_server)(&event));
            match &mut self.serve {
                Some(serve) => serve(&mut self.server, self.now, event),
                None => self.server_events.push_back(event),
            }
            moved = true;
        }
        moved
    }

    /// Puts on the links what the machines want sent, and what others say between.
    fn send(&mut self) -> bool {
        let now = self.now;
        let mut broken = None;
        let Self { watch, transcript, halves: [client_half, server_half], .. } = self;
        let mut carry =
            |side, link: &mut Link, outbox: &mut crate::wire::Outbox, half: &mut Vec<u8>| {
                let mark = if side == Side::Client { "client →" } else { "server →" };
                link.send(now, outbox, |piece| {
                    note_lines(transcript, now, mark, half, piece);
                    if let Err(breach) = watch.sent(side, piece) {
                        broken.get_or_insert(breach);
                    }
                })
            };
        let mut moved = carry(Side::Client, &mut self.to_server, self.client.outbox(), client_half);
        moved |= carry(Side::Server, &mut self.to_client, self.server.outbox(), server_half);
        if let Some(breach) = broken {
            self.breach(breach);
        }
        let Self { strays, watch, transcript, to_server, to_client, .. } = self;
        strays.retain(|(side, line)| {
            let is_next = watch.is_between_lines(*side);
            if is_next {
                transcript.note_bytes(now, "somebody →", line);
                watch.stray(*side, line);
                let link = if *side == Side::Client { &mut *to_server } else { &mut *to_client };
                link.insert(now, line);
                moved = true;
            }
            !is_next
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

/// The label and the transcript.
impl<C: Endpoint, S: Endpoint> fmt::Display for Pair<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.label)?;
        self.transcript.fmt(f)
    }
}

impl<C: Endpoint, S: Endpoint> fmt::Debug for Pair<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair")
            .field("now", &self.now)
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

/// Hands over what has arrived, as long as it is wanted.
fn deliver(now: Instant, link: &mut Link, to: &mut impl Endpoint) -> bool {
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
fn note_lines(
    log: &mut Transcript,
    now: Instant,
    mark: &'static str,
    half: &mut Vec<u8>,
    piece: &[u8],
) {
    for part in piece.split_inclusive(|byte| *byte == b'\n') {
        half.extend_from_slice(part);
        if half.pop_if(|byte| *byte == b'\n').is_some() {
            log.note_bytes(now, mark, half);
            half.clear();
        }
    }
}

fn shown(event: &impl fmt::Debug) -> String {
    let mut words = format!("{event:?}");
    if let Some((end, _)) = words.char_indices().nth(EVENT_CHARS_MAX) {
        words.truncate(end);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests;
