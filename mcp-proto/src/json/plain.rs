//! How much of a string is plain: neither a quote, a backslash nor a control byte; knows nothing of what surrounds it.

/// The bytes before the first quote, backslash or control byte; all of them if there is none.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    // Most strings end within a few words.
    while at < 4 * WORD {
        let Some(word) = chunk::<WORD>(bytes, at) else { return at + plain_tail(bytes, at) };
        let hits = hits(u64::from_le_bytes(*word));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += WORD;
    }
    at + plain_rest(bytes, at)
}

const WORD: usize = 8;

/// As long as a few vector registers: the compiler makes vector instructions of what is done to them.
const BLOCK: usize = 64;
const HALF: usize = BLOCK / 2;

/// As `plain_len`, from `start` on, where more plain bytes are to be expected.
fn plain_rest(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while chunk::<BLOCK>(bytes, at).is_some_and(is_plain) {
        at += BLOCK;
    }
    if chunk::<HALF>(bytes, at).is_some_and(is_plain) {
        at += HALF;
    }
    while let Some(word) = chunk::<WORD>(bytes, at) {
        let hits = hits(u64::from_le_bytes(*word));
        if hits != 0 {
            return at - start + (hits.trailing_zeros() / 8) as usize;
        }
        at += WORD;
    }
    at - start + plain_tail(bytes, at)
}

fn plain_tail(bytes: &[u8], at: usize) -> usize {
    let tail = bytes.get(at..).unwrap_or_default();
    tail.iter().position(|&byte| is_special(byte)).unwrap_or(tail.len())
}

#[inline]
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..).and_then(<[u8]>::first_chunk::<N>)
}

fn is_plain<const N: usize>(block: &[u8; N]) -> bool {
    // Without a way out, so that it can be done to many bytes at a time.
    !block.iter().fold(false, |special, &byte| special | is_special(byte))
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
