//! Admits the requests to a hub and assigns them to connections.

use alloc::sync::Arc;

use bytes::Bytes;

use super::HttpHub;
use super::connections::{HubConnectionId, HubExchangeId, Tenure};
use super::request::{Admission, HubExchange, HubRequest, PendingBody, ReplySource};
use crate::http::admit::{Admitted, admit, check_origin};
use crate::http::cross_origin::CrossOrigin;
use crate::http::refusal::Refusal;
use crate::http::reply::Reply;
use crate::http::server::{HttpServer, ServerExchangeId};
use crate::http::validate::{Post, PostedMessage, check_version};
use crate::message_endpoint::MessageEndpoint as _;
use crate::method::MethodId;
use crate::rpc::{DecodedMessage, RequestId};
use crate::server::Server;
use crate::time::Instant;
use crate::vocabulary::{Caller, Principal};

/// The number of idle sessions that one request ends at most to make room for its bytes.
const EVICTIONS_MAX: usize = 64;

/// The number of ended exchanges that the queue of ready ones may hold.
const READY_EXCESS_MAX: usize = 64;

/// How long a client that was refused should wait, in seconds.
const RETRY_AFTER: &str = "5";

impl HttpHub {
    pub(super) fn admit(
        &mut self,
        request: &HubRequest<'_>,
        page: &CrossOrigin,
    ) -> Result<Admission, Refusal> {
        let (now, limits) = (self.now, &self.limits);
        let exchanges = self.exchanges.len() + self.pending_bodies.len();
        // Connections whose events were not polled outlive their exchanges.
        let connections_max = limits.exchanges_max.saturating_add(limits.sessions_max);
        if exchanges >= limits.exchanges_max || self.connections.len() >= connections_max {
            return Err(over_limit(503, "too many exchanges (`HubLimits::exchanges_max`)"));
        }
        if let Some(granted) = page.preflight(&self.policy, request.method, request.headers) {
            check_origin(&self.policy, request.headers)?;
            return Ok(Admission::Reply(ReplySource::Reply(granted)));
        }
        let source = match admit(&self.policy, request.method, request.headers)? {
            Admitted::Post(head) => {
                let pending = PendingBody::new(request, head, now + self.limits.body_timeout);
                self.require_bytes(pending.bytes())?;
                return Ok(Admission::Post(pending));
            }
            // HTTP-22: a server need not offer a stream.
            Admitted::Get(_) if !self.has_streams => {
                let refusal = Refusal::new(405, "this server opens no event streams");
                return Err(refusal.header("allow", "POST, DELETE"));
            }
            Admitted::Get(get) => {
                let (id, http) = self.session(&get.session, request.principal(), None)?;
                let exchange = http.handle_get(now, get.last_event_id.as_deref())?;
                ReplySource::Connection(id, exchange)
            }
            Admitted::Delete(session) => {
                let ended = self.sessions.remove(&session, request.principal());
                self.end(ended.ok_or_else(|| Refusal::unknown_session(None))?);
                ReplySource::Reply(Reply::empty(204))
            }
        };
        Ok(Admission::Reply(source))
    }

    /// Passes a posted message to its connection, which is new unless the message has a session.
    pub(super) fn post(
        &mut self,
        pending: PendingBody,
        body: &Bytes,
    ) -> Result<ReplySource, Refusal> {
        self.require_bytes(body.len())?;
        let (now, PendingBody { head, headers, caller, .. }) = (self.now, pending);
        let principal = caller.as_ref().and_then(|caller| caller.principal()).cloned();
        let (post, decoded) = head.read_decoded(&self.policy, &headers, body, &*self.schema_of)?;
        let is_json = !head.accepts_events();
        let settings = Arc::clone(&self.settings);
        let (mut http, message) = match post {
            Post::Sessionless { message, .. } if !message.needs_response() => {
                return Ok(ReplySource::Reply(Reply::empty(202)));
            }
            Post::Initialize { .. } => {
                return self.open_session(caller, principal, body.len(), decoded);
            }
            Post::Session { session, version, message } => {
                let is_json = is_json || !self.has_streams;
                let request = message.request_id();
                let (id, http) = self.session(&session, principal.as_ref(), request)?;
                check_version(version, http.peer().map(|peer| peer.revision), request)?;
                if !http.wants_input() {
                    return Err(over_limit(503, "the session accepts no input for now"));
                }
                let exchange = deliver(now, http, message.needs_response(), caller, decoded);
                if is_json {
                    http.require_json(exchange);
                }
                return Ok(ReplySource::Connection(id, exchange));
            }
            Post::Modern { revision, message } => {
                let server = Server::new(now, self.config.clone());
                (HttpServer::modern(server, revision, settings), message)
            }
            Post::Sessionless { revision, message } => {
                let server = Server::new(now, self.sessionless_config.clone());
                (HttpServer::sessionless(now, server, revision, &message, settings), message)
            }
        };
        core::mem::swap(http.context_cache(), &mut self.contexts);
        let exchange = deliver(now, &mut http, message.needs_response(), caller, decoded);
        core::mem::swap(http.context_cache(), &mut self.contexts);
        // The response to a subscription is an event stream.
        if is_json || !self.has_streams && !is_subscription(&message) {
            http.require_json(exchange);
        }
        let id = self.connections.insert(http, Tenure::Exchange, principal, 0);
        Ok(ReplySource::Connection(id, exchange))
    }

    /// Starts a session, unless its handshake fails.
    // HTTP-29: the response to `initialize` carries the session id.
    fn open_session(
        &mut self,
        caller: Option<Arc<Caller>>,
        principal: Option<Principal>,
        body_bytes: usize,
        decoded: DecodedMessage<'_>,
    ) -> Result<ReplySource, Refusal> {
        let max = self.limits.sessions_per_principal_max;
        if principal.as_ref().is_some_and(|owner| self.sessions.count_of(owner) >= max) {
            let why = "too many sessions (`HubLimits::sessions_per_principal_max`)";
            return Err(over_limit(429, why));
        }
        let description = HttpServer::description_bytes(body_bytes);
        self.require_bytes(description)?;
        let session: Arc<str> = (self.new_session_id)().into();
        let server = Server::new(self.now, self.config.clone());
        let mut settings = Arc::clone(&self.settings);
        if !self.has_streams {
            // No client can read what is kept.
            Arc::make_mut(&mut settings).replay_bytes_max = 0;
        }
        let mut http = HttpServer::legacy(server, Arc::clone(&session), settings);
        let exchange = deliver(self.now, &mut http, true, caller, decoded);
        if http.peer().is_none() {
            let id = self.connections.insert(http, Tenure::Exchange, principal, 0);
            return Ok(ReplySource::Connection(id, exchange));
        }
        if session.is_empty() || self.sessions.contains(&session) {
            return Err(Refusal::new(500, "session id is empty or taken"));
        }
        if self.sessions.has_room().is_err() && !self.evict() {
            return Err(over_limit(503, "too many sessions (`HubLimits::sessions_max`)"));
        }
        let owner = principal.clone();
        let id = self.connections.insert(http, Tenure::Session, owner, description);
        self.sessions.insert(self.now, session, principal.as_ref(), id)?;
        Ok(ReplySource::Connection(id, exchange))
    }

    /// Returns the connection of a session, and restarts its idle timer.
    fn session(
        &mut self,
        id: &str,
        principal: Option<&Principal>,
        request: Option<&RequestId>,
    ) -> Result<(HubConnectionId, &mut HttpServer), Refusal> {
        if let Some(id) = self.sessions.get(self.now, id, principal).copied()
            && let Some(connection) = self.connections.touch(id)
        {
            return Ok((id, &mut connection.http));
        }
        Err(Refusal::unknown_session(request))
    }

    /// Checks that the connections may hold more bytes; ends idle sessions if necessary.
    pub(super) fn require_bytes(&mut self, more: usize) -> Result<(), Refusal> {
        for _ in 0..EVICTIONS_MAX {
            let usage = self.connections.usage();
            let held = usage.bytes + self.bodies_bytes;
            if held.saturating_add(more) <= self.limits.bytes_max {
                return Ok(());
            }
            // Requests that fill the budget do not end sessions.
            if usage.sessions <= self.limits.bytes_max / 2 || !self.evict() {
                break;
            }
            self.settle();
        }
        Err(over_limit(503, "too many bytes (`HubLimits::bytes_max`)"))
    }

    /// Ends the idle session that would expire first. Returns whether there was one.
    fn evict(&mut self) -> bool {
        let connections = &mut self.connections;
        let evicted = self.sessions.evict(self.now, |id| connections.is_busy(*id));
        evicted.map(|id| self.end(id)).is_some()
    }

    /// Closes a session that clients cannot find any more.
    pub(super) fn end(&mut self, id: HubConnectionId) {
        let Some(connection) = self.connections.touch(id) else { return };
        connection.tenure = Tenure::Closing;
        connection.http.close(self.now);
        connection.http.drop_replays();
    }

    /// Ends the wait for a body with the output of `finish`.
    pub(super) fn finish_body(
        &mut self,
        id: HubExchangeId,
        finish: impl FnOnce(&mut Self, PendingBody) -> Result<ReplySource, Refusal>,
    ) {
        let Some(mut pending) = self.take_body(id) else { return };
        let page = core::mem::take(&mut pending.page);
        let source = finish(self, pending).unwrap_or_else(ReplySource::from);
        self.open(id, page, source);
    }

    pub(super) fn take_body(&mut self, id: HubExchangeId) -> Option<PendingBody> {
        let pending = self.pending_bodies.remove(&id)?;
        self.bodies_bytes -= pending.bytes();
        Some(pending)
    }

    pub(super) fn open(&mut self, id: HubExchangeId, page: CrossOrigin, source: ReplySource) {
        match &source {
            ReplySource::Reply(_) => self.ready.push_back(id),
            ReplySource::Connection(connection, exchange) => {
                if let Some(connection) = self.connections.touch(*connection) {
                    connection.exchanges.insert(*exchange, id);
                }
            }
        }
        self.exchanges.insert(id, HubExchange { page, source });
        // A driver of whole responses may never ask which are ready.
        if self.ready.len() > self.exchanges.len() + READY_EXCESS_MAX {
            self.ready.retain(|id| self.exchanges.contains_key(id));
        }
    }

    /// Removes an exchange and returns its counterpart in a connection.
    pub(super) fn close(
        &mut self,
        id: HubExchangeId,
    ) -> Option<(HubConnectionId, ServerExchangeId)> {
        let ReplySource::Connection(connection, exchange) = self.exchanges.remove(&id)?.source
        else {
            return None;
        };
        self.connections.touch(connection)?.exchanges.remove(&exchange);
        Some((connection, exchange))
    }

    /// Finds out which exchanges became ready, and forgets sessions that have closed.
    pub(super) fn settle(&mut self) {
        while let Some(closed) = self.connections.settle(&mut self.ready, self.limits.bytes_max) {
            self.sessions.discard(&closed);
        }
    }
}

fn deliver(
    now: Instant,
    http: &mut HttpServer,
    is_request: bool,
    caller: Option<Arc<Caller>>,
    decoded: DecodedMessage<'_>,
) -> ServerExchangeId {
    http.set_caller(caller);
    let exchange = http.handle_decoded(now, is_request, decoded);
    // An idle session keeps no data of its caller.
    http.set_caller(None);
    exchange
}

fn is_subscription(message: &PostedMessage) -> bool {
    matches!(
        message,
        PostedMessage::Request { method, .. } if method.id() == Some(MethodId::Listen)
    )
}

/// Returns the refusal of a request that exceeds a limit of the hub.
fn over_limit(status: u16, why: &'static str) -> Refusal {
    Refusal::new(status, why).header("retry-after", RETRY_AFTER)
}
