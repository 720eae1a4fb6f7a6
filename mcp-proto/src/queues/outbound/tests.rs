//! Tests of the outbound queue: routes, shares and truncation.

use core::convert::Infallible;
use core::time::Duration;

use super::*;
use crate::method::MethodId;
use crate::vocabulary::StreamId;

const REVISION: Revision = Revision::V2026_07_28;
const NOW: Instant = Instant::ZERO;

fn limits(outbox_bytes_max: usize) -> Limits {
    Limits { outbox_bytes_max, ..Limits::default() }
}

/// Appends a message of `length` bytes.
fn put(outbound: &mut Outbound, route: Route, length: usize) {
    let draft = Draft::new(route, OutgoingKind::Notification(MethodId::Progress.into()));
    let written: Result<(), Infallible> =
        outbound.append(draft, REVISION, NOW, &Limits::default(), |out| {
            out.resize(out.len() + length, b'x');
            Ok(None)
        });
    let Ok(()) = written;
}

fn streams() -> Outbound {
    let mut outbound = Outbound::new(&Limits::default());
    outbound.use_streams();
    outbound
}

#[test]
fn messages_are_polled_in_order_with_route_and_body() {
    let mut outbound = Outbound::new(&Limits::default());
    put(&mut outbound, Route::Any, 3);
    put(&mut outbound, Route::Stream(StreamId(7)), 5);
    for (route, bytes) in [(Route::Any, 3), (Route::Stream(StreamId(7)), 5)] {
        let outgoing = outbound.poll().unwrap();
        assert_eq!((outgoing.route, outgoing.body.len(), outgoing.last), (route, bytes, false));
    }
    assert!(outbound.poll().is_none() && outbound.is_empty());
}

#[test]
fn queued_and_new_messages_become_lines() {
    let mut outbound = Outbound::new(&Limits::default());
    put(&mut outbound, Route::Any, 2);
    put(&mut outbound, Route::Any, 1);
    outbound.use_lines();
    put(&mut outbound, Route::Any, 3);
    assert_eq!(bytes::Buf::chunk(outbound.lines()), b"xx\nx\nxxx\n");
    assert!(outbound.poll().is_none());
}

#[test]
fn truncation_restores_the_share_of_the_stream() {
    let (mut outbound, route) = (streams(), Route::Stream(StreamId(1)));
    put(&mut outbound, route, 100);
    let mark = outbound.mark();
    put(&mut outbound, route, 100);
    put(&mut outbound, route, 100);
    outbound.truncate(mark);
    assert!(outbound.has_room(route, &limits(100 * STREAM_SHARE)));
    assert!(!outbound.has_room(route, &limits(100 * STREAM_SHARE - 1)));
    assert_eq!(outbound.poll().unwrap().body.len(), 100);
    assert!(outbound.poll().is_none());
}

#[test]
fn held_bytes_count_as_unsent_until_released_sec_19() {
    let (one, other) = (Route::Stream(StreamId(1)), Route::Stream(StreamId(2)));
    let mut outbound = streams();
    put(&mut outbound, one, 30);
    put(&mut outbound, one, 50);
    assert_eq!(outbound.poll().unwrap().body.len(), 30);
    outbound.hold(one, 30);
    for (released, unsent) in [(0, 80), (10, 70), (20, 50), (1000, 50)] {
        outbound.release(one, released);
        assert_eq!(outbound.unsent(), unsent);
        assert!(outbound.has_room(one, &limits(unsent * STREAM_SHARE)), "{unsent}");
        assert!(!outbound.has_room(one, &limits(unsent * STREAM_SHARE - 1)), "{unsent}");
        assert!(outbound.has_room(other, &limits(unsent)), "{unsent}");
        assert!(!outbound.has_room(other, &limits(unsent - 1)), "{unsent}");
    }
}

#[test]
fn with_one_stream_all_routes_share_the_whole_queue() {
    let mut outbound = Outbound::new(&Limits::default());
    put(&mut outbound, Route::Stream(StreamId(1)), 80);
    assert!(outbound.has_room(Route::Stream(StreamId(1)), &limits(80)));
    assert!(!outbound.has_room(Route::Any, &limits(79)));
}

#[test]
fn stream_ends_are_reported_only_with_several_streams() {
    let mut one = Outbound::new(&Limits::default());
    one.end_stream(Route::Stream(StreamId(1)), true, REVISION);
    assert!(one.poll().is_none());
    let mut several = streams();
    several.end_stream(Route::Stream(StreamId(1)), true, REVISION);
    let end = several.poll().unwrap();
    assert_eq!((end.kind, end.last, end.body.len()), (OutgoingKind::EndOfStream, true, 0));
}

#[test]
fn a_peer_has_stalled_only_if_it_read_nothing() {
    for (taken, has_stalled) in [(0, true), (1, false)] {
        let limits = Limits { replies_bytes_max: 10, ..Limits::default() };
        let mut outbound = Outbound::new(&Limits::default());
        for _ in 0..20 {
            let draft = Draft::new(Route::Any, OutgoingKind::Responses);
            let Ok(()) = outbound.append(draft, REVISION, NOW, &limits, |out| {
                out.push(b'x');
                Ok::<_, Infallible>(None)
            });
        }
        let due = outbound.next_deadline().unwrap();
        assert_eq!(due, NOW + limits.stall_timeout);
        assert!(!outbound.has_stalled(NOW + limits.stall_timeout / 2, &limits));
        (0..taken).for_each(|_| assert!(outbound.poll().is_some()));
        assert_eq!(outbound.has_stalled(due, &limits), has_stalled);
        let again = Some(due + limits.stall_timeout.max(Duration::from_millis(1)));
        assert_eq!(outbound.next_deadline(), again.filter(|_| !has_stalled));
    }
}

/// A peer that awaits nothing from us may not cause any reply beyond the limit; one that we await a
/// response of, as many as it may have requests open.
#[test]
fn replies_beyond_the_limit_are_counted_until_the_peer_reads_sec_19() {
    let limits = Limits { replies_bytes_max: 10, requests_max: 3, ..Limits::default() };
    let mut outbound = Outbound::new(&Limits::default());
    let reply = |outbound: &mut Outbound, length| {
        outbound.count_reply(&limits);
        put(outbound, Route::Any, length);
    };
    for _round in 0..2 {
        reply(&mut outbound, 10);
        assert!(outbound.may_reply(|| false, &limits), "at the limit");
        reply(&mut outbound, 1);
        for left in [3, 2, 1] {
            assert!(!outbound.may_reply(|| false, &limits), "no response is awaited");
            assert!(outbound.may_reply(|| true, &limits), "{left} replies are left");
            reply(&mut outbound, 1);
        }
        assert!(!outbound.may_reply(|| true, &limits));
        while outbound.poll().is_some() {}
        assert!(outbound.may_reply(|| false, &limits), "the peer has read everything");
    }
}
