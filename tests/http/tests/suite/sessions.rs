//! Sessions: access, limits, and how they end.

use std::time::{Duration, Instant};

use mcp_adapter::proto::Limits;
use mcp_blocking::http::{Http, HttpLimits};
use mcp_http_tests::{
    Request, Runtime, Served, Session, eventually, get, modern, post, rows, server,
};
use serde_json::json;

rows! {
    session_ids_are_unguessable,
    an_ended_session_is_forgotten,
    a_session_above_the_limit_is_refused_while_all_others_are_busy,
    a_session_above_the_limit_replaces_the_one_that_was_idle_for_longest,
    a_message_that_waits_for_room_ends_with_its_session,
    a_stream_above_the_limit_is_refused_until_another_ends,
    idle_sessions_are_evicted_and_busy_ones_are_not,
    nothing_of_one_session_is_replayed_in_another,
}

// HTTP-30
fn session_ids_are_unguessable<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    assert!(session.id.len() >= 32 && session.id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
    let mut near = session.id.clone().into_bytes();
    let last = near.last_mut().unwrap();
    *last = if *last == b'0' { b'1' } else { b'0' };
    let near = String::from_utf8(near).unwrap();
    let upper = session.id.to_ascii_uppercase();
    let long = "a".repeat(5000);
    for id in ["0", &near, &long, &session.id[1..], "../x", "%00", "a b"] {
        let guessed = Session { address: served.address, id: id.into() };
        assert_eq!(guessed.ping(), 404, "{id}");
        assert_eq!(guessed.delete(), 404, "{id}");
        assert_eq!(guessed.listen(None).status, 404, "{id}");
    }
    if upper != session.id {
        assert_eq!(Session { address: served.address, id: upper }.ping(), 404);
    }
    let ping = post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(ping.send(served.address).status, 400, "a session id is needed");
    assert_eq!(get("").send(served.address).status, 400);
    assert_eq!(Request::new("DELETE").send(served.address).status, 400);
    assert_eq!(session.ping(), 200);
    let others: Vec<String> = (0..20).map(|_| Session::open(served.address).id).collect();
    assert!(others.iter().all(|id| *id != session.id));
}

// HTTP-33
fn an_ended_session_is_forgotten<R: Runtime>() {
    let served = Served::echo::<R>();
    let session = Session::open(served.address);
    let mut listening = session.listen(None);
    assert_eq!(session.delete(), 204);
    assert_eq!((session.ping(), session.delete(), session.listen(None).status), (404, 404, 404));
    assert_eq!(listening.message(), None, "its streams end");
}

fn a_session_above_the_limit_is_refused_while_all_others_are_busy<R: Runtime>() {
    let served = Served::on::<R>(
        server(),
        Http::new().limits(HttpLimits { sessions_max: 2, ..HttpLimits::default() }),
    );
    let (first, second) = (Session::open(served.address), Session::open(served.address));
    let _listening = [first.listen(None), second.listen(None)];
    for _ in 0..3 {
        let mut refused = mcp_http_tests::initialize().send(served.address);
        assert_eq!(refused.status, 503);
        assert!(refused.field("retry-after").is_some());
        assert!(refused.json()["error"]["message"].as_str().unwrap().contains("too many sessions"));
    }
    assert_eq!((first.ping(), first.delete(), second.ping()), (200, 204, 200));
    assert_eq!(Session::open(served.address).ping(), 200);
}

fn a_session_above_the_limit_replaces_the_one_that_was_idle_for_longest<R: Runtime>() {
    let options = Http::new().limits(HttpLimits { sessions_max: 2, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let (first, second) = (Session::open(served.address), Session::open(served.address));
    assert_eq!(first.ping(), 200);
    let third = Session::open(served.address);
    assert_eq!([&first, &second, &third].map(Session::ping), [200, 404, 200]);
    assert_eq!((stats.sessions(), stats.sessions_evicted()), (2, 1));
}

/// The session accepts no input at all, so each message waits for room.
fn a_message_that_waits_for_room_ends_with_its_session<R: Runtime>() {
    let limits = Limits { events_max: 0, ..Limits::default() };
    let served = Served::on::<R>(server().limits(limits), Http::new());
    let opened = mcp_http_tests::initialize().send(served.address);
    let id = opened.field("mcp-session-id").expect("an id").to_owned();
    let session = Session { address: served.address, id };
    let ping = session.within(post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})));
    let waiting = ping.start(served.address);
    assert_eq!(session.delete(), 204);
    let began = Instant::now();
    assert_eq!(waiting.reply().status, 404);
    assert!(began.elapsed() < Duration::from_secs(5), "it waited for the whole patience");
}

fn a_stream_above_the_limit_is_refused_until_another_ends<R: Runtime>() {
    let served = Served::on::<R>(
        server(),
        Http::new().limits(HttpLimits { listeners_max: 1, ..HttpLimits::default() }),
    );
    let listen =
        modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let listening = listen.send(served.address);
    assert_eq!((listening.status, listen.send(served.address).status), (200, 503));
    drop(listening);
    eventually("there is room", || (listen.send(served.address).status == 200).then_some(()));
}

fn idle_sessions_are_evicted_and_busy_ones_are_not<R: Runtime>() {
    let idle_max = Duration::from_secs(1);
    let served = Served::on::<R>(
        server(),
        Http::new().limits(HttpLimits { sessions_max: 1, idle_max, ..HttpLimits::default() }),
    );
    let idle = Session::open(served.address);
    // Subscribers that are slow after that start again.
    let (busy, listening) = eventually("the idle one ends", || {
        let session = Session::try_open(served.address).ok()?;
        let listening = session.listen(None);
        (listening.status == 200).then_some((session, listening))
    });
    assert_eq!(idle.ping(), 404);
    let until = Instant::now() + 3 * idle_max;
    while Instant::now() < until {
        assert_eq!(Session::try_open(served.address).unwrap_err(), 503, "a stream is open");
    }
    drop(listening);
    let next = eventually("the other one ends", || Session::try_open(served.address).ok());
    assert_eq!(busy.ping(), 404);
    drop(next);
}

fn nothing_of_one_session_is_replayed_in_another<R: Runtime>() {
    let served = Served::echo::<R>();
    let (one, two) = (Session::open(served.address), Session::open(served.address));
    let mut listening = one.listen(None);
    let last = listening.event().unwrap().id.unwrap();
    let mut refused = two.listen(Some(&last));
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json()["id"], json!(null));
    for made_up in ["x", "0-0", "0-0-0", "-1", "99999999999999999999-1"] {
        assert_eq!(two.listen(Some(made_up)).status, 400, "{made_up}");
    }
    assert_eq!(two.listen(None).status, 200);
    drop(listening);
    assert_eq!(one.listen(Some(&last)).status, 200);
}
