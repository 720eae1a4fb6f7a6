//! Replays a recording, and compares the outcome with the recorded one.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use bytes::Buf;

use super::entry::{Entry, What};
use super::recorded::fingerprint;
use super::recording::Recording;
use super::render;
use crate::command::Apply;
use crate::endpoint::Endpoint;
use crate::revision::Side;
use crate::time::Instant;

/// What a replay found to be the same.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// Entries of the recording.
    pub entries: u64,
    /// Events that were polled.
    pub events: u64,
    /// Commands that were applied.
    pub commands: u64,
    /// Bytes that came in.
    pub bytes_in: u64,
    /// Bytes that were put in the outbox.
    pub bytes_out: u64,
}

/// The first difference between a recording and its replay.
///
/// It shows what things are and not what they hold, as [`Recording::show`] does.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Divergence {
    /// At which entry, from 0 on.
    pub entry: u64,
    /// When.
    pub at: Instant,
    /// What the recording says.
    pub expected: Box<str>,
    /// What came about instead.
    pub found: Box<str>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, at, expected, found } = self;
        write!(f, "entry {entry} at {at}: the recording has {expected}, the replay {found}")
    }
}

impl core::error::Error for Divergence {}

impl Recording<'_> {
    /// Does to `machine` all that was done to the one that was recorded, and compares: every byte
    /// in the outbox, every event, and what became of all that the application did.
    ///
    /// `machine` must be new, made at [`began`](Self::began), with the configuration that the
    /// recorded one had.
    ///
    /// # Errors
    /// The first difference; the machine is then as it was at that point.
    pub fn replay<M: Endpoint>(&self, machine: &mut M) -> Result<Replayed, Divergence> {
        let mut replay =
            Replay { machine, produced: 0, put: Vec::new(), done: Replayed::default() };
        let mut at = self.began();
        if M::Role::SIDE != self.side() {
            return Err(replay.divergence(at, side(self.side()), side(M::Role::SIDE)));
        }
        replay.look();
        for entry in self.entries() {
            at = entry.at;
            replay.entry(entry)?;
            replay.done.entries += 1;
        }
        replay.is_quiet(at)?;
        Ok(replay.done)
    }
}

struct Replay<'a, M> {
    machine: &'a mut M,
    /// Bytes that the machine put in its outbox in all.
    produced: u64,
    /// What it put there that the recording was not held against yet.
    put: Vec<u8>,
    done: Replayed,
}

impl<M: Endpoint> Replay<'_, M> {
    fn entry(&mut self, Entry { at, what }: Entry<'_>) -> Result<(), Divergence> {
        if let What::Output(expected) = what {
            self.done.bytes_out += expected.len() as u64;
            if self.put != expected {
                return Err(self.other(at, expected));
            }
            self.put.clear();
            return Ok(());
        }
        self.is_quiet(at)?;
        match what {
            What::Input(bytes) => {
                self.done.bytes_in += bytes.len() as u64;
                self.machine.handle_input(at, bytes);
            }
            What::Eof => self.machine.handle_eof(at),
            What::Timeout => self.machine.handle_timeout(at),
            What::Command(command, expected) => {
                self.done.commands += 1;
                let found = self.machine.apply_owned(at, &command);
                if found != expected {
                    let [expected, found] =
                        [expected, found].map(|outcome| render::command(&command, outcome, false));
                    return Err(self.divergence(at, expected, found));
                }
            }
            What::Event(expected, print) => {
                self.done.events += 1;
                let Some(event) = self.machine.poll_event() else {
                    return Err(self.divergence(at, expected, "no event"));
                };
                let found = event.to_string();
                if fingerprint(&event) != print {
                    let same = if found == expected { " with another payload" } else { "" };
                    return Err(self.divergence(at, expected, format!("{found}{same}")));
                }
            }
            What::Taken(count) => {
                let outbox = self.machine.outbox();
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                if count > outbox.len() {
                    let found = format!("{} bytes to take", outbox.len());
                    return Err(self.divergence(at, format!("{count} bytes taken"), found));
                }
                outbox.advance(count);
            }
            What::Output(_) => {}
        }
        self.look();
        Ok(())
    }

    /// Takes note of what the machine put in its outbox.
    fn look(&mut self) {
        let outbox = self.machine.outbox();
        let produced = outbox.sent_total() + outbox.len() as u64;
        let added = usize::try_from(produced.saturating_sub(self.produced)).unwrap_or(usize::MAX);
        let start = outbox.len().saturating_sub(added);
        self.put.extend_from_slice(outbox.chunk().get(start..).unwrap_or_default());
        self.produced = produced;
    }

    /// Nothing was said that the recording does not have.
    fn is_quiet(&self, at: Instant) -> Result<(), Divergence> {
        if self.put.is_empty() { Ok(()) } else { Err(self.other(at, b"")) }
    }

    /// Something else was said.
    fn other(&self, at: Instant, expected: &[u8]) -> Divergence {
        let same = expected
            .iter()
            .zip(&self.put)
            .take_while(|(expected, found)| expected == found)
            .count();
        let tell = |bytes: &[u8]| {
            let start =
                bytes.get(..same).unwrap_or_default().iter().rposition(|byte| *byte == b'\n');
            let rest = bytes.get(start.map_or(0, |end| end + 1)..).unwrap_or_default();
            match rest.split(|byte| *byte == b'\n').next() {
                None | Some([]) => "nothing more to send".into(),
                Some(line) => render::shape(line),
            }
        };
        let found = format!("{}, different from byte {same} on", tell(&self.put));
        self.divergence(at, tell(expected), found)
    }

    fn divergence(
        &self,
        at: Instant,
        expected: impl Into<Box<str>>,
        found: impl Into<Box<str>>,
    ) -> Divergence {
        Divergence { entry: self.done.entries, at, expected: expected.into(), found: found.into() }
    }
}

const fn side(side: Side) -> &'static str {
    match side {
        Side::Client => "a client",
        Side::Server => "a server",
    }
}
