//! Conversions between borrowed and owned commands, and their summaries.

mod methods;

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;
use alloc::{format, vec};

use super::*;
use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::Level;
use crate::vocabulary::{CallOptions, Change, Filter, IncomingId, Progress};
use crate::{client, server};

const LATEST: Revision = Revision::V2026_07_28;

/// A value that contains the revision it is encoded for, and cannot be encoded for the oldest.
struct Versioned;

impl Encode for Versioned {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        if revision == Revision::V2024_11_05 {
            return Err(Unencodable);
        }
        out.extend_from_slice(format!("{{\"revision\":\"{revision}\"}}").as_bytes());
        Ok(())
    }
}

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

/// One command of each kind.
fn all() -> Vec<OwnedCommand> {
    let (incoming, call, options) = (IncomingId(3), CallId(5), CallOptions::default());
    let questions = vec![("k".into(), NeededInput::raw("roots/list", raw("{}")))];
    let error = ErrorObject::new(-1, "no").with_data(raw("[1]"));
    vec![
        OwnedCommand::Call {
            method: "x/y".into(),
            params: Some(raw("{}")),
            options: options.clone(),
        },
        OwnedCommand::Cancel { call, reason: "late".into() },
        OwnedCommand::NotifyChanged { change: OwnedChange::Resource("file:///a".into()) },
        OwnedCommand::Close,
        OwnedCommand::EndStream { incoming },
        OwnedCommand::Subscribe { filter: Filter::new().tools(), options: options.clone() },
        OwnedCommand::Log {
            incoming: None,
            level: Level::Info,
            logger: Some("l".into()),
            data: raw("7"),
        },
        OwnedCommand::Notify { method: "n".into(), params: None },
        OwnedCommand::Progress { incoming, progress: Progress::new(0.5) },
        OwnedCommand::RefuseUndeclared { incoming, questions: questions.clone() },
        OwnedCommand::RequestInput { incoming, questions, state: Some("s".into()) },
        OwnedCommand::Respond { incoming, result: Some(raw("{}")) },
        OwnedCommand::RespondError { incoming, error },
        OwnedCommand::SetLogLevel { level: Level::Error, options },
    ]
}

#[test]
fn owned_commands_survive_a_round_trip_through_their_role() {
    let (mut of_client, mut of_server) = (0, 0);
    for owned in all() {
        if let Ok(command) = client::Command::try_from(&owned) {
            assert_eq!(command.into_owned(LATEST), owned);
            of_client += 1;
        }
        if let Ok(command) = server::Command::try_from(&owned) {
            assert_eq!(command.into_owned(LATEST), owned);
            of_server += 1;
        }
    }
    assert_eq!((of_client, of_server), (9, 12));
}

#[test]
fn a_command_of_the_other_role_is_unsupported() {
    let listen = OwnedCommand::Subscribe { filter: Filter::new(), options: CallOptions::default() };
    assert_eq!(server::Command::try_from(&listen).unwrap_err(), Misuse::Unsupported);
    let end = OwnedCommand::EndStream { incoming: IncomingId(0) };
    assert_eq!(client::Command::try_from(&end).unwrap_err(), Misuse::Unsupported);
}

#[test]
fn values_are_encoded_for_the_given_revision() {
    let respond = |result| client::Command::Respond { incoming: IncomingId(0), result };
    for (payload, revision, written) in [
        (Payload::Value(&Versioned), LATEST, Some(r#"{"revision":"2026-07-28"}"#)),
        (Payload::Value(&Versioned), Revision::V2024_11_05, Some("null")),
        (Payload::Json(raw("[1]")), Revision::V2024_11_05, Some("[1]")),
        (Payload::Empty, LATEST, None),
    ] {
        let OwnedCommand::Respond { result, .. } = respond(payload).into_owned(revision) else {
            panic!()
        };
        assert_eq!(result.as_ref().map(Raw::as_str), written);
    }
}

#[test]
fn questions_are_encoded_for_the_given_revision() {
    let questions = [("roots", NeededInput::Roots), ("x", NeededInput::raw("x/y", raw("{}")))];
    let command = server::Command::RequestInput {
        incoming: IncomingId(0),
        questions: Cow::Borrowed(&questions),
        state: None,
    };
    let OwnedCommand::RequestInput { questions, .. } = command.into_owned(LATEST) else { panic!() };
    let roots = NeededInput::Raw("roots/list".into(), None);
    assert_eq!(
        questions,
        [("roots".into(), roots), ("x".into(), NeededInput::raw("x/y", raw("{}")))]
    );
}

#[test]
fn changes_survive_a_round_trip_through_the_owned_form() {
    for change in [Change::Prompts, Change::Resource("file:///a"), Change::Resources, Change::Tools]
    {
        assert_eq!(Change::from(&OwnedChange::from(change)), change);
    }
}

#[test]
fn summaries_contain_values_only_in_alternate_form() {
    let error = ErrorObject::new(-1, "hunter2");
    let fail = OwnedCommand::RespondError { incoming: IncomingId(3), error };
    assert_eq!(fail.to_string(), "fail request#3 -1 (7 bytes)");
    assert_eq!(format!("{fail:#}"), "fail request#3 -1 hunter2");
    let command = client::Command::Call {
        method: "x",
        params: Payload::Value(&Versioned),
        options: CallOptions::default(),
    };
    assert!(format!("{command:?}").contains("Value(..)"));
}
