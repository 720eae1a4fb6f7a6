//! A cursor over text that is known to be JSON: it looks for where values end, and checks nothing.
//!
//! Text that is no JSON gives wrong spans, and never a panic or an endless loop.

use core::ops::Range;

use super::plain::near_quote;

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
        match self.bytes.get(self.at) {
            Some(byte) if *byte > b' ' => Some(*byte),
            _ => self.peek_behind_space(),
        }
    }

    #[cold]
    fn peek_behind_space(&mut self) -> Option<u8> {
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

    /// Takes a short key without escapes and the colon behind it, where that is what comes next; where the key stood,
    /// without its quotes.
    #[inline(always)]
    pub(super) fn short_key(&mut self) -> Option<Range<usize>> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return None;
        }
        let quote = near_quote(self.bytes, self.at).ok()?;
        if self.bytes.get(quote + 1) != Some(&b':') {
            return None;
        }
        let key = self.at + 1..quote;
        self.at = quote + 2;
        Some(key)
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

    /// Takes so many bytes.
    #[inline]
    pub(super) fn pass(&mut self, len: usize) {
        self.at = (self.at + len).min(self.bytes.len());
    }

    /// How much was taken.
    #[inline]
    pub(super) fn taken(&self) -> usize {
        self.at
    }

    /// Takes a string that begins at the cursor; whether it has escapes.
    #[inline(always)]
    pub(super) fn string(&mut self) -> bool {
        let has_escapes;
        (self.at, has_escapes) = match near_quote(self.bytes, self.at) {
            Ok(quote) => (quote + 1, false),
            Err(plain) => behind_long_string(self.bytes, plain),
        };
        has_escapes
    }

    /// Takes an object or array that begins at the cursor, with all that is in it.
    fn nested(&mut self) {
        // What is looked at again and again stays in registers.
        let (bytes, mut at, mut depth) = (self.bytes, self.at, 0_usize);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at = match near_quote(bytes, at) {
                        Ok(quote) => quote + 1,
                        Err(plain) => behind_long_string(bytes, plain).0,
                    };
                    // What mostly comes behind one is no bracket.
                    at += usize::from(bytes.get(at).is_some_and(|byte| *byte < b'['));
                }
                // Brackets of both kinds differ in this bit, and nothing else is like them outside of strings.
                _ if *byte | 0x20 == b'{' => {
                    depth += 1;
                    at += 1;
                }
                _ if *byte | 0x20 == b'}' => {
                    depth = depth.saturating_sub(1);
                    at += 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => at += 1,
            }
        }
        self.at = at;
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

/// Where a string ends that goes on at `start`, and whether it has escapes from there on.
#[inline(never)]
fn behind_long_string(bytes: &[u8], start: usize) -> (usize, bool) {
    let from = |at: usize| bytes.get(at..).unwrap_or_default();
    let Some(first) = memchr::memchr2(b'"', b'\\', from(start)) else { return (bytes.len(), false) };
    let mut end = start + first;
    if bytes.get(end) == Some(&b'"') {
        return (end + 1, false);
    }
    while let Some(quote) = memchr::memchr(b'"', from(end)) {
        end += quote;
        let inside = bytes.get(start..end).unwrap_or_default();
        // Behind an odd number of backslashes it is a part of the string.
        let slashes = inside.iter().rev().take_while(|&&byte| byte == b'\\').count();
        if slashes % 2 == 0 {
            return (end + 1, true);
        }
        end += 1;
    }
    (bytes.len(), true)
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

    #[test]
    fn a_short_key_and_its_colon_are_taken_in_one_look() {
        for (text, key) in [
            (r#"  "abc":1                "#, None),
            (r#""":1                   "#, Some(1..1)),
            (r#""abc":1                "#, Some(1..4)),
            (r#""abc" :1               "#, None),
            (r#""a\u0062":1            "#, None),
            (r#"7abc":1                "#, None),
        ] {
            let mut skipper = Skipper::over(text.as_bytes());
            let taken = key.as_ref().map_or(0, |key| key.end + "\":".len());
            assert_eq!(skipper.short_key(), key, "{text}");
            assert_eq!(skipper.rest(), &text.as_bytes()[taken..], "{text}");
        }
    }
}
