//! Whole numbers that are written with a fraction or an exponent, such as `1.0` and `1e2`.
//!
//! JSON Schema counts them as integers, but `serde` does not decode them into integer types.

use alloc::string::String;
use alloc::vec::Vec;

/// The maximum number of digits of a number that is rewritten: those of the largest `u128`.
const DIGITS_MAX: usize = 39;

/// Returns the digits of a JSON number that has no fraction, such as `100` for `1e2`.
///
/// Returns `None` if the number has a fraction or more than 39 digits. The sign of zero is lost.
pub(crate) fn whole_number(text: &str) -> Option<String> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let decimal = Decimal::parse(unsigned)?;
    let significant: Vec<u8> = decimal.digits().collect();
    let zeros = significant.iter().rev().take_while(|digit| **digit == b'0').count();
    let significant = significant.get(..significant.len() - zeros).unwrap_or_default();
    if significant.is_empty() {
        return Some("0".into());
    }
    let digits = usize::try_from(decimal.point).ok()?;
    if digits < significant.len() || digits > DIGITS_MAX {
        return None;
    }
    let mut whole = String::from(sign);
    whole.extend(significant.iter().map(|digit| char::from(*digit)));
    whole.extend(core::iter::repeat_n('0', digits - significant.len()));
    Some(whole)
}

/// Returns the value of a JSON number that has no fraction, such as `100`, `1e2` or `100.0`.
pub(crate) fn unsigned(text: &str) -> Option<u64> {
    text.parse().ok().or_else(|| whole_number(text)?.parse().ok())
}

/// Returns valid JSON with its whole numbers in digits; `None` if they already are.
pub(super) fn with_whole_numbers(json: &[u8]) -> Option<Vec<u8>> {
    let mut rewritten = Vec::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = string_end(json, at + 1),
            b'-' | b'0'..=b'9' => {
                let end = number_end(json, at);
                if let Some(whole) = rewritable(json.get(at..end).unwrap_or_default()) {
                    rewritten.extend_from_slice(json.get(copied..at).unwrap_or_default());
                    rewritten.extend_from_slice(whole.as_bytes());
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return None;
    }
    rewritten.extend_from_slice(json.get(copied..).unwrap_or_default());
    Some(rewritten)
}

/// Returns the digits of a number that is not written in digits only. `serde_json` reads `-0` as a
/// float.
fn rewritable(number: &[u8]) -> Option<String> {
    let is_plain = !number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if is_plain && number != b"-0" {
        return None;
    }
    core::str::from_utf8(number).ok().and_then(whole_number)
}

/// The number `0.digits` × 10^`point`, with a first digit that is not 0.
struct Decimal<'a> {
    /// The digits before and after the decimal point.
    digits: (&'a str, &'a str),
    point: i64,
}

impl<'a> Decimal<'a> {
    /// Parses a number without a sign.
    fn parse(text: &'a str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        Some(Self::new(whole, fraction, parse_exponent(exponent)?))
    }

    fn new(whole: &'a str, fraction: &'a str, exponent: i64) -> Self {
        let whole = whole.trim_start_matches('0');
        let significant =
            if whole.is_empty() { fraction.trim_start_matches('0') } else { fraction };
        let zeros = fraction.len() - significant.len();
        Self {
            digits: (whole, significant.trim_end_matches('0')),
            point: exponent + whole.len() as i64 - zeros as i64,
        }
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        let (whole, fraction) = self.digits;
        whole.bytes().chain(fraction.bytes())
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses an exponent, of which more than `EXPONENT_MAX` changes nothing.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !is_digits(digits) {
        return None;
    }
    let size = digits.parse().unwrap_or(EXPONENT_MAX).min(EXPONENT_MAX);
    Some(if text.starts_with('-') { -size } else { size })
}

const EXPONENT_MAX: i64 = 1 << 40;

/// Returns the end of the string whose content starts at `at`.
pub(super) fn string_end(json: &[u8], mut at: usize) -> usize {
    while let Some(byte) = json.get(at) {
        at += if *byte == b'\\' { 2 } else { 1 };
        if *byte == b'"' {
            break;
        }
    }
    at
}

fn number_end(json: &[u8], start: usize) -> usize {
    let rest = json.get(start..).unwrap_or_default();
    let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    start + rest.iter().take_while(is_part).count()
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn whole_numbers_are_recognized_exactly() {
        for (text, whole) in [
            ("1.0", "1"),
            ("-1.0", "-1"),
            ("1e0", "1"),
            ("1E+2", "100"),
            ("1.50e1", "15"),
            ("1500e-2", "15"),
            ("0.0", "0"),
            ("-0.0", "0"),
            ("-0", "0"),
            ("0e999999999999999999999", "0"),
            ("1e19", "10000000000000000000"),
            ("18446744073709551615.0", "18446744073709551615"),
            ("9007199254740993.0", "9007199254740993"),
            ("0.001e3", "1"),
        ] {
            assert_eq!(whole_number(text).as_deref(), Some(whole), "{text}");
        }
        for text in ["1.5", "1e-1", "0.1", "15e-2", "1e40", "1e999999999999999999999", "-2.25e1"] {
            assert_eq!(whole_number(text), None, "{text}");
        }
    }

    #[test]
    fn only_numbers_outside_of_strings_are_rewritten() {
        for (json, rewritten) in [
            (r#"{"a":1.0,"b":[2e1,-3.0,4]}"#, r#"{"a":1,"b":[20,-3,4]}"#),
            (
                r#"{"1.0":"2.0","c":"\"3.0","d":"\\","e":1e0}"#,
                r#"{"1.0":"2.0","c":"\"3.0","d":"\\","e":1}"#,
            ),
            (r#"[1.5,2.0]"#, "[1.5,2]"),
            ("-0", "0"),
            ("3.0", "3"),
        ] {
            let text =
                with_whole_numbers(json.as_bytes()).map(|text| String::from_utf8(text).unwrap());
            assert_eq!(text.as_deref(), Some(rewritten), "{json}");
        }
        for json in [r#"{"a":1,"b":1.5,"c":"1.0"}"#, "1e99", r#""1.0""#, "[]", "-1"] {
            assert_eq!(with_whole_numbers(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn long_numbers_take_linear_time() {
        let zeros = "0".repeat(200_000);
        assert_eq!(whole_number(&format!("1.{zeros}")).as_deref(), Some("1"));
        assert_eq!(whole_number(&format!("1.{zeros}1")), None);
    }
}
