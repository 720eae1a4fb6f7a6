//! Error codes that the specification reserves, withdrew, or ties to their data.
// JSON-24, JSON-25, SEC-10

use mcp_harness::{ClientSolo, ServerSolo};
use mcp_proto::{CallError, Capability, ErrorObject, Misuse, Raw, Revision, client, code, server};

const R4: Revision = Revision::V2025_11_25;

fn config() -> server::Config {
    server::Config::new("s", "1").capability(Capability::Tools)
}

fn server() -> ServerSolo {
    ServerSolo::ready(config(), R4, "{}")
}

fn client() -> ClientSolo {
    let config = client::Config::new("c", "1").revisions(&Revision::LEGACY);
    ClientSolo::ready(config, R4, r#"{"tools":{}}"#)
}

/// Implementations chose these codes before the range was reserved, each with its own meaning.
#[test]
fn codes_of_the_old_range_have_no_meaning_json_25() {
    for code in (-32019..=-32000).filter(|it| *it != code::RESOURCE_NOT_FOUND) {
        let mut solo = client();
        solo.call("tools/list", "").unwrap();
        solo.call("tools/list", "").unwrap();
        solo.take_lines();
        solo.say(format!(
            r#"{{"jsonrpc":"2.0","id":2,"error":{{"code":{code},"message":"odd","data":[1]}}}}"#
        ));
        let events = solo.take_events();
        let [client::Event::Completed { outcome: Err(CallError::Refused(error)), .. }] =
            &events[..]
        else {
            panic!("{code}: {events:?}")
        };
        assert_eq!((error.code, &*error.message), (code, "odd"));
        assert_eq!(error.data.as_ref().unwrap().as_str(), "[1]");
        solo.expect_silence();
        solo.say(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
        solo.expect_events(&["call#3 ok {}"]);
    }
}

#[test]
fn only_the_specification_defines_reserved_codes_json_24() {
    let modern = |code: i64| {
        let mut solo = ServerSolo::server(config());
        solo.say(MODERN_CALL);
        solo.respond_error(1, &ErrorObject::new(code, "no")).unwrap();
        solo.hear()["error"]["code"].as_i64().unwrap()
    };
    for code in (-32099..=-32020).filter(|code| !(-32022..=-32020).contains(code)) {
        assert_eq!(modern(code), -32603, "{code}");
    }
    for (code, sent) in [
        (-32002, -32602),
        (-32020, -32020),
        (-32021, -32021),
        (-32022, -32022),
        (-32100, -32100),
        (-32602, -32602),
        (7, 7),
    ] {
        assert_eq!(modern(code), sent, "{code}");
    }
    // Earlier revisions leave the range to implementations.
    let mut solo = server();
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    solo.respond_error(1, &ErrorObject::new(-32050, "no")).unwrap();
    solo.expect_error("1", -32050);
}

const MODERN_CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}"#;

#[test]
fn a_required_url_elicitation_is_named_sec_10() {
    let one = r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"e"}"#;
    for (data, is_complete) in [
        (None, false),
        (Some("[]".to_owned()), false),
        (Some("{}".to_owned()), false),
        (Some(r#"{"elicitations":[]}"#.to_owned()), false),
        (
            Some(r#"{"elicitations":[{"mode":"url","message":"m","url":"https://x"}]}"#.into()),
            false,
        ),
        (Some(r#"{"elicitations":[{"message":"m","elicitationId":"e"}]}"#.into()), false),
        (Some(format!(r#"{{"elicitations":[{one},{{}}]}}"#)), false),
        (Some(format!(r#"{{"elicitations":[{one}]}}"#)), true),
        (Some(format!(r#"{{"elicitations":[{one},{one}]}}"#)), true),
    ] {
        let mut solo = server();
        solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let mut error = ErrorObject::new(code::URL_ELICITATION_REQUIRED, "visit");
        error.data = data.as_deref().map(|data| Raw::from_text(data).unwrap());
        let sent = solo.respond_error(1, &error);
        assert_eq!(sent, if is_complete { Ok(()) } else { Err(Misuse::Unencodable) }, "{data:?}");
        if is_complete {
            solo.expect_error("1", -32042);
        } else {
            solo.expect_lines(&[]);
            solo.respond(1, "{}").unwrap();
        }
    }
}
