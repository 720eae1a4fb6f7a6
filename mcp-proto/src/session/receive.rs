//! What comes in from the peer: which kind of message it is, what is wrong with it, and which call a response ends;
//! knows nothing of what requests and notifications mean, nor of transports.

use alloc::borrow::Cow;
use alloc::format;
use core::str::Utf8Error;

#[cfg(feature = "http")]
use bytes::Bytes;

use super::calls::Asker;
use super::core::Core;
use super::guard::{ViolationKind, ViolationPolicy};
use super::outcome::CallError;
use super::phase::Phase;
use super::requests::{Back, Origin};
use super::{Incoming, StreamId};
use crate::error::code;
use crate::json::{Frame, Raw, elements};
use crate::revision::Side;
use crate::rpc::{self, ErrorObject, Malformed, Message, RequestId};
use crate::time::Instant;

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
        let text = frame.bytes();
        match check_utf8(text) {
            Ok(()) if text.trim_ascii_start().starts_with(b"[") => self.array(origin, text),
            Ok(()) => self.single(origin, text),
            Err(error) => {
                let detail = format!("invalid UTF-8 at byte {}", error.valid_up_to());
                let reply = ErrorObject::new(code::PARSE_ERROR, format!("parse error: {detail}"));
                self.unreadable(origin.back(), ViolationKind::NotJson, detail.into(), &reply);
            }
        }
    }

    /// As `handle_message`, of what was read by somebody else.
    #[cfg(feature = "http")]
    pub(crate) fn handle_decoded(
        &mut self,
        now: Instant,
        stream: StreamId,
        body: &Bytes,
        message: Message<'_>,
    ) {
        self.advance(now);
        if self.phase.allows().input {
            self.message(Origin { stream, frame: Frame::Shared(body), batch: None }, message);
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
        let back = Back { stream: StreamId::ONLY, batch: None };
        self.unreadable(back, kind, detail.into(), &reply);
    }

    fn single(&mut self, origin: Origin<'_>, text: &[u8]) {
        let limits = self.limits();
        match rpc::decode_utf8(text, limits.depth_max, limits.id_bytes_max) {
            Ok(message) => self.message(origin, message),
            Err(malformed) => self.malformed(origin, &malformed),
        }
    }

    /// A whole array. (BAT-01…18)
    fn array(&mut self, origin: Origin<'_>, text: &[u8]) {
        let mut scanner = crate::json::Cursor::over(text, self.limits().depth_max);
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
            return self.unreadable(origin.back(), ViolationKind::Batch, why.into(), &reply);
        }
        let batch = self.batches.begin(origin.stream);
        for member in elements(array) {
            // One of them may have ended the connection.
            if !self.phase.allows().input {
                return;
            }
            self.single(Origin { batch: Some(batch), ..origin }, member);
        }
        self.settle(Some(batch));
    }

    fn message(&mut self, origin: Origin<'_>, message: Message<'_>) {
        let violations = self.guard.in_a_row();
        match message {
            Message::Notification { method, params } => self.notification(origin, &method, &params),
            Message::Request { id, method, params } => self.request(origin, id, &method, &params),
            Message::Response { id, outcome } => {
                let kind = outcome.as_ref().ok().and_then(|result| result.kind());
                let outcome = outcome.map(|result| result.keep(origin.frame)).map_err(CallError::Refused);
                self.response(&id, kind, outcome);
            }
            Message::BrokenResponse { id, why } => {
                self.response(&id, None, Err(CallError::Invalid(why.into())));
            }
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
                self.unreadable(origin.back(), ViolationKind::NotJson, format!("{error}").into(), &reply);
            }
            Malformed::Invalid { id: None, answerable: true, why } => {
                self.unreadable(origin.back(), ViolationKind::Invalid, (*why).into(), &reply);
            }
            Malformed::Invalid { id: None, why, .. } => self.violation(ViolationKind::Invalid, *why),
            Malformed::Invalid { id: Some(id), answerable, why } => {
                let ours = id.as_u64().is_some_and(|wire| self.calls.get_mut(wire).is_some());
                if ours && !answerable {
                    return self.response(id, None, Err(CallError::Invalid((*why).into())));
                }
                if *answerable || self.me.policy == ViolationPolicy::Reply {
                    self.refuse(origin.back(), Some(id), &reply);
                }
                self.violation(ViolationKind::Invalid, *why);
            }
        }
    }

    /// Reports what cannot be answered by id, and answers it without one where that is wanted. (D-01)
    fn unreadable(
        &mut self,
        back: Back,
        kind: ViolationKind,
        detail: Cow<'static, str>,
        reply: &ErrorObject,
    ) {
        let wanted = self.me.policy == ViolationPolicy::Reply;
        // What is in a batch is answered in its reply, which is bounded already.
        if wanted && (back.batch.is_some() || self.guard.may_reply(self.now, &self.me.limits)) {
            self.refuse(back, None, reply);
        }
        self.violation(kind, detail);
    }

    /// A response: its call ends, unless it says that the call has to be made again. `kind` is its `resultType`.
    fn response(&mut self, id: &RequestId, kind: Option<Cow<'_, str>>, outcome: Result<Raw, CallError>) {
        let wire = id.as_u64();
        if let Some(wire) = wire.filter(|wire| self.calls.get(*wire).is_some_and(|call| call.is_sent)) {
            return self.answer_came(wire, kind, outcome);
        }
        if wire.is_some_and(|wire| self.calls.forget_retired(wire)) {
            return;
        }
        // Some servers answer what they do not know under an id of their own making. (LIF-28)
        if let Some(probe) = self.only_call(Asker::Probe).filter(|_| outcome.is_err()) {
            return self.answer_came(probe, None, outcome);
        }
        let twin = id.as_text().and_then(|text| text.parse().ok());
        let detail = if twin.is_some_and(|wire| self.calls.get_mut(wire).is_some()) {
            format!("{id} names no open call; our ids are numbers")
        } else {
            format!("{id} names no open call")
        };
        self.violation(ViolationKind::UnknownResponse, detail);
    }

    pub(super) fn answer_came(
        &mut self,
        wire: u64,
        kind: Option<Cow<'_, str>>,
        outcome: Result<Raw, CallError>,
    ) {
        let outcome = match (self.kind_of(wire, kind.as_deref()), outcome) {
            (Kind::InputRequired, Ok(result)) => return self.input_required(wire, &result),
            (Kind::Unknown, Ok(_)) => {
                let kind: alloc::string::String = kind.unwrap_or_default().chars().take(64).collect();
                Err(CallError::Invalid(format!("the result is of the unknown type {kind:?}").into()))
            }
            (_, outcome) => outcome,
        };
        let Some(mut call) = self.calls.remove(wire) else { return };
        if call.asker == Asker::Listen {
            // What was said to it may still be on its way.
            let limits = &self.me.limits;
            self.calls.expect_late(wire, true, limits);
        }
        self.remember(&mut call, &outcome);
        self.complete(call.id, call.asker, outcome);
    }

    /// What the type of a result means for the call. Without a type it is complete. (STL-48)
    fn kind_of(&self, wire: u64, kind: Option<&str>) -> Kind {
        let by_application = || self.calls.get(wire).is_some_and(|call| call.is_application());
        if self.rules().servers_ask || !by_application() {
            return Kind::Complete;
        }
        let extended = |peer: &super::Peer| peer.capabilities.shares_extension(&self.me.capabilities);
        match kind {
            None | Some("complete") => Kind::Complete,
            Some("input_required") => Kind::InputRequired,
            Some(_) if self.peer.as_deref().is_some_and(extended) => Kind::Complete,
            Some(_) => Kind::Unknown,
        }
    }

    /// The one call that is open, if it is `asker`'s.
    fn only_call(&self, asker: Asker) -> Option<u64> {
        let (wire, call) = self.calls.iter().next()?;
        (self.calls.len() == 1 && call.asker == asker).then_some(wire)
    }

    /// An error that names no request can only be about the one that opens the connection. (T-03, LIF-28)
    fn orphan(&mut self, error: ErrorObject) {
        if self.phase == Phase::Opening && self.side == Side::Client && !self.takes_late_refusal() {
            let opener = self.only_call(Asker::Probe).or_else(|| self.only_call(Asker::Handshake));
            if let Some(wire) = opener {
                return self.answer_came(wire, None, Err(CallError::Refused(error)));
            }
        }
        let detail = format!("an error without a request id: {}", error.code);
        self.violation(ViolationKind::UnknownResponse, detail);
    }

    /// Answers with an empty result.
    pub(super) fn accept(&mut self, back: Back, id: &RequestId) {
        let _infallible = self.write_answer(back, |out| {
            rpc::response(out, id, |out| {
                out.extend_from_slice(b"{}");
                Ok(())
            })
        });
    }

    /// Answers with an error.
    pub(super) fn refuse(&mut self, back: Back, id: Option<&RequestId>, error: &ErrorObject) {
        // A side that is asked nothing answers nothing. (FRM-16)
        if self.side == Side::Client && !self.rules().servers_ask {
            return;
        }
        let null_id = self.rules().unknown_id_is_null;
        let _infallible = self.write_answer(back, |out| {
            rpc::error_line(out, id, null_id, error);
            Ok(())
        });
    }
}

/// Most messages are ASCII, which is found out in a fraction of the time.
pub(crate) fn check_utf8(text: &[u8]) -> Result<(), Utf8Error> {
    if text.is_ascii() { Ok(()) } else { core::str::from_utf8(text).map(|_| ()) }
}

/// What a result is.
enum Kind {
    Complete,
    InputRequired,
    Unknown,
}
