//! Timeouts and pings, in time that only the driver advances.
// TMO-01…10, TMO-13, TMO-14

use std::time::Duration;

use mcp_harness::{ClientSolo, ServerSolo};
use mcp_proto::{
    CallOptions, Capability, Endpoint, Instant, Limits, Misuse, Revision, client, server,
};

const R3: Revision = Revision::V2025_06_18;

fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn client_with(limits: Limits) -> ClientSolo {
    ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY).limits(limits),
        R3,
        r#"{"tools":{}}"#,
    )
}

fn client() -> ClientSolo {
    client_with(Limits::default())
}

fn options(timeout: u64, timeout_max: u64) -> CallOptions {
    CallOptions {
        progress: true,
        timeout: Some(secs(timeout)),
        timeout_max: Some(secs(timeout_max)),
        ..CallOptions::default()
    }
}

fn progressed(progress: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":2,"progress":{progress}}}}}"#
    )
}

#[test]
fn every_call_has_a_deadline_tmo_01() {
    let mut solo = client();
    assert_eq!(solo.machine.poll_timeout(), None);
    solo.call("tools/list", "").unwrap();
    assert_eq!(solo.machine.poll_timeout(), Some(solo.now + secs(60)));
    solo.call("com.example/x", "").unwrap();
    solo.call("ping", "").unwrap();
    solo.wait(secs(60));
    assert_eq!(solo.take_told(), ["call#2 TimedOut", "call#3 TimedOut", "call#4 TimedOut"]);
    assert_eq!(solo.machine.poll_timeout(), None);
}

#[test]
fn at_its_deadline_a_call_is_cancelled_and_over_tmo_02_tmo_13() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.take_lines();
    solo.wait(secs(60) - Duration::from_nanos(1));
    solo.expect_silence();
    solo.wait(Duration::from_nanos(1));
    let cancel = solo.hear();
    assert_eq!(
        (&cancel["method"], &cancel["params"]["requestId"]),
        (&"notifications/cancelled".into(), &2.into())
    );
    solo.expect_events(&["call#2 TimedOut"]);
    solo.expect_lines(&[]);
}

#[test]
fn each_call_may_have_its_own_time_tmo_03() {
    let mut solo = client();
    solo.call_with("tools/list", "", options(5, 5)).unwrap();
    solo.call_with(
        "tools/list",
        "",
        CallOptions { timeout: Some(secs(7200)), ..CallOptions::default() },
    )
    .unwrap();
    solo.call_with(
        "tools/list",
        "",
        CallOptions { timeout: Some(Duration::ZERO), ..CallOptions::default() },
    )
    .unwrap();
    solo.wait(Duration::ZERO);
    solo.expect_events(&["call#4 TimedOut"]);
    solo.wait(secs(5));
    solo.expect_events(&["call#2 TimedOut"]);
    solo.wait(secs(7194));
    solo.expect_events(&[]);
    solo.wait(secs(1));
    solo.expect_events(&["call#3 TimedOut"]);
}

#[test]
fn progress_extends_the_timeout_up_to_a_cap_tmo_04_tmo_05_t_57() {
    let mut solo = client();
    solo.call_with("tools/list", "", options(10, 35)).unwrap();
    for step in 1..=3 {
        solo.wait(secs(9));
        solo.say(progressed(step));
    }
    assert_eq!(solo.machine.poll_timeout(), Some(Instant::ZERO + secs(35)));
    solo.wait(secs(7));
    solo.say(progressed(9));
    solo.take_events();
    solo.wait(secs(1));
    solo.expect_events(&["call#2 TimedOut"]);
}

#[test]
fn progress_that_does_not_increase_extends_nothing_tmo_04() {
    let mut solo = client();
    solo.call_with("tools/list", "", options(10, 35)).unwrap();
    solo.say(progressed(5));
    solo.wait(secs(9));
    solo.say(progressed(5));
    solo.say(progressed(4));
    solo.take_events();
    solo.wait(secs(1));
    solo.expect_events(&["call#2 TimedOut"]);
}

#[test]
fn unrequested_progress_extends_nothing_tmo_04() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.wait(secs(59));
    solo.say(progressed(5));
    solo.wait(secs(1));
    solo.expect_events(&["call#2 TimedOut"]);
}

#[test]
fn the_default_cap_holds_against_endless_progress_tmo_05() {
    let mut solo = client();
    solo.call_with("tools/list", "", CallOptions { progress: true, ..CallOptions::default() })
        .unwrap();
    for step in 1..=30 {
        solo.wait(secs(20));
        solo.say(progressed(step));
    }
    assert_eq!(solo.take_told().iter().filter(|event| event.ends_with("TimedOut")).count(), 1);
    assert_eq!(solo.now, Instant::ZERO + secs(600));
}

#[test]
fn a_late_answer_after_a_timeout_is_ignored_tmo_07() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.wait(secs(60));
    solo.take_events();
    solo.take_lines();
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    solo.expect_silence();
}

#[test]
fn a_response_before_handle_timeout_wins_however_late_t_59() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.take_lines();
    solo.now += secs(61);
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    solo.wait(Duration::ZERO);
    solo.expect_events(&["call#2 ok {}"]);
    solo.expect_lines(&[]);
}

#[test]
fn a_stale_deadline_does_nothing_t_58() {
    let mut solo = client();
    solo.call("tools/list", "").unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    solo.take_events();
    solo.take_lines();
    assert_eq!(solo.machine.poll_timeout(), None);
    solo.machine.handle_timeout(Instant::ZERO + secs(60));
    solo.machine.handle_timeout(Instant::MAX);
    solo.poll();
    solo.expect_silence();
}

#[test]
fn calls_to_people_have_longer_timeouts_t_60() {
    let capabilities = r#"{"roots":{},"sampling":{},"elicitation":{}}"#;
    let mut solo = ServerSolo::ready(server::Config::new("s", "1"), R3, capabilities);
    solo.call("sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#).unwrap();
    solo.call("elicitation/create", r#"{"message":"m","requestedSchema":{}}"#).unwrap();
    solo.call("roots/list", "").unwrap();
    solo.wait(secs(60));
    solo.expect_events(&["call#3 TimedOut"]);
    solo.wait(secs(540));
    solo.expect_events(&["call#1 TimedOut", "call#2 TimedOut"]);
}

// TMO-12
#[test]
fn the_result_of_a_task_may_take_longer_tmo_12() {
    let mut solo = ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY),
        Revision::V2025_11_25,
        r#"{"tasks":{}}"#,
    );
    solo.call("tasks/get", r#"{"taskId":"t"}"#).unwrap();
    solo.call("tasks/result", r#"{"taskId":"t"}"#).unwrap();
    solo.wait(secs(60));
    solo.expect_events(&["call#2 TimedOut"]);
}

#[test]
fn pings_are_sent_as_often_as_configured_and_misses_end_the_connection_tmo_08_tmo_09() {
    let limits = Limits {
        ping_every: Some(secs(30)),
        ping_timeout: secs(10),
        pings_missed_max: 2,
        ..Limits::default()
    };
    let mut solo = client_with(limits);
    for round in 0..3 {
        solo.wait(secs(30));
        solo.expect_lines(&[&format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, round + 2)]);
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, round + 2));
    }
    solo.expect_events(&[]);
    solo.wait(secs(30));
    solo.wait(secs(10));
    solo.expect_events(&[]);
    solo.wait(secs(20));
    solo.wait(secs(10));
    solo.expect_events(&["closed Unresponsive"]);
}

#[test]
fn one_answered_ping_resets_the_missed_ones_tmo_08() {
    let limits = Limits {
        ping_every: Some(secs(30)),
        ping_timeout: secs(10),
        pings_missed_max: 2,
        ..Limits::default()
    };
    let mut solo = client_with(limits);
    for round in 0..6 {
        solo.wait(secs(30));
        let id = &solo.hear()["id"];
        if round % 2 == 1 {
            solo.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
    }
    solo.expect_events(&[]);
}

#[test]
fn no_pings_are_sent_unless_configured_tmo_09() {
    let solo = client();
    assert_eq!(solo.machine.poll_timeout(), None);
}

#[test]
fn a_ping_that_is_due_now_and_again_does_not_spin_tmo_09() {
    // The checker ensures that the next deadline is in the future.
    let limits = Limits { ping_every: Some(Duration::ZERO), ..Limits::default() };
    let mut solo = client_with(limits);
    for _ in 0..10 {
        let now = solo.now;
        solo.machine.handle_timeout(now);
        solo.poll();
    }
    assert!(solo.take_lines().len() <= 10);
}

#[test]
fn a_ping_of_the_peer_is_answered_with_nothing_but_an_object_tmo_10() {
    let mut solo = client();
    solo.say(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"progressToken":1}}}"#);
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":7,"result":{}}"#]);
    solo.expect_events(&[]);
}

#[test]
fn time_that_goes_back_is_ignored_tmo_14_t_61() {
    let mut solo = client();
    solo.wait(secs(100));
    solo.now = Instant::ZERO;
    solo.call("tools/list", "").unwrap();
    assert_eq!(solo.machine.poll_timeout(), Some(Instant::ZERO + secs(160)));
    solo.machine.handle_timeout(Instant::ZERO);
    solo.machine.handle_timeout(Instant::ZERO + secs(159));
    solo.poll();
    solo.expect_events(&[]);
    solo.machine.handle_timeout(Instant::ZERO + secs(160));
    solo.poll();
    solo.expect_events(&["call#2 TimedOut"]);
}

#[test]
fn the_largest_time_is_survived_t_61() {
    let mut solo = client();
    solo.now = Instant::MAX;
    let call = solo.call("tools/list", "").unwrap();
    assert_eq!(solo.machine.poll_timeout(), Some(Instant::MAX));
    solo.cancel(call, "").unwrap();
    let forever = CallOptions { timeout: Some(Duration::MAX), ..CallOptions::default() };
    let mut solo = client();
    solo.call_with("tools/list", "", forever).unwrap();
    solo.wait(secs(1 << 33));
    solo.expect_events(&[]);
    assert_eq!(solo.machine.poll_timeout(), Some(Instant::MAX));
}

#[test]
fn a_call_of_a_server_times_out_as_well_tmo_01_tmo_02() {
    let mut solo = ServerSolo::ready(
        server::Config::new("s", "1").capability(Capability::Tools),
        R3,
        r#"{"roots":{}}"#,
    );
    let call = solo.call("roots/list", "").unwrap();
    solo.take_lines();
    solo.wait(secs(60));
    assert_eq!(solo.hear()["params"]["requestId"], 1);
    solo.expect_events(&["call#1 TimedOut"]);
    assert_eq!(solo.cancel(call, ""), Err(Misuse::Stale));
}

/// A peer that asks while it works cannot continue before the answer.
#[test]
fn calls_wait_up_to_their_cap_while_their_client_is_asked_tmo_05() {
    let config =
        client::Config::new("c", "1").revisions(&Revision::LEGACY).capability(Capability::Roots);
    let mut solo = ClientSolo::ready(config, R3, r#"{"tools":{}}"#);
    solo.call_with("tools/list", "", options(5, 40)).unwrap();
    solo.call_with("tools/list", "", options(5, 20)).unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    solo.take_told();
    solo.wait(secs(19));
    solo.expect_events(&[]);
    solo.wait(secs(1));
    solo.expect_events(&["call#3 TimedOut"]);
    // Once it has the answer, the call waits for its full timeout again.
    solo.respond(1, r#"{"roots":[]}"#).unwrap();
    solo.wait(secs(4));
    solo.expect_events(&[]);
    solo.wait(secs(1));
    solo.expect_events(&["call#2 TimedOut"]);
}

#[test]
fn calls_of_a_server_do_not_wait_for_its_work_tmo_02() {
    let config = server::Config::new("s", "1").capability(Capability::Tools);
    let mut solo = ServerSolo::ready(config, R3, r#"{"roots":{}}"#);
    solo.say(r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#);
    solo.take_told();
    solo.call_with("roots/list", "", options(5, 40)).unwrap();
    solo.wait(secs(5));
    solo.expect_events(&["call#1 TimedOut"]);
}
