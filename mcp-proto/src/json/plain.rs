//! How much of a string is plain: neither a quote, a backslash nor a control byte; knows nothing of what surrounds it.

/// The bytes before the first quote, backslash or control byte; all of them if there is none.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < NEAR {
        let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<WORD>) else {
            return plain_tail(bytes, at);
        };
        let hits = hits(u64::from_le_bytes(*word));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += WORD;
    }
    plain_far(bytes)
}

/// How long a string is, with its quotes, if it is short, holds no escape and no control byte, and there is more behind
/// it. Most are, and those that are not are looked at again. It begins at `at`, which is not checked.
#[inline(always)]
pub(super) fn short_string_len(bytes: &[u8], at: usize) -> Option<usize> {
    let [_, inside @ ..] = bytes.get(at..)?.first_chunk::<{ 1 + 2 * WORD }>()?;
    let (first, second) = (inside.first_chunk::<WORD>()?, inside.last_chunk::<WORD>()?);
    let (mut at, mut hits) = (0, hits(u64::from_le_bytes(*first)));
    if hits == 0 {
        (at, hits) = (WORD, self::hits(u64::from_le_bytes(*second)));
        if hits == 0 {
            return None;
        }
    }
    at += (hits.trailing_zeros() / 8) as usize;
    (*inside.get(at)? == b'"').then_some(at + 2)
}

/// How many bytes there are before the quote that ends a string; nothing if an escape is before it. The text is known to
/// be JSON: it is not looked at for control bytes.
#[inline]
pub(super) fn unescaped_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    let hit = loop {
        let rest = bytes.get(at..)?;
        if at >= NEAR_CHECKED {
            break memchr::memchr2(b'"', b'\\', rest)?;
        }
        let Some(word) = rest.first_chunk::<WORD>() else {
            break rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        };
        let hits = quotes(u64::from_le_bytes(*word));
        if hits != 0 {
            break (hits.trailing_zeros() / 8) as usize;
        }
        at += WORD;
    };
    (bytes.get(at + hit) == Some(&b'"')).then_some(at + hit)
}

/// As `NEAR`, where it costs less to look further.
const NEAR_CHECKED: usize = 4 * WORD;

/// Most strings end before this.
const NEAR: usize = 12 * WORD;

const WORD: usize = 8;

/// As `plain_len`, where less than a word is left from `start` on.
#[cold]
fn plain_tail(bytes: &[u8], start: usize) -> usize {
    let tail = bytes.get(start..).unwrap_or_default();
    start + tail.iter().position(|&byte| is_special(byte)).unwrap_or(tail.len())
}

/// As `plain_len`, where there is nothing near.
#[inline(never)]
fn plain_far(bytes: &[u8]) -> usize {
    let rest = bytes.get(NEAR..).unwrap_or_default();
    let far = rest.get(..memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())).unwrap_or_default();
    // Without a way out, so that it can be done to many bytes at a time.
    let least = far.iter().fold(u8::MAX, |least, &byte| least.min(byte));
    let control = if least < 0x20 { far.iter().position(|&byte| byte < 0x20) } else { None };
    NEAR + control.unwrap_or(far.len())
}

const fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// A byte's high bit is set where the byte is below 0x20, a quote or a backslash. A borrow can set a bit falsely only
/// above a true one, so the lowest set bit is always right.
#[inline]
const fn hits(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let control = word.wrapping_sub(ONES * 0x20);
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let slash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    // A quote and a backslash are below 0x80, so that one mask does for all three.
    (control | quote | slash) & !word & HIGH
}

/// As `hits`, of text without control bytes.
#[inline]
const fn quotes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let slash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (quote | slash) & !word & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_ends_at_its_first_special_byte_near_and_far() {
        for filler in [b'a', b' ', b'!', 0xFF] {
            let plain = alloc::vec![filler; NEAR + 64];
            assert_eq!((plain_len(&plain), unescaped_len(&plain)), (plain.len(), None));
            for at in [0, 7, 8, 31, 32, 33, NEAR - 1, NEAR, NEAR + 1, NEAR + 40, NEAR + 63] {
                for special in [0, b'\n', 0x1F, b'"', b'\\'] {
                    let mut bytes = plain.clone();
                    bytes[at] = special;
                    assert_eq!(plain_len(&bytes), at, "{special} behind {at} of {filler}");
                    if special >= 0x20 {
                        let whole = (special == b'"').then_some(at);
                        assert_eq!(unescaped_len(&bytes), whole, "{special} behind {at} of {filler}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_special_byte_is_found_wherever_it_is() {
        for len in (0..24).chain(30..34).chain(94..100).chain(158..164) {
            let mut bytes = alloc::vec![b'a'; len];
            assert_eq!(plain_len(&bytes), len);
            assert_eq!(unescaped_len(&bytes), None);
            for at in 0..len {
                for byte in 0..=255 {
                    bytes[at] = byte;
                    let plain = if is_special(byte) { at } else { len };
                    assert_eq!(plain_len(&bytes), plain, "{byte} at {at} of {len}");
                    let unescaped = (byte == b'"').then_some(at);
                    assert_eq!(unescaped_len(&bytes), unescaped, "{byte} at {at} of {len}");
                    let quoted = [b"\"", &*bytes, b"\"+."].concat();
                    let whole = if byte == b'"' { Some(at + 2) } else { (plain == len).then_some(len + 2) };
                    let is_long_enough =
                        (14..=15).contains(&len) || whole == Some(at + 2) && (14..).contains(&len) && at < 16;
                    let short = short_string_len(&quoted, 0);
                    assert!(short.is_none() || short == whole, "{byte} at {at} of {len}");
                    assert!(short == whole || !is_long_enough, "{byte} at {at} of {len}");
                    // What comes behind it changes nothing.
                    if at + 1 < len {
                        bytes[at + 1] = byte.wrapping_add(1);
                        let next = if is_special(byte.wrapping_add(1)) { at + 1 } else { len };
                        assert_eq!(plain_len(&bytes), plain.min(next), "{byte} at {at} of {len}");
                        bytes[at + 1] = b'a';
                    }
                }
                bytes[at] = b'a';
            }
        }
    }

    #[test]
    fn a_short_string_is_as_long_as_it_is_where_more_follows() {
        for len in 0..2 * WORD + 2 {
            let text = alloc::format!("\"{}\"", "a".repeat(len));
            let whole = (len < 2 * WORD).then_some(len + 2);
            let with_more = alloc::format!("[{text}{}", ",".repeat(2 * WORD));
            assert_eq!(short_string_len(with_more.as_bytes(), 1), whole, "{len}");
            // What is near the end is looked at by others.
            let end = &with_more.as_bytes()[..2 * WORD + 1];
            assert_eq!(short_string_len(end, 1), None, "{len}");
            for special in ['\\', '\n', '\0'] {
                let other = alloc::format!("\"{}{special}\"{}", "a".repeat(len), ",".repeat(2 * WORD));
                assert_eq!(short_string_len(other.as_bytes(), 0), None, "{special:?} behind {len}");
            }
        }
        assert_eq!(short_string_len(b"\"a\"", 7), None);
    }
}
