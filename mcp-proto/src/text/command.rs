//! Commands and their outcomes.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::document::{Tagged, TextForm};
use super::macros::{object, variants};
use super::value::{Value, read_members, read_tag, take, write_member};
use crate::command::{CommandOutcome, OwnedChange, OwnedCommand};
use crate::error::Misuse;
use crate::json::{JsonReader, Object, Raw};
use crate::schema::DecodeError;
use crate::vocabulary::{CallOptions, Filter, InputResponses, NeededInput, Progress};

variants! { OwnedCommand "command" {
    "call" Call { method, params, options }
    "cancel" Cancel { call, reason }
    "notify_changed" NotifyChanged { change }
    "close" Close {}
    "end_stream" EndStream { incoming }
    "subscribe" Subscribe { filter, options }
    "log" Log { incoming, level, logger, data }
    "notify" Notify { method, params }
    "progress" Progress { incoming, progress }
    "refuse_undeclared" RefuseUndeclared { incoming, questions }
    "request_input" RequestInput { incoming, questions, state }
    "respond" Respond { incoming, result }
    "respond_error" RespondError { incoming, error }
    "set_log_level" SetLogLevel { level, options }
}}

variants! { OwnedChange "change" {
    "extension" Extension { method, key, element, params }
    "prompts" Prompts {}
    "resource" Resource { uri @ 0 }
    "resources" Resources {}
    "tools" Tools {}
}}

variants! { CommandOutcome "outcome" {
    "call" Call { call @ 0 }
    "done" Done {}
}}

impl TextForm for OwnedCommand {}
impl TextForm for Result<CommandOutcome, Misuse> {}

object!(CallOptions { progress, timeout, timeout_max, parent, bypass_cache, input_required });
object!(Filter { tools, prompts, resources, uris, elements });
object!(Progress { progress, total, message });

/// A typed question becomes a raw one.
struct Question {
    method: Box<str>,
    params: Option<Raw>,
}

object!(Question { method, params });

impl Value for NeededInput {
    fn write(&self, out: &mut Vec<u8>) {
        let mut params = Vec::new();
        let params = match self {
            Self::Raw(_, params) => params.clone(),
            typed => match typed.write(crate::revision::R5, &mut params) {
                Ok(()) if params.is_empty() => None,
                Ok(()) => Some(Raw::from_written(params)),
                // The command is refused when it is applied.
                Err(_) => Some(Raw::null()),
            },
        };
        Question { method: self.method().into(), params }.write(out);
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        Question::read(reader).map(|question| Self::Raw(question.method, question.params))
    }
}

/// Writes values and their keys as an object.
fn write_map<'a, T: Value + 'a>(
    entries: impl Iterator<Item = (&'a str, &'a T)>,
    out: &mut Vec<u8>,
) {
    let mut object = Object::begin(out);
    entries.for_each(|(key, value)| value.write(object.key(key)));
    object.end();
}

fn read_map<T: Value>(reader: &mut JsonReader<'_>) -> Result<Vec<(Box<str>, T)>, DecodeError> {
    let (mut all, before) = (Vec::new(), reader.clone());
    let read = reader.members(|key, reader| {
        all.push((key.into(), T::read(reader).map_err(|error| error.within(key))?));
        Ok(())
    });
    read.unwrap_or_else(|| Err(DecodeError::expected("an object", &before))).map(|()| all)
}

/// Questions by their keys.
impl Value for Vec<(Box<str>, NeededInput)> {
    fn write(&self, out: &mut Vec<u8>) {
        write_map(self.iter().map(|(key, question)| (&**key, question)), out);
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        read_map(reader)
    }
}

impl Value for InputResponses {
    fn write(&self, out: &mut Vec<u8>) {
        write_map(self.iter(), out);
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        read_map(reader).map(Self::new)
    }
}
