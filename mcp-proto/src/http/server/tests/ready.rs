//! Tests of which exchange becomes ready, and when.

use super::*;

/// Returns all exchanges that became ready.
fn ready(fixture: &mut Fixture) -> Vec<ServerExchangeId> {
    core::iter::from_fn(|| fixture.session.poll_ready()).collect()
}

#[test]
fn each_exchange_is_ready_once_until_it_was_drained() {
    let mut fixture = Fixture::new();
    let (first, one) = fixture.call();
    let (second, two) = fixture.call();
    assert_eq!(ready(&mut fixture), []);
    fixture.answer(two);
    assert_eq!(ready(&mut fixture), [second]);
    fixture.answer(one);
    assert_eq!(ready(&mut fixture), [first], "the other was reported");
    for exchange in [first, second] {
        assert_eq!(fixture.session.poll_reply(exchange).unwrap().status, 200);
    }
    assert_eq!(ready(&mut fixture), [], "both are over");
}

#[test]
fn exchanges_that_become_ready_together_come_oldest_first() {
    let mut fixture = Fixture::new();
    let calls: Vec<_> = (0..5).map(|_| fixture.call()).collect();
    calls.iter().rev().for_each(|(_, incoming)| fixture.answer(*incoming));
    let expected: Vec<_> = calls.iter().map(|(exchange, _)| *exchange).collect();
    assert_eq!(ready(&mut fixture), expected);
}

#[test]
fn an_event_stream_is_ready_again_once_it_was_drained() {
    let mut fixture = Fixture::new();
    let listening = fixture.session.handle_get(fixture.now, None).unwrap();
    assert_eq!(ready(&mut fixture), [listening]);
    assert_eq!(fixture.session.poll_reply(listening).unwrap().body, Body::Events);
    while fixture.session.poll_chunk(listening).is_some() {}
    assert_eq!(ready(&mut fixture), []);
    fixture.now += StreamSettings::default().keep_alive;
    fixture.session.handle_timeout(fixture.now);
    assert_eq!(ready(&mut fixture), [listening], "a comment is due");
    assert_eq!(fixture.session.poll_reply(listening), None, "its head was returned before");
    assert_eq!(ready(&mut fixture), [], "its socket may be full");
    fixture.session.close(fixture.now);
    assert_eq!(ready(&mut fixture), [], "it was not drained since");
    while fixture.session.poll_chunk(listening) != Some(BodyChunk::End) {}
    assert_eq!(ready(&mut fixture), []);
}

#[test]
fn an_exchange_whose_client_is_gone_is_not_ready() {
    let mut fixture = Fixture::new();
    let (first, one) = fixture.call();
    let (second, two) = fixture.call();
    fixture.answer(one);
    fixture.answer(two);
    assert_eq!(fixture.session.poll_ready(), Some(first));
    fixture.session.handle_gone(fixture.now, second);
    assert_eq!(ready(&mut fixture), []);
}
