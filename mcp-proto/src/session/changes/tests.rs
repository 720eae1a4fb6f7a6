//! Who listens, and until when, however the connection ends.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::server::{Config, Event, Server};
use crate::session::ViolationPolicy;
use crate::stdio::Stdio;
use crate::{Capability, Endpoint, Instant};

/// What the server heard of a client that subscribed to `file:///a`, and then ended as `end` has it.
fn heard(end: impl FnOnce(&mut Stdio<Server>)) -> Vec<String> {
    let config = Config::new("s", "1").capability(Capability::ResourcesSubscribe);
    let config = config.on_violation(ViolationPolicy::Close);
    let mut server = Stdio::new(Server::new(Instant::ZERO, config));
    let lines = concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
        r#""capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#,
        "\n",
    );
    server.handle_input(Instant::ZERO, lines.as_bytes());
    end(&mut server);
    let mut heard = Vec::new();
    while let Some(event) = server.poll_event() {
        match event {
            Event::Closed(_) => heard.push("closed".to_string()),
            Event::Unwatched { uri } => heard.push(alloc::format!("unwatched {uri}")),
            Event::Watched { uri } => heard.push(alloc::format!("watched {uri}")),
            _ => {}
        }
    }
    heard
}

#[test]
fn nobody_listens_any_more_once_the_connection_is_over() {
    let whole = ["watched file:///a", "unwatched file:///a", "closed"];
    assert_eq!(heard(|server| server.close(Instant::ZERO)), whole);
    assert_eq!(heard(|server| server.handle_eof(Instant::ZERO)), whole);
    assert_eq!(heard(|server| server.handle_input(Instant::ZERO, b"no message\n")), whole);
}
