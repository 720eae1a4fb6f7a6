//! The encoding of values in a recording: variable-length integers and length-prefixed texts.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::Misuse;
use crate::json::Raw;
use crate::rpc::ErrorObject;
use crate::schema::Level;
use crate::vocabulary::{CallId, CallOptions, Filter, IncomingId, Progress};

/// A value with an encoding in recordings.
pub(super) trait Codec: Sized {
    /// Appends the encoded value to `out`.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads a value from the front of `input`. Returns `None` if it is invalid or incomplete.
    fn read(input: &mut &[u8]) -> Option<Self>;
}

/// Takes `count` bytes from the front of `input`.
pub(super) fn take<'a>(input: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = input.split_at_checked(count)?;
    *input = tail;
    Some(head)
}

/// Writes bytes prefixed by their length.
pub(super) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    (bytes.len() as u64).write(out);
    out.extend_from_slice(bytes);
}

/// Reads bytes prefixed by their length.
pub(super) fn read_bytes<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(u64::read(input)?).ok()?;
    take(input, length)
}

/// LEB128: seven bits per byte, least significant first. The last byte is below 128.
impl Codec for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = *take(input, 1)? else { return None };
            let bits = Self::from(byte & 0x7F);
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
}

/// Zigzag encoding, so that small numbers of either sign are short.
impl Codec for i64 {
    fn write(&self, out: &mut Vec<u8>) {
        (((*self << 1) ^ (*self >> 63)) as u64).write(out);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let folded = u64::read(input)?;
        Some((folded >> 1) as Self ^ -((folded & 1) as Self))
    }
}

impl Codec for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        match take(input, 1)? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

/// The bit pattern, which preserves NaN payloads.
impl Codec for f64 {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bits().to_le_bytes());
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let bits = take(input, 8)?.try_into().ok()?;
        Some(Self::from_bits(u64::from_le_bytes(bits)))
    }
}

impl Codec for Box<str> {
    fn write(&self, out: &mut Vec<u8>) {
        write_bytes(self.as_bytes(), out);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        core::str::from_utf8(read_bytes(input)?).ok().map(Into::into)
    }
}

impl Codec for (Box<str>, Box<str>) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Some((Codec::read(input)?, Codec::read(input)?))
    }
}

impl Codec for Raw {
    fn write(&self, out: &mut Vec<u8>) {
        write_bytes(self.as_bytes(), out);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Self::from_text(core::str::from_utf8(read_bytes(input)?).ok()?).ok()
    }
}

impl<T: Codec> Codec for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(if bool::read(input)? { Some(T::read(input)?) } else { None })
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u64).write(out);
        self.iter().for_each(|value| value.write(out));
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        // Collecting through `Option` reserves nothing, so an invalid count cannot exhaust memory.
        let count = u64::read(input)?;
        (0..count).map(|_| T::read(input)).collect()
    }
}

impl Codec for Duration {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_secs().write(out);
        u64::from(self.subsec_nanos()).write(out);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let (secs, nanos) = (u64::read(input)?, u64::read(input)?);
        (nanos < 1_000_000_000).then(|| Self::new(secs, nanos as u32))
    }
}

impl Codec for CallId {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        u64::read(input).map(Self)
    }
}

impl Codec for IncomingId {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        u64::read(input).map(Self)
    }
}

impl Codec for Level {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let [index] = *take(input, 1)? else { return None };
        Self::ALL.get(usize::from(index)).copied()
    }
}

const MISUSES: [Misuse; 7] = [
    Misuse::Blocked,
    Misuse::Closed,
    Misuse::NotReady,
    Misuse::Stale,
    Misuse::Undeclared,
    Misuse::Unencodable,
    Misuse::Unsupported,
];

impl Codec for Misuse {
    fn write(&self, out: &mut Vec<u8>) {
        let index = MISUSES.iter().position(|misuse| misuse == self).unwrap_or(MISUSES.len());
        out.push(index as u8);
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let [index] = *take(input, 1)? else { return None };
        MISUSES.get(usize::from(index)).copied()
    }
}

/// Encodes a struct as its fields in order.
macro_rules! fields {
    ($type:ident { $($field:ident),+ }) => {
        impl Codec for $type {
            fn write(&self, out: &mut Vec<u8>) {
                let Self { $($field),+ } = self;
                $(Codec::write($field, out);)+
            }

            fn read(input: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: Codec::read(input)?),+ })
            }
        }
    };
}

fields!(CallOptions { progress, timeout, timeout_max, parent, bypass_cache, input_required });
fields!(ErrorObject { code, message, data });
fields!(Filter { tools, prompts, resources, uris, elements });
fields!(Progress { progress, total, message });

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip<T: Codec>(value: &T) -> (usize, Option<T>) {
        let mut out = Vec::new();
        value.write(&mut out);
        for end in 0..out.len() {
            assert!(T::read(&mut &out[..end]).is_none(), "a truncated value was read");
        }
        let mut input = out.as_slice();
        let read = T::read(&mut input);
        assert!(input.is_empty());
        (out.len(), read)
    }

    proptest! {
        #[test]
        fn values_survive_a_round_trip(
            unsigned: u64, signed: i64, text: Option<Box<str>>, truth: bool, secs: u64, bits: u64,
        ) {
            prop_assert_eq!(round_trip(&unsigned).1, Some(unsigned));
            prop_assert_eq!(round_trip(&signed).1, Some(signed));
            prop_assert_eq!(round_trip(&text).1, Some(text));
            prop_assert_eq!(round_trip(&truth).1, Some(truth));
            let duration = Duration::new(secs, 999_999_999);
            prop_assert_eq!(round_trip(&duration).1, Some(duration));
            prop_assert_eq!(round_trip(&f64::from_bits(bits)).1.map(f64::to_bits), Some(bits));
        }

        #[test]
        fn reading_invalid_bytes_does_not_panic(bytes: Vec<u8>) {
            let _any = Vec::<Filter>::read(&mut &bytes[..]);
            let _any = CallOptions::read(&mut &bytes[..]);
            let _any = ErrorObject::read(&mut &bytes[..]);
            let _any = u64::read(&mut &bytes[..]);
        }
    }

    #[test]
    fn small_numbers_are_short() {
        for (number, length) in [(0, 1), (127, 1), (128, 2), (1_000_000, 3), (u64::MAX, 10)] {
            assert_eq!(round_trip(&number), (length, Some(number)));
        }
        assert_eq!(round_trip(&-64_i64), (1, Some(-64)));
        assert_eq!(u64::read(&mut &[0xFF; 10][..]), None);
    }

    #[test]
    fn every_level_and_misuse_is_one_byte() {
        for level in Level::ALL {
            assert_eq!(round_trip(&level), (1, Some(level)));
        }
        for misuse in MISUSES {
            assert_eq!(round_trip(&misuse), (1, Some(misuse)));
        }
    }
}
