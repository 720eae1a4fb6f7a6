//! Notifications of a server with both eras over one pipe: changes, log messages, progress and the
//! end each reach their recipients.
// STL-31, STL-32, LOG-05, LOG-06

use mcp_proto::Change;
use mcp_proto::schema::Level;
use mcp_proto::server::Event;
use serde_json::{Value, json};

use super::interleaved::{
    TOOL, answer, cancel, config, legacy, modern, modern_with, open, raw, request,
};
use super::player::{PlayedServer, server};

// ID-12: a string.
#[test]
fn changes_reach_the_session_untagged_and_subscriptions_tagged_stl_31_stl_32() {
    let mut server = server(config());
    let filter =
        r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#;
    let changed = |server: &mut PlayedServer, change| {
        server.machine.notify_changed(server.now, change).unwrap();
        server.poll();
        let tag = |line: Value| {
            line["params"]["_meta"].get("io.modelcontextprotocol/subscriptionId").cloned()
        };
        server.hear_all().into_iter().map(tag).collect::<Vec<_>>()
    };
    // Before the handshake, no session receives changes.
    server.say(modern(r#""l""#, "subscriptions/listen", filter));
    assert_eq!(server.hear()["method"], "notifications/subscriptions/acknowledged");
    assert!(
        matches!(&server.take_events()[..], [Event::Watched { uri, .. }] if **uri == *"file:///a")
    );
    assert_eq!(changed(&mut server, Change::Tools), [Some(json!("l"))]);
    assert_eq!(changed(&mut server, Change::Resource("file:///a")), [Some(json!("l"))]);

    open(&mut server);
    assert_eq!(changed(&mut server, Change::Tools), [None, Some(json!("l"))]);
    assert_eq!(changed(&mut server, Change::Resource("file:///a")), [Some(json!("l"))]);

    server.say(legacy("1", "resources/subscribe", r#""uri":"file:///a""#));
    assert_eq!(server.hear()["result"], json!({}));
    assert!(server.take_events().is_empty(), "it was watched before");
    assert_eq!(changed(&mut server, Change::Resource("file:///a")), [None, Some(json!("l"))]);

    // One ends and the other does not.
    server.say(cancel(r#""l""#));
    assert!(server.take_events().is_empty(), "it is still watched");
    assert_eq!(changed(&mut server, Change::Resource("file:///a")), [None]);
    assert_eq!(changed(&mut server, Change::Tools), [None]);
    server.say(legacy("2", "resources/unsubscribe", r#""uri":"file:///a""#));
    assert_eq!(server.hear()["result"], json!({}));
    assert!(
        matches!(&server.take_events()[..], [Event::Unwatched { uri, .. }] if **uri == *"file:///a")
    );
    assert_eq!(changed(&mut server, Change::Resource("file:///a")), []);
}

// LOG-07
#[test]
fn log_levels_of_sessions_and_requests_are_separate_log_05_log_06() {
    let mut server = server(config());
    open(&mut server);
    server.say(legacy("1", "logging/setLevel", r#""level":"error""#));
    assert_eq!(server.hear()["result"], json!({}));

    let level = r#""io.modelcontextprotocol/logLevel":"debug""#;
    server.say(modern_with("2", "tools/call", level, TOOL));
    let (verbose, context) = request(&mut server);
    assert_eq!(context.log_level, Some(Level::Debug));
    server.say(modern("3", "tools/call", TOOL));
    let (quiet, context) = request(&mut server);
    assert_eq!(context.log_level, None, "not the session's");
    server.say(legacy("4", "tools/call", TOOL));
    let (in_session, context) = request(&mut server);
    assert_eq!(context.log_level, Some(Level::Error), "not a request's");

    let mut logs = |incoming, level| {
        server.machine.log(server.now, incoming, level, None, &raw("1")).unwrap();
        server.poll();
        server.hear_all().len()
    };
    // For the request with a low level, for the one without, for the session, and for none.
    assert_eq!(
        [Some(verbose), Some(quiet), Some(in_session), None].map(|it| logs(it, Level::Info)),
        [1, 0, 0, 0]
    );
    assert_eq!(
        [Some(verbose), Some(quiet), Some(in_session), None].map(|it| logs(it, Level::Error)),
        [1, 0, 1, 1]
    );
    assert_eq!(server.machine.log_level(), Some(Level::Error), "what the session set");
}

#[test]
fn progress_goes_to_its_request_prg_03() {
    let mut server = server(config());
    open(&mut server);
    server.say(modern_with("1", "tools/call", r#""progressToken":"a""#, TOOL));
    let (alone, _) = request(&mut server);
    server.say(legacy("2", "tools/call", &format!(r#""_meta":{{"progressToken":"b"}},{TOOL}"#)));
    let (in_session, _) = request(&mut server);
    for (incoming, token) in [(in_session, "b"), (alone, "a")] {
        server.machine.progress(server.now, incoming, &mcp_proto::Progress::new(1.0)).unwrap();
        server.poll();
        assert_eq!(server.hear()["params"]["progressToken"], token);
    }
}

// ID-12: a number.
#[test]
fn everything_open_in_either_era_ends_with_the_connection_stl_36_can_15() {
    let mut server = server(config());
    open(&mut server);
    server.say(modern("1", "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#));
    server.hear();
    server.say(modern("2", "tools/call", TOOL));
    let (alone, _) = request(&mut server);
    server.say(legacy("3", "tools/call", TOOL));
    let (in_session, _) = request(&mut server);
    server.machine.close(server.now);
    server.poll();
    let lines = server.hear_all();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_eq!(
        (&lines[0]["id"], &lines[0]["result"]["resultType"]),
        (&json!(1), &json!("complete"))
    );
    assert_eq!(lines[0]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    assert_eq!(lines[1]["method"], "notifications/cancelled");
    assert_eq!(lines[1]["params"]["requestId"], 1);
    assert!(answer(&mut server, alone));
    assert!(!answer(&mut server, in_session));
    assert!(
        server.machine.close_reason().is_some()
            && matches!(server.take_events()[..], [Event::Closed(_)])
    );
}
