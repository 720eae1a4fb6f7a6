//! What a session keeps, and what it does once that is too much.

use super::*;

fn tight(replay_bytes_max: usize) -> Played {
    Played::in_revision("2025-11-25", Settings { replay_bytes_max, ..Settings::default() })
}

/// What is kept is what is counted, and within bounds.
pub(super) fn check(it: &Played) {
    it.session.streams.check();
}

#[test]
fn the_oldest_go_first_and_then_there_is_no_way_back() {
    let mut it = tight(1000);
    let (call, incoming) = it.call();
    let mut ids = Vec::new();
    for number in 1..=50 {
        it.progress(incoming, number);
        ids.extend(it.hear(call).messages.into_iter().filter_map(|(id, _)| id));
        check(&it);
    }
    it.session.handle_gone(it.now, call);
    let resumed = |it: &mut Played, id: &String| it.session.handle_get(it.now, Some(id)).is_ok();
    let back: Vec<bool> = ids.iter().map(|id| resumed(&mut it, id)).collect();
    assert!(!back[0] && back[49]);
    assert!(back.is_sorted(), "what is newer is kept for longer: {back:?}");
    let oldest = back.iter().position(|is_kept| *is_kept).unwrap();
    assert!(oldest < 48, "something is kept");
    let get = it.get(Some(&ids[oldest]));
    assert_eq!(it.hear(get).messages.len(), 49 - oldest);
}

#[test]
fn one_stream_s_messages_make_room_for_another_s() {
    let mut it = tight(1000);
    let (one, first) = it.call();
    it.progress(first, 1);
    let last = it.hear(one).last_id;
    it.answer(first);
    assert!(it.hear(one).is_over);
    let (two, second) = it.call();
    for number in 1..=20 {
        it.progress(second, number);
        it.hear(two);
        check(&it);
    }
    assert_eq!(it.session.handle_get(it.now, last.as_deref()), Err(Unresumable));
}

#[test]
fn who_reads_again_too_slowly_is_cut_off_and_not_told_half_of_it() {
    let mut it = tight(100_000);
    let (call, incoming) = it.call();
    let long = crate::Raw::new(&"x".repeat(20_000)).unwrap();
    let log = |it: &mut Played| {
        it.session.log(it.now, Some(incoming), crate::schema::Level::Error, None, &long).unwrap();
    };
    it.progress(incoming, 1);
    let last = it.hear(call).last_id;
    it.session.handle_gone(it.now, call);
    (0..4).for_each(|_| log(&mut it));
    let get = it.get(last.as_deref());
    it.session.poll_reply(get);
    let Some(Frame::Bytes(first)) = it.session.poll_frame(get) else { panic!("a frame") };
    let heard = Heard::read(&first);
    assert_eq!(heard.messages.len(), 1);
    // Something else takes the place of what it has not read yet.
    let (other, busy) = it.call();
    for _ in 0..2 {
        it.session.log(it.now, Some(busy), crate::schema::Level::Error, None, &long).unwrap();
        it.hear(other);
        check(&it);
    }
    let rest = it.hear(get);
    assert!(rest.is_over && rest.messages.is_empty(), "what follows a gap is not told");
    assert_eq!(it.session.handle_get(it.now, heard.last_id.as_deref()), Err(Unresumable));
    assert!(it.session.is_busy());
    it.answer(incoming);
    it.answer(busy);
    it.session.poll_reply(get);
    it.hear(other);
    check(&it);
}

#[test]
fn an_answer_that_nobody_fetches_is_forgotten_in_time() {
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
fn nothing_is_kept_of_requests_without_an_answer() {
    let mut it = Played::new();
    for number in 1..=1000 {
        let (call, _) = it.call();
        if number % 2 == 0 {
            it.wait(Duration::from_secs(1));
            it.hear(call);
        }
        it.session.handle_gone(it.now, call);
        it.tell("notifications/cancelled", json!({"requestId": number}));
        assert!(!it.session.has_output());
        while it.session.poll_event().is_some() {}
    }
    assert_eq!(it.session.streams.len(), 1);
}

#[test]
fn nothing_is_kept_of_an_answer_that_was_json() {
    let mut it = Played::new();
    for _ in 0..1000 {
        let ping = it.ask("ping", json!({}));
        it.json(ping);
    }
    assert_eq!((it.session.streams.len(), it.session.streams.kept_bytes()), (1, 0));
}

#[test]
fn what_is_too_long_to_keep_is_sent_and_not_kept() {
    let mut it = tight(1000);
    let (call, incoming) = it.call();
    it.progress(incoming, 1);
    let last = it.hear(call).last_id;
    it.session.respond(it.now, incoming, &CallToolResult::text("x".repeat(5000))).unwrap();
    let rest = it.hear(call);
    assert_eq!((rest.said(), rest.is_over), (Vec::from(["result 1".into()]), true));
    check(&it);
    assert_eq!(it.session.handle_get(it.now, last.as_deref()), Err(Unresumable));
}

#[test]
fn one_slow_stream_never_blocks_another() {
    for is_routed in [true, false] {
        let limits = Limits { outbox_bytes_max: 64 * 1024, ..Limits::default() };
        let mut it = Played::of(config().limits(limits), "2025-11-25", Settings::default());
        let (slow, first) = it.call();
        let (quick, second) = it.call();
        let long = crate::Raw::new(&"x".repeat(1000)).unwrap();
        let mut logged = 0;
        while it.session.log(it.now, Some(first), crate::schema::Level::Error, None, &long).is_ok()
        {
            logged += 1;
            assert!(logged < 100, "there is a bound");
            if is_routed {
                it.session.has_output();
            }
        }
        for number in 1..=10 {
            it.progress(first, number);
            it.progress(second, number);
            assert_eq!(
                it.hear(quick).said(),
                [format!("progress {number}")],
                "routed: {is_routed}"
            );
        }
        it.change();
        let get = it.get(None);
        assert_eq!(it.hear(get).said(), ["tools/list_changed"]);
        let heard = it.hear(slow);
        assert_eq!(heard.messages.len(), logged + 1, "routed: {is_routed}, {:?}", heard.said());
        it.answer(first);
        it.answer(second);
        assert!(it.hear(slow).is_over && it.hear(quick).is_over);
    }
}

#[test]
fn a_standing_stream_that_nobody_reads_never_blocks_another() {
    for is_routed in [true, false] {
        let limits = Limits { outbox_bytes_max: 64 * 1024, ..Limits::default() };
        let mut it = Played::of(config().limits(limits), "2025-11-25", Settings::default());
        let slow = it.get(None);
        let (quick, incoming) = it.call();
        let mut told = 0;
        while it.session.changed(it.now, crate::Change::Tools).is_ok() {
            told += 1;
            assert!(told < 1000, "there is a bound");
            if is_routed {
                it.session.has_output();
            }
        }
        for number in 1..=10 {
            it.progress(incoming, number);
            assert_eq!(
                it.hear(quick).said(),
                [format!("progress {number}")],
                "routed: {is_routed}"
            );
        }
        assert_eq!(it.hear(slow).messages.len(), told);
        it.change();
    }
}
