//! Asking the client for input in the middle of a request: by the answer to it, or in a session by real requests.
//!
//! The application answers a request with questions and is done with it; once the answers are in, it gets the same
//! request again, as new, with the answers. It does not learn how they came.

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::calls::{Asker, CallOptions};
use super::core::Core;
use super::event::Event;
use super::incoming::{Asking, IncomingId, Open, ReplyTo};
use super::outcome::CallError;
use super::peer::{Context, Method, Peer, Request};
use super::question::{Answers, Question};
use super::{gate, stateless};
use crate::error::Misuse;
use crate::json::{Object, Raw};
use crate::revision::MethodRule;
use crate::rpc::{self, ErrorObject};
use crate::schema::Capabilities;
use crate::time::Instant;
use crate::wire::To;

impl Core {
    pub(crate) fn request_input(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, Question)],
        state: Option<&str>,
    ) -> Result<(), Misuse> {
        self.advance(now);
        let open = self.incoming.get(incoming).filter(|open| open.asking().is_none());
        let Some(open) = open else { return Err(Misuse::Stale) };
        if !open.rule.is_some_and(|rule| rule.may_ask) {
            return Err(Misuse::Unsupported);
        }
        let is_repeated = |(index, (key, _)): (usize, &(&str, Question))| {
            questions.iter().take(index).any(|(earlier, _)| earlier == key)
        };
        if (questions.is_empty() && state.is_none()) || questions.iter().enumerate().any(is_repeated) {
            return Err(Misuse::Unencodable);
        }
        if questions.len() > self.limits().questions_max {
            return Err(Misuse::Blocked);
        }
        if !open.peer.revision.rules().servers_ask {
            return self.require_input(incoming, questions, state);
        }
        let ReplyTo::Peer { stream, .. } = open.reply else { return Err(Misuse::Unsupported) };
        let limits = self.limits();
        let fits =
            open.rounds() < limits.input_rounds_max && self.calls.len() + questions.len() <= limits.calls_max;
        if !fits {
            return Err(Misuse::Blocked);
        }
        self.require(self.phase.allows().traffic)?;
        self.has_room(Some(stream))?;
        // All of them must be fit to be sent before any is.
        for (index, (_, question)) in (0_u32..).zip(questions) {
            let mut scratch = Vec::new();
            let params = |revision, out: &mut Vec<u8>| question.write(revision, out);
            self.check_call(question.method(), &params, &mut scratch, Asker::Question(incoming, index))?;
        }
        if let Some(params) = self.incoming.take_deferred(incoming) {
            self.write_progress(stream, &params);
        }
        if let Some(open) = self.incoming.get_mut(incoming) {
            open.rare().asking = Some(Box::new(Asking {
                keys: questions.iter().map(|(key, _)| (*key).into()).collect(),
                answers: questions.iter().map(|_| None).collect(),
                state: state.map(Into::into),
            }));
        }
        for (index, (_, question)) in (0_u32..).zip(questions) {
            let options = CallOptions { parent: Some(incoming), ..CallOptions::default() };
            let params = |revision, out: &mut Vec<u8>| question.write(revision, out);
            self.place_call(question.method(), &params, &options, Asker::Question(incoming, index))?;
        }
        self.check_answers(incoming);
        Ok(())
    }

    /// Answers a request that stands alone with questions; it comes again, if it does, as another. (STL-13…17, STL-27)
    fn require_input(
        &mut self,
        incoming: IncomingId,
        questions: &[(&str, Question)],
        state: Option<&str>,
    ) -> Result<(), Misuse> {
        let Some(open) = self.incoming.get(incoming) else { return Err(Misuse::Stale) };
        let mut result = Vec::new();
        let mut object = Object::begin(&mut result);
        object.str("resultType", "input_required");
        if !questions.is_empty() {
            let mut requests = Object::begin(object.key("inputRequests"));
            for (key, question) in questions {
                write_question(requests.key(key), question, &open.peer)?;
            }
            requests.end();
        }
        object.opt_str("requestState", state);
        object.end();
        self.stamp.finish_result(&mut result, 0, open.rule);
        self.answer(incoming, |out, wire, _| {
            rpc::response(out, wire, |out| {
                out.extend_from_slice(&result);
                Ok(())
            })
        })
    }

    /// Refuses a request that would have to ask what the client did not declare. (CAP-15)
    pub(crate) fn refuse_undeclared(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, Question)],
    ) -> Result<(), Misuse> {
        let Some(open) = self.incoming.get(incoming) else { return Err(Misuse::Stale) };
        let revision = open.peer.revision;
        let mut needs = Capabilities::none();
        for (_, question) in questions {
            let mut params = Vec::new();
            question.write(revision, &mut params)?;
            if params.first().is_some_and(|first| *first != b'{') {
                return Err(Misuse::Unencodable);
            }
            if let Some(rule) = MethodRule::question(question.method(), revision) {
                needs = gate::question_needs(rule, Some(&params), needs);
            }
        }
        let error = stateless::missing(&needs, revision);
        self.respond_error(now, incoming, &error)
    }

    /// The revision that a response to `incoming` is written in, and any other message.
    pub(crate) fn revision_for(&self, incoming: Option<IncomingId>) -> crate::revision::Revision {
        let open = incoming.and_then(|incoming| self.incoming.get(incoming));
        open.map_or_else(|| self.revision(), |open| open.peer.revision)
    }

    /// One question was answered, or never will be.
    pub(super) fn answered(&mut self, incoming: IncomingId, index: u32, outcome: Result<Raw, CallError>) {
        let (held, bytes_max) = (self.incoming.bytes(), self.limits().requests_bytes_max);
        let asking = self.incoming.get_mut(incoming).and_then(Open::asking_mut);
        let Some(asking) = asking else { return };
        let index = index as usize;
        // Answers are held until all are there, and count like the params of the request.
        let outcome = match outcome {
            Ok(answer) if held + answer.as_bytes().len() > bytes_max => {
                Err(CallError::Invalid("more than this side can hold".into()))
            }
            outcome => outcome,
        };
        match outcome {
            Ok(answer) => {
                let bytes = answer.as_bytes().len();
                if let Some(slot) = asking.answers.get_mut(index) {
                    *slot = Some(answer);
                }
                self.incoming.add_bytes(incoming, bytes);
                self.check_answers(incoming);
            }
            Err(error) => {
                // Without this answer the request cannot go on: whoever made it is told. (T-99)
                let key = asking.keys.get(index).cloned().unwrap_or_default();
                self.withdraw_questions(incoming);
                if let Some(open) = self.incoming.get_mut(incoming) {
                    open.rare().asking = None;
                }
                let error = ErrorObject::internal(format!("no answer to `{key}`: {error}"));
                let _stale = self.respond_error(self.now, incoming, &error);
            }
        }
    }

    /// Delivers the request anew once all of its questions are answered.
    fn check_answers(&mut self, incoming: IncomingId) {
        let asking = self.incoming.get(incoming).and_then(Open::asking);
        if !asking.is_some_and(|asking| asking.answers.iter().all(Option::is_some)) {
            return;
        }
        let Some(mut open) = self.incoming.remove(incoming) else { return };
        let (Some(asking), Some(rule)) = (open.rare().asking.take(), open.rule) else { return };
        let request = Request { method: Method::new(rule.name, open.rule), params: open.again.clone() };
        let is_idle = asking.keys.is_empty();
        let answers = asking.keys.into_iter().zip(asking.answers.into_iter().flatten()).collect();
        let context = Context {
            peer: Arc::clone(&open.peer),
            log_level: self.log_level,
            wants_progress: open.progress_token().is_some(),
            // Asked nothing, a client answers nothing, in either era.
            answers: (!is_idle).then(|| Answers::new(answers)),
            state: asking.state,
            meta: request.params.as_ref().and_then(|params| params.member("_meta")),
        };
        open.rare().rounds += 1;
        let incoming = self.incoming.insert(open);
        self.events.push(Event::Request { incoming, call: None, request, context });
    }

    /// Takes back the questions of a request that needs no answers any more. (CAN-20)
    pub(super) fn withdraw_questions(&mut self, incoming: IncomingId) {
        let asked: Vec<(u64, To)> = self
            .calls
            .iter()
            .filter(|(_, call)| matches!(call.asker, Asker::Question(parent, _) if parent == incoming))
            .map(|(wire, call)| (wire, call.to()))
            .collect();
        for (wire, to) in asked {
            let limits = &self.me.limits;
            self.calls.retire(wire, limits);
            self.write_cancelled(to, wire, "its request is over");
        }
    }
}

/// Writes one question to a client that did declare what answering it takes. (CAP-16)
fn write_question(out: &mut Vec<u8>, question: &Question, peer: &Peer) -> Result<(), Misuse> {
    let mut params = Vec::new();
    question.write(peer.revision, &mut params)?;
    if params.first().is_some_and(|first| *first != b'{') {
        return Err(Misuse::Unencodable);
    }
    let Some(rule) = MethodRule::question(question.method(), peer.revision) else {
        return Err(Misuse::Unsupported);
    };
    let params = (!params.is_empty()).then_some(params.as_slice());
    let needs = gate::question_needs(rule, params, Capabilities::none());
    if !peer.capabilities.has_all(&needs) {
        return Err(Misuse::Undeclared);
    }
    let mut request = Object::begin(out);
    request.str("method", rule.name);
    if let Some(params) = params {
        request.raw("params", params);
    }
    request.end();
    Ok(())
}
