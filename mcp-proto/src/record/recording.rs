//! A recording as it is read: who was recorded, and entry after entry; knows nothing of how
//! machines are driven.

use core::fmt;

use super::entry::{Entry, read_entry, read_header};
use crate::revision::Side;
use crate::time::Instant;

/// A recording in memory.
///
/// It says which role was recorded and when the machine was made. It does not say how the machine
/// was configured: whoever replays it brings a machine of the same configuration.
///
/// ```
/// use mcp_proto::client::{Client, Config};
/// use mcp_proto::record::{Recorded, Recording};
/// use mcp_proto::stdio::Stdio;
/// use mcp_proto::{Instant, Side};
///
/// let client = Stdio::new(Client::new(Instant::ZERO, Config::new("demo", "1.0.0")));
/// let tape = Recorded::new(client, Instant::ZERO, Vec::new()).into_sink();
/// let recording = Recording::read(&tape).unwrap();
/// assert_eq!((recording.side(), recording.is_whole()), (Side::Client, true));
/// assert!(recording.show(false).to_string().contains("client → request 1 server/discover (246 bytes)"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    side: Side,
    began: Instant,
    entries: &'a [u8],
    is_whole: bool,
}

/// The bytes are no recording of a form that this version knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unreadable;

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are no recording, or one of another version")
    }
}

impl core::error::Error for Unreadable {}

impl<'a> Recording<'a> {
    /// Looks through a recording. Linear in its bytes.
    ///
    /// # Errors
    /// When it does not begin as one. What cannot be read behind the beginning, such as the rest of
    /// an entry that was not written to its end, is left out: see [`is_whole`](Self::is_whole).
    pub fn read(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let mut rest = bytes;
        let (side, began) = read_header(&mut rest).ok_or(Unreadable)?;
        let entries = rest;
        let (mut length, mut at) = (0, began);
        while let Some(entry) = read_entry(&mut rest, at) {
            at = entry.at;
            length = entries.len() - rest.len();
        }
        let (entries, left) = entries.split_at(length);
        Ok(Self { side, began, entries, is_whole: left.is_empty() })
    }

    /// Which role was recorded.
    #[must_use]
    pub const fn side(&self) -> Side {
        self.side
    }

    /// When the machine was made.
    #[must_use]
    pub const fn began(&self) -> Instant {
        self.began
    }

    /// Whether all bytes could be read.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let (mut rest, mut at) = (self.entries, self.began);
        core::iter::from_fn(move || {
            let entry = read_entry(&mut rest, at)?;
            at = entry.at;
            Some(entry)
        })
    }
}
