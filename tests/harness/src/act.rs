//! What an application does to a machine, as data, and the handles it does it by; knows nothing of what comes of it.

use std::collections::BTreeMap;
use std::fmt;

use mcp_proto::schema::Level;
use mcp_proto::{
    CallId, CallOptions, Change, ErrorObject, Filter, IncomingId, Instant, Misuse, Progress, Question, Raw,
};

use crate::role::Role;
use crate::witness::{Seen, Witness};

/// One action of an application. Calls and requests go by their numbers: `call#2`, `request#1`.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the method of that name")]
pub enum Act {
    Ask { request: u64, questions: Vec<(String, Question)>, state: Option<String> },
    Call { method: String, params: Option<Raw>, options: CallOptions },
    Cancel { call: u64, reason: String },
    Changed(Changed),
    Close,
    Fail { request: u64, error: ErrorObject },
    Listen { filter: Filter, options: CallOptions },
    Log { request: Option<u64>, level: Level, data: Raw },
    Notify { method: String, params: Option<Raw> },
    Progress { request: u64, progress: Progress },
    RefuseUndeclared { request: u64, questions: Vec<(String, Question)> },
    Respond { request: u64, result: Raw },
    SetLogLevel(Level),
}

/// What changed, like [`Change`], which only borrows.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "each is the change of that name")]
pub enum Changed {
    Prompts,
    Resource(String),
    Resources,
    Tools,
}

impl Changed {
    fn change(&self) -> Change<'_> {
        match self {
            Self::Prompts => Change::Prompts,
            Self::Resource(uri) => Change::Resource(uri),
            Self::Resources => Change::Resources,
            Self::Tools => Change::Tools,
        }
    }
}

/// What became of an action.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Done {
    /// A call was made.
    Call(CallId),
    /// It was refused.
    Misuse(Misuse),
    /// It was done.
    Ok,
    /// No such call or request was ever seen.
    Unknown,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(call) => write!(f, "{call}"),
            Self::Misuse(misuse) => write!(f, "{misuse:?}"),
            Self::Ok => f.write_str("ok"),
            Self::Unknown => f.write_str("unknown handle"),
        }
    }
}

impl From<Result<(), Misuse>> for Done {
    fn from(done: Result<(), Misuse>) -> Self {
        done.map_or_else(Self::Misuse, |()| Self::Ok)
    }
}

/// The calls and requests that were seen, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Handles {
    calls: BTreeMap<u64, CallId>,
    requests: BTreeMap<u64, IncomingId>,
}

impl Handles {
    /// Takes note of an event.
    pub fn note(&mut self, event: &impl Witness) {
        if let Seen::Request(incoming) = event.seen() {
            self.requests.insert(number(incoming), incoming);
        }
    }

    /// The call with this number.
    #[must_use]
    pub fn call(&self, number: u64) -> Option<CallId> {
        self.calls.get(&number).copied()
    }

    /// The request with this number.
    #[must_use]
    pub fn request(&self, number: u64) -> Option<IncomingId> {
        self.requests.get(&number).copied()
    }

    /// Does it.
    pub fn perform<R: Role>(&mut self, now: Instant, act: &Act, machine: &mut R) -> Done {
        match act {
            Act::Ask { request, questions, state } => self.with(*request, |incoming| {
                machine.request_input(now, incoming, &borrowed(questions), state.as_deref())
            }),
            Act::Call { method, params, options } => {
                self.called(machine.call_raw(now, method, params.as_ref(), options.clone()))
            }
            Act::Cancel { call, reason } => {
                self.call(*call).map_or(Done::Unknown, |call| machine.cancel(now, call, reason).into())
            }
            Act::Changed(changed) => machine.changed(now, changed.change()).into(),
            Act::Close => {
                machine.close(now);
                Done::Ok
            }
            Act::Fail { request, error } => {
                self.with(*request, |incoming| machine.respond_error(now, incoming, error))
            }
            Act::Listen { filter, options } => self.called(machine.listen(now, filter, options.clone())),
            Act::Log { request: None, level, data } => machine.log(now, None, *level, None, data).into(),
            Act::Log { request: Some(request), level, data } => {
                self.with(*request, |incoming| machine.log(now, Some(incoming), *level, None, data))
            }
            Act::Notify { method, params } => machine.notify_raw(now, method, params.as_ref()).into(),
            Act::Progress { request, progress } => {
                self.with(*request, |incoming| machine.progress(now, incoming, progress))
            }
            Act::RefuseUndeclared { request, questions } => {
                self.with(*request, |incoming| machine.refuse_undeclared(now, incoming, &borrowed(questions)))
            }
            Act::Respond { request, result } => {
                self.with(*request, |incoming| machine.respond(now, incoming, result))
            }
            Act::SetLogLevel(level) => {
                self.called(machine.set_log_level(now, *level, CallOptions::default()))
            }
        }
    }

    fn called(&mut self, called: Result<CallId, Misuse>) -> Done {
        match called {
            Ok(call) => {
                self.calls.insert(number(call), call);
                Done::Call(call)
            }
            Err(misuse) => Done::Misuse(misuse),
        }
    }

    fn with(&self, request: u64, act: impl FnOnce(IncomingId) -> Result<(), Misuse>) -> Done {
        self.request(request).map_or(Done::Unknown, |incoming| act(incoming).into())
    }
}

fn borrowed(questions: &[(String, Question)]) -> Vec<(&str, Question)> {
    questions.iter().map(|(key, question)| (key.as_str(), question.clone())).collect()
}

/// The number in a handle's name: 2 of `call#2`.
#[must_use]
pub fn number(handle: impl fmt::Display) -> u64 {
    let name = handle.to_string();
    name.split('#').next_back().and_then(|digits| digits.parse().ok()).unwrap_or_default()
}
