//! Base64 (RFC 4648, section 4): the check of its syntax, and the conversion of bytes.

use alloc::string::String;
use alloc::vec::Vec;

use base64ct::{Base64, Encoding};

pub(crate) fn encode(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}

/// Returns the encoded bytes, or `None` if `text` is not valid.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    Base64::decode_vec(text).ok()
}

/// Returns whether `text` is base64 of the standard alphabet, padded and without line breaks.
///
/// One pass without branches, so that it costs little beside the escaping of the text.
pub(crate) fn is_base64(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = match bytes {
        [digits @ .., b'=', b'='] | [digits @ .., b'='] => digits,
        digits => digits,
    };
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() | (byte == b'+') | (byte == b'/');
    bytes.len().is_multiple_of(4) && digits.iter().fold(true, |all, byte| all & is_digit(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_padded_and_of_the_standard_alphabet_sec_21() {
        for valid in ["", "AA==", "AAA=", "AAAA", "aGVsbG8=", "+/+/", "UklGRiQAAABXQVZF"] {
            assert!(is_base64(valid), "{valid:?}");
        }
        for invalid in [
            "A",
            "AA",
            "AAA",
            "=",
            "====",
            "A===",
            "AA=A",
            "AA==AA==",
            "-_-_",
            "AAA\n",
            "AA A",
            "AAAA\r\nAAAA",
            "ä==",
            "not base64!",
            "data:image/png;base64,AAAA",
        ] {
            assert!(!is_base64(invalid), "{invalid:?}");
        }
    }

    #[test]
    fn bytes_survive_the_conversion() {
        for length in 0..260 {
            let bytes: Vec<u8> = (0..length).map(|at| (at * 7 % 256) as u8).collect();
            let text = encode(&bytes);
            assert!(is_base64(&text), "{text:?}");
            assert_eq!(decode(&text), Some(bytes));
        }
        assert_eq!(encode(b"hello"), "aGVsbG8=");
        assert_eq!(decode("aGVsbG8"), None, "the padding is missing");
        assert_eq!(decode("a-_="), None, "another alphabet");
    }
}
