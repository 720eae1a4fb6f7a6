//! Cuts a byte stream into events; knows nothing of what their data says.
//!
//! No line is ever put together: a byte is looked at once and is either kept, as part of a value
//! that counts, or gone. So comments and unknown fields cost nothing however long they are, and
//! what an event costs is its data, its id and its type, each with its bound. (SSE-23)

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

/// What [`Reader::next`] found.
#[derive(Debug, Eq, PartialEq)]
pub enum Found<'a> {
    /// An event, or a block that only sets the id or the time to reconnect after.
    Event(Event<'a>),
    /// An event passed a limit. It is skipped up to its end, and its id is not in force; told once.
    /// (SSE-23)
    TooLong,
}

/// One block of an event stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event<'a> {
    /// The type: `message` unless the stream says otherwise. Bytes that are not UTF-8 are
    /// replaced. (SSE-12)
    pub kind: &'a str,
    /// The lines of data, joined by LF; bytes as they came, UTF-8 or not. `None`: the block has no
    /// data, so that it is no event and only its id and its retry count. (SSE-03, SSE-07)
    ///
    /// Long data is handed over without a copy.
    pub data: Option<Cow<'a, [u8]>>,
    /// The id that this very block carries; the empty one takes the id in force back. (SSE-10)
    pub id: Option<&'a str>,
    /// The time to reconnect after, if this very block says one. (SSE-11)
    pub retry: Option<Duration>,
}

impl Event<'_> {
    /// The data, if this is an event of type `message` whose data is not empty: an event with empty
    /// data only primes the id. (SSE-09, SSE-12, T-82)
    #[must_use]
    pub fn message(&self) -> Option<&[u8]> {
        self.data.as_deref().filter(|data| self.kind == MESSAGE && !data.is_empty())
    }
}

/// The type of an event that names none.
const MESSAGE: &str = "message";

/// Data at least this long is handed over with its buffer.
const OWNED_BYTES_MIN: usize = 4096;

/// What a reader keeps of its buffer between events.
const KEPT_BYTES_MAX: usize = 16 * 1024;

/// The longest name of a field that counts.
const NAME_BYTES_MAX: usize = 5;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Reads one logical event stream: a connection's, and those that resume it.
///
/// Every byte is looked at once, however the stream is split, and any split gives the same events.
/// It holds at most twice its limits.
///
/// ```
/// use mcp_proto::http::sse::{Found, Reader};
/// use std::time::Duration;
///
/// let mut reader = Reader::new(1 << 20, 256);
/// for mut chunk in [&b"id: a1\nretry: 500\nda"[..], b"ta:\r", b"\n\r\ndata: cut of"] {
///     while let Some(found) = reader.next(&mut chunk) {
///         let Found::Event(event) = found else { panic!("short") };
///         assert_eq!((event.data.as_deref(), event.message()), (Some(&b""[..]), None));
///     }
/// }
/// assert!(reader.finish(), "the last event had not ended");
/// assert_eq!((reader.last_id(), reader.retry()), (Some("a1"), Some(Duration::from_millis(500))));
/// ```
#[derive(Debug)]
pub struct Reader {
    data_bytes_max: usize,
    field_bytes_max: usize,
    at: At,
    /// The line ended with CR: an LF that follows belongs to it. (T-81)
    after_cr: bool,
    /// The block was handed out and is used up.
    taken: bool,
    block: Block,
    /// The id in force; empty when there is none.
    last_id: String,
    retry: Option<Duration>,
}

/// What of a block is kept.
#[derive(Debug, Default)]
struct Block {
    data: Vec<u8>,
    has_data: bool,
    kind: String,
    id: Option<String>,
    retry: Option<Duration>,
    /// The name of the field, or the value of one that is not data, whose end has not come.
    value: Vec<u8>,
}

/// Where in the stream the next byte is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum At {
    /// At the start, after this many bytes of a byte order mark.
    Start(usize),
    /// In the name of a field, or before it.
    Name,
    /// After the colon: one space is dropped. (SSE-04)
    Space(Field),
    Value(Field),
    /// In a comment, or in a field that does not count. (SSE-05, SSE-06)
    Ignored,
    /// In an event that passed a limit.
    Discarding {
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

/// What a step came to.
enum Step {
    Nothing,
    BlankLine,
    TooLong,
}

impl Reader {
    /// A reader of a stream whose events have at most `data_bytes_max` bytes of data, and ids,
    /// types and retries of at most `field_bytes_max` bytes.
    #[must_use]
    pub fn new(data_bytes_max: usize, field_bytes_max: usize) -> Self {
        Self {
            data_bytes_max,
            field_bytes_max,
            at: At::Start(0),
            after_cr: false,
            taken: false,
            block: Block::default(),
            last_id: String::new(),
            retry: None,
        }
    }

    /// Takes the next event from the front of `input`; `None` once all of it is used up.
    ///
    /// An event is found with the first byte of the line end that ends it. (SSE-07)
    pub fn next<'s>(&'s mut self, input: &mut &[u8]) -> Option<Found<'s>> {
        if mem::take(&mut self.taken) {
            self.block.clear();
        }
        while !input.is_empty() {
            if mem::take(&mut self.after_cr) && input.first() == Some(&b'\n') {
                skip(input, 1);
                continue;
            }
            match self.step(input) {
                Step::Nothing => {}
                Step::BlankLine if self.block.counts() => {
                    return Some(Found::Event(self.dispatch()));
                }
                Step::BlankLine => self.block.clear(),
                Step::TooLong => {
                    self.block.clear();
                    self.at = At::Discarding { blank: false };
                    return Some(Found::TooLong);
                }
            }
        }
        None
    }

    /// The stream ended: drops the event that has not, and with it its id; true if there was one.
    /// (SSE-08, T-83)
    ///
    /// What comes next is a new connection, which resumes this stream: what is in force stays in
    /// force. (SSE-20)
    pub fn finish(&mut self) -> bool {
        let open = !matches!(self.at, At::Start(0) | At::Name)
            || !self.taken
                && (self.block.counts()
                    || !self.block.kind.is_empty()
                    || !self.block.value.is_empty());
        self.block.clear();
        self.taken = false;
        self.after_cr = false;
        self.at = At::Start(0);
        open
    }

    /// The id in force: of the last block that ended and had one; what to resume after. (SSE-08,
    /// SSE-16)
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        Some(&*self.last_id).filter(|id| !id.is_empty())
    }

    /// The time to reconnect after, as the stream said last; in force from its line on. (SSE-11,
    /// HTTP-17)
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes some bytes, at least one or a step towards one.
    fn step(&mut self, input: &mut &[u8]) -> Step {
        let Some(&byte) = input.first() else { return Step::Nothing };
        match self.at {
            At::Start(matched) if BOM.get(matched) == Some(&byte) => {
                skip(input, 1);
                self.at = if matched + 1 == BOM.len() { At::Name } else { At::Start(matched + 1) };
            }
            // Half a byte order mark is the beginning of a name that nobody knows.
            At::Start(matched) => self.at = if matched == 0 { At::Name } else { At::Ignored },
            At::Name => return self.name(byte, input),
            At::Space(field) => {
                if byte == b' ' {
                    skip(input, 1);
                }
                self.at = At::Value(field);
            }
            At::Value(field) => {
                let (piece, ended) = line_end(input);
                if !self.keep(field, piece) {
                    return Step::TooLong;
                }
                if ended {
                    self.end_line(input);
                    self.end_value(field);
                }
            }
            At::Ignored => {
                if line_end(input).1 {
                    self.end_line(input);
                }
            }
            At::Discarding { blank } => {
                let (piece, ended) = line_end(input);
                let blank = blank && piece.is_empty();
                if ended {
                    self.end_line(input);
                }
                if !(ended && blank) {
                    self.at = At::Discarding { blank: ended };
                }
            }
        }
        Step::Nothing
    }

    /// Takes one byte of the name of a field, or what ends it. (SSE-05)
    fn name(&mut self, byte: u8, input: &mut &[u8]) -> Step {
        let ended = matches!(byte, b'\r' | b'\n');
        if !ended && byte != b':' {
            skip(input, 1);
            self.block.value.push(byte);
            if self.block.value.len() > NAME_BYTES_MAX {
                self.at = At::Ignored;
                self.block.value.clear();
            }
            return Step::Nothing;
        }
        if ended && self.block.value.is_empty() {
            self.end_line(input);
            return Step::BlankLine;
        }
        let field = match &*self.block.value {
            b"data" => Some(Field::Data),
            b"event" => Some(Field::Event),
            b"id" => Some(Field::Id),
            b"retry" => Some(Field::Retry),
            _ => None,
        };
        self.block.value.clear();
        // The second line of data brings the LF that joins it. (SSE-03)
        if field == Some(Field::Data)
            && mem::replace(&mut self.block.has_data, true)
            && !self.keep(Field::Data, b"\n")
        {
            return Step::TooLong;
        }
        if ended {
            self.end_line(input);
            if let Some(field) = field {
                self.end_value(field);
            }
        } else {
            skip(input, 1);
            self.at = field.map_or(At::Ignored, At::Space);
        }
        Step::Nothing
    }

    /// Keeps a piece of a value; false when it just passed its limit.
    fn keep(&mut self, field: Field, piece: &[u8]) -> bool {
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
            // An id with NUL is ignored, and so is one that is not UTF-8: replaced bytes would name
            // another event.
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

    /// Takes the CR or LF that comes next.
    fn end_line(&mut self, input: &mut &[u8]) {
        self.after_cr = input.first() == Some(&b'\r');
        skip(input, 1);
        self.at = At::Name;
    }

    fn dispatch(&mut self) -> Event<'_> {
        self.taken = true;
        let block = &mut self.block;
        if let Some(id) = &block.id {
            self.last_id.clone_from(id);
        }
        let long = block.data.len() >= OWNED_BYTES_MIN;
        let owned = if long { mem::take(&mut block.data) } else { Vec::new() };
        let data = if long { Cow::Owned(owned) } else { Cow::Borrowed(&*block.data) };
        Event {
            kind: if block.kind.is_empty() { MESSAGE } else { &block.kind },
            data: block.has_data.then_some(data),
            id: block.id.as_deref(),
            retry: block.retry,
        }
    }

    #[cfg(test)]
    pub(super) fn block_is_small(&self) -> bool {
        self.block.data.capacity() <= KEPT_BYTES_MAX
    }

    /// Bytes held in all.
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
    /// Whether somebody has to be told of it. (SSE-07)
    fn counts(&self) -> bool {
        self.has_data || self.id.is_some() || self.retry.is_some()
    }

    fn clear(&mut self) {
        self.data.clear();
        self.data.shrink_to(KEPT_BYTES_MAX);
        self.has_data = false;
        self.kind.clear();
        self.id = None;
        self.retry = None;
        self.value.clear();
    }
}

/// Takes what comes before the next line end; and whether there is one.
fn line_end<'i>(input: &mut &'i [u8]) -> (&'i [u8], bool) {
    let end = memchr::memchr2(b'\r', b'\n', input);
    let (piece, rest) = input.split_at_checked(end.unwrap_or(input.len())).unwrap_or_default();
    *input = rest;
    (piece, end.is_some())
}

fn skip(input: &mut &[u8], count: usize) {
    *input = input.get(count..).unwrap_or_default();
}

/// What a retry says: digits and nothing else; no more than a number can hold. (SSE-11)
fn milliseconds(value: &[u8]) -> Option<Duration> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let add = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    digits.then(|| Duration::from_millis(value.iter().fold(0, add)))
}
