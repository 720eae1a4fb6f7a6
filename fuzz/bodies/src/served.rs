//! One session of a server over HTTP, or one modern exchange, with its driver and application.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_harness::SentMessages;
use mcp_proto::http::{Body, BodyChunk, HttpServer, ServerExchangeId, StreamSettings, sse};
use mcp_proto::schema::Level;
use mcp_proto::server::{self, Event, Server};
use mcp_proto::{
    CallOptions, Capability, Change, Era, ErrorObject, IncomingId, Instant, Limits,
    MessageEndpoint as _, NeededInput, Progress, Raw, Revision,
};

/// The prefix of the ids of [`Served::ask`], which no other message contains.
pub(crate) const OUR: &str = "our-";

/// The limit of the replay buffer.
pub(crate) const REPLAY_BYTES_MAX: usize = 1500;

#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) http: HttpServer,
    revision: Revision,
    open: Vec<IncomingId>,
    /// The requests whose questions were sent, and that were not cancelled afterwards.
    asked: BTreeSet<IncomingId>,
    /// Whether the head of each response was polled.
    exchanges: BTreeMap<ServerExchangeId, bool>,
    connections: BTreeMap<ServerExchangeId, u64>,
    said: SentMessages,
    next: u64,
    is_closed: bool,
}

/// Returns the configuration of every machine.
pub(crate) fn config() -> server::Config {
    let limits = Limits {
        message_bytes_max: 2000,
        calls_max: 8,
        requests_max: 6,
        events_max: 8,
        outbox_bytes_max: 3000,
        ..Limits::default()
    };
    [Capability::Tools, Capability::ToolsListChanged, Capability::Logging, Capability::Resources]
        .into_iter()
        .fold(server::Config::new("s", "1").limits(limits), server::Config::capability)
}

impl Served {
    /// Creates an open session, or a host before its only exchange.
    pub(crate) fn new(now: Instant, revision: Revision, id: &str) -> Self {
        let server = Server::new(now, config());
        let settings =
            StreamSettings { replay_bytes_max: REPLAY_BYTES_MAX, ..StreamSettings::default() };
        let is_alone = revision.era() == Era::Modern;
        let http = if is_alone {
            HttpServer::modern(server, revision, settings)
        } else {
            HttpServer::legacy(server, id, settings)
        };
        let mut served = Self {
            http,
            revision,
            open: Vec::new(),
            asked: BTreeSet::new(),
            exchanges: BTreeMap::new(),
            connections: BTreeMap::new(),
            said: SentMessages::to_stranger(OUR),
            next: 0,
            is_closed: false,
        };
        if !is_alone {
            let hello = format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#,
                revision.name()
            );
            served.post(now, true, hello.as_bytes());
            served.post(now, false, br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
            served.read_all();
            assert!(served.exchanges.is_empty() && served.http.peer().is_some());
        }
        served
    }

    const fn is_alone(&self) -> bool {
        matches!(self.revision.era(), Era::Modern)
    }

    /// Posts a message, if there is room for it.
    pub(crate) fn post(&mut self, now: Instant, is_request: bool, body: &[u8]) {
        // A modern host has a single exchange.
        if self.is_alone() && self.next > 0 || !self.http.wants_input() && !self.http.is_closed() {
            return;
        }
        let exchange = self.http.handle_post(now, is_request, body);
        self.begin(exchange);
    }

    fn begin(&mut self, exchange: ServerExchangeId) {
        self.next += 1;
        self.connections.insert(exchange, self.next);
        assert!(self.exchanges.insert(exchange, false).is_none(), "no id is used twice");
        self.look();
    }

    /// Posts a request.
    pub(crate) fn ask(&mut self, now: Instant, which: u8) {
        let meta = if self.is_alone() {
            let name = self.revision.name();
            format!(
                r#""io.modelcontextprotocol/protocolVersion":"{name}","io.modelcontextprotocol/clientCapabilities":{{"roots":{{}}}},"io.modelcontextprotocol/logLevel":"debug","#
            )
        } else {
            String::new()
        };
        let methods =
            ["tools/call", "tools/list", "ping", "subscriptions/listen", "resources/read", "x/y"];
        let method = methods[usize::from(which) % methods.len()];
        let id = self.next;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":"{OUR}{id}","method":"{method}","params":{{"name":"t","uri":"a:b","notifications":{{"toolsListChanged":true}},"_meta":{{{meta}"progressToken":{id}}}}}}}"#
        );
        self.post(now, true, body.as_bytes());
    }

    /// Opens a GET stream, or resumes one after an event.
    pub(crate) fn get(&mut self, now: Instant, last: Option<&str>) {
        if let Ok(exchange) = self.http.handle_get(now, last) {
            self.begin(exchange);
        }
    }

    fn pick(&self, which: u8) -> Option<ServerExchangeId> {
        self.exchanges.keys().nth(usize::from(which) % self.exchanges.len().max(1)).copied()
    }

    /// Disconnects a client.
    pub(crate) fn gone(&mut self, now: Instant, which: u8) {
        let Some(exchange) = self.pick(which) else { return };
        self.http.handle_gone(now, exchange);
        self.end(exchange);
        if self.is_alone() {
            self.look();
            assert!(self.open.is_empty(), "{:?} are open without a client", self.open);
            assert!(!self.http.is_busy());
        }
    }

    fn end(&mut self, exchange: ServerExchangeId) {
        self.exchanges.remove(&exchange);
        if let Some(connection) = self.connections.remove(&exchange) {
            self.said.forget(connection);
        }
    }

    /// Writes up to `pieces` pieces of one response; zero writes its head only.
    pub(crate) fn read(&mut self, which: u8, pieces: usize) {
        if let Some(exchange) = self.pick(which) {
            self.read_one(exchange, pieces);
        }
    }

    /// Writes all responses as far as possible.
    pub(crate) fn read_all(&mut self) {
        let all: Vec<_> = self.exchanges.keys().copied().collect();
        all.into_iter().for_each(|exchange| self.read_one(exchange, usize::MAX));
    }

    fn read_one(&mut self, exchange: ServerExchangeId, pieces: usize) {
        let (is_alone, connection) = (self.is_alone(), self.connections[&exchange]);
        if !self.exchanges[&exchange] {
            let Some(reply) = self.http.poll_reply(exchange) else { return };
            assert!((200..600).contains(&reply.status), "{reply:?}");
            if let Body::Whole(body) = reply.body {
                breaks(self.said.whole(connection, &body, is_alone));
                return self.end(exchange);
            }
            self.exchanges.insert(exchange, true);
        }
        assert_eq!(self.http.poll_reply(exchange), None, "a head is given once");
        for _ in 0..pieces {
            match self.http.poll_chunk(exchange) {
                None => return,
                Some(BodyChunk::End) => return self.end(exchange),
                Some(BodyChunk::Bytes(bytes)) => {
                    breaks(self.said.frame(connection, &bytes, is_alone));
                }
            }
        }
    }

    pub(crate) fn look(&mut self) {
        let mut held = 0;
        while let Some(event) = self.http.poll_event() {
            held += size_of::<Event>();
            assert!(!self.is_closed, "an event after the last one: {event:?}");
            match event {
                Event::Request { incoming, .. } => self.open.push(incoming),
                Event::RequestCancelled { incoming, .. } => {
                    let is_known = self.open.contains(&incoming) || self.asked.remove(&incoming);
                    assert!(is_known, "{incoming} is not open");
                    self.open.retain(|open| *open != incoming);
                }
                Event::Closed(_) => {
                    assert!(self.open.is_empty());
                    self.is_closed = true;
                }
                _ => {}
            }
        }
        // Waiting events were within the limits, and so is everything still open.
        let limits = self.http.limits();
        assert!(held <= limits.memory_max(), "{held} bytes were held");
        assert!(self.open.len() <= limits.requests_max, "{:?} are open", self.open);
    }

    pub(crate) const ACTS: u8 = 9;

    /// Runs a command of the application.
    pub(crate) fn act(&mut self, now: Instant, what: u8, which: u8) {
        let incoming = self.open.get(usize::from(which) % self.open.len().max(1)).copied();
        let ended = match (what % Self::ACTS, incoming) {
            (0, Some(incoming)) => self.http.respond(now, incoming, &Raw::empty_object()).is_ok(),
            (1, Some(incoming)) => {
                self.http.respond_error(now, incoming, &ErrorObject::internal("no")).is_ok()
            }
            (2, Some(incoming)) => {
                let questions = [("a", NeededInput::Roots)];
                let is_asked = self.http.request_input(now, incoming, &questions, None).is_ok();
                is_asked && self.asked.insert(incoming)
            }
            (3, Some(incoming)) => {
                let _may_be_stale =
                    self.http.progress(now, incoming, &Progress::new(f64::from(which)));
                false
            }
            (4, Some(incoming)) => {
                let _may_be_stale = self.http.end_stream(now, incoming);
                false
            }
            (5, _) => {
                // Long messages fill the replay buffer.
                let long = Raw::from_text(&format!("\"{}\"", "x".repeat(usize::from(which) * 4)));
                if let Ok(data) = long {
                    let _may_be_blocked = self.http.log(now, incoming, Level::Error, None, &data);
                }
                false
            }
            (6, _) => {
                let _may_be_blocked = self.http.notify_changed(now, Change::Tools);
                false
            }
            (7, _) => {
                let options = CallOptions { parent: incoming, ..CallOptions::default() };
                let _may_be_refused = self.http.call_raw(now, "roots/list", None, options);
                false
            }
            _ => false,
        };
        if ended {
            self.open.retain(|open| Some(*open) != incoming);
        }
        self.look();
    }

    pub(crate) fn wait(&mut self, now: Instant) {
        self.http.handle_timeout(now);
        self.look();
    }

    /// Checks the size of the replay buffer by requesting all of it without any other reader.
    pub(crate) fn check_kept(&mut self, now: Instant) {
        while let Some(exchange) = self.pick(0) {
            self.http.handle_gone(now, exchange);
            self.end(exchange);
        }
        if self.is_alone() {
            return;
        }
        let mut bytes = 0;
        for (stream, numbers) in self.said.ids() {
            let from = std::iter::once(0).chain(numbers);
            let opened = from.filter_map(|last| {
                self.http.handle_get(now, Some(&format!("{stream}-{last}"))).ok()
            });
            let Some(exchange) = opened.take(1).next() else { continue };
            let _head = self.http.poll_reply(exchange);
            let mut reader = sse::EventReader::new(usize::MAX, 256);
            while let Some(BodyChunk::Bytes(frame)) = self.http.poll_chunk(exchange) {
                let mut rest = &frame[..];
                while let Some(found) = reader.next(&mut rest) {
                    let sse::Item::Event(event) = found else { continue };
                    bytes += event.message().map_or(0, |data| data.len() + 128);
                }
            }
            self.http.handle_gone(now, exchange);
        }
        assert!(bytes <= REPLAY_BYTES_MAX, "{bytes} bytes are kept");
    }

    /// Ends the host, which leaves nothing.
    pub(crate) fn finish(&mut self, mut now: Instant) {
        self.http.close(now);
        for _ in 0..4 {
            now += Duration::from_secs(60);
            self.wait(now);
            self.read_all();
        }
        self.look();
        assert!(self.is_closed && self.http.is_closed() && self.open.is_empty());
        assert!(self.exchanges.is_empty(), "{:?} do not end", self.exchanges);
        assert_eq!(self.http.poll_timeout(), None);
    }

    /// Returns ids of events, some of which exist.
    pub(crate) fn event_id(&self, which: u8, how: u8) -> String {
        let ids: Vec<(String, BTreeSet<u64>)> = self.said.ids().into_iter().collect();
        match ids.get(usize::from(which) % (ids.len() + 1)) {
            Some((stream, numbers)) => {
                let last = numbers.last().copied().unwrap_or_default();
                format!("{stream}-{}", u64::from(how) % (last + 2))
            }
            None => format!("{}-{}", which % 32, how % 8),
        }
    }
}

fn breaks(done: Result<(), String>) {
    if let Err(why) = done {
        panic!("{why}");
    }
}
