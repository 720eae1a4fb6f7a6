//! Requests that the server rejects for their credentials: they are parked until the driver has
//! other credentials, and then sent again.
//!
//! A server checks the credentials before anything else, so that a rejected request was not
//! processed and can be repeated.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::action::{Action, ExchangeId, HttpRequest};
use super::credentials::{Credentials, Generation};
use super::event::{Challenge, HttpEvent, ParkedRequest, challenges};
use super::exchange::{CallInfo, CallKind, Exchange, ExchangeState, Purpose, RejectedTokens};
use super::outbound_post::SendGate;
use super::{CloseState, HttpClient};
use crate::client::ExchangeEndpoint as _;
use crate::http::Headers;
use crate::time::Instant;
use crate::vocabulary::CallError;

/// Why a request fails that no token helps.
const REJECTED: &str = "the server rejected the request with three access tokens in a row; log in \
                        as a user who may make the request, or ask the operator of the server";

/// The maximum number of events that wait to be polled; the oldest are dropped first.
const EVENTS_MAX: usize = 64;

impl HttpClient {
    /// Sets the credentials of all further requests, and sends parked requests again.
    ///
    /// Every request that was rejected with credentials of an older generation, or without
    /// credentials, is sent again, in the order of rejection. Credentials of an older generation
    /// than the current ones are ignored.
    ///
    /// Cached results whose `cacheScope` is not `public` are dropped, because the credentials may
    /// belong to another user.
    ///
    /// ```
    /// use mcp_proto::Instant;
    /// use mcp_proto::client::{Client, Config};
    /// use mcp_proto::http::client::{
    ///     Action, Credentials, Generation, HttpClient, HttpConfig, HttpEvent,
    /// };
    ///
    /// let now = Instant::ZERO;
    /// let client = Client::new(now, Config::new("demo", "1.0.0"));
    /// let mut http = HttpClient::new(client, HttpConfig::new(7).parks());
    /// let Some(Action::Send(send)) = http.poll_action() else { panic!() };
    /// let head = [("www-authenticate", "Bearer scope=\"read\"")];
    /// http.handle_head(now, send.exchange, 401, &head);
    /// let Some(HttpEvent::Parked(parked)) = http.poll_event() else { panic!() };
    /// assert_eq!(parked.challenges[0].param("scope"), Some("read"));
    ///
    /// http.authorize(now, Credentials::new(Generation::new(1), "Bearer abc".into()));
    /// let Some(Action::Send(again)) = http.poll_action() else { panic!() };
    /// assert_eq!((again.exchange, again.body), (parked.exchange, send.body));
    /// assert_eq!(again.authorization.unwrap().expose(), "Bearer abc");
    /// ```
    // T-110: private results are not shared between users.
    pub fn authorize(&mut self, now: Instant, credentials: Credentials) {
        let (new, old) = (credentials.generation, self.authorization.generation());
        if old > Some(new) || self.authorization.is_forgotten(new) {
            return;
        }
        self.authorization.set(credentials);
        if old != Some(new) {
            self.client.forget_private_results();
        }
        for id in self.exchanges.ids() {
            let is_older = |exchange: &&Exchange| exchange.generation < Some(new);
            let parked = self.exchanges.get(id).filter(|exchange| exchange.is_parked());
            let Some(exchange) = parked.filter(is_older) else { continue };
            let waiting = match exchange.purpose {
                Purpose::SseStream => self.sse.waiting(),
                purpose => purpose.call_info().map(|call| call.wire),
            };
            if let Some(wire) = waiting {
                self.client.unpark(now, wire);
            }
            self.exchanges.release(id);
        }
        self.settle();
    }

    /// Forgets the credentials up to this generation, as after a logout: further requests carry
    /// none, and [`authorize`](Self::authorize) ignores those generations.
    ///
    /// Requests in flight keep theirs. Cached results whose `cacheScope` is not `public` are
    /// dropped. The server rejects the next request that needs credentials, and the client then
    /// [parks](super::HttpConfig::parks) it. Newer credentials remain in use.
    pub fn forget_credentials(&mut self, generation: Generation) {
        if self.authorization.forget(generation) {
            self.client.forget_private_results();
        }
    }

    /// Fails all parked requests, because there are no other credentials for now.
    ///
    /// Parked calls complete with [`CallError::Unauthorized`], which contains `reason`. It must not
    /// contain credentials. Parked notifications and responses are dropped and reported as
    /// violations. A parked stream is opened at the next [`authorize`](Self::authorize). The
    /// current credentials remain in use.
    pub fn deny(&mut self, now: Instant, reason: &str) {
        for id in self.exchanges.ids() {
            self.deny_parked(now, id, reason);
        }
        self.settle();
    }

    /// Fails one parked request, like [`deny`](Self::deny).
    ///
    /// Does nothing if the request is not parked any more.
    pub fn deny_request(&mut self, now: Instant, exchange: ExchangeId, reason: &str) {
        self.deny_parked(now, exchange, reason);
        self.settle();
    }

    fn deny_parked(&mut self, now: Instant, id: ExchangeId, reason: &str) {
        let parked = self.exchanges.get(id).filter(|exchange| exchange.is_parked());
        let Some(purpose) = parked.map(|exchange| exchange.purpose) else { return };
        match purpose {
            Purpose::Call(call) => {
                self.exchanges.abort(id);
                let why = CallError::Unauthorized(reason.into());
                self.client.handle_unanswered(now, call.wire, why);
            }
            Purpose::SseStream => {
                self.exchanges.abort(id);
                self.fail_sse(now, CallError::Unauthorized(reason.into()));
            }
            Purpose::Listen => {
                if self.exchanges.on_denied(id) {
                    let detail = format!(
                        "no messages of the server outside of responses will arrive: the client is \
                         not authorized: {reason}"
                    );
                    self.client.report_violation(now, detail);
                }
            }
            Purpose::EndSession | Purpose::OneWay => {
                self.exchanges.abort(id);
                let detail =
                    format!("a message was dropped: the client is not authorized: {reason}");
                self.client.report_violation(now, detail);
                self.open_gate(id);
            }
        }
    }

    /// Handles what a status says about the credentials of the request. Returns whether the request
    /// is parked or sent again.
    // AUT-11: other rejections are reported as challenges. AUT-64: not every 403 is about scopes.
    pub(super) fn on_authorization_status(
        &mut self,
        now: Instant,
        id: ExchangeId,
        status: u16,
        fields: &dyn Headers,
    ) -> bool {
        if status != 401 {
            self.on_accepted(id);
        }
        if !matches!(status, 401 | 403) {
            // Other statuses may make the client repeat these requests, too.
            let is_opening = |exchange: &Exchange| {
                exchange.is_call_of(CallKind::Discover) || exchange.is_call_of(CallKind::Initialize)
            };
            if !self.exchanges.get(id).is_some_and(is_opening) {
                self.exchanges.drop_kept(id);
            }
            return false;
        }
        let challenges = challenges(fields);
        let is_repeatable = status == 401 || challenges.iter().any(asks_for_scopes);
        if self.config.parks && self.close_state == CloseState::Open && is_repeatable {
            if self.is_keep_alive(id) {
                self.answer_keep_alive(now, id);
                return true;
            }
            if let Some(rejected) = self.take_rejected(now, id) {
                self.repeat_or_park(now, id, rejected, status, challenges);
                return true;
            }
        }
        let purpose = self.exchanges.get(id).map(|exchange| exchange.purpose);
        let call = purpose.and_then(Purpose::call_info);
        let call = call.and_then(|call| self.client.call_of(call.wire));
        self.push_event(HttpEvent::Challenged { call, status, challenges });
        false
    }

    /// Ends a rejected exchange. Returns a new one, if the request can be repeated.
    pub(super) fn take_rejected(&mut self, now: Instant, id: ExchangeId) -> Option<Exchange> {
        let kept = self.exchanges.take_kept(id);
        let exchange = self.exchanges.get_mut(id)?;
        if kept.is_none() && !exchange.is_get() {
            return None;
        }
        let mut next = Exchange::new(exchange.purpose, ExchangeState::Waiting, exchange.in_session);
        next.generation = exchange.generation;
        next.rejected_tokens = exchange.rejected_tokens;
        (next.kept, next.stream) = (kept, exchange.stream.take());
        self.exchanges.discard(id, now);
        Some(next)
    }

    // AUT-26: the driver obtains more scopes and limits the attempts.
    fn repeat_or_park(
        &mut self,
        now: Instant,
        id: ExchangeId,
        mut rejected: Exchange,
        status: u16,
        challenges: Vec<Challenge>,
    ) {
        let (purpose, generation) = (rejected.purpose, rejected.generation);
        if status == 401 {
            rejected.rejected_tokens.add(generation);
        }
        let tokens = rejected.rejected_tokens;
        // Whether newer credentials have the missing scopes is for the driver to decide.
        let is_older = status == 401 && generation < self.authorization.generation();
        let next = if is_older && !tokens.is_final() {
            self.exchanges.repeat(rejected)
        } else {
            let call = purpose.call_info().and_then(|call| self.client.call_of(call.wire));
            let operation = operation_of(&rejected);
            let event =
                ParkedRequest { exchange: id, call, status, challenges, generation, operation };
            if let Some(call) = purpose.call_info().filter(|call| extends_timeout(*call, tokens)) {
                self.client.park(now, call.wire);
            }
            if purpose == Purpose::SseStream
                && let Some(wire) = self.sse.waiting()
            {
                self.client.park(now, wire);
            }
            self.exchanges.park(rejected, event)
        };
        self.move_gate(id, next);
        if tokens.is_final() {
            self.deny_parked(now, next, REJECTED);
        }
    }

    /// Lets the gate wait for the exchange that repeats the one it waits for.
    pub(super) fn move_gate(&mut self, from: ExchangeId, to: ExchangeId) {
        if matches!(self.gate, SendGate::Initialized(exchange) if exchange == from) {
            self.gate = SendGate::Initialized(to);
        }
    }

    /// Returns whether the exchange carries a ping that checks the connection.
    fn is_keep_alive(&self, id: ExchangeId) -> bool {
        let call = self.exchanges.get(id).and_then(Exchange::call_info);
        call.is_some_and(|call| {
            call.kind == CallKind::Ping && self.client.call_of(call.wire).is_none()
        })
    }

    /// Completes a rejected ping that checks the connection: the server is alive.
    fn answer_keep_alive(&mut self, now: Instant, id: ExchangeId) {
        if let Some(call) = self.exchanges.get(id).and_then(Exchange::call_info) {
            self.fail(now, id, call.wire, CallError::Unauthorized("the ping was rejected".into()));
        }
    }

    /// Reports, once, that the server has accepted the current credentials.
    fn on_accepted(&mut self, id: ExchangeId) {
        let generation = self.exchanges.get(id).and_then(|exchange| exchange.generation);
        let Some(generation) = generation.filter(|_| {
            generation == self.authorization.generation()
                && generation != self.authorization.accepted
        }) else {
            return;
        };
        self.authorization.accepted = Some(generation);
        self.push_event(HttpEvent::Accepted(generation));
    }

    fn push_event(&mut self, event: HttpEvent) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Returns the action that sends a request with the current credentials.
    // AUT-02: every request carries them.
    pub(super) fn send_authorized(&mut self, mut request: HttpRequest) -> Action {
        if let Some(credentials) = &self.authorization.credentials {
            request.authorization = Some(credentials.authorization.clone());
        }
        if self.authorization.is_dpop() {
            request.dpop_nonce.clone_from(&self.authorization.dpop_nonce);
        }
        if let Some(exchange) = self.exchanges.get_mut(request.exchange) {
            exchange.generation = self.authorization.generation();
        }
        Action::Send(request)
    }
}

/// Returns whether the timeout of a rejected call stops. Renewals of a token that was just renewed
/// give a call no more time; requests that open the connection have no limit anyway.
fn extends_timeout(call: CallInfo, tokens: RejectedTokens) -> bool {
    !tokens.has_newer() || matches!(call.kind, CallKind::Discover | CallKind::Initialize)
}

/// Returns whether a challenge asks for a token with more scopes.
fn asks_for_scopes(challenge: &Challenge) -> bool {
    let uses_tokens = ["bearer", "dpop"].iter().any(|it| challenge.scheme.eq_ignore_ascii_case(it));
    uses_tokens && challenge.param("error") == Some("insufficient_scope")
}

/// Returns the operation of a rejected request, as its headers name it.
fn operation_of(rejected: &Exchange) -> String {
    let Some(kept) = &rejected.kept else { return "GET".into() };
    let (method, name) = (kept.request.header("mcp-method"), kept.request.header("mcp-name"));
    match (method, name) {
        (Some(method), Some(name)) => format!("{method} {name}"),
        (method, _) => method.unwrap_or_default().into(),
    }
}
