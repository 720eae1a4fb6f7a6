//! The end of a pair, inserted lines, and breaking links. `tests/testing.rs` checks failure
//! messages.

use super::*;
use crate::vocabulary::{CallError, CallId, CallOptions};
use crate::{Capability, ErrorObject};

fn pair() -> Pair {
    let config = server::Config::new("s", "1").capability(Capability::Tools);
    Pair::new(client::Config::new("c", "1"), config)
}

fn call(pair: &mut Pair) -> CallId {
    pair.client.call_raw(pair.now, "tools/list", None, CallOptions::default()).unwrap()
}

fn refuse(server: &mut Stdio<Server>, now: Instant, event: server::Event) {
    if let server::Event::Request { incoming, .. } = event {
        server.respond_error(now, incoming, &ErrorObject::internal("no")).unwrap();
    }
}

#[test]
fn finish_closes_both_sides() {
    let mut pair = pair();
    pair.on_server_event(refuse);
    pair.drive();
    let call = call(&mut pair);
    pair.outcome(call).unwrap_err();
    pair.finish();
    assert!(matches!(pair.client_events.pop_back(), Some(client::Event::Closed(_))));
    assert_eq!(pair.server_events.len(), 0);
}

#[test]
fn an_inserted_line_does_not_disturb_the_connection() {
    let mut pair = pair();
    pair.on_server_event(refuse);
    pair.shuffle(3);
    pair.insert_line(Side::Client, b"hello?");
    pair.drive();
    let call = call(&mut pair);
    assert!(matches!(pair.outcome(call), Err(CallError::Refused(_))), "{pair}");
    assert!(pair.to_string().contains("inserted → hello?"));
}

#[test]
fn a_link_breaks_after_its_configured_number_of_bytes() {
    for bytes_max in [0, 1, 50, 200] {
        let mut pair = pair();
        pair.on_server_event(refuse);
        pair.to_client.bytes_max = Some(bytes_max);
        pair.drive_until_quiet();
        let Some(client::Event::Closed(_)) = pair.client_events.pop_back() else {
            panic!("{pair}")
        };
    }
}
