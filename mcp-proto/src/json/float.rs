//! Decimal numbers as floating-point numbers, in little code.
//!
//! The standard library's conversion needs a table of 10 KB, which is a twenty-fifth of a small
//! server in WebAssembly. This one gives equal results, and is slower for numbers of more than 15
//! digits or with large exponents: some microseconds for `1e-300`, more for hundreds of digits.

use alloc::vec::Vec;

/// Parses a JSON number, with leading zeros or without; returns `None` for anything else.
///
/// Returns the nearest `f64`, of two equally near ones the one whose last bit is 0, and an infinity
/// for numbers that are too large.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    if text.len() <= EXACT_DIGITS && is_digits(text) {
        return Some(integer(text.bytes()) as f64);
    }
    let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    if !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let decimal = Decimal::new(whole, fraction, parse_exponent(exponent)?);
    let float = decimal.exact().unwrap_or_else(|| decimal.nearest());
    Some(if is_negative { -float } else { float })
}

/// An integer of so many digits is a float.
const EXACT_DIGITS: usize = 15;

/// Returns the integer of at most `EXACT_DIGITS` digits.
fn integer(digits: impl Iterator<Item = u8>) -> u64 {
    digits.fold(0, |integer, digit| integer * 10 + u64::from(digit - b'0'))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses an exponent. Beyond `EXPONENT_MAX`, every number of a possible length is 0 or infinite.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !is_digits(digits) {
        return None;
    }
    let size = digits.parse().unwrap_or(EXPONENT_MAX).min(EXPONENT_MAX);
    Some(if text.starts_with('-') { -size } else { size })
}

const EXPONENT_MAX: i64 = 1 << 40;

/// The number `0.digits` × 10^`point`, with a first digit that is not 0.
struct Decimal<'a> {
    /// The digits before and after the decimal point.
    digits: (&'a str, &'a str),
    point: i64,
}

impl<'a> Decimal<'a> {
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

    fn len(&self) -> usize {
        self.digits.0.len() + self.digits.1.len()
    }

    /// Returns the number if one rounded operation gives it: both operands are then exact.
    fn exact(&self) -> Option<f64> {
        let exponent = self.point - self.len() as i64;
        if self.len() > EXACT_DIGITS || exponent.unsigned_abs() > 22 {
            return None;
        }
        let power = (0..exponent.unsigned_abs()).fold(1.0, |power, _| power * 10.0);
        let integer = integer(self.digits()) as f64;
        Some(if exponent < 0 { integer / power } else { integer * power })
    }

    fn nearest(&self) -> f64 {
        // The largest number has 309 digits before the point; the smallest begins 323 behind it.
        if self.len() == 0 || self.point < -330 {
            return 0.0;
        }
        if self.point > 310 {
            return f64::INFINITY;
        }
        // Whether it differs from what lies halfway between two floats, shows after 767 digits.
        let mut big = Big::default();
        for digit in self.digits().take(DIGITS_MAX) {
            big.multiply(10, u32::from(digit - b'0'));
        }
        let is_cut = self.digits().skip(DIGITS_MAX).any(|digit| digit > b'0');
        let exponent = self.point - self.len().min(DIGITS_MAX) as i64;
        let scale = exponent.unsigned_abs() as usize;
        if exponent >= 0 {
            powers_of_ten(scale).for_each(|power| big.multiply(power, 0));
            return big.into_float(0, is_cut);
        }
        // At least 64 bits stay: 10^n has at most 4n bits.
        let limbs = (4 * scale + 64) / 32 + 1;
        big.shift(limbs);
        let is_inexact =
            powers_of_ten(scale).fold(is_cut, |inexact, power| big.divide(power) > 0 || inexact);
        big.into_float(32 * limbs as i64, is_inexact)
    }
}

/// Returns factors of 10^`exponent` that fit in a limb.
fn powers_of_ten(exponent: usize) -> impl Iterator<Item = u32> {
    core::iter::repeat_n(1_000_000_000, exponent / 9).chain([10_u32.pow((exponent % 9) as u32)])
}

const DIGITS_MAX: usize = 770;

/// An integer of any size; the lowest limb comes first.
#[derive(Default)]
struct Big(Vec<u32>);

impl Big {
    fn multiply(&mut self, by: u32, add: u32) {
        let mut carry = u64::from(add);
        for limb in &mut self.0 {
            let product = u64::from(*limb) * u64::from(by) + carry;
            *limb = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Divides it; returns the remainder.
    fn divide(&mut self, by: u32) -> u64 {
        let mut remainder = 0;
        for limb in self.0.iter_mut().rev() {
            let dividend = remainder << 32 | u64::from(*limb);
            *limb = (dividend / u64::from(by)) as u32;
            remainder = dividend % u64::from(by);
        }
        remainder
    }

    /// Multiplies it by 2^(32 × `limbs`).
    fn shift(&mut self, limbs: usize) {
        self.0.splice(0..0, core::iter::repeat_n(0, limbs));
    }

    /// Returns the float nearest to it, divided by 2^`scale`; it is a little more if `is_inexact`.
    fn into_float(mut self, scale: i64, is_inexact: bool) -> f64 {
        while self.0.pop_if(|limb| *limb == 0).is_some() {}
        let zeros = self.0.last().map_or(0, |limb| limb.leading_zeros());
        self.multiply(1 << zeros, 0);
        // It is `mantissa` × 2^(`exponent` - 63).
        let exponent = 32 * self.0.len() as i64 - 1 - i64::from(zeros) - scale;
        let mut limb = || u64::from(self.0.pop().unwrap_or(0));
        let mantissa = limb() << 32 | limb();
        let is_inexact = is_inexact || self.0.iter().any(|limb| *limb > 0);
        if exponent < -1075 {
            return 0.0;
        }
        if exponent > 1023 {
            return f64::INFINITY;
        }
        // A float has 53 bits, and fewer below 2^-1022.
        let bits = (exponent + 1075).min(53) as u32;
        let kept = mantissa.checked_shr(64 - bits).unwrap_or(0);
        let (dropped, half) = (mantissa << bits, 1 << 63);
        let is_up = dropped > half || dropped == half && (is_inexact || kept % 2 == 1);
        // The highest bit of 53 and a carry make the exponent greater by one.
        let biased = (exponent + 1022).max(0) as u64;
        f64::from_bits((biased << 52) + kept + u64::from(is_up))
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use proptest::prelude::*;

    use super::parse_float;

    /// The standard library's conversion.
    fn expected(text: &str) -> u64 {
        text.parse::<f64>().unwrap().to_bits()
    }

    fn parsed(text: &str) -> Option<u64> {
        parse_float(text).map(f64::to_bits)
    }

    /// Every digit of what lies halfway between a float and the next one.
    fn halfway(float: f64) -> String {
        let next = f64::from_bits(float.to_bits() + 1);
        // Each has at most 1074 digits after the point, and the middle one more.
        let digits = |float: f64| format!("{float:.1080}");
        let (low, high) = (digits(float), digits(next));
        let mut sum: alloc::vec::Vec<u8> = alloc::vec![0; low.len().max(high.len())];
        let mut carry = 0;
        let padded = |text: &str, len: usize| format!("{text:0>len$}");
        let (low, high) = (padded(&low, sum.len()), padded(&high, sum.len()));
        for (index, (low, high)) in low.bytes().zip(high.bytes()).enumerate().rev() {
            if low == b'.' {
                sum[index] = b'.';
                continue;
            }
            let digit = low - b'0' + high - b'0' + carry;
            sum[index] = digit % 10;
            carry = digit / 10;
        }
        let mut remainder = carry;
        for digit in sum.iter_mut().filter(|digit| **digit != b'.') {
            let dividend = remainder * 10 + *digit;
            *digit = dividend / 2 + b'0';
            remainder = dividend % 2;
        }
        String::from_utf8(sum).unwrap()
    }

    #[test]
    fn only_numbers_of_json_are_parsed() {
        for text in
            ["", "-", "+1", ".5", "1.", "1e", "1e+", "inf", "NaN", "1_0", "0x1", "1e1.5", "--1"]
        {
            assert_eq!(parse_float(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_at_the_limits_are_as_in_the_standard_library() {
        let long = format!("0.{}1", "0".repeat(400));
        let integer = format!("{}e-5000", "9".repeat(5000));
        for text in [
            "0",
            "-0",
            "0.0",
            "0e999999999999999999999",
            "1",
            "-1.5",
            "1e22",
            "1e23",
            "9007199254740993",
            "9007199254740992.9999999",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e309",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "2.225073858507201e-308",
            "5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.4e-324",
            "1e-400",
            "123456789012345678901234567890",
            "0.000001e6",
            "00.5",
            "100e0000000000000000000000001",
            &long,
            &integer,
        ] {
            assert_eq!(parsed(text), Some(expected(text)), "{text}");
        }
    }

    #[test]
    fn what_lies_halfway_becomes_even_and_a_digit_more_decides() {
        for float in
            [5e-324, f64::MIN_POSITIVE, 0.1, 1.0, 3.0, 1e16, 1e300, f64::from_bits(1 << 51)]
        {
            for float in [float, f64::from_bits(float.to_bits() + 1)] {
                let text = halfway(float);
                assert_eq!(parsed(&text), Some(expected(&text)), "{float:e}");
                let above = format!("{text}{}1", "0".repeat(2000));
                assert_eq!(parsed(&above), Some(float.to_bits() + 1), "above {float:e}");
            }
        }
    }

    proptest! {
        #[test]
        fn floats_are_read_as_they_were_written(bits: u64) {
            let float = f64::from_bits(bits);
            prop_assume!(float.is_finite());
            let [shortest, short] = [format!("{float}"), format!("{float:e}")];
            for text in [shortest, short, format!("{float:.20e}"), format!("{float:.3}")] {
                prop_assert_eq!(parsed(&text), Some(expected(&text)), "{}", text);
            }
        }

        #[test]
        fn numbers_are_as_in_the_standard_library(
            text in r"-?[0-9]{1,25}(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?"
        ) {
            prop_assert_eq!(parsed(&text), Some(expected(&text)), "{}", text);
        }

        #[test]
        fn any_text_is_a_number_or_none(text in r"[-+0-9.eE]{0,12}|\PC{0,8}") {
            if let Some(bits) = parsed(&text) {
                prop_assert_eq!(bits, expected(&text), "{}", text);
            }
        }
    }
}
