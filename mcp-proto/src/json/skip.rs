//! A cursor over text that is known to be JSON: it looks for where values end, and checks nothing.
//!
//! Text that is no JSON gives wrong spans, and never a panic or an endless loop.

use super::plain::checked_plain_len;

/// A cursor over one checked JSON text.
#[derive(Clone, Debug)]
pub(super) struct Skipper<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Skipper<'a> {
    pub(super) fn over(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next byte that is not white space, without taking it.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// What is not taken yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Takes `wanted` if it comes next.
    #[inline]
    pub(super) fn accept(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// Takes one member's key and the colon behind it; the key comes with its quotes.
    #[inline]
    pub(super) fn key(&mut self) -> Option<&'a [u8]> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let start = self.at;
        self.string();
        let key = self.since(start);
        self.accept(b':').then_some(key)
    }

    /// Takes one whole value; nothing where none comes.
    #[inline]
    pub(super) fn value(&mut self) -> Option<&'a [u8]> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => {
                self.string();
            }
            b'{' | b'[' => self.nested(),
            _ => self.scalar(),
        }
        let value = self.since(start);
        (!value.is_empty()).then_some(value)
    }

    /// How much was taken.
    #[inline]
    pub(super) fn taken(&self) -> usize {
        self.at
    }

    /// Takes a string that begins at the cursor; whether it has escapes.
    #[inline]
    pub(super) fn string(&mut self) -> bool {
        self.at += 1;
        let mut has_escapes = false;
        loop {
            self.at += checked_plain_len(self.rest());
            match self.bytes.get(self.at) {
                // An escape: whatever is behind the backslash is not the end.
                Some(b'\\') => {
                    has_escapes = true;
                    self.at = (self.at + 2).min(self.bytes.len());
                }
                Some(b'"') => {
                    self.at += 1;
                    return has_escapes;
                }
                Some(_) => self.at += 1,
                None => return has_escapes,
            }
        }
    }

    /// Takes an object or array that begins at the cursor, with all that is in it.
    fn nested(&mut self) {
        let mut nesting = Nesting::default();
        while self.at < self.bytes.len() {
            let word = self.rest().first_chunk().map(|word| u64::from_le_bytes(*word));
            match word.filter(|word| !nesting.in_escape && !has(*word, b'\\')) {
                Some(word) if nesting.in_string && !has(word, b'"') => {
                    self.at += checked_plain_len(self.rest()).max(1);
                }
                Some(word) => match nesting.end_in(word) {
                    Some(len) => return self.at += len,
                    None => self.at += 8,
                },
                // Escapes, and what is left of the text, go byte by byte.
                None => {
                    for byte in self.rest().iter().take(8) {
                        self.at += 1;
                        if nesting.ends_with(*byte) {
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Takes a number or a word.
    fn scalar(&mut self) {
        let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\n' | b'\r');
        let rest = self.rest();
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
    }

    /// What was taken from `start` on.
    #[inline]
    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }
}

/// How deep a cursor is in an object or array, and whether it is in a string there.
#[derive(Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    /// The byte before was a backslash that begins an escape.
    in_escape: bool,
}

impl Nesting {
    /// Passes eight bytes that hold no backslash; how many of them the value has, if it ends there.
    #[inline]
    fn end_in(&mut self, word: u64) -> Option<usize> {
        // A bit that is set from a quote up to the next, and so on: the parity of the quotes so far.
        let mut strings = equal(word, b'"');
        strings ^= strings << 8;
        strings ^= strings << 16;
        strings ^= strings << 32;
        if self.in_string {
            strings ^= HIGH;
        }
        self.in_string = strings >> 63 == 1;
        // Brackets of all kinds are alike but for three bits; what else is alike stands in strings only.
        let mut brackets = equal(word | (ONES * 0x26), 0x7F) & !strings;
        while brackets != 0 {
            let bracket = brackets & brackets.wrapping_neg();
            brackets ^= bracket;
            // Those that close have the bit set that lies five below the one that marks a byte.
            if self.is_over((word << 5) & bracket == 0) {
                return Some((bracket.trailing_zeros() / 8) as usize + 1);
            }
        }
        None
    }

    /// Passes one byte; whether the value ends with it.
    fn ends_with(&mut self, byte: u8) -> bool {
        if core::mem::take(&mut self.in_escape) {
            return false;
        }
        match byte {
            b'"' => self.in_string = !self.in_string,
            b'\\' => self.in_escape = self.in_string,
            b'{' | b'[' | b'}' | b']' if !self.in_string => return self.is_over(matches!(byte, b'{' | b'[')),
            _ => {}
        }
        false
    }

    /// Passes a bracket; whether it is the last.
    fn is_over(&mut self, is_opening: bool) -> bool {
        self.depth = if is_opening { self.depth + 1 } else { self.depth.saturating_sub(1) };
        self.depth == 0
    }
}

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;

/// The high bit of each byte of the word that is `byte`.
#[inline]
const fn equal(word: u64, byte: u8) -> u64 {
    let other = word ^ (ONES * byte as u64);
    !((other & !HIGH).wrapping_add(!HIGH) | other) & HIGH
}

/// Whether a byte of the word is `byte`.
#[inline]
const fn has(word: u64, byte: u8) -> bool {
    let other = word ^ (ONES * byte as u64);
    other.wrapping_sub(ONES) & !other & HIGH != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::scan::{DEPTH_CEILING, Scanner};
    use crate::json::testing;

    proptest! {
        #[test]
        fn on_json_it_takes_what_the_scanner_takes(text in testing::text()) {
            let mut scanner = Scanner::new(&text, DEPTH_CEILING);
            if let Ok(value) = scanner.value() {
                let mut skipper = Skipper::over(text.as_bytes());
                prop_assert_eq!(skipper.value(), Some(value));
                prop_assert_eq!(skipper.rest(), scanner.rest());
            }
        }

        #[test]
        fn strings_and_escapes_wherever_they_are_hide_brackets(
            parts in proptest::collection::vec(
                proptest::sample::select(&[r#""[""#, r#""}""#, r#""\\\"}""#, r#""\\""#, "[]", "{}", "1", r#""yY_\u0041y""#][..]),
                0..12,
            ),
        ) {
            let text = alloc::format!("[[{}]]", parts.join(","));
            let after = alloc::format!("{text},1]");
            let mut skipper = Skipper::over(after.as_bytes());
            prop_assert_eq!(skipper.value(), Some(text.as_bytes()));
        }

        #[test]
        fn runs_of_escapes_and_empty_strings_hide_no_end(
            before in 0_usize..9, escapes in 0_usize..20, quotes in 0_usize..20, empty in 0_usize..9,
        ) {
            let string = [r"\\".repeat(escapes), r#"\""#.repeat(quotes), "]".into()].concat();
            let text = alloc::format!("[{}\"{string}\"{}]", " ".repeat(before), ",\"\"".repeat(empty));
            let after = alloc::format!("{text},1]");
            let mut skipper = Skipper::over(after.as_bytes());
            prop_assert_eq!(skipper.value(), Some(text.as_bytes()));
        }

        #[test]
        fn on_anything_else_it_goes_on_and_ends(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut skipper = Skipper::over(&bytes);
            let mut taken = 0;
            while let Some(value) = skipper.key().or_else(|| skipper.value()) {
                taken += value.len();
            }
            prop_assert!(taken <= bytes.len());
        }
    }
}
