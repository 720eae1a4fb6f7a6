//! Streams that are cut, or hung up, and resumed.

use super::*;

const SAID: [&str; 4] = ["progress 1", "progress 2", "progress 3", "result 1"];

#[test]
fn whoever_hangs_up_has_the_answer_fetched_http_15_sse_19() {
    for is_begun in [false, true] {
        let mut it = Played::new();
        let (call, incoming) = it.call();
        if is_begun {
            it.progress(incoming, 1);
            it.hear(call);
        }
        it.session.hang_up(it.now, incoming).unwrap();
        let cut = it.hear(call);
        assert!(cut.is_over && cut.messages.is_empty());
        let last = if is_begun { "of the progress".into() } else { cut.last_id.clone().unwrap() };
        if is_begun {
            assert_eq!(cut.retry, None, "it was said before");
        } else {
            assert_eq!(cut.retry, Some(Duration::from_secs(1)));
            let get = it.get(Some(&last));
            assert!(it.hear(get).messages.is_empty());
            it.answer(incoming);
            let rest = it.hear(get);
            assert_eq!((rest.said(), rest.is_over), (alloc::vec!["result 1".into()], true));
        }
    }
}

#[test]
fn whoever_cannot_be_told_to_come_back_is_not_hung_up_http_14() {
    let mut it = Played::in_revision("2025-06-18", Settings::default());
    let (call, incoming) = it.call();
    it.session.hang_up(it.now, incoming).unwrap();
    assert_eq!(it.session.poll_reply(call), None);
    it.answer(incoming);
    assert_eq!(it.json(call).0, 200);
}

/// A call that told of progress thrice, or is to, and of whose response the client had all by then.
fn told(by_then: usize) -> (Played, ExchangeId, IncomingId, Vec<u8>) {
    let mut it = Played::new();
    let (call, incoming) = it.call();
    for number in 1..=by_then {
        step(&mut it, incoming, number);
    }
    let (bytes, _) = it.bytes(call);
    (it, call, incoming, bytes)
}

/// What a call says as its `number`th.
fn step(it: &mut Played, incoming: IncomingId, number: usize) {
    if number <= 3 { it.progress(incoming, number as u32) } else { it.answer(incoming) }
}

#[test]
fn a_stream_cut_anywhere_is_resumed_and_nothing_is_had_twice_sse_17_sse_18() {
    let mut cuts = 0;
    // How far the call has come when the client has its bytes, when it is cut off, and when it is
    // back.
    for (begun, cut_off, back) in [(2, 2, 2), (2, 3, 3), (2, 2, 4), (2, 4, 4), (4, 4, 4), (3, 3, 4)]
    {
        let length = told(begun).3.len();
        for had in 0..=length {
            let (mut it, call, incoming, bytes) = told(begun);
            let first = Heard::read(&bytes[..had]);
            (begun + 1..=cut_off).for_each(|number| step(&mut it, incoming, number));
            it.session.handle_gone(it.now, call);
            (cut_off + 1..=back).for_each(|number| step(&mut it, incoming, number));
            let Some(last) = &first.last_id else { continue };
            let get = it.get(Some(last));
            let mut said = first.said();
            said.extend(it.hear(get).said());
            (back + 1..=4).for_each(|number| step(&mut it, incoming, number));
            let rest = it.hear(get);
            said.extend(rest.said());
            assert_eq!(said, SAID, "{had} of {length} bytes, {begun} {cut_off} {back}");
            assert!(rest.is_over || back == 4);
            assert!(!it.session.is_busy());
            cuts += 1;
        }
    }
    assert!(cuts > 1000, "{cuts}");
}

#[test]
fn a_stream_is_resumed_as_often_as_it_is_cut() {
    let (mut it, call, incoming, bytes) = told(1);
    let mut heard = Heard::read(&bytes);
    let mut said = heard.said();
    it.session.handle_gone(it.now, call);
    for number in 2..=4 {
        let get = it.get(heard.last_id.as_deref());
        step(&mut it, incoming, number);
        heard = it.hear(get);
        said.extend(heard.said());
        it.session.handle_gone(it.now, get);
    }
    assert_eq!(said, SAID);
}

#[test]
fn a_finished_response_can_still_be_had_again_from_any_event() {
    let (mut it, call, _, bytes) = told(4);
    assert_eq!(it.session.poll_frame(call), Some(Frame::End));
    let all = Heard::read(&bytes);
    let ids: Vec<String> = all.messages.iter().filter_map(|(id, _)| id.clone()).collect();
    assert_eq!(ids.len(), 4);
    for _ in 0..2 {
        for (index, id) in ids.iter().enumerate() {
            let get = it.get(Some(id));
            let again = it.hear(get);
            assert_eq!(again.messages, all.messages[index + 1..], "from {id}");
            assert!(again.is_over);
            assert_eq!(again.last_id, ids.last().cloned(), "and it can be resumed from there");
        }
    }
}

#[test]
fn nothing_of_another_stream_is_replayed_sse_17() {
    let mut it = Played::new();
    let (one, first) = it.call();
    let (two, second) = it.call();
    it.change();
    for number in 1..=3 {
        it.progress(first, number);
        it.progress(second, 10 + number);
    }
    let first_heard = it.hear(one);
    it.hear(two);
    it.answer(first);
    it.answer(second);
    it.session.handle_gone(it.now, one);
    it.session.handle_gone(it.now, two);
    let get = it.get(first_heard.messages[0].0.as_deref());
    assert_eq!(it.hear(get).said(), ["progress 2", "progress 3", "result 1"]);
}

#[test]
fn ids_are_of_one_event_each_in_all_of_a_session_sse_14() {
    let mut it = Played::new();
    let mut ids = Vec::new();
    let get = it.get(None);
    for _ in 0..5 {
        let (call, incoming) = it.call();
        it.progress(incoming, 1);
        it.change();
        it.answer(incoming);
        for heard in [it.hear(call), it.hear(get)] {
            ids.extend(heard.messages.into_iter().filter_map(|(id, _)| id));
        }
    }
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((all, ids.len()), (15, 15));
}

#[test]
fn the_event_of_another_session_is_none_of_this_one() {
    let heard = |id: &str| {
        let mut it = Played::named(id, config(), "2025-11-25", Settings::default());
        let (call, incoming) = it.call();
        it.progress(incoming, 1);
        let last = it.hear(call).last_id.unwrap();
        (it, last)
    };
    let ((mut one, of_one), (mut two, of_two)) = (heard("1"), heard("2"));
    assert_ne!(of_one, of_two);
    assert_eq!(one.session.handle_get(one.now, Some(&of_two)), Err(Unresumable));
    assert_eq!(two.session.handle_get(two.now, Some(&of_one)), Err(Unresumable));
    assert!(two.session.handle_get(two.now, Some(&of_two)).is_ok());
}

#[test]
fn what_never_was_cannot_be_resumed() {
    let (mut it, call, _, bytes) = told(2);
    let last = Heard::read(&bytes).last_id.unwrap();
    let (path, number) = last.rsplit_once('-').unwrap();
    assert_eq!(number, "2");
    for id in [format!("{path}-3"), format!("{path}-18446744073709551614"), "x".into(), "-".into()]
    {
        assert_eq!(it.session.handle_get(it.now, Some(&id)), Err(Unresumable), "{id}");
    }
    let refusal = Refusal::from(Unresumable);
    assert_eq!(refusal.status, 400);
    // Whoever tried took nobody else's place.
    assert!(!it.hear(call).is_over);
}

#[test]
fn whoever_resumes_takes_the_place_of_who_read_before_http_27() {
    let (mut it, call, incoming, bytes) = told(2);
    let last = Heard::read(&bytes).last_id;
    it.progress(incoming, 3);
    let get = it.get(last.as_deref());
    it.answer(incoming);
    assert_eq!(it.bytes(call), (Vec::new(), true));
    let heard = it.hear(get);
    assert_eq!(
        (heard.said(), heard.is_over),
        (alloc::vec!["progress 3".into(), "result 1".into()], true)
    );
}

#[test]
fn whoever_guesses_what_a_response_will_be_called_does_not_share_it_http_27() {
    for is_read_first in [true, false] {
        let mut it = Played::new();
        let known = it.call();
        it.progress(known.1, 1);
        let last = it.hear(known.0).last_id.unwrap();
        let (call, incoming) = it.call();
        let (tag, _) = last.split_once('-').unwrap();
        let get = it.get(Some(&format!("{tag}-{}-0", call.0)));
        it.answer(incoming);
        let (first, second) = if is_read_first { (get, call) } else { (call, get) };
        let mut said = it.hear(first).said();
        let heard = it.hear(second);
        assert!(heard.is_over);
        said.extend(heard.said());
        assert_eq!(said, ["result 2"]);
    }
}
