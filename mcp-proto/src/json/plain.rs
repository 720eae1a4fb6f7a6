//! How much of a string is plain: neither a quote, a backslash nor a control byte; knows nothing of what surrounds it.

/// The bytes before the first quote, backslash or control byte; all of them if there is none.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    plain_near(bytes, NEAR, plain_far)
}

/// As `plain_len`, of text that is known to be JSON: it is not looked at for control bytes.
#[inline]
pub(super) fn checked_plain_len(bytes: &[u8]) -> usize {
    plain_near(bytes, NEAR_CHECKED, |bytes| unquoted_len(bytes, NEAR_CHECKED))
}

/// Most strings end before this.
const NEAR: usize = 12 * WORD;

/// The same, where it costs less to look further.
const NEAR_CHECKED: usize = 4 * WORD;

const WORD: usize = 8;

/// As `plain_len`, by `far` if the answer is not within `near` bytes.
#[inline(always)]
fn plain_near(bytes: &[u8], near: usize, far: impl Fn(&[u8]) -> usize) -> usize {
    let mut at = 0;
    while at < near {
        let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<WORD>) else {
            return plain_tail(bytes, at);
        };
        let hits = hits(u64::from_le_bytes(*word));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += WORD;
    }
    far(bytes)
}

/// As `plain_len`, where less than a word is left from `start` on.
#[cold]
fn plain_tail(bytes: &[u8], start: usize) -> usize {
    let tail = bytes.get(start..).unwrap_or_default();
    start + tail.iter().position(|&byte| is_special(byte)).unwrap_or(tail.len())
}

/// As `plain_len`, where there is nothing near.
#[inline(never)]
fn plain_far(bytes: &[u8]) -> usize {
    let end = unquoted_len(bytes, NEAR);
    let far = bytes.get(NEAR..end).unwrap_or_default();
    // Without a way out, so that it can be done to many bytes at a time.
    let least = far.iter().fold(u8::MAX, |least, &byte| least.min(byte));
    let control = if least < 0x20 { far.iter().position(|&byte| byte < 0x20) } else { None };
    control.map_or(end, |at| NEAR + at)
}

/// Where the first quote or backslash is, from `start` on.
#[inline(never)]
fn unquoted_len(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_ends_at_its_first_special_byte_near_and_far() {
        for filler in [b'a', b' ', b'!', 0xFF] {
            let plain = alloc::vec![filler; NEAR + 64];
            assert_eq!((plain_len(&plain), checked_plain_len(&plain)), (plain.len(), plain.len()));
            for at in [0, 7, 8, 31, 32, 33, NEAR - 1, NEAR, NEAR + 1, NEAR + 40, NEAR + 63] {
                for special in [0, b'\n', 0x1F, b'"', b'\\'] {
                    let mut bytes = plain.clone();
                    bytes[at] = special;
                    assert_eq!(plain_len(&bytes), at, "{special} behind {at} of {filler}");
                    if special >= 0x20 {
                        assert_eq!(checked_plain_len(&bytes), at, "{special} behind {at} of {filler}");
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
            assert_eq!(checked_plain_len(&bytes), len);
            for at in 0..len {
                for byte in 0..=255 {
                    bytes[at] = byte;
                    let plain = if is_special(byte) { at } else { len };
                    assert_eq!(plain_len(&bytes), plain, "{byte} at {at} of {len}");
                    if byte >= 0x20 {
                        assert_eq!(checked_plain_len(&bytes), plain, "{byte} at {at} of {len}");
                    }
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
}
