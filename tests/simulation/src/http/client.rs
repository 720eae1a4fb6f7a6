//! One client of a world: its machine, its application and its exchanges.

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::client::{Client as Machine, Event};
use mcp_proto::http::client::{
    Action as Todo, ExchangeId, HttpClient, HttpEvent as Heard, HttpMethod,
};
use mcp_proto::http::sse::EventReader;
use mcp_proto::{CallError, CallId, CallOptions, IncomingId, Instant, MessageEndpoint as _, Raw};

use super::conn::{ConnId, Piece};
use super::model::Shared;
use super::net::Net;
use super::outcome::{self, OpenCall};
use crate::model::tag_of;
use crate::observed::variant;

/// Exchanges beyond those of calls: notifications, closing ones, the GET stream, and the DELETE.
const OTHERS_MAX: usize = 64 + 32 + 2;

#[derive(Debug)]
pub(super) struct Client {
    pub(super) index: usize,
    pub(super) http: HttpClient,
    pub(super) calls: BTreeMap<CallId, OpenCall>,
    /// The server's requests, each with the call it belongs to and its method.
    pub(super) requests: BTreeMap<IncomingId, (Option<CallId>, String)>,
    pub(super) exchanges: BTreeMap<ExchangeId, ConnId>,
    /// The number of log messages received.
    heard: BTreeSet<String>,
    pub(super) is_busy: bool,
    pub(super) was_busy: bool,
    is_closed: bool,
    readies: u32,
}

impl Client {
    pub(super) fn new(index: usize, shared: &Shared) -> Self {
        let machine = Machine::new(Instant::ZERO, shared.plan.client.clone());
        Self {
            index,
            http: HttpClient::new(machine, shared.plan.http.clone()),
            calls: BTreeMap::new(),
            requests: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            heard: BTreeSet::new(),
            is_busy: false,
            was_busy: false,
            is_closed: false,
            readies: 0,
        }
    }

    pub(super) fn next_wake(&self, shared: &Shared) -> Option<Instant> {
        self.http.poll_timeout().map(|due| shared.plan.wakes(due))
    }

    /// Does everything possible at this moment; returns false if there was nothing.
    pub(super) fn drive(&mut self, shared: &mut Shared, net: &mut Net) -> bool {
        let mut moved = false;
        if self.next_wake(shared).is_some_and(|at| at <= shared.now) {
            self.http.handle_timeout(shared.now);
            moved = true;
        }
        moved |= self.look(shared);
        moved |= self.obey(shared, net);
        let conns: Vec<_> = self.exchanges.iter().map(|(exchange, id)| (*exchange, *id)).collect();
        for (exchange, id) in conns {
            moved |= self.take(shared, net, exchange, id);
            moved |= self.obey(shared, net);
        }
        moved | self.look(shared)
    }

    /// Executes the machine's requests to the transport.
    fn obey(&mut self, shared: &mut Shared, net: &mut Net) -> bool {
        let mut moved = false;
        while let Some(todo) = self.http.poll_action() {
            moved = true;
            match todo {
                Todo::Send(send) => {
                    let body =
                        Raw::from_text(std::str::from_utf8(&send.body).unwrap_or_default()).ok();
                    let asks = body.as_ref().filter(|body| body.member("method").is_some());
                    let tag = tag_of(asks.and_then(|body| body.member("params")).as_ref());
                    let is_right = (send.method == HttpMethod::Post) == body.is_some();
                    if !is_right {
                        shared.breach(format!("not one message: {send:?}"));
                    }
                    if let Err(why) = shared.model.sent(tag) {
                        shared.breach(why);
                    }
                    if send.header("last-event-id").is_some() {
                        shared.mark("http.reached last-event-id");
                    }
                    let exchange = send.exchange;
                    shared.mark(&format!("http.verb {}", send.method));
                    let id = net.begin(
                        shared.now,
                        &shared.plan,
                        &mut shared.coverage,
                        self.index,
                        send,
                        tag,
                    );
                    shared.tell(|| {
                        let conn = &net.conns[&id];
                        let body = String::from_utf8_lossy(&conn.send.body);
                        let after = conn.send.header("last-event-id");
                        let (client, verb) = (self.index, conn.send.method);
                        format!(
                            "client {client}: {verb} {id:?} {exchange} {after:?} {:?} {body}",
                            conn.session
                        )
                    });
                    if net.conns.get(&id).is_some_and(|conn| conn.is_cut) {
                        shared.model.with(tag, |matter| matter.is_troubled = true);
                    }
                    if self.exchanges.insert(exchange, id).is_some() {
                        shared.breach(format!("{exchange} was used twice"));
                    }
                }
                Todo::Abort(exchange) => {
                    let Some(id) = self.exchanges.remove(&exchange) else {
                        shared.breach(format!("{exchange} is aborted and not open"));
                    };
                    shared.tell(|| format!("client {}: aborts {id:?} {exchange}", self.index));
                    shared.mark("http.reached abort");
                    net.leave(shared.now, &shared.plan, &mut shared.coverage, id);
                }
            }
        }
        let most = self.http.limits().calls_max + OTHERS_MAX;
        if self.exchanges.len() > most {
            shared.breach(format!("{} exchanges are open, of {most}", self.exchanges.len()));
        }
        moved
    }

    /// Passes the data of an exchange to the machine, as far as it reads.
    fn take(
        &mut self,
        shared: &mut Shared,
        net: &mut Net,
        exchange: ExchangeId,
        id: ConnId,
    ) -> bool {
        let now = shared.now;
        let mut moved = false;
        while let Some(conn) = net.conns.get_mut(&id)
            && self.exchanges.contains_key(&exchange)
        {
            match conn.inbox.front() {
                None => return moved,
                Some(Piece::Body(_)) if !self.http.wants_input(exchange) => {
                    shared.mark("http.reached client-full");
                    return moved;
                }
                Some(_) => moved = true,
            }
            match conn.inbox.pop_front() {
                Some(Piece::Head(status, fields)) => {
                    let fields: Vec<(&str, &str)> =
                        fields.iter().map(|(name, value)| (&**name, &**value)).collect();
                    if fields.contains(&("content-type", "text/event-stream")) {
                        conn.reader = Some(Box::new(EventReader::new(usize::MAX, 1024)));
                    }
                    if status == 404 && conn.session.is_some() {
                        shared.mark("http.reached session-lost");
                        shared.model.orphan(self.index);
                    }
                    self.http.handle_head(now, exchange, status, &fields);
                }
                Some(Piece::Body(bytes)) => {
                    conn.in_flight -= bytes.len();
                    if conn.read(&bytes) {
                        let tag = conn.tag;
                        shared.model.with(tag, |matter| matter.is_resumable = true);
                    }
                    self.http.handle_body(now, exchange, &bytes);
                }
                Some(Piece::End) => {
                    conn.is_left = true;
                    if conn.is_sse_stream {
                        shared.model.orphan(self.index);
                    }
                    self.exchanges.remove(&exchange);
                    self.http.handle_end(now, exchange);
                }
                Some(Piece::Failure(why)) => {
                    conn.is_left = true;
                    if conn.is_sse_stream {
                        shared.model.orphan(self.index);
                    }
                    let tag = conn.tag;
                    shared.tell(|| format!("client {}: {id:?} {exchange} {why:?}", self.index));
                    shared.model.with(tag, |matter| matter.is_troubled = true);
                    self.exchanges.remove(&exchange);
                    self.http.handle_failure(now, exchange, why);
                }
                None => {}
            }
        }
        moved
    }

    /// Polls the machine's events.
    pub(super) fn look(&mut self, shared: &mut Shared) -> bool {
        if self.is_busy {
            return false;
        }
        let mut moved = false;
        while let Some(event) = self.http.poll_event() {
            moved = true;
            shared.tell(|| format!("client {} hears {event:?}", self.index));
            if self.is_closed {
                shared.breach(format!("the client has an event after the end: {event:?}"));
            }
            let Heard::Client(event) = event else {
                shared.breach("unexpected request for the client's identity");
            };
            shared.mark(&format!("http.event client.{}", variant(&event)));
            self.hear(shared, event);
        }
        moved
    }

    fn hear(&mut self, shared: &mut Shared, event: Event) {
        match event {
            Event::Ready(peer) => {
                self.readies += 1;
                shared.mark(&format!("http.spoken {}", peer.revision.name()));
                if self.readies > 1 {
                    shared.mark("http.reached initialized-again");
                }
            }
            Event::Closed(why) => {
                self.is_closed = true;
                shared.mark(&format!("http.close {}", variant(&why)));
                if !self.calls.is_empty() || !self.requests.is_empty() {
                    shared.breach(format!("closed with {:?} and {:?}", self.calls, self.requests));
                }
            }
            Event::Completed { call, outcome } => {
                let Some(open) = self.calls.remove(&call) else {
                    shared.breach(format!("{call} ended twice"));
                };
                let end = outcome.as_ref().map_or_else(variant, |_| "ok".to_owned());
                shared.mark(&format!("http.call {end}"));
                let is_over = self.http.is_closed();
                if let Err(why) = outcome::check(shared, &open, &outcome, is_over, self.was_busy) {
                    shared.breach(format!(
                        "client {}'s {call} ended with {outcome:?}: {why}",
                        self.index
                    ));
                }
            }
            Event::Progress { call, progress } => {
                let Some(open) = self.calls.get_mut(&call) else {
                    shared.breach(format!("{call} has progress after its end"));
                };
                if let Err(why) = outcome::advance(shared, open, progress.progress) {
                    shared.breach(format!("client {}'s {call}: {why}", self.index));
                }
            }
            Event::Notification { method, params, .. } => {
                let data =
                    params.and_then(|params| params.member("data")).map(|data| data.to_string());
                shared.mark(&format!("http.heard {method}"));
                if let Some(data) = data
                    && !self.heard.insert(data.clone())
                {
                    shared.breach(format!("client {} heard {data} twice", self.index));
                }
            }
            Event::Request { incoming, call, request } => {
                if let Some(open) = call.and_then(|call| self.calls.get_mut(&call)) {
                    open.questions += 1;
                }
                if self.requests.insert(incoming, (call, request.method.to_string())).is_some() {
                    shared.breach(format!("{incoming} came twice"));
                }
            }
            Event::RequestCancelled { incoming, .. }
                if self.requests.remove(&incoming).is_none() =>
            {
                shared.breach(format!("{incoming} was cancelled and is not open"));
            }
            _ => {}
        }
    }

    /// Does everything the server waits for; returns false if there was nothing.
    pub(super) fn catch_up(&mut self, shared: &mut Shared) -> bool {
        self.is_busy = false;
        let mut moved = self.look(shared);
        let open: Vec<IncomingId> = self.requests.keys().copied().collect();
        for incoming in open {
            moved |= self.answer(shared, incoming);
        }
        moved
    }

    /// Returns whether anything is open that ends by itself.
    pub(super) fn is_open(&self) -> bool {
        self.calls.values().any(|call| !call.is_listening)
    }

    pub(super) fn check_rest(&self, shared: &Shared) {
        if let Some((call, open)) = self.calls.iter().find(|(_, call)| !call.is_listening) {
            shared.breach(format!("client {}'s {call} never ended: {open:?}", self.index));
        }
    }

    /// Checks that the client is closed and quiet.
    pub(super) fn check_end(&mut self, shared: &mut Shared) {
        self.is_busy = false;
        self.look(shared);
        if !self.is_closed || !self.calls.is_empty() {
            shared
                .breach(format!("client {} is closed and has calls: {:?}", self.index, self.calls));
        }
        if !self.exchanges.is_empty() {
            shared.breach(format!("client {} is closed and has {:?}", self.index, self.exchanges));
        }
        if let Some(due) = self.http.poll_timeout() {
            shared.breach(format!("client {} is closed and waits until {due:?}", self.index));
        }
        let last = self.http.call_raw(shared.now, "ping", None, CallOptions::default());
        if last.is_ok() || self.http.poll_event().is_some() {
            shared.breach("an event after the end");
        }
    }
}

/// Returns whether a call ended because its exchange or its session did.
pub(super) const fn is_lost(error: &CallError) -> bool {
    use CallError::{Http, Lost, LostRead, SessionEnded, Unsent};
    matches!(error, Lost | LostRead | SessionEnded | Unsent | Http { .. })
}
