//! Bad input: the next valid request is answered, memory is bounded, and errors cannot flood.
// SEC-18, SEC-19: limits never panic, and input causes neither unbounded output nor memory.

use std::time::Duration;

use mcp_harness::{ClientSolo, Pair, Seed, ServerSolo};
use mcp_proto::{
    CallOptions, Capability, Endpoint, Limits, Revision, Side, ViolationPolicy, client, server,
};

use Revision::{V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4};

fn config() -> server::Config {
    server::Config::new("s", "1").capability(Capability::Tools)
}

fn server() -> ServerSolo {
    ServerSolo::ready(config(), R3, r#"{"roots":{}}"#)
}

fn client() -> ClientSolo {
    ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY),
        R3,
        r#"{"tools":{}}"#,
    )
}

/// Returns lines of every bad kind.
fn bad_lines() -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = [
        "garbage",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        "{]",
        "[}",
        ",",
        ":",
        "-",
        "1e",
        "01",
        ".5",
        "+1",
        "nul",
        "truex",
        "NaN",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "[1,]",
        "{'a':1}",
        "{\"a\":1}{\"b\":2}",
        "// comment",
        "\u{feff}{}",
        r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"\udc00\ud800"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"x"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":"x"}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","error":7}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        "7",
        "null",
        "true",
        "\"x\"",
        "{}",
        "[]",
        "[[]]",
        "[1]",
        "[{}]",
    ]
    .map(|line| line.as_bytes().to_vec())
    .to_vec();
    lines.extend(
        [&b"\xFF"[..], b"\xC3\x28", b"{\"a\":\"\x80\"}", b"\0", b"{\0}", b"\x7F", b"\"\x01\""]
            .map(<[u8]>::to_vec),
    );
    let nested = 1_000_000;
    lines.push(vec![b'['; nested]);
    lines.push(vec![b'{'; nested]);
    lines.push(b"{\"a\":".repeat(nested / 5));
    lines.push([vec![b'['; nested], vec![b']'; nested]].concat());
    lines
}

#[test]
fn after_any_bad_line_the_next_request_is_answered_by_a_server() {
    for line in bad_lines() {
        for revision in Revision::LEGACY {
            let mut solo = ServerSolo::ready(config(), revision, "{}");
            solo.say(&line);
            solo.take_lines();
            solo.take_events();
            solo.expect_alive();
            solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
            solo.respond(1, "{}").unwrap();
            solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
        }
    }
}

#[test]
fn after_any_bad_line_calls_of_a_client_still_complete() {
    for line in bad_lines() {
        let mut solo = client();
        solo.call("tools/list", "").unwrap();
        solo.say(&line);
        solo.take_events();
        solo.take_lines();
        solo.expect_alive();
        solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        solo.expect_events(&["call#2 ok {}"]);
    }
}

#[test]
fn a_handshake_survives_bad_lines() {
    for line in bad_lines() {
        let mut solo = ServerSolo::server(config());
        solo.say(&line);
        solo.take_lines();
        solo.take_events();
        solo.greet(R2, "{}");

        let orphan = line.windows(9).any(|window| window == b"\"error\":{")
            && !line.windows(4).any(|window| window == b"\":99");
        let mut solo =
            ClientSolo::client(client::Config::new("c", "1").revisions(&Revision::LEGACY));
        solo.machine.label(String::from_utf8_lossy(&line[..line.len().min(80)]));
        let initialize = solo.hear();
        solo.say(&line);
        let told = solo.take_told();
        if orphan {
            assert_eq!(told, ["closed Refused"], "it can only refer to initialize (T-03)");
        } else if !line.windows(8).any(|window| window == b"\"result\"")
            && !line.windows(7).any(|window| window == b"\"id\":1,")
        {
            solo.take_lines();
            solo.say(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#);
            solo.expect_events(&["ready 2025-11-25 s 1"]);
        }
        assert_eq!(initialize["method"], "initialize");
    }
}

#[test]
fn a_flood_of_bad_lines_gets_few_replies_and_good_ones_get_theirs() {
    let lines: Vec<Vec<u8>> = bad_lines().into_iter().filter(|line| line.len() < 1000).collect();
    let mut solo = server();
    let mut seed = Seed(1);
    let (mut good, mut errors) = (0, 0);
    for round in 0..20_000 {
        if round % 100 == 0 {
            good += 1;
            solo.say(format!(r#"{{"jsonrpc":"2.0","id":"g{round}","method":"ping"}}"#));
            assert!(solo.take_lines().last().unwrap().contains(&format!("g{round}")));
        }
        solo.say(&lines[seed.below(lines.len())]);
        errors += solo.take_lines().iter().filter(|line| line.contains("\"id\":null")).count();
        solo.take_events();
    }
    assert_eq!(good, 200);
    assert_eq!(errors, Limits::default().error_replies_max as usize);
}

#[test]
fn two_peers_that_reply_to_everything_come_to_rest() {
    for revision in Revision::LEGACY {
        let client = client::Config::new("c", "1")
            .revisions(&Revision::LEGACY)
            .on_violation(ViolationPolicy::Reply)
            .revisions(&[revision]);
        let mut pair = Pair::ready(client, config().on_violation(ViolationPolicy::Reply));
        for line in bad_lines().into_iter().filter(|line| line.len() < 1000) {
            let mut line = line;
            line.push(b'\n');
            let now = pair.now;
            pair.watch.insert_line(Side::Client, &line);
            pair.watch.insert_line(Side::Server, &line);
            pair.server.handle_input(now, &line);
            pair.client.handle_input(now, &line);
            let before = pair.client.lines_sent() + pair.server.lines_sent();
            pair.drive();
            let after = pair.client.lines_sent() + pair.server.lines_sent();
            assert_eq!(before, after, "an error was answered with another: {}", pair.transcript());
        }
    }
}

#[test]
fn the_allowance_of_errors_grows_with_time_and_not_beyond_its_burst() {
    let limits = Limits {
        error_replies_max: 5,
        error_reply_every: Duration::from_secs(2),
        ..Limits::default()
    };
    let mut solo = ServerSolo::ready(config().limits(limits), R4, "{}");
    let flood = |solo: &mut ServerSolo| {
        for _ in 0..100 {
            solo.say("x");
        }
        solo.take_lines().len()
    };
    assert_eq!(flood(&mut solo), 5);
    solo.wait(Duration::from_secs(1));
    assert_eq!(flood(&mut solo), 0);
    solo.wait(Duration::from_secs(6));
    assert_eq!(flood(&mut solo), 3);
    solo.wait(Duration::from_secs(3600));
    assert_eq!(flood(&mut solo), 5);
}

#[test]
fn time_in_small_steps_earns_as_much_as_time_in_large_ones() {
    let limits = Limits {
        error_replies_max: 5,
        error_reply_every: Duration::from_secs(1),
        ..Limits::default()
    };
    let mut solo = ServerSolo::ready(config().limits(limits), R4, "{}");
    for _ in 0..5 {
        solo.say("x");
    }
    assert_eq!(solo.take_lines().len(), 5);
    let mut earned = 0;
    for _ in 0..40 {
        solo.wait(Duration::from_millis(1500));
        solo.say("x");
        solo.say("x");
        earned += solo.take_lines().len();
    }
    assert!((58..=60).contains(&earned), "60 s earned {earned}");
}

#[test]
fn a_line_of_32_mib_is_accepted_if_the_limit_allows_frm_10() {
    let size = 32 << 20;
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}"}}}}"#,
        "x".repeat(size)
    );
    let line = line.as_bytes();
    for chunk in [64 << 10, 1 << 20, usize::MAX] {
        let mut machine =
            mcp_proto::stdio::Stdio::new(server::Server::new(mcp_proto::Instant::ZERO, config()));
        line.chunks(chunk.min(line.len()))
            .for_each(|piece| machine.handle_input(mcp_proto::Instant::ZERO, piece));
        machine.handle_input(
            mcp_proto::Instant::ZERO,
            b"\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
        );
        assert!(matches!(machine.poll_event(), Some(server::Event::Violation(_))));
        assert!(machine.poll_event().is_none());
        assert_eq!(String::from_utf8_lossy(machine.outbox().chunk()).lines().count(), 2);
        assert!(machine.outbox().len() < 1000);
    }
    let limits = Limits { message_bytes_max: 64 << 20, ..Limits::default() };
    let mut solo = ServerSolo::ready(config().limits(limits), R3, "{}");
    let pieces: Vec<&[u8]> = line.chunks(1 << 20).collect();
    for piece in pieces {
        solo.machine.handle_input(solo.now, piece);
    }
    solo.say("");
    let events = solo.take_events();
    let [server::Event::Request { request, .. }] = &events[..] else { panic!("not delivered") };
    assert!(request.params.as_ref().unwrap().as_bytes().len() > size);
}

#[test]
fn the_end_in_the_middle_of_anything_is_clean() {
    let stream = format!(
        "{}\n{}\n{}\n",
        mcp_harness::initialize("0", "2025-03-26", "{}"),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"é","method":"tools/list"}]"#,
    );
    for end in 0..=stream.len() {
        let mut solo = ServerSolo::server(config());
        solo.machine.label(format!("cut at {end}"));
        solo.say_bytes(&stream.as_bytes()[..end]);
        solo.say_eof();
        solo.wait(Duration::from_secs(10));
        assert_eq!(solo.take_told().last().unwrap(), "closed Peer");
        assert_eq!(solo.machine.poll_timeout(), None);
    }
}

#[test]
fn ids_in_flight_may_be_repeated_a_thousand_times_and_cost_one_error_each_id_09() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    for _ in 0..1000 {
        solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        solo.expect_error("1", -32600);
        solo.expect_lines(&[]);
    }
    solo.take_events();
    solo.respond(1, "{}").unwrap();
    solo.expect_result("1");
}

#[test]
fn a_thousand_unknown_responses_change_nothing_id_08() {
    let mut solo = client();
    let call = CallOptions { progress: true, ..CallOptions::default() };
    solo.call_with("tools/list", "", call).unwrap();
    solo.take_lines();
    for id in 3..1003 {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    assert_eq!(solo.take_told().len(), 1000);
    solo.expect_lines(&[]);
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    solo.expect_events(&["call#2 ok {}"]);
}

#[test]
fn requests_beyond_the_bound_are_refused_and_the_others_live_sec_18() {
    let limits = Limits { requests_max: 3, ..Limits::default() };
    let mut solo = ServerSolo::ready(config().limits(limits), R3, "{}");
    for id in 1..=5 {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
    }
    solo.expect_events(&["request#1 tools/list", "request#2 tools/list", "request#3 tools/list"]);
    assert!(solo.hear()["error"]["code"].is_i64());
    assert!(solo.hear()["error"]["code"].is_i64());
    solo.expect_alive();
    solo.respond(2, "{}").unwrap();
    solo.expect_result("2");
    solo.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
    solo.expect_events(&["request#4 tools/list"]);
}

#[test]
fn params_beyond_the_bound_are_refused_sec_18() {
    let limits = Limits { requests_bytes_max: 1000, ..Limits::default() };
    let mut solo = ServerSolo::ready(config().limits(limits), R3, "{}");
    let big = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{}"}}}}"#,
            "x".repeat(600)
        )
    };
    solo.say(big(1));
    solo.say(big(2));
    assert_eq!(solo.take_events().len(), 1);
    assert_eq!(solo.hear()["id"], 2);
    solo.respond(1, "{}").unwrap();
    solo.say(big(3));
    assert_eq!(solo.take_events().len(), 1);
}

/// Sends lines to a machine that is never polled while it wants input; returns whether it stopped
/// wanting any.
fn fills_up(solo: &mut ClientSolo, mut line: impl FnMut(usize) -> String) -> bool {
    solo.is_deaf = true;
    for round in 0..200 {
        if !solo.machine.wants_input() {
            return true;
        }
        let line = line(round);
        solo.say(line);
    }
    false
}

#[test]
fn unpolled_events_of_any_kind_stop_reading_sec_19() {
    let limits = Limits { events_bytes_max: 1 << 20, ..Limits::default() };
    let config = || {
        client::Config::new("c", "1")
            .revisions(&Revision::LEGACY)
            .capability(Capability::Roots)
            .limits(limits.clone())
    };
    let ready = || ClientSolo::ready(config(), R3, r#"{"tools":{}}"#);
    let big = "x".repeat(64 << 10);

    let mut unbounded = Vec::new();
    let mut check = |what: &'static str, fills: bool| {
        if !fills {
            unbounded.push(what);
        }
    };
    let said = |line: &dyn Fn(usize) -> String| fills_up(&mut ready(), line);
    check(
        "params of notifications",
        said(&|_| format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"a":"{big}"}}}}"#)),
    );
    check("names of notifications", said(&|_| format!(r#"{{"jsonrpc":"2.0","method":"{big}"}}"#)));
    check(
        "params of requests",
        said(&|id| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list","params":{{"a":"{big}"}}}}"#
            )
        }),
    );
    let mut cancelling = ready();
    let cancel = |round: usize| {
        let id = round / 2;
        if round.is_multiple_of(2) {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#)
        } else {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"{big}"}}}}"#
            )
        }
    };
    check("reasons of cancels", fills_up(&mut cancelling, cancel));
    let mut progressing = ready();
    progressing
        .call_with("tools/list", "", CallOptions { progress: true, ..CallOptions::default() })
        .unwrap();
    let progress = |round: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":2,"progress":{round},"message":"{big}"}}}}"#
        )
    };
    check("messages of progress", fills_up(&mut progressing, progress));
    let answered = |outcome: &str| {
        let mut solo = ready();
        for _ in 0..200 {
            solo.call("tools/list", "").unwrap();
        }
        fills_up(&mut solo, |round| format!(r#"{{"jsonrpc":"2.0","id":{},{outcome}}}"#, round + 2))
    };
    check("results", answered(&format!(r#""result":{{"a":"{big}"}}"#)));
    check("words of errors", answered(&format!(r#""error":{{"code":1,"message":"{big}"}}"#)));
    check(
        "data of errors",
        answered(&format!(r#""error":{{"code":1,"message":"m","data":"{big}"}}"#)),
    );
    assert!(
        unbounded.is_empty(),
        "12 MiB of each were held, and the bound is 1 MiB: {unbounded:?}"
    );
}

#[test]
fn replies_waiting_for_their_batch_are_bounded_sec_19() {
    // Each batch has one request that stays open, and one whose error response waits with it.
    let mut solo = ServerSolo::ready(config(), R2, "{}");
    let long = "x".repeat(100_000);
    for id in 0..100 {
        solo.say(format!(r#"[{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}},{{"jsonrpc":"2.0","id":"r{id}","method":"{long}"}}]"#));
    }
    solo.take_events();
    let mut sent = 0;
    for request in 1..=100 {
        solo.respond(request, "{}").unwrap();
        sent += solo.take_lines().iter().map(String::len).sum::<usize>();
    }
    assert!(sent < 100 * 1000, "{sent} bytes of refusals were held");
}

#[test]
fn violations_in_a_row_can_be_made_to_end_the_connection() {
    let limits = Limits { violations_max: Some(10), ..Limits::default() };
    for line in [
        "garbage",
        "{}",
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
    ] {
        let mut solo = ServerSolo::ready(config().limits(limits.clone()), R3, "{}");
        for _ in 0..11 {
            solo.say(line);
        }
        let told = solo.take_told();
        assert_eq!(
            told.last().unwrap(),
            "closed TooManyViolations",
            "{line}: {} violations",
            told.len()
        );
    }
}

#[test]
fn random_bytes_do_no_harm() {
    for seed in 0..200 {
        let mut random = Seed(seed);
        let mut solo = server();
        solo.machine.label(format!("seed {seed}"));
        let parts: [&[u8]; 14] = [
            b"{",
            b"}",
            b"[",
            b"]",
            b"\"",
            b",",
            b":",
            b"\\u",
            b"\n",
            b"\"jsonrpc\":\"2.0\"",
            b"\"id\":1",
            b"\"method\":\"ping\"",
            b"\xF0\x9F",
            b"0",
        ];
        for _ in 0..200 {
            let piece = parts[random.below(parts.len())];
            solo.machine.handle_input(solo.now, piece);
        }
        solo.say("");
        solo.take_lines();
        solo.take_events();
        solo.expect_alive();
    }
}
