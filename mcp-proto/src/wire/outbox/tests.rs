//! The outbox against a model queue.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec;

use proptest::prelude::*;

use super::*;

const RETAINED_BYTES_MAX: usize = 64 << 10;

#[derive(Clone, Debug)]
enum Op {
    Advance(usize),
    Fail(Vec<u8>),
    Line(Vec<u8>),
    Message,
    TakeAll,
}

fn op() -> impl Strategy<Value = Op> {
    let text = || {
        prop_oneof![
            "[ -~]{0,20}".prop_map(String::into_bytes),
            (0_usize..100_000).prop_map(|length| vec![b'x'; length]),
        ]
    };
    prop_oneof![
        3 => text().prop_map(Op::Line),
        1 => text().prop_map(Op::Fail),
        3 => prop_oneof![0_usize..30, 0_usize..150_000].prop_map(Op::Advance),
        1 => Just(Op::Message),
        1 => Just(Op::TakeAll),
    ]
}

proptest! {
    #[test]
    fn bytes_leave_in_order_however_they_are_taken(
        ops in proptest::collection::vec(op(), 0..40),
    ) {
        let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
        let mut model: VecDeque<u8> = VecDeque::new();
        let mut taken = 0;
        let mut mid_message = false;
        let mut chunk = vec![b'o'; 100_000];
        for op in ops {
            match op {
                Op::Line(text) => {
                    outbox.append(|out| { out.extend_from_slice(&text); out.push(b'\n'); });
                    model.extend(text.iter().chain(b"\n"));
                }
                Op::Fail(text) => {
                    let failed = outbox.try_append(|out, _| {
                        out.extend_from_slice(&text);
                        Err::<(), _>("no")
                    });
                    prop_assert_eq!(failed, Err("no"));
                }
                Op::Advance(count) => {
                    let count = count.min(model.len());
                    outbox.advance(count);
                    let drained: Vec<u8> = model.drain(..count).collect();
                    taken += drained.len() as u64;
                    mid_message = drained.last().map_or(mid_message, |last| *last != b'\n');
                }
                Op::TakeAll => {
                    outbox.take_all(&mut chunk);
                    prop_assert!(chunk.iter().eq(&model));
                    taken += model.len() as u64;
                    mid_message &= model.is_empty();
                    model.clear();
                }
                Op::Message if mid_message => {}
                Op::Message => {
                    let end = model.iter().position(|byte| *byte == b'\n');
                    let expected: Option<Vec<u8>> =
                        end.map(|end| model.drain(..=end).take(end).collect());
                    taken += end.map_or(0, |end| end as u64 + 1);
                    prop_assert_eq!(outbox.poll_message().map(Vec::from), expected);
                }
            }
            prop_assert_eq!(outbox.len(), model.len());
            prop_assert_eq!(outbox.remaining(), model.len());
            prop_assert_eq!(outbox.is_empty(), model.is_empty());
            prop_assert_eq!(outbox.sent_total(), taken);
            prop_assert!(outbox.chunk() == model.make_contiguous());
            // Sent bytes are reclaimed soon.
            prop_assert!(outbox.sent <= RETAINED_BYTES_MAX.max(outbox.len()));
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
#[should_panic(expected = "advanced by 12 of 11 queued bytes")]
fn bytes_that_do_not_exist_cannot_be_removed() {
    let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
    put(&mut outbox, 10);
    outbox.advance(12);
}

#[test]
fn a_chunk_outlives_the_call_also_where_buf_is_imported() {
    fn queue(outbox: &mut Outbox) -> &mut Outbox {
        outbox
    }
    let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
    put(&mut outbox, 2);
    let chunk = queue(&mut outbox).chunk();
    assert_eq!(chunk, b"xx\n");
}

#[test]
fn an_emptied_outbox_shrinks() {
    let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
    put(&mut outbox, 10 << 20);
    outbox.clear();
    assert!(outbox.is_empty() && outbox.buffer.capacity() <= RETAINED_BYTES_MAX);
}

#[test]
fn an_outbox_that_never_empties_stays_small() {
    let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
    put(&mut outbox, 100);
    for _ in 0..200_000 {
        put(&mut outbox, 100);
        outbox.advance(101);
        assert!(outbox.buffer.capacity() <= 4 * RETAINED_BYTES_MAX);
    }
    assert_eq!(outbox.len(), 101);
}

#[test]
fn draining_a_long_queue_in_small_reads_takes_linear_time() {
    // Moving the rest after every read would move 40 TB.
    let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
    put(&mut outbox, 32 << 20);
    let mut reads = 0;
    while !outbox.is_empty() {
        outbox.advance(outbox.len().min(16));
        reads += 1;
        assert!(
            outbox.buffer.capacity() <= 4 * (RETAINED_BYTES_MAX + outbox.len()),
            "the buffer shrinks while draining"
        );
    }
    assert_eq!(reads, (32 << 20) / 16 + 1);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "message contains a line break")]
fn a_line_break_inside_a_message_panics_frm_02() {
    Outbox::new(RETAINED_BYTES_MAX).append(|out| out.extend_from_slice(b"{\n}"));
}

#[test]
fn no_more_bytes_are_moved_than_taken() {
    let half = 4 * RETAINED_BYTES_MAX;
    for read in [16, 1000, half] {
        let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
        put(&mut outbox, 2 * half);
        assert_eq!(outbox.len(), 2 * half + 1, "half of it is not most of it");
        let (mut taken, mut moved) = (0, 0);
        while outbox.has_remaining() {
            let before = outbox.sent;
            let read = read.min(outbox.len());
            taken += read;
            outbox.advance(read);
            if outbox.sent < before + read {
                moved += outbox.len();
            }
            assert!(moved <= taken, "moved {moved} bytes for {taken} taken, {read} at a time");
        }
    }
}

#[test]
fn a_shrunk_queue_keeps_room_to_double() {
    let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
    put(&mut outbox, 4 * RETAINED_BYTES_MAX - 1);
    outbox.advance(3 * RETAINED_BYTES_MAX);
    assert_eq!((outbox.len(), outbox.sent), (RETAINED_BYTES_MAX, 0), "the rest moved to the front");
    let room = outbox.buffer.capacity();
    assert!(room <= 2 * RETAINED_BYTES_MAX, "{room}");
    put(&mut outbox, RETAINED_BYTES_MAX - 1);
    assert_eq!(outbox.buffer.capacity(), room, "the buffer did not grow");
}

#[test]
fn taken_bytes_count_until_written() {
    let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
    let mut chunk = Vec::new();
    put(&mut outbox, 9);
    outbox.take_all(&mut chunk);
    assert!(outbox.is_empty() && outbox.sent_total() == 10);
    assert_eq!(outbox.waiting(), 10);
    outbox.mark_written(4);
    assert_eq!(outbox.waiting(), 6);
    outbox.take_all(&mut chunk);
    assert!(chunk.is_empty() && outbox.waiting() == 0, "the earlier chunk counts as written");
}

#[test]
fn a_large_buffer_is_handed_over_and_not_kept() {
    for (room, is_kept) in [
        (RETAINED_BYTES_MAX, true),
        (RETAINED_BYTES_MAX + 1, false),
        (4 * RETAINED_BYTES_MAX, false),
    ] {
        let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
        let mut chunk = Vec::with_capacity(room);
        put(&mut outbox, 9);
        outbox.take_all(&mut chunk);
        assert_eq!(chunk.len(), 10);
        // The chunk's buffer is used for the next messages.
        assert_eq!(outbox.buffer.capacity() >= RETAINED_BYTES_MAX, is_kept, "{room}");
        assert!(outbox.buffer.capacity() <= RETAINED_BYTES_MAX, "{room}");
    }
    let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
    let mut chunk = Vec::with_capacity(RETAINED_BYTES_MAX);
    put(&mut outbox, 9);
    outbox.advance(1);
    outbox.take_all(&mut chunk);
    assert_eq!(
        (chunk.len(), chunk.capacity() >= RETAINED_BYTES_MAX),
        (9, true),
        "a partly taken message is copied"
    );
}

#[test]
fn a_returned_buffer_is_reused_only_if_the_outbox_is_empty() {
    let mut outbox = Outbox::new(RETAINED_BYTES_MAX);
    let mut chunk = Vec::new();
    put(&mut outbox, 2 * RETAINED_BYTES_MAX);
    outbox.take_all(&mut chunk);
    let room = chunk.as_ptr();
    outbox.reuse(mem::take(&mut chunk));
    assert!(outbox.is_empty() && outbox.chunk().is_empty());
    put(&mut outbox, RETAINED_BYTES_MAX);
    outbox.take_all(&mut chunk);
    assert_eq!((chunk.len(), chunk.as_ptr()), (RETAINED_BYTES_MAX + 1, room));
    put(&mut outbox, 9);
    outbox.reuse(mem::take(&mut chunk));
    assert_eq!(outbox.len(), 10, "queued bytes stay in place");
    outbox.advance(1);
    outbox.reuse(Vec::with_capacity(RETAINED_BYTES_MAX));
    assert_eq!(outbox.len(), 9);
}
