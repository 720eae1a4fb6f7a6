//! Records everything that is done to a machine.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::ops::Deref;

use bytes::Buf;

use super::codec::{Field, write_bytes};
use super::entry::{Tag, header};
use crate::command::{Applied, Apply};
use crate::endpoint::Endpoint;
use crate::error::Misuse;
use crate::time::Instant;
use crate::wire::Outbox;

/// Where a recording goes, piece by piece.
///
/// A `Vec<u8>` is one, and so is a function that takes bytes: into a file, say. Each piece is whole
/// entries, so that a program that dies leaves a recording that can be read.
pub trait Sink {
    /// Takes the next piece. It cannot fail: what cannot be stored is lost, and the recording ends
    /// there.
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

/// A machine that is recorded: it does what the machine does, and every call that changes it goes
/// into the recording, with its time, its arguments and what came of it.
///
/// It is driven and commanded through [`Endpoint`], as the machine itself is. It dereferences to
/// the machine, to look at it. A command's values are encoded before they are recorded: an encoder
/// that writes something that is not JSON is [`Misuse::Unencodable`] here.
///
/// A recording costs the bytes in and out once more, and a few bytes each entry. **It holds all
/// that was said**, secrets too: keep it as you keep those.
///
/// ```
/// use mcp_proto::record::{Recorded, Recording};
/// use mcp_proto::server::{Config, Server};
/// use mcp_proto::stdio::Stdio;
/// use mcp_proto::{Endpoint, Instant};
///
/// let server = |began| Stdio::new(Server::new(began, Config::new("quiet", "1.0.0")));
/// let mut recorded = Recorded::new(server(Instant::ZERO), Instant::ZERO, Vec::new());
/// recorded.handle_input(Instant::from_millis(5), b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n");
/// let tape = recorded.into_sink();
///
/// let recording = Recording::read(&tape).unwrap();
/// let replayed = recording.replay(&mut server(recording.began())).unwrap();
/// assert_eq!((replayed.entries, replayed.bytes_out), (2, 37));
/// ```
#[derive(Debug)]
pub struct Recorded<M, K> {
    machine: M,
    sink: K,
    /// The time of the last entry.
    at: Instant,
    /// Bytes that the machine has put in its outbox, and those that were taken from it, as far as
    /// they were recorded.
    produced: u64,
    taken: u64,
    entries: Vec<u8>,
}

impl<M: Endpoint, K: Sink> Recorded<M, K> {
    /// Begins to record a machine that was just made at `began`, and that nothing was done to yet.
    pub fn new(machine: M, began: Instant, sink: K) -> Self {
        let mut recorded = Self {
            machine,
            sink,
            at: began,
            produced: 0,
            taken: 0,
            entries: header(M::Role::SIDE, began),
        };
        recorded.leave();
        recorded
    }

    /// Ends the recording, and gives what it went into.
    pub fn into_sink(self) -> K {
        self.sink
    }

    /// What the recording goes into: to flush it, say. What is written there must be what this
    /// writes.
    pub const fn sink(&mut self) -> &mut K {
        &mut self.sink
    }

    /// Notes what was taken from the outbox since the last entry: it goes before what is done next.
    fn enter(&mut self) {
        let taken = self.machine.outbox().sent_total();
        if taken > self.taken {
            self.entry(self.at, Tag::Taken);
            (taken - self.taken).write(&mut self.entries);
            self.taken = taken;
        }
    }

    /// Notes what was put in the outbox, and hands over all that was noted.
    fn leave(&mut self) {
        let outbox = self.machine.outbox();
        let produced = outbox.sent_total() + outbox.len() as u64;
        let added = usize::try_from(produced.saturating_sub(self.produced)).unwrap_or(usize::MAX);
        if added > 0 {
            let start = outbox.len().saturating_sub(added);
            self.entries.push(Tag::Output as u8);
            write_bytes(outbox.chunk().get(start..).unwrap_or_default(), &mut self.entries);
        }
        self.produced = produced;
        self.hand_over();
    }

    /// Hands over what was noted: what comes in, before the machine takes it in, so that the
    /// recording of a machine that panics says at what.
    fn hand_over(&mut self) {
        if !self.entries.is_empty() {
            self.sink.write(&self.entries);
            self.entries.clear();
            self.entries.shrink_to(KEPT_BYTES_MAX);
        }
    }

    /// Begins an entry: what happened, and how much later than the last.
    fn entry(&mut self, at: Instant, tag: Tag) {
        self.entries.push(tag as u8);
        if tag.has_time() {
            (at.as_nanos().wrapping_sub(self.at.as_nanos()) as i64).write(&mut self.entries);
            self.at = at;
        }
    }
}

impl<M: Endpoint, K: Sink> Endpoint for Recorded<M, K> {
    type Event = M::Event;
    type Role = M::Role;

    fn role(&self) -> &M::Role {
        self.machine.role()
    }

    /// Encodes the command for the revision in force, records it, and applies it.
    fn apply(
        &mut self,
        now: Instant,
        command: <M::Role as Apply>::Command<'_>,
    ) -> Result<Applied, Misuse> {
        self.enter();
        let owned = self.machine.role().to_owned_command(command);
        self.entry(now, Tag::Command);
        owned.write(&mut self.entries);
        let outcome = self.machine.apply_owned(now, &owned);
        outcome.write(&mut self.entries);
        self.leave();
        outcome
    }

    fn handle_input(&mut self, now: Instant, input: &[u8]) {
        self.enter();
        self.entry(now, Tag::Input);
        write_bytes(input, &mut self.entries);
        self.hand_over();
        self.machine.handle_input(now, input);
        self.leave();
    }

    fn handle_eof(&mut self, now: Instant) {
        self.enter();
        self.entry(now, Tag::Eof);
        self.hand_over();
        self.machine.handle_eof(now);
        self.leave();
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.enter();
        self.entry(now, Tag::Timeout);
        self.hand_over();
        self.machine.handle_timeout(now);
        self.leave();
    }

    fn poll_event(&mut self) -> Option<M::Event> {
        let event = self.machine.poll_event()?;
        self.enter();
        self.entry(self.at, Tag::Event);
        write_bytes(event.to_string().as_bytes(), &mut self.entries);
        self.entries.extend_from_slice(&fingerprint(&event).to_le_bytes());
        self.leave();
        Some(event)
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

impl<M, K> Deref for Recorded<M, K> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.machine
    }
}

/// What an entry buffer keeps between entries.
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// 64 bits of all that an event holds, by which two of them are told apart. (FNV-1a)
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
