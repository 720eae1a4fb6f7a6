//! Handles incoming messages by passing each to the part that is responsible for it.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};

use super::Connection;
use super::context::Env;
use super::dispatch::{self, ModernTarget, NotificationTarget, RequestTarget, SessionTarget};
use super::eras::{self, modern, rules};
use super::inbound::{Destination, Origin, RequestContext};
use super::lifecycle::handshake;
use super::lifecycle::phase::{Phase, Trigger};
use super::pending_calls::Owner;
use crate::error::code;
use crate::json::{Cursor, Raw, elements, unescape};
use crate::limits::Limits;
use crate::meta::{keep_meta, missing_context, read_input};
use crate::method::MethodId;
use crate::permissions;
use crate::printable::printable;
use crate::revision::{Era, MethodRule, Side};
use crate::rpc::{
    self, BrokenLine, DecodedMessage, Defect, ErrorObject, IncomingMessage, Malformed, Message,
    MethodName, Params, PartialEnvelope, PartialKind, RequestId, with_foreign_text,
};
use crate::schema::{Level, key};
use crate::time::Instant;
use crate::vocabulary::{CallError, CallId, Event, Peer, StreamId, ViolationKind, ViolationPolicy};

/// The description of a message cut off by the end of the stream.
const TRUNCATED: &str = "the stream ended inside a message";

impl Connection {
    pub(crate) fn handle_message(
        &mut self,
        now: Instant,
        stream: StreamId,
        message: &IncomingMessage<'_>,
    ) {
        self.handle_input(now, |this| {
            let known_meta = this.contexts.known_meta(&this.env.identity);
            let decoded = DecodedMessage::of(message.frame(), this.env.limits(), known_meta);
            this.on_decoded(stream, &decoded);
        });
    }

    /// Handles a message that its transport has parsed, perhaps within other limits.
    pub(crate) fn handle_decoded(
        &mut self,
        now: Instant,
        stream: StreamId,
        decoded: DecodedMessage<'_>,
    ) {
        self.handle_input(now, |this| {
            if decoded.is_within(this.env.limits()) {
                this.on_decoded(stream, &decoded);
            } else {
                this.on_decoded(stream, &DecodedMessage::of(decoded.frame, this.env.limits(), &[]));
            }
        });
    }

    /// Handles input, unless the connection takes none any more.
    #[inline]
    pub(super) fn handle_input(&mut self, now: Instant, handle: impl FnOnce(&mut Self)) {
        self.advance(now);
        if self.env.allows().input {
            handle(self);
            self.settle();
        }
    }

    // A decoded message is large, so it is passed by reference.
    #[inline]
    fn on_decoded(&mut self, stream: StreamId, decoded: &DecodedMessage<'_>) {
        let origin = Origin { to: Destination { stream, batch: None }, frame: decoded.frame };
        match &decoded.message {
            Ok(message) => self.on_message(origin, message),
            Err(Malformed::Array) => self.on_array(origin, decoded.frame.bytes()),
            Err(Malformed::Invalid { why, .. })
                if decoded.frame.bytes().trim_ascii_start().starts_with(b"[") =>
            {
                self.on_unreadable_array(origin, decoded.frame.bytes(), *why);
            }
            Err(malformed) => self.on_malformed(origin, malformed),
        }
    }

    pub(crate) fn handle_violation(&mut self, now: Instant, stream: StreamId, kind: ViolationKind) {
        let detail = match kind {
            ViolationKind::TooLong => self.too_long(),
            ViolationKind::Truncated => TRUNCATED.into(),
            _ => "reported by the transport".into(),
        };
        let reply = ErrorObject::new(code::INVALID_REQUEST, detail.clone());
        let to = Destination { stream, batch: None };
        self.handle_input(now, |this| this.on_unreadable(to, kind, detail.into(), &reply));
    }

    fn too_long(&self) -> String {
        let bytes_max = self.env.limits().message_bytes_max;
        format!("message exceeds {bytes_max} bytes (`Limits::message_bytes_max`)")
    }

    /// Handles a line that is not a complete message.
    // FRM-10, FRM-12, T-21: its request is answered and its call ends, as far as the id is known.
    pub(crate) fn handle_broken_line(&mut self, now: Instant, line: BrokenLine<'_>) {
        let id_bytes_max = self.env.limits().id_bytes_max;
        self.handle_input(now, |this| {
            let (why, PartialEnvelope { id, kind }) = match line {
                BrokenLine::TooLong => {
                    return this.env.violation(ViolationKind::TooLong, this.too_long());
                }
                BrokenLine::Discarded { first, last } => {
                    (this.too_long(), PartialEnvelope::of_ends(first, last, id_bytes_max))
                }
                BrokenLine::Truncated(text) => {
                    let detail = with_foreign_text(TRUNCATED.into(), text);
                    this.env.violation(ViolationKind::Truncated, detail);
                    (TRUNCATED.into(), PartialEnvelope::of(text, id_bytes_max))
                }
            };
            let to = Destination { stream: StreamId::ONLY, batch: None };
            let number = id.as_ref().and_then(RequestId::as_u64);
            let is_ours = number.is_some_and(|id| this.calls.is_open(id));
            match id {
                Some(id)
                    if kind == PartialKind::Response || kind == PartialKind::Unknown && is_ours =>
                {
                    if is_ours {
                        let why = match line {
                            BrokenLine::Truncated(_) => CallError::Invalid(why.into()),
                            _ => CallError::oversized(this.env.limits().message_bytes_max),
                        };
                        this.on_response_to(&id, None, Err(why));
                    }
                }
                None if kind == PartialKind::Response => {}
                id => {
                    let reply = ErrorObject::new(code::INVALID_REQUEST, why);
                    let is_request = kind == PartialKind::Request;
                    this.refuse_unreadable(to, id.as_ref(), is_request, &reply);
                }
            }
        });
    }

    // BAT-01…18, FRM-14, FRM-15: handles the members of a batch like single messages.
    fn on_array(&mut self, origin: Origin<'_>, text: &[u8]) {
        let mut cursor = Cursor::over(text, self.env.limits().depth_max);
        let checked = cursor.value().and_then(|array| cursor.finish().map(|()| array));
        let array = match checked {
            Ok(array) => array,
            Err(error) => return self.on_unreadable_array(origin, text, Defect::Syntax(error)),
        };
        let why = if !self.takes_batches() {
            Some("batches are not supported in this session")
        } else if elements(array).next().is_none() {
            Some("an empty batch")
        } else if elements(array).nth(self.env.limits().batch_members_max).is_some() {
            Some("too many messages in one batch")
        } else if self.inbound.batch_bytes() > self.env.limits().replies_bytes_max {
            Some("too many batched responses are pending")
        } else {
            None
        };
        if let Some(why) = why {
            let reply = ErrorObject::new(code::INVALID_REQUEST, format!("invalid request: {why}"));
            return self.on_unreadable(origin.to, ViolationKind::InvalidBatch, why.into(), &reply);
        }
        let batch = Some(self.inbound.begin_batch(origin.to.stream));
        let origin = Origin { to: Destination { batch, ..origin.to }, ..origin };
        for member in elements(array) {
            // An earlier member may have ended the connection.
            if !self.env.allows().input {
                return;
            }
            let Limits { depth_max, id_bytes_max, .. } = *self.env.limits();
            match rpc::decode_utf8(member, depth_max, id_bytes_max, &[]) {
                Ok(message) => self.on_message(origin, &message),
                Err(malformed) => self.on_malformed(origin, &malformed),
            }
            self.settle();
        }
        self.inbound.settle(&mut self.env, batch);
    }

    fn takes_batches(&self) -> bool {
        let env = &self.env;
        env.allows().serving && env.rules().batches && env.terms.peer.is_some()
    }

    /// Handles a batch that is not JSON: none of its members is handled, but their requests are
    /// refused and their responses end the calls.
    fn on_unreadable_array(&mut self, origin: Origin<'_>, text: &[u8], why: Defect) {
        let Limits { batch_members_max, id_bytes_max, .. } = *self.env.limits();
        let mut members = rpc::partial_batch(text, batch_members_max, id_bytes_max);
        members.retain(|member| member.id.is_some());
        if members.is_empty() || !self.takes_batches() {
            let malformed = Malformed::Invalid { id: None, answerable: true, why };
            return self.on_malformed(origin, &malformed);
        }
        let batch = Some(self.inbound.begin_batch(origin.to.stream));
        let to = Destination { batch, ..origin.to };
        for PartialEnvelope { id, kind } in &members {
            match id {
                Some(id) if *kind == PartialKind::Response => {
                    let why = format!("parse error: {why}").into();
                    self.on_response_to(id, None, Err(CallError::Invalid(why)));
                }
                id => self.inbound.refuse(&mut self.env, to, id.as_ref(), &why.to_error()),
            }
        }
        self.env.violation(ViolationKind::NotJson, why.to_string());
        self.inbound.settle(&mut self.env, batch);
    }

    fn on_message(&mut self, origin: Origin<'_>, message: &Message<'_>) {
        let violations = self.env.violations.in_a_row();
        match message {
            Message::Notification { method, params } => {
                self.on_notification(origin, method, params);
            }
            Message::Request { id, method, params } => {
                self.on_request(origin, id, method, params);
            }
            Message::Response { id, outcome } => {
                let kind = outcome.as_ref().ok().and_then(|result| result.result_type());
                let outcome = match outcome {
                    Ok(result) => Ok(result.keep(origin.frame)),
                    Err(error) => Err(CallError::Refused(error.clone())),
                };
                self.on_response_to(id, kind.as_deref(), outcome);
            }
            Message::BrokenResponse { id, why } => {
                self.on_response_to(id, None, Err(CallError::Invalid(why.as_ref().into())));
            }
            Message::OrphanError(error) => self.on_orphan(error.clone()),
        }
        if self.env.violations.in_a_row() == violations {
            self.env.violations.forgive();
            // TMO-08: any valid message proves that the peer is alive.
            self.keep_alive.on_sign_of_life();
        }
    }

    // T-01: reports input that is neither a request, a notification nor a response.
    fn on_malformed(&mut self, origin: Origin<'_>, malformed: &Malformed) {
        let Malformed::Invalid { id, answerable, why } = malformed else {
            return self.on_malformed(origin, &Malformed::NOT_AN_OBJECT);
        };
        let (kind, detail) = match why {
            Defect::Message(why) => (ViolationKind::Invalid, Cow::Borrowed(*why)),
            Defect::NotUtf8(_) | Defect::Syntax(_) => {
                (ViolationKind::NotJson, why.to_string().into())
            }
        };
        let detail = match id {
            None => with_foreign_text(detail, origin.frame.bytes()),
            Some(_) => detail,
        };
        match id {
            None if *answerable => self.on_unreadable(origin.to, kind, detail, &why.to_error()),
            None => self.env.violation(kind, detail),
            Some(id) => {
                let is_ours = id.as_u64().is_some_and(|id| self.calls.is_open(id));
                if is_ours && !answerable {
                    let why = why.to_string().into();
                    return self.on_response_to(id, None, Err(CallError::Invalid(why)));
                }
                self.refuse_unreadable(origin.to, Some(id), *answerable, &why.to_error());
                self.env.violation(kind, detail);
            }
        }
    }

    /// Refuses input that may be a request.
    // D-01: the policy decides about a reply without an id, or to what may be no request.
    fn refuse_unreadable(
        &mut self,
        to: Destination,
        id: Option<&RequestId>,
        is_request: bool,
        reply: &ErrorObject,
    ) {
        let env = &mut self.env;
        let is_wanted = env.identity.policy == ViolationPolicy::Reply;
        let is_allowed = match id {
            Some(_) => is_request || is_wanted,
            // Replies to members of a batch are bounded by the batch limits.
            None if to.batch.is_some() => is_wanted,
            None => is_wanted && env.violations.may_reply(env.now, &env.identity.limits),
        };
        if is_allowed {
            self.inbound.refuse(env, to, id, reply);
        }
    }

    /// Refuses and reports input without an id.
    fn on_unreadable(
        &mut self,
        to: Destination,
        kind: ViolationKind,
        detail: Cow<'static, str>,
        reply: &ErrorObject,
    ) {
        self.refuse_unreadable(to, None, true, reply);
        self.env.violation(kind, detail);
    }

    fn on_response_to(
        &mut self,
        id: &RequestId,
        kind: Option<&str>,
        outcome: Result<Raw, CallError>,
    ) {
        let number = id.as_u64();
        let in_flight = number.and_then(|id| Some((id, self.calls.owner_in_flight(id)?)));
        if let Some(in_flight) = in_flight {
            return self.on_response(in_flight, kind, outcome);
        }
        if number.is_some_and(|number| self.calls.forget_retired(number)) {
            if let Ok(created) = outcome {
                rules::on_late_result(&mut self.env, kind, created);
            }
            return;
        }
        // LIF-28: some servers reject an unknown method under an id that they chose.
        if let Some(probe) = self.calls.only_call(Owner::Probe).filter(|_| outcome.is_err()) {
            return self.on_response((probe, Owner::Probe), None, outcome);
        }
        let twin = id.as_text().and_then(|text| text.parse().ok());
        let detail = if twin.is_some_and(|twin| self.calls.is_open(twin)) {
            format!("unknown request id {id} (our ids are numbers, not strings)")
        } else {
            format!("unknown request id {id}")
        };
        self.env.violation(ViolationKind::UnknownResponse, detail);
    }

    // T-03, LIF-28: an error without an id belongs to the opening request if that is the only call.
    fn on_orphan(&mut self, error: ErrorObject) {
        let is_opening = self.env.phase() == Phase::Opening && self.env.side() == Side::Client;
        if is_opening && !self.lifecycle.takes_late_refusal() {
            let opener = [Owner::Probe, Owner::Handshake]
                .into_iter()
                .find_map(|owner| Some((self.calls.only_call(owner)?, owner)));
            if let Some(opener) = opener {
                return self.on_response(opener, None, Err(CallError::Refused(error)));
            }
        }
        let detail = format!("error response without a request id (code {})", error.code);
        self.env.violation(ViolationKind::UnknownResponse, detail);
    }

    fn on_request(
        &mut self,
        origin: Origin<'_>,
        id: &RequestId,
        method: &MethodName<'_>,
        params: &Params<'_>,
    ) {
        if !rules::receives_requests(&self.env) {
            let name = printable(method.text.as_bytes(), 64);
            return self.env.violation(ViolationKind::UnexpectedRequest, name);
        }
        if self.inbound.has_id(id) || self.subscribers.has(id) {
            let why = format!("request id {id} is already in use");
            let error = ErrorObject::new(code::INVALID_REQUEST, &*why);
            self.inbound.refuse(&mut self.env, origin.to, Some(id), &error);
            return self.env.violation(ViolationKind::DuplicateId, why);
        }
        self.inbound.reserve_id(origin.to.batch, id);
        let carries_context = self.env.serves_modern()
            && (self.contexts.applies_to(&self.env.identity, params)
                || dispatch::carries_context(params));
        let served = match dispatch::request(&self.env, method.id, carries_context) {
            RequestTarget::Ping if params.malformed => {
                Err(ErrorObject::invalid_params("params must be an object"))
            }
            RequestTarget::Ping => {
                self.inbound.accept(&mut self.env, origin.to, id);
                Ok(())
            }
            RequestTarget::Initialize => self.on_initialize(origin.to, id, params),
            RequestTarget::Session(target) => {
                self.on_session_request(target, origin, id, method, params)
            }
            RequestTarget::Modern(target) => {
                self.on_modern_request(target, origin, id, method, params)
            }
        };
        if let Err(error) = served {
            self.inbound.refuse(&mut self.env, origin.to, Some(id), &error);
        }
    }

    // LIF-03…05, LIF-15, LIF-33: answers `initialize` with the selected revision.
    fn on_initialize(
        &mut self,
        to: Destination,
        id: &RequestId,
        params: &Params<'_>,
    ) -> Result<(), ErrorObject> {
        let identity = alloc::sync::Arc::clone(&self.env.identity);
        let peer = handshake::negotiate(params, &identity)?;
        let revision = peer.revision;
        self.env.terms.peer = Some(peer.into());
        self.inbound.accept_with(&mut self.env, to, id, |out| {
            handshake::write_welcome(&identity, revision, out)
        });
        self.step(Trigger::Welcome);
        Ok(())
    }

    /// Handles a request whose context is the session.
    fn on_session_request(
        &mut self,
        target: SessionTarget,
        origin: Origin<'_>,
        id: &RequestId,
        method: &MethodName<'_>,
        params: &Params<'_>,
    ) -> Result<(), ErrorObject> {
        if !self.env.allows().serving {
            // T-40: a server that also speaks the modern era reports the missing context.
            return Err(if self.env.serves_modern() {
                missing_context(&self.env.identity.revisions)
            } else {
                ErrorObject::new(code::INVALID_REQUEST, "the session is not initialized")
            });
        }
        if method.id == Some(MethodId::Initialize) && self.env.side() == Side::Server {
            let why = "the session is already initialized";
            return Err(ErrorObject::new(code::INVALID_REQUEST, why));
        }
        let rule = method.id.and_then(|method| method.rule(self.env.revision()));
        let Some(peer) = self.env.terms.peer.clone() else { return Ok(()) };
        self.admit(rule, method, params, &peer)?;
        self.inbound.require_room(params, self.env.limits())?;
        let (meta, progress_token) = keep_meta(&self.env.identity, origin.frame, params);
        let log_level = self.env.terms.log_level;
        let sender =
            RequestContext { peer, log_level, answers: None, state: None, meta, progress_token };
        match target {
            SessionTarget::SetLogLevel => {
                let name = params.member("level").and_then(unescape).unwrap_or_default();
                let Some(level) = Level::from_name(&name) else {
                    return Err(ErrorObject::invalid_params("`level` is not a log level"));
                };
                self.env.terms.log_level = Some(level);
                self.inbound.accept(&mut self.env, origin.to, id);
            }
            SessionTarget::Subscribe => {
                return self.on_subscribe(origin, id, method, rule, params, sender);
            }
            SessionTarget::Unsubscribe => self.on_unsubscribe(origin.to, id, params),
            SessionTarget::Application => {
                self.deliver(origin, id, method, rule, params, sender);
            }
        }
        Ok(())
    }

    /// Handles a request that carries its own context.
    fn on_modern_request(
        &mut self,
        target: ModernTarget,
        origin: Origin<'_>,
        id: &RequestId,
        method: &MethodName<'_>,
        params: &Params<'_>,
    ) -> Result<(), ErrorObject> {
        if origin.to.batch.is_some() {
            let why = "batches are not supported in this revision";
            return Err(ErrorObject::new(code::INVALID_REQUEST, why));
        }
        if target == ModernTarget::Application {
            // Before the context is decoded, which takes memory.
            self.inbound.require_room(params, self.env.limits())?;
        }
        let mut sender = self.contexts.read(&self.env.identity, origin.frame, params)?;
        let rule = method.id.and_then(|method| method.rule(sender.peer.revision));
        match target {
            ModernTarget::Discover => {
                modern::discover(&mut self.env, &mut self.inbound, origin.to, id, &sender.peer);
                return Ok(());
            }
            ModernTarget::Listen => {
                return self.on_listen(origin, id, method, rule, params, sender);
            }
            ModernTarget::Application => {}
        }
        self.admit(rule, method, params, &sender.peer)?;
        if rule.is_some_and(|rule| rule.may_ask) {
            let input_requests_max = self.env.limits().input_requests_max;
            (sender.answers, sender.state) = read_input(input_requests_max, origin.frame, params)?;
        }
        self.deliver(origin, id, method, rule, params, sender);
        Ok(())
    }

    /// Fails if the method, its params or its capability forbids serving a request.
    fn admit(
        &self,
        rule: Option<&'static MethodRule>,
        method: &MethodName<'_>,
        params: &Params<'_>,
        peer: &Peer,
    ) -> Result<(), ErrorObject> {
        let is_served = rule.is_none() && self.serves(method, peer)?;
        let identity = &self.env.identity;
        permissions::incoming_request(
            rule,
            is_served,
            self.env.side(),
            &method.text,
            params,
            &identity.capabilities,
            rules::declared_in(&self.env),
        )
    }

    /// Returns whether the application serves a method that the revision does not define.
    // LIF-34: a method of an extension needs a peer that declared the extension.
    fn serves(&self, method: &MethodName<'_>, peer: &Peer) -> Result<bool, ErrorObject> {
        let (extensions, revision) = (&self.env.identity.extensions, peer.revision);
        let side = self.env.side();
        match permissions::incoming_extension(extensions, side, revision, &method.text, true) {
            None => Ok(self.env.identity.serves_method(&method.text)),
            Some(extension) if extension.is_declared_in(&peer.capabilities) => Ok(true),
            Some(extension) => {
                let mut error = ErrorObject::missing_extension(extension.id());
                error.code = revision.rules().error_code(error.code);
                Err(error)
            }
        }
    }

    pub(super) fn deliver(
        &mut self,
        origin: Origin<'_>,
        id: &RequestId,
        method: &MethodName<'_>,
        rule: Option<&'static MethodRule>,
        params: &Params<'_>,
        sender: RequestContext,
    ) {
        self.inbound.deliver(
            &mut self.env,
            origin,
            id.clone(),
            method.to_method(),
            rule,
            params,
            sender,
        );
    }

    fn on_notification(
        &mut self,
        origin: Origin<'_>,
        method: &MethodName<'_>,
        params: &Params<'_>,
    ) {
        if params.malformed {
            return self.env.bad_notification(&method.text, "params must be an object");
        }
        let target = dispatch::notification(&self.env, method.id);
        match target {
            NotificationTarget::Cancelled => return self.on_cancelled(origin, params),
            NotificationTarget::Initialized => {
                if self.env.phase() == Phase::Opening {
                    self.env.violation(
                        ViolationKind::BeforeInitialize,
                        "`notifications/initialized` before `initialize`",
                    );
                    self.settle();
                }
                return self.step(Trigger::Settled);
            }
            NotificationTarget::Progress => return self.calls.on_progress(&mut self.env, params),
            NotificationTarget::Subscription | NotificationTarget::Application => {}
        }
        let rule = method.id.and_then(|method| method.rule(self.env.revision()));
        let rule = rule.filter(|rule| !rule.is_request);
        // T-27, T-29: a client must not send notifications before the session exists, unless this
        // server also serves clients without a session.
        let needs_session = method.id.is_some() || self.env.identity.newest(Era::Modern).is_none();
        if self.env.phase() == Phase::Opening && self.env.side() == Side::Server && needs_session {
            let kind = ViolationKind::BeforeInitialize;
            return self.env.violation(kind, "notification before `initialize`");
        }
        if let Some(Err(error)) = rule.map(|rule| permissions::check_text_params(rule, params)) {
            return self.env.bad_notification(&method.text, &error.message);
        }
        if rule.is_none() && self.is_of_missing_extension(method) {
            let why = "the peer did not declare the extension of the notification";
            return self.env.bad_notification(&method.text, why);
        }
        let kept = params.object.map(|object| object.keep(origin.frame));
        match (target, rule) {
            (NotificationTarget::Subscription, Some(rule)) => {
                let Self { env, calls, subscriptions, cache, .. } = self;
                eras::on_subscription_notification(
                    env,
                    calls,
                    subscriptions,
                    cache,
                    rule.id,
                    params,
                    kept,
                );
            }
            _ => {
                let call = match method.id {
                    Some(MethodId::LogMessage) => eras::logged_call(&self.env, &self.calls),
                    Some(_) => None,
                    None => self.tagged_subscription(params),
                };
                self.env.emit(Event::Notification {
                    call,
                    method: method.to_method(),
                    params: kept,
                });
            }
        }
    }

    /// Client: returns the acknowledged subscription that the notification of an extension names.
    // ID-12, STL-32: tagged with the id of the subscription.
    fn tagged_subscription(&self, params: &Params<'_>) -> Option<CallId> {
        let id = params.meta_member(key::SUBSCRIPTION_ID).and_then(RequestId::from_json)?;
        let call = CallId(id.as_u64()?);
        self.subscriptions.is_acknowledged(call).filter(|acknowledged| *acknowledged)?;
        Some(call)
    }

    /// Returns whether a notification belongs to an extension that the peer did not declare.
    /// Without a session, the capabilities of a client are unknown.
    fn is_of_missing_extension(&self, method: &MethodName<'_>) -> bool {
        let Env { identity, terms, .. } = &self.env;
        let Some(peer) = &terms.peer else { return false };
        let (extensions, revision) = (&identity.extensions, peer.revision);
        permissions::incoming_extension(extensions, self.env.side(), revision, &method.text, false)
            .is_some_and(|extension| !extension.is_declared_in(&peer.capabilities))
    }

    // CAN-03…07, CAN-19: cancels a request of the peer; unknown and finished ones are ignored.
    fn on_cancelled(&mut self, origin: Origin<'_>, params: &Params<'_>) {
        let id = params.member("requestId").and_then(RequestId::from_json);
        let Some(id) = id else {
            return self
                .env
                .bad_notification(MethodId::Cancelled.name(), "`requestId` must be an id");
        };
        if !rules::receives_requests(&self.env) {
            if let Some(call) =
                modern::on_cancelled(&mut self.env, &self.calls, &self.subscriptions, &id)
            {
                self.calls.retire(&mut self.env, call, CallError::SubscriptionEnded);
            }
            return;
        }
        if self.subscribers.has(&id) {
            self.subscribers.unsubscribe(&mut self.env, &id);
        } else if let Some(incoming) = self.inbound.requests().find(&id) {
            let reason = params.member("reason").map(|reason| origin.frame.keep(reason, true));
            self.withdraw(incoming, reason);
            self.check_drained();
        }
    }
}
