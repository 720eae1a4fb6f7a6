//! Replay and display of handwritten recordings.

mod streams;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::client::{self, Client};
use crate::command::{CommandOutcome, Payload};
use crate::endpoint::{Endpoint, RoleEndpoint as _};
use crate::error::Misuse;
use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::{Encode, Level};
use crate::server::{self, Server};
use crate::stdio::Stdio;
use crate::time::Instant;
use crate::vocabulary::{CallOptions, Change, Filter, IncomingId, NeededInput, Progress};
use crate::{Capability, Revision};

const SECRET: &str = "hunter2";
const NOW: Instant = Instant::from_millis(1500);

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

fn server(name: &str) -> Stdio<Server> {
    let config = server::Config::new(name, "1")
        .capability(Capability::Tools)
        .capability(Capability::Logging)
        .capability(Capability::ResourcesSubscribe);
    Stdio::new(Server::new(NOW, config))
}

fn client() -> Stdio<Client> {
    let config = client::Config::new("c", "1").capability(Capability::Roots);
    Stdio::new(Client::new(NOW, config))
}

fn send(machine: &mut impl Endpoint, text: impl Into<String>) {
    machine.handle_input(NOW, (text.into() + "\n").as_bytes());
}

/// Returns a modern request with this id, method and beginning of the params.
fn modern(id: u64, method: &str, more: &str) -> String {
    format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{more}"_meta":{{"#,
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientCapabilities":{{"roots":{{}},"elicitation":{{}}}},"#,
            r#""io.modelcontextprotocol/logLevel":"debug"}}}}}}"#
        ),
        id = id,
        method = method,
        more = more
    )
}

fn requests<K: Sink>(server: &mut Recorded<Stdio<Server>, K>) -> Vec<IncomingId> {
    server
        .events()
        .filter_map(|event| match event {
            server::Event::Request { incoming, .. } => Some(incoming),
            _ => None,
        })
        .collect()
}

fn ask<'a>(
    incoming: IncomingId,
    questions: &'a [(&'a str, NeededInput)],
    state: Option<&'a str>,
) -> server::Command<'a> {
    server::Command::RequestInput { incoming, questions: questions.into(), state }
}

/// Records every command of a server, each with a secret in its payload.
fn server_tape() -> Vec<u8> {
    use server::Command;

    let mut tape = Recorded::new(server("s"), NOW, Vec::new());
    let call = format!(r#""name":"{SECRET}","arguments":{{"p":"{SECRET}"}},"#);
    for id in 1..=6 {
        send(&mut tape, modern(id, "tools/call", &call));
    }
    send(&mut tape, format!("{SECRET} is not JSON"));
    let open = requests(&mut tape);
    let secret = raw(&format!(r#"{{"content":[],"s":"{SECRET}"}}"#));
    let progress = &Progress::new(1.0).with_message(SECRET);
    let (level, logger) = (Level::Info, Some(SECRET));
    let error = &ErrorObject::internal(SECRET).with_data(secret.clone());
    for command in [
        Command::EndStream { incoming: open[0] },
        Command::Progress { incoming: open[0], progress },
        Command::Log { incoming: Some(open[0]), level, logger, data: &secret },
        Command::respond(open[0], &secret),
        Command::RespondError { incoming: open[1], error },
    ] {
        assert_eq!(tape.apply(NOW, command), Ok(CommandOutcome::Done));
    }
    let questions = [(
        SECRET,
        NeededInput::raw(
            "elicitation/create",
            raw(&format!(
                r#"{{"message":"{SECRET}",
                    "requestedSchema":{{"type":"object","properties":{{}}}}}}"#
            )),
        ),
    )];
    tape.apply(NOW, ask(open[2], &questions, Some(SECRET))).unwrap();
    let sampling = [("k", NeededInput::raw("sampling/createMessage", secret.clone()))];
    assert_eq!(tape.apply(NOW, ask(open[3], &sampling, None)), Err(Misuse::Undeclared));
    let questions = (&sampling[..]).into();
    tape.apply(NOW, Command::RefuseUndeclared { incoming: open[3], questions }).unwrap();
    // Unencodable values fail in the recording and in the replay.
    let broken = [("k", NeededInput::Raw("roots/list".into(), Some(Raw::null())))];
    assert_eq!(tape.apply(NOW, ask(open[4], &broken, None)), Err(Misuse::Unencodable));
    let questions = (&broken[..]).into();
    let refuse = Command::RefuseUndeclared { incoming: open[4], questions };
    assert_eq!(tape.apply(NOW, refuse), Err(Misuse::Unencodable));
    assert_eq!(tape.apply(NOW, Command::respond(open[4], &Raw::null())), Err(Misuse::Unencodable));
    assert_eq!(tape.apply(NOW, Command::respond(open[0], &secret)), Err(Misuse::Stale));
    let uri = format!("file:///{SECRET}");
    tape.apply(NOW, Command::NotifyChanged { change: Change::Resource(&uri) }).unwrap();
    let params = format!(r#"{{"requestId":5,"reason":"{SECRET}"}}"#);
    let cancel =
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#)
            + "\n";
    let (head, tail) = cancel.split_at(20);
    tape.handle_input(NOW, head.as_bytes());
    tape.handle_input(NOW + Duration::from_secs(1), tail.as_bytes());
    tape.outbox().poll_message();
    tape.handle_timeout(NOW + Duration::from_secs(2));
    let _late = requests(&mut tape);
    tape.apply(NOW, Command::respond(open[5], &secret)).unwrap();
    tape.apply(NOW, Command::Close).unwrap();
    tape.handle_eof(NOW);
    let _last = requests(&mut tape);
    tape.into_sink()
}

/// Records every command of a client, each with a secret in its payload.
fn client_tape() -> Vec<u8> {
    use client::Command;

    let mut tape = Recorded::new(client(), NOW, Vec::new());
    let discovered = concat!(
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","#,
        r#""supportedVersions":["2026-07-28"],"#,
        r#""capabilities":{"tools":{},"logging":{},"resources":{"subscribe":true}},"#,
        r#""ttlMs":0,"cacheScope":"private"}}"#
    );
    send(&mut tape, discovered);
    while tape.poll_event().is_some() {}
    let secret = raw(&format!(r#"{{"name":"x","s":"{SECRET}"}}"#));
    let call = || Command::Call {
        method: "tools/call",
        params: Payload::Value(&secret),
        options: CallOptions::default(),
    };
    let cancelled = tape.apply(NOW, call()).unwrap().call().unwrap();
    tape.apply(NOW, Command::Cancel { call: cancelled, reason: SECRET }).unwrap();
    tape.apply(NOW, call()).unwrap();
    let round = format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":3,"result":{{"resultType":"input_required","#,
            r#""requestState":"{secret}","#,
            r#""inputRequests":{{"{secret}":{{"method":"roots/list"}}}}}}}}"#
        ),
        secret = SECRET
    );
    send(&mut tape, round);
    while let Some(event) = tape.poll_event() {
        if let client::Event::Request { incoming, .. } = event {
            let roots = raw(&format!(r#"{{"roots":[{{"uri":"file:///{SECRET}"}}]}}"#));
            tape.apply(NOW, Command::Respond { incoming, result: roots.into() }).unwrap();
        }
    }
    send(
        &mut tape,
        format!(r#"{{"jsonrpc":"2.0","id":4,"error":{{"code":-32603,"message":"{SECRET}"}}}}"#),
    );
    let options = CallOptions::default();
    tape.apply(NOW, Command::SetLogLevel { level: Level::Error, options: options.clone() })
        .unwrap();
    let filter = Filter::new().resource(format!("file:///{SECRET}"));
    tape.apply(NOW, Command::Subscribe { filter: &filter, options }).unwrap();
    tape.apply(NOW, Command::Notify { method: "x/y", params: Payload::Value(&secret) }).unwrap();
    let repeated = Command::Cancel { call: cancelled, reason: SECRET };
    assert_eq!(tape.apply(NOW, repeated), Err(Misuse::Stale));
    tape.handle_eof(NOW);
    while tape.poll_event().is_some() {}
    tape.into_sink()
}

#[test]
fn every_command_replays() {
    let tape = server_tape();
    let recording = Recording::read(&tape).unwrap();
    assert_eq!((recording.created_at(), recording.is_complete()), (NOW, true));
    let replayed =
        recording.replay(&mut server("s")).unwrap_or_else(|diverged| panic!("{diverged}"));
    assert_eq!(replayed.commands, 15);
    let tape = client_tape();
    let replayed = Recording::read(&tape).unwrap().replay(&mut client());
    assert_eq!(replayed.unwrap_or_else(|diverged| panic!("{diverged}")).commands, 8);
}

#[test]
fn payloads_are_shown_only_on_request() {
    for tape in [server_tape(), client_tape()] {
        let recording = Recording::read(&tape).unwrap();
        let shown = recording.show(false).to_string();
        assert!(!shown.contains(SECRET), "{shown}");
        let whole = recording.show(true).to_string();
        assert!(whole.matches(SECRET).count() > 10, "{whole}");
        assert_eq!(shown.lines().count(), whole.lines().count());
    }
}

#[test]
fn messages_events_and_commands_are_shown() {
    let tape = server_tape();
    let shown = Recording::read(&tape).unwrap().show(false).to_string();
    for line in [
        "1.500000000s client → request 1 tools/call (285 bytes)",
        "1.500000000s client → invalid message (19 bytes)",
        "1.500000000s server ! request#1 tools/call",
        "1.500000000s server @ end stream request#1\n",
        "1.500000000s server @ respond request#1 (28 bytes)",
        "1.500000000s server → error 2 -32603 (",
        "1.500000000s server @ ask request#3 elicitation/create state (7 bytes)",
        "1.500000000s server @ ask request#4 sampling/createMessage = Undeclared",
        "1.500000000s server @ respond request#5 (0 bytes) = Unencodable",
        "1.500000000s server @ respond request#1 (28 bytes) = Stale",
        "2.500000000s client → notification notifications/cancelled (",
        "3.500000000s server ! request#5 cancelled",
        "3.500000000s server : timeout",
        "1.500000000s client → end of input",
        "1.500000000s server ! closed: here",
    ] {
        assert!(shown.contains(line), "{line:?} in\n{shown}");
    }
}

#[test]
fn the_first_difference_is_reported_without_its_payload() {
    let tape = server_tape();
    let recording = Recording::read(&tape).unwrap();
    let diverged = recording.replay(&mut server(&format!("not {SECRET}"))).unwrap_err();
    assert!(diverged.entry > 0, "{diverged}");
    let shown = diverged.to_string();
    assert!(shown.contains("different from byte") && !shown.contains(SECRET), "{shown}");
}

#[test]
fn replaying_on_the_other_role_fails() {
    let tape = server_tape();
    let diverged = Recording::read(&tape).unwrap().replay(&mut client()).unwrap_err();
    assert!(
        diverged.to_string().contains("the recording has a server, the replay a client"),
        "{diverged}"
    );
}

#[test]
fn a_truncated_recording_is_readable_up_to_its_end() {
    let tape = server_tape();
    for length in 0..tape.len() {
        let Ok(recording) = Recording::read(&tape[..length]) else {
            assert!(length < 16, "{length}");
            continue;
        };
        // The output of an entry is a separate entry, which may be missing.
        match recording.replay(&mut server("s")) {
            Ok(_) => {}
            Err(diverged) => assert!(diverged.expected.contains("no further output"), "{diverged}"),
        }
        assert!(!recording.show(false).to_string().contains(SECRET));
    }
}

#[test]
fn reading_a_corrupted_recording_does_not_panic() {
    let tape = client_tape();
    for at in 0..tape.len() {
        let mut other = tape.clone();
        other[at] ^= 0x15;
        let Ok(recording) = Recording::read(&other) else { continue };
        let _any = recording.replay(&mut client());
        let _any = recording.show(true).to_string();
    }
}

#[test]
fn different_output_events_and_outcomes_are_detected() {
    let tape = server_tape();
    let find = |text: &[u8]| tape.windows(text.len()).position(|window| window == text).unwrap();
    let event = find(b"request#2 tools/call");
    for (at, what) in [
        (find(br#""id":1,"result""#) + 7, "different from byte 24 on"),
        (event + 20, "with another payload"),
        (find(b"closed: here") + 12, "with another payload"),
    ] {
        let mut other = tape.clone();
        other[at] ^= 1;
        let diverged = Recording::read(&other).unwrap().replay(&mut server("s")).unwrap_err();
        assert!(diverged.to_string().contains(what), "{diverged}");
    }
}

#[test]
fn other_formats_and_versions_are_rejected() {
    for bytes in [&b""[..], b"mcp-tape", b"mcp-tape\x03s\x00", b"mcp-tape\x04x\x00", b"{}"] {
        assert_eq!(Recording::read(bytes).unwrap_err(), InvalidRecording);
    }
}

#[test]
fn input_is_recorded_before_it_is_handled() {
    let mut pieces = Vec::new();
    let mut tape = Recorded::new(server("s"), NOW, |piece: &[u8]| pieces.push(piece.len()));
    send(&mut tape, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    drop(tape);
    assert_eq!(pieces.len(), 3); // the header, the input, the output
}

#[test]
fn replay_uses_the_recorded_values_of_a_nondeterministic_encoder() {
    struct Nondeterministic(core::cell::Cell<u32>);

    impl Encode for Nondeterministic {
        fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), crate::Unencodable> {
            let count = self.0.replace(self.0.get() + 1);
            out.extend_from_slice(format!(r#"{{"n":{count}}}"#).as_bytes());
            Ok(())
        }
    }

    let mut tape = Recorded::new(server("s"), NOW, Vec::new());
    send(&mut tape, modern(1, "tools/call", r#""name":"x","#));
    let open = requests(&mut tape);
    tape.apply(NOW, server::Command::respond(open[0], &Nondeterministic(core::cell::Cell::new(7))))
        .unwrap();
    let tape = tape.into_sink();
    Recording::read(&tape).unwrap().replay(&mut server("s")).unwrap();
}
