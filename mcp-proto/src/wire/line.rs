//! Splits a byte stream into lines.
//!
//! Only LF ends a line. One CR before it is dropped. Blank lines are skipped, and one UTF-8 byte
//! order mark at the start of the stream is dropped. A line over the limit is discarded up to its
//! LF in constant memory; it is reported when it exceeds the limit and when it ends.

// FRM-13: only LF ends a line. FRM-08: CR and blank lines. FRM-09: the byte order mark. FRM-10,
// T-21: overlong lines.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

use bytes::Bytes;

/// A line returned by `LineReader::next`.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Line<'a> {
    /// A line without its terminator, never blank; valid until the next call.
    Borrowed(&'a [u8]),
    /// A long line assembled from several inputs, which owns its buffer.
    Owned(Bytes),
    /// A line has exceeded the limit; the rest of it is discarded.
    TooLong,
    /// The end of a line that exceeded the limit.
    Discarded(Box<LineEnds>),
}

/// The first and the last bytes of a line that was discarded.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct LineEnds {
    pub(crate) first: Vec<u8>,
    pub(crate) last: Vec<u8>,
}

impl LineEnds {
    fn extend(&mut self, piece: &[u8]) {
        let head = piece.len().min(END_BYTES_MAX - self.first.len());
        self.first.extend_from_slice(piece.get(..head).unwrap_or_default());
        let tail = piece.get(piece.len().saturating_sub(END_BYTES_MAX)..).unwrap_or_default();
        let stale = (self.last.len() + tail.len()).saturating_sub(END_BYTES_MAX);
        self.last.drain(..stale.min(self.last.len()));
        self.last.extend_from_slice(tail);
    }
}

/// The length of each end of a discarded line that is kept: enough for the envelope of a response.
const END_BYTES_MAX: usize = 256;

/// The minimum length of a line that is returned as an owned buffer.
const OWNED_BYTES_MIN: usize = 4096;

/// The incoming half of line framing.
#[derive(Debug)]
pub(crate) struct LineReader {
    /// The start of an unterminated line.
    partial: Vec<u8>,
    line_bytes_max: usize,
    /// Capacity that is retained between lines.
    idle_bytes_max: usize,
    state: LineState,
    /// The ends of the line that is being discarded or was discarded last.
    discarded: Option<Box<LineEnds>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum LineState {
    /// At the start of the stream, where a byte order mark may come.
    Start,
    Line,
    /// The line returned last is still in `partial`.
    Lent,
    /// Discarding bytes up to the next LF.
    Discarding,
    /// A line over the limit has ended, which is to be reported.
    Discarded,
}

impl LineReader {
    pub(crate) fn new(line_bytes_max: usize, idle_bytes_max: usize) -> Self {
        let (partial, state) = (Vec::new(), LineState::Start);
        Self { partial, line_bytes_max, idle_bytes_max, state, discarded: None }
    }

    /// Takes the next line from the front of `input`. Returns `None` when the input is exhausted.
    /// Each byte is scanned once, however the stream is split.
    // FRM-07: lines do not depend on how the stream is split.
    pub(crate) fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Option<Line<'s>> {
        match self.state {
            LineState::Start | LineState::Line | LineState::Discarding => {}
            LineState::Lent => self.release_lent(),
            // A line is reported as soon as it exceeds the limit, and again when it ends.
            LineState::Discarded => return self.take_discarded(),
        }
        loop {
            let Some(end) = memchr::memchr(b'\n', input) else {
                let rest = mem::take(input);
                return self.buffer(rest).then_some(Line::TooLong);
            };
            let piece = input.get(..end).unwrap_or_default();
            *input = input.get(end + 1..).unwrap_or_default();
            if self.state == LineState::Discarding {
                self.discard(piece);
                return self.take_discarded();
            }
            if self.partial.len() + piece.len()
                > self.line_bytes_max.saturating_add(TRIMMED_BYTES_MAX)
            {
                self.discard(piece);
                self.state = LineState::Discarded;
                return Some(Line::TooLong);
            }
            if self.partial.is_empty() {
                let line = self.trim(piece);
                if line.len() > self.line_bytes_max {
                    self.discard(line);
                    self.state = LineState::Discarded;
                    return Some(Line::TooLong);
                }
                if !is_blank(line) {
                    return Some(Line::Borrowed(line));
                }
                continue;
            }
            self.extend_partial(piece);
            return match self.take_partial() {
                CompletedLine::Blank => continue,
                CompletedLine::TooLong => Some(Line::TooLong),
                CompletedLine::Owned(line) => Some(Line::Owned(line)),
                CompletedLine::Borrowed(start, end) => {
                    Some(Line::Borrowed(self.partial.get(start..end).unwrap_or_default()))
                }
            };
        }
    }

    /// Returns the line in `input` without a copy if `input` is exactly one long line, after
    /// complete lines only. Otherwise, `input` is left to [`next`](Self::next).
    pub(crate) fn whole_line(&mut self, input: &Bytes) -> Option<Bytes> {
        if self.state == LineState::Lent {
            self.release_lent();
        }
        let end = input.len().checked_sub(1).filter(|end| *end >= OWNED_BYTES_MIN)?;
        let follows_line = self.state == LineState::Line && self.partial.is_empty();
        if !follows_line || memchr::memchr(b'\n', input) != Some(end) {
            return None;
        }
        let line = input.slice_ref(self.trim(input.get(..end)?));
        (line.len() <= self.line_bytes_max && !is_blank(&line)).then_some(line)
    }

    /// Takes the unterminated last line at the end of the stream, if any. A line over the limit is
    /// returned as two items, as by [`next`](Self::next).
    // FRM-12: the caller decides whether it counts.
    pub(crate) fn finish(&mut self) -> Option<Line<'static>> {
        match self.state {
            LineState::Start | LineState::Line => {}
            LineState::Lent => self.release_lent(),
            LineState::Discarding | LineState::Discarded => return self.take_discarded(),
        }
        let partial = mem::take(&mut self.partial);
        let line = self.trim(&partial);
        if line.len() > self.line_bytes_max {
            self.discard(line);
            self.state = LineState::Discarded;
            return Some(Line::TooLong);
        }
        (!is_blank(line)).then(|| Line::Owned(Bytes::copy_from_slice(line)))
    }

    /// Buffers the start of a line. Returns whether the line has just exceeded the limit.
    fn buffer(&mut self, rest: &[u8]) -> bool {
        if self.state == LineState::Discarding {
            self.discard(rest);
            return false;
        }
        if self.partial.len() + rest.len() > self.line_bytes_max.saturating_add(TRIMMED_BYTES_MAX) {
            self.discard(rest);
            self.state = LineState::Discarding;
            return true;
        }
        self.extend_partial(rest);
        false
    }

    /// Appends to the partial line. Long lines grow by a quarter rather than by half or double,
    /// because they are retained.
    fn extend_partial(&mut self, piece: &[u8]) {
        let len = self.partial.len();
        if len >= OWNED_BYTES_MIN && self.partial.capacity() - len < piece.len() {
            self.partial.reserve_exact(piece.len().max(len / 4));
        }
        self.partial.extend_from_slice(piece);
    }

    fn take_partial(&mut self) -> CompletedLine {
        let mut whole = mem::take(&mut self.partial);
        let line = self.trim(&whole);
        let start =
            if line.len() + 3 <= whole.len() && whole.starts_with(BOM) { BOM.len() } else { 0 };
        let (start, end) = if is_blank(line) { (0, 0) } else { (start, start + line.len()) };
        let too_long = line.len() > self.line_bytes_max;
        if too_long || end == 0 {
            self.partial = whole;
            if too_long {
                self.discard(b"");
                self.state = LineState::Discarded;
            }
            self.drop_partial();
            return if too_long { CompletedLine::TooLong } else { CompletedLine::Blank };
        }
        if end - start >= OWNED_BYTES_MIN {
            // The line may be retained: it must not keep a larger idle buffer alive.
            if whole.capacity() > 2 * whole.len() {
                whole.shrink_to_fit();
            }
            return CompletedLine::Owned(Bytes::from(whole).slice(start..end));
        }
        self.partial = whole;
        self.state = LineState::Lent;
        CompletedLine::Borrowed(start, end)
    }

    /// Drops the CR of a CRLF, and a byte order mark at the start of the stream.
    fn trim<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if mem::replace(&mut self.state, LineState::Line) == LineState::Start {
            return line.strip_prefix(BOM).unwrap_or(line);
        }
        line
    }

    fn release_lent(&mut self) {
        self.state = LineState::Line;
        self.drop_partial();
    }

    /// Returns the ends of the discarded line. Reading resumes after its LF.
    // FRM-11: one line does not affect the next.
    fn take_discarded(&mut self) -> Option<Line<'static>> {
        self.state = LineState::Line;
        self.discarded.take().map(Line::Discarded)
    }

    /// Discards the partial line and its continuation `piece`, except the ends.
    fn discard(&mut self, piece: &[u8]) {
        let ends = self.discarded.get_or_insert_default();
        ends.extend(&self.partial);
        ends.extend(piece);
        self.drop_partial();
    }

    fn drop_partial(&mut self) {
        self.partial.clear();
        self.partial.shrink_to(self.idle_bytes_max);
    }
}

enum CompletedLine {
    Blank,
    Borrowed(usize, usize),
    Owned(Bytes),
    TooLong,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Bytes that can be dropped from a line before its length counts: a byte order mark and a CR.
const TRIMMED_BYTES_MAX: usize = BOM.len() + 1;

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

#[cfg(test)]
mod tests;
