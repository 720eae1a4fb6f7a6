//! A dual-era client and a scripted server: the consequence of each answer to the probe.

use std::time::Duration;

use mcp_proto::{CloseReason, Era, Limits, Revision, client};

use super::player::{
    Next, R4, R5, client, discovered, error, fault, initialize, probe, ready, welcome,
};

fn config() -> client::Config {
    client::Config::new("c", "1")
}

fn modern_only() -> client::Config {
    config().revisions(&[Revision::V2026_07_28])
}

fn legacy_only() -> client::Config {
    config().revisions(&Revision::LEGACY)
}

fn probe_timeout() -> Duration {
    Limits::default().probe_timeout
}

#[test]
fn the_first_message_to_an_unknown_server_is_a_probe_lif_26_lif_32() {
    assert_eq!(client(config()).next(), probe(R5));
    assert_eq!(client(modern_only()).next(), probe(R5));
    assert_eq!(client(config().expect_era(Era::Modern)).next(), probe(R5));
    assert_eq!(client(legacy_only()).next(), initialize(R4));
}

/// Answers to the probe of a dual-era client, and the client's reactions.
// LIF-25, LIF-27, LIF-29
#[test]
fn each_answer_to_the_probe_has_its_consequence_lif_25_lif_27_lif_28_lif_29_t_32_t_33_t_34_t_37() {
    let own = discovered(r#"["2026-07-28"]"#);
    let mixed = discovered(r#"["2026-07-28","2025-11-25"]"#);
    let legacy = discovered(r#"["2025-06-18","2025-11-25"]"#);
    let older = discovered(r#"["2025-06-18","2099-01-01"]"#);
    let unknown = discovered(r#"["2099-01-01"]"#);
    let none = discovered("[]");
    let results = [
        (&*own, ready(R5)),
        (&*mixed, ready(R5)),
        (&*legacy, initialize(R4)),
        (&*older, initialize("2025-06-18")),
        (&*unknown, fault("NoCommonRevision")),
        (&*none, fault("NoCommonRevision")),
        // Not a discover result.
        ("{}", initialize(R4)),
        ("5", initialize(R4)),
        ("null", initialize(R4)),
        (r#"{"supportedVersions":["2026-07-28"]}"#, initialize(R4)),
        (r#"{"capabilities":{}}"#, initialize(R4)),
        (r#"{"supportedVersions":"2026-07-28","capabilities":{}}"#, initialize(R4)),
        (r#"{"supportedVersions":["2026-07-28"],"capabilities":7}"#, initialize(R4)),
    ];
    for (result, next) in results {
        let mut client = client(config());
        client.hear_all();
        client.answer(result);
        assert_eq!(client.next(), next, "{result}");
    }
    let errors = [
        (
            -32022,
            r#"{"supported":["2026-07-28"],"requested":"2026-07-28"}"#,
            fault("NoCommonRevision"),
        ),
        (
            -32022,
            r#"{"supported":["2025-11-25","2026-07-28"],"requested":"2026-07-28"}"#,
            initialize(R4),
        ),
        (
            -32022,
            r#"{"supported":["2025-11-25","2025-06-18"],"requested":"2026-07-28"}"#,
            initialize(R4),
        ),
        (
            -32022,
            r#"{"supported":["2024-11-05"],"requested":"2026-07-28"}"#,
            initialize("2024-11-05"),
        ),
        (
            -32022,
            r#"{"supported":["2099-01-01"],"requested":"2026-07-28"}"#,
            fault("NoCommonRevision"),
        ),
        (-32022, r#"{"supported":[],"requested":"2026-07-28"}"#, fault("NoCommonRevision")),
        (-32022, r#"{"supported":[2026]}"#, fault("NoCommonRevision")),
        (-32022, "{}", fault("Refused")),
        (-32022, "", fault("Refused")),
        (-32020, "", fault("Refused")),
        (-32021, r#"{"requiredCapabilities":{"roots":{}}}"#, fault("Refused")),
        (-32601, "", initialize(R4)),
        (-32602, "", initialize(R4)),
        (-32600, "", initialize(R4)),
        (-32603, "", initialize(R4)),
        (-32700, "", initialize(R4)),
        (-32000, "", initialize(R4)),
        (-32001, "", initialize(R4)),
        (-32002, "", initialize(R4)),
        (0, "", initialize(R4)),
        (404, r#"{"supported":["2026-07-28"]}"#, initialize(R4)),
    ];
    for (code, data, next) in errors {
        let mut client = client(config());
        client.hear_all();
        client.refuse(code, data);
        assert_eq!(client.next(), next, "{code} {data}");
    }
}

#[test]
fn a_modern_client_has_no_fallback_lif_32() {
    for (code, data, name) in [
        (-32601, "", "Refused"),
        (-32600, "", "Refused"),
        (-32602, "", "Refused"),
        (-32022, r#"{"supported":["2025-11-25"]}"#, "NoCommonRevision"),
        (-32022, r#"{"supported":["2026-07-28"]}"#, "NoCommonRevision"),
    ] {
        let mut client = client(modern_only());
        client.hear_all();
        client.refuse(code, data);
        assert_eq!(client.next(), fault(name), "{code} {data}");
    }
    let mut silent = client(modern_only());
    silent.hear_all();
    silent.wait(Duration::from_secs(60));
    assert_eq!(silent.next(), fault("HandshakeTimedOut"));
}

#[test]
fn only_configured_revisions_of_the_server_are_used_t_32_t_34() {
    let ours = [Revision::V2024_11_05, Revision::V2025_06_18, Revision::V2026_07_28];
    for (supported, next) in [
        (r#"["2025-11-25","2025-06-18"]"#, initialize("2025-06-18")),
        (r#"["2025-11-25","2025-03-26"]"#, fault("NoCommonRevision")),
        (r#"["2024-11-05","2025-11-25"]"#, initialize("2024-11-05")),
    ] {
        let mut refused = client(config().revisions(&ours));
        refused.hear_all();
        refused.refuse(-32022, &format!(r#"{{"supported":{supported},"requested":"2026-07-28"}}"#));
        assert_eq!(refused.next(), next, "{supported}");
        let mut answered = client(config().revisions(&ours));
        answered.hear_all();
        answered.answer(&discovered(supported));
        assert_eq!(answered.next(), next, "{supported}");
    }
}

#[test]
fn an_error_that_names_no_request_or_another_type_of_id_answers_the_probe_lif_28_t_03() {
    for id in ["null", "", r#""1""#, "0", "-1", r#""?""#, "1.5", "99"] {
        let mut client = client(config());
        client.hear_all();
        client.say(error(id, -32600, ""));
        assert_eq!(client.next(), initialize(R4), "id {id}");
        client.answer(&welcome(R4));
        assert_eq!(client.next(), ready(R4), "id {id}");
    }
}

#[test]
fn a_result_for_another_request_does_not_answer_the_probe_id_08() {
    let mut client = client(config());
    client.hear_all();
    client.say(format!(
        r#"{{"jsonrpc":"2.0","id":"1","result":{}}}"#,
        discovered(r#"["2026-07-28"]"#)
    ));
    assert_eq!(client.next(), Next::Nothing);
    client.answer(&discovered(r#"["2026-07-28"]"#));
    assert_eq!(client.next(), ready(R5));
}

#[test]
fn chatter_does_not_answer_the_probe_t_19() {
    let mut client = client(config());
    client.hear_all();
    for noise in [
        "Listening on stdio",
        "{}",
        "[]",
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#,
    ] {
        client.say(noise);
        assert_eq!(client.next(), Next::Nothing, "{noise}");
    }
    client.refuse(-32601, "");
    assert_eq!(client.next(), initialize(R4));
}

/// Silence leads to `initialize` without a cancellation, and late responses are ignored.
// TMO-15
#[test]
fn a_silent_server_is_legacy_and_its_late_response_is_ignored_lif_28_tmo_15_t_35() {
    let late = [
        error("1", -32601, ""),
        error("1", -32022, r#"{"supported":["2026-07-28"]}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, discovered(r#"["2026-07-28"]"#)),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"result":5}"#.to_owned(),
    ];
    for late in late {
        let mut client = client(config());
        client.hear_all();
        client.wait(probe_timeout() - Duration::from_nanos(1));
        assert_eq!(client.next(), Next::Nothing);
        client.wait(Duration::from_nanos(1));
        assert_eq!(client.next(), initialize(R4));
        client.say(&late);
        assert_eq!(client.next(), Next::Nothing, "{late}");
        let events = client.take_events();
        assert!(events.is_empty(), "{late}: {events:?}");
        client.answer(&welcome(R4));
        assert_eq!(client.next(), ready(R4), "{late}");
    }
}

#[test]
fn a_late_error_without_id_does_not_refuse_initialize_t_35_t_03() {
    for id in ["null", ""] {
        let mut client = client(config());
        client.hear_all();
        client.wait(probe_timeout());
        assert_eq!(client.next(), initialize(R4));
        client.say(error(id, -32600, ""));
        assert_eq!(client.next(), Next::Nothing);
        client.answer(&welcome(R4));
        assert_eq!(client.next(), ready(R4));
    }
}

#[test]
fn a_slow_modern_server_is_probed_again_lif_31() {
    let mut slow = client(config());
    slow.hear_all();
    slow.wait(probe_timeout());
    assert_eq!(slow.next(), initialize(R4));
    slow.refuse(-32022, r#"{"supported":["2026-07-28"],"requested":"2025-11-25"}"#);
    assert_eq!(slow.next(), probe(R5));
    slow.answer(&discovered(r#"["2026-07-28"]"#));
    assert_eq!(slow.next(), ready(R5));
    assert_eq!(slow.requests(), 3);

    // The response to the first probe may also arrive before that.
    let mut crossed = client(config());
    crossed.hear_all();
    crossed.wait(probe_timeout());
    crossed.hear_all();
    crossed
        .say(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, discovered(r#"["2026-07-28"]"#)));
    crossed.say(error("2", -32601, ""));
    assert_eq!(crossed.next(), probe(R5));
    crossed.answer(&discovered(r#"["2026-07-28"]"#));
    assert_eq!(crossed.next(), ready(R5));
}

#[test]
fn a_server_that_refuses_probe_and_initialize_is_not_probed_again_lif_31() {
    let mut client = client(config());
    client.hear_all();
    client.refuse(-32601, "");
    assert_eq!(client.next(), initialize(R4));
    client.refuse(-32602, "");
    assert_eq!(client.next(), fault("Refused"));
    assert_eq!(client.requests(), 2);
}

#[test]
fn a_server_expected_to_be_legacy_is_probed_only_if_it_is_not_lif_31() {
    let mut right = client(config().expect_era(Era::Legacy));
    assert_eq!(right.next(), initialize(R4));
    right.answer(&welcome("2025-06-18"));
    assert_eq!(right.next(), ready("2025-06-18"));
    assert_eq!(right.requests(), 1);

    for (code, data) in [
        (-32022, r#"{"supported":["2026-07-28"],"requested":"2025-11-25"}"#),
        (-32601, ""),
        (-32602, ""),
    ] {
        let mut wrong = client(config().expect_era(Era::Legacy));
        wrong.hear_all();
        wrong.refuse(code, data);
        assert_eq!(wrong.next(), probe(R5), "{code}");
        wrong.answer(&discovered(r#"["2026-07-28"]"#));
        assert_eq!(wrong.next(), ready(R5), "{code}");
        assert_eq!(wrong.requests(), 2);
    }

    let mut neither = client(legacy_only().expect_era(Era::Legacy));
    neither.hear_all();
    neither.refuse(-32022, r#"{"supported":["2026-07-28"]}"#);
    assert_eq!(neither.next(), fault("Refused"));
}

#[test]
fn an_answer_of_the_modern_revision_to_initialize_is_refused_t_30_t_31() {
    for version in [R5, "2099-01-01", "1999-01-01"] {
        let mut client = client(config());
        client.hear_all();
        client.refuse(-32601, "");
        client.hear_all();
        client.answer(&welcome(version));
        assert_eq!(client.next(), fault("NoCommonRevision"), "{version}");
    }
}

#[test]
fn a_server_that_exits_on_the_probe_can_be_connected_without_one_t_36() {
    let mut gone = client(config());
    gone.hear_all();
    gone.hang_up();
    assert_eq!(gone.machine.close_reason(), Some(&CloseReason::Peer));
    assert!(matches!(&gone.take_events()[..], [client::Event::Closed(CloseReason::Peer)]));
    let mut again = client(gone.machine.fallback().unwrap());
    assert_eq!(again.next(), initialize(R4));
    again.answer(&welcome(R4));
    assert_eq!(again.next(), ready(R4));
    // The other settings are kept.
    let ours = [Revision::V2025_03_26, Revision::V2026_07_28];
    let mut narrow = client(config().revisions(&ours).capability(mcp_proto::Capability::Roots));
    narrow.hang_up();
    let mut again = client(narrow.machine.fallback().unwrap());
    let first = again.hear();
    assert_eq!(first["params"]["protocolVersion"], "2025-03-26");
    assert_eq!(first["params"]["capabilities"], serde_json::json!({"roots": {}}));
}

#[test]
fn no_fallback_exists_after_any_other_end_t_36() {
    let mut open = client(config());
    assert!(open.machine.fallback().is_none(), "it is not over");
    open.machine.close(open.now);
    assert!(open.machine.fallback().is_none(), "closed here");

    let mut modern = client(modern_only());
    modern.hang_up();
    assert!(modern.machine.fallback().is_none(), "it speaks nothing else");

    for expected in [legacy_only(), config().expect_era(Era::Legacy)] {
        let mut legacy = client(expected);
        legacy.hang_up();
        assert!(legacy.machine.fallback().is_none(), "there was no probe");
    }

    let mut answered = client(config());
    answered.refuse(-32601, "");
    answered.hang_up();
    assert!(answered.machine.fallback().is_none(), "the probe was answered");

    let mut in_use = client(config());
    in_use.answer(&discovered(r#"["2026-07-28"]"#));
    in_use.hang_up();
    assert!(in_use.machine.fallback().is_none(), "it was connected");

    let mut refused = client(config());
    refused.refuse(-32020, "");
    assert!(refused.machine.fallback().is_none(), "it is a fault");
}
