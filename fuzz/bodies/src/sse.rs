//! Event streams: a stream in pieces against the whole stream, and encoding against parsing.

use std::time::Duration;

use mcp_harness::Seed;
use mcp_proto::http::sse::{EventReader, Item, OutgoingEvent, comment};

/// The longest data of an event: short, so that many exceed it.
const DATA_BYTES_MAX: usize = 48;

/// The longest id and type.
const FIELD_BYTES_MAX: usize = 12;

/// Any split of an event stream yields equal events, and an encoded event is parsed unchanged.
pub fn sse(data: &[u8]) {
    let Some((first, stream)) = data.split_first() else { return };
    let whole = split(stream, || stream.len().max(1));
    let mut seed = Seed(u64::from(*first));
    for pieces in [1, 2 + seed.below(7), 8 + seed.below(64)] {
        assert_eq!(split(stream, || pieces), whole, "in pieces of {pieces}");
    }
    assert_eq!(split(stream, || 1 + seed.below(40)), whole, "in pieces of {seed:?}");
    written(stream, *first);
}

/// A parsed event: type, data, id and retry; `None` if one was too long.
type Seen = Option<(String, Option<Vec<u8>>, Option<String>, Option<Duration>)>;

/// The parsed events, the final state, and whether an event was cut off.
type Shown = (Vec<Seen>, Option<String>, Option<Duration>, bool);

fn split(mut stream: &[u8], mut size: impl FnMut() -> usize) -> Shown {
    let mut reader = EventReader::new(DATA_BYTES_MAX, FIELD_BYTES_MAX);
    let mut seen = Vec::new();
    while !stream.is_empty() {
        let (mut piece, rest) = stream.split_at(size().min(stream.len()));
        stream = rest;
        while let Some(found) = reader.next(&mut piece) {
            seen.push(match found {
                Item::TooLong => None,
                Item::Event(event) => {
                    let data = event.data.map(|data| data.into_owned());
                    assert!(data.as_ref().is_none_or(|data| data.len() <= DATA_BYTES_MAX));
                    assert!(event.id.is_none_or(|id| id.len() <= 3 * FIELD_BYTES_MAX));
                    Some((event.kind.to_owned(), data, event.id.map(Into::into), event.retry))
                }
            });
        }
        assert!(piece.is_empty(), "all of it is used up");
    }
    let cut_off = reader.finish();
    (seen, reader.last_id().map(Into::into), reader.retry(), cut_off)
}

/// Encodes an event whose id, type and data are the parts of `bytes`, and parses it.
fn written(bytes: &[u8], seed: u8) {
    let mut parts = bytes
        .splitn(3, |byte| *byte == b'|')
        .map(|part| String::from_utf8_lossy(part).into_owned());
    let (id, kind, data) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
    let retry = (seed & 1 == 1).then(|| Duration::from_millis(u64::from(seed)));
    let frame =
        OutgoingEvent { id: id.as_deref(), kind: kind.as_deref(), retry, data: data.as_bytes() };
    let mut stream = Vec::new();
    assert_eq!(comment(&mut stream, "quiet"), Ok(()));
    let before = stream.len();
    if frame.write(&mut stream).is_err() {
        return assert_eq!(stream.len(), before, "nothing is added");
    }
    let mut reader = EventReader::new(usize::MAX, usize::MAX);
    let mut input = &stream[..];
    let Some(Item::Event(event)) = reader.next(&mut input) else {
        panic!("{frame:?} is not an event")
    };
    assert_eq!(event.data.as_deref(), Some(data.as_bytes()));
    assert_eq!(event.kind, kind.filter(|kind| !kind.is_empty()).as_deref().unwrap_or("message"));
    assert_eq!((event.id, event.retry), (id.as_deref(), retry));
    assert_eq!(reader.next(&mut input), None, "one event");
}
