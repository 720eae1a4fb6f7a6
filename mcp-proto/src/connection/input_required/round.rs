//! One round of input for a call: the server's questions, and the data for retrying the call.
//!
//! The application receives the questions as requests and sees a single call with one outcome.
// STL-18…22, STL-28: gather all answers, echo the state, retry with the original params.

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
use crate::time::Instant;
use crate::vocabulary::{CallError, IncomingId};

/// The data for retrying a call.
#[derive(Debug)]
pub(crate) struct Retry {
    pub(crate) method: MethodId,
    /// The params given by the application.
    pub(crate) params: Vec<u8>,
    /// Number of rounds in which the server required input.
    pub(crate) rounds: u32,
    /// Number of consecutive rounds without questions.
    pub(crate) idle_rounds: u32,
    /// When the timeout ends if the present round does not restart it.
    pub(crate) until: Option<Instant>,
    pub(crate) recovery: Recovery,
}

/// Whether a request is sent again after the loss of its response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Recovery {
    /// Its response was not lost.
    Possible,
    /// It is sent again once the connection is open.
    Waiting,
    /// It was sent again.
    Used,
}

impl Retry {
    pub(crate) const fn new(method: MethodId, params: Vec<u8>) -> Self {
        Self {
            method,
            params,
            rounds: 0,
            idle_rounds: 0,
            until: None,
            recovery: Recovery::Possible,
        }
    }
}

/// The input gathered in one round.
#[derive(Debug)]
pub(crate) struct Input {
    /// The questions in order. `None` means no `inputRequests`, unlike an empty object.
    questions: Option<Vec<PendingQuestion>>,
    /// The `requestState`, echoed byte for byte.
    state: Option<Raw>,
}

/// A question and its answer.
#[derive(Debug)]
struct PendingQuestion {
    key: Box<str>,
    /// The handle of the question; open until it is answered.
    incoming: IncomingId,
    answer: Option<Raw>,
}

/// The event that a call waits for before it is retried.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum InputWait {
    /// The application's remaining answers.
    Answers,
    /// The end of the pause.
    Pause,
}

impl Input {
    /// Returns the input of a round whose questions were delivered as `incoming`, in order.
    pub(crate) fn new(round: Round, incoming: &[IncomingId]) -> Self {
        let asked = |(question, incoming): (Question, &IncomingId)| PendingQuestion {
            key: question.key,
            incoming: *incoming,
            answer: None,
        };
        let questions = round
            .questions
            .map(|questions| questions.into_iter().zip(incoming).map(asked).collect());
        Self { questions, state: round.state }
    }

    /// Returns the input of a request that is sent again as it was.
    pub(crate) const fn none() -> Self {
        Self { questions: None, state: None }
    }

    /// Returns the bytes of the server's data retained for the retry.
    pub(crate) fn retained_bytes(&self) -> usize {
        let keys: usize = self.questions.iter().flatten().map(|asked| asked.key.len()).sum();
        keys + self.state.as_ref().map_or(0, |state| state.as_bytes().len())
    }

    pub(crate) fn waits_for(&self) -> InputWait {
        if self.is_complete() { InputWait::Pause } else { InputWait::Answers }
    }

    fn is_complete(&self) -> bool {
        self.questions.iter().flatten().all(|asked| asked.answer.is_some())
    }

    /// Adds an answer. Returns whether all questions are answered.
    pub(crate) fn answer(&mut self, index: usize, answer: Raw) -> bool {
        if let Some(asked) = self.questions.as_mut().and_then(|questions| questions.get_mut(index))
        {
            asked.answer = Some(answer);
        }
        self.is_complete()
    }

    /// Returns the handles of all questions, answered or not.
    pub(crate) fn into_questions(self) -> Vec<IncomingId> {
        self.questions.into_iter().flatten().map(|asked| asked.incoming).collect()
    }

    /// Writes the params of the retry: the original `params` with the gathered input.
    // STL-20, STL-21: answers under the server's keys, and its state unchanged.
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

/// A parsed `input_required` result.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) questions: Option<Vec<Question>>,
    state: Option<Raw>,
}

/// One question (input request) of the server.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) key: Box<str>,
    pub(crate) rule: &'static MethodRule,
    pub(crate) params: Option<Raw>,
}

impl Question {
    /// Returns the bytes held by the question.
    pub(crate) fn bytes(&self) -> usize {
        self.key.len() + self.params.as_ref().map_or(0, |params| params.as_bytes().len())
    }
}

/// A reader of `input_required` results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) capabilities: &'a Capabilities,
    pub(crate) revision: Revision,
    /// Bytes that pending calls already retain.
    pub(crate) retained_bytes: usize,
}

impl Reader<'_> {
    /// Reads an `input_required` result after `rounds` earlier ones.
    pub(crate) fn read(&self, result: &Raw, rounds: u32) -> Result<Round, CallError> {
        let state = find(result.as_bytes(), "requestState").filter(|state| *state != b"null");
        if state.is_some_and(|state| !state.starts_with(b"\"")) {
            return Err(invalid("`requestState` must be a string"));
        }
        let requests =
            result.member("inputRequests").filter(|requests| requests.as_bytes() != b"null");
        let questions = requests.as_ref().map(|requests| self.questions(requests)).transpose()?;
        let keys: usize = questions.iter().flatten().map(|question| question.key.len()).sum();
        if self.retained_bytes + keys + state.map_or(0, <[u8]>::len) > self.limits.calls_bytes_max {
            return Err(invalid("`requestState` is too large (`Limits::calls_bytes_max`)"));
        }
        let state = state.map(|state| Frame::Borrowed(state).keep(state, false));
        if questions.is_none() && state.is_none() {
            return Err(invalid("`input_required` without `inputRequests` or `requestState`"));
        }
        if rounds >= self.limits.input_rounds_max {
            return Err(CallError::TooManyRounds);
        }
        Ok(Round { questions, state })
    }

    // T-96: fails unless this side declared the capability for every question.
    fn questions(&self, requests: &Raw) -> Result<Vec<Question>, CallError> {
        if !requests.is_object() {
            return Err(invalid("`inputRequests` must be an object"));
        }
        let mut questions: Vec<Question> = Vec::new();
        for (key, request) in members(requests.as_bytes()) {
            let key = unescape_key(key);
            if questions.len() == self.limits.input_requests_max {
                return Err(invalid("too many input requests (`Limits::input_requests_max`)"));
            }
            if questions.iter().any(|question| *question.key == *key) {
                return Err(CallError::Invalid(
                    format!("duplicate input request {:?}", truncate(&key)).into(),
                ));
            }
            let method = find(request, "method")
                .and_then(unescape)
                .and_then(|name| MethodId::from_name(&name));
            let rule = method.and_then(|method| MethodRule::question(method, self.revision));
            let params = find(request, "params").filter(|params| *params != b"null");
            let is_fit = |rule: &&'static MethodRule| {
                permissions::accepts_input_request(rule, params, self.capabilities)
            };
            let Some(rule) = rule.filter(is_fit) else {
                let key = truncate(&key);
                return Err(CallError::Invalid(
                    format!("unsupported input request {key:?}").into(),
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

/// Truncates a name chosen by the peer for an error message.
fn truncate(name: &str) -> String {
    name.chars().take(64).collect()
}

#[cfg(test)]
mod tests;
