//! Log messages.
// LOG-01…04

use mcp_harness::{ServerSolo, initialize};
use mcp_proto::schema::Level;
use mcp_proto::{Capability, Limits, Misuse, Revision, server};

fn server(revision: Revision) -> ServerSolo {
    let config =
        server::Config::new("s", "1").capability(Capability::Logging).capability(Capability::Tools);
    ServerSolo::ready(config, revision, "{}")
}

fn set_level(solo: &mut ServerSolo, level: &str) {
    solo.say(format!(
        r#"{{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{{"level":{level}}}}}"#
    ));
}

#[test]
fn a_server_that_did_not_declare_logging_does_not_log_log_01() {
    for revision in Revision::LEGACY {
        let mut solo = ServerSolo::ready(server::Config::new("s", "1"), revision, "{}");
        assert_eq!(solo.log(Level::Emergency, "1"), Err(Misuse::Undeclared));
        assert_eq!(
            solo.notify("notifications/message", r#"{"level":"info","data":1}"#),
            Err(Misuse::Undeclared)
        );
        solo.expect_lines(&[]);
        set_level(&mut solo, "\"info\"");
        solo.expect_error("\"l\"", -32601);
    }
}

#[test]
fn messages_of_the_level_asked_for_and_above_are_sent_log_02() {
    for revision in Revision::LEGACY {
        for least in Level::ALL {
            let mut solo = server(revision);
            set_level(&mut solo, &format!("\"{least}\""));
            solo.expect_lines(&[r#"{"jsonrpc":"2.0","id":"l","result":{}}"#]);
            solo.expect_events(&[]);
            for level in Level::ALL {
                solo.log(level, "1").unwrap();
            }
            let sent = solo.take_lines();
            assert_eq!(sent.len(), Level::ALL.into_iter().filter(|level| *level >= least).count());
        }
    }
}

#[test]
fn a_log_message_sent_by_name_obeys_the_level_log_02() {
    for revision in Revision::LEGACY {
        let mut solo = server(revision);
        let sent = |solo: &mut ServerSolo, level: &str| {
            let params = format!(r#"{{"level":"{level}","data":1}}"#);
            solo.notify("notifications/message", &params).unwrap();
            solo.take_lines().len()
        };
        assert_eq!(sent(&mut solo, "debug"), 1, "no level was set");
        set_level(&mut solo, "\"warning\"");
        solo.take_lines();
        let counts = ["debug", "notice", "warning", "alert"].map(|level| sent(&mut solo, level));
        assert_eq!(counts, [0, 0, 1, 1]);
        assert_eq!(sent(&mut solo, "unheard-of"), 1, "no known level");
    }
}

#[test]
fn the_level_may_change_and_the_application_may_look_log_02() {
    let mut solo = server(Revision::V2025_06_18);
    assert_eq!(solo.machine.inner().log_level(), None);
    set_level(&mut solo, "\"error\"");
    assert_eq!(solo.machine.inner().log_level(), Some(Level::Error));
    set_level(&mut solo, "\"debug\"");
    solo.take_lines();
    solo.log(Level::Debug, "1").unwrap();
    assert_eq!(solo.take_lines().len(), 1);
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    solo.expect_events(&["request#1 tools/list level=debug"]);
}

#[test]
fn without_a_level_everything_is_sent_log_03() {
    let mut solo = server(Revision::V2024_11_05);
    Level::ALL.into_iter().for_each(|level| solo.log(level, "1").unwrap());
    assert_eq!(solo.take_lines().len(), 8);
}

#[test]
fn unknown_levels_are_refused_and_change_nothing_log_04() {
    let mut solo = server(Revision::V2025_06_18);
    set_level(&mut solo, "\"error\"");
    solo.take_lines();
    for level in ["\"warn\"", "\"Error\"", "\"\"", "7", "null", "[\"info\"]"] {
        set_level(&mut solo, level);
        solo.expect_error("\"l\"", -32602);
    }
    solo.say(r#"{"jsonrpc":"2.0","id":"l","method":"logging/setLevel"}"#);
    solo.expect_error("\"l\"", -32602);
    solo.expect_events(&[]);
    assert_eq!(solo.machine.inner().log_level(), Some(Level::Error));
}

#[test]
fn a_message_has_level_logger_and_any_data() {
    let mut solo = server(Revision::V2025_06_18);
    let data = mcp_proto::Raw::from_text("[null,\n\"x\"]").unwrap();
    let now = solo.now;
    mcp_harness::Role::log(&mut solo.machine, now, None, Level::Warning, Some("db\n"), &data)
        .unwrap();
    solo.poll();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"db\n","data":[null,"x"]}}"#]);
}

#[test]
fn logging_is_allowed_between_welcome_and_initialized_d_24() {
    let config =
        server::Config::new("s", "1").capability(Capability::Logging).revisions(&Revision::LEGACY);
    let mut solo = ServerSolo::server(config);
    assert_eq!(solo.log(Level::Info, "1"), Err(Misuse::NotReady));
    solo.say(initialize("1", "2025-11-25", "{}"));
    solo.expect_result("1");
    solo.log(Level::Info, "1").unwrap();
    set_level(&mut solo, "\"error\"");
    solo.log(Level::Info, "1").unwrap();
    assert_eq!(solo.take_lines().len(), 2, "one message and one answer");
}

#[test]
fn a_client_that_does_not_read_blocks_logging() {
    let limits = Limits { outbox_bytes_max: 200, ..Limits::default() };
    let config = server::Config::new("s", "1").capability(Capability::Logging).limits(limits);
    let mut solo = ServerSolo::ready(config, Revision::V2025_06_18, "{}");
    solo.is_deaf = true;
    let is_full = (0..100).any(|_| solo.log(Level::Info, "\"xxxxxxxxxxxxxxxxxxxxxxxxx\"").is_err());
    assert!(is_full, "the outbox is unbounded");
    assert_eq!(solo.log(Level::Info, "1"), Err(Misuse::Blocked));
    solo.is_deaf = false;
    solo.poll();
    solo.log(Level::Info, "1").unwrap();
}

#[test]
fn an_ending_server_logs_nothing_unless_requested_log_05_log_06() {
    use mcp_proto::{Instant, MessageEndpoint, Raw, StreamId};

    for (revisions, asked) in
        [(&[Revision::V2026_07_28][..], true), (&Revision::ALL, true), (&Revision::LEGACY, false)]
    {
        let config = server::Config::new("s", "1").revisions(revisions);
        let config = config.capability(Capability::Logging).capability(Capability::Tools);
        let mut server = server::Server::new(Instant::ZERO, config);
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t",{meta}}}}}"#
        );
        server.handle_message(Instant::ZERO, StreamId::ONLY, call.as_bytes());
        while server.poll_outgoing().is_some() {}
        server.close(Instant::ZERO);
        assert_eq!(!server.is_closed(), asked, "a request is open");
        let _refused =
            server.log(Instant::ZERO, None, Level::Error, None, &Raw::new(&"bye").unwrap());
        let text = Raw::from_text(r#"{"level":"error","data":"bye"}"#).unwrap();
        assert!(server.notify_raw(Instant::ZERO, "notifications/message", Some(&text)).is_err());
        assert!(!server.has_outgoing(), "{revisions:?}");
    }
}

#[test]
fn a_modern_client_gets_no_unrelated_logs_even_while_the_server_ends_log_06() {
    let config =
        server::Config::new("s", "1").capability(Capability::Logging).capability(Capability::Tools);
    let mut solo = ServerSolo::server(config);
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#);
    solo.say_eof();
    solo.log(Level::Error, "1").unwrap();
    solo.expect_lines(&[]);
    solo.respond(1, r#"{"tools":[]}"#).unwrap();
    assert_eq!(solo.take_lines().len(), 1);
}
