//! [`RecordingDisplay`]: prints a recording, one line per message, event and command.

use alloc::vec::Vec;
use core::fmt;

use super::entry::EntryData;
use super::recording::Recording;
use super::render;
use crate::command::summary::OneLine;
use crate::revision::Side;
use crate::time::Instant;

/// The printable form of a recording, created by [`Recording::show`].
#[derive(Clone, Copy, Debug)]
pub struct RecordingDisplay<'a> {
    recording: Recording<'a>,
    payloads: bool,
}

impl<'a> Recording<'a> {
    /// Returns a printable form of the recording.
    ///
    /// Each message in either direction, each event, each command, each timeout and the end of the
    /// input has one line, with its time.
    ///
    /// If `payloads` is false, the lines contain types, methods, ids, error codes and lengths, but
    /// no arguments, results, request states, error messages or URIs. If `payloads` is true, the
    /// lines also contain the text of each message and the payload of each command, including
    /// secrets. Control characters are escaped.
    #[must_use]
    pub const fn show(&self, payloads: bool) -> RecordingDisplay<'a> {
        RecordingDisplay::new(*self, payloads)
    }
}

impl<'a> RecordingDisplay<'a> {
    const fn new(recording: Recording<'a>, payloads: bool) -> Self {
        Self { recording, payloads }
    }

    fn line(
        &self,
        f: &mut fmt::Formatter<'_>,
        at: Instant,
        from: &str,
        line: &[u8],
    ) -> fmt::Result {
        write!(f, "{at} {from} → {}", render::message_summary(line))?;
        if self.payloads {
            write!(f, " {}", OneLine::whole(line))?;
        }
        writeln!(f)
    }
}

impl fmt::Display for RecordingDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (us, them) = match self.recording.side() {
            Side::Client => ("client", "server"),
            Side::Server => ("server", "client"),
        };
        let mut partial = Vec::new();
        for entry in self.recording.entries() {
            let at = entry.at;
            match entry.data {
                EntryData::Input(bytes) => {
                    for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                        partial.extend_from_slice(part);
                        if partial.pop_if(|byte| *byte == b'\n').is_some() {
                            self.line(f, at, them, &partial)?;
                            partial.clear();
                        }
                    }
                }
                EntryData::Eof if !partial.is_empty() => {
                    self.line(f, at, them, &partial)?;
                    partial.clear();
                    writeln!(f, "{at} {them} → end of input")?;
                }
                EntryData::Eof => writeln!(f, "{at} {them} → end of input")?,
                EntryData::Timeout => writeln!(f, "{at} {us} : timeout")?,
                EntryData::Command(command, outcome) => {
                    writeln!(
                        f,
                        "{at} {us} @ {}",
                        render::command(&command, outcome, self.payloads)
                    )?;
                }
                EntryData::Event(summary, _) => {
                    writeln!(f, "{at} {us} ! {}", OneLine::whole(summary.as_bytes()))?;
                }
                EntryData::Taken(_) => {}
                EntryData::Output(bytes) => {
                    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                        self.line(f, at, us, line)?;
                    }
                }
            }
        }
        if !partial.is_empty() {
            writeln!(f, "({} bytes of an incomplete line)", partial.len())?;
        }
        if !self.recording.is_complete() {
            writeln!(f, "(the rest is unreadable)")?;
        }
        Ok(())
    }
}
