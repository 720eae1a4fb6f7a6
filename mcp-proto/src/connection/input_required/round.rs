//! One round of input for a call: what the server asked, and what is needed to repeat the call with
//! the answers.
//!
//! The application answers questions as requests of the server, and sees one call with one end.
//! (STL-18…22, STL-28)

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Frame, Object, Raw, find, members, unescape, unescape_key};
use crate::limits::Limits;
use crate::method::MethodId;
use crate::permissions;
use crate::revision::{MethodRule, Revision};
use crate::schema::Capabilities;
use crate::vocabulary::{CallError, IncomingId};

/// What it takes to repeat a call.
#[derive(Debug)]
pub(crate) struct Retry {
    pub(crate) method: MethodId,
    /// The params as the application gave them.
    pub(crate) params: Box<[u8]>,
    /// How often the server asked for input.
    pub(crate) rounds: u32,
    /// How often in a row it asked for nothing but a repetition.
    pub(crate) idle_rounds: u32,
}

impl Retry {
    pub(crate) fn new(method: MethodId, params: &[u8]) -> Self {
        Self { method, params: params.into(), rounds: 0, idle_rounds: 0 }
    }
}

/// The input of one round, while it is gathered.
#[derive(Debug)]
pub(crate) struct Input {
    /// The questions in order; `None` when the server sent no `inputRequests`, which differs from
    /// an empty object.
    questions: Option<Vec<Asked>>,
    /// Sent back to the letter.
    state: Option<Raw>,
}

#[derive(Debug)]
struct Asked {
    key: Box<str>,
    /// Open until there is an answer.
    incoming: IncomingId,
    answer: Option<Raw>,
}

/// What a call waits for while its input is gathered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum InputWait {
    /// The application's answers.
    Answers,
    /// The end of a pause.
    Pause,
}

impl Input {
    /// The input of a round whose questions were handed to the application as `incoming`, in their
    /// order.
    pub(crate) fn new(round: Round, incoming: &[IncomingId]) -> Self {
        let asked = |(question, incoming): (Question, &IncomingId)| Asked {
            key: question.key,
            incoming: *incoming,
            answer: None,
        };
        let questions = round
            .questions
            .map(|questions| questions.into_iter().zip(incoming).map(asked).collect());
        Self { questions, state: round.state }
    }

    /// Bytes of the peer's that are kept.
    pub(crate) fn kept(&self) -> usize {
        let keys: usize = self.questions.iter().flatten().map(|asked| asked.key.len()).sum();
        keys + self.state.as_ref().map_or(0, |state| state.as_bytes().len())
    }

    pub(crate) fn waits_for(&self) -> InputWait {
        if self.is_complete() { InputWait::Pause } else { InputWait::Answers }
    }

    fn is_complete(&self) -> bool {
        self.questions.iter().flatten().all(|asked| asked.answer.is_some())
    }

    /// Adds an answer. Returns whether it was the last.
    pub(crate) fn answer(&mut self, index: usize, answer: Raw) -> bool {
        if let Some(asked) = self.questions.as_mut().and_then(|questions| questions.get_mut(index))
        {
            asked.answer = Some(answer);
        }
        self.is_complete()
    }

    /// The questions that may still be open.
    pub(crate) fn into_questions(self) -> Vec<IncomingId> {
        self.questions.into_iter().flatten().map(|asked| asked.incoming).collect()
    }

    /// Writes the params of the next round: those of the first, and the input. (STL-20, STL-21)
    pub(crate) fn write_params(&self, out: &mut Vec<u8>, params: &[u8]) {
        let mut object = Object::begin(out);
        let params = if params.is_empty() { b"{}" } else { params };
        for (key, value) in members(params) {
            let key = unescape_key(key);
            if !matches!(&*key, "inputResponses" | "requestState") {
                object.raw(&key, value);
            }
        }
        if let Some(questions) = &self.questions {
            let mut responses = Object::begin(object.key("inputResponses"));
            for asked in questions {
                responses.raw(
                    &asked.key,
                    asked.answer.as_ref().map_or(b"{}", |answer| answer.as_bytes()),
                );
            }
            responses.end();
        }
        if let Some(state) = &self.state {
            object.raw("requestState", state.as_bytes());
        }
        object.end();
    }
}

/// A result that asks for input, as it was read.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) questions: Option<Vec<Question>>,
    state: Option<Raw>,
}

/// One question of the server.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) key: Box<str>,
    pub(crate) rule: &'static MethodRule,
    pub(crate) params: Option<Raw>,
}

impl Question {
    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.key.len() + self.params.as_ref().map_or(0, |params| params.as_bytes().len())
    }
}

/// What reading a round depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) capabilities: &'a Capabilities,
    pub(crate) revision: Revision,
    /// Bytes that calls keep already.
    pub(crate) kept: usize,
}

impl Reader<'_> {
    /// Reads a result whose type says that input is required.
    pub(crate) fn read(&self, result: &Raw, rounds: u32) -> Result<Round, CallError> {
        let state = find(result.as_bytes(), "requestState").filter(|state| *state != b"null");
        if state.is_some_and(|state| !state.starts_with(b"\"")) {
            return Err(invalid("`requestState` is not a string"));
        }
        let requests =
            result.member("inputRequests").filter(|requests| requests.as_bytes() != b"null");
        let questions = requests.as_ref().map(|requests| self.questions(requests)).transpose()?;
        let keys: usize = questions.iter().flatten().map(|question| question.key.len()).sum();
        if self.kept + keys + state.map_or(0, <[u8]>::len) > self.limits.calls_bytes_max {
            return Err(invalid("`requestState` is more than this side can hold"));
        }
        let state = state.map(|state| Frame::Borrowed(state).keep(state, false));
        if questions.is_none() && state.is_none() {
            return Err(invalid("input is required, and neither questions nor a state are given"));
        }
        if rounds >= self.limits.input_rounds_max {
            return Err(CallError::Rounds);
        }
        Ok(Round { questions, state })
    }

    /// Every question must be one that this side declared, or none is asked. (T-96)
    fn questions(&self, requests: &Raw) -> Result<Vec<Question>, CallError> {
        if !requests.is_object() {
            return Err(invalid("`inputRequests` is not an object"));
        }
        let mut questions: Vec<Question> = Vec::new();
        for (key, request) in members(requests.as_bytes()) {
            let key = unescape_key(key);
            if questions.len() == self.limits.questions_max {
                return Err(invalid("more questions at a time than allowed"));
            }
            if questions.iter().any(|question| *question.key == *key) {
                return Err(CallError::Invalid(
                    format!("two questions are called {:?}", short(&key)).into(),
                ));
            }
            let method = find(request, "method")
                .and_then(unescape)
                .and_then(|name| MethodId::from_name(&name));
            let rule = method.and_then(|method| MethodRule::question(method, self.revision));
            let params = find(request, "params").filter(|params| *params != b"null");
            let is_fit = |rule: &&MethodRule| {
                permissions::accepts_input_request(rule, params, self.capabilities)
            };
            let Some(rule) = rule.filter(is_fit) else {
                let key = short(&key);
                return Err(CallError::Invalid(
                    format!("the question {key:?} is none that this side can be asked").into(),
                ));
            };
            let params = params.map(|params| Frame::Borrowed(params).keep(params, false));
            questions.push(Question { key: key.into(), rule, params });
        }
        Ok(questions)
    }
}

fn invalid(why: &str) -> CallError {
    CallError::Invalid(why.into())
}

/// Enough of a name of the peer's to recognise it by.
fn short(name: &str) -> String {
    name.chars().take(64).collect()
}

#[cfg(test)]
mod tests;
