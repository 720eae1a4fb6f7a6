//! The outbox against a model queue.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Advance(usize),
    Fail(Vec<u8>),
    Line(Vec<u8>),
    Message,
    TakeAll,
}

fn step() -> impl Strategy<Value = Step> {
    let text = || {
        prop_oneof![
            "[ -~]{0,20}".prop_map(String::into_bytes),
            (0_usize..100_000).prop_map(|length| vec![b'x'; length]),
        ]
    };
    prop_oneof![
        3 => text().prop_map(Step::Line),
        1 => text().prop_map(Step::Fail),
        3 => prop_oneof![0_usize..30, 0_usize..150_000].prop_map(Step::Advance),
        1 => Just(Step::Message),
        1 => Just(Step::TakeAll),
    ]
}

proptest! {
    #[test]
    fn bytes_come_out_as_they_went_in_however_they_are_taken(steps in proptest::collection::vec(step(), 0..40)) {
        let mut outbox = Outbox::default();
        let mut model: VecDeque<u8> = VecDeque::new();
        let mut taken = 0;
        let mut mid_message = false;
        let mut chunk = vec![b'o'; 100_000];
        for step in steps {
            match step {
                Step::Line(text) => {
                    outbox.append(|out| { out.extend_from_slice(&text); out.push(b'\n'); });
                    model.extend(text.iter().chain(b"\n"));
                }
                Step::Fail(text) => {
                    let failed = outbox.try_append(|out, _| { out.extend_from_slice(&text); Err::<(), _>("no") });
                    prop_assert_eq!(failed, Err("no"));
                }
                Step::Advance(count) => {
                    outbox.advance(count);
                    let drained: Vec<u8> = model.drain(..count.min(model.len())).collect();
                    taken += drained.len() as u64;
                    mid_message = drained.last().map_or(mid_message, |last| *last != b'\n');
                }
                Step::TakeAll => {
                    outbox.take_all(&mut chunk);
                    prop_assert!(chunk.iter().eq(&model));
                    taken += model.len() as u64;
                    mid_message &= model.is_empty();
                    model.clear();
                }
                Step::Message if mid_message => {}
                Step::Message => {
                    let end = model.iter().position(|byte| *byte == b'\n');
                    let wanted: Option<Vec<u8>> = end.map(|end| model.drain(..=end).take(end).collect());
                    taken += end.map_or(0, |end| end as u64 + 1);
                    prop_assert_eq!(outbox.poll_message().map(Vec::from), wanted);
                }
            }
            prop_assert_eq!(outbox.len(), model.len());
            prop_assert_eq!((outbox.remaining(), outbox.is_empty()), (model.len(), model.is_empty()));
            prop_assert_eq!(outbox.sent_total(), taken);
            prop_assert!(outbox.chunk() == model.make_contiguous());
            // What was sent is not held for long.
            prop_assert!(outbox.sent <= KEPT_BYTES_MAX.max(outbox.len()));
        }
    }
}

fn put(outbox: &mut Outbox, length: usize) {
    outbox.append(|out| {
        out.resize(out.len() + length, b'x');
        out.push(b'\n');
    });
}

#[test]
fn an_outbox_that_was_emptied_shrinks() {
    let mut outbox = Outbox::default();
    put(&mut outbox, 10 << 20);
    outbox.advance(usize::MAX);
    assert!(outbox.is_empty() && outbox.buffer.capacity() <= KEPT_BYTES_MAX);
}

#[test]
fn an_outbox_that_is_never_quite_empty_stays_small() {
    let mut outbox = Outbox::default();
    put(&mut outbox, 100);
    for _ in 0..200_000 {
        put(&mut outbox, 100);
        outbox.advance(101);
        assert!(outbox.buffer.capacity() <= 4 * KEPT_BYTES_MAX);
    }
    assert_eq!(outbox.len(), 101);
}

#[test]
fn a_long_queue_taken_in_small_bites_costs_no_more_than_its_bytes() {
    // Were the rest moved with every bite, this would move 40 TB.
    let mut outbox = Outbox::default();
    put(&mut outbox, 32 << 20);
    let mut bites = 0;
    while outbox.has_remaining() {
        outbox.advance(16);
        bites += 1;
        assert!(
            outbox.buffer.capacity() <= 4 * (KEPT_BYTES_MAX + outbox.len()),
            "it shrinks on the way"
        );
    }
    assert_eq!(bites, (32 << 20) / 16 + 1);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "a message holds a line break")]
fn a_line_break_inside_a_message_is_a_bug_of_ours_frm_02() {
    Outbox::default().append(|out| out.extend_from_slice(b"{\n}"));
}

#[test]
fn no_more_is_moved_than_was_taken() {
    let half = 4 * KEPT_BYTES_MAX;
    for bite in [16, 1000, half] {
        let mut outbox = Outbox::default();
        put(&mut outbox, 2 * half);
        assert_eq!(outbox.len(), 2 * half + 1, "half of it is not most of it");
        let (mut taken, mut moved) = (0, 0);
        while outbox.has_remaining() {
            let before = outbox.sent;
            taken += bite.min(outbox.len());
            outbox.advance(bite);
            if outbox.sent < before + bite {
                moved += outbox.len();
            }
            assert!(moved <= taken, "{moved} were moved for {taken}, {bite} at a time");
        }
    }
}

#[test]
fn what_is_left_of_a_long_queue_keeps_room_for_as_much_again() {
    let mut outbox = Outbox::default();
    put(&mut outbox, 4 * KEPT_BYTES_MAX - 1);
    outbox.advance(3 * KEPT_BYTES_MAX);
    assert_eq!((outbox.len(), outbox.sent), (KEPT_BYTES_MAX, 0), "it was moved to the front");
    let room = outbox.buffer.capacity();
    assert!(room <= 2 * KEPT_BYTES_MAX, "{room}");
    put(&mut outbox, KEPT_BYTES_MAX - 1);
    assert_eq!(outbox.buffer.capacity(), room, "nothing had to be moved again");
}

#[test]
fn what_was_taken_leaves_no_room_until_it_is_written() {
    let mut outbox = Outbox::default();
    let mut chunk = Vec::new();
    put(&mut outbox, 9);
    outbox.take_all(&mut chunk);
    assert!(outbox.is_empty() && outbox.sent_total() == 10);
    assert_eq!(outbox.waiting(), 10);
    outbox.written(4);
    assert_eq!(outbox.waiting(), 6);
    outbox.take_all(&mut chunk);
    assert!(chunk.is_empty() && outbox.waiting() == 0, "what it gave before is written by now");
}

#[test]
fn room_for_a_large_message_is_handed_over_and_not_kept_for_small_ones() {
    for (room, is_kept) in
        [(KEPT_BYTES_MAX, true), (KEPT_BYTES_MAX + 1, false), (4 * KEPT_BYTES_MAX, false)]
    {
        let mut outbox = Outbox::default();
        let mut chunk = Vec::with_capacity(room);
        put(&mut outbox, 9);
        outbox.take_all(&mut chunk);
        assert_eq!(chunk.len(), 10);
        // What the chunk had is what the next messages are written into.
        assert_eq!(outbox.buffer.capacity() >= KEPT_BYTES_MAX, is_kept, "{room}");
        assert!(outbox.buffer.capacity() <= KEPT_BYTES_MAX, "{room}");
    }
    let mut outbox = Outbox::default();
    let mut chunk = Vec::with_capacity(KEPT_BYTES_MAX);
    put(&mut outbox, 9);
    outbox.advance(1);
    outbox.take_all(&mut chunk);
    assert_eq!(
        (chunk.len(), chunk.capacity() >= KEPT_BYTES_MAX),
        (9, true),
        "what was begun is copied"
    );
}

#[test]
fn room_that_is_given_back_is_used_again_unless_there_is_something_in_the_way() {
    let mut outbox = Outbox::default();
    let mut chunk = Vec::new();
    put(&mut outbox, 2 * KEPT_BYTES_MAX);
    outbox.take_all(&mut chunk);
    let room = chunk.as_ptr();
    outbox.reuse(mem::take(&mut chunk));
    assert!(outbox.is_empty() && outbox.chunk().is_empty());
    put(&mut outbox, KEPT_BYTES_MAX);
    outbox.take_all(&mut chunk);
    assert_eq!((chunk.len(), chunk.as_ptr()), (KEPT_BYTES_MAX + 1, room));
    put(&mut outbox, 9);
    outbox.reuse(mem::take(&mut chunk));
    assert_eq!(outbox.len(), 10, "what waits stays where it is");
    outbox.advance(1);
    outbox.reuse(Vec::with_capacity(KEPT_BYTES_MAX));
    assert_eq!(outbox.len(), 9);
}
