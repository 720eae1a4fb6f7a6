//! How sessions begin, negotiate a revision, and end.
// LIF-01…19, LIF-35

use mcp_harness::{ClientSolo, Pair, ServerSolo, initialize};
use mcp_proto::{Capability, CloseReason, Fault, Misuse, Revision, client, server};
use serde_json::json;

fn client() -> client::Config {
    client::Config::new("demo", "1.0.0")
        .revisions(&Revision::LEGACY)
        .capability(Capability::RootsListChanged)
}

fn server() -> server::Config {
    server::Config::new("weather", "1.0.0").capability(Capability::Tools)
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[test]
fn the_first_message_of_a_client_is_initialize_with_its_newest_version_lif_01_lif_02_lif_19() {
    for newest in Revision::LEGACY {
        let spoken: Vec<Revision> =
            Revision::ALL.into_iter().filter(|revision| *revision <= newest).collect();
        let mut solo = ClientSolo::client(client().revisions(&spoken));
        let first = solo.hear();
        assert_eq!(first["method"], "initialize");
        assert_eq!(first["params"]["protocolVersion"], newest.name());
        assert_eq!(first["params"]["clientInfo"], json!({"name": "demo", "version": "1.0.0"}));
        assert_eq!(first["params"]["capabilities"], json!({"roots": {"listChanged": true}}));
        solo.expect_silence();
    }
}

#[test]
fn a_server_answers_with_the_version_that_was_offered_if_it_speaks_it_lif_03_lif_07() {
    for revision in Revision::LEGACY {
        let mut solo = ServerSolo::server(server().instructions("Ask for a city."));
        solo.say(initialize("\"hello\"", revision.name(), "{}"));
        let welcome = solo.expect_result("\"hello\"");
        assert_eq!(welcome["protocolVersion"], revision.name());
        assert_eq!(welcome["serverInfo"], json!({"name": "weather", "version": "1.0.0"}));
        assert_eq!(welcome["capabilities"], json!({"tools": {}}));
        assert_eq!(welcome["instructions"], "Ask for a city.");
    }
}

#[test]
fn an_unknown_version_is_answered_with_the_newest_one_and_no_error_lif_04_lif_05() {
    for offered in ["1999-01-01", "2026-07-28", "2099-01-01", "", "2025-11-25 "] {
        let mut solo = ServerSolo::server(server());
        solo.say(initialize("1", offered, "{}"));
        assert_eq!(solo.expect_result("1")["protocolVersion"], "2025-11-25", "{offered}");
    }
    let mut solo =
        ServerSolo::server(server().revisions(&[Revision::V2025_03_26, Revision::V2024_11_05]));
    solo.say(initialize("1", "2025-06-18", "{}"));
    assert_eq!(solo.expect_result("1")["protocolVersion"], "2025-03-26");
}

#[test]
fn any_two_sets_of_revisions_agree_or_part_without_initialized_lif_06_lif_08() {
    let sets = || {
        (1_usize..16).map(|bits| {
            Revision::LEGACY
                .into_iter()
                .enumerate()
                .filter(move |(at, _)| bits >> at & 1 == 1)
                .map(|(_, it)| it)
                .collect::<Vec<_>>()
        })
    };
    for ours in sets() {
        for theirs in sets() {
            let mut pair = Pair::new(client().revisions(&ours), server().revisions(&theirs));
            pair.drive();
            let offered = *ours.last().unwrap();
            let answered =
                if theirs.contains(&offered) { offered } else { *theirs.last().unwrap() };
            if ours.contains(&answered) {
                assert_eq!(pair.client_told(), [format!("ready {answered} weather 1.0.0")]);
                assert_eq!(pair.server_told(), [format!("ready {answered} demo 1.0.0")]);
            } else {
                let Some(client::Event::Closed(CloseReason::Fault(Fault::NoCommonRevision(name)))) =
                    pair.client_events.pop_front()
                else {
                    pair.fail("the client did not close")
                };
                assert_eq!(name, answered.name());
                assert_eq!(pair.server_told(), ["closed Peer"], "no `initialized` came");
            }
        }
    }
}

#[test]
fn an_incomplete_initialize_result_is_refused_lif_07() {
    let whole = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "serverInfo": {"name": "s", "version": "1"},
    });
    for missing in ["protocolVersion", "capabilities", "serverInfo"] {
        for wrong in [None, Some(json!(7)), Some(json!(null)), Some(json!([]))] {
            let mut welcome = whole.clone();
            match wrong {
                None => _ = welcome.as_object_mut().unwrap().remove(missing),
                Some(value) => welcome[missing] = value,
            }
            let mut solo = ClientSolo::client(client());
            solo.take_lines();
            solo.say(json!({"jsonrpc": "2.0", "id": 1, "result": welcome}).to_string());
            solo.expect_events(&["closed BadHandshake"]);
            solo.expect_lines(&[]);
        }
    }
    let mut solo = ClientSolo::client(client());
    let mut welcome = whole;
    welcome["x"] = json!({"later": true});
    welcome["capabilities"] = json!({"x": 1, "tools": {"x": 1}});
    solo.take_lines();
    solo.say(json!({"jsonrpc": "2.0", "id": 1, "result": welcome}).to_string());
    solo.expect_events(&["ready 2025-06-18 s 1"]);
}

#[test]
fn a_client_sends_only_pings_before_the_handshake_lif_09() {
    let mut solo = ClientSolo::client(client());
    solo.take_lines();
    assert_eq!(solo.call("tools/list", ""), Err(Misuse::NotReady));
    assert_eq!(solo.call("x/y", ""), Err(Misuse::NotReady));
    assert_eq!(solo.notify("notifications/roots/list_changed", ""), Err(Misuse::NotReady));
    solo.call("ping", "").unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#]);
}

#[test]
fn a_server_sends_only_pings_and_logs_before_initialized_lif_10() {
    let config = server().capability(Capability::Logging).capability(Capability::ToolsListChanged);
    let mut solo = ServerSolo::server(config.revisions(&Revision::LEGACY));
    let nothing = |solo: &mut ServerSolo| {
        assert_eq!(solo.call("roots/list", ""), Err(Misuse::NotReady));
        assert_eq!(solo.notify("notifications/tools/list_changed", ""), Err(Misuse::NotReady));
        solo.expect_silence();
        solo.call("ping", "").unwrap();
        solo.hear();
    };
    nothing(&mut solo);
    assert_eq!(solo.log(mcp_proto::schema::Level::Info, "1"), Err(Misuse::NotReady));
    solo.say(initialize("1", "2025-06-18", r#"{"roots":{}}"#));
    solo.expect_result("1");
    nothing(&mut solo);
    solo.log(mcp_proto::schema::Level::Info, "1").unwrap();
    assert_eq!(solo.hear()["method"], "notifications/message");
    solo.say(INITIALIZED);
    solo.call("roots/list", "").unwrap();
    solo.notify("notifications/tools/list_changed", "").unwrap();
}

#[test]
fn a_timed_out_or_closed_handshake_is_never_cancelled_lif_13_tmo_06_t_38() {
    let mut solo = ClientSolo::client(client());
    solo.take_lines();
    solo.wait(std::time::Duration::from_secs(30));
    solo.expect_lines(&[]);
    solo.expect_events(&["closed HandshakeTimedOut"]);

    let mut solo = ClientSolo::client(client());
    solo.take_lines();
    solo.close();
    solo.expect_lines(&[]);
    solo.expect_events(&["closed Local"]);
}

#[test]
fn a_refusal_reports_the_supported_versions_lif_14_lif_15() {
    let mut solo = ClientSolo::client(client());
    solo.say(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"supported":["2023-01-01"],"requested":"2025-11-25"}}}"#);
    let events = solo.take_events();
    let [client::Event::Closed(CloseReason::Fault(Fault::Refused(error)))] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(
        error.data.as_ref().unwrap().member("supported").unwrap().as_str(),
        r#"["2023-01-01"]"#
    );
}

#[test]
fn a_server_with_nothing_to_negotiate_says_what_it_supports_lif_15() {
    let mut solo = ServerSolo::server(server().revisions(&[Revision::V2026_07_28]));
    solo.say(initialize("1", "2025-06-18", "{}"));
    let answer = solo.hear();
    assert_eq!(answer["id"], 1);
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    assert!(answer.to_string().contains("2026-07-28"), "it names what it supports: {answer}");
}

#[test]
fn a_second_initialize_is_refused_and_changes_nothing_lif_16() {
    let mut solo = ServerSolo::ready(server(), Revision::V2025_03_26, r#"{"roots":{}}"#);
    solo.say(initialize("5", "2024-11-05", "{}"));
    solo.expect_error("5", -32600);
    solo.expect_silence();
    solo.say(r#"[{"jsonrpc":"2.0","id":6,"method":"ping"}]"#);
    solo.expect_lines(&[r#"[{"jsonrpc":"2.0","id":6,"result":{}}]"#]);
    solo.call("roots/list", "").unwrap();
}

#[test]
fn requests_before_initialize_are_refused_and_initialize_still_works_lif_17_t_15() {
    let mut solo = ServerSolo::server(server().revisions(&Revision::LEGACY));
    for method in ["tools/list", "logging/setLevel", "x/y", "shutdown", "server/discover"] {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#));
        let error = solo.hear();
        assert_eq!(error["id"], 1);
        assert_ne!(error["error"]["code"], -32002, "that means a missing resource");
    }
    solo.say(LIST);
    solo.expect_error("7", -32600);
    solo.expect_silence();
    solo.greet(Revision::V2025_06_18, "{}");
}

#[test]
fn requests_between_welcome_and_initialized_are_served_lif_18_t_28() {
    let mut solo = ServerSolo::server(server());
    solo.say(initialize("1", "2025-06-18", r#"{"roots":{}}"#));
    solo.expect_result("1");
    solo.say(LIST);
    solo.expect_events(&["request#1 tools/list"]);
    solo.respond(1, r#"{"tools":[]}"#).unwrap();
    assert_eq!(solo.call("roots/list", ""), Err(Misuse::NotReady), "but its own requests are held");
}

#[test]
fn pings_are_answered_in_every_phase_by_both_t_26_tmo_10() {
    let mut solo = ServerSolo::server(server());
    solo.expect_alive();
    solo.say(initialize("1", "2025-06-18", "{}"));
    solo.expect_result("1");
    solo.expect_alive();
    solo.say(INITIALIZED);
    solo.take_events();
    solo.say(LIST);
    solo.take_events();
    solo.expect_alive();

    let mut solo = ClientSolo::client(client());
    solo.take_lines();
    solo.expect_alive();
    let mut solo = ClientSolo::ready(client(), Revision::V2024_11_05, "{}");
    solo.expect_alive();
}

#[test]
fn early_notifications_of_a_client_are_ignored_t_27_t_28() {
    let mut solo = ServerSolo::server(server());
    solo.say(INITIALIZED);
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
    solo.say(
        r#"{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
    );
    solo.expect_lines(&[]);
    assert!(solo.take_told().iter().all(|event| event.starts_with("violation")));
    solo.greet(Revision::V2025_06_18, "{}");
    solo.say(INITIALIZED);
    solo.expect_silence();
}

#[test]
fn early_notifications_of_a_server_are_tolerated_t_29() {
    let mut solo = ClientSolo::client(client());
    solo.say(
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"starting"}}"#,
    );
    solo.say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    solo.take_events();
    solo.greet(Revision::V2025_11_25, "{}");
}

#[test]
fn a_version_of_this_client_that_it_did_not_offer_is_fine_t_30() {
    for revision in Revision::LEGACY {
        let solo = ClientSolo::ready(client(), revision, "{}");
        assert_eq!(mcp_harness::Role::peer(&solo.machine).unwrap().revision, revision);
    }
}

#[test]
fn a_modern_version_in_an_initialize_result_is_refused_lif_19_t_31() {
    let mut solo =
        ClientSolo::client(client().revisions(&Revision::ALL).expect_era(mcp_proto::Era::Legacy));
    assert_eq!(solo.hear()["params"]["protocolVersion"], "2025-11-25");
    solo.say(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2026-07-28","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#);
    solo.expect_lines(&[]);
    solo.expect_events(&["closed NoCommonRevision"]);
}

#[test]
fn capabilities_of_a_failed_handshake_do_not_count_t_42() {
    let mut solo = ServerSolo::server(server());
    solo.say(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"roots":{}}}}"#,
    );
    solo.expect_error("1", -32602);
    solo.greet(Revision::V2025_06_18, "{}");
    assert_eq!(solo.call("roots/list", ""), Err(Misuse::Undeclared));
}

#[test]
fn the_agreed_revision_is_obeyed_lif_11() {
    for revision in Revision::LEGACY {
        let mut solo = ServerSolo::ready(server(), revision, "{}");
        solo.say(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#);
        let heard = solo.hear();
        assert_eq!(heard.is_array(), revision == Revision::V2025_03_26, "{revision}: {heard}");
    }
}

#[test]
fn there_is_no_shutdown_message_lif_35_t_14() {
    let mut solo = ServerSolo::ready(server(), Revision::V2025_06_18, "{}");
    for method in
        ["shutdown", "exit", "rpc.discover", "$/cancelRequest", "Tools/List", "tools/list "]
    {
        solo.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#));
        solo.expect_error("1", -32601);
        solo.say(format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#));
        solo.expect_lines(&[]);
    }
    solo.take_events();
    solo.close();
    solo.expect_lines(&[]);
    solo.expect_events(&["closed Local"]);

    let mut solo = ClientSolo::ready(client(), Revision::V2025_06_18, "{}");
    solo.close();
    solo.expect_lines(&[]);
    solo.expect_events(&["closed Local"]);
}

#[test]
fn a_client_with_nothing_to_offer_is_closed_from_the_start_lif_19() {
    let config = client::Config::new("c", "1").revisions(&[]);
    let mut client = client::Client::new(mcp_proto::Instant::ZERO, config);
    let event = mcp_proto::MessageEndpoint::poll_event(&mut client);
    assert!(
        matches!(
            event,
            Some(client::Event::Closed(CloseReason::Fault(Fault::NoRevisionConfigured)))
        ),
        "{event:?}"
    );
}
