//! Small worlds, explored exhaustively in every revision: all orders of two calls, an incoming
//! request, a cancellation from each side, a timeout, progress and an end; and every split point of
//! every message. `play` does the checks.

#![expect(clippy::unwrap_used, reason = "a test helper may panic")]

use std::time::Duration;

use mcp_harness::{Cut, Play, Polls, Script, Step, assert_chunk_free, initialize, play};
use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{CallOptions, Capability, Era, Instant, OwnedCommand, Progress, Raw, Revision};

const PLAIN: Play = Play { cut: Cut::Steps, polls: Polls::OutboxFirst };

fn input(line: impl Into<String>) -> Step {
    Step::Input((line.into() + "\n").into_bytes())
}

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

fn is_modern(revision: Revision) -> bool {
    revision.era() == Era::Modern
}

fn new_client(revision: Revision) -> Stdio<Client> {
    let config = client::Config::new("c", "1").revisions(&[revision]).capability(Capability::Roots);
    Stdio::new(Client::new(Instant::ZERO, config))
}

fn new_server(revision: Revision) -> Stdio<Server> {
    let config = server::Config::new("s", "1").revisions(&[revision]).capability(Capability::Tools);
    Stdio::new(Server::new(Instant::ZERO, config))
}

/// Returns the input that makes a client ready.
fn welcome(revision: Revision) -> Step {
    input(if is_modern(revision) {
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}"#.to_owned()
    } else {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        )
    })
}

/// Returns the input that makes a server ready.
fn greeting(revision: Revision) -> Vec<Step> {
    if is_modern(revision) {
        return Vec::new();
    }
    vec![
        input(initialize("0", revision.name(), r#"{"roots":{}}"#)),
        input(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    ]
}

fn call(method: &str) -> Step {
    let options = CallOptions {
        progress: true,
        timeout: Some(Duration::from_secs(10)),
        ..CallOptions::default()
    };
    let params = Some(raw(r#"{"name":"t"}"#));
    Step::Apply(OwnedCommand::Call { method: method.into(), params, options })
}

fn cancelled(id: u64) -> Step {
    input(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    ))
}

/// Steps: two calls, one of them answered; a request of the server; a cancellation from each side;
/// a timeout; progress.
fn client_steps(revision: Revision) -> Vec<Step> {
    let question = if is_modern(revision) {
        input(
            r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}"#,
        )
    } else {
        input(r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#)
    };
    vec![
        call("tools/call"),
        call("tools/list"),
        question,
        Step::Apply(OwnedCommand::Cancel { call: 2.into(), reason: "r".into() }),
        cancelled(if is_modern(revision) { 3 } else { 7 }),
        Step::Wait(Duration::from_secs(10)),
        input(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#,
        ),
    ]
}

/// Builds a request that is valid in the revision.
fn request(revision: Revision, id: u64, params: &str) -> Step {
    let meta = if is_modern(revision) {
        r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}"#
    } else {
        ""
    };
    input(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{params},"_meta":{{"progressToken":"p"{meta}}}}}}}"#
    ))
}

/// The steps of a server: two requests of the client, one answered; a call where possible,
/// otherwise input requests.
fn server_steps(revision: Revision) -> Vec<Step> {
    let asks = if is_modern(revision) {
        let questions = vec![("a".into(), mcp_proto::NeededInput::Roots)];
        Step::Apply(OwnedCommand::RequestInput { incoming: 1.into(), questions, state: None })
    } else {
        call("roots/list")
    };
    vec![
        request(revision, 7, r#""name":"t""#),
        input(r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#),
        asks,
        Step::Apply(OwnedCommand::Cancel { call: 1.into(), reason: "r".into() }),
        cancelled(7),
        Step::Wait(Duration::from_secs(10)),
        Step::Apply(OwnedCommand::Progress { incoming: 1.into(), progress: Progress::new(1.0) }),
    ]
}

/// Visits every order of every subset of the steps, each followed by the end.
fn worlds(steps: &[Step], visit: &mut impl FnMut(&[usize])) {
    fn extend(chosen: &mut Vec<usize>, count: usize, visit: &mut impl FnMut(&[usize])) {
        visit(chosen);
        for next in 0..count {
            if !chosen.contains(&next) {
                chosen.push(next);
                extend(chosen, count, visit);
                chosen.pop();
            }
        }
    }
    extend(&mut Vec::new(), steps.len(), visit);
}

/// Plays all worlds and returns their number.
fn explore(start: &[Step], steps: &[Step], mut run: impl FnMut(&Script)) -> usize {
    let mut count = 0;
    worlds(steps, &mut |chosen| {
        let ends = [Step::Apply(OwnedCommand::Close), Step::Eof];
        let end = &ends[chosen.len() % 2];
        let rest = (0..steps.len()).filter(|index| !chosen.contains(index));
        let all = chosen
            .iter()
            .map(|index| &steps[*index])
            .chain([end])
            .chain(rest.map(|index| &steps[index]));
        run(&Script { steps: start.iter().chain(all).cloned().collect() });
        count += 1;
    });
    count
}

/// The number of ordered subsets of seven things.
const WORLDS: usize = 13_700;

fn every_world_of_a_client(revision: Revision) {
    let count = explore(&[welcome(revision)], &client_steps(revision), |script| {
        play(new_client(revision), script, PLAIN);
    });
    assert_eq!(count, WORLDS);
}

fn every_world_of_a_server(revision: Revision) {
    let count = explore(&greeting(revision), &server_steps(revision), |script| {
        play(new_server(revision), script, PLAIN);
    });
    assert_eq!(count, WORLDS);
}

macro_rules! in_every_revision {
    ($($client:ident $server:ident $revision:ident),* $(,)?) => {
        $(
            #[test]
            fn $client() {
                every_world_of_a_client(Revision::$revision);
            }

            #[test]
            fn $server() {
                every_world_of_a_server(Revision::$revision);
            }
        )*
    };
}

in_every_revision! {
    clients_of_2024_11_05 servers_of_2024_11_05 V2024_11_05,
    clients_of_2025_03_26 servers_of_2025_03_26 V2025_03_26,
    clients_of_2025_06_18 servers_of_2025_06_18 V2025_06_18,
    clients_of_2025_11_25 servers_of_2025_11_25 V2025_11_25,
    clients_of_2026_07_28 servers_of_2026_07_28 V2026_07_28,
}

#[test]
fn every_split_point_of_every_message_in_every_revision() {
    for revision in Revision::ALL {
        let steps = [welcome(revision)].into_iter().chain(client_steps(revision)).collect();
        assert_chunk_free(|| new_client(revision), &Script { steps });
        let steps = greeting(revision).into_iter().chain(server_steps(revision)).collect();
        assert_chunk_free(|| new_server(revision), &Script { steps });
    }
}
