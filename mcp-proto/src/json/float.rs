//! Decimal numbers as floating-point numbers, in little code.
//!
//! The standard library's conversion needs a table of 10 KB, which is a twenty-fifth of a small
//! server in WebAssembly. This one gives equal results. It takes longer for numbers with more than
//! 15 digits or large exponents: microseconds, as only their first 770 digits are multiplied.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Parses a JSON number, with leading zeros or without; returns `None` for anything else.
///
/// Returns the nearest `f64`, of two equally near ones the one whose last bit is 0, and an infinity
/// for numbers that are too large.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    if text.len() <= EXACT_DIGITS && is_digits(text) {
        return Some(integer(text.bytes()) as f64);
    }
    let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let decimal = Decimal::parse(text)?;
    let float = decimal.exact().unwrap_or_else(|| decimal.nearest());
    Some(if is_negative { -float } else { float })
}

/// The most digits of which every integer is represented exactly.
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
pub(super) struct Decimal<'a> {
    /// The digits before and after the decimal point.
    digits: (&'a str, &'a str),
    pub(super) point: i64,
}

impl<'a> Decimal<'a> {
    /// Parses a number without a sign.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
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

    pub(super) fn digits(&self) -> impl Iterator<Item = u8> {
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

    /// Returns the float nearest to the number. The search begins with a float close to it, and
    /// goes to the neighbour for as long as that one is nearer.
    fn nearest(&self) -> f64 {
        // The largest number has 309 digits before the point; the smallest begins 323 behind it.
        if self.len() == 0 || self.point < -330 {
            return 0.0;
        }
        if self.point > 310 {
            return f64::INFINITY;
        }
        let ratio = Ratio::new(self);
        let is_above = |bits| match ratio.cmp_halfway(bits) {
            Ordering::Greater => true,
            Ordering::Equal => bits % 2 == 1,
            Ordering::Less => false,
        };
        let largest = f64::MAX.to_bits();
        let mut bits = ratio.approximate().to_bits().min(largest);
        while bits > 0 && !is_above(bits - 1) {
            bits -= 1;
        }
        while bits <= largest && is_above(bits) {
            bits += 1;
        }
        f64::from_bits(bits)
    }
}

/// The number `numerator` / `denominator` × 2^`exponent`, or a little more if `is_cut`.
struct Ratio {
    numerator: Big,
    denominator: Big,
    exponent: i64,
    is_cut: bool,
}

/// How many digits are multiplied. The middle between two floats has at most 768 digits, so all
/// digits that follow can only make a number larger than a middle which it otherwise equals.
const DIGITS_MAX: usize = 770;

impl Ratio {
    fn new(decimal: &Decimal<'_>) -> Self {
        let exponent = decimal.point - decimal.len().min(DIGITS_MAX) as i64;
        let mut numerator = Big::of_digits(decimal.digits().take(DIGITS_MAX));
        let mut denominator = Big::of_digits("1".bytes());
        // 10^n is 5^n × 2^n, and the largest power of five in a limb is the 27th.
        let scaled = if exponent < 0 { &mut denominator } else { &mut numerator };
        let fives = exponent.unsigned_abs() as u32;
        (0..fives / 27).for_each(|_| scaled.multiply(5_u64.pow(27), 0));
        scaled.multiply(5_u64.pow(fives % 27), 0);
        let is_cut = decimal.digits().skip(DIGITS_MAX).any(|digit| digit > b'0');
        Self { numerator, denominator, exponent, is_cut }
    }

    /// Returns a float that is at most a few steps away.
    fn approximate(&self) -> f64 {
        let (numerator, high) = self.numerator.approximate();
        let (denominator, low) = self.denominator.approximate();
        let exponent = self.exponent + high - low;
        // The quotient is between 2^-128 and 2^128, and no factor out of the range of floats.
        let power = |exponent: i64| f64::from_bits(((exponent + 1023) as u64) << 52);
        numerator / denominator * power(exponent / 2) * power(exponent - exponent / 2)
    }

    /// Compares the number with the middle between two floats: the one that `bits` represent, and
    /// the next larger one.
    fn cmp_halfway(&self, bits: u64) -> Ordering {
        const FRACTION: u64 = (1 << 52) - 1;
        let (mantissa, exponent) = match bits >> 52 {
            0 => (bits, -1074),
            biased => (bits & FRACTION | (FRACTION + 1), biased as i64 - 1075),
        };
        let mut halfway = self.denominator.clone();
        halfway.multiply(2 * mantissa + 1, 0);
        let mut numerator = self.numerator.clone();
        let shift = self.exponent - (exponent - 1);
        let shifted = if shift < 0 { &mut halfway } else { &mut numerator };
        shifted.shift(shift.unsigned_abs() as usize);
        numerator.compare(&halfway).then(self.is_cut.cmp(&false))
    }
}

/// An integer of any size. The lowest limb comes first; the highest is not 0.
#[derive(Clone)]
struct Big(Vec<u64>);

impl Big {
    fn of_digits(digits: impl Iterator<Item = u8>) -> Self {
        const POWER_MAX: u64 = 10_u64.pow(19);
        let mut big = Self(Vec::new());
        let (mut chunk, mut power) = (0, 1);
        for digit in digits {
            (chunk, power) = (chunk * 10 + u64::from(digit - b'0'), power * 10);
            if power == POWER_MAX {
                big.multiply(power, chunk);
                (chunk, power) = (0, 1);
            }
        }
        big.multiply(power, chunk);
        big
    }

    /// Multiplies the integer by `factor`, and adds `carry`.
    fn multiply(&mut self, factor: u64, mut carry: u64) {
        for limb in &mut self.0 {
            let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
            *limb = product as u64;
            carry = (product >> 64) as u64;
        }
        if carry > 0 {
            self.0.push(carry);
        }
    }

    /// Multiplies the integer by 2^`bits`.
    fn shift(&mut self, bits: usize) {
        self.multiply(1 << (bits % 64), 0);
        self.0.splice(0..0, core::iter::repeat_n(0, bits / 64));
    }

    /// Returns the two highest limbs as a float, and the exponent of two of its factor.
    fn approximate(&self) -> (f64, i64) {
        // 2^64
        const BASE: f64 = 18_446_744_073_709_551_616.0;
        let highest = self.0.iter().rev().take(2);
        let float = highest.fold(0.0, |float, limb| float * BASE + *limb as f64);
        (float, 64 * self.0.len().saturating_sub(2) as i64)
    }

    fn compare(&self, other: &Self) -> Ordering {
        let len = self.0.len().cmp(&other.0.len());
        len.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
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

    /// The decimal with as many digits that comes before `text`.
    fn before(text: &str) -> String {
        let mut digits = text.as_bytes().to_vec();
        for digit in digits.iter_mut().rev().filter(|digit| **digit != b'.') {
            if *digit > b'0' {
                *digit -= 1;
                break;
            }
            *digit = b'9';
        }
        String::from_utf8(digits).unwrap()
    }

    #[test]
    fn other_text_is_not_a_number() {
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
    fn ties_round_to_even_and_one_more_digit_decides() {
        for float in
            [5e-324, f64::MIN_POSITIVE, 0.1, 1.0, 3.0, 1e16, 1e300, f64::from_bits(1 << 51)]
        {
            for float in [float, f64::from_bits(float.to_bits() + 1)] {
                let text = halfway(float);
                assert_eq!(parsed(&text), Some(expected(&text)), "{float:e}");
                let above = format!("{text}{}1", "0".repeat(2000));
                assert_eq!(parsed(&above), Some(float.to_bits() + 1), "above {float:e}");
                let below = before(&text);
                assert_eq!(parsed(&below), Some(float.to_bits()), "below {float:e}");
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
