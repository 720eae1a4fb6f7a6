//! A scanner that checks JSON and finds where values lie, in one pass, without recursion and without a tree.
//!
//! It knows the grammar of RFC 8259 and nothing of what the values mean. It is stricter than a parser that
//! skips: unpaired surrogate escapes and raw control bytes are errors (T-11), and depth is bounded (T-12).

use core::fmt;

use super::plain::{near_quote, plain_len};

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
        let mut at = self.at;
        let next = next(self.bytes, &mut at, &mut self.saw_line_break);
        self.at = at;
        next
    }

    /// What is not taken yet.
    #[cfg(test)]
    pub(super) fn rest(&self) -> &'a [u8] {
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
            other => Err(unexpected(self.at, other)),
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
            other => Err(unexpected(self.at, other)),
        }
    }

    /// Takes one member's key and the colon behind it; the key comes with its quotes.
    #[inline(always)]
    fn key(&mut self) -> Scan<&'a [u8]> {
        let start = self.at;
        if let Some(behind) = behind_short_key(self.bytes, start) {
            self.at = behind;
            return Ok(self.bytes.get(start..behind - 1).unwrap_or_default());
        }
        self.peek();
        let start = self.at;
        self.at = behind_string(self.bytes, start)?;
        let key = self.since(start);
        self.expect(b':')?;
        Ok(key)
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
        // What is looked at again and again stays in registers.
        let (bytes, start, breaks) = (self.bytes, self.at, &mut self.saw_line_break);
        let mut at = start;
        let mut open = Nesting { objects: 0, depth: 0, depth_max: self.depth_max };
        'value: loop {
            match next(bytes, &mut at, breaks) {
                Some(b'"') => at = behind_string(bytes, at)?,
                Some(b'{') => {
                    open.push(true, at)?;
                    at += 1;
                    if next(bytes, &mut at, breaks) != Some(b'}') {
                        at = behind_key(bytes, at, breaks)?;
                        continue 'value;
                    }
                    at += 1;
                    open.pop();
                }
                Some(b'[') => {
                    open.push(false, at)?;
                    at += 1;
                    if next(bytes, &mut at, breaks) != Some(b']') {
                        continue 'value;
                    }
                    at += 1;
                    open.pop();
                }
                Some(b'-' | b'0'..=b'9') => at = behind_number(bytes, at)?,
                Some(b't') => at = behind_word(bytes, at, b"true")?,
                Some(b'f') => at = behind_word(bytes, at, b"false")?,
                Some(b'n') => at = behind_word(bytes, at, b"null")?,
                other => return Err(unexpected(at, other)),
            }
            loop {
                if open.depth == 0 {
                    self.at = at;
                    return Ok(bytes.get(start..at).unwrap_or_default());
                }
                match (next(bytes, &mut at, breaks), open.in_object()) {
                    (Some(b','), false) => {
                        at += 1;
                        continue 'value;
                    }
                    (Some(b','), true) => {
                        at = behind_key(bytes, at + 1, breaks)?;
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

    /// What was taken from `start` on.
    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }
}

/// The next byte from `at` on that is not white space; `breaks` is set where that holds a line break.
#[inline(always)]
fn next(bytes: &[u8], at: &mut usize, breaks: &mut bool) -> Option<u8> {
    match bytes.get(*at) {
        Some(byte) if *byte > b' ' => Some(*byte),
        _ => {
            *at = behind_space(bytes, *at, breaks);
            bytes.get(*at).copied()
        }
    }
}

#[cold]
#[inline(never)]
fn behind_space(bytes: &[u8], mut at: usize, breaks: &mut bool) -> usize {
    while let Some(byte @ (b' ' | b'\t' | b'\n' | b'\r')) = bytes.get(at) {
        *breaks |= matches!(byte, b'\n' | b'\r');
        at += 1;
    }
    at
}

/// Where the value of a member begins whose key is at `at`, or white space before it.
#[inline(always)]
fn behind_key(bytes: &[u8], at: usize, breaks: &mut bool) -> Scan<usize> {
    match behind_short_key(bytes, at) {
        Some(behind) => Ok(behind),
        None => behind_any_key(bytes, at, breaks),
    }
}

#[inline(never)]
fn behind_any_key(bytes: &[u8], mut at: usize, breaks: &mut bool) -> Scan<usize> {
    next(bytes, &mut at, breaks);
    at = behind_string(bytes, at)?;
    match next(bytes, &mut at, breaks) {
        Some(b':') => Ok(at + 1),
        other => Err(unexpected(at, other)),
    }
}

/// As `behind_key`, where that is a short key without escapes and a colon.
#[inline(always)]
fn behind_short_key(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let quote = near_quote(bytes, at).ok()?;
    (*bytes.get(quote + 1)? == b':').then_some(quote + 2)
}

/// Where a string ends that begins at `at`.
#[inline(always)]
fn behind_string(bytes: &[u8], at: usize) -> Scan<usize> {
    if bytes.get(at) != Some(&b'"') {
        return Err(unexpected(at, bytes.get(at).copied()));
    }
    match near_quote(bytes, at) {
        Ok(quote) => Ok(quote + 1),
        Err(plain) => behind_long_string(bytes, plain),
    }
}

/// Where a string ends that goes on at `at`.
#[inline(never)]
fn behind_long_string(bytes: &[u8], mut at: usize) -> Scan<usize> {
    loop {
        at += plain_len(bytes.get(at..).unwrap_or_default());
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = behind_escape(bytes, at)?,
            other => return Err(unexpected(at, other.copied())),
        }
    }
}

/// Where an escape ends that begins at `start`.
fn behind_escape(bytes: &[u8], start: usize) -> Scan<usize> {
    match bytes.get(start + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(start + 2),
        Some(b'u') => {
            let at = start + 6;
            let half = SyntaxError { at: start, kind: SyntaxErrorKind::Surrogate };
            match hex4(bytes, start)? {
                0xD800..=0xDBFF if bytes.get(at..at + 2) == Some(br"\u") => match hex4(bytes, at)? {
                    0xDC00..=0xDFFF => Ok(at + 6),
                    _ => Err(half),
                },
                0xD800..=0xDFFF => Err(half),
                _ => Ok(at),
            }
        }
        other => Err(unexpected(start + 1, other.copied())),
    }
}

/// What `\uXXXX` at `at` says.
fn hex4(bytes: &[u8], at: usize) -> Scan<u32> {
    let mut unit = 0;
    for at in at + 2..at + 6 {
        let byte = bytes.get(at).copied();
        let digit = byte.and_then(|byte| char::from(byte).to_digit(16));
        unit = unit * 16 + digit.ok_or_else(|| unexpected(at, byte))?;
    }
    Ok(unit)
}

/// Where a number ends that begins at `at`.
fn behind_number(bytes: &[u8], mut at: usize) -> Scan<usize> {
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { behind_digits(bytes, at)? };
    if bytes.get(at) == Some(&b'.') {
        at = behind_digits(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let has_sign = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = behind_digits(bytes, at + 1 + usize::from(has_sign))?;
    }
    Ok(at)
}

/// Where one digit or more end.
fn behind_digits(bytes: &[u8], start: usize) -> Scan<usize> {
    let mut at = start;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    if at == start { Err(unexpected(at, bytes.get(at).copied())) } else { Ok(at) }
}

/// Where `word` ends that is to begin at `start`.
fn behind_word(bytes: &[u8], start: usize, word: &'static [u8]) -> Scan<usize> {
    let end = start + word.len();
    if bytes.get(start..end) == Some(word) {
        return Ok(end);
    }
    let rest = bytes.get(start..).unwrap_or_default();
    let same = rest.iter().zip(word).take_while(|(byte, wanted)| byte == wanted).count();
    Err(unexpected(start + same, rest.get(same).copied()))
}

#[cold]
fn unexpected(at: usize, byte: Option<u8>) -> SyntaxError {
    let kind = if byte.is_none() { SyntaxErrorKind::End } else { SyntaxErrorKind::Unexpected };
    SyntaxError { at, kind }
}

/// The open brackets, a bit a level: set for an object.
struct Nesting {
    objects: u128,
    depth: u8,
    depth_max: u8,
}

impl Nesting {
    fn push(&mut self, object: bool, at: usize) -> Scan<()> {
        if self.depth >= self.depth_max {
            return Err(SyntaxError { at, kind: SyntaxErrorKind::Depth });
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
