//! The format of a recording: a header followed by entries.
//!
//! The header consists of the text `mcp-tape`, a version, the role, and the time the endpoint was
//! created. An entry consists of a tag, the nanoseconds since the previous entry if the entry has a
//! time, and its data. Integers have a variable length; texts are prefixed by their length.

use alloc::vec::Vec;

use super::codec::{read_bytes, read_number, read_signed, read_value, take, write_number};
use crate::command::{CommandOutcome, OwnedCommand};
use crate::error::Misuse;
use crate::revision::Side;
use crate::time::Instant;

/// The first bytes of every recording.
const MAGIC: &[u8] = b"mcp-tape";

/// The version of the format. Version 4 stores commands and outcomes in their [text
/// form](crate::text).
const VERSION: u8 = 4;

/// The type of an entry.
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

    /// Returns whether the entry has its own time.
    ///
    /// Other entries have the time of the previous entry.
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
    pub(super) data: EntryData<'a>,
}

/// The content of an entry.
#[derive(Clone, Debug)]
pub(super) enum EntryData<'a> {
    /// Bytes were received.
    Input(&'a [u8]),
    Eof,
    Timeout,
    /// A command was applied, with this result.
    Command(OwnedCommand, Result<CommandOutcome, Misuse>),
    /// An event was polled, with its summary and its fingerprint.
    Event(&'a str, u64),
    /// This many bytes were taken from the outbox.
    Taken(u64),
    /// The preceding entry added these bytes to the outbox.
    Output(&'a [u8]),
}

pub(super) fn header(side: Side, began: Instant) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.push(VERSION);
    out.push(match side {
        Side::Client => b'c',
        Side::Server => b's',
    });
    write_number(began.as_nanos(), &mut out);
    out
}

/// Reads the header. Returns `None` if it is invalid.
pub(super) fn read_header(input: &mut &[u8]) -> Option<(Side, Instant)> {
    if take(input, MAGIC.len())? != MAGIC || take(input, 1)? != [VERSION] {
        return None;
    }
    let side = match take(input, 1)? {
        b"c" => Side::Client,
        b"s" => Side::Server,
        _ => return None,
    };
    Some((side, Instant::from_nanos(read_number(input)?)))
}

/// Reads the next entry. Returns `None` if it is invalid or incomplete.
///
/// `last` is the time of the previous entry.
pub(super) fn read_entry<'a>(input: &mut &'a [u8], last: Instant) -> Option<Entry<'a>> {
    let tag = Tag::read(input)?;
    let mut at = last;
    if tag.has_time() {
        at = Instant::from_nanos(last.as_nanos().wrapping_add(read_signed(input)? as u64));
    }
    let data = match tag {
        Tag::Input => EntryData::Input(read_bytes(input)?),
        Tag::Eof => EntryData::Eof,
        Tag::Timeout => EntryData::Timeout,
        Tag::Command => EntryData::Command(read_value(input)?, read_value(input)?),
        Tag::Event => {
            let summary = core::str::from_utf8(read_bytes(input)?).ok()?;
            let fingerprint = take(input, 8)?.try_into().ok()?;
            EntryData::Event(summary, u64::from_le_bytes(fingerprint))
        }
        Tag::Taken => EntryData::Taken(read_number(input)?),
        Tag::Output => EntryData::Output(read_bytes(input)?),
    };
    Some(Entry { at, data })
}
