//! Recordings of connections over byte streams, written for as long as their writers work.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use mcp_proto::record::{Recorded, Sink};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Instant, MessageEndpoint};

use crate::transport::link::{BoxedTransport, Transport};

/// Opens the writer of one connection's recording.
type OpenWriter = dyn Fn() -> io::Result<Box<dyn Write + Send>> + Send + Sync;

/// The configuration of recordings: whether connections are recorded, and to which writers.
#[derive(Clone, Default)]
pub(crate) struct Recorder {
    open: Option<Arc<OpenWriter>>,
}

impl Recorder {
    /// Records every connection to a writer that `open` returns.
    pub(crate) fn new<W: Write + Send + 'static>(
        open: impl Fn() -> io::Result<W> + Send + Sync + 'static,
    ) -> Self {
        let open = move || Ok(Box::new(open()?) as Box<dyn Write + Send>);
        Self { open: Some(Arc::new(open)) }
    }

    /// Starts to record a connection whose machine was created at `began`, if connections are
    /// recorded.
    pub(crate) fn start<R: MessageEndpoint + Send + 'static>(
        &self,
        machine: Stdio<R>,
        began: Instant,
    ) -> BoxedTransport<R> {
        match &self.open {
            Some(open) => Box::new(Recorded::new(machine, began, RecordingWriter::open(&**open))),
            None => Box::new(machine),
        }
    }
}

/// Creates or empties a file for a recording, and makes it readable only for its owner.
///
/// On Unix, the file gets the mode 0600. On other systems, it inherits the access rights of its
/// folder.
///
/// # Errors
/// Fails if the file cannot be created or its mode cannot be set.
pub fn private_file(path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    // The file may have existed, with another mode.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

impl<R: MessageEndpoint + Send + 'static> Transport<R> for Recorded<Stdio<R>, RecordingWriter> {
    /// Flushes the writer.
    fn end_recording(&mut self) {
        self.sink().end();
    }

    fn take_recording_failure(&mut self) -> Option<io::Error> {
        self.sink().failure.take()
    }
}

/// The buffered writer of one recording, which wraps a writer of the application.
///
/// If the application's writer fails or panics, the recording ends, but the connection continues.
#[expect(unnameable_types, reason = "the transport of a connection is internal")]
pub struct RecordingWriter {
    writer: Option<BufWriter<Box<dyn Write + Send>>>,
    failure: Option<io::Error>,
}

impl RecordingWriter {
    fn open(open: &OpenWriter) -> Self {
        match catch_panic(open) {
            Ok(writer) => {
                Self { writer: Some(BufWriter::with_capacity(BUFFER_BYTES, writer)), failure: None }
            }
            Err(failure) => Self { writer: None, failure: Some(failure) },
        }
    }

    fn end(&mut self) {
        self.attempt(Write::flush);
        self.abandon();
    }

    fn attempt(
        &mut self,
        act: impl FnOnce(&mut BufWriter<Box<dyn Write + Send>>) -> io::Result<()>,
    ) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(failure) = catch_panic(|| act(writer)) {
            self.failure = Some(failure);
            self.abandon();
        }
    }

    /// Drops the writer without flushing its buffer.
    fn abandon(&mut self) {
        if let Some(writer) = self.writer.take() {
            let _panicked = catch_panic(|| {
                let (writer, _unwritten) = writer.into_parts();
                drop(writer);
                Ok(())
            });
        }
    }
}

impl Sink for RecordingWriter {
    fn write(&mut self, piece: &[u8]) {
        self.attempt(|writer| writer.write_all(piece));
    }
}

opaque_debug!(RecordingWriter, it => is_open: it.writer.is_some());

fn catch_panic<T>(act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let panicked = |_| Err(io::Error::other("the writer of the recording panicked"));
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(panicked)
}

/// The size of the write buffer. Entries are small and many, so one write holds thousands.
const BUFFER_BYTES: usize = 64 * 1024;

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_owner_can_read_a_recording() {
        let path = std::env::temp_dir().join(format!("mcp-private-{}", std::process::id()));
        fs::write(&path, "an older recording").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        for _ in 0..2 {
            drop(private_file(&path).unwrap());
            let found = fs::metadata(&path).unwrap();
            assert_eq!((found.permissions().mode() & 0o777, found.len()), (0o600, 0));
            fs::remove_file(&path).unwrap();
        }
    }
}
