//! A server over HTTP: which message goes into which response, and what of it is kept to be sent again; knows nothing of
//! sockets, nor of which requests may come in at all.
//!
//! Each POST is a stream of its own, and the answer to its request is the last thing on it. What belongs to no request
//! goes on the stream that a GET opens. A response is decided on by the first thing there is to say: an answer alone is
//! sent as JSON, anything else makes it an event stream. (HTTP-08…HTTP-29, SSE-13…SSE-19, SSE-24)

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::time::Duration;

use bytes::Bytes;

use super::check::Decoded;
use super::refusal::{Refusal, status_of};
use super::reply::{Frame, Reply};
use super::stream::{Stream, event_id, read_event_id, tag};
use crate::collections::SmallMap;
use crate::revision::Revision;
use crate::server::{Event, Server};
use crate::session::{Incoming, Said, Session as _, StreamId};
use crate::time::Instant;
use crate::wire::{To, sse};

/// How event streams are kept up, and what is kept of them.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::http::Settings;
///
/// let patient = Settings { retry: Duration::from_secs(5), ..Settings::default() };
/// assert_eq!(patient.replay_bytes_max, 256 << 10);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Settings {
    /// Bytes of messages that a session keeps so that they can be sent again, 256 KiB, with 128 for each besides; the
    /// oldest go first.
    pub replay_bytes_max: usize,
    /// How long a client is told to wait before it comes back to a stream that has ended early, 1 s. (HTTP-16)
    pub retry: Duration,
    /// How long a request of a session goes without a response, until one is begun that can be resumed, 50 ms. (HTTP-16)
    pub prime_after: Duration,
    /// How long nothing is said on an event stream until a comment is, 15 s. (HTTP-54)
    pub keep_alive: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            replay_bytes_max: 256 << 10,
            retry: Duration::from_secs(1),
            prime_after: Duration::from_millis(50),
            keep_alive: Duration::from_secs(15),
        }
    }
}

/// One HTTP request and its response, while both last.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ExchangeId(pub(crate) u64);

/// A [`Server`] over HTTP: a session of many exchanges, or one exchange that stands alone.
///
/// It dereferences to the server, for what the application does. A driver hands over each request that was
/// [admitted](super::admit), asks for the head of its response with [`poll_reply`](Self::poll_reply) and for the pieces
/// of its body with [`poll_frame`](Self::poll_frame), and says when the client is [gone](Self::handle_gone).
///
/// ```
/// use mcp_proto::http::{Body, Session, Settings};
/// use mcp_proto::server::{Config, Event, Server};
/// use mcp_proto::schema::CallToolResult;
/// use mcp_proto::{Capability, Instant};
///
/// let now = Instant::ZERO;
/// let server = Server::new(now, Config::new("weather", "1.0.0").capability(Capability::Tools));
/// let mut session = Session::new(server, "7c1e", Settings::default());
/// let hello = session.handle_post(now, true, &br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
///     "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#[..]);
/// assert_eq!(session.poll_reply(hello).unwrap().status, 200);
/// let ready = session.handle_post(now, false, &br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#[..]);
/// assert_eq!(session.poll_reply(ready).unwrap().status, 202);
///
/// let call = session.handle_post(now, true,
///     &br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"today"}}"#[..]);
/// assert!(session.poll_reply(call).is_none(), "nothing to say yet");
/// while let Some(event) = session.poll_event() {
///     if let Event::Request { incoming, .. } = event {
///         session.respond(now, incoming, &CallToolResult::text("sunny")).unwrap();
///     }
/// }
/// assert!(matches!(session.poll_reply(call).unwrap().body, Body::Whole(_)));
/// ```
#[derive(Debug)]
pub struct Session {
    server: Server,
    settings: Arc<Settings>,
    /// What the client says to be in it; none for an exchange that stands alone.
    id: Option<Box<str>>,
    /// What its events are named by.
    tag: u32,
    /// The revision of the request, where it stands alone.
    alone: Option<Revision>,
    /// The client was told the id.
    is_named: bool,
    paths: SmallMap<StreamId, Path, 2>,
    exchanges: SmallMap<ExchangeId, Exchange, 1>,
    /// Messages that can be sent again, oldest first; of each stream they are those before any that waits.
    kept: VecDeque<(StreamId, u64)>,
    kept_bytes: usize,
    next: u64,
    now: Instant,
}

/// One stream, and who reads it.
#[derive(Debug)]
struct Path {
    stream: Stream,
    reader: Option<ExchangeId>,
    /// Messages from this number on wait for the reader, and count as unsent; those before are kept.
    held_from: u64,
}

#[derive(Debug)]
struct Exchange {
    stream: StreamId,
    /// It came with something to be answered.
    is_request: bool,
    stage: Stage,
    /// When to say something although there is nothing to say.
    due: Instant,
    /// Ends as soon as what there is was said.
    is_cut: bool,
    /// Bytes to send before anything else.
    opening: Vec<u8>,
}

/// How far a response is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// What kind of response it becomes is open.
    Undecided,
    /// It is an event stream whose head was not asked for yet.
    Begun,
    /// It is an event stream.
    Streaming,
}

/// What follows an event is not kept any more, or never was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unresumable;

impl fmt::Display for Unresumable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what follows this event is not kept")
    }
}

impl core::error::Error for Unresumable {}

impl From<Unresumable> for Refusal {
    fn from(unresumable: Unresumable) -> Self {
        Self::new(400, alloc::format!("{unresumable}"))
    }
}

/// What belongs to no request.
const UNASKED: StreamId = StreamId(0);

/// What one piece of an event stream may hold before its last event.
const FRAME_BYTES: usize = 16 * 1024;

/// What it costs to keep a message, besides its bytes.
const KEPT_COST: usize = 128;

impl Session {
    /// A session; its id is what the client names it by, and was drawn by the driver. Many can share their settings.
    /// (HTTP-29, HTTP-30)
    #[must_use]
    pub fn new(server: Server, id: &str, settings: impl Into<Arc<Settings>>) -> Self {
        let mut session = Self::over(server, Some(id.into()), settings.into());
        session.paths.insert(UNASKED, Path::new(None));
        session
    }

    /// One exchange that shares nothing with any other: a request that says all there is to know of itself. When its
    /// client is gone, it is cancelled.
    #[must_use]
    pub fn alone(server: Server, revision: Revision, settings: impl Into<Arc<Settings>>) -> Self {
        Self { alone: Some(revision), ..Self::over(server, None, settings.into()) }
    }

    /// What the request that stands alone said of who makes it, for [`recall`](Self::recall) in another exchange.
    #[must_use]
    pub fn said(&mut self) -> Option<&Said> {
        self.server.core().said()
    }

    /// Takes what was said in another exchange of a server of the same [`Config`](crate::server::Config) or a clone of
    /// it. Where the next request says the same to the byte, that need not be read again; else it changes nothing.
    pub fn recall(&mut self, said: &Said) {
        self.server.core().recall(said);
    }

    fn over(mut server: Server, id: Option<Box<str>>, settings: Arc<Settings>) -> Self {
        server.core().have_paths();
        Self {
            server,
            settings,
            tag: id.as_deref().map_or(0, tag),
            id,
            alone: None,
            is_named: false,
            paths: SmallMap::default(),
            exchanges: SmallMap::default(),
            kept: VecDeque::new(),
            kept_bytes: 0,
            next: 1,
            now: Instant::ZERO,
        }
    }

    /// What the client says to be in this session.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Whether a request is in flight or somebody listens: it is not idle then.
    pub fn is_busy(&mut self) -> bool {
        self.route();
        let in_flight = |(id, path): (&StreamId, &Path)| *id != UNASKED && !path.stream.is_done;
        !self.exchanges.is_empty() || !self.server.is_closed() && self.paths.iter().any(in_flight)
    }

    /// Takes in a POST: one message. `is_request` says whether it is to be answered.
    pub fn handle_post<'a>(
        &mut self,
        now: Instant,
        is_request: bool,
        message: impl Into<Incoming<'a>>,
    ) -> ExchangeId {
        self.post(now, is_request, |server, now, stream| server.handle_message(now, stream, message))
    }

    /// As [`handle_post`](Self::handle_post), of a body that [`Head::read_once`](super::Head::read_once) has read.
    pub fn handle_decoded(&mut self, now: Instant, is_request: bool, decoded: Decoded<'_>) -> ExchangeId {
        let Decoded { body, message, depth_max, id_bytes_max } = decoded;
        self.post(now, is_request, |server, now, stream| {
            let limits = server.limits();
            let is_alike = limits.depth_max == depth_max && limits.id_bytes_max == id_bytes_max;
            match message.filter(|_| is_alike) {
                Some(message) => server.core().handle_decoded(now, stream, body, message),
                None => server.handle_message(now, stream, body.clone()),
            }
        })
    }

    fn post(
        &mut self,
        now: Instant,
        is_request: bool,
        hand_over: impl FnOnce(&mut Server, Instant, StreamId),
    ) -> ExchangeId {
        self.now = self.now.max(now);
        let (stream, id) = (StreamId(self.next), self.next_exchange());
        self.paths.insert(stream, Path::new(Some(id)));
        let wait = if self.primes() { self.settings.prime_after } else { self.settings.keep_alive };
        let due = self.now + wait;
        let stage = Stage::Undecided;
        self.exchanges
            .insert(id, Exchange { stream, is_request, stage, due, is_cut: false, opening: Vec::new() });
        hand_over(&mut self.server, self.now, stream);
        self.route();
        if let Some(path) = self.paths.get_mut(&stream).filter(|_| !is_request) {
            path.stream.is_done = true;
        }
        id
    }

    /// Takes in a GET: what belongs to no request, or what follows the event that the client had last. (SSE-17…SSE-19)
    /// Whoever read the same before does so no longer. (HTTP-27)
    ///
    /// # Errors
    /// [`Unresumable`] when what followed is not kept any more, or never was.
    pub fn handle_get(
        &mut self,
        now: Instant,
        last_event_id: Option<&str>,
    ) -> Result<ExchangeId, Unresumable> {
        self.now = self.now.max(now);
        self.route();
        if self.id.is_none() {
            // What stands alone is heard once. (SSE-24, HTTP-53)
            return Err(Unresumable);
        }
        let (stream, last) = match last_event_id {
            Some(id) => {
                read_event_id(self.tag, id).map(|(stream, last)| (stream, Some(last))).ok_or(Unresumable)?
            }
            None => (UNASKED, None),
        };
        let path = self.paths.get(&stream).ok_or(Unresumable)?;
        if last.is_some_and(|last| !path.stream.has_after(last)) {
            return Err(Unresumable);
        }
        self.detach(stream);
        // What does not fit into what is kept may have gone just now.
        let path = self.paths.get_mut(&stream).ok_or(Unresumable)?;
        if last.is_some_and(|last| !path.stream.resume(last)) {
            return Err(Unresumable);
        }
        let opening = if self.primes() { self.priming(stream) } else { comment() };
        let id = self.next_exchange();
        if let Some(path) = self.paths.get_mut(&stream) {
            path.reader = Some(id);
            path.held_from = path.stream.end();
        }
        let due = self.now + self.settings.keep_alive;
        let stage = Stage::Begun;
        self.exchanges.insert(id, Exchange { stream, is_request: true, stage, due, is_cut: false, opening });
        Ok(id)
    }

    fn next_exchange(&mut self) -> ExchangeId {
        self.next += 1;
        ExchangeId(self.next - 1)
    }

    /// The client is gone, or takes no more of a response. Of a session nothing is lost by it; an exchange that stands
    /// alone is cancelled. (T-76, T-77)
    pub fn handle_gone(&mut self, now: Instant, id: ExchangeId) {
        self.now = self.now.max(now);
        let Some(Exchange { stream, .. }) = self.exchanges.remove(&id) else { return };
        if self.id.is_none() {
            self.server.core().handle_gone(self.now, stream);
            self.route();
            self.forget(stream);
        } else if self.paths.get(&stream).is_some_and(|path| path.reader == Some(id)) {
            self.detach(stream);
        }
    }

    /// Time has passed. Early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.server.handle_timeout(self.now);
        self.route();
        let due: Vec<ExchangeId> = self
            .exchanges
            .iter()
            .filter(|(_, exchange)| exchange.due <= self.now)
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            let Some(exchange) = self.exchanges.get(&id) else { continue };
            let is_undecided = exchange.stage == Stage::Undecided;
            let opening = match exchange.stage {
                // It is asked for soon, and is better than what says nothing.
                _ if self.has_news(id, exchange) => Vec::new(),
                Stage::Undecided if self.primes() => self.priming(exchange.stream),
                Stage::Undecided | Stage::Begun | Stage::Streaming => comment(),
            };
            let due = self.now + self.settings.keep_alive;
            let Some(exchange) = self.exchanges.get_mut(&id) else { continue };
            exchange.due = due;
            if is_undecided && !opening.is_empty() {
                exchange.stage = Stage::Begun;
            }
            if exchange.opening.is_empty() {
                exchange.opening = opening;
            }
        }
    }

    /// Whether an exchange has something to say, or ends.
    fn has_news(&self, id: ExchangeId, exchange: &Exchange) -> bool {
        let path = self.paths.get(&exchange.stream).filter(|path| path.reader == Some(id));
        let Some(path) = path else { return true };
        exchange.is_cut || path.stream.is_done || !path.stream.is_read() || self.server.is_closed()
    }

    /// When to call `handle_timeout`; `None` when waiting changes nothing. O(exchanges).
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.exchanges.values().map(|exchange| exchange.due).chain(self.server.poll_timeout()).min()
    }

    /// The next event, if there is one. O(1).
    pub fn poll_event(&mut self) -> Option<Event> {
        self.server.poll_event()
    }

    /// Whether there is something to send for any exchange: a head, or a piece of a body.
    pub fn has_output(&mut self) -> bool {
        self.route();
        let has_output = |(id, exchange): (&ExchangeId, &Exchange)| {
            exchange.stage == Stage::Begun || !exchange.opening.is_empty() || self.has_news(*id, exchange)
        };
        self.exchanges.iter().any(has_output) || self.server.is_closed()
    }

    /// The head of a response, once there is something to say; it is given once.
    pub fn poll_reply(&mut self, id: ExchangeId) -> Option<Reply> {
        self.route();
        let exchange = self.exchanges.get(&id)?;
        let path = self.paths.get(&exchange.stream).filter(|path| path.reader == Some(id));
        let is_fresh = exchange.stage == Stage::Undecided;
        match path {
            _ if exchange.stage == Stage::Streaming => return None,
            // Somebody else reads it: all there is to do is to end.
            None => {}
            Some(_) if !is_fresh || exchange.is_cut => {}
            Some(Path { stream, .. }) if stream.is_done && stream.unread() <= 1 => {
                return Some(self.whole(id));
            }
            Some(Path { stream, .. }) if stream.is_read() && self.server.is_closed() => {
                return Some(self.whole(id));
            }
            Some(Path { stream, .. }) if stream.is_read() => return None,
            Some(_) => {}
        }
        let opening = match path {
            Some(_) if is_fresh && self.primes() => self.priming(exchange.stream),
            _ => Vec::new(),
        };
        let due = self.now + self.settings.keep_alive;
        if let Some(exchange) = self.exchanges.get_mut(&id) {
            exchange.stage = Stage::Streaming;
            exchange.due = due;
            if is_fresh {
                exchange.opening = opening;
            }
        }
        let mut head = Reply::events();
        self.name(&mut head);
        Some(head)
    }

    /// A response that is one JSON value, or nothing. With it the exchange is over, and nothing is kept of it.
    fn whole(&mut self, id: ExchangeId) -> Reply {
        let Some(exchange) = self.exchanges.remove(&id) else { return Reply::empty(503) };
        let reply = self.paths.get_mut(&exchange.stream).and_then(|path| path.stream.poll());
        self.release(exchange.stream, usize::MAX);
        self.forget(exchange.stream);
        let mut head = match reply {
            Some((_, reply)) if exchange.is_request => {
                let status = self.alone.map_or(200, |revision| status_of(revision, &reply));
                Reply::json(status, reply)
            }
            Some((_, reply)) => Reply::json(400, reply),
            None if !exchange.is_request => Reply::empty(202),
            // The request was cancelled, or its session has ended: there is no answer.
            None => Reply::empty(if self.server.is_closed() { 503 } else { 204 }),
        };
        self.name(&mut head);
        head
    }

    /// The client learns the id of its session from the first response. (HTTP-29)
    fn name(&mut self, head: &mut Reply) {
        if let Some(id) = self.id.as_deref().filter(|_| !self.is_named && self.server.peer().is_some()) {
            head.fields.push(("mcp-session-id", String::from(id)));
            self.is_named = true;
        }
    }

    /// The next piece of an event stream, if there is one. After [`Frame::End`] the exchange is over.
    pub fn poll_frame(&mut self, id: ExchangeId) -> Option<Frame> {
        self.route();
        let is_numbered = self.id.is_some();
        let Some(exchange) = self.exchanges.get_mut(&id) else { return Some(Frame::End) };
        if exchange.stage != Stage::Streaming {
            return None;
        }
        let mut frame = core::mem::take(&mut exchange.opening);
        let (stream, is_cut) = (exchange.stream, exchange.is_cut);
        let path = self.paths.get_mut(&stream).filter(|path| path.reader == Some(id));
        let Some(path) = path else {
            self.exchanges.remove(&id);
            return Some(Frame::End);
        };
        let mut released = 0;
        while frame.len() < FRAME_BYTES {
            let Some((number, message)) = path.stream.poll() else { break };
            let name = is_numbered.then(|| event_id(self.tag, stream, number));
            let event = sse::Frame { id: name.as_deref(), data: &message, ..sse::Frame::default() };
            // It is JSON on one line, and an id of ours.
            let _always_fits = event.write(&mut frame);
            if number >= path.held_from {
                released += message.len();
                if is_numbered {
                    self.kept.push_back((stream, number));
                    self.kept_bytes += message.len() + KEPT_COST;
                } else {
                    path.stream.forget(number);
                }
            }
        }
        let is_over = path.stream.is_over();
        if !frame.is_empty() {
            exchange.due = self.now + self.settings.keep_alive;
            self.release(stream, released);
            self.evict();
            return Some(Frame::Bytes(frame.into()));
        }
        if !is_over && !is_cut && !self.server.is_closed() {
            return None;
        }
        self.exchanges.remove(&id);
        if is_numbered {
            self.detach(stream);
        } else {
            self.forget(stream);
        }
        Some(Frame::End)
    }

    /// Gives back what a session holds ready while messages come and go, unless some do: to be called once nothing has
    /// gone on for a while, where there are many sessions. Costs nothing but that it is there anew for the next message.
    pub fn rest(&mut self) {
        if self.exchanges.is_empty() {
            self.server.core().rest();
            if self.kept.is_empty() {
                self.kept = VecDeque::new();
            }
        }
    }

    /// Ends the session: requests may be answered for [`Limits::drain_timeout`](crate::Limits::drain_timeout) more.
    pub fn close(&mut self, now: Instant) {
        self.server.close(now);
    }

    /// Takes what the server wants sent to the streams that it belongs to.
    fn route(&mut self) {
        // The application tells the server alone what time it is.
        self.now = self.now.max(self.server.core().now());
        // Asking for the outbox has it filled up with what found no room before.
        while !self.server.outbox().is_empty() {
            while let Some((to, message)) = self.server.core().outbox().poll_routed() {
                self.put(to, message);
            }
        }
    }

    fn put(&mut self, to: To, message: Bytes) {
        let stream = to.stream.unwrap_or(UNASKED);
        let primes = self.primes();
        // Nobody can ask for what is said on a path that is gone.
        let Some(path) = self.paths.get_mut(&stream) else { return self.release(stream, message.len()) };
        if message.is_empty() {
            let reader = path.reader.and_then(|reader| self.exchanges.get_mut(&reader));
            path.stream.is_done |= to.ends;
            if let Some(reader) = reader.filter(|_| primes && !to.ends) {
                reader.is_cut = true;
            }
            return self.sweep(stream);
        }
        let bytes = message.len();
        let number = path.stream.push(message);
        path.stream.is_done |= to.ends;
        if path.reader.is_none() {
            self.release(stream, bytes);
            self.kept.push_back((stream, number));
            self.kept_bytes += bytes + KEPT_COST;
            self.evict();
        }
    }

    /// What waited to be sent on a stream was, or is not to be any more.
    fn release(&mut self, stream: StreamId, bytes: usize) {
        let stream = Some(stream).filter(|stream| *stream != UNASKED);
        self.server.core().outbox().release(stream, bytes);
    }

    /// Nobody reads this stream any more: what waited for the reader is kept for the next.
    fn detach(&mut self, stream: StreamId) {
        self.dismiss(stream);
        self.evict();
        self.sweep(stream);
    }

    /// As `detach`, and more may be kept then than is allowed.
    fn dismiss(&mut self, stream: StreamId) {
        let Some(path) = self.paths.get_mut(&stream).filter(|path| path.reader.is_some()) else { return };
        path.reader = None;
        let first = path.held_from.max(path.stream.read() + 1);
        for (number, bytes) in path.stream.since(first) {
            self.kept.push_back((stream, number));
            self.kept_bytes += bytes + KEPT_COST;
        }
        self.release(stream, usize::MAX);
    }

    /// Forgets the oldest of what is kept, until what is left is within bounds.
    fn evict(&mut self) {
        while self.kept_bytes > self.settings.replay_bytes_max {
            let Some((stream, number)) = self.kept.pop_front() else { break };
            let Some(path) = self.paths.get_mut(&stream) else { continue };
            let is_unread = path.stream.read() < number;
            self.kept_bytes -= path.stream.forget(number) + KEPT_COST;
            // Whoever was behind cannot catch up, and must not be told what follows the gap as if there were none.
            if is_unread {
                self.dismiss(stream);
            }
            self.sweep(stream);
        }
    }

    /// Forgets a stream that has nothing more to say to anybody.
    fn sweep(&mut self, stream: StreamId) {
        let is_spent = |path: &Path| path.reader.is_none() && path.stream.is_done && path.stream.is_empty();
        if stream != UNASKED && self.paths.get(&stream).is_some_and(is_spent) {
            self.paths.remove(&stream);
        }
    }

    /// Forgets a stream of which nothing is kept.
    fn forget(&mut self, stream: StreamId) {
        self.paths.remove(&stream);
        self.release(stream, usize::MAX);
    }

    /// Whether event streams begin with an event to resume from.
    fn primes(&self) -> bool {
        self.id.is_some() && self.server.peer().is_some_and(|peer| peer.revision.rules().streams_are_primed)
    }

    /// An event without a message, to resume from; with the time to wait until then. (HTTP-16)
    fn priming(&self, stream: StreamId) -> Vec<u8> {
        let read = self.paths.get(&stream).map_or(0, |path| path.stream.read());
        let mut out = Vec::new();
        let id = event_id(self.tag, stream, read);
        let event = sse::Frame { id: Some(&id), retry: Some(self.settings.retry), ..sse::Frame::default() };
        let _always_fits = event.write(&mut out);
        out
    }
}

impl Path {
    fn new(reader: Option<ExchangeId>) -> Self {
        Self { stream: Stream::new(), reader, held_from: 1 }
    }
}

/// A line that says nothing, so that whoever is in between sees that the stream lives. (HTTP-54)
fn comment() -> Vec<u8> {
    b":\n\n".to_vec()
}

impl Deref for Session {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

#[cfg(test)]
mod tests;
