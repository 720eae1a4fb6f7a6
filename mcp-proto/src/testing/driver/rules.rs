//! The rules for drivers, checked after each wake.

use alloc::format;
use alloc::string::String;

use super::machine::DriverMachine;
use super::report::{DriverFault, WakeReason};
use super::stream::{DriverStream, DriverWait};
use crate::endpoint::Endpoint as _;

/// A broken rule, and what was observed.
pub(super) type Broken = (DriverFault, String);

impl DriverMachine {
    /// Returns whether nothing is left to do before the next input, room or deadline.
    ///
    /// A driver on several threads waits for this before its `wake` returns.
    #[must_use]
    pub fn is_settled(&mut self, stream: &DriverStream, wait: DriverWait) -> bool {
        let is_ready = ready(self, stream, wait).is_some();
        // Bytes are marked as written after the write; until then, they hold the input back.
        let unwritten = self.produced.len().saturating_sub(stream.written.len());
        let is_marked = wait.output || self.outbox().waiting() <= unwritten;
        let is_still = !is_ready && is_marked;
        self.broken.is_some() || (is_still && broken_rule(self, stream, wait).is_none())
    }
}

/// Returns why a driver has to be woken now.
pub(super) fn ready(
    machine: &DriverMachine,
    stream: &DriverStream,
    wait: DriverWait,
) -> Option<WakeReason> {
    let is_end_unread = stream.is_shut && !machine.is_end_passed;
    if wait.input && (!stream.unread().is_empty() || is_end_unread) {
        return Some(WakeReason::Input);
    }
    (wait.output && stream.room > 0).then_some(WakeReason::Output)
}

/// Returns the first rule that a driver has broken by the end of a wake.
pub(super) fn broken_rule(
    machine: &mut DriverMachine,
    stream: &DriverStream,
    wait: DriverWait,
) -> Option<Broken> {
    machine
        .broken
        .take()
        .or_else(|| input(machine, stream))
        .or_else(|| output(machine, stream))
        .or_else(|| events(machine))
        .or_else(|| deadline(machine))
        .or_else(|| waits(machine, stream, wait))
}

fn input(machine: &DriverMachine, stream: &DriverStream) -> Option<Broken> {
    let read = stream.input.get(..stream.read).unwrap_or_default();
    if let Some((at, mismatch)) = compare(&machine.passed, read) {
        return Some(match mismatch {
            Mismatch::Skipped(count) => {
                (DriverFault::LostInput, format!("{count} bytes from byte {at} were not passed"))
            }
            Mismatch::Repeated(count) => {
                (DriverFault::DoubledInput, format!("{count} bytes before byte {at} came again"))
            }
            Mismatch::Foreign => {
                (DriverFault::DoubledInput, format!("the bytes after byte {at} were not read"))
            }
        });
    }
    let unpassed = read.len() - machine.passed.len();
    if unpassed > 0 {
        let detail = format!("{unpassed} bytes were read and not passed to the machine");
        return Some((DriverFault::LostInput, detail));
    }
    let detail = match (stream.is_end_read, machine.is_end_passed) {
        (true, false) => "the end of the input was read, and no more",
        (false, true) => "the input has not ended",
        _ => return None,
    };
    Some((DriverFault::NoEof, detail.into()))
}

fn output(machine: &mut DriverMachine, stream: &DriverStream) -> Option<Broken> {
    let queued = machine.outbox().len();
    if let Some((at, mismatch)) = compare(&stream.written, &machine.produced) {
        return Some(match mismatch {
            Mismatch::Skipped(count) => {
                (DriverFault::LostOutput, format!("{count} bytes from byte {at} were skipped"))
            }
            Mismatch::Repeated(count) => {
                let detail = format!("{count} bytes before byte {at} were written again");
                (DriverFault::DoubledOutput, detail)
            }
            Mismatch::Foreign => {
                let detail = format!("the machine has not produced the bytes after byte {at}");
                (DriverFault::EarlyOutput, detail)
            }
        });
    }
    let lost = machine.produced.len().saturating_sub(stream.written.len() + queued);
    (lost > 0 && stream.room > 0).then(|| {
        let detail = format!("{lost} bytes left the outbox and were not written");
        (DriverFault::LostOutput, detail)
    })
}

fn events(machine: &mut DriverMachine) -> Option<Broken> {
    let place = if machine.has_events() {
        "events were left in the queue"
    } else if !machine.unanswered.is_empty() {
        "requests were polled and not answered"
    } else {
        return None;
    };
    Some((DriverFault::LateEvents, place.into()))
}

fn deadline(machine: &DriverMachine) -> Option<Broken> {
    let due = machine.poll_timeout().filter(|due| *due <= machine.now && !machine.is_closed())?;
    let detail = format!("`handle_timeout` was due at {due} and was not called");
    Some((DriverFault::IgnoredDeadline, detail))
}

fn waits(machine: &DriverMachine, stream: &DriverStream, wait: DriverWait) -> Option<Broken> {
    if machine.produced.len() > stream.written.len() && !wait.output {
        let detail = "output is left, and the driver does not wait for room";
        return Some((DriverFault::LeftOutput, detail.into()));
    }
    let wants_input = machine.wants_input() && !machine.is_closed() && !machine.is_end_passed;
    (wants_input && !wait.input).then(|| {
        let detail = "`wants_input` is true, and the driver does not wait for input";
        (DriverFault::NotReading, detail.into())
    })
}

/// How bytes differ from those expected.
#[derive(Debug, Eq, PartialEq)]
enum Mismatch {
    /// So many bytes are missing.
    Skipped(usize),
    /// So many bytes come twice.
    Repeated(usize),
    /// Neither.
    Foreign,
}

/// Compares bytes with those expected, of which more may follow. Returns the first difference.
fn compare(bytes: &[u8], expected: &[u8]) -> Option<(usize, Mismatch)> {
    let at = bytes.iter().zip(expected).take_while(|(byte, expected)| byte == expected).count();
    let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
    let continues = |from: usize| {
        let expected = expected.get(from..).unwrap_or_default();
        !expected.is_empty() && expected.iter().zip(rest).all(|(expected, byte)| expected == byte)
    };
    let mismatch = (1..expected.len().max(2)).find_map(|count| {
        let is_repeated = at.checked_sub(count).is_some_and(continues);
        let is_skipped = || continues(at + count).then_some(Mismatch::Skipped(count));
        is_repeated.then_some(Mismatch::Repeated(count)).or_else(is_skipped)
    });
    Some((at, mismatch.unwrap_or(Mismatch::Foreign)))
}

#[cfg(test)]
mod tests {
    use super::{Mismatch, compare};

    #[test]
    fn differences_are_skipped_repeated_or_foreign_bytes() {
        let expected = b"one two three";
        let found = [
            (&b"one t"[..], None),
            (b"one wo th", Some((4, Mismatch::Skipped(1)))),
            (b"one three", Some((5, Mismatch::Skipped(4)))),
            (b"one one two", Some((4, Mismatch::Repeated(4)))),
            (b"one two threee", Some((13, Mismatch::Repeated(1)))),
            (b"one four", Some((4, Mismatch::Foreign))),
        ];
        for (bytes, difference) in found {
            assert_eq!(compare(bytes, expected), difference);
        }
        assert_eq!(compare(b"x", b""), Some((0, Mismatch::Foreign)));
    }
}
