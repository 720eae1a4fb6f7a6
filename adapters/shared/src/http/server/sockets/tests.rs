//! Tests of the limits of connections.

use std::net::Ipv4Addr;

use futures_lite::future::{block_on, poll_once};

use super::*;

fn sockets(connections_max: usize, per_address_max: usize) -> Arc<Sockets> {
    Sockets::new(Arc::default(), connections_max, per_address_max)
}

fn admit(sockets: &Arc<Sockets>, host: u8) -> OpenSocket {
    sockets.admit(Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)))).unwrap()
}

fn is_ended(socket: &OpenSocket) -> bool {
    block_on(poll_once(socket.ends(SocketEnd::Graceful))).is_some()
}

#[test]
fn the_longest_idle_connection_makes_room() {
    let sockets = sockets(3, 9);
    let (first, second, third) = (admit(&sockets, 1), admit(&sockets, 2), admit(&sockets, 3));
    first.state.idle_since.store(30, Relaxed);
    second.state.idle_since.store(20, Relaxed);
    third.state.idle_since.store(10, Relaxed);
    let busy = third.begin();
    let fourth = admit(&sockets, 4);
    assert_eq!(fourth.rejection, None);
    assert_eq!([&first, &second, &third, &fourth].map(is_ended), [false, true, false, false]);
    drop(busy);
    let idle_since = |socket: &OpenSocket| socket.state.idle_since.load(Relaxed);
    assert!(idle_since(&third) > idle_since(&fourth), "idle from now on");
}

#[test]
fn a_head_begins_with_bytes_on_an_idle_connection() {
    let sockets = sockets(2, 9);
    let socket = admit(&sockets, 1);
    let meter = socket.meter();
    assert_eq!(socket.activity(), Activity::Opening);
    meter.received();
    assert_eq!(socket.activity(), Activity::Opening);
    let request = socket.begin();
    meter.received();
    assert_eq!(socket.activity(), Activity::Busy);
    drop(request);
    let idle = socket.activity();
    assert!(matches!(idle, Activity::Idle(_)), "{idle:?}");
    assert_eq!(socket.activity(), idle);
    meter.received();
    assert_eq!(socket.activity(), Activity::Head);
    drop(socket.begin());
    meter.set_writing(true);
    assert_eq!(socket.activity(), Activity::Busy, "the client has not read the response");
    meter.set_writing(false);
    let next = socket.activity();
    assert!(matches!(next, Activity::Idle(_)) && next != idle, "{next:?} after {idle:?}");
}

#[test]
fn the_rest_of_a_refused_body_is_no_head() {
    let sockets = sockets(2, 9);
    let socket = admit(&sockets, 1);
    let meter = socket.meter();
    let request = socket.begin();
    meter.left_body(true);
    assert!(!meter.has_long_rest());
    drop(request);
    let idle = socket.activity();
    assert!(matches!(idle, Activity::Idle(_)), "{idle:?}");
    meter.received();
    assert_eq!(socket.activity(), idle);
    drop(socket.begin());
    meter.received();
    assert_eq!(socket.activity(), Activity::Head);
}

#[test]
fn a_connection_is_refused_if_all_others_are_busy() {
    let sockets = sockets(2, 9);
    let open = [admit(&sockets, 1), admit(&sockets, 2)];
    let _busy = open.each_ref().map(OpenSocket::begin);
    let refused = admit(&sockets, 3);
    assert_eq!(refused.rejection, Some(Rejection::Service));
    assert!(!open.iter().any(is_ended));
    drop(open);
    assert_eq!(admit(&sockets, 3).rejection, None);
}

#[test]
fn an_address_at_its_limit_makes_room_among_its_own() {
    let sockets = sockets(9, 2);
    let other = admit(&sockets, 2);
    let open = [admit(&sockets, 1), admit(&sockets, 1)];
    let third = admit(&sockets, 1);
    assert_eq!((third.rejection, open.each_ref().map(is_ended)), (None, [true, false]));
    let _busy = [open[1].begin(), third.begin()];
    assert_eq!(admit(&sockets, 1).rejection, Some(Rejection::Address));
    assert!(!is_ended(&open[1]) && !is_ended(&third) && !is_ended(&other));
    drop(open);
    assert_eq!(admit(&sockets, 1).rejection, None);
}

#[test]
fn connections_without_an_address_count_only_in_the_whole() {
    let sockets = sockets(2, 1);
    let open = [sockets.admit(None).unwrap(), sockets.admit(None).unwrap()];
    let _busy: Vec<_> = open.iter().map(OpenSocket::begin).collect();
    assert!(open.iter().all(|open| open.rejection.is_none()));
    assert_eq!(sockets.admit(None).unwrap().rejection, Some(Rejection::Service));
}

#[cfg(feature = "tls")]
#[test]
fn each_stream_beyond_the_first_counts_like_a_connection() {
    let sockets = sockets(4, 3);
    let open = admit(&sockets, 1);
    let first = open.begin_stream(9).unwrap();
    let second = open.begin_stream(9).unwrap();
    let other = admit(&sockets, 1);
    let busy = other.begin_stream(9).unwrap();
    assert_eq!(open.begin_stream(9).unwrap_err(), Rejection::Address);
    assert_eq!(admit(&sockets, 1).rejection, Some(Rejection::Address));
    let elsewhere = admit(&sockets, 2);
    let busy = [elsewhere.begin_stream(9).unwrap(), busy];
    assert_eq!(elsewhere.begin_stream(9).unwrap_err(), Rejection::Service);
    drop((second, busy));
    let more = [elsewhere.begin_stream(1).unwrap(), elsewhere.begin_stream(1).unwrap()];
    assert_eq!(elsewhere.begin_stream(1).unwrap_err(), Rejection::Address, "two at a time");
    drop((first, more, open, other, elsewhere));
    assert_eq!(sockets.streams.load(Relaxed), 0);
}

#[cfg(feature = "tls")]
#[test]
fn a_stream_with_separate_limits_releases_its_place() {
    let sockets = sockets(4, 2);
    let open = admit(&sockets, 1);
    let mut streams: Vec<_> = Vec::new();
    for _ in 0..8 {
        let mut stream = open.begin_stream(9).unwrap();
        stream.release_place();
        stream.release_place();
        streams.push(stream);
    }
    assert_eq!(sockets.streams.load(Relaxed), 0);
    let other = admit(&sockets, 1);
    assert!(other.rejection.is_none() && !is_ended(&open), "it is busy");
    drop(streams);
    assert_eq!(sockets.streams.load(Relaxed), 0);
}

#[test]
fn the_number_of_refusals_in_progress_is_bounded() {
    let sockets = sockets(9, 0);
    let refused: Vec<_> = (0..REFUSED_MAX).map(|_| admit(&sockets, 1)).collect();
    assert!(sockets.admit(Some(IpAddr::V4(Ipv4Addr::LOCALHOST))).is_none());
    drop(refused);
    assert!(sockets.admit(Some(IpAddr::V4(Ipv4Addr::LOCALHOST))).is_some());
}

#[test]
fn ending_all_includes_connections_that_are_being_refused() {
    let sockets = sockets(9, 0);
    let refused = admit(&sockets, 1);
    assert_eq!(refused.rejection, Some(Rejection::Address));
    assert!(!is_ended(&refused));
    sockets.end_all(SocketEnd::Graceful);
    assert!(is_ended(&refused));
}

#[test]
fn aborting_ends_all_and_waiting_ends_with_the_last() {
    let sockets = sockets(9, 9);
    let open = admit(&sockets, 1);
    assert!(block_on(poll_once(sockets.all_closed())).is_none());
    assert!(block_on(poll_once(open.ends(SocketEnd::Abort))).is_none());
    sockets.end_all(SocketEnd::Abort);
    assert!(block_on(poll_once(open.ends(SocketEnd::Abort))).is_some());
    drop(open);
    assert!(block_on(poll_once(sockets.all_closed())).is_some());
}
