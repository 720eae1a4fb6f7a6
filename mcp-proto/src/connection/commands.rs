//! Applies commands from the application. A command that fails has no effect.

use alloc::vec::Vec;

use super::eras::rules::{self, Delivery, LogTarget, WrittenQuestion};
use super::inbound::{InboundRequest, Responded};
use super::pending_calls::{NewCall, Owner};
use super::{Connection, eras};
use crate::error::{Misuse, Unencodable};
use crate::json::{Object, Raw, find, unescape};
use crate::meta::missing_capabilities;
use crate::method::MethodId;
use crate::permissions;
use crate::queues::Draft;
use crate::revision::{MethodRule, Revision, Side};
use crate::rpc::{self, ErrorObject};
use crate::schema::{Capabilities, Level, key};
use crate::time::Instant;
use crate::vocabulary::{
    CallId, CallOptions, Change, CloseReason, Filter, Identity, IncomingId, NeededInput,
    OutgoingKind, Progress, Route,
};

/// Writes one JSON value in the format of the given revision.
type Write<'a> = &'a dyn Fn(Revision, &mut Vec<u8>) -> Result<(), Unencodable>;

impl Connection {
    pub(crate) fn call(
        &mut self,
        now: Instant,
        method: &str,
        params: Write<'_>,
        options: &CallOptions,
    ) -> Result<CallId, Misuse> {
        self.advance(now);
        let known = MethodId::from_name(method);
        let allowed = self.env.allows();
        if known == Some(MethodId::Ping) {
            // STL-13: a client without a session accepts no requests.
            let is_modern_client = self.env.side() == Side::Server && self.env.has_no_session();
            self.env.require(allowed.pings && !is_modern_client)?;
        } else {
            self.env.require(allowed.traffic)?;
            self.env.require_room(Route::of(self.inbound.stream_of(options.parent)))?;
        }
        if let Some(parent) = options.parent {
            let parent = self.inbound.requests().get(parent).ok_or(Misuse::Stale)?;
            if !rules::takes_requests(&parent.peer) {
                return Err(Misuse::Unsupported);
            }
        }
        if self.calls.table().len() + self.inbound.requests().held_questions()
            >= self.env.limits().calls_max
        {
            return Err(Misuse::Blocked);
        }
        let mut scratch = core::mem::take(&mut self.env.scratch);
        scratch.clear();
        let placed = params(self.env.revision(), &mut scratch)
            .map_err(|Unencodable| permissions::encoding_misuse(params))
            .and_then(|()| self.send_call(method, known, &scratch, options));
        scratch.shrink_to(self.limits().idle_bytes_max);
        self.env.scratch = scratch;
        placed
    }

    /// Sends a call of the application, or completes it from the cache.
    fn send_call(
        &mut self,
        method: &str,
        known: Option<MethodId>,
        params: &[u8],
        options: &CallOptions,
    ) -> Result<CallId, Misuse> {
        let env = &mut self.env;
        let theirs = env.terms.peer.as_deref();
        let (side, revision) = (env.side(), env.revision());
        let extensions = &env.identity.extensions;
        let is_extended =
            permissions::outgoing_extension(extensions, side, revision, method, true, theirs)?;
        let checked = known.filter(|_| !is_extended);
        let rule = permissions::outgoing_call(side, revision, checked, params, theirs, false)?;
        let mut cache_as = None;
        let is_caching = env.limits().cache_bytes_max > 0;
        if let Some(key) =
            is_caching.then(|| crate::cache::Cache::key(rule, Some(params))).flatten()
        {
            if let Some(result) = self.cache.find(&key, env.now).filter(|_| !options.bypass_cache) {
                return Ok(self.calls.complete_now(env, result));
            }
            cache_as = Some(self.cache.slot(key));
        }
        let is_kept = rule.is_some_and(|rule| rule.may_ask) && rules::repeats_calls(env);
        if is_kept && self.calls.table().bytes() + params.len() > env.limits().calls_bytes_max {
            return Err(Misuse::Blocked);
        }
        let call = NewCall {
            method,
            known,
            rule,
            params,
            owner: Owner::Application,
            wait: options.wait_for(rule, env.limits()),
            wants_progress: options.progress,
            takes_input_required: options.input_required,
            stream: self.inbound.stream_of(options.parent),
            cache_as,
        };
        Ok(CallId(self.calls.send(env, call)))
    }

    /// Client: sets the minimum level of the log messages it receives.
    pub(crate) fn set_log_level(
        &mut self,
        now: Instant,
        level: Level,
        options: &CallOptions,
    ) -> Result<CallId, Misuse> {
        self.advance(now);
        if let Some(call) = eras::set_log_level(&mut self.env, &mut self.calls, level)? {
            return Ok(call);
        }
        let write = |_, out: &mut Vec<u8>| {
            let mut params = Object::begin(out);
            params.str("level", level.name());
            params.end();
            Ok(())
        };
        self.call(now, MethodId::SetLogLevel.name(), &write, options)
    }

    /// Client: subscribes to the changes that `filter` selects.
    pub(crate) fn listen(
        &mut self,
        now: Instant,
        filter: &Filter,
        options: &CallOptions,
    ) -> Result<CallId, Misuse> {
        self.advance(now);
        self.env.require(self.env.allows().traffic)?;
        self.env.require_room(Route::Any)?;
        if self.subscriptions.len() >= self.env.limits().subscriptions_max {
            return Err(Misuse::Blocked);
        }
        let call =
            eras::listen(&mut self.env, &mut self.calls, &mut self.subscriptions, filter, options)?;
        self.send_subscriptions();
        eras::on_subscription_begun(&mut self.env, &mut self.subscriptions, call);
        Ok(call)
    }

    /// Sends the queued `resources/subscribe` and `resources/unsubscribe` requests.
    pub(super) fn send_subscriptions(&mut self) {
        // A closing connection sends no new requests.
        let is_open = self.env.allows().traffic;
        let calls_max = self.env.limits().calls_max;
        let Some(subscriptions) = self.subscriptions.allocated_mut().filter(|_| is_open) else {
            return;
        };
        while let Some(request) = subscriptions.next_request(self.calls.table().len(), calls_max) {
            let (method, owner) = match request.subscribe {
                Some(_) => (MethodId::Subscribe, Owner::Subscribe),
                None => (MethodId::Unsubscribe, Owner::Unsubscribe),
            };
            let mut params = Vec::new();
            let mut object = Object::begin(&mut params);
            object.str("uri", &request.uri);
            object.end();
            let env = &mut self.env;
            let Ok(rule) = env.own_call_rule(Some(method), &params) else {
                subscriptions.on_unsendable(env, &request);
                continue;
            };
            let options = request.subscribe.clone().unwrap_or_default();
            let call =
                NewCall::own(method, rule, &params, owner, options.wait_for(rule, env.limits()));
            let id = self.calls.send(env, call);
            subscriptions.on_sent(request, id);
        }
    }

    /// Client: iterates over the open subscriptions and the filters in effect.
    pub(crate) fn listening(&self) -> impl Iterator<Item = (CallId, &Filter)> {
        self.subscriptions.iter()
    }

    /// Cancels a call of the application. Fails with `Misuse::Stale` if it is not open.
    pub(crate) fn cancel(
        &mut self,
        now: Instant,
        call: CallId,
        reason: &str,
    ) -> Result<(), Misuse> {
        self.advance(now);
        let is_open = self.calls.cancel(&mut self.env, call, reason);
        self.settle();
        if is_open { Ok(()) } else { Err(Misuse::Stale) }
    }

    pub(crate) fn notify(
        &mut self,
        now: Instant,
        method: &str,
        params: Write<'_>,
    ) -> Result<(), Misuse> {
        self.advance(now);
        let threshold = self.env.terms.log_level;
        self.notify_on(Route::Any, method, params, threshold)
    }

    /// Sends a notification, unless it is a log message below `threshold`.
    fn notify_on(
        &mut self,
        route: Route,
        method: &str,
        params: Write<'_>,
        threshold: Option<Level>,
    ) -> Result<(), Misuse> {
        let env = &mut self.env;
        let revision = env.revision();
        let known = MethodId::from_name(method);
        let allowed = env.allows();
        // D-24: log messages may precede `notifications/initialized`.
        // LOG-05: they require a session.
        let logs = allowed.logs && env.terms.peer.is_some();
        let is_log = known == Some(MethodId::LogMessage);
        env.require(if is_log { logs } else { allowed.traffic })?;
        let (side, theirs) = (env.side(), env.terms.peer.as_deref());
        let Identity { extensions, capabilities, .. } = &*env.identity;
        let is_extended =
            permissions::outgoing_extension(extensions, side, revision, method, false, theirs)?;
        let checked = known.filter(|_| !is_extended);
        let names_task = || {
            let mut written = Vec::new();
            let meta = params(revision, &mut written).ok().and_then(|()| find(&written, "_meta"));
            meta.is_some_and(|meta| find(meta, key::RELATED_TASK).is_some())
        };
        permissions::outgoing_notification(side, revision, checked, capabilities, names_task)?;
        // LOG-02: also for a log message that the application sends by name.
        if let Some(threshold) = threshold.filter(|_| is_log) {
            let mut written = Vec::new();
            params(revision, &mut written)?;
            let name = find(&written, "level").and_then(unescape);
            let level = name.and_then(|name| Level::from_name(&name));
            if level.is_some_and(|level| level < threshold) {
                return Ok(());
            }
        }
        env.require_room(route)?;
        let draft = Draft::new(route, OutgoingKind::Notification(method.into()));
        env.send(draft, |out| rpc::notification(out, method, |out| params(revision, out)))
            .map_err(|Unencodable| Misuse::Unencodable)
    }

    pub(crate) fn respond(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        result: Write<'_>,
    ) -> Result<(), Misuse> {
        self.advance(now);
        if self.is_undecided(incoming) {
            return self.accept_subscription(incoming, result);
        }
        match self.inbound.respond(&mut self.env, incoming, result)? {
            Responded::Request => self.on_request_ended(),
            Responded::Question { call, index, answer } => {
                self.calls.on_input(&mut self.env, call, index, Ok(answer));
                self.settle();
            }
        }
        Ok(())
    }

    pub(crate) fn respond_error(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        error: &ErrorObject,
    ) -> Result<(), Misuse> {
        self.advance(now);
        self.refuse_delivered(incoming, error.clone())
    }

    /// Server: asks the client for input that a request needs.
    pub(crate) fn request_input(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, NeededInput)],
        state: Option<&str>,
    ) -> Result<(), Misuse> {
        self.advance(now);
        let Self { env, calls, inbound, .. } = self;
        match eras::ask(env, calls, inbound, incoming, questions, state)? {
            Delivery::InResult => self.on_request_ended(),
            Delivery::ByRequests(questions) => self.send_questions(incoming, &questions),
            Delivery::Held => {}
        }
        Ok(())
    }

    fn send_questions(&mut self, incoming: IncomingId, questions: &[WrittenQuestion]) {
        let stream = self.inbound.stream_of(Some(incoming));
        for (index, WrittenQuestion { method, params }) in (0_u32..).zip(questions) {
            let env = &mut self.env;
            let known = MethodId::from_name(method);
            let rule = known.and_then(|method| method.rule(env.revision()));
            let call = NewCall {
                method,
                known,
                rule,
                params,
                owner: Owner::Question(incoming, index),
                wait: CallOptions::default().wait_for(rule, env.limits()),
                wants_progress: false,
                takes_input_required: false,
                stream,
                cache_as: None,
            };
            self.calls.send(env, call);
        }
        self.inbound.deliver_answered(&mut self.env, incoming);
    }

    /// Server: sends the questions held until the client completed the handshake.
    pub(super) fn send_held_questions(&mut self) {
        while let Some((incoming, questions)) = self.inbound.next_held() {
            self.send_questions(incoming, &questions);
        }
    }

    /// Server: refuses a request whose questions need capabilities the client did not declare.
    // CAP-15: the error lists the missing capabilities.
    pub(crate) fn refuse_undeclared(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, NeededInput)],
    ) -> Result<(), Misuse> {
        let open = self.inbound.requests().get(incoming).ok_or(Misuse::Stale)?;
        let revision = open.peer.revision;
        let mut needs = Capabilities::none();
        for (_, question) in questions {
            let mut params = Vec::new();
            question.write(revision, &mut params)?;
            if params.first().is_some_and(|first| *first != b'{') {
                return Err(Misuse::Unencodable);
            }
            let method = MethodId::from_name(question.method());
            if let Some(rule) = method.and_then(|method| MethodRule::question(method, revision)) {
                needs = permissions::input_request_needs(rule, Some(&params), needs)?;
            }
        }
        let error = missing_capabilities(&needs, &open.peer);
        self.respond_error(now, incoming, &error)
    }

    /// Returns the revision for encoding the response to `incoming`, or any message if `None`.
    pub(crate) fn revision_for(&self, incoming: Option<IncomingId>) -> Revision {
        let open = incoming.and_then(|incoming| self.inbound.requests().get(incoming));
        open.map_or_else(|| self.env.revision(), |open| open.peer.revision)
    }

    /// Server: notifies all subscribers of a change.
    pub(crate) fn changed(&mut self, now: Instant, change: Change<'_>) -> Result<(), Misuse> {
        self.advance(now);
        if !self.env.allows().input {
            return Err(Misuse::Closed);
        }
        self.require_declared(change)?;
        self.subscribers.changed(&mut self.env, change)
    }

    /// Fails unless this side declared what it needs to report a change.
    fn require_declared(&self, change: Change<'_>) -> Result<(), Misuse> {
        let Identity { capabilities, extensions, revisions, .. } = &*self.env.identity;
        let is_declared = match change {
            Change::Extension { method, params, .. } => {
                if params.is_some_and(|params| !params.is_object()) {
                    return Err(Misuse::Unencodable);
                }
                let sent = |revision| {
                    permissions::incoming_extension(
                        extensions,
                        self.env.side().other(),
                        revision,
                        method,
                        false,
                    )
                };
                revisions.iter().any(|revision| sent(*revision).is_some())
            }
            change => change.needs().is_some_and(|needed| capabilities.has(needed)),
        };
        if is_declared { Ok(()) } else { Err(Misuse::Undeclared) }
    }

    pub(crate) fn progress(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        progress: &Progress,
    ) -> Result<(), Misuse> {
        self.advance(now);
        self.inbound.progress(&mut self.env, incoming, progress)
    }

    /// Server: sends a log message unless its level is below the client's threshold.
    // LOG-01…03: the threshold is per session, or per request in the modern era.
    pub(crate) fn log(
        &mut self,
        now: Instant,
        incoming: Option<IncomingId>,
        level: Level,
        logger: Option<&str>,
        data: &Raw,
    ) -> Result<(), Misuse> {
        self.advance(now);
        let open: Option<&InboundRequest> = match incoming {
            Some(incoming) => Some(self.inbound.requests().get(incoming).ok_or(Misuse::Stale)?),
            None => None,
        };
        let write = |out: &mut Vec<u8>| {
            let mut params = Object::begin(out);
            params.str("level", level.name());
            params.opt_str("logger", logger);
            params.raw("data", data.as_bytes());
            params.end();
            Ok(())
        };
        match eras::log_to(&self.env, open, level)? {
            LogTarget::Discard => Ok(()),
            LogTarget::Request(route) => {
                self.env.notify(route, MethodId::LogMessage, write);
                Ok(())
            }
            LogTarget::Session(route) => {
                self.notify_on(route, MethodId::LogMessage.name(), &|_, out| write(out), None)
            }
        }
    }

    /// Server: ends the current stream of a request; the client reconnects for the response.
    // HTTP-15: the server may close a stream before the response.
    pub(crate) fn end_stream(&mut self, now: Instant, incoming: IncomingId) -> Result<(), Misuse> {
        self.advance(now);
        let stream = self
            .inbound
            .requests()
            .get(incoming)
            .and_then(InboundRequest::stream)
            .ok_or(Misuse::Stale)?;
        self.env.end_stream(stream, false);
        Ok(())
    }

    pub(crate) fn close(&mut self, now: Instant) {
        self.advance(now);
        // Over HTTP, closing the streams of the calls cancels them.
        if self.env.side() == Side::Client && self.env.out.is_in_lines() {
            self.calls.send_cancels(&mut self.env, "the client closes the connection");
        }
        self.finish(CloseReason::Local);
    }
}
