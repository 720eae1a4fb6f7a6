//! Every command method has the effect of the command it builds.

use super::*;
use crate::client::Client;
use crate::message_endpoint::MessageEndpoint;
use crate::server::Server;
use crate::vocabulary::StreamId;
use crate::{Capability, Instant};

const NOW: Instant = Instant::ZERO;

fn client() -> Client {
    let config =
        client::Config::new("c", "1").capability(Capability::Roots).expect_era(crate::Era::Legacy);
    let mut client = Client::new(NOW, config);
    let mut send = |message: &str| client.handle_message(NOW, StreamId::ONLY, message.as_bytes());
    send(
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
            "capabilities":{"tools":{},"logging":{},"resources":{"subscribe":true}},
            "serverInfo":{"name":"s","version":"1"}}}"#,
    );
    for id in 0..3 {
        send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list",
                "params":{{"_meta":{{"progressToken":{id}}}}}}}"#
        ));
    }
    assert!(client.peer().is_some());
    client
}

fn server() -> Server {
    let config = server::Config::new("s", "1")
        .capability(Capability::Tools)
        .capability(Capability::Logging)
        .capability(Capability::ToolsListChanged);
    let mut server = Server::new(NOW, config);
    let mut send = |message: &str| server.handle_message(NOW, StreamId::ONLY, message.as_bytes());
    send(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
            "protocolVersion":"2025-11-25","capabilities":{"roots":{}},
            "clientInfo":{"name":"c","version":"1"}}}"#,
    );
    send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    for id in 1..7 {
        send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call",
                "params":{{"name":"x","_meta":{{"progressToken":{id}}}}}}}"#
        ));
    }
    assert!(server.peer().is_some());
    server
}

fn sent(machine: &mut impl MessageEndpoint) -> Vec<Vec<u8>> {
    core::iter::from_fn(|| machine.poll_outgoing().map(|outgoing| outgoing.body.to_vec())).collect()
}

#[test]
fn client_methods_apply_their_commands() {
    use crate::client::Command;

    let (mut one, mut other) = (client(), client());
    let (x, options) = (raw(r#"{"name":"x"}"#), CallOptions::default);
    let (progress, error) = (Progress::new(1.0), ErrorObject::internal("no"));
    let filter = Filter::new().resource("file:///a");
    let mut apply = |command| other.apply(NOW, command);
    let [first, second, third] = [IncomingId(1), IncomingId(2), IncomingId(3)];
    let call = one.call_raw(NOW, "tools/call", Some(&x), options()).unwrap();
    let made =
        Command::Call { method: "tools/call", params: Payload::Value(&x), options: options() };
    assert_eq!(apply(made), Ok(CommandOutcome::Call(call)));
    assert_eq!(one.cancel(NOW, call, "no"), Ok(()));
    assert_eq!(apply(Command::Cancel { call, reason: "no" }), Ok(CommandOutcome::Done));
    let call = one.subscribe(NOW, &filter, options()).unwrap();
    assert_eq!(
        apply(Command::Subscribe { filter: &filter, options: options() }),
        Ok(CommandOutcome::Call(call))
    );
    let call = one.set_log_level(NOW, Level::Error, options()).unwrap();
    let set = Command::SetLogLevel { level: Level::Error, options: options() };
    assert_eq!(apply(set), Ok(CommandOutcome::Call(call)));
    assert_eq!(one.notify_raw(NOW, "x/y", None), Ok(()));
    assert_eq!(
        apply(Command::Notify { method: "x/y", params: Payload::Empty }),
        Ok(CommandOutcome::Done)
    );
    assert_eq!(one.progress(NOW, first, &progress), Ok(()));
    assert_eq!(
        apply(Command::Progress { incoming: first, progress: &progress }),
        Ok(CommandOutcome::Done)
    );
    assert_eq!(one.respond(NOW, first, &x), Ok(()));
    assert_eq!(
        apply(Command::Respond { incoming: first, result: x.clone().into() }),
        Ok(CommandOutcome::Done)
    );
    assert_eq!(one.respond_error(NOW, second, &error), Ok(()));
    let fail = Command::RespondError { incoming: second, error: &error };
    assert_eq!(apply(fail.clone()), Ok(CommandOutcome::Done));
    assert_eq!(one.respond_error(NOW, second, &error), Err(Misuse::Stale));
    assert_eq!(apply(fail), Err(Misuse::Stale));
    one.close(NOW);
    assert_eq!(apply(Command::Close), Ok(CommandOutcome::Done));
    assert_eq!(one.respond(NOW, third, &x), Err(Misuse::Stale));
    assert_eq!(
        apply(Command::Respond { incoming: third, result: x.clone().into() }),
        Err(Misuse::Stale)
    );
    let sent = [sent(&mut one), sent(&mut other)];
    assert_eq!(sent[0], sent[1]);
    assert_eq!(sent[0].len(), 10);
}

#[test]
fn server_methods_apply_their_commands() {
    use crate::server::Command;

    let (mut one, mut other) = (server(), server());
    let (x, options) = (raw(r#"{"content":[]}"#), CallOptions::default);
    let (progress, error) = (Progress::new(1.0), ErrorObject::internal("no"));
    let declared = [("k", NeededInput::Roots)];
    let undeclared = [("k", NeededInput::raw("sampling/createMessage", raw("{}")))];
    let ids: Vec<_> = (1..7).map(IncomingId).collect();
    let mut apply = |command| other.apply(NOW, command);
    let call = one.call_raw(NOW, "roots/list", None, options()).unwrap();
    let made = Command::Call { method: "roots/list", params: Payload::Empty, options: options() };
    assert_eq!(apply(made), Ok(CommandOutcome::Call(call)));
    assert_eq!(one.cancel(NOW, call, ""), Ok(()));
    assert_eq!(apply(Command::Cancel { call, reason: "" }), Ok(CommandOutcome::Done));
    assert_eq!(one.notify_changed(NOW, Change::Tools), Ok(()));
    assert_eq!(apply(Command::NotifyChanged { change: Change::Tools }), Ok(CommandOutcome::Done));
    assert_eq!(one.end_stream(NOW, ids[0]), Ok(()));
    assert_eq!(apply(Command::EndStream { incoming: ids[0] }), Ok(CommandOutcome::Done));
    assert_eq!(one.log(NOW, Some(ids[0]), Level::Error, Some("l"), &x), Ok(()));
    let (level, logger) = (Level::Error, Some("l"));
    let log = Command::Log { incoming: Some(ids[0]), level, logger, data: &x };
    assert_eq!(apply(log), Ok(CommandOutcome::Done));
    assert_eq!(one.notify_raw(NOW, "x/y", Some(&x)), Ok(()));
    assert_eq!(
        apply(Command::Notify { method: "x/y", params: Payload::Value(&x) }),
        Ok(CommandOutcome::Done)
    );
    assert_eq!(one.progress(NOW, ids[0], &progress), Ok(()));
    assert_eq!(
        apply(Command::Progress { incoming: ids[0], progress: &progress }),
        Ok(CommandOutcome::Done)
    );
    assert_eq!(one.respond(NOW, ids[0], &x), Ok(()));
    assert_eq!(
        apply(Command::Respond { incoming: ids[0], result: x.clone().into() }),
        Ok(CommandOutcome::Done)
    );
    assert_eq!(one.respond_error(NOW, ids[1], &error), Ok(()));
    let fail = Command::RespondError { incoming: ids[1], error: &error };
    assert_eq!(apply(fail), Ok(CommandOutcome::Done));
    assert_eq!(one.request_input(NOW, ids[2], &undeclared, None), Err(Misuse::Undeclared));
    let questions = (&undeclared[..]).into();
    let ask = Command::RequestInput { incoming: ids[2], questions, state: None };
    assert_eq!(apply(ask), Err(Misuse::Undeclared));
    assert_eq!(one.refuse_undeclared(NOW, ids[2], &undeclared), Ok(()));
    let questions = (&undeclared[..]).into();
    assert_eq!(
        apply(Command::RefuseUndeclared { incoming: ids[2], questions }),
        Ok(CommandOutcome::Done)
    );
    assert_eq!(one.request_input(NOW, ids[3], &declared, Some("s")), Ok(()));
    let questions = (&declared[..]).into();
    let ask = Command::RequestInput { incoming: ids[3], questions, state: Some("s") };
    assert_eq!(apply(ask), Ok(CommandOutcome::Done));
    one.close(NOW);
    assert_eq!(apply(Command::Close), Ok(CommandOutcome::Done));
    let sent = [sent(&mut one), sent(&mut other)];
    assert_eq!(sent[0], sent[1]);
    assert!(sent[0].len() > 9, "{}", sent[0].len());
}
