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

/// Words in which it is looked for the end of a string, before it costs less to look further.
const NEAR_QUOTE: usize = 4;

/// How many bytes there are before the quote that ends a string, if that is near and no escape is before it.
#[inline]
pub(super) fn near_quote(bytes: &[u8]) -> Option<usize> {
    for (number, word) in bytes.as_chunks::<WORD>().0.iter().take(NEAR_QUOTE).enumerate() {
        let hits = hits(u64::from_le_bytes(*word));
        if hits != 0 {
            let at = number * WORD + (hits.trailing_zeros() / 8) as usize;
            return (bytes.get(at) == Some(&b'"')).then_some(at);
        }
    }
    None
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_special_byte_is_found_wherever_it_is() {
        for len in (0..24).chain(30..34).chain(94..100).chain(158..164) {
            let mut bytes = alloc::vec![b'a'; len];
            assert_eq!(plain_len(&bytes), len);
            for at in 0..len {
                for byte in 0..=255 {
                    bytes[at] = byte;
                    let plain = if is_special(byte) { at } else { len };
                    assert_eq!(plain_len(&bytes), plain, "{byte} at {at} of {len}");
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
