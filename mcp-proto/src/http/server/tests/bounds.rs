//! Tests of the replay buffer's limit and of memory after requests end.

use super::*;

fn tight(replay_bytes_max: usize) -> Fixture {
    Fixture::in_revision(
        "2025-11-25",
        StreamSettings { replay_bytes_max, ..StreamSettings::default() },
    )
}

/// Checks that the replay budget matches the kept messages and is not exceeded.
pub(super) fn check(it: &Fixture) {
    it.session.streams.check();
}

#[test]
fn the_oldest_events_are_evicted_first_and_cannot_be_resumed_from() {
    let mut it = tight(1000);
    let (call, incoming) = it.call();
    let mut ids = Vec::new();
    for number in 1..=50 {
        it.progress(incoming, number);
        ids.extend(it.read(call).messages.into_iter().filter_map(|(id, _)| id));
        check(&it);
    }
    it.session.handle_gone(it.now, call);
    let resumed = |it: &mut Fixture, id: &String| it.session.handle_get(it.now, Some(id)).is_ok();
    let resumable: Vec<bool> = ids.iter().map(|id| resumed(&mut it, id)).collect();
    assert!(!resumable[0] && resumable[49]);
    assert!(resumable.is_sorted(), "newer events are kept longer: {resumable:?}");
    let oldest = resumable.iter().position(|is_kept| *is_kept).unwrap();
    assert!(oldest < 48, "some events are kept");
    let get = it.get(Some(&ids[oldest]));
    assert_eq!(it.read(get).messages.len(), 49 - oldest);
}

#[test]
fn streams_share_the_replay_budget() {
    let mut it = tight(1000);
    let (one, first) = it.call();
    it.progress(first, 1);
    let last = it.read(one).last_id;
    it.answer(first);
    assert!(it.read(one).is_over);
    let (two, second) = it.call();
    for number in 1..=20 {
        it.progress(second, number);
        it.read(two);
        check(&it);
    }
    assert_eq!(it.session.handle_get(it.now, last.as_deref()), Err(Unresumable));
}

#[test]
fn a_reader_that_falls_behind_eviction_is_cut_off_without_a_gap() {
    let mut it = tight(100_000);
    let (call, incoming) = it.call();
    let long = crate::Raw::new(&"x".repeat(20_000)).unwrap();
    let log = |it: &mut Fixture| {
        it.session.log(it.now, Some(incoming), crate::schema::Level::Error, None, &long).unwrap();
    };
    it.progress(incoming, 1);
    let last = it.read(call).last_id;
    it.session.handle_gone(it.now, call);
    (0..4).for_each(|_| log(&mut it));
    let get = it.get(last.as_deref());
    it.session.poll_reply(get);
    let Some(BodyChunk::Bytes(first)) = it.session.poll_chunk(get) else { panic!("no chunk") };
    let stream = ReadStream::parse(&first);
    assert_eq!(stream.messages.len(), 1);
    // Another stream evicts the messages that the reader has not received.
    let (other, busy) = it.call();
    for _ in 0..2 {
        it.session.log(it.now, Some(busy), crate::schema::Level::Error, None, &long).unwrap();
        it.read(other);
        check(&it);
    }
    let rest = it.read(get);
    assert!(rest.is_over && rest.messages.is_empty(), "no message after the gap is sent");
    assert_eq!(it.session.handle_get(it.now, stream.last_id.as_deref()), Err(Unresumable));
    assert!(it.session.is_busy());
    it.answer(incoming);
    it.answer(busy);
    it.session.poll_reply(get);
    it.read(other);
    check(&it);
}

#[test]
fn a_response_that_is_never_fetched_is_evicted_eventually() {
    let mut it = tight(2000);
    for _ in 0..1000 {
        let (call, incoming) = it.call();
        it.session.handle_gone(it.now, call);
        it.answer(incoming);
        assert!(!it.session.has_output());
        check(&it);
    }
    assert!(it.session.streams.len() < 20, "{}", it.session.streams.len());
}

#[test]
fn cancelled_requests_leave_no_stream() {
    let mut it = Fixture::new();
    for number in 1..=1000 {
        let (call, _) = it.call();
        if number % 2 == 0 {
            it.wait(Duration::from_secs(1));
            it.read(call);
        }
        it.session.handle_gone(it.now, call);
        it.notify("notifications/cancelled", json!({"requestId": number}));
        assert!(!it.session.has_output());
        while it.session.poll_event().is_some() {}
    }
    assert_eq!(it.session.streams.len(), 1);
}

#[test]
fn json_responses_are_not_kept() {
    let mut it = Fixture::new();
    for _ in 0..1000 {
        let ping = it.request("ping", json!({}));
        it.json(ping);
    }
    assert_eq!((it.session.streams.len(), it.session.streams.kept_bytes()), (1, 0));
}

#[test]
fn a_message_above_the_replay_limit_is_sent_but_not_kept() {
    let mut it = tight(1000);
    let (call, incoming) = it.call();
    it.progress(incoming, 1);
    let last = it.read(call).last_id;
    it.session.respond(it.now, incoming, &CallToolResult::text("x".repeat(5000))).unwrap();
    let rest = it.read(call);
    assert_eq!((rest.summaries(), rest.is_over), (Vec::from(["result 1".into()]), true));
    check(&it);
    assert_eq!(it.session.handle_get(it.now, last.as_deref()), Err(Unresumable));
}

#[test]
fn one_slow_stream_never_blocks_another() {
    for is_routed in [true, false] {
        let limits = Limits { outbox_bytes_max: 64 * 1024, ..Limits::default() };
        let mut it = Fixture::of(config().limits(limits), "2025-11-25", StreamSettings::default());
        let (slow, first) = it.call();
        let (quick, second) = it.call();
        let long = crate::Raw::new(&"x".repeat(1000)).unwrap();
        let mut logged = 0;
        while it.session.log(it.now, Some(first), crate::schema::Level::Error, None, &long).is_ok()
        {
            logged += 1;
            assert!(logged < 100, "the queue is bounded");
            if is_routed {
                it.session.has_output();
            }
        }
        for number in 1..=10 {
            it.progress(first, number);
            it.progress(second, number);
            assert_eq!(
                it.read(quick).summaries(),
                [format!("progress {number}")],
                "routed: {is_routed}"
            );
        }
        it.change();
        let get = it.get(None);
        assert_eq!(it.read(get).summaries(), ["tools/list_changed"]);
        let stream = it.read(slow);
        assert_eq!(
            stream.messages.len(),
            logged + 1,
            "routed: {is_routed}, {:?}",
            stream.summaries()
        );
        it.answer(first);
        it.answer(second);
        assert!(it.read(slow).is_over && it.read(quick).is_over);
    }
}

#[test]
fn an_unread_unsolicited_stream_never_blocks_another() {
    for is_routed in [true, false] {
        let limits = Limits { outbox_bytes_max: 64 * 1024, ..Limits::default() };
        let mut it = Fixture::of(config().limits(limits), "2025-11-25", StreamSettings::default());
        let slow = it.get(None);
        let (quick, incoming) = it.call();
        let mut count = 0;
        while it.session.notify_changed(it.now, crate::Change::Tools).is_ok() {
            count += 1;
            assert!(count < 1000, "the queue is bounded");
            if is_routed {
                it.session.has_output();
            }
        }
        for number in 1..=10 {
            it.progress(incoming, number);
            assert_eq!(
                it.read(quick).summaries(),
                [format!("progress {number}")],
                "routed: {is_routed}"
            );
        }
        assert_eq!(it.read(slow).messages.len(), count);
        it.change();
    }
}

#[test]
fn usage_counts_what_a_client_makes_the_session_hold() {
    let mut it = Fixture::new();
    assert_eq!(it.session.usage(), ServerUsage::default());
    let (call, incoming) = it.call();
    let in_flight = it.session.usage();
    assert!(in_flight.requests > 1000 && in_flight.session == 0, "{in_flight:?}");
    it.session.handle_gone(it.now, call);
    it.progress(incoming, 1);
    it.answer(incoming);
    let kept = it.session.usage();
    assert!(kept.requests == 0 && kept.session > 2 * 128, "{kept:?}");
    it.session.drop_replays();
    assert_eq!(it.session.usage(), ServerUsage::default());
    assert!(!it.session.is_busy());
}

#[test]
fn dropping_replays_keeps_what_waits_for_its_reader() {
    let mut it = Fixture::new();
    let (call, incoming) = it.call();
    it.progress(incoming, 1);
    let first = it.read(call);
    it.progress(incoming, 2);
    it.session.has_output();
    it.session.drop_replays();
    it.answer(incoming);
    let rest = it.read(call);
    assert_eq!((rest.summaries().len(), rest.is_over), (2, true));
    let last = first.last_id.unwrap();
    it.session.drop_replays();
    assert_eq!(it.session.handle_get(it.now, Some(&last)), Err(Unresumable));
}
