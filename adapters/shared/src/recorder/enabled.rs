//! What a connection's recording is written to, for as long as that works; knows nothing of what is
//! in it.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use mcp_proto::record::Sink;
use mcp_proto::stdio::Stdio;

/// A session on a byte stream that is recorded.
pub(crate) type Recorded<R> = mcp_proto::record::Recorded<Stdio<R>, Tape>;

/// Makes what the recording of one connection is written to.
pub(crate) type Make = dyn Fn() -> io::Result<Box<dyn Write + Send>> + Send + Sync;

/// One recording. What it is written to is the application's, and may fail or panic: the recording
/// ends with that, and nothing else does.
#[expect(unnameable_types, reason = "what carries a session is its own")]
pub struct Tape {
    writer: Option<BufWriter<Box<dyn Write + Send>>>,
    failure: Option<io::Error>,
}

impl Tape {
    pub(crate) fn begin(make: &Make) -> Self {
        match unpanicked(make) {
            Ok(writer) => {
                Self { writer: Some(BufWriter::with_capacity(BUFFER_BYTES, writer)), failure: None }
            }
            Err(failure) => Self { writer: None, failure: Some(failure) },
        }
    }

    /// Ends the recording.
    pub(crate) fn end(&mut self) {
        self.attempt(Write::flush);
        self.leave();
    }

    /// Why it ended early, once.
    pub(crate) const fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    fn attempt(
        &mut self,
        act: impl FnOnce(&mut BufWriter<Box<dyn Write + Send>>) -> io::Result<()>,
    ) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(failure) = unpanicked(|| act(writer)) {
            self.failure = Some(failure);
            self.leave();
        }
    }

    /// Writes nothing any more, not even what was not flushed.
    fn leave(&mut self) {
        if let Some(writer) = self.writer.take() {
            let _panicked = unpanicked(|| {
                let (writer, _unwritten) = writer.into_parts();
                drop(writer);
                Ok(())
            });
        }
    }
}

impl Sink for Tape {
    fn write(&mut self, piece: &[u8]) {
        self.attempt(|writer| writer.write_all(piece));
    }
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("runs", &self.writer.is_some()).finish_non_exhaustive()
    }
}

fn unpanicked<T>(act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let panicked = |_| Err(io::Error::other("what a recording is written to panicked"));
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(panicked)
}

/// Entries are small and many: a file is written to once for thousands of them.
const BUFFER_BYTES: usize = 64 * 1024;
