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
            b'"' => self.string(),
            b'{' | b'[' => self.nested(),
            _ => self.scalar(),
        }
        let value = self.since(start);
        (!value.is_empty()).then_some(value)
    }

    /// Takes a string that begins at the cursor.
    #[inline]
    fn string(&mut self) {
        self.at += 1;
        loop {
            self.at += checked_plain_len(self.rest());
            match self.bytes.get(self.at) {
                // An escape: whatever is behind the backslash is not the end.
                Some(b'\\') => self.at = (self.at + 2).min(self.bytes.len()),
                Some(b'"') => return self.at += 1,
                Some(_) => self.at += 1,
                None => return,
            }
        }
    }

    /// Takes an object or array that begins at the cursor, with all that is in it.
    fn nested(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
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
