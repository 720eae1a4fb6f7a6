//! The encoding of values in a recording: variable-length integers and length-prefixed bytes.

use alloc::vec::Vec;

use crate::json::{JsonReader, Raw};
use crate::text::Value;

/// Takes `count` bytes from the front of `input`.
pub(super) fn take<'a>(input: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = input.split_at_checked(count)?;
    *input = tail;
    Some(head)
}

/// Writes bytes prefixed by their length.
pub(super) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Reads bytes prefixed by their length.
pub(super) fn read_bytes<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(read_number(input)?).ok()?;
    take(input, length)
}

/// Writes the text form of a value, prefixed by its length.
pub(super) fn write_value(value: &impl Value, out: &mut Vec<u8>) {
    let mut text = Vec::new();
    value.write(&mut text);
    write_bytes(&text, out);
}

/// Reads a value from its text form.
pub(super) fn read_value<T: Value>(input: &mut &[u8]) -> Option<T> {
    let text = core::str::from_utf8(read_bytes(input)?).ok()?;
    T::read(&mut JsonReader::new(&Raw::from_text(text).ok()?)).ok()
}

/// Writes LEB128: seven bits per byte, least significant first. The last byte is below 128.
pub(super) fn write_number(number: u64, out: &mut Vec<u8>) {
    let mut rest = number;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

pub(super) fn read_number(input: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let [byte] = *take(input, 1)? else { return None };
        let bits = u64::from(byte & 0x7F);
        // The tenth byte can hold only one bit.
        if bits.checked_shl(shift).is_none_or(|shifted| shifted >> shift != bits) {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Writes an integer in zigzag encoding, so that small numbers of either sign are short.
pub(super) fn write_signed(number: i64, out: &mut Vec<u8>) {
    write_number(((number << 1) ^ (number >> 63)) as u64, out);
}

pub(super) fn read_signed(input: &mut &[u8]) -> Option<i64> {
    let folded = read_number(input)?;
    Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip<T>(
        value: T,
        write: impl Fn(T, &mut Vec<u8>),
        read: impl Fn(&mut &[u8]) -> Option<T>,
    ) -> (usize, Option<T>) {
        let mut out = Vec::new();
        write(value, &mut out);
        for end in 0..out.len() {
            assert!(read(&mut &out[..end]).is_none(), "a truncated value was read");
        }
        let mut input = out.as_slice();
        let read = read(&mut input);
        assert!(input.is_empty());
        (out.len(), read)
    }

    proptest! {
        #[test]
        fn numbers_survive_a_round_trip(unsigned: u64, signed: i64) {
            prop_assert_eq!(round_trip(unsigned, write_number, read_number).1, Some(unsigned));
            prop_assert_eq!(round_trip(signed, write_signed, read_signed).1, Some(signed));
        }
    }

    #[test]
    fn small_numbers_are_short() {
        for (number, length) in [(0, 1), (127, 1), (128, 2), (1_000_000, 3), (u64::MAX, 10)] {
            assert_eq!(round_trip(number, write_number, read_number), (length, Some(number)));
        }
        assert_eq!(round_trip(-64, write_signed, read_signed), (1, Some(-64)));
        assert_eq!(read_number(&mut &[0xFF; 10][..]), None);
    }
}
