//! Searches for the end of a string eight bytes at a time (SIMD within a register).
//!
//! A byte is *special* if it is a quote, a backslash or a control byte, and *plain* otherwise.

/// Returns the number of plain bytes at the start of `bytes`.
#[inline(always)]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    // Its bounds are checked once.
    match bytes.first_chunk::<NEAR>() {
        Some(near) => plain_words(near).unwrap_or_else(|| plain_far(bytes)),
        None => plain_near(bytes),
    }
}

/// Like [`plain_len`], where less than [`NEAR`] bytes are left.
#[inline(never)]
fn plain_near(bytes: &[u8]) -> usize {
    plain_words(bytes).unwrap_or_else(|| {
        let (words, tail) = bytes.as_chunks::<WORD>();
        let plain = tail.iter().position(|&byte| is_special(byte)).unwrap_or(tail.len());
        words.as_flattened().len() + plain
    })
}

/// Returns the index of the first special byte in the whole words of `bytes`.
#[inline(always)]
fn plain_words(bytes: &[u8]) -> Option<usize> {
    let (words, _) = bytes.as_chunks::<WORD>();
    words.iter().zip((0..).step_by(WORD)).find_map(|(word, at)| {
        let hits = hits(u64::from_le_bytes(*word));
        (hits != 0).then(|| at + (hits.trailing_zeros() / 8) as usize)
    })
}

/// Returns the index of the closing quote of the string that opens at `start`.
///
/// Most strings are short, so this is inlined and searches only `BYTES`. If it finds no quote, it
/// returns an index up to which the string is plain as the error. Does not inspect the byte at
/// `start`.
#[inline(always)]
pub(super) fn near_quote<const BYTES: usize>(bytes: &[u8], start: usize) -> Result<usize, usize> {
    // The index before the next word, which is in bounds and saves a check for the first word.
    let mut at = start;
    loop {
        let from = bytes.get(at..).and_then(<[u8]>::first_chunk::<{ 1 + WORD }>);
        let Some([_, word @ ..]) = from else { return Err(at + 1) };
        let hits = hits(u64::from_le_bytes(*word));
        if hits != 0 {
            at += 1 + (hits.trailing_zeros() / 8) as usize;
            return if bytes.get(at) == Some(&b'"') { Ok(at) } else { Err(at) };
        }
        at += WORD;
        if at - start >= BYTES {
            return Err(at + 1);
        }
    }
}

/// The number of bytes that `near_quote` searches for the end of a value.
pub(super) const NEAR_VALUE: usize = 4 * WORD;

/// The number of bytes that `near_quote` searches for the end of a key: more than the longest in
/// the `_meta` of a request has.
pub(super) const NEAR_KEY: usize = 6 * WORD;

/// The number of bytes that `plain_len` searches by words before it switches to `memchr`.
const NEAR: usize = 12 * WORD;

const WORD: usize = 8;

/// Finishes [`plain_len`] after the first [`NEAR`] bytes, which are plain.
#[inline(never)]
fn plain_far(bytes: &[u8]) -> usize {
    let rest = bytes.get(NEAR..).unwrap_or_default();
    let far =
        rest.get(..memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())).unwrap_or_default();
    // No early exit, so that the loop is vectorized.
    let least = far.iter().fold(u8::MAX, |least, &byte| least.min(byte));
    let control = if least < 0x20 { far.iter().position(|&byte| byte < 0x20) } else { None };
    NEAR + control.unwrap_or(far.len())
}

const fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Sets the high bit of each special byte. A borrow can set a wrong bit only above a correct one,
/// so the lowest set bit is always correct.
#[inline]
const fn hits(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // Flipping this bit maps the quote to 0x20 and control bytes to control bytes, so one
    // comparison finds both.
    let control_or_quote = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let slash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    // All special bytes are below 0x80, so one mask serves for all.
    (control_or_quote | slash) & !word & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_len_stops_at_the_first_special_byte() {
        for filler in [b'a', b' ', b'!', b'#', 0xFF] {
            let plain = alloc::vec![filler; NEAR + 64];
            assert_eq!(plain_len(&plain), plain.len());
            for at in [0, 7, 8, 31, 32, 33, NEAR - 1, NEAR, NEAR + 1, NEAR + 40, NEAR + 63] {
                for special in [0, b'\n', 0x1F, b'"', b'\\'] {
                    let mut bytes = plain.clone();
                    bytes[at] = special;
                    assert_eq!(plain_len(&bytes), at, "{special} after {at} of {filler}");
                }
            }
        }
    }

    /// Checks the result of `near_quote` for a string that is plain up to `plain`.
    fn assert_near(bytes: &[u8], plain: usize) {
        assert_near_within::<NEAR_VALUE>(bytes, plain);
        assert_near_within::<NEAR_KEY>(bytes, plain);
    }

    fn assert_near_within<const BYTES: usize>(bytes: &[u8], plain: usize) {
        let ends = bytes.get(plain) == Some(&b'"');
        let result = near_quote::<BYTES>(&[b"\"", bytes].concat(), 0);
        match result.map(|at| at - 1).map_err(|at| at - 1) {
            Ok(at) => assert!(ends && at == plain, "{bytes:?}"),
            // The search stops where less than a word is left.
            Err(at) => {
                assert!(
                    at <= plain && (at == plain || plain - at < WORD || at == BYTES),
                    "{bytes:?}"
                );
                assert!(!ends || at == BYTES || bytes.len() - at < WORD, "{bytes:?}");
            }
        }
    }

    #[test]
    fn the_first_special_byte_is_found_at_every_position() {
        for len in (0..24).chain(30..42).chain(94..100).chain(158..164) {
            let mut bytes = alloc::vec![b'a'; len];
            assert_eq!(plain_len(&bytes), len);
            assert_near(&bytes, len);
            for at in 0..len {
                for byte in 0..=255 {
                    bytes[at] = byte;
                    let plain = if is_special(byte) { at } else { len };
                    assert_eq!(plain_len(&bytes), plain, "{byte} at {at} of {len}");
                    assert_near(&bytes, plain);
                    // The bytes after it do not matter.
                    if at + 1 < len {
                        bytes[at + 1] = byte.wrapping_add(1);
                        let next = if is_special(byte.wrapping_add(1)) { at + 1 } else { len };
                        assert_eq!(plain_len(&bytes), plain.min(next), "{byte} at {at} of {len}");
                        assert_near(&bytes, plain.min(next));
                        bytes[at + 1] = b'a';
                    }
                }
                bytes[at] = b'a';
            }
        }
    }

    #[test]
    fn every_special_byte_is_found_at_every_alignment_after_every_filler() {
        for filler in (0..=255_u8).filter(|byte| !is_special(*byte)) {
            for lead in 0..10 {
                for special in (0..=255_u8).filter(|byte| is_special(*byte)) {
                    // With a second special byte right after it, the first one wins.
                    for tail in [&[][..], &[filler; 9], &[special; 9]] {
                        let bytes = [&[filler; 10][..lead], &[special], tail].concat();
                        assert_eq!(plain_len(&bytes), lead, "{bytes:?}");
                        assert_near(&bytes, lead);
                    }
                }
            }
        }
    }

    #[test]
    fn a_string_may_start_anywhere() {
        let bytes = br#"'ab"cdefgh"ijklmnop"#;
        assert_eq!(
            [0, 3, 10, 99].map(|at| near_quote::<NEAR_VALUE>(bytes, at)),
            [Ok(3), Ok(10), Err(19), Err(100)]
        );
    }
}
