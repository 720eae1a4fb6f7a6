//! Event ids: each encodes its session, its stream, and the message number in the stream.
//!
//! The id of an event without a message has the number of the message before, and also ends with
//! the number of its exchange; each exchange sends at most one such event. Ids are therefore unique
//! within a session.
//! An id of another session is rejected, unless the hashes of both session ids are equal.
// SSE-14: ids are unique per session. SSE-15: they identify the stream.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::write_u64;
use crate::vocabulary::StreamId;

/// Returns the prefix of a session's event ids: a hash, which does not disclose the session id.
pub(super) fn session_tag(session: &str) -> u32 {
    // FNV-1a.
    session.bytes().fold(0x811c_9dc5, |tag, byte| (tag ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The initial capacity of an id.
const ID_BYTES: usize = 32;

/// Returns the id of an event.
pub(super) fn event_id(tag: u32, stream: StreamId, number: u64) -> String {
    // Written by hand because every event has an id and `format!` is slower.
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

/// Returns the id of an event without a message, with which an exchange begins.
pub(super) fn priming_id(tag: u32, stream: StreamId, number: u64, exchange: u64) -> String {
    format!("{}-{}", event_id(tag, stream, number), exchange)
}

/// Parses the id of an event of a session. Returns its stream, and the number of its message or of
/// the message before.
pub(super) fn read_event_id(tag: u32, id: &str) -> Option<(StreamId, u64)> {
    let id = id.strip_prefix(&*format!("{tag:x}-"))?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = id.split('-');
    let (stream, number) = (parts.next()?, parts.next()?);
    let exchange = parts.next();
    if ![Some(stream), Some(number), exchange].into_iter().flatten().all(digits)
        || parts.next().is_some()
    {
        return None;
    }
    let number = number.parse().ok().filter(|number| *number < u64::MAX)?;
    Some((StreamId(stream.parse().ok()?), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SSE-15
    #[test]
    fn event_ids_round_trip_and_other_text_is_rejected() {
        let id = event_id(0xa1, StreamId(7), 12);
        assert_eq!((&*id, read_event_id(0xa1, &id)), ("a1-7-12", Some((StreamId(7), 12))));
        assert_eq!(read_event_id(0xa, &id), None, "an id of another session");
        let id = priming_id(0xa1, StreamId(7), 12, 3);
        assert_eq!((&*id, read_event_id(0xa1, &id)), ("a1-7-12-3", Some((StreamId(7), 12))));
        for id in [
            "",
            "-",
            "1",
            "1-",
            "-1",
            "+1-2",
            "1-+2",
            "a-1",
            "1-2-",
            "1-2-a",
            "1-2-3-4",
            "1-18446744073709551615",
        ] {
            assert_eq!(read_event_id(0xa1, &format!("a1-{id}")), None, "{id}");
            assert_eq!(read_event_id(0xa1, id), None, "{id}");
        }
    }

    #[test]
    fn event_ids_equal_their_formatted_form() {
        for tag in [0, 1, 0xf, 0x10, 0x811c_9dc5, u32::MAX] {
            assert_eq!(event_id(tag, StreamId(u64::MAX), 0), format!("{tag:x}-{}-0", u64::MAX));
        }
    }

    #[test]
    fn sessions_have_different_tags() {
        assert_ne!(session_tag("7c1e"), session_tag("7c1f"));
    }
}
