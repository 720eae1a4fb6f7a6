//! Both machines against each other, over links that are slow, split, full and cut; and a small
//! simulation.

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_harness::{Chunking, Pair, Role, Seed};
use mcp_proto::{
    CallError, CallOptions, Capability, Endpoint, Misuse, NeededInput, Progress, Raw, Revision,
    client, server,
};

fn client_config() -> client::Config {
    client::Config::new("c", "1").revisions(&Revision::LEGACY).capability(Capability::Roots)
}

fn server_config() -> server::Config {
    server::Config::new("s", "1").capability(Capability::Tools).capability(Capability::Logging)
}

#[test]
fn latency_is_what_a_round_trip_takes() {
    let mut pair = Pair::ready(client_config(), server_config());
    pair.to_server.latency = Duration::from_millis(30);
    pair.to_client.latency = Duration::from_millis(70);
    let start = pair.now;
    let call = pair.call("tools/list", "{}").unwrap();
    let (incoming, ..) = pair.next_request();
    pair.respond(incoming, "{}").unwrap();
    pair.outcome(call).unwrap();
    assert_eq!(pair.now.duration_since(start), Duration::from_millis(100));
}

#[test]
fn single_bytes_are_as_good_as_whole_messages() {
    let mut pair = Pair::new(client_config(), server_config());
    pair.to_client.chunking = Chunking::Bytes(1);
    pair.to_server.chunking = Chunking::Bytes(1);
    pair.drive();
    assert_eq!(pair.client_told(), ["ready 2025-11-25 s 1"]);
    assert_eq!(pair.server_told(), ["ready 2025-11-25 c 1"]);
}

#[test]
fn a_stalled_link_times_calls_out_and_late_responses_are_ignored_tmo_07() {
    let mut pair = Pair::ready(client_config(), server_config());
    let call = pair.call("tools/list", "{}").unwrap();
    let (incoming, ..) = pair.next_request();
    pair.to_client.is_stalled = true;
    pair.respond(incoming, "{}").unwrap();
    pair.wait(Duration::from_secs(60));
    assert_eq!(pair.outcome(call), Err(CallError::TimedOut));
    pair.to_client.is_stalled = false;
    pair.drive_until_quiet();
    assert!(pair.client_told().is_empty());
}

#[test]
fn a_lost_connection_loses_calls_once() {
    let mut pair = Pair::ready(client_config(), server_config());
    let call = pair.call("tools/list", "{}").unwrap();
    pair.next_request();
    let now = pair.now;
    pair.to_client.cut(now);
    assert_eq!(pair.outcome(call), Err(CallError::LostRead));
    pair.drive_until_quiet();
    assert_eq!(pair.client_told(), ["closed Peer"]);
    assert_eq!(pair.server_told(), ["request#1 cancelled", "closed Peer"]);
}

#[test]
fn both_sides_ping_and_neither_minds() {
    let limits = mcp_proto::Limits {
        ping_every: Some(Duration::from_secs(10)),
        ..mcp_proto::Limits::default()
    };
    let mut pair =
        Pair::ready(client_config().limits(limits.clone()), server_config().limits(limits));
    pair.wait(Duration::from_secs(3600));
    assert!(pair.client_told().is_empty() && pair.server_told().is_empty());
    assert!(pair.client.lines_sent() > 700);
}

#[test]
fn an_answer_and_a_timeout_that_cross_have_one_outcome_t_59() {
    for offset in -3_i64..=3 {
        let mut pair = Pair::ready(client_config(), server_config());
        let timeout = Duration::from_millis(100);
        let options = CallOptions { timeout: Some(timeout), ..CallOptions::default() };
        let call = pair.call_with("tools/list", "{}", options).unwrap();
        let (incoming, ..) = pair.next_request();
        let wait = u64::try_from(98 + offset).unwrap();
        pair.wait(Duration::from_millis(wait));
        let answered = pair.respond(incoming, "{}");
        pair.drive_until_quiet();
        let told = pair.client_told();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with(&call.to_string()), "{told:?}");
        assert!(answered.is_ok() || answered == Err(Misuse::Stale));
    }
}

/// A server and a client do random permitted things; every call has one outcome, and at the end
/// nothing is open.
#[test]
fn a_thousand_random_moments_of_two_random_peers() {
    for seed in 0..40 {
        let mut random = Seed(seed);
        let revision = Revision::LEGACY[random.below(4)];
        let mut pair = Pair::ready(client_config().revisions(&[revision]), server_config());
        pair.shuffle(seed, 1 + random.below(200));
        pair.to_client.capacity = 50 + random.below(5000);
        pair.to_server.capacity = 50 + random.below(5000);
        let mut open = BTreeMap::new();
        let mut to_answer = Vec::new();
        let mut to_answer_as_client = Vec::new();
        for _ in 0..1000 {
            let now = pair.now;
            match random.below(12) {
                0 | 1 => {
                    let options = CallOptions {
                        progress: random.below(2) == 0,
                        timeout: Some(Duration::from_millis(random.next() % 400)),
                        ..CallOptions::default()
                    };
                    let method =
                        ["tools/list", "tools/call", "ping", "com.example/x"][random.below(4)];
                    if let Ok(call) = pair.call_with(method, r#"{"name":"t"}"#, options) {
                        open.insert(call, 0);
                    }
                }
                2 => {
                    let choice = random.below(open.len());
                    if let Some(call) = open.keys().nth(choice).copied() {
                        let _maybe = pair.client.cancel(now, call, "no");
                    }
                }
                3 | 4 if !to_answer.is_empty() => {
                    let incoming = to_answer.swap_remove(random.below(to_answer.len()));
                    let _maybe = pair.respond(incoming, r#"{"tools":[],"content":[]}"#);
                }
                5 if !to_answer.is_empty() => {
                    let incoming = to_answer[random.below(to_answer.len())];
                    let step = random.below(1000) as u32;
                    let _maybe =
                        pair.server.progress(now, incoming, &Progress::new(f64::from(step)));
                }
                6 if !to_answer.is_empty() => {
                    let choice = random.below(to_answer.len());
                    let questions = [("a", NeededInput::Roots), ("b", NeededInput::Roots)];
                    if pair
                        .server
                        .request_input(now, to_answer[choice], &questions[..random.below(3)], None)
                        .is_ok()
                    {
                        to_answer.swap_remove(choice);
                    }
                }
                7 => _ = pair.server.call_raw(now, "roots/list", None, CallOptions::default()),
                8 if !to_answer_as_client.is_empty() => {
                    let incoming =
                        to_answer_as_client.swap_remove(random.below(to_answer_as_client.len()));
                    let _maybe = pair.client.respond(
                        now,
                        incoming,
                        &Raw::from_text(r#"{"roots":[]}"#).unwrap(),
                    );
                }
                9 => {
                    let data = Raw::from_text("\"log\"").unwrap();
                    _ = pair.server.log(now, None, mcp_proto::schema::Level::Info, None, &data);
                }
                10 => pair.to_client.is_stalled = random.below(3) == 0,
                _ => pair.wait(Duration::from_millis(random.next() % 60)),
            }
            while let Some(event) = pair.client_events.pop_front() {
                match event {
                    client::Event::Completed { call, .. } => *open.get_mut(&call).unwrap() += 1,
                    client::Event::Request { incoming, .. } => to_answer_as_client.push(incoming),
                    client::Event::Violation(violation) => {
                        pair.fail(format!("an honest server: {violation}"))
                    }
                    _ => {}
                }
            }
            while let Some(event) = pair.server_events.pop_front() {
                match event {
                    server::Event::Request { incoming, .. } => to_answer.push(incoming),
                    server::Event::RequestCancelled { incoming, .. } => {
                        to_answer.retain(|open| *open != incoming);
                    }
                    server::Event::Violation(violation) => {
                        pair.fail(format!("an honest client: {violation}"))
                    }
                    _ => {}
                }
            }
        }
        pair.to_client.is_stalled = false;
        let now = pair.now;
        pair.client.close(now);
        pair.drive_until_quiet();
        while let Some(event) = pair.client_events.pop_front() {
            if let client::Event::Completed { call, .. } = event {
                *open.get_mut(&call).unwrap() += 1;
            }
        }
        assert!(open.values().all(|ends| *ends == 1), "seed {seed}: {open:?}");
        assert!(pair.client.is_closed() && pair.server.is_closed(), "seed {seed}");
    }
}
