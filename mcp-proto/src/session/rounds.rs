//! Calls whose answer asks for input first: a client gathers the input and makes the call again, as often as it takes;
//! knows nothing of sessions, where the server asks by requests of its own.
//!
//! The application sees questions as requests of the server, answers them, and sees one call with one end. Rounds and
//! their time are bounded. (STL-18…22, STL-28, T-95…T-99)

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::calls::{Asker, Call, CallId};
use super::core::Core;
use super::event::Event;
use super::gate;
use super::incoming::{IncomingId, Open, ReplyTo};
use super::outcome::CallError;
use super::peer::{Context, Method, Request};
use crate::json::{Frame, Object, Raw, find, members, unescape, unescape_key};
use crate::revision::MethodRule;
use crate::rpc::{self, ErrorObject};
use crate::wire::To;

/// What it takes to make a call again.
#[derive(Debug)]
pub(crate) struct Retry {
    pub(crate) method: &'static str,
    /// The params as the application gave them.
    pub(crate) params: Box<[u8]>,
    /// How often the server asked for input.
    pub(crate) rounds: u32,
    /// How often in a row it asked for nothing but to be called again.
    pub(crate) idle_rounds: u32,
}

impl Retry {
    pub(crate) fn new(method: &'static str, params: &[u8]) -> Self {
        Self { method, params: params.into(), rounds: 0, idle_rounds: 0 }
    }
}

/// The input that one round is about.
#[derive(Debug)]
pub(crate) struct Input {
    /// The questions in order; `None` when the server asked none, which is not the same as none of them.
    questions: Option<Vec<Asked>>,
    /// What to send back, to the letter.
    state: Option<Raw>,
}

impl Input {
    /// Bytes of the peer's that are kept.
    pub(crate) fn kept(&self) -> usize {
        let keys: usize = self.questions.iter().flatten().map(|asked| asked.key.len()).sum();
        keys + self.state.as_ref().map_or(0, |state| state.as_bytes().len())
    }
}

#[derive(Debug)]
struct Asked {
    key: Box<str>,
    /// Open as long as there is no answer.
    incoming: IncomingId,
    answer: Option<Raw>,
}

/// One question, as it came.
struct Question {
    key: Box<str>,
    rule: &'static MethodRule,
    params: Option<Raw>,
}

/// How long a client waits before it makes a call again for the second time in a row without having been asked
/// anything; it waits twice as long each time, up to the longest.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);

impl Core {
    /// The answer to a call says that input is required.
    pub(super) fn input_required(&mut self, wire: u64, result: &Raw) {
        let is_subscription = self.calls.get(wire).is_some_and(|call| call.asker == Asker::Listen);
        match self.read_input_required(wire, result) {
            Ok((questions, state)) => self.ask_application(wire, questions, state),
            Err(error) => self.end_call(wire, Err(error)),
        }
        if is_subscription {
            // It was its end all the same, and what was said to it may still be on its way.
            let limits = &self.me.limits;
            self.calls.expect_late(wire, true, limits);
        }
    }

    fn read_input_required(
        &self,
        wire: u64,
        result: &Raw,
    ) -> Result<(Option<Vec<Question>>, Option<Raw>), CallError> {
        let invalid = |why: &str| CallError::Invalid(why.into());
        let Some(retry) = self.calls.get(wire).and_then(Call::retry) else {
            return Err(invalid("input is required for a method that cannot ask for any"));
        };
        let state = find(result.as_bytes(), "requestState").filter(|state| *state != b"null");
        if state.is_some_and(|state| !state.starts_with(b"\"")) {
            return Err(invalid("`requestState` is not a string"));
        }
        let requests = result.member("inputRequests").filter(|requests| requests.as_bytes() != b"null");
        let questions = requests.as_ref().map(|requests| self.read_questions(requests)).transpose()?;
        let keys: usize = questions.iter().flatten().map(|question| question.key.len()).sum();
        if self.calls.bytes() + keys + state.map_or(0, <[u8]>::len) > self.limits().calls_bytes_max {
            return Err(invalid("`requestState` is more than this side can hold"));
        }
        let state = state.map(|state| Frame::Borrowed(state).keep(state, false));
        if questions.is_none() && state.is_none() {
            return Err(invalid("input is required, and neither questions nor a state are given"));
        }
        if retry.rounds >= self.limits().input_rounds_max {
            return Err(CallError::Rounds);
        }
        Ok((questions, state))
    }

    /// Every question must be one that we can be asked, or none is asked. (T-96)
    fn read_questions(&self, requests: &Raw) -> Result<Vec<Question>, CallError> {
        let invalid = |why| CallError::Invalid(why);
        if !requests.is_object() {
            return Err(invalid("`inputRequests` is not an object".into()));
        }
        let mut questions: Vec<Question> = Vec::new();
        for (key, request) in members(requests.as_bytes()) {
            let key = unescape_key(key);
            if questions.len() == self.limits().questions_max {
                return Err(invalid("more questions at a time than allowed".into()));
            }
            if questions.iter().any(|question| *question.key == *key) {
                return Err(invalid(format!("two questions are called {:?}", short(&key)).into()));
            }
            let method = find(request, "method").and_then(unescape);
            let rule = method.and_then(|method| MethodRule::question(&method, self.revision()));
            let params = find(request, "params").filter(|params| *params != b"null");
            let is_fit = |rule: &&MethodRule| gate::is_fit_question(rule, params, &self.me.capabilities);
            let Some(rule) = rule.filter(is_fit) else {
                let key = short(&key);
                return Err(invalid(
                    format!("the question {key:?} is none that this side can be asked").into(),
                ));
            };
            let params = params.map(|params| Frame::Borrowed(params).keep(params, false));
            questions.push(Question { key: key.into(), rule, params });
        }
        Ok(questions)
    }

    fn ask_application(&mut self, wire: u64, questions: Option<Vec<Question>>, state: Option<Raw>) {
        let Some(peer) = self.peer.clone() else { return };
        let bytes = |question: &Question| {
            question.key.len() + question.params.as_ref().map_or(0, |params| params.as_bytes().len())
        };
        let asked = questions.as_deref().unwrap_or_default();
        let total: usize = asked.iter().map(bytes).sum();
        if self.incoming.len() + asked.len() > self.limits().requests_max
            || self.incoming.bytes() + total > self.limits().requests_bytes_max
        {
            let why = "more questions than this side can hold";
            return self.end_call(wire, Err(CallError::Invalid(why.into())));
        }
        let Some(call) = self.calls.get(wire).map(|call| call.id) else { return };
        let is_idle = asked.is_empty();
        let asked = questions.map(|questions| {
            let place = |(index, question): (usize, Question)| {
                let bytes = bytes(&question);
                let incoming = self.incoming.insert(Open {
                    reply: ReplyTo::Call { call, index },
                    peer: Arc::clone(&peer),
                    rule: Some(question.rule),
                    log_level: None,
                    again: None,
                    bytes,
                    rare: None,
                });
                let method = Method::new(question.rule.name, Some(question.rule));
                let request = Request { method, params: question.params };
                let context = Context::new(Arc::clone(&peer));
                self.events.push(Event::Request { incoming, call: Some(call), request, context });
                Asked { key: question.key, incoming, answer: None }
            };
            questions.into_iter().enumerate().map(place).collect()
        });
        self.calls.keep_input(wire, Input { questions: asked, state });
        let Some(retry) = self.calls.get_mut(wire).and_then(Call::retry_mut) else { return };
        retry.rounds += 1;
        retry.idle_rounds = if is_idle { retry.idle_rounds + 1 } else { 0 };
        match retry.idle_rounds {
            0 => self.calls.extend(self.now, wire),
            1 => self.call_again(wire),
            rounds => {
                let pause = PAUSE.saturating_mul(1 << (rounds - 2).min(16)).min(PAUSE_MAX);
                self.calls.wait_until(wire, Some(self.now + pause));
            }
        }
    }

    /// The application answered a question, or said that it will not.
    pub(super) fn input_given(&mut self, call: CallId, index: usize, answer: Result<Raw, ErrorObject>) {
        let Some(wire) = self.calls.wire_of(call) else { return };
        let input = self.calls.get_mut(wire).and_then(Call::input_mut);
        let Some(questions) = input.and_then(|input| input.questions.as_mut()) else { return };
        match answer {
            Ok(answer) => {
                if let Some(asked) = questions.get_mut(index) {
                    asked.answer = Some(answer);
                }
                if questions.iter().all(|asked| asked.answer.is_some()) {
                    self.call_again(wire);
                }
            }
            Err(error) => self.end_call(wire, Err(CallError::Unanswered(error))),
        }
    }

    /// Whether the call is not on its way, and what it waits for.
    pub(super) fn waits_for_input(&self, wire: u64) -> Option<WaitsFor> {
        let input = self.calls.get(wire)?.input()?;
        let is_answered = |asked: &Asked| asked.answer.is_some();
        let open = input.questions.as_ref().is_some_and(|questions| !questions.iter().all(is_answered));
        Some(if open { WaitsFor::Answers } else { WaitsFor::Time })
    }

    /// Makes the call again, with the input and under a new id. (STL-20, STL-21, ID-11, T-97, T-98)
    pub(super) fn call_again(&mut self, wire: u64) {
        let Some(input) = self.calls.take_input(wire) else { return };
        let Some(renewed) = self.calls.renew(self.now, wire) else { return };
        let Some(call) = self.calls.get(renewed) else { return };
        let Some(retry) = call.retry() else { return };
        let method = retry.method;
        let mut params = Vec::with_capacity(retry.params.len() + 64);
        write_retry(&mut params, &retry.params, &input);
        let token = call.wants_progress.then_some(renewed);
        let stamp = Arc::clone(&self.stamp);
        let log_level = self.log_level;
        self.write(To::ANY, |out| {
            rpc::open_request(out, renewed, method);
            out.extend_from_slice(b",\"params\":");
            stamp.write_params(out, Some(&params), token, log_level);
            out.push(b'}');
        });
    }

    /// Forgets the questions of a call that is over; their answers go nowhere.
    pub(super) fn withdraw_input(&mut self, input: Option<Input>) {
        for asked in input.and_then(|input| input.questions).unwrap_or_default() {
            if self.incoming.remove(asked.incoming).is_some() {
                self.events.push(Event::RequestCancelled { incoming: asked.incoming, reason: None });
            }
        }
    }

    /// Ends a call of the application, and what it still asked.
    pub(super) fn end_call(&mut self, wire: u64, outcome: Result<Raw, CallError>) {
        let input = self.calls.take_input(wire);
        let Some(call) = self.calls.remove(wire) else { return };
        self.withdraw_input(input);
        self.complete(call.id, call.asker, outcome);
    }
}

/// Enough of a name of the peer's to recognise it by.
fn short(name: &str) -> String {
    name.chars().take(64).collect()
}

/// What a call that is not on its way waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum WaitsFor {
    /// The application's answers.
    Answers,
    /// Nothing but time.
    Time,
}

/// The params of the next round: those of the first, and what was gathered.
fn write_retry(out: &mut Vec<u8>, params: &[u8], input: &Input) {
    let mut object = Object::begin(out);
    let params = if params.is_empty() { b"{}" } else { params };
    for (key, value) in members(params) {
        let key = unescape_key(key);
        if !matches!(&*key, "inputResponses" | "requestState") {
            object.raw(&key, value);
        }
    }
    if let Some(questions) = &input.questions {
        let mut responses = Object::begin(object.key("inputResponses"));
        for asked in questions {
            responses.raw(&asked.key, asked.answer.as_ref().map_or(b"{}", |answer| answer.as_bytes()));
        }
        responses.end();
    }
    if let Some(state) = &input.state {
        object.raw("requestState", state.as_bytes());
    }
    object.end();
}

#[cfg(test)]
mod tests;
