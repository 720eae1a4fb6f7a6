//! What an application does to a machine, as data that is written, read and done again; knows nothing of what comes of
//! it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::field::{Field, read_bytes, take, write_bytes};
use super::machine::Role;
use crate::connection::{CallId, CallOptions, Change, Filter, IncomingId, Progress, Question};
use crate::error::{Misuse, Unencodable};
use crate::json::Raw;
use crate::revision::Revision;
use crate::rpc::ErrorObject;
use crate::schema::{Encode, Level};
use crate::time::Instant;

macro_rules! acts {
    ($($tag:literal $name:ident { $($field:ident: $type:ty),* },)+) => {
        /// One thing that an application did: the method of the name, with its arguments.
        #[derive(Clone, Debug)]
        pub(super) enum Act {
            $($name { $($field: $type),* },)+
        }

        impl Field for Act {
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$name { $($field),* } => {
                        out.push($tag);
                        $(Field::write($field, out);)*
                    })+
                }
            }

            fn read(input: &mut &[u8]) -> Option<Self> {
                let [tag] = *take(input, 1)? else { return None };
                match tag {
                    $($tag => Some(Self::$name { $($field: Field::read(input)?),* }),)+
                    _ => None,
                }
            }
        }
    };
}

acts! {
    1 Call { method: Box<str>, params: Written, options: CallOptions },
    2 Cancel { call: CallId, reason: Box<str> },
    3 Changed { change: Changed },
    4 Close {},
    5 Listen { filter: Filter, options: CallOptions },
    6 Log { incoming: Option<IncomingId>, level: Level, logger: Option<Box<str>>, data: Raw },
    7 Notify { method: Box<str>, params: Written },
    8 Progress { incoming: IncomingId, progress: Progress },
    9 RefuseUndeclared { incoming: IncomingId, questions: Vec<Asked> },
    10 RequestInput { incoming: IncomingId, questions: Vec<Asked>, state: Option<Box<str>> },
    11 Respond { incoming: IncomingId, result: Written },
    12 RespondError { incoming: IncomingId, error: ErrorObject },
    13 SetLogLevel { level: Level, options: CallOptions },
    14 HangUp { incoming: IncomingId },
}

/// What became of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Done {
    Call(CallId),
    Misuse(Misuse),
    Ok,
}

impl From<Result<(), Misuse>> for Done {
    fn from(done: Result<(), Misuse>) -> Self {
        done.map_or_else(Self::Misuse, |()| Self::Ok)
    }
}

impl From<Result<CallId, Misuse>> for Done {
    fn from(done: Result<CallId, Misuse>) -> Self {
        done.map_or_else(Self::Misuse, Self::Call)
    }
}

impl Field for Done {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Ok => out.push(0),
            Self::Call(call) => {
                out.push(1);
                call.write(out);
            }
            Self::Misuse(misuse) => {
                out.push(2);
                misuse.write(out);
            }
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        match take(input, 1)? {
            [0] => Some(Self::Ok),
            [1] => Field::read(input).map(Self::Call),
            [2] => Field::read(input).map(Self::Misuse),
            _ => None,
        }
    }
}

impl Act {
    /// Does it again.
    pub(super) fn perform(&self, machine: &mut impl Role, now: Instant) -> Done {
        match self {
            Self::Call { method, params, options } => {
                machine.call_raw(now, method, Some(&params.again()), options.clone()).into()
            }
            Self::Cancel { call, reason } => machine.cancel(now, *call, reason).into(),
            Self::Changed { change } => machine.changed(now, change.change()).into(),
            Self::Close {} => {
                machine.close(now);
                Done::Ok
            }
            Self::HangUp { incoming } => machine.hang_up(now, *incoming).into(),
            Self::Listen { filter, options } => machine.listen(now, filter, options.clone()).into(),
            Self::Log { incoming, level, logger, data } => {
                machine.log(now, *incoming, *level, logger.as_deref(), data).into()
            }
            Self::Notify { method, params } => machine.notify_raw(now, method, Some(&params.again())).into(),
            Self::Progress { incoming, progress } => machine.progress(now, *incoming, progress).into(),
            Self::RefuseUndeclared { incoming, questions } => match Asked::again(questions) {
                Some(again) => machine.refuse_undeclared(now, *incoming, &again).into(),
                None if machine.revision_of(*incoming).is_none() => Done::Misuse(Misuse::Stale),
                None => Done::Misuse(Misuse::Unencodable),
            },
            Self::RequestInput { incoming, questions, state } => {
                let again: Vec<_> = questions.iter().map(Asked::question).collect();
                machine.request_input(now, *incoming, &again, state.as_deref()).into()
            }
            Self::Respond { incoming, result } => machine.respond(now, *incoming, &result.again()).into(),
            Self::RespondError { incoming, error } => machine.respond_error(now, *incoming, error).into(),
            Self::SetLogLevel { level, options } => {
                machine.set_log_level(now, *level, options.clone()).into()
            }
        }
    }
}

/// What a value wrote each time that a machine had it written; `None` where it could not be.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Written(Vec<Option<Vec<u8>>>);

impl Written {
    /// What it wrote last.
    pub(super) fn text(&self) -> &[u8] {
        self.0.last().and_then(Option::as_deref).unwrap_or_default()
    }

    /// A value that writes the same.
    pub(super) const fn again(&self) -> Again<'_> {
        Again { written: self, turn: Cell::new(0) }
    }
}

/// A text that repeats the one before is only said to.
impl Field for Written {
    fn write(&self, out: &mut Vec<u8>) {
        (self.0.len() as u64).write(out);
        let mut last: &[u8] = &[];
        for text in &self.0 {
            match text {
                None => out.push(0),
                Some(text) if text == last => out.push(2),
                Some(text) => {
                    out.push(1);
                    write_bytes(text, out);
                    last = text;
                }
            }
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let count = u64::read(input)?;
        let mut last: &[u8] = &[];
        let texts = (0..count).map(|_| {
            Some(match take(input, 1)? {
                [0] => None,
                [1] => {
                    last = read_bytes(input)?;
                    Some(last.to_vec())
                }
                [2] => Some(last.to_vec()),
                _ => return None,
            })
        });
        texts.collect::<Option<Vec<_>>>().map(Self)
    }
}

/// Writes what was written before, in the same order.
#[derive(Debug)]
pub(super) struct Again<'a> {
    written: &'a Written,
    turn: Cell<usize>,
}

impl Encode for Again<'_> {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let turn = self.turn.replace(self.turn.get() + 1);
        match self.written.0.get(turn).or_else(|| self.written.0.last()) {
            Some(Some(text)) => {
                out.extend_from_slice(text);
                Ok(())
            }
            Some(None) => Err(Unencodable),
            None => Ok(()),
        }
    }
}

/// Takes down what a value writes while a machine has it written.
pub(super) struct Spy<'a> {
    value: &'a dyn Encode,
    written: RefCell<Written>,
}

impl<'a> Spy<'a> {
    pub(super) fn new(value: &'a dyn Encode) -> Self {
        Self { value, written: RefCell::default() }
    }

    pub(super) fn written(self) -> Written {
        self.written.into_inner()
    }
}

impl Encode for Spy<'_> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let start = out.len();
        let done = self.value.encode(revision, out);
        let text = done.is_ok().then(|| out.get(start..).unwrap_or_default().to_vec());
        self.written.borrow_mut().0.push(text);
        done
    }
}

/// What changed, like [`Change`], which only borrows: its number, and the resource where it is one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Changed {
    Prompts,
    Resource(Box<str>),
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

impl From<Change<'_>> for Changed {
    fn from(change: Change<'_>) -> Self {
        match change {
            Change::Prompts => Self::Prompts,
            Change::Resource(uri) => Self::Resource(uri.into()),
            Change::Resources => Self::Resources,
            Change::Tools => Self::Tools,
        }
    }
}

impl Field for Changed {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Prompts => out.push(0),
            Self::Resource(uri) => {
                out.push(1);
                uri.write(out);
            }
            Self::Resources => out.push(2),
            Self::Tools => out.push(3),
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        match take(input, 1)? {
            [0] => Some(Self::Prompts),
            [1] => Field::read(input).map(Self::Resource),
            [2] => Some(Self::Resources),
            [3] => Some(Self::Tools),
            _ => None,
        }
    }
}

/// A question as it is written for the peer that it is put to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Asked {
    pub(super) key: Box<str>,
    pub(super) method: Box<str>,
    /// Its params, which can be empty; `None` where they could not be written.
    pub(super) params: Option<Option<Raw>>,
}

impl Asked {
    /// Takes questions down as a peer of `revision` is asked them.
    pub(super) fn all(questions: &[(&str, Question)], revision: Revision) -> Vec<Self> {
        let asked = questions.iter().map(|(key, question)| {
            let mut params = Vec::new();
            let written = question.write(revision, &mut params).is_ok();
            let params = match params.as_slice() {
                _ if !written => None,
                [] => Some(None),
                text => core::str::from_utf8(text).ok().and_then(|text| Raw::from_text(text).ok()).map(Some),
            };
            Self { key: (*key).into(), method: question.method().into(), params }
        });
        asked.collect()
    }

    /// The questions as they were; `None` when one could not be written.
    fn again(all: &[Self]) -> Option<Vec<(&str, Question)>> {
        all.iter().map(|asked| asked.params.is_some().then(|| asked.question())).collect()
    }

    /// The question; what could not be written is not an object, which cannot be sent either.
    fn question(&self) -> (&str, Question) {
        let params = self.params.clone().unwrap_or_else(|| Some(Raw::null()));
        (&self.key, Question::Raw(self.method.clone(), params))
    }
}

impl Field for Asked {
    fn write(&self, out: &mut Vec<u8>) {
        self.key.write(out);
        self.method.write(out);
        self.params.write(out);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(Self { key: Field::read(input)?, method: Field::read(input)?, params: Field::read(input)? })
    }
}

#[cfg(test)]
mod tests;
