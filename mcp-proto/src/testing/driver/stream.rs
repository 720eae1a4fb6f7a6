//! [`DriverStream`]: the byte stream of a driver under test, and [`DriverWait`]: what it waits for.

use alloc::vec::Vec;

use crate::endpoint::Endpoint;
use crate::time::Instant;

/// The nonblocking byte stream between a driver under test and its peer.
#[derive(Debug, Default)]
pub struct DriverStream {
    /// All bytes that the peer has sent.
    pub(super) input: Vec<u8>,
    /// How many of them the driver has read.
    pub(super) read: usize,
    /// Whether the peer has closed its side.
    pub(super) is_shut: bool,
    pub(super) is_end_read: bool,
    /// All bytes that the driver has written.
    pub(super) written: Vec<u8>,
    /// The number of bytes that the stream accepts at present.
    pub(super) room: usize,
}

impl DriverStream {
    /// Creates a stream that has neither input nor room.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads into `buffer`. Returns the number of bytes, 0 at the end of the stream, or `None` if
    /// no byte has arrived.
    #[must_use = "the bytes are read only once"]
    pub fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let arrived = self.unread();
        let count = arrived.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(arrived) {
            *to = *from;
        }
        if count > 0 || buffer.is_empty() {
            self.read += count;
            return Some(count);
        }
        self.is_end_read |= self.is_shut;
        self.is_shut.then_some(0)
    }

    /// Writes from the start of `output`. Returns the number of bytes written, or `None` if the
    /// stream has no room.
    #[must_use = "the stream may accept only a part"]
    pub fn write(&mut self, output: &[u8]) -> Option<usize> {
        let count = output.len().min(self.room);
        if count == 0 {
            return output.is_empty().then_some(0);
        }
        self.room -= count;
        self.written.extend_from_slice(output.get(..count).unwrap_or_default());
        Some(count)
    }

    pub(super) fn unread(&self) -> &[u8] {
        self.input.get(self.read..).unwrap_or_default()
    }
}

/// What a driver waits for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DriverWait {
    /// Wake the driver when the stream has input.
    pub input: bool,
    /// Wake the driver when the stream has room.
    pub output: bool,
    /// Wake the driver at this time at the latest.
    pub deadline: Option<Instant>,
}

impl DriverWait {
    /// Returns what a driver of `machine` has to wait for.
    pub fn of(machine: &mut impl Endpoint) -> Self {
        Self {
            input: machine.wants_input(),
            output: !machine.outbox().is_empty(),
            deadline: machine.poll_timeout(),
        }
    }
}
