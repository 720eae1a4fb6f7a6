//! [`Recording`]: a parsed recording and its entries.

use core::fmt;

use super::entry::{Entry, read_entry, read_header};
use crate::revision::Side;
use crate::time::Instant;

/// A parsed recording, which borrows its bytes.
///
/// A recording contains the role of the endpoint and the time at which the endpoint was created,
/// but not the configuration. A replay therefore needs an endpoint with an equal configuration.
///
/// ```
/// use mcp_proto::client::{Client, Config};
/// use mcp_proto::record::{Recorded, Recording};
/// use mcp_proto::stdio::Stdio;
/// use mcp_proto::{Instant, Side};
///
/// let client = Stdio::new(Client::new(Instant::ZERO, Config::new("demo", "1.0.0")));
/// let bytes = Recorded::new(client, Instant::ZERO, Vec::new()).into_sink();
/// let recording = Recording::read(&bytes).unwrap();
/// assert_eq!((recording.side(), recording.is_complete()), (Side::Client, true));
/// let shown = recording.show(false).to_string();
/// assert!(shown.contains("client → request 1 server/discover (246 bytes)"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    side: Side,
    began: Instant,
    entries: &'a [u8],
    is_complete: bool,
}

/// The error for bytes that are not a recording in a supported format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidRecording;

impl fmt::Display for InvalidRecording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a recording, or a recording of an unsupported version")
    }
}

impl core::error::Error for InvalidRecording {}

impl<'a> Recording<'a> {
    /// Parses a recording, in time linear in its length.
    ///
    /// # Errors
    /// Returns [`InvalidRecording`] if the header is invalid. An invalid or truncated entry is not
    /// an error: it ends the recording early; see [`is_complete`](Self::is_complete).
    pub fn read(bytes: &'a [u8]) -> Result<Self, InvalidRecording> {
        let mut rest = bytes;
        let (side, began) = read_header(&mut rest).ok_or(InvalidRecording)?;
        let entries = rest;
        let (mut length, mut at) = (0, began);
        while let Some(entry) = read_entry(&mut rest, at) {
            at = entry.at;
            length = entries.len() - rest.len();
        }
        let (entries, left) = entries.split_at(length);
        Ok(Self { side, began, entries, is_complete: left.is_empty() })
    }

    /// Returns the role of the recorded endpoint.
    #[must_use]
    pub const fn side(&self) -> Side {
        self.side
    }

    /// Returns the time at which the endpoint was created.
    #[must_use]
    pub const fn created_at(&self) -> Instant {
        self.began
    }

    /// Returns whether the recording was read to its end.
    ///
    /// Returns false if an invalid or truncated entry ended the recording early.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.is_complete
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
