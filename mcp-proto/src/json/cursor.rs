//! A cursor over JSON text that finds values without recursion and without building a tree.
//!
//! `value` and `object` validate what they consume. The `skip_*` methods only find where values
//! end; they are for text that is validated or written by [`Raw::new`](super::Raw::new), which may
//! nest deeper and have unpaired surrogates. On invalid text they return wrong spans, but never
//! panic or loop forever.

use core::ops::Range;

use super::swar::{NEAR_KEY, NEAR_VALUE, near_quote};
use super::syntax::{
    Checked, DEPTH_CEILING, Nesting, SyntaxError, SyntaxErrorKind, key_end, next, number_end,
    short_key_end, string_end, unexpected, word_end,
};

/// A position in a JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    depth_max: u8,
    /// Whether the consumed text has line breaks between tokens or unpaired surrogate escapes,
    /// which are removed before the text is kept.
    pub(crate) needs_rewrite: bool,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `text`. Values nested deeper than `depth_max` are errors.
    pub(crate) fn new(text: &'a str, depth_max: u8) -> Self {
        Self::over(text.as_bytes(), depth_max)
    }

    /// Like [`new`](Self::new), for bytes known to be UTF-8. Other bytes produce wrong spans, never
    /// a panic.
    pub(crate) fn over(bytes: &'a [u8], depth_max: u8) -> Self {
        Self { bytes, at: 0, depth_max: depth_max.min(DEPTH_CEILING), needs_rewrite: false }
    }

    /// Starts at the first byte of validated text, for the `skip_*` methods.
    pub(super) fn trusted(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, depth_max: 0, needs_rewrite: false }
    }

    /// Returns the next byte that is not white space, without consuming it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        // A local copy lets the position stay in a register.
        let mut at = self.at;
        let next = next(self.bytes, &mut at, &mut self.needs_rewrite);
        self.at = at;
        next
    }

    /// Consumes the next byte that is not white space if it is `wanted`.
    #[inline]
    pub(super) fn accept(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += 1;
        }
        found
    }

    /// Returns the index of the next byte.
    #[inline]
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns the text not yet consumed.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Returns the text consumed since `start`.
    #[inline]
    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }
}

/// Validating methods.
impl<'a> Cursor<'a> {
    /// Consumes the next byte that is not white space, which must be `wanted`.
    #[inline]
    fn expect(&mut self, wanted: u8) -> Checked<()> {
        match self.peek() {
            Some(byte) if byte == wanted => {
                self.at += 1;
                Ok(())
            }
            other => Err(unexpected(self.at, other)),
        }
    }

    /// Checks that only white space remains.
    pub(crate) fn finish(&mut self) -> Checked<()> {
        match self.peek() {
            None => Ok(()),
            other => Err(unexpected(self.at, other)),
        }
    }

    /// Consumes a key and its colon. Returns the key with its quotes.
    #[inline(always)]
    fn key(&mut self) -> Checked<&'a [u8]> {
        let start = self.at;
        if let Some(end) = short_key_end(self.bytes, start) {
            self.at = end;
            return Ok(self.bytes.get(start..end - 1).unwrap_or_default());
        }
        self.peek();
        let start = self.at;
        self.at = string_end(self.bytes, start, &mut self.needs_rewrite)?;
        let key = self.since(start);
        self.expect(b':')?;
        Ok(key)
    }

    /// Consumes a value. One that equals `known`, which is a validated value or empty, is compared
    /// only.
    #[inline(never)]
    pub(crate) fn value_or_known(&mut self, known: &[u8]) -> Checked<&'a [u8]> {
        match self.rest().get(..known.len()) {
            Some(found) if found == known && !known.is_empty() => {
                self.at += found.len();
                Ok(found)
            }
            _ => self.value(),
        }
    }

    /// Consumes an object. Calls `member` with each key, including quotes; it must consume the
    /// value.
    ///
    /// The object counts as one level of nesting, as in [`value`](Self::value).
    #[inline]
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a [u8]) -> Checked<()>,
    ) -> Checked<&'a [u8]> {
        self.peek();
        let start = self.at;
        self.expect(b'{')?;
        let depth_max = self.depth_max;
        let too_deep = SyntaxError { at: start, kind: SyntaxErrorKind::Depth };
        self.depth_max = depth_max.checked_sub(1).ok_or(too_deep)?;
        if !self.accept(b'}') {
            loop {
                let key = self.key()?;
                member(self, key)?;
                if !self.accept(b',') {
                    break;
                }
            }
            self.expect(b'}')?;
        }
        self.depth_max = depth_max;
        Ok(self.since(start))
    }

    /// Consumes a value. Returns its text without surrounding white space.
    pub(crate) fn value(&mut self) -> Checked<&'a [u8]> {
        self.peek();
        // Local variables stay in registers.
        let (bytes, start, rewrite) = (self.bytes, self.at, &mut self.needs_rewrite);
        let mut at = start;
        let mut open = Nesting::new(self.depth_max);
        'value: loop {
            match next(bytes, &mut at, rewrite) {
                Some(b'"') => at = string_end(bytes, at, rewrite)?,
                Some(b'{') => {
                    open.push(true, at)?;
                    at += 1;
                    if next(bytes, &mut at, rewrite) != Some(b'}') {
                        at = key_end(bytes, at, rewrite)?;
                        continue 'value;
                    }
                    at += 1;
                    open.pop();
                }
                Some(b'[') => {
                    open.push(false, at)?;
                    at += 1;
                    if next(bytes, &mut at, rewrite) != Some(b']') {
                        continue 'value;
                    }
                    at += 1;
                    open.pop();
                }
                Some(b'-' | b'0'..=b'9') => at = number_end(bytes, at)?,
                Some(b't') => at = word_end(bytes, at, b"true")?,
                Some(b'f') => at = word_end(bytes, at, b"false")?,
                Some(b'n') => at = word_end(bytes, at, b"null")?,
                other => return Err(unexpected(at, other)),
            }
            loop {
                if open.is_empty() {
                    self.at = at;
                    return Ok(bytes.get(start..at).unwrap_or_default());
                }
                match (next(bytes, &mut at, rewrite), open.in_object()) {
                    (Some(b','), false) => {
                        at += 1;
                        continue 'value;
                    }
                    (Some(b','), true) => {
                        at = key_end(bytes, at + 1, rewrite)?;
                        continue 'value;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {}
                    (other, _) => return Err(unexpected(at, other)),
                }
                at += 1;
                open.pop();
            }
        }
    }
}

/// Methods for validated text.
impl<'a> Cursor<'a> {
    /// Consumes a key and its colon. Returns the key with its quotes.
    #[inline]
    pub(super) fn skip_key(&mut self) -> Option<&'a [u8]> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let start = self.at;
        self.skip_string();
        let key = self.since(start);
        self.accept(b':').then_some(key)
    }

    /// Consumes a key and its colon if the key is short and has no escapes or white space. Returns
    /// the range of the key, without its quotes.
    #[inline(always)]
    pub(super) fn skip_short_key(&mut self) -> Option<Range<usize>> {
        let end = short_key_end(self.bytes, self.at)?;
        let key = self.at + 1..end - 2;
        self.at = end;
        Some(key)
    }

    /// Consumes a value. Returns `None` if there is none.
    #[inline]
    pub(super) fn skip_value(&mut self) -> Option<&'a [u8]> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => {
                self.skip_string();
            }
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_scalar(),
        }
        let value = self.since(start);
        (!value.is_empty()).then_some(value)
    }

    /// Consumes `len` bytes.
    #[inline]
    pub(super) fn skip_bytes(&mut self, len: usize) {
        self.at = (self.at + len).min(self.bytes.len());
    }

    /// Consumes the string at the cursor. Returns whether it has escapes.
    #[inline(always)]
    pub(super) fn skip_string(&mut self) -> bool {
        let has_escapes;
        (self.at, has_escapes) = match near_quote::<NEAR_VALUE>(self.bytes, self.at) {
            Ok(quote) => (quote + 1, false),
            Err(plain) => skip_long_string(self.bytes, plain),
        };
        has_escapes
    }

    /// Consumes the object or array at the cursor by counting brackets.
    fn skip_nested(&mut self) {
        // Local variables stay in registers.
        let (bytes, mut at, mut depth) = (self.bytes, self.at, 0_usize);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at = match near_quote::<NEAR_KEY>(bytes, at) {
                        Ok(quote) => quote + 1,
                        Err(plain) => skip_long_string(bytes, plain).0,
                    };
                    // The byte after a string is rarely a bracket.
                    at += usize::from(bytes.get(at).is_some_and(|byte| *byte < b'['));
                }
                // `[` and `{` differ only in this bit, as do `]` and `}`. No other byte outside of
                // strings matches.
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

    /// Consumes a number, `true`, `false` or `null`.
    fn skip_scalar(&mut self) {
        let ends =
            |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\n' | b'\r');
        let rest = self.rest();
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
    }
}

/// Returns the index after a validated string that continues at `start`, and whether it has escapes
/// after `start`.
#[inline(never)]
fn skip_long_string(bytes: &[u8], start: usize) -> (usize, bool) {
    let from = |at: usize| bytes.get(at..).unwrap_or_default();
    let Some(first) = memchr::memchr2(b'"', b'\\', from(start)) else {
        return (bytes.len(), false);
    };
    let mut end = start + first;
    if bytes.get(end) == Some(&b'"') {
        return (end + 1, false);
    }
    while let Some(quote) = memchr::memchr(b'"', from(end)) {
        end += quote;
        let inside = bytes.get(start..end).unwrap_or_default();
        // After an odd number of backslashes the quote is part of the string.
        let slashes = inside.iter().rev().take_while(|&&byte| byte == b'\\').count();
        if slashes % 2 == 0 {
            return (end + 1, true);
        }
        end += 1;
    }
    (bytes.len(), true)
}

#[cfg(test)]
mod tests;
