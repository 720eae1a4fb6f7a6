//! An incremental parser of event streams.
//!
//! Each byte is inspected once, and either stored as part of a relevant value or dropped. Lines are
//! never buffered, so comments and unknown fields take no memory. The data, id and type of an event
//! have separate limits.
// SSE-23: limits of an event.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::mem;
use core::time::Duration;

/// An item that [`EventReader::next`] returns: an event or an error.
#[derive(Debug, Eq, PartialEq)]
pub enum Item<'a> {
    /// An event, or lines without data that only set the event id or the reconnection time.
    Event(IncomingEvent<'a>),
    /// An event that exceeds a limit.
    ///
    /// Returned once per such event. The rest of the event is skipped, and its id does not take
    /// effect.
    // SSE-23: one oversized event does not end the stream.
    TooLong,
}

/// One block of lines in an event stream, up to a blank line.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct IncomingEvent<'a> {
    /// The event type; `message` if the block has none. Invalid UTF-8 is replaced.
    // SSE-12: the type selects the handler.
    pub kind: &'a str,
    /// The data lines, joined by LF. These are raw bytes, not necessarily valid UTF-8.
    ///
    /// `None` if the block has no data. Such a block is not an event: only its `id` and `retry`
    /// take effect.
    ///
    /// Data of 4 KiB or more is returned as [`Cow::Owned`], without being copied; shorter data is
    /// borrowed.
    // SSE-03: lines are joined by LF. SSE-07: a block without data dispatches no event.
    pub data: Option<Cow<'a, [u8]>>,
    /// The id in this block, if it has a valid one. An empty id clears the last event id.
    // SSE-10: NUL invalidates an id.
    pub id: Option<&'a str>,
    /// The reconnection time in this block, if it has a valid one.
    // SSE-11: milliseconds in decimal digits.
    pub retry: Option<Duration>,
}

impl IncomingEvent<'_> {
    /// Returns the data of a `message` event.
    ///
    /// Returns `None` if the event has another type, or if its data is missing or empty.
    // SSE-09, T-82: an event with empty data primes the id. SSE-12: other types are ignored.
    #[must_use]
    pub fn message(&self) -> Option<&[u8]> {
        self.data.as_deref().filter(|data| self.kind == MESSAGE && !data.is_empty())
    }
}

/// The default event type.
const MESSAGE: &str = "message";

/// The minimum length of data that is handed out with its buffer instead of borrowed.
const OWNED_BYTES_MIN: usize = 4096;

/// The maximum buffer capacity that a reader keeps between events.
const IDLE_CAPACITY_MAX: usize = 16 * 1024;

/// The maximum length of a known field name.
const NAME_BYTES_MAX: usize = 5;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A parser of one logical event stream, which may be resumed over several connections.
///
/// Each byte is inspected once, and chunk boundaries do not affect the events. The reader holds at
/// most about `2 * data_bytes_max + 12 * field_bytes_max` bytes; [`new`](Self::new) takes these
/// limits.
///
/// ```
/// use mcp_proto::http::sse::{Item, EventReader};
/// use std::time::Duration;
///
/// // Up to 1 MiB of data, and up to 256 bytes in each other field.
/// let mut reader = EventReader::new(1 << 20, 256);
/// // One event with an id, a reconnection time and empty data; then an incomplete event.
/// for mut chunk in [&b"id: a1\nretry: 500\nda"[..], b"ta:\r", b"\n\r\ndata: cut of"] {
///     while let Some(found) = reader.next(&mut chunk) {
///         let Item::Event(event) = found else { panic!("no event") };
///         assert_eq!((event.data.as_deref(), event.message()), (Some(&b""[..]), None));
///     }
/// }
/// assert!(reader.finish(), "the last event was incomplete");
/// // The values that the first event has set remain.
/// assert_eq!((reader.last_id(), reader.retry()), (Some("a1"), Some(Duration::from_millis(500))));
/// ```
#[derive(Debug)]
pub struct EventReader {
    data_bytes_max: usize,
    field_bytes_max: usize,
    state: ParseState,
    /// The last line ended with CR, so a following LF belongs to it.
    // T-81: CRLF may be split between chunks.
    after_cr: bool,
    /// `block` was returned and can be cleared.
    is_dispatched: bool,
    block: Block,
    /// The last event id; empty if unset.
    last_id: String,
    retry: Option<Duration>,
}

/// The fields of the current block.
#[derive(Default)]
struct Block {
    data: Vec<u8>,
    has_data: bool,
    kind: String,
    id: Option<String>,
    retry: Option<Duration>,
    /// The incomplete field name, or the incomplete value of a field other than data.
    value: Vec<u8>,
}

// Data may hold secrets, such as the message endpoint of HTTP+SSE.
impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block")
            .field("data_bytes", &self.data.len())
            .field("kind", &self.kind)
            .field("id", &self.id)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

/// The position of the next byte.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ParseState {
    /// At the start of the stream, after this many bytes of a byte order mark.
    Start(usize),
    /// In a field name or at its start.
    Name,
    /// After the colon.
    // SSE-04: one space is dropped.
    Space(Field),
    /// In a field value.
    Value(Field),
    /// In a comment or an unknown field.
    // SSE-05, SSE-06: unknown fields and comments are ignored.
    Ignored,
    /// In an event that exceeded a limit.
    Discarding {
        /// The current line is empty so far.
        blank: bool,
    },
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Field {
    Data,
    Event,
    Id,
    Retry,
}

/// The result of parsing some bytes.
enum StepResult {
    Continue,
    BlankLine,
    TooLong,
}

impl EventReader {
    /// Creates a reader that limits the size of each event.
    ///
    /// The data can have up to `data_bytes_max` bytes. The id, the type and the retry value can
    /// each have up to `field_bytes_max` bytes.
    #[must_use]
    pub fn new(data_bytes_max: usize, field_bytes_max: usize) -> Self {
        Self {
            data_bytes_max,
            field_bytes_max,
            state: ParseState::Start(0),
            after_cr: false,
            is_dispatched: false,
            block: Block::default(),
            last_id: String::new(),
            retry: None,
        }
    }

    /// Consumes `input` up to the end of the next event and returns that event.
    ///
    /// Returns [`Item::TooLong`] instead as soon as an event exceeds a limit. Returns `None` if all
    /// of `input` is consumed before an event is complete.
    ///
    /// An event is complete as soon as the first byte of its terminating blank line is read.
    // SSE-07: a blank line dispatches an event.
    pub fn next<'s>(&'s mut self, input: &mut &[u8]) -> Option<Item<'s>> {
        if mem::take(&mut self.is_dispatched) {
            self.block.clear();
        }
        while !input.is_empty() {
            // SSE-01: CRLF is one end of line.
            if mem::take(&mut self.after_cr) && input.first() == Some(&b'\n') {
                skip(input, 1);
                continue;
            }
            match self.step(input) {
                StepResult::Continue => {}
                StepResult::BlankLine if self.block.has_effect() => {
                    return Some(Item::Event(self.dispatch()));
                }
                StepResult::BlankLine => self.block.clear(),
                StepResult::TooLong => {
                    self.block.clear();
                    self.state = ParseState::Discarding { blank: false };
                    return Some(Item::TooLong);
                }
            }
        }
        None
    }

    /// Handles the end of a connection and returns whether an incomplete event was cut off.
    ///
    /// An incomplete event is dropped, including its id.
    ///
    /// The stream's last event id and reconnection time are kept, because later input is expected
    /// from a new connection that resumes the stream.
    // SSE-08, T-83: an incomplete event is discarded. SSE-20: ids are per stream, not connection.
    pub fn finish(&mut self) -> bool {
        let is_open = !matches!(self.state, ParseState::Start(0) | ParseState::Name)
            || !self.is_dispatched
                && (self.block.has_effect()
                    || !self.block.kind.is_empty()
                    || !self.block.value.is_empty());
        self.block.clear();
        self.is_dispatched = false;
        self.after_cr = false;
        self.state = ParseState::Start(0);
        is_open
    }

    /// Returns the last event id, which a client sends to resume the stream after that event.
    ///
    /// This is the id of the latest complete block that has one. Returns `None` if there is no such
    /// block or its id is empty.
    // SSE-08: incomplete blocks do not count. SSE-16: sent as `Last-Event-ID`.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        Some(&*self.last_id).filter(|id| !id.is_empty())
    }

    /// Returns the latest reconnection time, if the stream has set one.
    ///
    /// A reconnection time takes effect as soon as its line is read, even if its block is
    /// incomplete.
    // SSE-11, HTTP-17: the client respects `retry`.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Consumes some input, or changes the state without consuming any.
    fn step(&mut self, input: &mut &[u8]) -> StepResult {
        let Some(&byte) = input.first() else { return StepResult::Continue };
        match self.state {
            // SSE-02: one byte order mark at the start is skipped.
            ParseState::Start(matched) if BOM.get(matched) == Some(&byte) => {
                skip(input, 1);
                self.state = if matched + 1 == BOM.len() {
                    ParseState::Name
                } else {
                    ParseState::Start(matched + 1)
                };
            }
            // An incomplete byte order mark starts an unknown field name.
            ParseState::Start(matched) => {
                self.state = if matched == 0 { ParseState::Name } else { ParseState::Ignored }
            }
            ParseState::Name => return self.name(byte, input),
            ParseState::Space(field) => {
                if byte == b' ' {
                    skip(input, 1);
                }
                self.state = ParseState::Value(field);
            }
            ParseState::Value(field) => {
                let (piece, ended) = line_end(input);
                if !self.append(field, piece) {
                    return StepResult::TooLong;
                }
                if ended {
                    self.end_line(input);
                    self.end_value(field);
                }
            }
            ParseState::Ignored => {
                if line_end(input).1 {
                    self.end_line(input);
                }
            }
            ParseState::Discarding { blank } => {
                let (piece, ended) = line_end(input);
                let blank = blank && piece.is_empty();
                if ended {
                    self.end_line(input);
                }
                if !(ended && blank) {
                    self.state = ParseState::Discarding { blank: ended };
                }
            }
        }
        StepResult::Continue
    }

    /// Consumes one byte of a field name, or its end.
    // SSE-05: a line without a colon is a field with an empty value.
    fn name(&mut self, byte: u8, input: &mut &[u8]) -> StepResult {
        let ended = matches!(byte, b'\r' | b'\n');
        if !ended && byte != b':' {
            skip(input, 1);
            self.block.value.push(byte);
            if self.block.value.len() > NAME_BYTES_MAX {
                self.state = ParseState::Ignored;
                self.block.value.clear();
            }
            return StepResult::Continue;
        }
        if ended && self.block.value.is_empty() {
            self.end_line(input);
            return StepResult::BlankLine;
        }
        let field = match &*self.block.value {
            b"data" => Some(Field::Data),
            b"event" => Some(Field::Event),
            b"id" => Some(Field::Id),
            b"retry" => Some(Field::Retry),
            _ => None,
        };
        self.block.value.clear();
        // SSE-03: each data line after the first adds an LF.
        if field == Some(Field::Data)
            && mem::replace(&mut self.block.has_data, true)
            && !self.append(Field::Data, b"\n")
        {
            return StepResult::TooLong;
        }
        if ended {
            self.end_line(input);
            if let Some(field) = field {
                self.end_value(field);
            }
        } else {
            skip(input, 1);
            self.state = field.map_or(ParseState::Ignored, ParseState::Space);
        }
        StepResult::Continue
    }

    /// Appends to a value. Returns false if that exceeds its limit.
    fn append(&mut self, field: Field, piece: &[u8]) -> bool {
        let (value, max) = match field {
            Field::Data => (&mut self.block.data, self.data_bytes_max),
            Field::Event | Field::Id | Field::Retry => {
                (&mut self.block.value, self.field_bytes_max)
            }
        };
        let fits = piece.len() <= max.saturating_sub(value.len());
        if fits {
            value.extend_from_slice(piece);
        }
        fits
    }

    fn end_value(&mut self, field: Field) {
        let block = &mut self.block;
        match field {
            Field::Data => return,
            Field::Event => block.kind = String::from_utf8_lossy(&block.value).into_owned(),
            // An id with NUL is ignored. So is one that is not UTF-8: with replacement characters
            // it would denote another event.
            Field::Id => match core::str::from_utf8(&block.value) {
                Ok(id) if !id.contains('\0') => block.id = Some(String::from(id)),
                _ => {}
            },
            Field::Retry => {
                if let Some(retry) = milliseconds(&block.value) {
                    block.retry = Some(retry);
                    self.retry = block.retry;
                }
            }
        }
        self.block.value.clear();
    }

    /// Consumes the CR or LF at the front.
    fn end_line(&mut self, input: &mut &[u8]) {
        self.after_cr = input.first() == Some(&b'\r');
        skip(input, 1);
        self.state = ParseState::Name;
    }

    fn dispatch(&mut self) -> IncomingEvent<'_> {
        self.is_dispatched = true;
        let block = &mut self.block;
        if let Some(id) = &block.id {
            self.last_id.clone_from(id);
        }
        let long = block.data.len() >= OWNED_BYTES_MIN;
        let owned = if long { mem::take(&mut block.data) } else { Vec::new() };
        let data = if long { Cow::Owned(owned) } else { Cow::Borrowed(&*block.data) };
        IncomingEvent {
            kind: if block.kind.is_empty() { MESSAGE } else { &block.kind },
            data: block.has_data.then_some(data),
            id: block.id.as_deref(),
            retry: block.retry,
        }
    }

    #[cfg(test)]
    pub(super) fn block_is_small(&self) -> bool {
        self.block.data.capacity() <= IDLE_CAPACITY_MAX
    }

    /// Returns the total capacity of all buffers.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        let block = &self.block;
        let id = block.id.as_ref().map_or(0, String::capacity);
        block.data.capacity()
            + block.value.capacity()
            + block.kind.capacity()
            + id
            + self.last_id.capacity()
    }
}

impl Block {
    /// Returns whether the block has an effect.
    // SSE-07: a block without data dispatches no event, but its id and retry apply.
    fn has_effect(&self) -> bool {
        self.has_data || self.id.is_some() || self.retry.is_some()
    }

    fn clear(&mut self) {
        self.data.clear();
        self.data.shrink_to(IDLE_CAPACITY_MAX);
        self.has_data = false;
        self.kind.clear();
        self.id = None;
        self.retry = None;
        self.value.clear();
    }
}

/// Takes the input before the next line end, and returns whether there is one.
fn line_end<'i>(input: &mut &'i [u8]) -> (&'i [u8], bool) {
    let end = memchr::memchr2(b'\r', b'\n', input);
    let (piece, rest) = input.split_at_checked(end.unwrap_or(input.len())).unwrap_or_default();
    *input = rest;
    (piece, end.is_some())
}

fn skip(input: &mut &[u8], count: usize) {
    *input = input.get(count..).unwrap_or_default();
}

/// Parses a retry value: decimal digits only; saturates on overflow.
// SSE-11: other values are ignored.
fn milliseconds(value: &[u8]) -> Option<Duration> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let add = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    digits.then(|| Duration::from_millis(value.iter().fold(0, add)))
}
