//! Cuts a byte stream into lines; knows nothing of what a line says.
//!
//! A line ends at LF and at nothing else (FRM-13). One CR before it is dropped, blank lines are
//! skipped (FRM-08), and so is one UTF-8 byte order mark at the start of the stream (FRM-09). A
//! line longer than the limit is discarded up to its LF in constant memory, and reported once
//! (FRM-10, T-21).

use alloc::vec::Vec;
use core::mem;

use bytes::Bytes;

/// What `LineReader::next` found.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Line<'a> {
    /// A line without its end, never blank; valid until the next call.
    Borrowed(&'a [u8]),
    /// As `Borrowed`, for a long line that was put together from pieces: its bytes can be kept.
    Owned(Bytes),
    /// A line passed the limit; its bytes are being dropped.
    TooLong,
}

/// Lines at least this long are handed over with their buffer.
const OWNED_BYTES_MIN: usize = 4096;

/// What a reader keeps of its buffer between lines.
const KEPT_BYTES_MAX: usize = 16 * 1024;

/// The reading half of line framing.
#[derive(Debug)]
pub(crate) struct LineReader {
    /// The beginning of a line whose end has not come.
    partial: Vec<u8>,
    line_bytes_max: usize,
    state: State,
    /// The line that was handed out last lies in `partial` and is used up.
    taken: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// No line has ended and no byte was judged: a byte order mark may still come.
    Start,
    Line,
    /// Dropping bytes up to the next LF.
    Discarding,
}

impl LineReader {
    pub(crate) fn new(line_bytes_max: usize) -> Self {
        Self { partial: Vec::new(), line_bytes_max, state: State::Start, taken: false }
    }

    /// Takes the next line from the front of `input`; `None` once all of it is used up.
    ///
    /// Every byte is looked at once, however the stream is split.
    pub(crate) fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Option<Line<'s>> {
        self.forget_taken();
        loop {
            let Some(end) = memchr::memchr(b'\n', input) else {
                let rest = mem::take(input);
                return self.hold(rest).then_some(Line::TooLong);
            };
            let piece = input.get(..end).unwrap_or_default();
            *input = input.get(end + 1..).unwrap_or_default();
            if self.state == State::Discarding {
                self.state = State::Line;
                continue;
            }
            if self.partial.len() + piece.len()
                > self.line_bytes_max.saturating_add(TRIMMED_BYTES_MAX)
            {
                self.drop_partial();
                self.state = State::Line;
                return Some(Line::TooLong);
            }
            if self.partial.is_empty() {
                let line = self.trim(piece);
                if line.len() > self.line_bytes_max {
                    return Some(Line::TooLong);
                }
                if !is_blank(line) {
                    return Some(Line::Borrowed(line));
                }
                continue;
            }
            self.add(piece);
            return match self.take_partial() {
                Taken::Blank => continue,
                Taken::TooLong => Some(Line::TooLong),
                Taken::Owned(line) => Some(Line::Owned(line)),
                Taken::Borrowed(start, end) => {
                    Some(Line::Borrowed(self.partial.get(start..end).unwrap_or_default()))
                }
            };
        }
    }

    /// The stream ended: takes the last line, which has no LF, if there is one. (FRM-12)
    pub(crate) fn finish(&mut self) -> Option<Line<'static>> {
        self.forget_taken();
        if self.state == State::Discarding {
            return None;
        }
        let partial = mem::take(&mut self.partial);
        let line = self.trim(&partial);
        if line.len() > self.line_bytes_max {
            return Some(Line::TooLong);
        }
        (!is_blank(line)).then(|| Line::Owned(Bytes::copy_from_slice(line)))
    }

    /// Keeps the beginning of a line; true when it just passed the limit.
    fn hold(&mut self, rest: &[u8]) -> bool {
        if self.state == State::Discarding {
            return false;
        }
        if self.partial.len() + rest.len() > self.line_bytes_max.saturating_add(TRIMMED_BYTES_MAX) {
            self.drop_partial();
            self.state = State::Discarding;
            return true;
        }
        self.add(rest);
        false
    }

    /// Adds a piece. Long lines get room for a quarter more and not, as is usual, for as much
    /// again: they are kept.
    fn add(&mut self, piece: &[u8]) {
        let len = self.partial.len();
        if len >= OWNED_BYTES_MIN && self.partial.capacity() - len < piece.len() {
            self.partial.reserve_exact(piece.len().max(len / 4));
        }
        self.partial.extend_from_slice(piece);
    }

    fn take_partial(&mut self) -> Taken {
        let whole = mem::take(&mut self.partial);
        let line = self.trim(&whole);
        let start =
            if line.len() + 3 <= whole.len() && whole.starts_with(BOM) { BOM.len() } else { 0 };
        let (start, end) = if is_blank(line) { (0, 0) } else { (start, start + line.len()) };
        let too_long = line.len() > self.line_bytes_max;
        if too_long || end == 0 {
            self.partial = whole;
            self.drop_partial();
            return if too_long { Taken::TooLong } else { Taken::Blank };
        }
        if end - start >= OWNED_BYTES_MIN {
            return Taken::Owned(Bytes::from(whole).slice(start..end));
        }
        self.partial = whole;
        self.taken = true;
        Taken::Borrowed(start, end)
    }

    /// Drops the CR of CRLF, and a byte order mark at the start of the stream.
    fn trim<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if mem::replace(&mut self.state, State::Line) == State::Start {
            return line.strip_prefix(BOM).unwrap_or(line);
        }
        line
    }

    fn forget_taken(&mut self) {
        if mem::take(&mut self.taken) {
            self.drop_partial();
        }
    }

    fn drop_partial(&mut self) {
        self.partial.clear();
        self.partial.shrink_to(KEPT_BYTES_MAX);
    }
}

enum Taken {
    Blank,
    Borrowed(usize, usize),
    Owned(Bytes),
    TooLong,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// What may be dropped from a line before its length counts: a byte order mark and a CR.
const TRIMMED_BYTES_MAX: usize = BOM.len() + 1;

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

#[cfg(test)]
mod tests;
