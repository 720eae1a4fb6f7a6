//! Tests of a server's subscriptions over a whole connection.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::server::{Config, Event, Server};
use crate::stdio::Stdio;
use crate::vocabulary::ViolationPolicy;
use crate::{Capability, Endpoint, Instant, Limits};

/// The messages that open a session.
const OPENING: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
);

/// Returns the events of a server whose client subscribes to `file:///a`, after `end`.
fn events_until(end: impl FnOnce(&mut Stdio<Server>)) -> Vec<String> {
    let config = Config::new("s", "1").capability(Capability::ResourcesSubscribe);
    let config = config.on_violation(ViolationPolicy::Close);
    let mut server = Stdio::new(Server::new(Instant::ZERO, config));
    server.handle_input(Instant::ZERO, OPENING.as_bytes());
    let line = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#,
        "\n",
    );
    server.handle_input(Instant::ZERO, line.as_bytes());
    end(&mut server);
    let mut events = Vec::new();
    while let Some(event) = server.poll_event() {
        match event {
            Event::Closed(_) => events.push("closed".to_string()),
            Event::Unwatched { uri, .. } => events.push(alloc::format!("unwatched {uri}")),
            Event::Watched { uri, .. } => events.push(alloc::format!("watched {uri}")),
            _ => {}
        }
    }
    events
}

#[test]
fn resources_are_unwatched_when_the_connection_closes() {
    let whole = ["watched file:///a", "unwatched file:///a", "closed"];
    assert_eq!(events_until(|server| server.close(Instant::ZERO)), whole);
    assert_eq!(events_until(|server| server.handle_eof(Instant::ZERO)), whole);
    assert_eq!(events_until(|server| server.handle_input(Instant::ZERO, b"no message\n")), whole);
}

#[test]
fn subscribed_bytes_are_bounded_and_released_sec_19() {
    let limits = Limits { subscriptions_bytes_max: 60, ..Limits::default() };
    let config = Config::new("s", "1").capability(Capability::ResourcesSubscribe).limits(limits);
    let mut server = Stdio::new(Server::new(Instant::ZERO, config));
    server.handle_input(Instant::ZERO, OPENING.as_bytes());
    let mut is_accepted = |method: &str, name: &str| {
        let uri = alloc::format!("{name}:{}", "x".repeat(58));
        let params = alloc::format!(r#"{{"uri":"{uri}"}}"#);
        let line = alloc::format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/{method}","params":{params}}}"#
        );
        while server.outbox().poll_message().is_some() {}
        server.handle_input(Instant::ZERO, line.as_bytes());
        server.handle_input(Instant::ZERO, b"\n");
        let answer = server.outbox().poll_message().unwrap();
        crate::json::find(&answer, "result").is_some()
    };
    assert!(is_accepted("subscribe", "a"));
    assert!(!is_accepted("subscribe", "b"));
    assert!(is_accepted("unsubscribe", "a"));
    assert!(is_accepted("subscribe", "b"));
    assert!(!is_accepted("subscribe", "a"));
}

#[test]
fn closing_a_stream_ends_its_subscriptions_t_76() {
    use crate::{MessageEndpoint, StreamId};
    let config = Config::new("s", "1").capability(Capability::ResourcesSubscribe);
    let mut server = Server::new(Instant::ZERO, config);
    let (one, two) = (StreamId(1), StreamId(2));
    for (stream, uri) in [(one, "file:///a"), (two, "file:///b")] {
        let line = alloc::format!(
            r#"{{"jsonrpc":"2.0","id":{:?},"method":"subscriptions/listen","params":{{
            "_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{{}}}},
            "notifications":{{"resourceSubscriptions":[{uri:?}]}}}}}}"#,
            uri
        );
        server.handle_message(Instant::ZERO, stream, line.as_bytes());
    }
    while server.poll_event().is_some() {}
    server.handle_stream_closed(Instant::ZERO, two);
    let mut unwatched = Vec::new();
    while let Some(event) = server.poll_event() {
        if let Event::Unwatched { uri, .. } = event {
            unwatched.push(uri.to_string());
        }
    }
    assert_eq!(unwatched, ["file:///b"]);
}
