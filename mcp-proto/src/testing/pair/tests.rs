//! The pair in memory: what its failures say, how it ends, and lines of others'.

use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use super::*;
use crate::session::{CallError, CallId, CallOptions};
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

fn failure(test: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(test)).unwrap_err();
    payload.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn a_failure_prints_the_seed_and_the_transcript() {
    let failure = failure(|| {
        let mut pair = pair();
        pair.shuffle(77);
        pair.drive();
        let call = call(&mut pair);
        let _never = pair.outcome(call);
    });
    for part in ["call#2 did not end seed 77", "client → {\"jsonrpc\"", "tools/list", "server ! Request"] {
        assert!(failure.contains(part), "{part} in {failure}");
    }
}

#[test]
fn finish_finds_what_was_not_answered() {
    let failure = failure(|| {
        let mut pair = pair();
        pair.drive();
        call(&mut pair);
        pair.finish();
    });
    assert!(failure.contains("tools/list, number 2 of the client, was not answered"), "{failure}");
}

#[test]
fn finish_brings_both_to_their_end() {
    let mut pair = pair();
    pair.serve(refuse);
    pair.drive();
    let call = call(&mut pair);
    pair.outcome(call).unwrap_err();
    pair.finish();
    assert!(matches!(pair.client_events.pop_back(), Some(client::Event::Closed(_))));
    assert_eq!(pair.server_events.len(), 0);
}

#[test]
fn a_stray_line_comes_between_two_lines_and_is_survived() {
    let mut pair = pair();
    pair.serve(refuse);
    pair.shuffle(3);
    pair.insert(Side::Client, b"hello?");
    pair.drive();
    let call = call(&mut pair);
    assert!(matches!(pair.outcome(call), Err(CallError::Refused(_))), "{pair}");
    assert!(pair.to_string().contains("somebody → hello?"));
}

#[test]
fn a_link_breaks_where_it_is_told_to() {
    for bytes_max in [0, 1, 50, 200] {
        let mut pair = pair();
        pair.serve(refuse);
        pair.to_client.bytes_max = Some(bytes_max);
        pair.drive_until_quiet();
        let Some(client::Event::Closed(_)) = pair.client_events.pop_back() else { panic!("{pair}") };
    }
}
