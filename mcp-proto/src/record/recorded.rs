//! [`Recorded`]: an endpoint that records itself.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::ops::Deref;

use super::codec::{write_bytes, write_number, write_signed, write_value};
use super::entry::{Tag, header};
use crate::command::CommandOutcome;
use crate::endpoint::{Endpoint, RoleEndpoint};
use crate::error::Misuse;
use crate::message_endpoint::MessageEndpoint;
use crate::time::Instant;
use crate::wire::Outbox;

/// A destination for the bytes of a recording.
///
/// Implemented for `Vec<u8>` and for closures that take `&[u8]`; a closure can, for example, write
/// the bytes to a file. Each call to [`write`](Self::write) passes only complete entries, so a
/// recording remains readable if the program crashes.
pub trait Sink {
    /// Writes the next piece of the recording.
    ///
    /// This method cannot report errors. If a piece is lost, the recording is valid only up to that
    /// piece: later entries may still be readable, but can have wrong times.
    fn write(&mut self, piece: &[u8]);
}

impl Sink for Vec<u8> {
    fn write(&mut self, piece: &[u8]) {
        self.extend_from_slice(piece);
    }
}

impl<F: FnMut(&[u8])> Sink for F {
    fn write(&mut self, piece: &[u8]) {
        self(piece);
    }
}

/// A wrapper that records every call that changes the wrapped endpoint.
///
/// Use the wrapper through [`Endpoint`], like the wrapped endpoint. To inspect the wrapped
/// endpoint, dereference the wrapper.
///
/// A recording is a sequence of entries. Each call has an entry with its arguments and its result.
/// A polled event is recorded as a summary and a hash. Bytes that a call adds to the outbox have
/// their own entry, and so have bytes that the transport takes from the outbox.
///
/// The params or the result in a command are encoded before the command is recorded. If the encoder
/// writes invalid JSON, the command fails with [`Misuse::Unencodable`].
///
/// **A recording contains all bytes sent and received, including secrets**; protect it accordingly.
/// A recording is about as large as these bytes and the [text form](crate::text) of all commands
/// together, plus a few bytes per entry.
///
/// ```
/// use mcp_proto::record::{Recorded, Recording};
/// use mcp_proto::server::{Config, Server};
/// use mcp_proto::stdio::Stdio;
/// use mcp_proto::{Endpoint, Instant};
///
/// let server = |began| Stdio::new(Server::new(began, Config::new("quiet", "1.0.0")));
/// let mut recorded = Recorded::new(server(Instant::ZERO), Instant::ZERO, Vec::new());
/// let ping = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n";
/// recorded.handle_input(Instant::from_millis(5), ping);
/// let bytes = recorded.into_sink();
///
/// let recording = Recording::read(&bytes).unwrap();
/// let replayed = recording.replay(&mut server(recording.created_at())).unwrap();
/// // Two entries: the ping, and a response of 37 bytes.
/// assert_eq!((replayed.entries, replayed.bytes_out), (2, 37));
/// ```
#[derive(Debug)]
pub struct Recorded<M, K> {
    machine: M,
    sink: K,
    /// The time of the last entry.
    at: Instant,
    /// The number of recorded bytes that the endpoint put into the outbox.
    produced: u64,
    /// The number of recorded bytes that were taken from the outbox.
    taken: u64,
    entries: Vec<u8>,
}

impl<M: RoleEndpoint, K: Sink> Recorded<M, K> {
    /// Starts recording `machine`.
    ///
    /// `machine` must have been created at time `began` and must not have been used since.
    pub fn new(machine: M, began: Instant, sink: K) -> Self {
        let mut recorded = Self {
            machine,
            sink,
            at: began,
            produced: 0,
            taken: 0,
            entries: header(M::Role::SIDE, began),
        };
        recorded.record_output();
        recorded
    }

    /// Ends the recording and returns its sink.
    pub fn into_sink(self) -> K {
        self.sink
    }

    /// Returns the sink, for example to flush it. Do not write to it.
    pub const fn sink(&mut self) -> &mut K {
        &mut self.sink
    }

    /// Records the bytes taken from the outbox since the last entry. Every other method that
    /// records calls it first.
    fn record_taken(&mut self) {
        let taken = self.machine.outbox().sent_total();
        if taken > self.taken {
            self.begin_entry(self.at, Tag::Taken);
            write_number(taken - self.taken, &mut self.entries);
            self.taken = taken;
        }
    }

    /// Records the bytes added to the outbox and writes the buffered entries to the sink.
    fn record_output(&mut self) {
        let outbox = self.machine.outbox();
        let produced = outbox.sent_total() + outbox.len() as u64;
        let added = usize::try_from(produced.saturating_sub(self.produced)).unwrap_or(usize::MAX);
        if added > 0 {
            let start = outbox.len().saturating_sub(added);
            self.entries.push(Tag::Output as u8);
            write_bytes(outbox.chunk().get(start..).unwrap_or_default(), &mut self.entries);
        }
        self.produced = produced;
        self.flush();
    }

    /// Writes the buffered entries to the sink.
    ///
    /// Called before input is handled, so that the recording of an endpoint that panics includes
    /// the cause.
    fn flush(&mut self) {
        if !self.entries.is_empty() {
            self.sink.write(&self.entries);
            self.entries.clear();
            self.entries.shrink_to(BUFFER_BYTES_MAX);
        }
    }

    /// Starts an entry with its tag and the time since the previous entry.
    fn begin_entry(&mut self, at: Instant, tag: Tag) {
        self.entries.push(tag as u8);
        if tag.has_time() {
            let passed = at.as_nanos().wrapping_sub(self.at.as_nanos()) as i64;
            write_signed(passed, &mut self.entries);
            self.at = at;
        }
    }
}

impl<M: RoleEndpoint, K: Sink> Endpoint for Recorded<M, K> {
    fn handle_input(&mut self, now: Instant, input: &[u8]) {
        self.record_taken();
        self.begin_entry(now, Tag::Input);
        write_bytes(input, &mut self.entries);
        self.flush();
        self.machine.handle_input(now, input);
        self.record_output();
    }

    fn handle_eof(&mut self, now: Instant) {
        self.record_taken();
        self.begin_entry(now, Tag::Eof);
        self.flush();
        self.machine.handle_eof(now);
        self.record_output();
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.record_taken();
        self.begin_entry(now, Tag::Timeout);
        self.flush();
        self.machine.handle_timeout(now);
        self.record_output();
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.machine.poll_timeout()
    }

    fn outbox(&mut self) -> &mut Outbox {
        self.machine.outbox()
    }

    fn wants_input(&self) -> bool {
        self.machine.wants_input()
    }

    fn is_closed(&self) -> bool {
        self.machine.is_closed()
    }
}

impl<M: RoleEndpoint, K: Sink> RoleEndpoint for Recorded<M, K> {
    type Event = M::Event;
    type Role = M::Role;

    fn role(&self) -> &M::Role {
        self.machine.role()
    }

    /// Encodes the command for the negotiated revision, records it and applies it.
    fn apply(
        &mut self,
        now: Instant,
        command: <M::Role as MessageEndpoint>::Command<'_>,
    ) -> Result<CommandOutcome, Misuse> {
        self.record_taken();
        let owned = self.machine.role().to_owned_command(command);
        self.begin_entry(now, Tag::Command);
        write_value(&owned, &mut self.entries);
        let outcome = self.machine.apply_owned(now, &owned);
        write_value(&outcome, &mut self.entries);
        self.record_output();
        outcome
    }

    fn poll_event(&mut self) -> Option<M::Event> {
        let event = self.machine.poll_event()?;
        self.record_taken();
        self.begin_entry(self.at, Tag::Event);
        write_bytes(event.to_string().as_bytes(), &mut self.entries);
        self.entries.extend_from_slice(&fingerprint(&event).to_le_bytes());
        self.record_output();
        Some(event)
    }
}

impl<M, K> Deref for Recorded<M, K> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.machine
    }
}

/// The capacity that the entry buffer retains.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Returns a 64-bit FNV-1a hash of the whole content of an event.
pub(super) fn fingerprint(event: &impl fmt::Debug) -> u64 {
    struct Hash(u64);

    impl Write for Hash {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for byte in text.bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
            }
            Ok(())
        }
    }

    let mut hash = Hash(0xCBF2_9CE4_8422_2325);
    let _infallible = write!(hash, "{event:?}");
    hash.0
}
