//! The tokens of JSON (RFC 8259): validates each and finds where it ends.
//!
//! Raw control bytes are errors. Escapes of unpaired surrogates are valid, as in RFC 8259, but must
//! be rewritten before the text is kept, because no Rust string can hold a surrogate.

use core::fmt;

use super::swar::{NEAR_KEY, NEAR_VALUE, near_quote, plain_len};

/// The position and reason of invalid JSON.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SyntaxError {
    /// The index of the offending byte.
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
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            SyntaxErrorKind::Depth => "nested too deeply",
            SyntaxErrorKind::End => "unexpected end",
            SyntaxErrorKind::Unexpected => "unexpected byte",
        };
        write!(f, "{what} at byte {}", self.at)
    }
}

pub(super) type Checked<T> = Result<T, SyntaxError>;

/// Returns an error for `byte`, which was found at `at` and is not allowed there.
#[cold]
pub(super) fn unexpected(at: usize, byte: Option<u8>) -> SyntaxError {
    let kind = if byte.is_none() { SyntaxErrorKind::End } else { SyntaxErrorKind::Unexpected };
    SyntaxError { at, kind }
}

/// Moves `at` past white space and returns the byte there. Sets `needs_rewrite` if it passes a line
/// break.
#[inline(always)]
pub(super) fn next(bytes: &[u8], at: &mut usize, needs_rewrite: &mut bool) -> Option<u8> {
    match bytes.get(*at) {
        Some(byte) if *byte > b' ' => Some(*byte),
        _ => {
            *at = space_end(bytes, *at, needs_rewrite);
            bytes.get(*at).copied()
        }
    }
}

#[cold]
#[inline(never)]
fn space_end(bytes: &[u8], mut at: usize, needs_rewrite: &mut bool) -> usize {
    while let Some(byte @ (b' ' | b'\t' | b'\n' | b'\r')) = bytes.get(at) {
        *needs_rewrite |= matches!(byte, b'\n' | b'\r');
        at += 1;
    }
    at
}

/// Returns the index after a key and its colon. White space may precede the key.
#[inline(always)]
pub(super) fn key_end(bytes: &[u8], at: usize, needs_rewrite: &mut bool) -> Checked<usize> {
    match short_key_end(bytes, at) {
        Some(end) => Ok(end),
        None => any_key_end(bytes, at, needs_rewrite),
    }
}

#[inline(never)]
fn any_key_end(bytes: &[u8], mut at: usize, needs_rewrite: &mut bool) -> Checked<usize> {
    next(bytes, &mut at, needs_rewrite);
    at = string_end(bytes, at, needs_rewrite)?;
    match next(bytes, &mut at, needs_rewrite) {
        Some(b':') => Ok(at + 1),
        other => Err(unexpected(at, other)),
    }
}

/// Like [`key_end`], but only for a short key without escapes and white space.
#[inline(always)]
pub(super) fn short_key_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let quote = near_quote::<NEAR_KEY>(bytes, at).ok()?;
    (*bytes.get(quote + 1)? == b':').then_some(quote + 2)
}

/// Returns the index after the string at `at`. Sets `needs_rewrite` if the string has an unpaired
/// surrogate.
#[inline(always)]
pub(super) fn string_end(bytes: &[u8], at: usize, needs_rewrite: &mut bool) -> Checked<usize> {
    if bytes.get(at) != Some(&b'"') {
        return Err(unexpected(at, bytes.get(at).copied()));
    }
    match near_quote::<NEAR_VALUE>(bytes, at) {
        Ok(quote) => Ok(quote + 1),
        Err(plain) => long_string_end(bytes, plain, needs_rewrite),
    }
}

/// Returns the index after a string that continues at `at`.
#[inline(never)]
fn long_string_end(bytes: &[u8], mut at: usize, rewrite: &mut bool) -> Checked<usize> {
    loop {
        at += plain_len(bytes.get(at..).unwrap_or_default());
        at = match bytes.get(at..) {
            Some([b'"', ..]) => return Ok(at + 1),
            Some([b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..]) => at + 2,
            // A surrogate.
            Some([b'\\', b'u', b'd' | b'D', b'8'..=b'f', ..]) => escape_end(bytes, at, rewrite)?,
            Some([b'\\', b'u', a, b, c, d, ..])
                if [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit) =>
            {
                at + 6
            }
            Some([b'\\', ..]) => escape_end(bytes, at, rewrite)?,
            _ => return Err(unexpected(at, bytes.get(at).copied())),
        }
    }
}

/// Returns the index after the escape sequence at `start`, or after both of a surrogate pair. Sets
/// `is_unpaired` if it is an unpaired surrogate.
#[cold]
#[inline(never)]
pub(super) fn escape_end(bytes: &[u8], start: usize, is_unpaired: &mut bool) -> Checked<usize> {
    match bytes.get(start + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(start + 2),
        Some(b'u') => {
            let (at, unit) = (start + 6, hex4(bytes, start)?);
            let low = if bytes.get(at..at + 2) == Some(br"\u") { hex4(bytes, at)? } else { 0 };
            if matches!((unit, low), (0xD800..=0xDBFF, 0xDC00..=0xDFFF)) {
                return Ok(at + 6);
            }
            *is_unpaired |= (0xD800..0xE000).contains(&unit);
            Ok(at)
        }
        other => Err(unexpected(start + 1, other.copied())),
    }
}

/// Returns the code unit of the `\uXXXX` at `at`.
fn hex4(bytes: &[u8], at: usize) -> Checked<u32> {
    (at + 2..at + 6).try_fold(0, |unit, at| {
        let byte = bytes.get(at).copied();
        let digit = byte.and_then(|byte| char::from(byte).to_digit(16));
        Ok(unit * 16 + digit.ok_or_else(|| unexpected(at, byte))?)
    })
}

/// Returns the index after the number at `at`.
#[inline]
pub(super) fn number_end(bytes: &[u8], mut at: usize) -> Checked<usize> {
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits_end(bytes, at)? };
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let has_sign = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = digits_end(bytes, at + 1 + usize::from(has_sign))?;
    }
    Ok(at)
}

/// Returns the index after one or more digits.
fn digits_end(bytes: &[u8], start: usize) -> Checked<usize> {
    let mut at = start;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    if at == start { Err(unexpected(at, bytes.get(at).copied())) } else { Ok(at) }
}

/// Returns the index after `word`, which must be at `start`.
#[inline]
pub(super) fn word_end(bytes: &[u8], start: usize, word: &'static [u8]) -> Checked<usize> {
    let end = start + word.len();
    if bytes.get(start..end) == Some(word) {
        return Ok(end);
    }
    let rest = bytes.get(start..).unwrap_or_default();
    let matching = rest.iter().zip(word).take_while(|(byte, wanted)| byte == wanted).count();
    Err(unexpected(start + matching, rest.get(matching).copied()))
}

/// The open brackets, one bit per level: set for an object.
pub(super) struct Nesting {
    objects: u128,
    depth: u8,
    depth_max: u8,
}

/// The deepest nesting that any configuration can allow: one bit of a `u128` per level.
pub(crate) const DEPTH_CEILING: u8 = 128;

impl Nesting {
    #[inline(always)]
    pub(super) const fn new(depth_max: u8) -> Self {
        Self { objects: 0, depth: 0, depth_max }
    }

    /// Opens an object or an array at `at`.
    #[inline(always)]
    pub(super) fn push(&mut self, object: bool, at: usize) -> Checked<()> {
        if self.depth >= self.depth_max {
            return Err(SyntaxError { at, kind: SyntaxErrorKind::Depth });
        }
        self.depth += 1;
        self.objects = (self.objects << 1) | u128::from(object);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
    }

    #[inline(always)]
    pub(super) const fn is_empty(&self) -> bool {
        self.depth == 0
    }

    #[inline(always)]
    pub(super) const fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}
