//! A scanner that checks JSON and finds where values lie, in one pass, without recursion and without a tree.
//!
//! It knows the grammar of RFC 8259 and nothing of what the values mean. It is stricter than a parser that
//! skips: unpaired surrogate escapes and raw control bytes are errors (T-11), and depth is bounded (T-12).

use core::fmt;

use super::plain::{plain_len, short_string_len};

/// The deepest nesting that any configuration can allow: one bit of a `u128` a level.
pub(crate) const DEPTH_CEILING: u8 = 128;

/// Where and why a text is not JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SyntaxError {
    /// The byte at which it was noticed.
    pub(crate) at: usize,
    pub(crate) kind: SyntaxErrorKind,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SyntaxErrorKind {
    /// Nested deeper than allowed.
    Depth,
    /// The text ends inside a value.
    End,
    /// A byte that the grammar does not allow here.
    Unexpected,
    /// A `\u` escape that is half of a surrogate pair.
    Surrogate,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            SyntaxErrorKind::Depth => "nested too deeply",
            SyntaxErrorKind::End => "unexpected end",
            SyntaxErrorKind::Unexpected => "unexpected byte",
            SyntaxErrorKind::Surrogate => "unpaired surrogate escape",
        };
        write!(f, "{what} at byte {}", self.at)
    }
}

/// A cursor over one JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    depth_max: u8,
    /// Whether a line break was passed between tokens.
    pub(crate) saw_line_break: bool,
}

type Scan<T> = Result<T, SyntaxError>;

impl<'a> Scanner<'a> {
    /// Starts at the first byte of `text`; values nested deeper than `depth_max` are errors.
    pub(crate) fn new(text: &'a str, depth_max: u8) -> Self {
        Self::over(text.as_bytes(), depth_max)
    }

    /// As `new`, for bytes that are known to be UTF-8. Wrong bytes give wrong spans, never a panic.
    pub(crate) fn over(bytes: &'a [u8], depth_max: u8) -> Self {
        Self { bytes, at: 0, depth_max: depth_max.min(DEPTH_CEILING), saw_line_break: false }
    }

    /// The next byte that is not white space, without taking it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        match self.bytes.get(self.at) {
            Some(byte) if *byte > b' ' => Some(*byte),
            _ => self.peek_behind_space(),
        }
    }

    #[cold]
    fn peek_behind_space(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' => {}
                b'\n' | b'\r' => self.saw_line_break = true,
                _ => return Some(byte),
            }
            self.at += 1;
        }
        None
    }

    /// What is not taken yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Takes the next byte that is not white space, which must be `wanted`.
    #[inline]
    fn expect(&mut self, wanted: u8) -> Scan<()> {
        match self.peek() {
            Some(byte) if byte == wanted => {
                self.at += 1;
                Ok(())
            }
            other => Err(self.unexpected(other)),
        }
    }

    /// Takes `wanted` if it comes next.
    #[inline]
    fn accept(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += 1;
        }
        found
    }

    /// After the last value: only white space may follow.
    pub(crate) fn finish(&mut self) -> Scan<()> {
        match self.peek() {
            None => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Takes one member's key and the colon behind it; the key comes with its quotes.
    #[inline(always)]
    fn key(&mut self) -> Scan<&'a [u8]> {
        match self.short_key() {
            Some(len) => Ok(self.since(self.at - len - 1).split_last().map_or(&[], |(_, key)| key)),
            None => self.any_key(),
        }
    }

    #[inline(never)]
    fn any_key(&mut self) -> Scan<&'a [u8]> {
        self.peek();
        let start = self.at;
        self.string()?;
        let key = self.since(start);
        self.expect(b':')?;
        Ok(key)
    }

    /// As `key`, which it forgets.
    #[inline(always)]
    fn skip_key(&mut self) -> Scan<()> {
        if self.short_key().is_some() { Ok(()) } else { self.any_key().map(drop) }
    }

    /// Takes a short key without escapes and the colon behind it, where that is what comes next; how long the key is.
    #[inline(always)]
    fn short_key(&mut self) -> Option<usize> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return None;
        }
        let len = short_string_len(self.bytes, self.at)?;
        if self.bytes.get(self.at + len) != Some(&b':') {
            return None;
        }
        self.at += len + 1;
        Some(len)
    }

    /// Takes the object that comes next: `member` is shown each key, with its quotes, and takes the value.
    ///
    /// The object is one level of nesting, as it is for `value`.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a [u8]) -> Scan<()>,
    ) -> Scan<&'a [u8]> {
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

    /// Checks and takes one whole value; what it was made of is returned, without the white space around it.
    pub(crate) fn value(&mut self) -> Scan<&'a [u8]> {
        self.peek();
        let start = self.at;
        let mut open = Nesting { objects: 0, depth: 0 };
        'value: loop {
            match self.peek() {
                Some(b'{') => {
                    open.push(true, self)?;
                    self.at += 1;
                    if !self.accept(b'}') {
                        self.skip_key()?;
                        continue 'value;
                    }
                    open.pop();
                }
                Some(b'[') => {
                    open.push(false, self)?;
                    self.at += 1;
                    if !self.accept(b']') {
                        continue 'value;
                    }
                    open.pop();
                }
                Some(b'"') => self.string()?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.literal(b"true")?,
                Some(b'f') => self.literal(b"false")?,
                Some(b'n') => self.literal(b"null")?,
                other => return Err(self.unexpected(other)),
            }
            loop {
                if open.depth == 0 {
                    return Ok(self.since(start));
                }
                let in_object = open.in_object();
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if in_object {
                            self.skip_key()?;
                        }
                        continue 'value;
                    }
                    Some(b'}') if in_object => {}
                    Some(b']') if !in_object => {}
                    other => return Err(self.unexpected(other)),
                }
                self.at += 1;
                open.pop();
            }
        }
    }

    /// Takes a string that begins at the cursor.
    #[inline(always)]
    fn string(&mut self) -> Scan<()> {
        match short_string_len(self.bytes, self.at) {
            Some(len) if self.bytes.get(self.at) == Some(&b'"') => {
                self.at += len;
                Ok(())
            }
            _ => self.any_string(),
        }
    }

    #[inline(never)]
    fn any_string(&mut self) -> Scan<()> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.unexpected(self.bytes.get(self.at).copied()));
        }
        self.at += 1;
        loop {
            self.skip_plain();
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                other => return Err(self.unexpected(other.copied())),
            }
        }
    }

    /// Moves to the next quote, backslash or control byte.
    #[inline]
    fn skip_plain(&mut self) {
        self.at += plain_len(self.rest());
    }

    /// Takes one escape that begins at the cursor.
    fn escape(&mut self) -> Scan<()> {
        let start = self.at;
        match self.bytes.get(start + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => {
                let unit = self.hex4()?;
                match unit {
                    0xD800..=0xDBFF => {
                        let paired = self.bytes.get(self.at..self.at + 2) == Some(br"\u")
                            && matches!(self.hex4()?, 0xDC00..=0xDFFF);
                        if paired {
                            Ok(())
                        } else {
                            Err(SyntaxError { at: start, kind: SyntaxErrorKind::Surrogate })
                        }
                    }
                    0xDC00..=0xDFFF => Err(SyntaxError { at: start, kind: SyntaxErrorKind::Surrogate }),
                    _ => Ok(()),
                }
            }
            other => {
                let other = other.copied();
                self.at += 1;
                Err(self.unexpected(other))
            }
        }
    }

    /// Takes `\uXXXX` at the cursor and gives its value.
    fn hex4(&mut self) -> Scan<u32> {
        let mut unit = 0;
        self.at += 2;
        for _ in 0..4 {
            let byte = self.bytes.get(self.at).copied();
            let digit = byte.and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return Err(self.unexpected(byte)) };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Scan<()> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Takes one digit or more.
    fn digits(&mut self) -> Scan<()> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected(self.bytes.get(start).copied())) } else { Ok(()) }
    }

    fn literal(&mut self, word: &'static [u8]) -> Scan<()> {
        for wanted in word {
            let byte = self.bytes.get(self.at).copied();
            if byte != Some(*wanted) {
                return Err(self.unexpected(byte));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// What was taken from `start` on.
    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    #[cold]
    fn unexpected(&self, byte: Option<u8>) -> SyntaxError {
        let kind = if byte.is_none() { SyntaxErrorKind::End } else { SyntaxErrorKind::Unexpected };
        SyntaxError { at: self.at, kind }
    }
}

/// The open brackets, a bit a level: set for an object.
struct Nesting {
    objects: u128,
    depth: u8,
}

impl Nesting {
    fn push(&mut self, object: bool, scanner: &Scanner<'_>) -> Scan<()> {
        if self.depth >= scanner.depth_max {
            return Err(SyntaxError { at: scanner.at, kind: SyntaxErrorKind::Depth });
        }
        self.depth += 1;
        self.objects = (self.objects << 1) | u128::from(object);
        Ok(())
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
    }

    fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

#[cfg(test)]
mod tests;
