//! A peer that does not read, and an application that does not poll: queues are bounded, and
//! nothing promised is lost.

use std::time::Duration;

use mcp_harness::{ClientSolo, Pair, Role, ServerSolo};
use mcp_proto::{
    CallOptions, Capability, Endpoint, ErrorObject, Limits, Misuse, NeededInput, Progress,
    Revision, RoleEndpoint as _, client, server,
};

const R3: Revision = Revision::V2025_06_18;

fn narrow() -> Limits {
    Limits { outbox_bytes_max: 300, ..Limits::default() }
}

fn server(limits: Limits) -> ServerSolo {
    let config = server::Config::new("s", "1")
        .capability(Capability::Tools)
        .capability(Capability::Logging)
        .limits(limits);
    ServerSolo::ready(config, R3, r#"{"roots":{}}"#)
}

fn tool(solo: &mut ServerSolo, id: u32) {
    solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","_meta":{{"progressToken":{id}}}}}}}"#));
}

/// Fills the outbox of a server whose client does not read.
fn fill(solo: &mut ServerSolo) {
    solo.is_deaf = true;
    let long = "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"";
    let is_full = (0..100).any(|_| solo.log(mcp_proto::schema::Level::Info, long).is_err());
    assert!(is_full, "the outbox is unbounded");
}

/// Sends pings until the server accepts no more input; fails if that does not happen soon. Returns
/// the number of pings accepted within and beyond `replies_bytes_max` of unread output.
fn ping_while_wanted(solo: &mut ServerSolo, replies_bytes_max: usize) -> (usize, usize) {
    let (mut within, mut beyond) = (0, 0);
    while solo.machine.wants_input() {
        assert!(within + beyond < 100, "the replies to a peer that reads nothing are unbounded");
        let is_over = solo.machine.outbox().len() > replies_bytes_max;
        *(if is_over { &mut beyond } else { &mut within }) += 1;
        solo.say(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    }
    (within, beyond)
}

#[test]
fn new_traffic_is_blocked_and_responses_are_not() {
    let mut solo = server(narrow());
    for id in 1..=4 {
        tool(&mut solo, id);
    }
    let open = solo.call("roots/list", "").unwrap();
    let requests: Vec<_> = (1..=4).map(|id| solo.request(id)).collect();
    fill(&mut solo);
    assert_eq!(solo.call("roots/list", ""), Err(Misuse::Blocked));
    assert_eq!(solo.notify("notifications/x", ""), Err(Misuse::Blocked));
    assert_eq!(
        solo.machine.request_input(solo.now, requests[0], &[("a", NeededInput::Roots)], None),
        Err(Misuse::Blocked)
    );
    solo.cancel(open, "").unwrap();
    solo.respond(2, "{}").unwrap();
    solo.respond_error(3, &ErrorObject::internal("x")).unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    solo.say(r#"{"jsonrpc":"2.0","id":"u","method":"x/y"}"#);
    solo.is_deaf = false;
    solo.poll();
    let heard = solo.take_lines();
    let tail: Vec<&str> = heard[heard.len() - 5..].iter().map(String::as_str).collect();
    assert!(
        tail[0].contains("notifications/cancelled")
            && tail[1].contains("\"id\":2")
            && tail[2].contains("\"id\":3")
    );
    assert!(tail[3].contains("\"id\":\"p\"") && tail[4].contains("\"id\":\"u\""), "{tail:#?}");
    solo.call("roots/list", "").unwrap();
}

#[test]
fn deferred_progress_is_the_latest_of_each_request() {
    let mut solo = server(narrow());
    tool(&mut solo, 1);
    tool(&mut solo, 2);
    fill(&mut solo);
    for step in 1..=100 {
        solo.progress(1, &Progress::new(f64::from(step))).unwrap();
        solo.progress(2, &Progress::new(f64::from(step) * 10.0)).unwrap();
    }
    solo.is_deaf = false;
    solo.poll();
    solo.poll();
    let told: Vec<String> =
        solo.take_lines().into_iter().filter(|line| line.contains("progress\"")).collect();
    assert_eq!(
        told,
        [
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":100}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1000}}"#,
        ]
    );
}

#[test]
fn deferred_progress_is_sent_before_its_response_prg_04() {
    let mut solo = server(narrow());
    tool(&mut solo, 1);
    fill(&mut solo);
    solo.progress(1, &Progress::new(1.0)).unwrap();
    solo.progress(1, &Progress::new(2.0)).unwrap();
    solo.respond(1, "{}").unwrap();
    solo.is_deaf = false;
    solo.poll();
    let heard = solo.take_lines();
    assert!(
        heard[heard.len() - 2].contains("\"progress\":2")
            && heard[heard.len() - 1].contains("\"result\""),
        "{heard:#?}"
    );
}

#[test]
fn deferred_progress_is_never_overtaken_prg_05() {
    // The driver drains what `outbox` returned; before its next look, there is room for newer
    // progress.
    let mut solo = server(narrow());
    tool(&mut solo, 1);
    fill(&mut solo);
    solo.progress(1, &Progress::new(1.0)).unwrap();
    let outbox = solo.machine.outbox();
    let waiting = outbox.len();
    outbox.advance(waiting);
    // The checker ensures that progress increases on the wire.
    solo.progress(1, &Progress::new(2.0)).unwrap();
    solo.is_deaf = false;
    solo.poll();
    let heard = solo.take_lines();
    assert!(heard.last().unwrap().contains("\"progress\":2"), "{heard:#?}");
}

#[test]
fn deferred_progress_of_an_asking_request_is_in_order_prg_05() {
    let mut solo = server(Limits { outbox_bytes_max: 600, ..Limits::default() });
    tool(&mut solo, 1);
    fill(&mut solo);
    solo.progress(1, &Progress::new(1.0)).unwrap();
    let outbox = solo.machine.outbox();
    let waiting = outbox.len();
    outbox.advance(waiting);
    let incoming = solo.request(1);
    solo.machine.request_input(solo.now, incoming, &[("a", NeededInput::Roots)], None).unwrap();
    solo.is_deaf = false;
    solo.poll();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#);
    solo.progress(2, &Progress::new(2.0)).unwrap();
    solo.respond(2, "{}").unwrap();
    let steps: Vec<String> =
        solo.take_lines().into_iter().filter(|line| line.contains("progressToken")).collect();
    assert!(steps.last().unwrap().contains("\"progress\":2"), "{steps:#?}");
}

#[test]
fn cancelling_a_request_drops_its_deferred_progress() {
    let mut solo = server(narrow());
    tool(&mut solo, 1);
    fill(&mut solo);
    solo.progress(1, &Progress::new(1.0)).unwrap();
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    solo.is_deaf = false;
    solo.poll();
    assert!(solo.take_lines().iter().all(|line| !line.contains("progress\"")));
}

#[test]
fn a_refused_answer_sends_nothing_even_with_progress_waiting() {
    let mut solo = server(narrow());
    tool(&mut solo, 1);
    fill(&mut solo);
    solo.progress(1, &Progress::new(1.0)).unwrap();
    // The checker ensures that a misuse sends nothing.
    assert_eq!(solo.respond(1, "[]"), Err(Misuse::Unencodable));
}

#[test]
fn unpolled_events_stop_reading() {
    let limits = Limits { events_max: 5, ..Limits::default() };
    let mut solo = server(limits);
    solo.is_deaf = true;
    for id in 0..5 {
        assert!(solo.machine.wants_input());
        tool(&mut solo, id);
    }
    assert!(!solo.machine.wants_input());
    solo.machine.poll_event().unwrap();
    assert!(solo.machine.wants_input());
}

#[test]
fn a_peer_that_never_reads_is_stalled_then_disconnected() {
    let limits = Limits {
        replies_bytes_max: 1000,
        stall_timeout: Duration::from_secs(60),
        ..Limits::default()
    };
    let mut solo = server(limits);
    solo.is_deaf = true;
    let (within, beyond) = ping_while_wanted(&mut solo, 1000);
    assert!(within < 40 && beyond == 0, "{within} pings, {beyond} pings");
    assert_eq!(solo.machine.poll_timeout(), Some(solo.now + Duration::from_secs(60)));
    solo.wait(Duration::from_secs(60));
    let closed = solo.machine.events().last();
    assert!(
        matches!(
            closed,
            Some(server::Event::Closed(mcp_proto::CloseReason::Fault(mcp_proto::Fault::Stalled)))
        ),
        "{closed:?}"
    );
}

#[test]
fn a_slow_reader_stays_connected() {
    let limits = Limits {
        replies_bytes_max: 1000,
        stall_timeout: Duration::from_secs(60),
        ..Limits::default()
    };
    let mut solo = server(limits);
    solo.is_deaf = true;
    for id in 0..1000 {
        if solo.machine.wants_input() {
            solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        } else {
            solo.wait(Duration::from_secs(59));
            let now = solo.now;
            solo.machine.handle_timeout(now);
            solo.machine.outbox().advance(1);
        }
    }
    assert!(!solo.machine.is_closed());
}

/// The pipes hold so little that neither peer can send its responses before the other has read.
#[test]
fn two_peers_with_many_unread_responses_for_each_other_go_on_reading_sec_19() {
    let limits = || Limits {
        replies_bytes_max: 2_000,
        requests_max: 64,
        stall_timeout: Duration::from_secs(30),
        ..Limits::default()
    };
    let server = server::Config::new("s", "1").capability(Capability::Tools).limits(limits());
    let client = client::Config::new("c", "1")
        .revisions(&Revision::LEGACY)
        .capability(Capability::Roots)
        .limits(limits());
    let mut pair = Pair::ready(client, server);
    (pair.to_client.capacity, pair.to_server.capacity) = (64, 64);
    let long = "x".repeat(1_000);
    let calls = 30;
    for _ in 0..calls {
        pair.call("tools/list", "{}").unwrap();
        let now = pair.now;
        pair.server.call_raw(now, "roots/list", None, CallOptions::default()).unwrap();
    }
    // Both applications respond only when all requests have arrived, so all responses wait
    // together.
    pair.drive();
    let mut asked = (Vec::new(), Vec::new());
    let mut ended = (0, 0);
    for _ in 0..200 {
        while let Some(event) = pair.server_events.pop_front() {
            match event {
                server::Event::Request { incoming, .. } => asked.0.push(incoming),
                server::Event::Completed { outcome, .. } => {
                    outcome.unwrap();
                    ended.0 += 1;
                }
                _ => {}
            }
        }
        while let Some(event) = pair.client_events.pop_front() {
            match event {
                client::Event::Request { incoming, .. } => asked.1.push(incoming),
                client::Event::Completed { outcome, .. } => {
                    outcome.unwrap();
                    ended.1 += 1;
                }
                _ => {}
            }
        }
        if (asked.0.len(), asked.1.len()) == (calls, calls) {
            let roots = format!(r#"{{"roots":[],"x":"{long}"}}"#);
            let (now, roots) = (pair.now, mcp_proto::Raw::from_text(&roots).unwrap());
            for incoming in asked.1.drain(..) {
                pair.client.respond(now, incoming, &roots).unwrap();
            }
            for incoming in asked.0.drain(..).collect::<Vec<_>>() {
                pair.respond(incoming, &format!(r#"{{"tools":[],"x":"{long}"}}"#)).unwrap();
            }
        }
        pair.drive();
    }
    assert_eq!(ended, (calls, calls), "{}", pair.transcript());
}

/// Otherwise a peer that answers nothing could make this side queue replies for as long as a call
/// is open.
#[test]
fn a_peer_that_reads_nothing_gets_requests_max_replies_beyond_the_limit_sec_19() {
    for (is_awaiting, extra) in [(false, 0), (true, 7)] {
        let limits = Limits { replies_bytes_max: 1_000, requests_max: 7, ..Limits::default() };
        let mut solo = server(limits);
        solo.is_deaf = true;
        if is_awaiting {
            solo.call("roots/list", "").unwrap();
        }
        let (within, beyond) = ping_while_wanted(&mut solo, 1_000);
        assert!(within > 1);
        assert_eq!(beyond, extra);
        solo.machine.outbox().clear();
        assert!(solo.machine.wants_input());
    }
}

#[test]
fn calls_in_flight_are_bounded() {
    let limits = Limits { calls_max: 3, ..Limits::default() };
    let mut solo = ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY).limits(limits),
        R3,
        r#"{"tools":{}}"#,
    );
    for _ in 0..3 {
        solo.call("tools/list", "").unwrap();
    }
    assert_eq!(solo.call("tools/list", ""), Err(Misuse::Blocked));
    solo.say(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    solo.call("tools/list", "").unwrap();
}

#[test]
fn two_peers_with_full_pipes_do_not_deadlock() {
    for seed in 0..20 {
        let config = server::Config::new("s", "1").capability(Capability::Tools).limits(narrow());
        let mut pair = Pair::ready(
            client::Config::new("c", "1")
                .revisions(&Revision::LEGACY)
                .capability(Capability::Roots),
            config,
        );
        pair.shuffle(seed, 40);
        pair.to_client.capacity = 64;
        pair.to_server.capacity = 64;
        let calls: Vec<_> = (0..30).map(|_| pair.call("tools/list", "{}").unwrap()).collect();
        let mut ended = 0;
        for _ in 0..200 {
            pair.drive();
            while let Some(event) = pair.server_events.pop_front() {
                if let server::Event::Request { incoming, .. } = event {
                    let now = pair.now;
                    let _blocked =
                        pair.server.call_raw(now, "roots/list", None, CallOptions::default());
                    pair.respond(
                        incoming,
                        r#"{"tools":[{"name":"a tool with a name that is long"}]}"#,
                    )
                    .unwrap();
                }
            }
            while let Some(event) = pair.client_events.pop_front() {
                match event {
                    client::Event::Request { incoming, .. } => {
                        let now = pair.now;
                        let roots = mcp_proto::Raw::from_text(r#"{"roots":[]}"#).unwrap();
                        pair.client.respond(now, incoming, &roots).unwrap();
                    }
                    client::Event::Completed { outcome, .. } => {
                        outcome.unwrap();
                        ended += 1;
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(ended, calls.len(), "{}", pair.transcript());
    }
}

#[test]
fn a_busy_application_stalls_its_peer_and_loses_nothing() {
    let config = server::Config::new("s", "1")
        .capability(Capability::Tools)
        .limits(Limits { events_max: 4, ..Limits::default() });
    let mut pair = Pair::ready(client::Config::new("c", "1").revisions(&Revision::LEGACY), config);
    pair.to_server.capacity = 200;
    pair.is_server_busy = true;
    for _ in 0..50 {
        pair.call("tools/list", "{}").unwrap();
    }
    pair.drive();
    assert!(pair.to_server.bytes_in_flight() >= 100, "the pipe is full");
    pair.is_server_busy = false;
    pair.drive();
    let requests = pair
        .server_events
        .iter()
        .filter(|event| matches!(event, server::Event::Request { .. }))
        .count();
    assert_eq!(requests, 50);
}

/// It is held twice: within the params, and on its own.
#[test]
fn the_meta_of_open_requests_counts_besides_their_params_sec_18() {
    let limits = Limits { requests_bytes_max: 1000, ..Limits::default() };
    let config = server::Config::new("s", "1").capability(Capability::Tools).limits(limits);
    let mut solo = ServerSolo::ready(config, R3, "{}");
    let long = "x".repeat(400);
    solo.say(format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{"com.example/x":"{long}"}}}}}}"#
    ));
    solo.take_told();
    let cursor = "c".repeat(200);
    let next = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{"cursor":"{cursor}"}}}}"#
    );
    solo.say(&next);
    solo.expect_error("2", -32603);
    solo.respond(1, r#"{"tools":[]}"#).unwrap();
    solo.expect_result("1");
    solo.say(&next);
    let told = solo.take_told();
    assert!(told.len() == 1 && told[0].starts_with("request#2 tools/list"), "{told:?}");
}
