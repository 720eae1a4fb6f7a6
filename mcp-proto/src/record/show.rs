//! A recording as text, a line for each thing that happened.

use alloc::vec::Vec;
use core::fmt;

use super::entry::What;
use super::recording::Recording;
use super::render;
use crate::command::summary::OneLine;
use crate::revision::Side;
use crate::time::Instant;

/// A recording to be printed: what [`Recording::show`] gives.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    recording: Recording<'a>,
    payloads: bool,
}

impl<'a> Recording<'a> {
    /// The recording for people: what was said each way, what the machine told and what the
    /// application did, with the times, a line each.
    ///
    /// Without `payloads` it shows what each thing is (its kind, method, id, error code, length)
    /// and none of the values that it holds: neither arguments, results, states, texts of
    /// errors, nor URIs. With them it shows every byte that was said: mind where that goes.
    #[must_use]
    pub const fn show(&self, payloads: bool) -> Shown<'a> {
        Shown::new(*self, payloads)
    }
}

impl<'a> Shown<'a> {
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
        write!(f, "{at} {from} → {}", render::shape(line))?;
        if self.payloads {
            write!(f, " {}", OneLine::whole(line))?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (us, them) = match self.recording.side() {
            Side::Client => ("client", "server"),
            Side::Server => ("server", "client"),
        };
        let mut half = Vec::new();
        for entry in self.recording.entries() {
            let at = entry.at;
            match entry.what {
                What::Input(bytes) => {
                    for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                        half.extend_from_slice(part);
                        if half.pop_if(|byte| *byte == b'\n').is_some() {
                            self.line(f, at, them, &half)?;
                            half.clear();
                        }
                    }
                }
                What::Eof if !half.is_empty() => {
                    self.line(f, at, them, &half)?;
                    half.clear();
                    writeln!(f, "{at} {them} → the end")?;
                }
                What::Eof => writeln!(f, "{at} {them} → the end")?,
                What::Timeout => writeln!(f, "{at} {us} : time passed")?,
                What::Command(command, outcome) => {
                    writeln!(
                        f,
                        "{at} {us} @ {}",
                        render::command(&command, outcome, self.payloads)
                    )?;
                }
                What::Event(summary, _) => writeln!(f, "{at} {us} ! {summary}")?,
                What::Taken(_) => {}
                What::Output(bytes) => {
                    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                        self.line(f, at, us, line)?;
                    }
                }
            }
        }
        if !half.is_empty() {
            writeln!(f, "({} bytes of a line)", half.len())?;
        }
        if !self.recording.is_whole() {
            writeln!(f, "(the rest cannot be read)")?;
        }
        Ok(())
    }
}
