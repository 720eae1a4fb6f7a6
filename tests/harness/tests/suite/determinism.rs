//! Equal inputs yield equal output, in whatever order the machine is polled; and small worlds,
//! explored exhaustively.

#![expect(clippy::unwrap_used, reason = "a test helper may panic")]

use std::time::Duration;

use bytes::Buf;
use mcp_harness::{
    Cut, Play, Polls, Script, Seed, Step, assert_chunk_free, assert_deterministic,
    assert_order_free, initialize, play,
};
use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallOptions, Capability, Endpoint, ErrorObject, Instant, Limits, MessageEndpoint, NeededInput,
    OwnedCommand, Progress, Raw, Route, StreamId, ViolationPolicy,
};

fn input(line: impl Into<String>) -> Step {
    Step::Input((line.into() + "\n").into_bytes())
}

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

fn limits() -> Limits {
    Limits {
        ping_every: Some(Duration::from_secs(45)),
        calls_max: 3,
        retired_calls_max: 1,
        requests_max: 2,
        ..Limits::default()
    }
}

fn new_client() -> Stdio<Client> {
    let config = client::Config::new("c", "1")
        .revisions(&mcp_proto::Revision::LEGACY)
        .capability(Capability::Roots)
        .limits(limits());
    Stdio::new(Client::new(Instant::ZERO, config))
}

fn new_server() -> Stdio<Server> {
    let config = server::Config::new("s", "1")
        .capability(Capability::Tools)
        .capability(Capability::Logging)
        .limits(limits());
    Stdio::new(Server::new(Instant::ZERO, config))
}

fn welcome() -> Step {
    input(
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    )
}

fn greeting() -> [Step; 2] {
    [
        input(initialize("0", "2025-03-26", r#"{"roots":{}}"#)),
        input(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    ]
}

/// Returns independent inputs of a client. Ids and numbers are those of the first call and request.
fn client_steps() -> Vec<Step> {
    let options = CallOptions {
        progress: true,
        timeout: Some(Duration::from_secs(10)),
        ..CallOptions::default()
    };
    vec![
        Step::Apply(OwnedCommand::Call { method: "tools/list".into(), params: None, options }),
        Step::Apply(OwnedCommand::Cancel { call: 2.into(), reason: "r".into() }),
        Step::Apply(OwnedCommand::Respond { incoming: 1.into(), result: Some(raw("{}")) }),
        Step::Apply(OwnedCommand::Close),
        welcome(),
        input(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#),
        input(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#),
        input(
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#,
        ),
        input(r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#),
        input(
            r#"[{"jsonrpc":"2.0","id":7,"method":"roots/list"},{"jsonrpc":"2.0","id":2,"result":{}}]"#,
        ),
        input(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#),
        Step::Wait(Duration::from_secs(10)),
        Step::Wait(Duration::from_secs(45)),
        Step::Eof,
    ]
}

/// Returns independent inputs of a server.
fn server_steps() -> Vec<Step> {
    vec![
        Step::Apply(OwnedCommand::Respond { incoming: 1.into(), result: Some(raw("{}")) }),
        Step::Apply(OwnedCommand::RequestInput {
            incoming: 1.into(),
            questions: vec![("a".into(), NeededInput::Roots), ("b".into(), NeededInput::Roots)],
            state: None,
        }),
        Step::Apply(OwnedCommand::Progress { incoming: 1.into(), progress: Progress::new(1.0) }),
        Step::Apply(OwnedCommand::Call {
            method: "roots/list".into(),
            params: None,
            options: CallOptions::default(),
        }),
        Step::Apply(OwnedCommand::Cancel { call: 1.into(), reason: "".into() }),
        Step::Apply(OwnedCommand::Close),
        input(
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}"#,
        ),
        input(
            r#"[{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}},{"jsonrpc":"2.0","id":8,"method":"ping"}]"#,
        ),
        input(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#),
        input(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#),
        input(r#"{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m"}}"#),
        Step::Wait(Duration::from_secs(60)),
        Step::Eof,
    ]
}

/// Returns all sequences of `length` steps.
fn sequences(steps: &[Step], length: u32) -> impl Iterator<Item = Vec<Step>> + '_ {
    (0..steps.len().pow(length)).map(move |mut number| {
        (0..length)
            .map(|_| {
                let step = steps[number % steps.len()].clone();
                number /= steps.len();
                step
            })
            .collect()
    })
}

fn with_start(start: &[Step], rest: Vec<Step>) -> Script {
    Script { steps: start.iter().cloned().chain(rest).collect() }
}

const PLAIN: Play = Play { cut: Cut::Steps, polls: Polls::OutboxFirst };

#[test]
fn every_world_of_four_steps_of_a_client_keeps_the_promises() {
    for rest in sequences(&client_steps(), 4) {
        play(new_client(), &with_start(&[], rest), PLAIN);
    }
}

#[test]
fn every_world_of_four_steps_of_a_client_that_is_ready_keeps_the_promises() {
    for rest in sequences(&client_steps(), 4) {
        play(new_client(), &with_start(&[welcome()], rest), PLAIN);
    }
}

#[test]
fn every_world_of_four_steps_of_a_server_that_is_ready_keeps_the_promises() {
    let request = input(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}"#,
    );
    let [hello, ready] = greeting();
    for rest in sequences(&server_steps(), 4) {
        play(
            new_server(),
            &with_start(&[hello.clone(), ready.clone(), request.clone()], rest),
            PLAIN,
        );
    }
}

#[test]
fn every_world_of_three_steps_is_independent_of_poll_order() {
    let orders = [Polls::EventsFirst, Polls::Late, Polls::Nervous, Polls::Seeded(Seed(7))];
    for rest in sequences(&client_steps(), 3) {
        let script = with_start(&[welcome()], rest);
        let base = play(new_client(), &script, PLAIN);
        for polls in orders {
            assert_eq!(
                base,
                play(new_client(), &script, Play { cut: Cut::Whole, polls }),
                "{polls:?}"
            );
        }
    }
    for rest in sequences(&server_steps(), 3) {
        let script = with_start(&greeting(), rest);
        let base = play(new_server(), &script, PLAIN);
        for polls in orders {
            assert_eq!(
                base,
                play(new_server(), &script, Play { cut: Cut::Whole, polls }),
                "{polls:?}"
            );
        }
    }
}

#[test]
fn random_long_worlds_are_cut_and_order_free() {
    for seed in 0..60 {
        let mut random = Seed(seed);
        let mut steps = vec![welcome()];
        let all = client_steps();
        // Without the steps that end the connection, so that the world becomes long.
        steps.extend(
            (0..12)
                .map(|_| all[random.below(all.len() - 1)].clone())
                .filter(|step| !matches!(step, Step::Apply(OwnedCommand::Close))),
        );
        let script = Script { steps };
        assert_order_free(new_client, &script);
        assert_deterministic(new_client, &script);

        let mut steps = greeting().to_vec();
        let all = server_steps();
        steps.extend(
            (0..12)
                .map(|_| all[random.below(all.len() - 1)].clone())
                .filter(|step| !matches!(step, Step::Apply(OwnedCommand::Close))),
        );
        let script = Script { steps };
        assert_order_free(new_server, &script);
        assert_deterministic(new_server, &script);
    }
}

#[test]
fn every_split_of_one_long_input_yields_equal_output() {
    let steps: Vec<Step> = greeting()
        .into_iter()
        .chain(server_steps().into_iter().filter(|step| matches!(step, Step::Input(_))))
        .collect();
    assert_chunk_free(new_server, &Script { steps });
    let steps: Vec<Step> =
        client_steps().into_iter().filter(|step| matches!(step, Step::Input(_))).collect();
    assert_chunk_free(new_client, &Script { steps });
}

#[test]
fn the_rule_for_violations_is_chunk_free_as_well() {
    for policy in [ViolationPolicy::Close, ViolationPolicy::Ignore, ViolationPolicy::Reply] {
        let machine = || {
            let limits = Limits {
                violations_max: Some(4),
                error_replies_max: 2,
                message_bytes_max: 200,
                ..Limits::default()
            };
            let config = server::Config::new("s", "1")
                .capability(Capability::Tools)
                .limits(limits)
                .on_violation(policy);
            Stdio::new(Server::new(Instant::ZERO, config))
        };
        let mut steps = greeting().to_vec();
        steps.extend([
            input(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#),
            input("garbage"),
            input("[1,{\"jsonrpc\":\"2.0\",\"method\":\"x\"},2]"),
            input("x".repeat(300)),
            input(r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#),
            input("{}"),
            input("{}"),
            input("{}"),
            input("{}"),
            input("{}"),
            Step::Apply(OwnedCommand::RespondError {
                incoming: 1.into(),
                error: ErrorObject::internal("x"),
            }),
        ]);
        assert_chunk_free(machine, &Script { steps: steps.clone() });
        assert_order_free(machine, &Script { steps });
    }
}

#[test]
fn a_long_life_leaves_no_deadline_behind() {
    let mut steps = vec![welcome()];
    for id in 2..40 {
        let options =
            CallOptions { timeout: Some(Duration::from_secs(id)), ..CallOptions::default() };
        steps.push(Step::Apply(OwnedCommand::Call {
            method: "tools/list".into(),
            params: None,
            options,
        }));
        steps.push(match id % 3 {
            0 => input(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)),
            1 => Step::Apply(OwnedCommand::Cancel { call: id.into(), reason: "".into() }),
            _ => Step::Wait(Duration::from_secs(id)),
        });
    }
    let config = client::Config::new("c", "1").revisions(&mcp_proto::Revision::LEGACY);
    let machine = Stdio::new(Client::new(Instant::ZERO, config));
    // `play` checks that without a deadline, waiting changes nothing.
    let trace = play(machine, &Script { steps }, PLAIN);
    assert_eq!(trace.moments.last().unwrap().0, None);
}

/// A step of a world whose outbox is small.
#[derive(Clone, Copy, Debug)]
enum Flow {
    /// The next progress of a request.
    Progress(u64),
    /// The response to a request.
    Respond(u64),
    /// An unrelated message arrives.
    Receive,
    /// Time passes.
    Wait,
    /// The transport takes bytes or a message.
    Take,
    /// The transport has sent what it took.
    Sent,
}

const FLOWS: [Flow; 7] = [
    Flow::Progress(1),
    Flow::Progress(2),
    Flow::Respond(1),
    Flow::Receive,
    Flow::Wait,
    Flow::Take,
    Flow::Sent,
];

/// Returns all worlds of `length` steps with a small outbox.
fn flows(length: u32) -> impl Iterator<Item = Vec<Flow>> {
    (0..FLOWS.len().pow(length)).map(move |number| {
        (0..length).map(|at| FLOWS[number / FLOWS.len().pow(at) % FLOWS.len()]).collect()
    })
}

/// Returns a server with an outbox for about one message, and its greeting and two requests.
fn small_outbox() -> (Server, [String; 4]) {
    let limits = Limits { outbox_bytes_max: 100, ..Limits::default() };
    let config = server::Config::new("s", "1").capability(Capability::Tools).limits(limits);
    let call = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","_meta":{{"progressToken":{id}}}}}}}"#
        )
    };
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into();
    let messages = [initialize("0", "2025-03-26", "{}"), ready, call(1), call(2)];
    (Server::new(Instant::ZERO, config), messages)
}

const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;

fn apply(server: &mut Server, now: Instant, flow: Flow, count: &mut f64) {
    match flow {
        Flow::Progress(incoming) => {
            *count += 1.0;
            // Fails after the response.
            let _stale = server.progress(now, incoming.into(), &Progress::new(*count));
        }
        Flow::Respond(incoming) => {
            let _stale = server.respond(now, incoming.into(), &raw("{}"));
        }
        Flow::Receive | Flow::Wait | Flow::Take | Flow::Sent => {}
    }
}

/// Plays a world on a byte stream and returns the bytes sent. With `polls`, the server is also
/// polled before each step, which takes nothing.
fn sent_bytes(world: &[Flow], polls: bool) -> String {
    let (server, start) = small_outbox();
    let mut machine = Stdio::new(server);
    let (mut now, mut count, mut sent) = (Instant::ZERO, 0.0, Vec::new());
    for message in start {
        machine.handle_input(now, (message + "\n").as_bytes());
        machine.outbox().clear();
    }
    for flow in world.iter().chain(&[Flow::Take; 4]) {
        if polls {
            let _deadline = Endpoint::poll_timeout(&machine);
            while machine.poll_event().is_some() {}
            let _queue = machine.outbox();
        }
        match flow {
            Flow::Receive => machine.handle_input(now, format!("{PING}\n").as_bytes()),
            Flow::Wait => {
                now += Duration::from_secs(1);
                Endpoint::handle_timeout(&mut machine, now);
            }
            Flow::Take => {
                let outbox = machine.outbox();
                sent.extend_from_slice(outbox.chunk());
                outbox.advance(outbox.remaining());
            }
            // A part of what is queued, so that there may be room and more to send.
            Flow::Sent => {
                let outbox = machine.outbox();
                let count = outbox.remaining().min(80);
                sent.extend_from_slice(&outbox.chunk()[..count]);
                outbox.advance(count);
            }
            flow => apply(&mut machine, now, *flow, &mut count),
        }
    }
    String::from_utf8(sent).unwrap()
}

#[test]
fn with_a_small_outbox_polls_change_no_byte() {
    for world in flows(5) {
        assert_eq!(sent_bytes(&world, false), sent_bytes(&world, true), "{world:?}");
    }
}

/// Plays a world on a transport with a stream for each request and returns the messages sent.
fn sent_messages(world: &[Flow], polls: bool) -> Vec<(Route, String)> {
    let (mut server, start) = small_outbox();
    server.use_streams();
    let (mut now, mut count, mut sent) = (Instant::ZERO, 0.0, Vec::new());
    let mut held: Vec<(Route, usize)> = Vec::new();
    for (stream, message) in (10..).zip(start) {
        server.handle_message(now, StreamId(stream), message.as_bytes());
        while server.poll_outgoing().is_some() {}
    }
    let end = [Flow::Sent, Flow::Take, Flow::Sent, Flow::Take].repeat(4);
    for flow in world.iter().chain(&end) {
        if polls {
            let _deadline = server.poll_timeout();
            while server.poll_event().is_some() {}
            server.has_outgoing();
        }
        match flow {
            Flow::Receive => server.handle_message(now, StreamId(20), PING.as_bytes()),
            Flow::Wait => {
                now += Duration::from_secs(1);
                server.handle_timeout(now);
            }
            Flow::Take => {
                if let Some(outgoing) = server.poll_outgoing() {
                    held.push((outgoing.route, outgoing.body.len()));
                    sent.push((outgoing.route, String::from_utf8(outgoing.body.into()).unwrap()));
                    let (route, bytes) = held[held.len() - 1];
                    server.hold(route, bytes);
                }
            }
            Flow::Sent => {
                // The latest first: room appears on another stream than that of the oldest request.
                if let Some((route, bytes)) = held.pop() {
                    server.release(route, bytes);
                }
            }
            flow => apply(&mut server, now, *flow, &mut count),
        }
    }
    sent
}

#[test]
fn with_a_small_outbox_of_streams_polls_change_no_message() {
    for world in flows(5) {
        assert_eq!(sent_messages(&world, false), sent_messages(&world, true), "{world:?}");
    }
}
