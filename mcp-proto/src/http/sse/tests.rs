//! Tests of the reader against a reference model for every split of a stream, and of round trips.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// An event of the model; `None` if it exceeded a limit.
type Parsed = Option<Block>;

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Block {
    kind: String,
    data: Option<Vec<u8>>,
    id: Option<String>,
    retry: Option<Duration>,
}

#[derive(Debug, Default, Eq, PartialEq)]
struct Read {
    events: Vec<Parsed>,
    last_id: String,
    retry: Option<Duration>,
}

/// Parses a whole stream line by line, as the WHATWG standard describes it: the reference model.
// SSE-01…11: parsing rules. SSE-23: limits.
fn model(stream: &[u8], data_max: usize, field_max: usize) -> Read {
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let mut lines = vec![Vec::new()];
    for (at, byte) in stream.iter().enumerate() {
        match byte {
            b'\n' if at > 0 && stream[at - 1] == b'\r' => {}
            b'\r' | b'\n' => lines.push(Vec::new()),
            _ => lines.last_mut().unwrap().push(*byte),
        }
    }
    let unended = lines.pop().unwrap();
    let mut read = Read::default();
    let (mut block, mut too_long) = (Block::default(), false);
    for (line, ended) in lines.iter().map(|line| (line, true)).chain([(&unended, false)]) {
        if line.is_empty() {
            if ended && !too_long {
                let block = core::mem::take(&mut block);
                read.last_id = block.id.clone().unwrap_or(read.last_id);
                if block.data.is_some() || block.id.is_some() || block.retry.is_some() {
                    let kind = if block.kind.is_empty() { "message".into() } else { block.kind };
                    read.events.push(Some(Block { kind, ..block }));
                }
            }
            too_long &= !ended;
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        if too_long || !ended && colon.is_none() {
            continue;
        }
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let length = match name {
            b"data" => {
                block.data = Some(
                    block
                        .data
                        .map_or_else(|| value.to_vec(), |data| [&data, &b"\n"[..], value].concat()),
                );
                too_long = block.data.as_ref().unwrap().len() > data_max;
                0
            }
            b"event" | b"id" | b"retry" => value.len(),
            _ => 0,
        };
        too_long |= length > field_max;
        if too_long {
            block = Block::default();
            read.events.push(None);
        } else if ended {
            let text = core::str::from_utf8(value);
            match name {
                b"event" => block.kind = String::from_utf8_lossy(value).to_string(),
                b"id" if text.is_ok_and(|id| !id.contains('\0')) => {
                    block.id = text.ok().map(String::from);
                }
                b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                    let number = text.unwrap().parse().unwrap_or(u64::MAX);
                    block.retry = Some(Duration::from_millis(number));
                    read.retry = block.retry;
                }
                _ => {}
            }
        }
    }
    read
}

fn parsed(found: Item<'_>) -> Parsed {
    match found {
        Item::Event(IncomingEvent { kind, data, id, retry }) => Some(Block {
            kind: kind.into(),
            data: data.map(Cow::into_owned),
            id: id.map(String::from),
            retry,
        }),
        Item::TooLong => None,
    }
}

fn read_more<'a>(
    reader: &mut EventReader,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Parsed> {
    let mut all = Vec::new();
    for mut chunk in chunks {
        while let Some(found) = reader.next(&mut chunk) {
            all.push(parsed(found));
        }
        assert!(chunk.is_empty(), "all input is consumed");
    }
    all
}

fn read_with<'a>(
    data_max: usize,
    field_max: usize,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Read {
    let mut reader = EventReader::new(data_max, field_max);
    let events = read_more(&mut reader, chunks);
    reader.finish();
    Read { events, last_id: reader.last_id().unwrap_or_default().into(), retry: reader.retry() }
}

fn read(stream: impl AsRef<[u8]>) -> Read {
    read_with(usize::MAX, usize::MAX, [stream.as_ref()])
}

/// Returns the data of all blocks; `None` for a block without data.
fn data(stream: impl AsRef<[u8]>) -> Vec<Option<String>> {
    let text = |block: Parsed| block.unwrap().data.map(|data| String::from_utf8(data).unwrap());
    read(stream).events.into_iter().map(text).collect()
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).into())).collect()
}

/// Fragments that make syntactically significant streams likely.
const SCRAPS: &[&[u8]] = &[
    b"\n",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"\r\n\r\n",
    b"data",
    b"data:",
    b"data: ",
    b"data: x\n",
    b"data:y\r\n\r\n",
    b"event",
    b"event: ping\n",
    b"id",
    b"id: 1\n",
    b"id:2\r",
    b"id\n",
    b"retry",
    b"retry: 10\n",
    b"retry:",
    b"99999999999999999999",
    b"7",
    b":",
    b" ",
    b"\0",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"\xBB",
    b"\xFF",
    b"a",
    b"dat",
    b"Data: z\n",
    b"xxxxxxxxxxxx",
    b"datax: 1\n",
    "é".as_bytes(),
    "\u{2028}".as_bytes(),
];

fn stream() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => proptest::collection::vec(select(SCRAPS), 0..28).prop_map(|scraps| scraps.concat()),
        1 => proptest::collection::vec(any::<u8>(), 0..60),
    ]
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![select(" :\0\u{feff}aé\u{2028}0".chars().collect::<Vec<_>>()), any::<char>()],
        0..8,
    )
    .prop_map(|text| text.into_iter().filter(|char| !"\r\n".contains(*char)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn any_split_of_any_stream_matches_the_model_sse_01(
        stream in stream(), data_max in 0_usize..16, field_max in 0_usize..16,
        sizes in proptest::collection::vec(0_usize..9, 1..40),
    ) {
        let wanted = model(&stream, data_max, field_max);
        let mut rest = &stream[..];
        let mut chunks = Vec::new();
        for size in sizes.iter().cycle().take(stream.len() * 40 + 1) {
            let (chunk, after) = rest.split_at((*size).min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        chunks.push(rest);
        prop_assert_eq!(&read_with(data_max, field_max, chunks), &wanted);
        prop_assert_eq!(&read_with(data_max, field_max, stream.chunks(1)), &wanted);
        let unlimited = model(&stream, usize::MAX, usize::MAX);
        prop_assert_eq!(read_with(usize::MAX, usize::MAX, stream.chunks(2)), unlimited);
        for at in 0..=stream.len() {
            let halves = [&stream[..at], &stream[at..]];
            prop_assert_eq!(&read_with(data_max, field_max, halves), &wanted, "split at {}", at);
        }
    }

    #[test]
    fn memory_is_bounded_by_the_limits_sse_23(
        scraps in proptest::collection::vec((select(SCRAPS), 1_usize..200), 0..16),
        data_max in 0_usize..2000, field_max in 0_usize..300, size in 1_usize..500,
    ) {
        let stream: Vec<u8> =
            scraps.iter().flat_map(|(scrap, times)| scrap.repeat(*times)).collect();
        let mut reader = EventReader::new(data_max, field_max);
        let mut all = Vec::new();
        for chunk in stream.chunks(size) {
            all.extend(read_more(&mut reader, [chunk]));
            // Replacement characters can triple the length of a type; names take a few bytes.
            let held_max = 2 * data_max + 2 * (1 + 3 + 1 + 1) * field_max + 64;
            prop_assert!(reader.held() <= held_max, "{}", reader.held());
        }
        prop_assert_eq!(all, model(&stream, data_max, field_max).events);
        reader.finish();
        prop_assert!(reader.block_is_small());
    }

    // SSE-13
    #[test]
    fn written_events_round_trip_sse_13(
        frames in proptest::collection::vec(
            (
                proptest::option::of(text()),
                proptest::option::of(text()),
                proptest::option::of(any::<u64>()),
                text(),
                text(),
            ),
            0..6,
        ),
        size in 1_usize..20,
    ) {
        let (mut stream, mut wanted) = (Vec::new(), Vec::new());
        for (id, kind, retry, data, note) in &frames {
            comment(&mut stream, note).unwrap();
            let retry = retry.map(Duration::from_millis);
            let (id_text, kind_text) = (id.as_deref(), kind.as_deref());
            let bytes = data.as_bytes();
            let frame = OutgoingEvent { id: id_text, kind: kind_text, retry, data: bytes };
            let before = stream.len();
            let written = frame.write(&mut stream);
            if id.as_ref().is_some_and(|id| id.contains('\0')) {
                prop_assert_eq!((written, stream.len()), (Err(Unwritable::Character), before));
                continue;
            }
            prop_assert_eq!(written, Ok(()));
            let kind = kind_text.filter(|kind| !kind.is_empty()).unwrap_or("message").into();
            let data = Some(data.clone().into_bytes());
            wanted.push(Some(Block { kind, data, id: id.clone(), retry }));
        }
        let read = read_with(usize::MAX, usize::MAX, stream.chunks(size));
        prop_assert_eq!(read.events, wanted);
    }

    #[test]
    fn long_data_matches_the_model_for_any_length_and_split(
        lengths in proptest::collection::vec(
            prop_oneof![0_usize..40, 4090_usize..4100, 0_usize..20_000],
            1..6,
        ),
        size in 1_usize..6000,
        max in prop_oneof![Just(4096_usize), Just(usize::MAX), 0_usize..20_000],
    ) {
        let mut stream = Vec::new();
        for length in lengths {
            let event = OutgoingEvent { data: &vec![b'x'; length], ..OutgoingEvent::default() };
            event.write(&mut stream).unwrap();
        }
        prop_assert_eq!(read_with(max, 9, stream.chunks(size)), model(&stream, max, 9));
    }
}

#[test]
fn lines_end_at_lf_cr_and_crlf_sse_01() {
    for stream in
        ["data: 1\n\ndata: 2\n\n", "data: 1\r\rdata: 2\r\r", "data: 1\r\n\r\ndata: 2\r\n\r\n"]
    {
        assert_eq!(data(stream), some(&["1", "2"]));
    }
    assert_eq!(data("data: 1\n\r\ndata: 2\r\n\rdata: 3\r\r\n"), some(&["1", "2", "3"]));
}

#[test]
fn a_crlf_split_between_chunks_ends_one_line_t_81() {
    let mut reader = EventReader::new(99, 99);
    assert_eq!(read_more(&mut reader, [&b"data: 1\r"[..]]), []);
    assert_eq!(read_more(&mut reader, [&b"\n"[..]]), [], "the LF of a CRLF is not a blank line");
    let event = read_more(&mut reader, [&b"data: 2\r\n\r"[..]]);
    assert_eq!(
        event[0].as_ref().unwrap().data.as_deref(),
        Some(&b"1\n2"[..]),
        "returned without waiting for an LF"
    );
    assert_eq!(read_more(&mut reader, [&b""[..], b"\n", b"\n"]), []);
}

#[test]
fn one_byte_order_mark_at_the_start_is_dropped_sse_02() {
    assert_eq!(data("\u{feff}data: 1\n\n"), some(&["1"]));
    assert_eq!(data("\u{feff}\u{feff}data: 1\n\n"), []);
    assert_eq!(data("\n\u{feff}data: 1\n\n"), []);
    assert_eq!(data("data: \u{feff}1\n\n"), some(&["\u{feff}1"]));
    assert_eq!(
        data(b"\xEF\xBBdata: 1\ndata: 2\n\n"),
        some(&["2"]),
        "an incomplete mark is part of a name"
    );
}

#[test]
fn lines_of_data_are_joined_by_lf_sse_03() {
    assert_eq!(data("data: {\ndata: \"a\":1\ndata\ndata:}\n\n"), some(&["{\n\"a\":1\n\n}"]));
    assert_eq!(data("data\ndata\n\n"), some(&["\n"]));
    assert_eq!(
        data("data: YHOO\ndata: +2\ndata: 10\n\n"),
        some(&["YHOO\n+2\n10"]),
        "an example in the WHATWG standard"
    );
}

#[test]
fn one_space_after_the_colon_is_dropped_sse_04() {
    assert_eq!(
        data("data:x\n\ndata: x\n\ndata:  x\n\ndata:\tx\n\n"),
        some(&["x", "x", " x", "\tx"])
    );
    assert_eq!(
        data("data : x\n\n data: x\n\n"),
        [],
        "a space before the colon is part of the name"
    );
}

#[test]
fn lines_without_a_colon_and_unknown_fields_are_accepted_sse_05() {
    assert_eq!(data("data\n\nwhatever\nfoo: bar\nDATA: x\ndatas: x\ndat: x\n\n"), some(&[""]));
    assert_eq!(data("a:b:c\ndata: a:b:c\n\n"), some(&["a:b:c"]));
}

#[test]
fn comments_are_ignored_sse_06_http_54() {
    assert_eq!(
        data(":\r\n\r\n: ping\n\n:data: x\n\ndata: 1\n: between\ndata: 2\n\n"),
        some(&["1\n2"])
    );
    let mut stream = Vec::new();
    comment(&mut stream, "still here").unwrap();
    assert_eq!(stream, b": still here\n\n");
    assert_eq!(read(&stream), Read::default());
}

#[test]
fn a_block_without_data_only_sets_id_and_retry_sse_07() {
    let read = read("event: x\n\nid: 5\n\nretry: 3\n\nevent: y\ndata: 1\n\ndata: 2\n\n");
    let kinds: Vec<_> = read.events.iter().flatten().map(|block| &*block.kind).collect();
    assert_eq!(kinds, ["message", "message", "y", "message"], "a type does not outlive its block");
    assert_eq!(
        read.events[0].as_ref().unwrap(),
        &Block { kind: "message".into(), id: Some("5".into()), ..Block::default() }
    );
    assert_eq!((read.last_id.as_str(), read.retry), ("5", Some(Duration::from_millis(3))));
}

#[test]
fn an_incomplete_event_is_dropped_with_its_id_sse_08_t_83_t_87() {
    for (stream, open) in [
        ("id: 1\ndata: x\n\nid: 2\ndata: y\n", true),
        ("id: 1\ndata: x\n\nid: 2\ndata: y", true),
        ("id: 1\ndata: x\n\nid: 2\n", true),
        ("id: 1\ndata: x\n\nevent: y\n", true),
        ("id: 1\ndata: x\n\nid", true),
        ("id: 1\ndata: x\n\n: comm", true),
        ("id: 1\ndata: x\n\n: comment\n", false),
        ("id: 1\ndata: x\n\n", false),
        ("id: 1\ndata: x\n\r", false),
    ] {
        let mut reader = EventReader::new(99, 99);
        assert_eq!(read_more(&mut reader, [stream.as_bytes()]).len(), 1);
        assert_eq!(reader.finish(), open, "{stream:?}");
        assert!(!reader.finish());
        assert_eq!(reader.last_id(), Some("1"), "{stream:?}");
        // The dropped event does not affect the connection that resumes.
        let resumed = read_more(&mut reader, [&b"\xEF\xBB\xBFdata: z\n\n"[..]]);
        let wanted =
            Block { kind: "message".into(), data: Some(b"z".to_vec()), ..Block::default() };
        assert_eq!(resumed, [Some(wanted)]);
        assert_eq!(reader.last_id(), Some("1"), "kept until the next id (SSE-20)");
    }
    assert_eq!(EventReader::new(9, 9).last_id(), None);
    // A final CR does not combine with an LF at the start of the next connection.
    let mut reader = EventReader::new(99, 99);
    assert_eq!(read_more(&mut reader, [&b"data\r\r"[..]]).len(), 1);
    assert!(!reader.finish());
    assert_eq!(read_more(&mut reader, [&b"\n\xEF\xBB\xBFdata\n\n"[..]]), []);
}

#[test]
fn a_priming_event_has_no_message_sse_09_t_82() {
    for stream in ["id: 1\ndata\n\n", "id: 1\ndata:\n\n", "id: 1\ndata: \n\n"] {
        let mut reader = EventReader::new(99, 99);
        let mut input = stream.as_bytes();
        let Some(Item::Event(event)) = reader.next(&mut input) else { panic!("no event") };
        assert_eq!((event.data.as_deref(), event.message()), (Some(&b""[..]), None));
        assert_eq!(reader.last_id(), Some("1"));
    }
}

#[test]
fn an_id_with_nul_is_ignored_and_an_empty_one_resets_sse_10() {
    let last = |stream: &str| read(stream).last_id;
    assert_eq!(last("id: 1\n\nid: a\0b\n\n"), "1");
    assert_eq!(last("id: 1\n\nid:\n\n"), "");
    assert_eq!(last("id: 1\n\nid\n\n"), "");
    assert_eq!(last("id: 1\n\ndata: x\n\n"), "1");
    assert_eq!(last("id: 1\nid: 2\nid: 3\0\n\n"), "2");
    assert_eq!(
        read("id\n\n").events[0].as_ref().unwrap().id.as_deref(),
        Some(""),
        "an empty id differs from a missing one"
    );
    assert_eq!(read(b"id: 1\n\nid: \xFF\n\n").last_id, "1", "an id that is not UTF-8 is ignored");
}

#[test]
fn a_retry_is_digits_only_sse_11() {
    let retry =
        |value: &str| read(alloc::format!("retry:{value}\n")).retry.map(|retry| retry.as_millis());
    assert_eq!(retry(" 500"), Some(500));
    assert_eq!(retry("007"), Some(7));
    assert_eq!(retry("99999999999999999999999"), Some(u64::MAX.into()));
    for value in ["", " ", "5x", "-1", "+1", "1.5", "  1", "1 ", "0x1", "١"] {
        assert_eq!(retry(value), None, "{value:?}");
    }
}

// SSE-12
#[test]
fn only_events_of_type_message_carry_messages_sse_12() {
    let messages = |stream: &str| {
        let mut reader = EventReader::new(99, 99);
        let mut input = stream.as_bytes();
        let Some(Item::Event(event)) = reader.next(&mut input) else { panic!("no event") };
        (event.kind.to_string(), event.message().is_some())
    };
    assert_eq!(messages("data: x\n\n"), ("message".into(), true));
    assert_eq!(messages("event: message\ndata: x\n\n"), ("message".into(), true));
    assert_eq!(messages("event:\ndata: x\n\n"), ("message".into(), true));
    assert_eq!(messages("event: endpoint\ndata: /x\n\n"), ("endpoint".into(), false));
    assert_eq!(messages("event: Message\ndata: x\n\n"), ("Message".into(), false));
}

#[test]
fn invalid_utf_8_in_data_is_passed_on_unchanged_json_20() {
    let read = read(b"event: \xFFa\ndata: \xFF\"\n\n");
    let block = read.events[0].as_ref().unwrap();
    assert_eq!((&*block.kind, block.data.as_deref()), ("\u{fffd}a", Some(&b"\xFF\""[..])));
}

// SSE-13
#[test]
fn each_field_is_written_as_one_line_sse_13_sse_24() {
    let mut stream = Vec::new();
    OutgoingEvent { data: b"{\"a\":1}", ..OutgoingEvent::default() }.write(&mut stream).unwrap();
    assert_eq!(stream, b"data: {\"a\":1}\n\n", "no id by default");
    stream.clear();
    let retry = Some(Duration::from_micros(1_500_999));
    OutgoingEvent { id: Some("s/1"), kind: Some("endpoint"), retry, data: "é".as_bytes() }
        .write(&mut stream)
        .unwrap();
    assert_eq!(stream, "id: s/1\nevent: endpoint\nretry: 1500\ndata: é\n\n".as_bytes());
}

#[test]
fn writing_an_event_reserves_little_more_than_its_length_sec_19() {
    let text = "x".repeat(100);
    let mut stream = Vec::new();
    OutgoingEvent { id: Some(&text), kind: Some(&text), retry: None, data: text.as_bytes() }
        .write(&mut stream)
        .unwrap();
    assert!(stream.len() > 300 && stream.capacity() <= stream.len() + 64, "{}", stream.capacity());
}

#[test]
fn line_breaks_cannot_inject_fields_sse_13() {
    let plain = OutgoingEvent::default();
    for bad in ["a\nb", "a\rb", "\r\n", "x\n\ndata: y", "\n"] {
        let frames = [
            OutgoingEvent { id: Some(bad), ..plain },
            OutgoingEvent { kind: Some(bad), ..plain },
            OutgoingEvent { data: bad.as_bytes(), ..plain },
        ];
        let mut stream = b"before".to_vec();
        for frame in frames {
            assert_eq!(frame.write(&mut stream), Err(Unwritable::Character), "{frame:?}");
        }
        assert_eq!(comment(&mut stream, bad), Err(Unwritable::Character));
        assert_eq!(stream, b"before", "nothing is appended");
    }
    let mut stream = Vec::new();
    assert_eq!(
        OutgoingEvent { id: Some("a\0"), ..plain }.write(&mut stream),
        Err(Unwritable::Character)
    );
    assert_eq!(
        OutgoingEvent { data: b"\xFF", ..plain }.write(&mut stream),
        Err(Unwritable::NotUtf8)
    );
    assert!(stream.is_empty());
}

#[test]
fn an_oversized_event_is_reported_once_and_the_next_is_read_sse_23() {
    let long = "x".repeat(100_000);
    for event in [
        alloc::format!("data: {long}\nid: 2\ndata: y\n\n"),
        alloc::format!("id: 2\ndata: {}\n\n", "\ndata: ab".repeat(10_000)),
        alloc::format!("id: {long}\r\n\r\n"),
        alloc::format!("data: lost\revent: {long}\r\r"),
        alloc::format!("retry: {}\n\n", "0".repeat(100)),
    ] {
        let stream = alloc::format!("id: 1\n\n{event}data: next\n\n");
        for size in [1, 7, 4096, 1 << 20] {
            let read = read_with(10, 10, stream.as_bytes().chunks(size));
            assert_eq!(read.events.len(), 3);
            assert_eq!(read.events[1], None);
            assert_eq!(read.events[2].as_ref().unwrap().data.as_deref(), Some(&b"next"[..]));
            assert_eq!(
                (&*read.last_id, read.retry),
                ("1", None),
                "the id of an oversized event is dropped"
            );
        }
    }
}

#[test]
fn comments_and_unknown_fields_have_no_limit_sse_06_sse_23() {
    let mut reader = EventReader::new(4, 4);
    for _ in 0..10_000 {
        let events = read_more(&mut reader, [&b":xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"[..]]);
        assert_eq!(events, []);
    }
    assert!(reader.held() <= 64);
    assert_eq!(read_more(&mut reader, [&b"\nfoobar: xxxxxxxxxxxxxx\ndata: 1234\n\n"[..]]).len(), 1);
}

#[test]
fn discarding_uses_no_memory_sse_23() {
    let mut reader = EventReader::new(1000, 10);
    assert_eq!(read_more(&mut reader, [&b"data:"[..]]), []);
    let chunk = b"xxxxxxxxxxxxxxxx\ndata: more".repeat(20);
    let events: Vec<Parsed> =
        (0..20_000).flat_map(|_| read_more(&mut reader, [&chunk[..]])).collect();
    assert_eq!(events, [None]);
    assert!(reader.held() <= 2048);
    assert!(reader.finish());
}

#[test]
fn long_data_is_returned_without_a_copy() {
    let mut reader = EventReader::new(usize::MAX, 9);
    let stream = [&b"data: "[..], &vec![b'x'; 1 << 20], b"\n\n"].concat();
    let mut input = &stream[..];
    let Some(Item::Event(IncomingEvent { data: Some(Cow::Owned(data)), .. })) =
        reader.next(&mut input)
    else {
        panic!("the data is not owned")
    };
    assert_eq!(data.len(), 1 << 20);
    assert!(reader.block_is_small());
    let mut short = EventReader::new(1 << 20, 9);
    assert_eq!(read_more(&mut short, [&stream[..stream.len() - 2], b"y"]), [None]);
    assert!(short.block_is_small(), "an oversized event leaves no large buffer");
    let mut input = &b"data: abc\n\n"[..];
    let Some(Item::Event(event)) = reader.next(&mut input) else { panic!("no event") };
    assert_eq!(event.data, Some(Cow::Borrowed(&b"abc"[..])), "short data is borrowed");
}

#[test]
fn reading_byte_by_byte_is_linear() {
    // Quadratic parsing would take hours here.
    let mut stream = Vec::new();
    OutgoingEvent { data: &vec![b'x'; 1 << 20], ..OutgoingEvent::default() }
        .write(&mut stream)
        .unwrap();
    stream.extend([&b"id: "[..], &vec![b'y'; 1 << 19], b"\n"].concat());
    stream.extend(b"data\n".repeat(1 << 17));
    stream.extend(b"\n");
    let read = read_with(usize::MAX, usize::MAX, stream.chunks(1));
    assert_eq!((read.events.len(), read.last_id.len()), (2, 1 << 19));
}
