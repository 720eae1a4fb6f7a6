//! Creation of requests: assigns each message to an exchange and builds its headers.

use alloc::string::String;

use bytes::Bytes;

use super::action::{Action, ExchangeId, HttpMethod, HttpRequest};
use super::exchange::{CallInfo, CallKind, Exchange, ExchangeState, KeptRequest, Purpose};
use super::exchanges::QueuedAction;
use super::outbound_post::{Headers, OutboundPost, SendGate};
use super::{CloseState, HttpClient};
use crate::client::ExchangeEndpoint as _;
use crate::message_endpoint::MessageEndpoint;
use crate::method::MethodId;
use crate::revision::Revision;
use crate::vocabulary::OutgoingKind;

/// The maximum number of one-way messages in flight; further ones wait.
const ONE_WAY_MAX: usize = 64;

impl HttpClient {
    /// Returns the next action, if any.
    pub(super) fn next_action(&mut self) -> Option<Action> {
        while let Some(action) = self.exchanges.next_queued() {
            match action {
                QueuedAction::Abort(exchange) => return Some(Action::Abort(exchange)),
                // The exchange may have ended in the meantime.
                QueuedAction::Start(exchange) => {
                    if let Some(send) = self.start(exchange) {
                        return Some(self.send_authorized(send));
                    }
                }
            }
        }
        while self.has_room_in_flight()
            && let Some(exchange) = self.exchanges.next_released()
        {
            if let Some(send) = self.start(exchange) {
                return Some(self.send_authorized(send));
            }
        }
        if self.sse.is_opening() {
            return None;
        }
        loop {
            let message = match core::mem::take(&mut self.gate) {
                SendGate::Initialized(exchange) => {
                    self.gate = SendGate::Initialized(exchange);
                    return None;
                }
                SendGate::Held(message) => message,
                SendGate::Open => match self.next_message() {
                    Some(message) if self.must_wait(&message) => {
                        self.queue.push(message);
                        continue;
                    }
                    Some(message) => message,
                    None => {
                        let send = self.end_session()?;
                        return Some(self.send_authorized(send));
                    }
                },
            };
            if let Some(send) = self.post(message) {
                return Some(self.send_authorized(send));
            }
            if matches!(self.gate, SendGate::Held(_)) {
                return None;
            }
        }
    }

    /// Takes a waiting call if one may be sent, else the next message of the connection.
    fn next_message(&mut self) -> Option<OutboundPost> {
        if self.has_room_for_call()
            && let Some(call) = self.queue.pop()
        {
            return Some(call);
        }
        let is_legacy = self.is_legacy();
        self.client
            .poll_outgoing()
            .map(|outgoing| OutboundPost::of(outgoing, &self.tools, &self.extensions, is_legacy))
    }

    fn has_room_in_flight(&self) -> bool {
        self.exchanges.calls() < self.config.concurrent_calls_max.max(1)
    }

    fn has_room_for_call(&self) -> bool {
        self.has_room_in_flight() && !(self.keeps_requests() && self.exchanges.keeps_enough())
    }

    /// Returns whether requests are kept because the server may reject them for their credentials.
    fn keeps_requests(&self) -> bool {
        self.config.parks || self.authorization.is_dpop()
    }

    /// Returns whether the message is a call that waits until fewer calls are in flight.
    fn must_wait(&self, message: &OutboundPost) -> bool {
        let OutgoingKind::Request { id, method, .. } = &message.kind else { return false };
        !self.has_room_for_call() && self.call_info(*id, method.id()).kind.is_counted()
    }

    /// Creates the exchange of a message. Returns `None` if the message is obsolete or must wait.
    // HTTP-03: each message is its own POST.
    fn post(&mut self, message: OutboundPost) -> Option<HttpRequest> {
        let purpose = match &message.kind {
            OutgoingKind::Request { id, .. } if !self.client.is_in_flight(*id) => {
                // The call ended before it was sent, so its cancellation is not sent, either.
                self.unsent.insert(*id);
                return None;
            }
            OutgoingKind::Request { id, method, .. } => {
                Purpose::Call(self.call_info(*id, method.id()))
            }
            // CAN-12, CAN-17: in the modern era, aborting the exchange cancels the request.
            OutgoingKind::Cancel { id }
                if self.queue.remove(*id) || self.unsent.remove(id) || !self.is_legacy() =>
            {
                return None;
            }
            _ => Purpose::OneWay,
        };
        if purpose == Purpose::OneWay && self.exchanges.one_way() >= ONE_WAY_MAX {
            self.gate = SendGate::Held(message);
            return None;
        }
        let is_initialized = message.is_initialized();
        let OutboundPost { revision, mirrored, body, .. } = message;
        let kind = purpose.call_info().map(|call| call.kind);
        let is_first = kind == Some(CallKind::Initialize);
        let mut fields = Headers::new();
        fields.push(("Accept".into(), "application/json, text/event-stream".into()));
        fields.push(("Content-Type".into(), "application/json".into()));
        let in_session = !is_first && self.session_fields(&mut fields, revision);
        fields.extend(mirrored);
        self.sse.is_asked |= purpose.call_info().is_some() && !is_first;
        let exchange =
            self.exchanges.insert(Exchange::new(purpose, ExchangeState::Sent, in_session));
        self.start_timer(exchange, purpose);
        if is_initialized {
            self.gate = SendGate::Initialized(exchange);
        }
        let request = HttpRequest {
            exchange,
            method: HttpMethod::Post,
            target: self.sse.target().cloned(),
            headers: fields,
            authorization: None,
            dpop_nonce: None,
            body,
        };
        let may_repeat = self.keeps_requests() && !self.exchanges.keeps_enough();
        let may_fall_back = is_first && self.may_fall_back();
        if may_repeat || kind == Some(CallKind::Discover) || may_fall_back {
            let kept = KeptRequest { request: request.clone(), repetitions: 0 };
            self.exchanges.keep(exchange, kept);
        }
        Some(request)
    }

    /// Starts the timer of an exchange whose response no call waits for.
    fn start_timer(&mut self, exchange: ExchangeId, purpose: Purpose) {
        let limits = self.client.limits();
        let timeout = match purpose {
            Purpose::OneWay => limits.handshake_timeout,
            Purpose::EndSession => limits.exit_timeout,
            // The first event must arrive in time.
            Purpose::SseStream => limits.probe_timeout,
            Purpose::Call(_) | Purpose::Listen => return,
        };
        self.exchanges.set_due(exchange, Some(self.now() + timeout));
    }

    fn call_info(&self, wire: u64, method: Option<MethodId>) -> CallInfo {
        let is_legacy = self.is_legacy();
        let kind = match method {
            Some(MethodId::Discover) => CallKind::Discover,
            Some(MethodId::Initialize) => CallKind::Initialize,
            Some(MethodId::CallTool) if !is_legacy => CallKind::CallTool,
            Some(MethodId::ListTools) if !is_legacy => CallKind::ListTools,
            Some(MethodId::Ping) => CallKind::Ping,
            Some(MethodId::Listen) => CallKind::Subscription,
            _ => CallKind::Other,
        };
        CallInfo { wire, kind, is_legacy, is_resumed: false, over_sse: self.sse.is_used() }
    }

    pub(super) fn is_legacy(&self) -> bool {
        !self.client.revision().is_modern()
    }

    /// Adds the headers for the version and the session to a message of `revision`. Returns whether
    /// the request names the session.
    // HTTP-31: session id. HTTP-36: legacy version header. HTTP-39: modern version header.
    fn session_fields(&self, fields: &mut Headers, revision: Revision) -> bool {
        let is_agreed = self.client.peer().is_some();
        let is_legacy = self.is_legacy();
        let negotiated = self.client.revision();
        if !is_legacy || is_agreed && negotiated.rules().version_header {
            let version = if is_legacy { negotiated } else { revision };
            fields.push(("MCP-Protocol-Version".into(), version.name().into()));
        }
        let id = self.legacy.id().filter(|_| is_legacy);
        fields.extend(id.map(|id| ("Mcp-Session-Id".into(), String::from(id))));
        // Over HTTP+SSE, the message endpoint contains the id.
        id.is_some() || self.sse.target().is_some()
    }

    /// Creates the request of a waiting exchange.
    fn start(&mut self, id: ExchangeId) -> Option<HttpRequest> {
        let exchange = self.exchanges.get(id).filter(|exchange| exchange.may_start())?;
        let Some(kept) = &exchange.kept else { return self.get(id) };
        let request = HttpRequest { exchange: id, ..kept.request.clone() };
        let purpose = exchange.purpose;
        self.exchanges.on_started(id);
        self.start_timer(id, purpose);
        Some(request)
    }

    /// Creates the GET that opens or resumes a stream.
    // HTTP-05: `Accept`. SSE-16, SSE-19: `Last-Event-ID` resumes any stream.
    fn get(&mut self, id: ExchangeId) -> Option<HttpRequest> {
        let mut fields = Headers::new();
        fields.push(("Accept".into(), "text/event-stream".into()));
        let in_session = self.session_fields(&mut fields, self.client.revision());
        let exchange = self.exchanges.get_mut(id).filter(|exchange| exchange.may_start())?;
        let after = exchange.stream.as_ref().and_then(|stream| stream.resume_after());
        fields.extend(after.map(|after| ("Last-Event-ID".into(), String::from(after))));
        exchange.in_session = in_session;
        let purpose = exchange.purpose;
        self.exchanges.on_started(id);
        self.start_timer(id, purpose);
        Some(HttpRequest {
            exchange: id,
            method: HttpMethod::Get,
            target: None,
            headers: fields,
            authorization: None,
            dpop_nonce: None,
            body: Bytes::new(),
        })
    }

    /// Creates the DELETE that ends the session of a closed connection.
    ///
    /// Returns `None` while one-way messages are in flight.
    // HTTP-35: the client terminates a session that it does not need.
    fn end_session(&mut self) -> Option<HttpRequest> {
        if self.close_state == CloseState::Open
            || self.legacy.id().is_none()
            || self.exchanges.one_way() > 0
        {
            return None;
        }
        let mut fields = Headers::new();
        let in_session = self.session_fields(&mut fields, self.client.revision());
        self.legacy.on_terminated();
        let exchange = self.exchanges.insert(Exchange::new(
            Purpose::EndSession,
            ExchangeState::Sent,
            in_session,
        ));
        self.start_timer(exchange, Purpose::EndSession);
        let request = HttpRequest {
            exchange,
            method: HttpMethod::Delete,
            target: None,
            headers: fields,
            authorization: None,
            dpop_nonce: None,
            body: Bytes::new(),
        };
        if self.authorization.is_dpop() {
            let kept = KeptRequest { request: request.clone(), repetitions: 0 };
            self.exchanges.keep(exchange, kept);
        }
        Some(request)
    }
}
