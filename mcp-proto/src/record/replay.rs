//! Replays a recording and compares the outputs with the recorded ones.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use super::entry::{Entry, EntryData};
use super::recorded::fingerprint;
use super::recording::Recording;
use super::render;
use crate::command::summary::OneLine;
use crate::endpoint::RoleEndpoint;
use crate::message_endpoint::MessageEndpoint as _;
use crate::revision::Side;
use crate::time::Instant;

/// The totals of a successful replay.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ReplayTotals {
    /// The number of entries replayed.
    pub entries: u64,
    /// The number of events polled.
    pub events: u64,
    /// The number of commands applied.
    pub commands: u64,
    /// The total number of bytes received.
    pub bytes_in: u64,
    /// The total number of bytes put into the outbox.
    pub bytes_out: u64,
}

/// The first difference between a recording and its replay.
///
/// A divergence describes messages without their payloads, as [`Recording::show`] does when
/// `payloads` is false.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Divergence {
    /// The index of the differing entry, counted from 0.
    pub entry: u64,
    /// The time of the differing entry.
    pub at: Instant,
    /// A description of the recorded output.
    pub expected: Box<str>,
    /// A description of the output of the replay.
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
    /// Repeats all recorded inputs on `machine` and compares the outputs with the recording.
    ///
    /// The comparison covers all bytes sent, all events and all command results.
    ///
    /// `machine` must not have been used before. Create it at the time
    /// [`created_at`](Self::created_at) with a configuration equal to the recorded one.
    ///
    /// # Errors
    /// Returns a [`Divergence`] at the first output that differs, or if `machine` has the other
    /// role. `machine` remains in the state reached at that point.
    pub fn replay<M: RoleEndpoint>(&self, machine: &mut M) -> Result<ReplayTotals, Divergence> {
        let mut replay =
            Replay { machine, produced: 0, pending: Vec::new(), totals: ReplayTotals::default() };
        let mut at = self.created_at();
        if M::Role::SIDE != self.side() {
            return Err(replay.divergence(at, side(self.side()), side(M::Role::SIDE)));
        }
        replay.collect_output();
        for entry in self.entries() {
            at = entry.at;
            replay.entry(entry)?;
            replay.totals.entries += 1;
        }
        replay.expect_no_output(at)?;
        Ok(replay.totals)
    }
}

struct Replay<'a, M> {
    machine: &'a mut M,
    /// The total number of bytes that the machine has put into its outbox.
    produced: u64,
    /// Output of the machine not yet compared with the recording.
    pending: Vec<u8>,
    totals: ReplayTotals,
}

impl<M: RoleEndpoint> Replay<'_, M> {
    fn entry(&mut self, Entry { at, data }: Entry<'_>) -> Result<(), Divergence> {
        if let EntryData::Output(expected) = data {
            self.totals.bytes_out += expected.len() as u64;
            if self.pending != expected {
                return Err(self.output_divergence(at, expected));
            }
            self.pending.clear();
            return Ok(());
        }
        self.expect_no_output(at)?;
        match data {
            EntryData::Input(bytes) => {
                self.totals.bytes_in += bytes.len() as u64;
                self.machine.handle_input(at, bytes);
            }
            EntryData::Eof => self.machine.handle_eof(at),
            EntryData::Timeout => self.machine.handle_timeout(at),
            EntryData::Command(command, expected) => {
                self.totals.commands += 1;
                let found = self.machine.apply_owned(at, &command);
                if found != expected {
                    let [expected, found] =
                        [expected, found].map(|outcome| render::command(&command, outcome, false));
                    return Err(self.divergence(at, expected, found));
                }
            }
            EntryData::Event(expected, expected_print) => {
                self.totals.events += 1;
                // The summary in a file may have been changed.
                let shown = OneLine::whole(expected.as_bytes()).to_string();
                let Some(event) = self.machine.poll_event() else {
                    return Err(self.divergence(at, shown, "no event"));
                };
                let found = event.to_string();
                if fingerprint(&event) != expected_print {
                    let detail = if found == expected { " with another payload" } else { "" };
                    return Err(self.divergence(at, shown, format!("{found}{detail}")));
                }
            }
            EntryData::Taken(count) => {
                let outbox = self.machine.outbox();
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                if count > outbox.len() {
                    let found = format!("{} bytes available", outbox.len());
                    return Err(self.divergence(at, format!("{count} bytes taken"), found));
                }
                outbox.advance(count);
            }
            EntryData::Output(_) => {}
        }
        self.collect_output();
        Ok(())
    }

    /// Appends new bytes in the machine's outbox to `pending`.
    fn collect_output(&mut self) {
        let outbox = self.machine.outbox();
        let produced = outbox.sent_total() + outbox.len() as u64;
        let added = usize::try_from(produced.saturating_sub(self.produced)).unwrap_or(usize::MAX);
        let start = outbox.len().saturating_sub(added);
        self.pending.extend_from_slice(outbox.chunk().get(start..).unwrap_or_default());
        self.produced = produced;
    }

    /// Checks that all output has been compared.
    fn expect_no_output(&self, at: Instant) -> Result<(), Divergence> {
        if self.pending.is_empty() { Ok(()) } else { Err(self.output_divergence(at, b"")) }
    }

    /// Returns the divergence of the pending output from the recorded one.
    fn output_divergence(&self, at: Instant, expected: &[u8]) -> Divergence {
        let matching = expected
            .iter()
            .zip(&self.pending)
            .take_while(|(expected, found)| expected == found)
            .count();
        let line_summary = |bytes: &[u8]| {
            let start =
                bytes.get(..matching).unwrap_or_default().iter().rposition(|byte| *byte == b'\n');
            let rest = bytes.get(start.map_or(0, |end| end + 1)..).unwrap_or_default();
            match rest.split(|byte| *byte == b'\n').next() {
                None | Some([]) => "no further output".into(),
                Some(line) => render::message_summary(line),
            }
        };
        let found = format!("{}, different from byte {matching} on", line_summary(&self.pending));
        self.divergence(at, line_summary(expected), found)
    }

    fn divergence(
        &self,
        at: Instant,
        expected: impl Into<Box<str>>,
        found: impl Into<Box<str>>,
    ) -> Divergence {
        Divergence {
            entry: self.totals.entries,
            at,
            expected: expected.into(),
            found: found.into(),
        }
    }
}

const fn side(side: Side) -> &'static str {
    match side {
        Side::Client => "a client",
        Side::Server => "a server",
    }
}
