//! Ends: for every cause and at every time, every call is completed, every request cancelled, and
//! nothing follows.

use std::time::Duration;

use mcp_harness::{ClientSolo, Pair, Role, ServerSolo, initialize};
use mcp_proto::{
    Capability, CloseReason, Endpoint, ErrorObject, Fault, Instant, Limits, Misuse, NeededInput,
    Progress, Raw, Revision, ViolationPolicy, client, server,
};

const R3: Revision = Revision::V2025_06_18;

fn config() -> server::Config {
    server::Config::new("s", "1").capability(Capability::Tools).capability(Capability::Logging)
}

fn server() -> ServerSolo {
    ServerSolo::ready(config(), R3, r#"{"roots":{}}"#)
}

fn client() -> ClientSolo {
    ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY).capability(Capability::Roots),
        R3,
        r#"{"tools":{}}"#,
    )
}

/// Asserts that nothing has an effect after the end.
fn assert_over<R: Role>(solo: &mut mcp_harness::Solo<R>) {
    assert!(solo.machine.is_closed() && !solo.machine.wants_input());
    assert_eq!(solo.machine.poll_timeout(), None);
    solo.take_lines();
    solo.take_events();
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        "garbage",
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
    ] {
        solo.say(line);
    }
    solo.say_eof();
    solo.close();
    solo.machine.handle_timeout(Instant::MAX);
    assert_eq!(solo.call("ping", ""), Err(Misuse::Closed));
    assert_eq!(solo.call("tools/list", ""), Err(Misuse::Closed));
    assert_eq!(solo.notify("notifications/x", ""), Err(Misuse::Closed));
    solo.poll();
    solo.expect_silence();
}

#[test]
fn nothing_follows_closed_frm_20_frm_21() {
    let mut ended = [
        client(),
        client(),
        client(),
        ClientSolo::client(client::Config::new("c", "1").revisions(&Revision::LEGACY)),
    ];
    ended[0].close();
    ended[1].say_eof();
    ended[2].call("tools/list", "").unwrap();
    ended[2].say_eof();
    ended[3].say_eof();
    ended.iter_mut().for_each(assert_over);

    let mut ended =
        [server(), server(), ServerSolo::server(config()), ServerSolo::server(config())];
    ended[0].close();
    ended[1].say_eof();
    ended[2].close();
    ended[3].say_eof();
    ended.iter_mut().for_each(assert_over);
}

#[test]
fn before_closed_every_call_is_lost_and_every_request_cancelled() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.call("ping", "").unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    solo.say(r#"{"jsonrpc":"2.0","id":2,"method":"roots/list"}"#);
    solo.respond(1, r#"{"roots":[]}"#).unwrap();
    solo.take_events();
    solo.close();
    solo.expect_events(&["call#2 LostRead", "call#3 Lost", "request#2 cancelled", "closed Local"]);
    assert_over(&mut solo);
}

#[test]
fn a_closing_server_drains_open_requests_frm_20() {
    let mut solo = server();
    for id in 1..=3 {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","_meta":{{"progressToken":{id}}}}}}}"#));
    }
    solo.call("roots/list", "").unwrap();
    solo.take_events();
    solo.take_lines();
    solo.close();
    solo.expect_events(&["call#1 Lost"]);
    assert!(!solo.machine.wants_input());
    assert_eq!(solo.call("roots/list", ""), Err(Misuse::Closed));
    assert_eq!(solo.ask(1, &[("a", NeededInput::Roots)], None), Err(Misuse::Closed));
    solo.progress(1, &Progress::new(1.0)).unwrap();
    solo.log(mcp_proto::schema::Level::Info, "1").unwrap();
    solo.respond(1, "{}").unwrap();
    solo.respond_error(2, &ErrorObject::internal("closing")).unwrap();
    assert_eq!(solo.take_lines().len(), 4);
    solo.expect_events(&[]);
    solo.wait(Limits::default().drain_timeout);
    solo.expect_events(&["request#3 cancelled", "closed Local"]);
    assert_over(&mut solo);
}

#[test]
fn a_server_answers_open_requests_for_seconds_after_the_end_of_input_frm_20() {
    let call = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    let Limits { drain_timeout, eof_drain_timeout, .. } = Limits::default();
    assert!(eof_drain_timeout < Duration::from_secs(5), "clients kill a server that stays longer");
    let mut solo = server();
    solo.say(call(1));
    solo.say(call(2));
    solo.take_events();
    solo.say_eof();
    assert!(!solo.machine.wants_input());
    solo.wait(eof_drain_timeout - Duration::from_millis(1));
    solo.expect_events(&[]);
    solo.respond(1, "{}").unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    solo.wait(Duration::from_millis(1));
    solo.expect_events(&["request#2 cancelled", "closed Peer"]);
    assert_over(&mut solo);

    // Closing this side does not wait that long, and closing it again changes nothing.
    let mut solo = server();
    solo.say(call(1));
    solo.take_events();
    solo.say_eof();
    solo.wait(drain_timeout);
    solo.close();
    solo.wait(drain_timeout / 2);
    solo.close();
    solo.say_eof();
    solo.expect_events(&[]);
    solo.wait(drain_timeout / 2);
    solo.expect_events(&["request#1 cancelled", "closed Peer"]);
    assert_over(&mut solo);
}

#[test]
fn a_client_that_closes_cancels_its_calls_so_that_the_server_need_not_finish_them() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.call("ping", "").unwrap();
    solo.take_lines();
    solo.close();
    let cancelled: Vec<String> = solo.take_lines();
    assert_eq!(cancelled.len(), 2, "{cancelled:?}");
    assert!(cancelled.iter().all(|line| line.contains("notifications/cancelled")), "{cancelled:?}");
    solo.expect_events(&["call#2 LostRead", "call#3 Lost", "closed Local"]);
    assert_over(&mut solo);

    // A server that hung up reads nothing any more.
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.take_lines();
    solo.say_eof();
    solo.expect_lines(&[]);
}

#[test]
fn the_first_reason_to_end_is_the_reason() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    solo.say_eof();
    solo.close();
    solo.wait(Duration::from_secs(1));
    assert_eq!(solo.take_told().last().unwrap(), "closed Peer");

    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    solo.close();
    solo.say_eof();
    solo.wait(Duration::from_secs(1));
    assert_eq!(solo.take_told().last().unwrap(), "closed Local");
}

#[test]
fn responses_in_time_are_still_sent_after_closed_t_24() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    solo.say_eof();
    solo.is_deaf = true;
    solo.respond(1, "{}").unwrap();
    assert!(solo.machine.is_closed());
    solo.is_deaf = false;
    solo.poll();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
}

#[test]
fn a_closed_client_ends_its_server_and_the_other_way_round_lif_35() {
    let mut pair =
        Pair::ready(client::Config::new("c", "1").revisions(&Revision::LEGACY), config());
    let now = pair.now;
    pair.client.close(now);
    pair.drive_until_quiet();
    assert_eq!(
        (pair.client_told(), pair.server_told()),
        (vec!["closed Local".into()], vec!["closed Peer".into()])
    );

    let mut pair =
        Pair::ready(client::Config::new("c", "1").revisions(&Revision::LEGACY), config());
    let now = pair.now;
    pair.server.close(now);
    pair.drive_until_quiet();
    assert_eq!(
        (pair.client_told(), pair.server_told()),
        (vec!["closed Peer".into()], vec!["closed Local".into()])
    );
}

#[test]
fn a_pipe_cut_at_any_moment_ends_both_cleanly() {
    for micros in (0..12_000).step_by(250) {
        let mut pair =
            Pair::new(client::Config::new("c", "1").revisions(&Revision::LEGACY), config());
        pair.shuffle(micros, 30);
        pair.wait(Duration::from_micros(micros));
        let _maybe = pair.call("tools/list", "{}");
        pair.wait(Duration::from_micros(500));
        let now = pair.now;
        pair.to_client.cut(now);
        pair.to_server.cut(now);
        pair.drive_until_quiet();
        assert!(pair.client_told().last().unwrap().starts_with("closed"));
        assert!(pair.server_told().last().unwrap().starts_with("closed"));
    }
}

#[test]
fn the_first_violation_can_be_the_last() {
    let config = config().on_violation(ViolationPolicy::Close);
    for line in [
        "garbage",
        "{}",
        "[1]",
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
    ] {
        let mut solo = ServerSolo::ready(config.clone(), Revision::V2025_03_26, "{}");
        solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        solo.take_events();
        solo.say_bytes(
            format!("{line}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}}\n").as_bytes(),
        );
        let told = solo.take_told();
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(told[1..], ["request#1 cancelled", "closed FirstViolation"]);
        solo.expect_lines(&[]);
        assert_over(&mut solo);
    }
}

#[test]
fn a_violation_within_a_batch_ends_it_there() {
    let config = config().on_violation(ViolationPolicy::Close);
    for rest in [
        r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        "7",
        r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#,
    ] {
        let mut solo = ServerSolo::ready(config.clone(), Revision::V2025_03_26, "{}");
        solo.say(format!(r#"[{{"jsonrpc":"2.0","id":1,"method":"tools/list"}},7,{rest}]"#));
        solo.expect_events(&[
            "request#1 tools/list",
            "violation Invalid",
            "request#1 cancelled",
            "closed FirstViolation",
        ]);
        assert_over(&mut solo);
    }
}

#[test]
fn a_truncated_line_at_the_end_can_be_the_violation_that_ends_it() {
    let mut solo = ServerSolo::server(config().on_violation(ViolationPolicy::Close));
    solo.say_bytes(b"{\"half\":");
    solo.say_eof();
    solo.expect_events(&["violation Truncated", "closed FirstViolation"]);
    assert_over(&mut solo);
}

#[test]
fn a_handshake_that_fails_loses_the_pings_that_were_out() {
    let mut solo = ClientSolo::client(client::Config::new("c", "1").revisions(&Revision::LEGACY));
    solo.call("ping", "").unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#);
    let events = solo.take_events();
    let [
        client::Event::Completed { .. },
        client::Event::Closed(CloseReason::Fault(Fault::Refused(_))),
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_over(&mut solo);
}

#[test]
fn closing_in_the_middle_of_the_handshake_is_clean() {
    let mut solo = ServerSolo::server(config());
    solo.say(initialize("1", "2025-06-18", "{}"));
    solo.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    solo.close();
    solo.wait(Duration::from_secs(1));
    solo.expect_events(&["request#1 tools/list", "request#1 cancelled", "closed Local"]);
    assert_over(&mut solo);
}

#[test]
fn respond_after_the_end_is_stale_and_sends_nothing() {
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    solo.say_eof();
    solo.wait(Limits::default().eof_drain_timeout);
    let incoming = solo.request(1);
    let now = solo.now;
    assert_eq!(solo.machine.respond(now, incoming, &Raw::empty_object()), Err(Misuse::Stale));
    assert_eq!(solo.machine.progress(now, incoming, &Progress::new(1.0)), Err(Misuse::Stale));
    assert_over(&mut solo);
}
