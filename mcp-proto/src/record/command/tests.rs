//! Every command is read as it was written.

use alloc::string::ToString;
use alloc::vec;
use core::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::connection::{CallId, CallOptions, Filter, IncomingId, Progress};
use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::Level;

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

fn all() -> Vec<OwnedCommand> {
    let incoming = IncomingId(300);
    let options = CallOptions {
        progress: true,
        timeout: Some(Duration::MAX),
        timeout_max: None,
        parent: Some(incoming),
        fresh: true,
    };
    let asked = |params| ("k".into(), Question::Raw("roots/list".into(), params));
    let questions = vec![asked(None), asked(Some(raw("null"))), asked(Some(raw("{}")))];
    vec![
        OwnedCommand::Call {
            method: "x/y".into(),
            params: Some(raw("{}")),
            options: options.clone(),
        },
        OwnedCommand::Call { method: "".into(), params: None, options: CallOptions::default() },
        OwnedCommand::Cancel { call: CallId(u64::MAX), reason: "é".into() },
        OwnedCommand::Changed { change: OwnedChange::Prompts },
        OwnedCommand::Changed { change: OwnedChange::Resource("file:///a".into()) },
        OwnedCommand::Changed { change: OwnedChange::Resources },
        OwnedCommand::Changed { change: OwnedChange::Tools },
        OwnedCommand::Close,
        OwnedCommand::EndStream { incoming },
        OwnedCommand::Listen { filter: Filter::new().tools().resource("a").resource("b"), options },
        OwnedCommand::Log {
            incoming: None,
            level: Level::Emergency,
            logger: Some("l".into()),
            data: raw("7"),
        },
        OwnedCommand::Notify { method: "n".into(), params: Some(raw("null")) },
        OwnedCommand::Progress {
            incoming,
            progress: Progress::new(-0.5).of(1e300).message("half"),
        },
        OwnedCommand::RefuseUndeclared { incoming, questions: questions.clone() },
        OwnedCommand::RequestInput { incoming, questions, state: Some("s".into()) },
        OwnedCommand::Respond { incoming, result: Some(raw("{\"a\":1}")) },
        OwnedCommand::RespondError {
            incoming,
            error: ErrorObject::new(-1, "no").with_data(raw("[1]")),
        },
        OwnedCommand::SetLogLevel { level: Level::Info, options: CallOptions::default() },
    ]
}

#[test]
fn a_command_is_read_as_it_was_written() {
    for command in all() {
        let mut out = Vec::new();
        command.write(&mut out);
        let mut input = out.as_slice();
        assert_eq!(OwnedCommand::read(&mut input).as_ref(), Some(&command));
        assert!(input.is_empty(), "{command:?}");
        for end in 0..out.len() {
            assert!(OwnedCommand::read(&mut &out[..end]).is_none(), "half of {command:?} was read");
        }
    }
}

#[test]
fn an_outcome_is_read_as_it_was_written() {
    for outcome in [Ok(Applied::Done), Ok(Applied::Call(CallId(300))), Err(Misuse::Stale)] {
        let mut out = Vec::new();
        outcome.write(&mut out);
        assert_eq!(Field::read(&mut out.as_slice()), Some(outcome));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let mut input = bytes.as_slice();
        if let Some(command) = OwnedCommand::read(&mut input) {
            let mut out = Vec::new();
            command.write(&mut out);
            prop_assert_eq!(OwnedCommand::read(&mut out.as_slice()).map(|read| read.to_string()), Some(command.to_string()));
        }
    }
}
