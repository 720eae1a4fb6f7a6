//! What a client makes of the answer to `initialize`.

use alloc::string::String;

use crate::client::{Client, Config, Event};
use crate::connection::{Close, Fault, Session as _, StreamId};
use crate::{CallOptions, Era, Instant};

const WELCOME: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2026-07-28","capabilities":{"tools":{}},
    "serverInfo":{"name":"s","version":"1"}}}"#;

fn answered(config: Config) -> (Client, Option<Event>) {
    let mut client = Client::new(Instant::ZERO, config.expect(Era::Legacy));
    client.poll_outgoing().unwrap();
    client.handle_message(Instant::ZERO, StreamId::ONLY, WELCOME.as_bytes());
    let event = client.poll_event();
    (client, event)
}

#[test]
fn a_welcome_of_the_modern_revision_is_taken_only_where_that_was_asked_for_t_31() {
    let (_, event) = answered(Config::new("c", "1"));
    assert!(matches!(event, Some(Event::Closed(Close::Fault(Fault::NoCommonRevision(_))))), "{event:?}");

    let (mut client, event) = answered(Config::new("c", "1").take_modern_welcome());
    assert!(matches!(event, Some(Event::Ready(_))), "{event:?}");
    client.call_raw(Instant::ZERO, "tools/list", None, CallOptions::default()).unwrap();
    let lines: [String; 2] =
        core::array::from_fn(|_| String::from_utf8(client.poll_outgoing().unwrap().body.to_vec()).unwrap());
    assert!(lines[0].contains("notifications/initialized"));
    assert!(lines[1].contains(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#), "{}", lines[1]);
}
