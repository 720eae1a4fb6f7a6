//! What a message of the peer does: answered here, handed to the application, or refused; knows nothing of transports.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;

use super::batch::BatchId;
use super::core::Core;
use super::event::Event;
use super::gate;
use super::guard::{ViolationKind, ViolationPolicy};
use super::incoming::{Again, IncomingId, Open};
use super::outcome::{CallError, Fault, Progress};
use super::peer::{Context, Method, Request};
use super::phase::{Phase, Trigger};
use super::{Incoming, StreamId};
use crate::error::code;
use crate::json::{Frame, Raw, elements, unescape};
use crate::revision::{MethodRule, Side};
use crate::rpc::{self, ErrorObject, Malformed, Message, Params, RequestId};
use crate::schema::Level;
use crate::time::Instant;

/// Where a message came from: what its answer needs to know.
#[derive(Clone, Copy)]
struct Origin<'a> {
    stream: StreamId,
    frame: Frame<'a>,
    batch: Option<BatchId>,
}

impl Core {
    pub(crate) fn handle_message(&mut self, now: Instant, stream: StreamId, message: Incoming<'_>) {
        self.advance(now);
        if !self.phase.allows().input {
            return;
        }
        let frame = match &message {
            Incoming::Borrowed(bytes) => Frame::Borrowed(bytes),
            Incoming::Owned(bytes) => Frame::Shared(bytes),
        };
        let origin = Origin { stream, frame, batch: None };
        match core::str::from_utf8(frame.bytes()) {
            Ok(text) if text.trim_ascii_start().starts_with('[') => self.array(origin, text),
            Ok(text) => self.single(origin, text),
            Err(error) => {
                let detail = format!("invalid UTF-8 at byte {}", error.valid_up_to());
                let reply = ErrorObject::new(code::PARSE_ERROR, format!("parse error: {detail}"));
                self.unreadable(None, ViolationKind::NotJson, detail.into(), &reply);
            }
        }
    }

    pub(crate) fn handle_violation(&mut self, now: Instant, kind: ViolationKind) {
        self.advance(now);
        if !self.phase.allows().input {
            return;
        }
        let detail = match kind {
            ViolationKind::TooLong => {
                format!("a message is longer than {} bytes", self.limits().message_bytes_max)
            }
            ViolationKind::Truncated => "the stream ended inside a message".into(),
            _ => "reported by the transport".into(),
        };
        let reply = ErrorObject::new(code::INVALID_REQUEST, detail.clone());
        self.unreadable(None, kind, detail.into(), &reply);
    }

    fn single(&mut self, origin: Origin<'_>, text: &str) {
        let limits = self.limits();
        match rpc::decode(text, limits.depth_max, limits.id_bytes_max) {
            Ok(message) => self.message(origin, message),
            Err(malformed) => self.malformed(origin, &malformed),
        }
    }

    /// A whole array. (BAT-01…18)
    fn array(&mut self, origin: Origin<'_>, text: &str) {
        let mut scanner = crate::json::Scanner::new(text, self.limits().depth_max);
        let checked = scanner.value().and_then(|array| scanner.finish().map(|()| array));
        let array = match checked {
            Ok(array) => array,
            Err(error) => return self.malformed(origin, &Malformed::Parse(error)),
        };
        let why = if !self.phase.allows().serving || !self.rules().batches || self.peer.is_none() {
            Some("batches are not a part of this session")
        } else if elements(array).next().is_none() {
            Some("an empty batch")
        } else if elements(array).nth(self.limits().batch_members_max).is_some() {
            Some("too many messages in one batch")
        } else if self.batches.bytes() > self.limits().replies_bytes_max {
            Some("too many answers wait for others of their batch")
        } else {
            None
        };
        if let Some(why) = why {
            let reply = ErrorObject::new(code::INVALID_REQUEST, format!("invalid request: {why}"));
            return self.unreadable(None, ViolationKind::Batch, why.into(), &reply);
        }
        let batch = self.batches.begin(origin.stream);
        for member in elements(array) {
            // One of them may have ended the connection.
            if !self.phase.allows().input {
                return;
            }
            let text = core::str::from_utf8(member).unwrap_or_default();
            self.single(Origin { batch: Some(batch), ..origin }, text);
        }
        self.settle(Some(batch));
    }

    fn message(&mut self, origin: Origin<'_>, message: Message<'_>) {
        let violations = self.guard.in_a_row();
        match message {
            Message::Notification { method, params } => self.notification(origin, &method, &params),
            Message::Request { id, method, params } => self.request(origin, id, &method, &params),
            Message::Response { id, outcome } => {
                let outcome = outcome.map(|result| result.keep(origin.frame)).map_err(CallError::Refused);
                self.response(&id, outcome);
            }
            Message::BrokenResponse { id, why } => self.response(&id, Err(CallError::Invalid(why.into()))),
            Message::OrphanError(error) => self.orphan(error),
        }
        if self.guard.in_a_row() == violations {
            self.guard.good();
            // Whoever speaks is there, even if its answer to a ping comes too late. (TMO-08)
            self.ponged();
        }
    }

    /// A text that is no message. Whoever can be told is told. (T-01)
    fn malformed(&mut self, origin: Origin<'_>, malformed: &Malformed) {
        let reply = malformed.to_error();
        match malformed {
            Malformed::Parse(error) => {
                self.unreadable(origin.batch, ViolationKind::NotJson, format!("{error}").into(), &reply);
            }
            Malformed::Invalid { id: None, answerable: true, why } => {
                self.unreadable(origin.batch, ViolationKind::Invalid, (*why).into(), &reply);
            }
            Malformed::Invalid { id: None, why, .. } => self.violation(ViolationKind::Invalid, *why),
            Malformed::Invalid { id: Some(id), answerable, why } => {
                let ours = id.as_u64().is_some_and(|wire| self.calls.get_mut(wire).is_some());
                if ours && !answerable {
                    return self.response(id, Err(CallError::Invalid((*why).into())));
                }
                if *answerable || self.me.policy == ViolationPolicy::Reply {
                    self.refuse(origin.batch, Some(id), &reply);
                }
                self.violation(ViolationKind::Invalid, *why);
            }
        }
    }

    /// Reports what cannot be answered by id, and answers it without one where that is wanted. (D-01)
    fn unreadable(
        &mut self,
        batch: Option<BatchId>,
        kind: ViolationKind,
        detail: Cow<'static, str>,
        reply: &ErrorObject,
    ) {
        let wanted = self.me.policy == ViolationPolicy::Reply;
        // What is in a batch is answered in its reply, which is bounded already.
        if wanted && (batch.is_some() || self.guard.may_reply(self.now, &self.me.limits)) {
            self.refuse(batch, None, reply);
        }
        self.violation(kind, detail);
    }

    fn response(&mut self, id: &RequestId, outcome: Result<Raw, CallError>) {
        let wire = id.as_u64();
        if let Some((wire, call)) = wire.and_then(|wire| Some((wire, self.calls.remove(wire)?))) {
            return self.complete(wire, call.asker, outcome);
        }
        if wire.is_some_and(|wire| self.calls.forget_retired(wire)) {
            return;
        }
        let twin = id.as_text().and_then(|text| text.parse().ok());
        let detail = if twin.is_some_and(|wire| self.calls.get_mut(wire).is_some()) {
            format!("{id} names no open call; our ids are numbers")
        } else {
            format!("{id} names no open call")
        };
        self.violation(ViolationKind::UnknownResponse, detail);
    }

    /// An error that names no request can only be about the one that opens the session. (T-03)
    fn orphan(&mut self, error: ErrorObject) {
        if self.phase == Phase::Opening && self.side == Side::Client && self.calls.len() == 1 {
            return self.fault(Fault::Refused(error));
        }
        let detail = format!("an error without a request id: {}", error.code);
        self.violation(ViolationKind::UnknownResponse, detail);
    }

    fn request(&mut self, origin: Origin<'_>, id: RequestId, method: &str, params: &Params<'_>) {
        if self.incoming.find(origin.stream, &id).is_some() || self.batches.has_id(origin.stream, &id) {
            let error = ErrorObject::new(code::INVALID_REQUEST, format!("request id {id} is already in use"));
            self.refuse(origin.batch, Some(&id), &error);
            return self.violation(ViolationKind::DuplicateId, format!("{id} is still open"));
        }
        if let Some(batch) = origin.batch {
            self.batches.take_id(batch, &id);
        }
        // Answered in every phase, at once. (T-26, TMO-10)
        if method == "ping" {
            return self.accept(origin.batch, &id);
        }
        if method == "initialize" && self.side == Side::Server && self.phase == Phase::Opening {
            return self.initialize(&id, params);
        }
        if let Err(error) = self.admit(method, params) {
            return self.refuse(origin.batch, Some(&id), &error);
        }
        if method == "logging/setLevel" {
            return self.set_level(origin.batch, &id, params);
        }
        self.deliver(origin, id, method, params);
    }

    /// Whether a request is served; how it is refused otherwise.
    fn admit(&self, method: &str, params: &Params<'_>) -> Result<(), ErrorObject> {
        if !self.phase.allows().serving {
            let why = "the session is not initialized";
            return Err(ErrorObject::new(code::INVALID_REQUEST, why));
        }
        if method == "initialize" && self.side == Side::Server {
            let why = "the session is initialized already";
            return Err(ErrorObject::new(code::INVALID_REQUEST, why));
        }
        let rule = MethodRule::find(method, true, self.revision());
        let besides = self.me.also_served.iter().any(|served| **served == *method);
        gate::incoming_request(rule, besides, self.side, method, params, &self.me.capabilities)?;
        let bytes = params.object.map_or(0, |object| object.text.len());
        if self.incoming.len() >= self.limits().requests_max
            || self.incoming.bytes() + bytes > self.limits().requests_bytes_max
        {
            return Err(ErrorObject::internal("too many requests are open"));
        }
        Ok(())
    }

    fn set_level(&mut self, batch: Option<BatchId>, id: &RequestId, params: &Params<'_>) {
        let level = params.member("level").and_then(unescape).and_then(|name| Level::from_name(&name));
        let Some(level) = level else {
            let error = ErrorObject::invalid_params("`level` is not a log level");
            return self.refuse(batch, Some(id), &error);
        };
        self.log_level = Some(level);
        self.accept(batch, id);
    }

    /// Hands a request to the application.
    fn deliver(&mut self, origin: Origin<'_>, id: RequestId, method: &str, params: &Params<'_>) {
        let Some(peer) = self.peer.as_ref().map(Arc::clone) else { return };
        let rule = MethodRule::find(method, true, peer.revision);
        let progress_token = params
            .meta_member("progressToken")
            .filter(|token| token.len() <= self.limits().id_bytes_max)
            .and_then(RequestId::from_json);
        let request = Request {
            method: Method::new(method, rule),
            params: params.object.map(|object| object.keep(origin.frame)),
        };
        let context = Context {
            peer,
            log_level: self.log_level,
            wants_progress: progress_token.is_some(),
            answers: None,
            state: None,
            meta: params.meta.map(|meta| origin.frame.keep(meta, true)),
        };
        let kept = |raw: &Option<Raw>| raw.as_ref().map_or(0, |raw| raw.as_bytes().len());
        let bytes = kept(&request.params) + kept(&context.meta);
        let may_ask = rule.is_some_and(|rule| rule.may_ask);
        let again = may_ask
            .then(|| Box::new(Again { request: request.clone(), context: context.clone(), rounds: 0 }));
        if let Some(batch) = origin.batch {
            self.batches.expect(batch);
        }
        let incoming = self.incoming.insert(Open {
            wire: id,
            stream: origin.stream,
            batch: origin.batch,
            progress_token,
            progress: None,
            deferred: None,
            again,
            asking: None,
            bytes,
        });
        self.events.push(Event::Request { incoming, request, context });
    }

    fn notification(&mut self, origin: Origin<'_>, method: &str, params: &Params<'_>) {
        if params.malformed {
            return self.bad_notification(method, "params must be an object");
        }
        match method {
            "notifications/cancelled" => return self.cancelled(origin, params),
            "notifications/initialized" if self.side == Side::Server => {
                if self.phase == Phase::Opening {
                    self.violation(ViolationKind::Early, "initialized before initialize");
                }
                return self.step(Trigger::Settled);
            }
            "notifications/progress" => return self.progressed(params),
            _ => {}
        }
        // A server may say things before the client knows who it is; a client has nothing to say yet. (T-27, T-29)
        if self.phase == Phase::Opening && self.side == Side::Server {
            return self.violation(ViolationKind::Early, "a notification before initialize");
        }
        let rule = MethodRule::find(method, false, self.revision());
        if let Some(Err(error)) = rule.map(|rule| gate::check_text_params(rule, params)) {
            return self.bad_notification(method, &error.message);
        }
        let params = params.object.map(|object| object.keep(origin.frame));
        self.events.push(Event::Notification { method: Method::new(method, rule), params });
    }

    fn bad_notification(&mut self, method: &str, why: &str) {
        // The name is the peer's: enough of it to recognise.
        let name: alloc::string::String = method.chars().take(64).collect();
        self.violation(ViolationKind::BadNotification, format!("{name}: {why}"));
    }

    /// The peer no longer wants an answer. What it cannot mean is ignored. (CAN-03…07, CAN-19)
    fn cancelled(&mut self, origin: Origin<'_>, params: &Params<'_>) {
        let id = params.member("requestId").and_then(RequestId::from_json);
        let Some(id) = id else {
            return self.bad_notification("notifications/cancelled", "`requestId` must be an id");
        };
        if let Some(incoming) = self.incoming.find(origin.stream, &id) {
            let reason = params.member("reason").map(|reason| origin.frame.keep(reason, true));
            self.withdraw(incoming, reason);
            self.check_drained();
        }
    }

    /// Forgets a request that will not be answered, and tells the application if it has a say in it.
    pub(super) fn withdraw(&mut self, incoming: IncomingId, reason: Option<Raw>) {
        let Some(open) = self.incoming.remove(incoming) else { return };
        if open.asking.is_some() {
            self.withdraw_questions(incoming);
        } else {
            self.events.push(Event::RequestCancelled { incoming, reason });
        }
        self.settle(open.batch);
    }

    /// The peer tells how far one of our calls has come. (PRG-03…10, PRG-16)
    fn progressed(&mut self, params: &Params<'_>) {
        let number = |name: &str| -> Option<f64> {
            core::str::from_utf8(params.member(name)?).ok()?.parse().ok().filter(|n: &f64| n.is_finite())
        };
        let token = params.member("progressToken").and_then(RequestId::from_json);
        let (Some(token), Some(progress)) = (token, number("progress")) else {
            let why = "`progressToken` must be an id and `progress` a number";
            return self.bad_notification("notifications/progress", why);
        };
        let total = number("total");
        // A token of no open call is not an error: progress may cross an answer or a cancel. (PRG-09)
        let Some(wire) = token.as_u64() else { return };
        let Some(call) = self.calls.get_mut(wire).filter(|call| call.wants_progress) else { return };
        if call.progress.is_some_and(|last| progress <= last) {
            return self.violation(ViolationKind::StaleProgress, format!("call#{wire}: {progress}"));
        }
        call.progress = Some(progress);
        self.calls.extend(self.now, wire);
        let message = params.member("message").and_then(unescape).map(Into::into);
        let progress = Progress { progress, total, message };
        self.events.push(Event::Progress { call: super::CallId(wire), progress });
    }

    /// Answers with an empty result.
    fn accept(&mut self, batch: Option<BatchId>, id: &RequestId) {
        let _infallible = self.write_answer(batch, |out| {
            rpc::response(out, id, |out| {
                out.extend_from_slice(b"{}");
                Ok(())
            })
        });
    }

    /// Answers with an error.
    pub(super) fn refuse(&mut self, batch: Option<BatchId>, id: Option<&RequestId>, error: &ErrorObject) {
        let null_id = self.rules().unknown_id_is_null;
        let _infallible = self.write_answer(batch, |out| {
            rpc::error_line(out, id, null_id, error);
            Ok(())
        });
    }
}
