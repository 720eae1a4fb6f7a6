//! Recordings of arbitrary commands in any order, with valid, stale and unknown handles, replay.

use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::command::{OwnedChange, OwnedCommand};
use crate::vocabulary::CallId;

fn commands() -> impl Strategy<Value = Vec<OwnedCommand>> {
    let incoming = || (0..5_u64).prop_map(IncomingId);
    let call = (1..6_u64).prop_map(CallId);
    let json = || prop::sample::select(&["{}", "null", "[1]", r#"{"content":[]}"#]).prop_map(raw);
    let params = || proptest::option::of(json());
    let method = || {
        prop::sample::select(&[
            "ping",
            "tools/call",
            "tools/list",
            "x/y",
            "notifications/progress",
            "",
        ])
        .prop_map(Into::into)
    };
    let options = || {
        let parent = proptest::option::of(incoming());
        (any::<bool>(), parent).prop_map(|(progress, parent)| CallOptions {
            progress,
            parent,
            ..CallOptions::default()
        })
    };
    let questions = || {
        let method = prop::sample::select(&["roots/list", "elicitation/create", "x/y"]);
        let question = (method, params())
            .prop_map(|(method, params)| (method.into(), NeededInput::Raw(method.into(), params)));
        proptest::collection::vec(question, 0..3)
    };
    let level = prop::sample::select(&Level::ALL[..]);
    let command = prop_oneof![
        (method(), params(), options()).prop_map(|(method, params, options)| OwnedCommand::Call {
            method,
            params,
            options
        }),
        call.prop_map(|call| OwnedCommand::Cancel { call, reason: "no".into() }),
        Just(OwnedCommand::NotifyChanged { change: OwnedChange::Tools }),
        Just(OwnedCommand::NotifyChanged { change: OwnedChange::Resource("file:///a".into()) }),
        incoming().prop_map(|incoming| OwnedCommand::EndStream { incoming }),
        options()
            .prop_map(|options| OwnedCommand::Subscribe { filter: Filter::new().tools(), options }),
        (proptest::option::of(incoming()), level.clone(), json()).prop_map(
            |(incoming, level, data)| { OwnedCommand::Log { incoming, level, logger: None, data } }
        ),
        (method(), params()).prop_map(|(method, params)| OwnedCommand::Notify { method, params }),
        (incoming(), -1.0..9.0).prop_map(|(incoming, at)| OwnedCommand::Progress {
            incoming,
            progress: Progress::new(at)
        }),
        (incoming(), questions()).prop_map(|(incoming, questions)| {
            OwnedCommand::RefuseUndeclared { incoming, questions }
        }),
        (incoming(), questions()).prop_map(|(incoming, questions)| OwnedCommand::RequestInput {
            incoming,
            questions,
            state: None
        }),
        (incoming(), params())
            .prop_map(|(incoming, result)| OwnedCommand::Respond { incoming, result }),
        incoming().prop_map(|incoming| OwnedCommand::RespondError {
            incoming,
            error: ErrorObject::internal("no")
        }),
        (level, options())
            .prop_map(|(level, options)| OwnedCommand::SetLogLevel { level, options }),
    ];
    (proptest::collection::vec(command, 0..12), any::<bool>()).prop_map(|(mut commands, closes)| {
        commands.extend(closes.then_some(OwnedCommand::Close));
        commands
    })
}

proptest! {
    #[test]
    fn server_recordings_replay(commands in commands()) {
        let mut tape = Recorded::new(server("s"), NOW, Vec::new());
        let mut plain = server("s");
        for id in 1..=4 {
            let call = modern(id, "tools/call", r#""name":"x","#);
            send(&mut tape, &*call);
            send(&mut plain, &*call);
        }
        let mut applied = 0;
        for owned in &commands {
            if let Ok(command) = server::Command::try_from(owned) {
                prop_assert_eq!(plain.apply(NOW, command.clone()), tape.apply(NOW, command));
                applied += 1;
            }
        }
        prop_assert_eq!(plain.outbox().len(), tape.outbox().len());
        let tape = tape.into_sink();
        let replayed = Recording::read(&tape).unwrap().replay(&mut server("s"));
        prop_assert_eq!(replayed.unwrap_or_else(|diverged| panic!("{diverged}")).commands, applied);
    }

    #[test]
    fn client_recordings_replay(commands in commands()) {
        let mut tape = Recorded::new(client(), NOW, Vec::new());
        let mut plain = client();
        let discovered = concat!(
            r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","#,
            r#""supportedVersions":["2026-07-28"],"#,
            r#""capabilities":{"tools":{"listChanged":true},"logging":{}},"#,
            r#""ttlMs":0,"cacheScope":"private"}}"#
        );
        send(&mut tape, discovered);
        send(&mut plain, discovered);
        let mut applied = 0;
        for owned in &commands {
            if let Ok(command) = client::Command::try_from(owned) {
                prop_assert_eq!(plain.apply(NOW, command.clone()), tape.apply(NOW, command));
                applied += 1;
            }
        }
        prop_assert_eq!(plain.outbox().len(), tape.outbox().len());
        let tape = tape.into_sink();
        let replayed = Recording::read(&tape).unwrap().replay(&mut client());
        prop_assert_eq!(replayed.unwrap_or_else(|diverged| panic!("{diverged}")).commands, applied);
    }
}
