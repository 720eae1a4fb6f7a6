//! Framing of lines on a byte stream.
// FRM-01…21

use std::time::Duration;

use bytes::Bytes;
use mcp_harness::{
    ClientSolo, Cut, Play, Polls, Script, ServerSolo, Step, assert_chunk_free, initialize, play,
};
use mcp_proto::schema::Level;
use mcp_proto::server::{Config, Event, Server};
use mcp_proto::stdio::{Shutdown, ShutdownStep, Stdio};
use mcp_proto::{Capability, Endpoint, Instant, Limits, Raw, Revision, RoleEndpoint as _, client};

const R3: Revision = Revision::V2025_06_18;

fn config() -> Config {
    Config::new("s", "1").capability(Capability::Tools).capability(Capability::Logging)
}

fn server() -> ServerSolo {
    ServerSolo::ready(config(), R3, "{}")
}

fn ping(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

#[test]
fn every_message_is_one_line_whatever_it_carries_frm_01_frm_02() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":"a\n\rb","method":"tools/call","params":{"name":"x"}}"#);
    solo.take_events();
    solo.respond(1, "{\r\n  \"content\": [\r\n ],\n \"text\":\t\"a\\nb\\rc\u{2028}\" }\n").unwrap();
    solo.expect_lines(&[concat!(
        r#"{"jsonrpc":"2.0","id":"a\n\rb","result":{"content":[],"text":"a\nb\rc"#,
        "\u{2028}\"}}"
    )]);
    solo.log(Level::Error, "[1,\r\n2]").unwrap();
    solo.expect_lines(&[
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":[1,2]}}"#,
    ]);

    let pretty = serde_json::value::RawValue::from_string("{\n\"a\":\r1}".into()).unwrap();
    assert_eq!(Raw::new(&pretty).unwrap().as_str(), r#"{"a":1}"#);
}

#[test]
fn the_outbox_ends_with_a_whole_message_at_every_moment_frm_01() {
    let mut server = Stdio::new(Server::new(Instant::ZERO, config()));
    let stream = initialize("0", "2025-06-18", "{}") + "\n" + &ping(1) + "\n[\n";
    for byte in stream.bytes() {
        server.handle_input(Instant::ZERO, &[byte]);
        let waiting = bytes::Buf::chunk(server.outbox());
        assert!(waiting.is_empty() || waiting.ends_with(b"}\n"));
    }
}

#[test]
fn owned_input_is_kept_without_a_copy_and_has_the_effect_of_borrowed_input_frm_07() {
    let params = format!(r#"{{"name":"a","arguments":{{"text":"{}"}}}}"#, "x".repeat(5000));
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let lines = [initialize("0", "2025-06-18", "{}"), ready.into(), call, ping(2), "[".into()];
    let lines = lines.map(|line| Bytes::from(line + "\n"));
    let [mut owned, mut borrowed] =
        [(); 2].map(|()| Stdio::new(Server::new(Instant::ZERO, config())));
    for line in &lines {
        owned.handle_bytes(Instant::ZERO, line.clone());
        borrowed.handle_input(Instant::ZERO, line);
    }
    assert_eq!(owned.outbox().chunk(), borrowed.outbox().chunk());
    let events: Vec<_> = owned.events().collect();
    assert_eq!(format!("{events:?}"), format!("{:?}", borrowed.events().collect::<Vec<_>>()));
    let is_kept = events.iter().any(|event| {
        let Event::Request { request, .. } = event else { return false };
        let params = request.params.as_ref().map(|params| params.as_str().as_ptr());
        params.is_some_and(|params| lines[2].as_ptr_range().contains(&params))
    });
    assert!(is_kept, "the params were copied");
}

#[test]
fn every_chunking_yields_equal_messages_frm_07() {
    let lines = [
        initialize("0", "2025-03-26", "{}"),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(),
        "\u{feff}garbage\r".into(),
        String::new(),
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#.into(),
        r#"{"jsonrpc":"2.0","id":"é😀\u00e9","method":"tools/call","params":{"name":"é😀"}}"#.into(),
        " \t ".into(),
    ];
    let mut steps: Vec<Step> =
        lines.iter().map(|line| Step::Input(format!("{line}\n").into_bytes())).collect();
    steps.push(Step::Input(ping(9).into_bytes()));
    steps.push(Step::Eof);
    assert_chunk_free(|| Stdio::new(Server::new(Instant::ZERO, config())), &Script { steps });
}

#[test]
fn long_lines_are_independent_of_chunking_frm_07() {
    // Lines around the sizes at which the reader changes its strategy.
    let body = |length: usize| {
        let pad = "x".repeat(length);
        let params = format!(r#"{{"name":"{pad}"}}"#);
        let call = format!(r#""id":{length},"method":"tools/call","params":{params}"#);
        Step::Input(format!("{{\"jsonrpc\":\"2.0\",{call}}}\r\n").into_bytes())
    };
    let mut steps = vec![
        Step::Input((initialize("0", "2025-06-18", "{}") + "\n").into_bytes()),
        Step::Input(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_vec()),
    ];
    steps.extend([0, 4000, 4096, 4097, 20_000, 70_000].map(body));
    let script = Script { steps };
    let machine = || Stdio::new(Server::new(Instant::ZERO, config()));
    let base = play(machine(), &script, Play { cut: Cut::Steps, polls: Polls::OutboxFirst });
    for cut in [
        Cut::Whole,
        Cut::Bytes(1000),
        Cut::Bytes(4095),
        Cut::Bytes(4096),
        Cut::Bytes(65_536),
        Cut::Bytes(13),
    ] {
        assert_eq!(
            base,
            play(machine(), &script, Play { cut, polls: Polls::OutboxFirst }),
            "{cut:?}"
        );
    }
}

#[test]
fn crlf_and_blank_lines_are_fine_frm_08_t_17() {
    let mut solo = server();
    solo.say_bytes(format!("{}\r\n\n\r\n \t\n{}\n", ping(1), ping(2)).as_bytes());
    solo.expect_result("1");
    solo.expect_result("2");
    solo.expect_silence();
}

#[test]
fn one_byte_order_mark_at_the_start_is_dropped_and_no_other_frm_09_t_17() {
    let mut solo = ServerSolo::server(config());
    solo.say(format!("\u{feff}{}", ping(1)));
    solo.expect_result("1");
    solo.say(format!("\u{feff}{}", ping(2)));
    solo.expect_error("2", -32700);
    let mut solo = ServerSolo::server(config());
    solo.say(format!("\u{feff}\u{feff}{}", ping(1)));
    solo.expect_error("1", -32700);
}

#[test]
fn a_line_too_long_is_dropped_and_reported_once_frm_10_frm_11_t_21() {
    let limits = Limits { message_bytes_max: 100, ..Limits::default() };
    let mut solo = ServerSolo::server(config().limits(limits));
    for piece in 0..1000 {
        solo.say_bytes(&[b'x'; 64]);
        if piece > 2 {
            solo.expect_silence();
        } else if piece == 2 {
            solo.expect_lines(&[]);
            solo.expect_events(&["violation TooLong"]);
        }
    }
    solo.say("");
    solo.expect_error("", -32600);
    solo.expect_silence();
    solo.expect_alive();
}

#[test]
fn a_request_too_long_is_answered_under_its_id_t_21() {
    let text = "x".repeat(1000);
    for (line, id) in [
        (format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","x":"{text}"}}"#), "7"),
        (format!(r#"{{"id":"q","params":{{"a":["{text}"]}},"method":"ping"}}"#), "\"q\""),
        (format!(r#"{{"method":"ping","params":{{"a":"{text}"}},"id":"q-1"}}"#), "\"q-1\""),
        (format!(r#"{{"method":"ping","params":{{"a":"{text}"}},"id":9 }}"#), "9"),
        (format!(r#"{{"method":"ping","params":{{"id":3,"a":"{text}"}}}}"#), ""),
        (format!(r#"{{"a":"{text}","method":"ping","id":9}}"#), "9"),
        (format!(r#"{{"a":"{text}","method":"ping","params":{{"id":9}}}}"#), ""),
    ] {
        for size in [1, 7, 64, 2000] {
            let limits = Limits { message_bytes_max: 100, ..Limits::default() };
            let mut solo = ServerSolo::server(config().limits(limits));
            line.as_bytes().chunks(size).for_each(|piece| solo.say_bytes(piece));
            solo.expect_events(&["violation TooLong"]);
            solo.say("");
            solo.expect_error(id, -32600);
            solo.expect_silence();
            solo.expect_alive();
        }
    }
}

#[test]
fn a_message_of_exactly_the_limit_is_taken_frm_10() {
    let message = ping(1);
    let limits = Limits { message_bytes_max: message.len(), ..Limits::default() };
    for line in [
        format!("{message}\n"),
        format!("{message}\r\n"),
        format!("\u{feff}{message}\n"),
        format!("\u{feff}{message}\r\n"),
    ] {
        for size in [1, 7, 1000] {
            let mut solo = ServerSolo::server(config().limits(limits.clone()));
            line.as_bytes().chunks(size).for_each(|piece| solo.say_bytes(piece));
            solo.expect_result("1");
            solo.say(format!(" {message}"));
            solo.expect_events(&["violation TooLong"]);
        }
    }
}

#[test]
fn a_complete_last_line_counts_and_a_partial_one_is_reported_frm_12_t_22_t_23() {
    let mut solo = server();
    solo.say_bytes(ping(1).as_bytes());
    solo.expect_silence();
    solo.say_eof();
    solo.expect_result("1");
    solo.expect_events(&["closed Peer"]);

    let mut solo = server();
    solo.say_bytes(&ping(1).as_bytes()[..20]);
    solo.say_eof();
    solo.expect_events(&["violation Truncated", "closed Peer"]);

    let mut solo = server();
    solo.say_bytes(b"  \r");
    solo.say_eof();
    solo.expect_events(&["closed Peer"]);
}

#[test]
fn an_answer_in_the_last_line_completes_its_call_t_22() {
    let mut solo = ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY),
        R3,
        r#"{"tools":{}}"#,
    );
    solo.call("tools/list", "").unwrap();
    solo.call("tools/list", "").unwrap();
    solo.say_bytes(br#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    solo.say_eof();
    solo.expect_events(&["call#3 ok {}", "call#2 LostRead", "closed Peer"]);
}

#[test]
fn only_lf_ends_a_line_frm_13() {
    let mut solo = server();
    solo.say(
        "{\"jsonrpc\":\"2.0\",\r\"id\":1,\r\"method\":\"tools/call\",\
         \"params\":{\"name\":\"\u{2028}\u{2029}\u{85}\"}}",
    );
    solo.expect_events(&["request#1 tools/call {\"name\":\"\u{2028}\u{2029}\u{85}\"}"]);
    solo.say(format!("{}\r{}", ping(2), ping(3)));
    solo.expect_error("2", -32700);
}

#[test]
fn only_one_revision_has_arrays_frm_14_frm_15() {
    for revision in Revision::LEGACY {
        let mut solo = ServerSolo::ready(config(), revision, "{}");
        solo.say(format!("[{}]", ping(1)));
        let heard = solo.take_lines();
        assert_eq!(heard[0].starts_with('['), revision == Revision::V2025_03_26);
        assert_eq!(heard.len(), 1);
    }
}

#[test]
fn pretty_printed_json_is_not_joined_t_18() {
    let mut solo = server();
    solo.say_bytes(b"{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"method\": \"ping\"\n}\n");
    assert!(
        solo.take_lines().iter().all(|line| line.contains("-32700") || line.contains("-32600"))
    );
    solo.take_events();
    solo.expect_alive();
}

#[test]
fn a_chatty_server_is_not_answered_by_default_t_19() {
    let mut solo = ClientSolo::client(client::Config::new("c", "1").revisions(&Revision::LEGACY));
    solo.take_lines();
    for chatter in
        ["Listening on stdio", "{\"level\":\"info\"}", "[1,2]", "\u{7f}ELF", "{", "\"", "7", "{}"]
    {
        solo.say(chatter);
        solo.expect_lines(&[]);
        assert_eq!(solo.take_told().len(), 1, "it is reported");
    }
    solo.expect_alive();
}

#[test]
fn garbage_on_stdin_is_answered_within_limits_t_20() {
    let mut solo = server();
    for _ in 0..10_000 {
        solo.say("garbage");
    }
    assert_eq!(solo.take_lines().len(), Limits::default().error_replies_max as usize);
    solo.take_events();
    solo.expect_alive();
}

#[test]
fn a_response_never_overtakes_what_was_sent_before_it_t_25() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}"#);
    solo.log(Level::Info, "1").unwrap();
    solo.progress(1, &mcp_proto::Progress::new(1.0)).unwrap();
    solo.log(Level::Info, "2").unwrap();
    solo.respond(1, "{}").unwrap();
    let kinds: Vec<bool> =
        solo.take_lines().iter().map(|line| line.contains("\"result\"")).collect();
    assert_eq!(kinds, [false, false, false, true]);
}

#[test]
fn a_child_is_ended_step_by_step_frm_19() {
    let limits = Limits {
        exit_timeout: Duration::from_secs(2),
        terminate_timeout: Duration::from_secs(3),
        ..Limits::default()
    };
    let start = Instant::from_millis(10_000);
    let mut shutdown = Shutdown::new(start, &limits);
    assert_eq!(shutdown.poll_step(), Some(ShutdownStep::CloseInput));
    assert_eq!(shutdown.poll_timeout(), Some(start + Duration::from_secs(2)));
    shutdown.handle_timeout(start + Duration::from_millis(1999));
    assert_eq!(shutdown.poll_step(), None, "an early timeout is harmless (T-58)");
    shutdown.handle_timeout(start + Duration::from_secs(2));
    assert_eq!(shutdown.poll_step(), Some(ShutdownStep::Terminate));
    shutdown.handle_timeout(start + Duration::from_secs(2));
    assert_eq!(shutdown.poll_step(), None, "a repeated one too");
    assert_eq!(shutdown.poll_timeout(), Some(start + Duration::from_secs(5)));
    shutdown.handle_timeout(Instant::MAX);
    assert_eq!(shutdown.poll_step(), Some(ShutdownStep::Kill));
    assert_eq!((shutdown.poll_step(), shutdown.poll_timeout()), (None, None));
    shutdown.handle_timeout(Instant::MAX);
    assert_eq!(shutdown.poll_step(), None);
}

#[test]
fn a_late_driver_never_skips_the_last_step_frm_19() {
    let limits = Limits::default();
    let mut shutdown = Shutdown::new(Instant::ZERO, &limits);
    let mut steps = Vec::new();
    let mut now = Instant::ZERO;
    for _ in 0..10 {
        steps.extend(shutdown.poll_step());
        now += Duration::from_secs(3600);
        shutdown.handle_timeout(now);
    }
    assert_eq!(steps, [ShutdownStep::CloseInput, ShutdownStep::Terminate, ShutdownStep::Kill]);
}

#[test]
fn a_server_answers_open_requests_after_eof_and_closes_promptly_frm_20_t_24() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    solo.take_events();
    solo.say_eof();
    assert!(!Endpoint::is_closed(&solo.machine));
    solo.respond(1, "{}").unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    solo.expect_events(&["closed Peer"]);

    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    solo.take_events();
    solo.say_eof();
    solo.wait(Duration::from_secs(10));
    solo.expect_events(&["request#1 cancelled", "closed Peer"]);

    let mut solo = server();
    solo.say_eof();
    solo.expect_events(&["closed Peer"]);
}

#[test]
fn a_server_that_hangs_up_loses_every_call_frm_21_frm_22() {
    let mut solo = ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY),
        R3,
        r#"{"tools":{}}"#,
    );
    for _ in 0..3 {
        solo.call("tools/list", "").unwrap();
    }
    solo.take_lines();
    solo.say_eof();
    solo.expect_events(&["call#2 LostRead", "call#3 LostRead", "call#4 LostRead", "closed Peer"]);
    solo.expect_lines(&[]);
}
