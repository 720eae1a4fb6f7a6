//! The loop that drives a connection on an async runtime: it reads, starts handlers and writes.

use std::future::{Future, pending, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_lite::future::or;
use futures_lite::io::{AsyncRead, AsyncWrite};

use crate::exec::budget::{Budget, PIECE_BYTES_MAX};
use crate::exec::poll_on_wake::poll_on_wake;
use crate::transport::link::{Link, LinkRole};
use crate::transport::read_buffer::ReadBuffer;
use crate::transport::shutdown::DriverHandle;

/// Reads and writes messages and runs the timers of a connection until the connection ends.
///
/// `sleep` waits with the runtime's timer, and `turn` yields to the runtime's other tasks.
///
/// Reading continues while a write is pending. The reading task also writes responses while the
/// stream accepts them immediately. No other task then needs to be woken.
pub async fn drive<R: LinkRole, S: Future, T: Future<Output = ()>>(
    driving: DriverHandle<R>,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
    sleep: impl Fn(Duration) -> S,
    turn: impl Fn() -> T,
) {
    let link = driving.link();
    let output =
        SharedOutput(Mutex::new(Output { writer: Some(writer), chunk: Vec::new(), sent: 0 }));
    let rarely_woken = or(driving.ended(), or(write(link, &output, &turn), link.keep_time(sleep)));
    or(poll_on_wake(rarely_woken), read(&driving, reader, &output, &turn)).await;
}

async fn read<R: LinkRole, W: AsyncWrite + Unpin, T: Future<Output = ()>>(
    driving: &DriverHandle<R>,
    mut reader: impl AsyncRead + Unpin,
    output: &SharedOutput<W>,
    turn: &impl Fn() -> T,
) {
    let link = driving.link();
    let (mut buffer, mut budget) = (ReadBuffer::default(), Budget::default());
    while link.wants_input().await {
        let read = poll_fn(|context| {
            let read = Pin::new(&mut reader).poll_read(context, buffer.space());
            if read.is_pending() {
                // Waiting for input yields to the other tasks.
                budget = Budget::default();
            }
            read
        });
        match read.await {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => {
                for piece in buffer.filled(count).chunks(PIECE_BYTES_MAX) {
                    link.take_input(piece);
                    link.help();
                    output.flush(link).await;
                    if budget.charge_input(piece) {
                        turn().await;
                    }
                }
            }
            Ok(_) => {
                link.handle_eof();
                break;
            }
            Err(error) => {
                link.input_failed(&error);
                break;
            }
        }
    }
    if driving.reads_on() {
        while matches!(
            poll_fn(|context| Pin::new(&mut reader).poll_read(context, buffer.space())).await,
            Ok(1..)
        ) {
            turn().await;
        }
    }
    drop(reader);
    pending::<()>().await;
}

async fn write<R: LinkRole, W: AsyncWrite + Unpin, T: Future<Output = ()>>(
    link: &Arc<Link<R>>,
    output: &SharedOutput<W>,
    turn: &impl Fn() -> T,
) {
    let mut budget = Budget::default();
    while link.has_output().await {
        let chunk = poll_fn(|context| {
            let chunk = output.lock().poll_chunk(link, context);
            if chunk.is_pending() {
                budget = Budget::default();
            }
            chunk
        });
        match chunk.await {
            Ok(sent) if budget.charge_output(sent) => turn().await,
            Ok(_) => {}
            Err(error) => {
                link.output_failed(&error);
                link.lost_reader().await;
                break;
            }
        }
    }
    poll_fn(|context| output.lock().poll_close(context)).await;
    link.written();
    pending::<()>().await;
}

/// The output stream, shared by the reading and the writing side.
///
/// Both sides are part of one future and never hold the lock across a wait, so the lock is never
/// contended.
struct SharedOutput<W>(Mutex<Output<W>>);

struct Output<W> {
    /// `None` once the stream has failed or was closed.
    writer: Option<W>,
    chunk: Vec<u8>,
    /// The number of bytes of the chunk that were written.
    sent: usize,
}

impl<W: AsyncWrite + Unpin> SharedOutput<W> {
    fn lock(&self) -> MutexGuard<'_, Output<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes output as far as the stream accepts it immediately, and leaves the rest to the
    /// writing side.
    async fn flush<R: LinkRole>(&self, link: &Link<R>) {
        poll_fn(|context| {
            let mut output = self.lock();
            // A pending chunk belongs to the writing side: polling the stream here would replace
            // the waker of that side.
            let chunks_max = if output.chunk.is_empty() { CHUNKS_MAX } else { 0 };
            for _ in 0..chunks_max {
                match output.poll_chunk(link, context) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(()),
                    Poll::Ready(Ok(_)) => {}
                    Poll::Ready(Err(error)) => {
                        link.output_failed(&error);
                        return Poll::Ready(());
                    }
                    Poll::Pending => break,
                }
            }
            link.flush_elsewhere();
            Poll::Ready(())
        })
        .await;
    }
}

/// The number of chunks that the reading side writes in one go. One chunk holds all output, unless
/// other threads add more during the write.
const CHUNKS_MAX: usize = 2;

impl<W: AsyncWrite + Unpin> Output<W> {
    /// Writes the rest of the current chunk, or the next chunk. Returns the chunk's length; zero if
    /// there is no output.
    fn poll_chunk<R: LinkRole>(
        &mut self,
        link: &Link<R>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if self.writer.is_some() && self.chunk.is_empty() && !link.take_output(&mut self.chunk) {
            return Poll::Ready(Ok(0));
        }
        let written = ready!(self.poll_rest(link, context));
        if written.is_err() {
            self.writer = None;
        }
        let count = self.chunk.len();
        self.chunk.clear();
        self.sent = 0;
        Poll::Ready(written.map(|()| count))
    }

    fn poll_rest<R: LinkRole>(
        &mut self,
        link: &Link<R>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let Some(writer) = &mut self.writer else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        while let Some(rest) = self.chunk.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match ready!(Pin::new(&mut *writer).poll_write(context, rest)) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    if count < rest.len() {
                        link.wrote(count);
                    }
                    self.sent += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Pin::new(writer).poll_flush(context)
    }

    /// Closes the stream.
    fn poll_close(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(writer) = &mut self.writer {
            let _gone = ready!(Pin::new(writer).poll_close(context));
        }
        self.writer = None;
        Poll::Ready(())
    }
}
