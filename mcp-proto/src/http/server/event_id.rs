//! The ids of events: each names its session, its stream, and the message's number in the stream.
//!
//! So ids are unique in a session, and an id of one session is invalid in every other. (SSE-14,
//! SSE-15)

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::connection::StreamId;
use crate::json::write_u64;

/// Returns the prefix of a session's event ids: it tells sessions apart and does not disclose their
/// ids.
pub(super) fn tag(session: &str) -> u32 {
    // FNV-1a.
    session.bytes().fold(0x811c_9dc5, |tag, byte| (tag ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The initial capacity of an id.
const ID_BYTES: usize = 32;

/// Returns the id of an event.
pub(super) fn event_id(tag: u32, stream: StreamId, number: u64) -> String {
    // Each event has one: this is faster than formatting.
    let mut id = Vec::with_capacity(ID_BYTES);
    let digits = tag.checked_ilog2().map_or(1, |highest| highest / 4 + 1);
    for place in (0..digits).rev() {
        let digit = char::from_digit(tag >> (4 * place) & 0xf, 16);
        id.extend(digit.map(|digit| digit as u8));
    }
    id.push(b'-');
    write_u64(&mut id, stream.0);
    id.push(b'-');
    write_u64(&mut id, number);
    String::from_utf8(id).unwrap_or_default()
}

/// Parses the id of an event of a session.
pub(super) fn read_event_id(tag: u32, id: &str) -> Option<(StreamId, u64)> {
    let id = id.strip_prefix(&*format!("{tag:x}-"))?;
    let (stream, number) = id.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(stream) || !digits(number) {
        return None;
    }
    let number = number.parse().ok().filter(|number| *number < u64::MAX)?;
    Some((StreamId(stream.parse().ok()?), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_id_names_its_session_stream_and_number_and_nothing_else_is_one() {
        let id = event_id(0xa1, StreamId(7), 12);
        assert_eq!((&*id, read_event_id(0xa1, &id)), ("a1-7-12", Some((StreamId(7), 12))));
        assert_eq!(read_event_id(0xa, &id), None, "another session's");
        for id in
            ["", "-", "1", "1-", "-1", "+1-2", "1-+2", "a-1", "1-2-3", "1-18446744073709551615"]
        {
            assert_eq!(read_event_id(0xa1, &format!("a1-{id}")), None, "{id}");
            assert_eq!(read_event_id(0xa1, id), None, "{id}");
        }
    }

    #[test]
    fn ids_are_written_as_they_were_read_before() {
        for tag in [0, 1, 0xf, 0x10, 0x811c_9dc5, u32::MAX] {
            assert_eq!(event_id(tag, StreamId(u64::MAX), 0), format!("{tag:x}-{}-0", u64::MAX));
        }
    }

    #[test]
    fn sessions_have_tags_of_their_own() {
        assert_ne!(tag("7c1e"), tag("7c1f"));
    }
}
