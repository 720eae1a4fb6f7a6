//! The syntax of base64 (RFC 4648, section 4).

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
}
