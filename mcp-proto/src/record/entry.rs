//! The format of a recording: a header, then one entry after another.
//!
//! The header is the word `mcp-tape`, a version, the role, and when the machine was made. An entry
//! is its tag, how many nanoseconds it is later than the last where it has a time of its own, and
//! what happened. Numbers are variable in length, texts stand behind theirs.

use alloc::vec::Vec;

use super::codec::{Field, read_bytes, take};
use crate::command::{Applied, OwnedCommand};
use crate::error::Misuse;
use crate::revision::Side;
use crate::time::Instant;

/// What every recording begins with.
const MAGIC: &[u8] = b"mcp-tape";

/// The format of recordings. Version 2 holds each payload once, as JSON text.
const VERSION: u8 = 2;

/// What an entry tells of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Tag {
    Input = 1,
    Eof = 2,
    Timeout = 3,
    Command = 4,
    Event = 5,
    Taken = 6,
    Output = 7,
}

impl Tag {
    const ALL: [Self; 7] = [
        Self::Input,
        Self::Eof,
        Self::Timeout,
        Self::Command,
        Self::Event,
        Self::Taken,
        Self::Output,
    ];

    /// Whether it happens at a time of its own; the others do at that of the entry before.
    pub(super) const fn has_time(self) -> bool {
        matches!(self, Self::Input | Self::Eof | Self::Timeout | Self::Command)
    }

    fn read(input: &mut &[u8]) -> Option<Self> {
        let [tag] = *take(input, 1)? else { return None };
        Self::ALL.into_iter().find(|known| *known as u8 == tag)
    }
}

/// One entry.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) at: Instant,
    pub(super) what: What<'a>,
}

/// What happened.
#[derive(Clone, Debug)]
pub(super) enum What<'a> {
    /// Bytes came in.
    Input(&'a [u8]),
    Eof,
    Timeout,
    /// A command was applied: its outcome.
    Command(OwnedCommand, Result<Applied, Misuse>),
    /// An event was polled: its summary, and its fingerprint.
    Event(&'a str, u64),
    /// So many bytes were taken from the outbox.
    Taken(u64),
    /// What the entry before put in the outbox.
    Output(&'a [u8]),
}

pub(super) fn header(side: Side, began: Instant) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.push(VERSION);
    out.push(match side {
        Side::Client => b'c',
        Side::Server => b's',
    });
    began.as_nanos().write(&mut out);
    out
}

/// What a header says; `None` where there is none of this form.
pub(super) fn read_header(input: &mut &[u8]) -> Option<(Side, Instant)> {
    if take(input, MAGIC.len())? != MAGIC || take(input, 1)? != [VERSION] {
        return None;
    }
    let side = match take(input, 1)? {
        b"c" => Side::Client,
        b"s" => Side::Server,
        _ => return None,
    };
    Some((side, Instant::from_nanos(u64::read(input)?)))
}

/// Takes the next entry; `last` is the time of the one before. `None` when what is there is none.
pub(super) fn read_entry<'a>(input: &mut &'a [u8], last: Instant) -> Option<Entry<'a>> {
    let tag = Tag::read(input)?;
    let mut at = last;
    if tag.has_time() {
        at = Instant::from_nanos(last.as_nanos().wrapping_add(i64::read(input)? as u64));
    }
    let what = match tag {
        Tag::Input => What::Input(read_bytes(input)?),
        Tag::Eof => What::Eof,
        Tag::Timeout => What::Timeout,
        Tag::Command => What::Command(Field::read(input)?, Field::read(input)?),
        Tag::Event => {
            let words = core::str::from_utf8(read_bytes(input)?).ok()?;
            let fingerprint = take(input, 8)?.try_into().ok()?;
            What::Event(words, u64::from_le_bytes(fingerprint))
        }
        Tag::Taken => What::Taken(Field::read(input)?),
        Tag::Output => What::Output(read_bytes(input)?),
    };
    Some(Entry { at, what })
}
