//! Commands and their results survive a round trip.

use alloc::string::ToString;
use alloc::vec;
use core::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::Level;
use crate::vocabulary::{CallId, CallOptions, Filter, IncomingId, Progress};

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
        bypass_cache: true,
        input_required: true,
    };
    let question = |params| ("k".into(), NeededInput::Raw("roots/list".into(), params));
    let questions = vec![question(None), question(Some(raw("null"))), question(Some(raw("{}")))];
    vec![
        OwnedCommand::Call {
            method: "x/y".into(),
            params: Some(raw("{}")),
            options: options.clone(),
        },
        OwnedCommand::Call { method: "".into(), params: None, options: CallOptions::default() },
        OwnedCommand::Cancel { call: CallId(u64::MAX), reason: "é".into() },
        OwnedCommand::NotifyChanged { change: OwnedChange::Prompts },
        OwnedCommand::NotifyChanged {
            change: OwnedChange::Extension {
                method: "x/drawn".into(),
                key: "boards".into(),
                element: "b1".into(),
                params: Some(Raw::empty_object()),
            },
        },
        OwnedCommand::NotifyChanged { change: OwnedChange::Resource("file:///a".into()) },
        OwnedCommand::NotifyChanged { change: OwnedChange::Resources },
        OwnedCommand::NotifyChanged { change: OwnedChange::Tools },
        OwnedCommand::Close,
        OwnedCommand::EndStream { incoming },
        OwnedCommand::Subscribe {
            filter: Filter::new().tools().resource("a").resource("b"),
            options,
        },
        OwnedCommand::Log {
            incoming: None,
            level: Level::Emergency,
            logger: Some("l".into()),
            data: raw("7"),
        },
        OwnedCommand::Notify { method: "n".into(), params: Some(raw("null")) },
        OwnedCommand::Progress {
            incoming,
            progress: Progress::new(-0.5).with_total(1e300).with_message("half"),
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
fn commands_survive_a_round_trip() {
    for command in all() {
        let mut out = Vec::new();
        command.write(&mut out);
        let mut input = out.as_slice();
        assert_eq!(OwnedCommand::read(&mut input).as_ref(), Some(&command));
        assert!(input.is_empty(), "{command:?}");
        for end in 0..out.len() {
            assert!(
                OwnedCommand::read(&mut &out[..end]).is_none(),
                "a truncated {command:?} was read"
            );
        }
    }
}

#[test]
fn outcomes_survive_a_round_trip() {
    for outcome in
        [Ok(CommandOutcome::Done), Ok(CommandOutcome::Call(CallId(300))), Err(Misuse::Stale)]
    {
        let mut out = Vec::new();
        outcome.write(&mut out);
        assert_eq!(Codec::read(&mut out.as_slice()), Some(outcome));
    }
}

proptest! {
    #[test]
    fn reading_invalid_bytes_does_not_panic(bytes: Vec<u8>) {
        let mut input = bytes.as_slice();
        if let Some(command) = OwnedCommand::read(&mut input) {
            let mut out = Vec::new();
            command.write(&mut out);
            let read = OwnedCommand::read(&mut out.as_slice()).map(|read| read.to_string());
            prop_assert_eq!(read, Some(command.to_string()));
        }
    }
}
