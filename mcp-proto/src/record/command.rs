//! The encoding of commands and their outcomes in a recording.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::codec::{Codec, take};
use crate::command::{CommandOutcome, OwnedChange, OwnedCommand};
use crate::error::Misuse;
use crate::vocabulary::NeededInput;

/// Encodes each variant as its tag and its fields in order. Tags are never reused.
macro_rules! commands {
    ($($tag:literal $name:ident { $($field:ident),* },)+) => {
        impl Codec for OwnedCommand {
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$name { $($field),* } => {
                        out.push($tag);
                        $(Codec::write($field, out);)*
                    })+
                }
            }

            fn read(input: &mut &[u8]) -> Option<Self> {
                let [tag] = *take(input, 1)? else { return None };
                match tag {
                    $($tag => Some(Self::$name { $($field: Codec::read(input)?),* }),)+
                    _ => None,
                }
            }
        }
    };
}

commands! {
    1 Call { method, params, options },
    2 Cancel { call, reason },
    3 NotifyChanged { change },
    4 Close {},
    5 Subscribe { filter, options },
    6 Log { incoming, level, logger, data },
    7 Notify { method, params },
    8 Progress { incoming, progress },
    9 RefuseUndeclared { incoming, questions },
    10 RequestInput { incoming, questions, state },
    11 Respond { incoming, result },
    12 RespondError { incoming, error },
    13 SetLogLevel { level, options },
    14 EndStream { incoming },
}

impl Codec for Result<CommandOutcome, Misuse> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Ok(CommandOutcome::Done) => out.push(0),
            Ok(CommandOutcome::Call(call)) => {
                out.push(1);
                call.write(out);
            }
            Err(misuse) => {
                out.push(2);
                misuse.write(out);
            }
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        match take(input, 1)? {
            [0] => Some(Ok(CommandOutcome::Done)),
            [1] => Codec::read(input).map(|call| Ok(CommandOutcome::Call(call))),
            [2] => Codec::read(input).map(Err),
            _ => None,
        }
    }
}

impl Codec for OwnedChange {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Prompts => out.push(0),
            Self::Resource(uri) => {
                out.push(1);
                uri.write(out);
            }
            Self::Resources => out.push(2),
            Self::Tools => out.push(3),
            Self::Extension { method, key, element, params } => {
                out.push(4);
                for text in [method, key, element] {
                    text.write(out);
                }
                params.write(out);
            }
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        match take(input, 1)? {
            [0] => Some(Self::Prompts),
            [1] => Codec::read(input).map(Self::Resource),
            [2] => Some(Self::Resources),
            [3] => Some(Self::Tools),
            [4] => Some(Self::Extension {
                method: Codec::read(input)?,
                key: Codec::read(input)?,
                element: Codec::read(input)?,
                params: Codec::read(input)?,
            }),
            _ => None,
        }
    }
}

/// A question with its key. The params of questions in owned commands are already encoded.
impl Codec for (Box<str>, NeededInput) {
    fn write(&self, out: &mut Vec<u8>) {
        let (key, question) = self;
        key.write(out);
        Box::<str>::from(question.method()).write(out);
        match question {
            NeededInput::Raw(_, params) => params.write(out),
            _ => None::<crate::json::Raw>.write(out),
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let (key, method, params) = (Codec::read(input)?, Codec::read(input)?, Codec::read(input)?);
        Some((key, NeededInput::Raw(method, params)))
    }
}

#[cfg(test)]
mod tests;
