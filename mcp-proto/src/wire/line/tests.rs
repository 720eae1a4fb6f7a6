//! Line splitting against a model, for every way to split a stream.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const RETAINED_BYTES_MAX: usize = 16 << 10;

/// A line of the model; `None` for one over the limit.
type ModelLine = Option<Vec<u8>>;

/// The lines of a whole stream, as the requirements state them.
// FRM-07…13.
fn model(stream: &[u8], max: usize) -> Vec<ModelLine> {
    let mut lines = Vec::new();
    for (at, line) in stream.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if at == 0 { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        if line.len() > max {
            lines.push(None);
        } else if !line.iter().all(|byte| b" \t\r".contains(byte)) {
            lines.push(Some(line.to_vec()));
        }
    }
    lines
}

fn model_line(line: Line<'_>) -> ModelLine {
    match line {
        Line::Borrowed(line) => Some(line.to_vec()),
        Line::Owned(line) => Some(line.to_vec()),
        Line::TooLong | Line::Discarded(_) => None,
    }
}

fn read<'a>(reader: &mut LineReader, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<ModelLine> {
    let mut lines = Vec::new();
    for mut chunk in chunks {
        while let Some(line) = reader.next(&mut chunk) {
            if !matches!(line, Line::Discarded(_)) {
                lines.push(model_line(line));
            }
        }
        assert!(chunk.is_empty(), "the whole input is consumed");
    }
    lines
}

fn read_all<'a>(max: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<ModelLine> {
    let mut reader = LineReader::new(max, RETAINED_BYTES_MAX);
    let mut lines = read(&mut reader, chunks);
    while let Some(line) = reader.finish() {
        if !matches!(line, Line::Discarded(_)) {
            lines.push(model_line(line));
        }
    }
    lines
}

/// Pieces of streams, rich in line ends, byte order marks and blanks.
const SCRAPS: &[&[u8]] = &[
    b"\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"\xBB\xBF",
    b" ",
    b"\t",
    b"a",
    b"{}",
    b"\0",
    b"\xFF",
    "\u{2028}".as_bytes(),
    "\u{85}".as_bytes(),
    b"xxxxxxxxxxxx",
];

fn stream() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(select(SCRAPS), 0..24).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn lines_do_not_depend_on_how_the_stream_is_split_frm_07(
        stream in stream(),
        max in 0_usize..20,
        sizes in proptest::collection::vec(0_usize..9, 1..40),
    ) {
        let expected = model(&stream, max);
        let mut rest = &stream[..];
        let mut chunks = Vec::new();
        for size in sizes.iter().cycle().take(stream.len() * 40 + 1) {
            let (chunk, after) = rest.split_at((*size).min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        chunks.push(rest);
        prop_assert_eq!(&read_all(max, chunks), &expected);
        prop_assert_eq!(&read_all(max, [&stream[..]]), &expected);
        prop_assert_eq!(&read_all(max, stream.chunks(1)), &expected);
        prop_assert_eq!(read_all(usize::MAX, stream.chunks(2)), model(&stream, usize::MAX));
        for at in 0..=stream.len() {
            let halves = [&stream[..at], &stream[at..]];
            prop_assert_eq!(&read_all(max, halves), &expected, "split at {}", at);
        }
    }

    #[test]
    fn long_lines_are_assembled_from_pieces(
        lengths in proptest::collection::vec(
            prop_oneof![0_usize..40, 4090_usize..4100, 0_usize..20_000],
            1..6,
        ),
        size in 1_usize..6000,
        max in prop_oneof![Just(4096_usize), Just(usize::MAX), 0_usize..20_000],
    ) {
        let line = |length: &usize| [vec![b'x'; *length], b"\r\n".to_vec()].concat();
        let stream: Vec<u8> = lengths.iter().flat_map(line).collect();
        prop_assert_eq!(read_all(max, stream.chunks(size)), model(&stream, max));
    }
}

#[test]
fn the_limit_applies_to_the_trimmed_line_frm_10() {
    for stream in ["\u{feff}abc\r\n", "abc\r\n", "abc\n", "\u{feff}abc\n", "\u{feff}abc", "abc\r"] {
        let (fits, too_long) = (vec![Some(b"abc".to_vec())], vec![None]);
        for size in 1..10 {
            assert_eq!(read_all(3, stream.as_bytes().chunks(size)), fits, "{stream:?}");
            assert_eq!(read_all(2, stream.as_bytes().chunks(size)), too_long, "{stream:?}");
        }
    }
}

#[test]
fn crlf_blank_lines_and_one_byte_order_mark_are_dropped_frm_08_frm_09() {
    let lines = |stream: &str| {
        read_all(99, [stream.as_bytes()]).into_iter().map(Option::unwrap).collect::<Vec<_>>()
    };
    assert_eq!(lines("{1}\r\n\n \t\r\n{2}\n"), [b"{1}", b"{2}"]);
    assert_eq!(lines("\u{feff}{}\n\u{feff}{}"), ["{}".as_bytes(), "\u{feff}{}".as_bytes()]);
    assert_eq!(lines("\u{feff}\u{feff}"), ["\u{feff}".as_bytes()]);
    assert_eq!(lines("\n\u{feff}"), ["\u{feff}".as_bytes()], "not at the start of the stream");
    assert_eq!(lines("a\r\r\n"), [b"a\r"], "only one CR");
}

#[test]
fn only_lf_ends_a_line_frm_13() {
    let stream = "{\"a\u{2028}b\u{2029}c\u{85}d\re\u{c}f\u{b}\"}";
    assert_eq!(read_all(99, [stream.as_bytes()]), [Some(stream.as_bytes().to_vec())]);
}

#[test]
fn an_overlong_line_is_reported_once_and_skipped_frm_10_frm_11() {
    let stream =
        [vec![b'x'; 100_000], b"\n{}\n".to_vec(), vec![b'y'; 11], b"\n[]".to_vec()].concat();
    for size in [1, 7, 4096, 200_000] {
        assert_eq!(
            read_all(10, stream.chunks(size)),
            [None, Some(b"{}".to_vec()), None, Some(b"[]".to_vec())]
        );
    }
}

#[test]
fn the_ends_of_a_discarded_line_do_not_depend_on_how_it_is_split_t_21() {
    let line = |length: usize| (0..length).map(|at| b'a' + (at % 26) as u8).collect::<Vec<_>>();
    let lines = [line(11), line(12), line(15), line(255), line(257), line(900), line(9_000)];
    let stream = lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect::<Vec<_>>();
    for size in [1, 5, 255, 256, 257, 1_000, 20_000] {
        let (mut reader, mut ends) = (LineReader::new(10, RETAINED_BYTES_MAX), Vec::new());
        for mut chunk in stream.chunks(size) {
            while let Some(line) = reader.next(&mut chunk) {
                if let Line::Discarded(line) = line {
                    ends.push(*line);
                }
            }
        }
        assert_eq!(ends.len(), lines.len());
        for (line, ends) in lines.iter().zip(ends) {
            assert_eq!(ends.first, line[..line.len().min(END_BYTES_MAX)]);
            assert_eq!(ends.last, line[line.len().saturating_sub(END_BYTES_MAX)..]);
        }
    }
}

#[test]
fn discarding_buffers_nothing_t_21() {
    let mut reader = LineReader::new(1000, RETAINED_BYTES_MAX);
    let chunk = [b'x'; 512];
    let mut lines = Vec::new();
    for _ in 0..100_000 {
        lines.extend(read(&mut reader, [&chunk[..]]));
        assert!(reader.partial.capacity() <= RETAINED_BYTES_MAX);
    }
    assert_eq!(lines, [None]);
    let ends = LineEnds { first: vec![b'x'; END_BYTES_MAX], last: vec![b'x'; END_BYTES_MAX] };
    assert_eq!(reader.finish(), Some(Line::Discarded(ends.into())), "already reported");
    assert_eq!(reader.finish(), None);
}

#[test]
fn single_byte_inputs_take_linear_time() {
    // Rescanning the line for every byte would take hours.
    let line = vec![b'x'; 2 << 20];
    let stream = [&line[..], b"\n"].concat();
    assert_eq!(read_all(usize::MAX, stream.chunks(1)), [Some(line)]);
}

#[test]
fn a_long_line_overallocates_by_at_most_a_quarter_sec_19() {
    let mut reader = LineReader::new(1 << 20, RETAINED_BYTES_MAX);
    let piece = [b'x'; 1000];
    let mut rooms = Vec::new();
    for held in (1000..=200_000).step_by(1000) {
        assert_eq!(reader.next(&mut &piece[..]), None);
        let room = reader.partial.capacity();
        assert!(held < 2 * OWNED_BYTES_MIN || room <= held + held / 4, "{room} for {held}");
        rooms.push(room);
    }
    rooms.dedup();
    assert!(rooms.len() < 30, "copied too often: {rooms:?}");
}

#[test]
fn an_assembled_long_line_takes_the_buffer_along() {
    let mut reader = LineReader::new(usize::MAX, RETAINED_BYTES_MAX);
    let long = vec![b'x'; 1 << 20];
    assert!(read(&mut reader, [&long[..]]).is_empty());
    let mut rest = &b"\r\n"[..];
    let Some(Line::Owned(line)) = reader.next(&mut rest) else { panic!("expected an owned line") };
    assert_eq!(line, long);
    assert_eq!(reader.partial.capacity(), 0);

    // A blank line of equal length leaves no capacity behind, either.
    let blank = vec![b' '; 1 << 20];
    assert!(read(&mut reader, [&blank[..], b"\n"]).is_empty());
    assert!(reader.partial.capacity() <= RETAINED_BYTES_MAX);

    let mut rest = &b"abc"[..];
    assert_eq!(reader.next(&mut rest), None);
    let mut rest = &b"d\nnext"[..];
    assert_eq!(reader.next(&mut rest), Some(Line::Borrowed(b"abcd")), "short lines are borrowed");
    assert_eq!(rest, b"next");
}

#[test]
fn the_end_of_the_stream_ends_the_last_line_once_frm_12() {
    let mut reader = LineReader::new(99, RETAINED_BYTES_MAX);
    assert!(read(&mut reader, [&b"{}\r"[..]]).is_empty());
    assert_eq!(reader.finish(), Some(Line::Owned(Bytes::from_static(b"{}"))));
    assert_eq!(reader.finish(), None);
    for nothing in ["", "\n", " \r", "\u{feff}", "\u{feff}\r\n \t"] {
        assert_eq!(read_all(9, [nothing.as_bytes()]), [], "{nothing:?}");
    }
}

#[test]
fn a_byte_order_mark_does_not_count_as_line_length() {
    for (length, is_handed_over) in [(OWNED_BYTES_MIN - 1, false), (OWNED_BYTES_MIN, true)] {
        let line = vec![b'x'; length];
        let mut reader = LineReader::new(usize::MAX, RETAINED_BYTES_MAX);
        assert!(read(&mut reader, [BOM, &line]).is_empty());
        let mut end = &b"\n"[..];
        match reader.next(&mut end) {
            Some(Line::Borrowed(found)) => assert!(found == line && !is_handed_over, "{length}"),
            Some(Line::Owned(found)) => assert!(found == line && is_handed_over, "{length}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_piece_that_fits_does_not_grow_the_buffer_sec_19() {
    let mut reader = LineReader::new(1 << 20, RETAINED_BYTES_MAX);
    assert_eq!(reader.next(&mut &[b'x'; OWNED_BYTES_MIN][..]), None);
    assert_eq!(reader.next(&mut &[b'x'; OWNED_BYTES_MIN / 8][..]), None);
    let room = reader.partial.capacity();
    let left = vec![b'x'; room - reader.partial.len()];
    assert!(!left.is_empty(), "there is room for a quarter more");
    assert_eq!(reader.next(&mut &left[..]), None);
    assert_eq!((reader.partial.len(), reader.partial.capacity()), (room, room));
}

#[test]
fn one_long_line_is_returned_without_a_copy_and_everything_else_is_left() {
    let long = |end: &str| Bytes::from("x".repeat(5000) + end);
    let mut reader = LineReader::new(10_000, RETAINED_BYTES_MAX);
    assert_eq!(reader.whole_line(&long("\n")), None, "a byte order mark may come first");
    read(&mut reader, [&b"first\n"[..]]);
    for end in ["\n", "\r\n"] {
        let input = long(end);
        let line = reader.whole_line(&input).unwrap();
        assert!(line.len() == 5000 && line.as_ptr() == input.as_ptr());
    }
    let others = [
        "x".repeat(5000),
        "x\n".repeat(3000),
        " ".repeat(5000) + "\n",
        "x".repeat(10_001) + "\n",
        "short\n".into(),
    ];
    for input in others {
        assert_eq!(reader.whole_line(&Bytes::from(input)), None);
    }
    read(&mut reader, [&b"the start of a line"[..]]);
    assert_eq!(reader.whole_line(&long("\n")), None);
}
