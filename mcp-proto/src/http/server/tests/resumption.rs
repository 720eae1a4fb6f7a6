//! Tests of streams that are cut or ended early, and resumed.

use super::*;

const EXPECTED: [&str; 4] = ["progress 1", "progress 2", "progress 3", "result 1"];

// HTTP-15, SSE-19
#[test]
fn a_response_ended_early_is_fetched_by_get_http_15_sse_19() {
    for is_begun in [false, true] {
        let mut it = Fixture::new();
        let (call, incoming) = it.call();
        if is_begun {
            it.progress(incoming, 1);
            it.read(call);
        }
        it.session.end_stream(it.now, incoming).unwrap();
        let cut = it.read(call);
        assert!(cut.is_over && cut.messages.is_empty());
        let last = if is_begun { "of the progress".into() } else { cut.last_id.clone().unwrap() };
        assert_eq!(cut.retry, Some(Duration::from_secs(1)));
        if !is_begun {
            let get = it.get(Some(&last));
            assert!(it.read(get).messages.is_empty());
            it.answer(incoming);
            let rest = it.read(get);
            assert_eq!((rest.summaries(), rest.is_over), (alloc::vec!["result 1".into()], true));
        }
    }
}

// HTTP-14
#[test]
fn without_priming_a_response_is_not_ended_early_http_14() {
    let mut it = Fixture::in_revision("2025-06-18", StreamSettings::default());
    let (call, incoming) = it.call();
    it.session.end_stream(it.now, incoming).unwrap();
    assert_eq!(it.session.poll_reply(call), None);
    it.answer(incoming);
    assert_eq!(it.json(call).0, 200);
}

/// Starts a call, performs its first `steps` steps, and returns the bytes of its response so far.
fn started(steps: usize) -> (Fixture, ServerExchangeId, IncomingId, Vec<u8>) {
    let mut it = Fixture::new();
    let (call, incoming) = it.call();
    for number in 1..=steps {
        step(&mut it, incoming, number);
    }
    let (bytes, _) = it.bytes(call);
    (it, call, incoming, bytes)
}

/// Performs a step of a call: three progress notifications, then the response.
fn step(it: &mut Fixture, incoming: IncomingId, number: usize) {
    if number <= 3 { it.progress(incoming, number as u32) } else { it.answer(incoming) }
}

// SSE-18
#[test]
fn a_stream_cut_anywhere_is_resumed_without_duplicates_sse_17_sse_18() {
    let mut cuts = 0;
    // The steps performed when the client receives its bytes, when it is cut off, and when it
    // resumes.
    for (begun, cut_off, back) in [(2, 2, 2), (2, 3, 3), (2, 2, 4), (2, 4, 4), (4, 4, 4), (3, 3, 4)]
    {
        let length = started(begun).3.len();
        for had in 0..=length {
            let (mut it, call, incoming, bytes) = started(begun);
            let first = ReadStream::parse(&bytes[..had]);
            (begun + 1..=cut_off).for_each(|number| step(&mut it, incoming, number));
            it.session.handle_gone(it.now, call);
            (cut_off + 1..=back).for_each(|number| step(&mut it, incoming, number));
            let Some(last) = &first.last_id else { continue };
            let get = it.get(Some(last));
            let mut received = first.summaries();
            received.extend(it.read(get).summaries());
            (back + 1..=4).for_each(|number| step(&mut it, incoming, number));
            let rest = it.read(get);
            received.extend(rest.summaries());
            assert_eq!(received, EXPECTED, "{had} of {length} bytes, {begun} {cut_off} {back}");
            assert!(rest.is_over || back == 4);
            assert!(!it.session.is_busy());
            cuts += 1;
        }
    }
    assert!(cuts > 1000, "{cuts}");
}

#[test]
fn a_stream_can_be_resumed_repeatedly() {
    let (mut it, call, incoming, bytes) = started(1);
    let mut stream = ReadStream::parse(&bytes);
    let mut received = stream.summaries();
    it.session.handle_gone(it.now, call);
    for number in 2..=4 {
        let get = it.get(stream.last_id.as_deref());
        step(&mut it, incoming, number);
        stream = it.read(get);
        received.extend(stream.summaries());
        it.session.handle_gone(it.now, get);
    }
    assert_eq!(received, EXPECTED);
}

#[test]
fn a_finished_response_can_be_replayed_from_any_event() {
    let (mut it, call, _, bytes) = started(4);
    assert_eq!(it.session.poll_chunk(call), Some(BodyChunk::End));
    let all = ReadStream::parse(&bytes);
    let ids: Vec<String> = all.messages.iter().filter_map(|(id, _)| id.clone()).collect();
    assert_eq!(ids.len(), 4);
    for _ in 0..2 {
        for (index, id) in ids.iter().enumerate() {
            let get = it.get(Some(id));
            let again = it.read(get);
            assert_eq!(again.messages, all.messages[index + 1..], "from {id}");
            assert!(again.is_over);
            let again = it.get(again.last_id.as_deref());
            assert!(it.read(again).messages.is_empty(), "the replay can be resumed in turn");
        }
    }
}

// SSE-15, SSE-17
#[test]
fn only_messages_of_the_resumed_stream_are_replayed_sse_17() {
    let mut it = Fixture::new();
    let (one, first) = it.call();
    let (two, second) = it.call();
    it.change();
    for number in 1..=3 {
        it.progress(first, number);
        it.progress(second, 10 + number);
    }
    let first_stream = it.read(one);
    it.read(two);
    it.answer(first);
    it.answer(second);
    it.session.handle_gone(it.now, one);
    it.session.handle_gone(it.now, two);
    let get = it.get(first_stream.messages[0].0.as_deref());
    assert_eq!(it.read(get).summaries(), ["progress 2", "progress 3", "result 1"]);
}

// SSE-14
#[test]
fn event_ids_are_unique_in_a_session_sse_14() {
    let mut it = Fixture::new();
    let mut ids = Vec::new();
    let get = it.get(None);
    for _ in 0..5 {
        let (call, incoming) = it.call();
        it.progress(incoming, 1);
        it.change();
        it.answer(incoming);
        for stream in [it.read(call), it.read(get)] {
            ids.extend(stream.messages.into_iter().filter_map(|(id, _)| id));
        }
    }
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((all, ids.len()), (15, 15));
}

/// Also the ids of events without a message, with which streams begin.
#[test]
fn a_resumed_stream_repeats_no_event_id_sse_14() {
    let mut it = Fixture::new();
    let mut ids = Vec::new();
    let (call, incoming) = it.call();
    it.wait(Duration::from_millis(50));
    let mut last = it.read(call).last_id.unwrap();
    ids.push(last.clone());
    for number in 0..6 {
        if number % 2 == 0 {
            it.progress(incoming, number);
        }
        let get = it.get(Some(&last));
        let stream = it.read(get);
        ids.extend(stream.ids);
        last = stream.last_id.unwrap();
        let get = it.get(None);
        ids.extend(it.read(get).ids);
    }
    assert!(ids.len() >= 15, "{ids:?}");
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "{ids:?}");
    it.answer(incoming);
    let get = it.get(Some(&last));
    assert_eq!(it.read(get).summaries(), ["result 1"]);
}

#[test]
fn an_event_id_of_another_session_is_invalid() {
    let stream = |id: &str| {
        let mut it = Fixture::named(id, config(), "2025-11-25", StreamSettings::default());
        let (call, incoming) = it.call();
        it.progress(incoming, 1);
        let last = it.read(call).last_id.unwrap();
        (it, last)
    };
    let ((mut one, of_one), (mut two, of_two)) = (stream("1"), stream("2"));
    assert_ne!(of_one, of_two);
    assert_eq!(one.session.handle_get(one.now, Some(&of_two)), Err(Unresumable));
    assert_eq!(two.session.handle_get(two.now, Some(&of_one)), Err(Unresumable));
    assert!(two.session.handle_get(two.now, Some(&of_two)).is_ok());
}

#[test]
fn an_id_that_was_never_issued_cannot_be_resumed_from() {
    let (mut it, call, _, bytes) = started(2);
    let last = ReadStream::parse(&bytes).last_id.unwrap();
    let (prefix, number) = last.rsplit_once('-').unwrap();
    assert_eq!(number, "2");
    for id in
        [format!("{prefix}-3"), format!("{prefix}-18446744073709551614"), "x".into(), "-".into()]
    {
        assert_eq!(it.session.handle_get(it.now, Some(&id)), Err(Unresumable), "{id}");
    }
    let refusal = Refusal::from(Unresumable);
    assert_eq!(refusal.status, 400);
    // The failed attempt did not detach the reader.
    assert!(!it.read(call).is_over);
}

// HTTP-27
#[test]
fn a_resumption_replaces_the_previous_reader_http_27() {
    let (mut it, call, incoming, bytes) = started(2);
    let last = ReadStream::parse(&bytes).last_id;
    it.progress(incoming, 3);
    let get = it.get(last.as_deref());
    it.answer(incoming);
    assert_eq!(it.bytes(call), (Vec::new(), true));
    let stream = it.read(get);
    assert_eq!(
        (stream.summaries(), stream.is_over),
        (alloc::vec!["progress 3".into(), "result 1".into()], true)
    );
}

#[test]
fn a_guessed_event_id_does_not_duplicate_a_response_http_27() {
    for is_read_first in [true, false] {
        let mut it = Fixture::new();
        let known = it.call();
        it.progress(known.1, 1);
        let last = it.read(known.0).last_id.unwrap();
        let (call, incoming) = it.call();
        let (tag, _) = last.split_once('-').unwrap();
        let get = it.get(Some(&format!("{tag}-{}-0", call.0)));
        it.answer(incoming);
        let (first, second) = if is_read_first { (get, call) } else { (call, get) };
        let mut received = it.read(first).summaries();
        let stream = it.read(second);
        assert!(stream.is_over);
        received.extend(stream.summaries());
        assert_eq!(received, ["result 2"]);
    }
}

/// Returns the status of a GET that resumes after `last`.
fn resume_status(it: &mut Fixture, last: &str) -> u16 {
    let get = it.get(Some(last));
    assert!(it.session.has_output());
    it.session.poll_reply(get).unwrap().status
}

/// Status 204 tells a client of event streams not to come back; after 200 it would resume again.
#[test]
fn the_stream_of_a_cancelled_request_is_resumed_at_most_once() {
    for steps in [0, 1, 2] {
        let mut it = Fixture::new();
        let (call, incoming) = it.call();
        // The stream is primed.
        it.wait(Duration::from_millis(50));
        let primed = it.read(call).last_id.unwrap();
        (1..=steps).for_each(|number| it.progress(incoming, number));
        it.notify("notifications/cancelled", json!({"requestId": 1}));
        let stream = it.read(call);
        assert!(stream.is_over);
        let last = stream.last_id.unwrap_or_else(|| primed.clone());
        for _ in 0..3 {
            assert_eq!(resume_status(&mut it, &last), 204, "{steps}");
        }
        assert!(!it.session.is_busy());
        if steps == 0 {
            continue;
        }
        // A client that lost messages receives them, and learns with the next attempt that there
        // are no more.
        let get = it.get(Some(&primed));
        let again = it.read(get);
        assert_eq!((again.messages.len(), again.is_over), (steps as usize, true));
        assert_eq!(resume_status(&mut it, &again.last_id.unwrap()), 204);
    }
}

#[test]
fn a_client_without_its_stream_learns_of_the_cancellation() {
    let mut it = Fixture::new();
    let (call, _) = it.call();
    it.wait(Duration::from_millis(50));
    let primed = it.read(call).last_id.unwrap();
    it.session.handle_gone(it.now, call);
    it.notify("notifications/cancelled", json!({"requestId": 1}));
    assert_eq!(resume_status(&mut it, &primed), 204);
}

#[test]
fn the_memory_of_cancelled_requests_is_bounded() {
    let mut it = Fixture::new();
    let mut ids = Vec::new();
    for _ in 0..66 {
        let request = it.next_id;
        let (call, _) = it.call();
        it.wait(Duration::from_millis(50));
        ids.push(it.read(call).last_id.unwrap());
        it.notify("notifications/cancelled", json!({"requestId": request}));
        assert!(matches!(it.session.poll_event(), Some(Event::RequestCancelled { .. })));
        assert!(it.read(call).is_over);
    }
    assert_eq!(it.session.handle_get(it.now, Some(&ids[1])), Err(Unresumable));
    assert_eq!(resume_status(&mut it, &ids[2]), 204);
}
