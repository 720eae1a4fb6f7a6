//! [`DriverReport`]: what a driver did wrong, and in which wake.

use alloc::string::String;
use core::fmt;

use crate::time::Instant;

/// Why a driver is woken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WakeReason {
    /// The deadline that the driver chose.
    Deadline,
    /// The stream has input, or its end.
    Input,
    /// The stream has room for output.
    Output,
    /// The first wake.
    Start,
}

/// A rule for drivers that was broken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DriverFault {
    /// The driver wakes again and again without a cause, and does nothing.
    BusyLoop,
    /// Input was passed to the machine twice.
    DoubledInput,
    /// Output was written twice.
    DoubledOutput,
    /// Something was written, or the time was advanced, before its cause.
    EarlyOutput,
    /// The machine's deadline has passed without a call of `handle_timeout`.
    IgnoredDeadline,
    /// Events were left in the queue, or polled but not handled.
    LateEvents,
    /// Output was left in the outbox, and the driver does not wait for room to write it.
    LeftOutput,
    /// Input was read but not passed to the machine.
    LostInput,
    /// Output was removed from the outbox but not written.
    LostOutput,
    /// The end of the input was not passed to the machine, or was reported before it was reached.
    NoEof,
    /// The driver does not wait for input although the machine wants it.
    NotReading,
    /// Input was passed to the machine while it did not want any.
    UnwantedInput,
}

impl DriverFault {
    /// Returns what a correct driver does.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::BusyLoop => {
                "wait for output only while the outbox holds some, for input only while \
                 `wants_input`, and otherwise until `poll_timeout`"
            }
            Self::DoubledInput | Self::LostInput => {
                "pass the bytes of each read to `handle_input` once, before the wake ends"
            }
            Self::DoubledOutput | Self::LostOutput => {
                "advance the outbox by exactly the number of bytes that each write accepted"
            }
            Self::EarlyOutput => "write only what the outbox holds, and pass the current time",
            Self::IgnoredDeadline => {
                "query `poll_timeout` after each pass, wake then and call `handle_timeout`"
            }
            Self::LateEvents => "poll and handle events until there are none, then wait",
            Self::LeftOutput => "write after handling events, and wait for room to write the rest",
            Self::NoEof => "call `handle_eof` when a read returns the end of the input",
            Self::NotReading => "query `wants_input` after each pass, and wait for input if true",
            Self::UnwantedInput => "query `wants_input` before each read",
        }
    }
}

/// What a driver did wrong: what, when, and what it should have done.
///
/// `Display` shows all of it in one line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DriverReport {
    /// The broken rule.
    pub fault: DriverFault,
    /// The virtual time.
    pub at: Instant,
    /// The number of the wake, from 1.
    pub wake: usize,
    /// The cause of that wake.
    pub reason: WakeReason,
    /// What was observed.
    pub detail: String,
}

impl fmt::Display for DriverReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fault, at, wake, reason, detail } = self;
        let remedy = fault.remedy();
        write!(f, "{fault:?} at {at}, wake {wake} ({reason:?}): {detail}; {remedy}")
    }
}

impl core::error::Error for DriverReport {}
