//! How an event loop carries a connection: it reads, begins the handlers of what was read, and
//! writes what they answer, all in one go; knows nothing of which event loop, nor of what is
//! carried.

use std::future::{Future, pending, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_lite::future::or;
use futures_lite::io::{AsyncRead, AsyncWrite};

use crate::exec::poll_on_wake::beside;
use crate::process::pipe_size::Wide;
use crate::transport::link::{Link, Role};
use crate::transport::read_buffer::{PIECE_BYTES_MAX, ReadBuffer, Turn};
use crate::transport::shutdown::Driving;

/// Drives a connection to its end. `sleep` is the event loop's, and `turn` gives others on it
/// theirs.
///
/// Reading goes on while a write waits. Who reads writes the answers, too, as far as they are taken
/// at once: nobody is woken for them.
pub async fn drive<R: Role, S: Future, T: Future<Output = ()>>(
    driving: Driving<R>,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
    sleep: impl Fn(Duration) -> S,
    turn: impl Fn() -> T,
) {
    let link = driving.link();
    let writing = Writing(Mutex::new(Open {
        writer: Some(writer),
        chunk: Vec::new(),
        sent: 0,
        wide: driving.wide(),
    }));
    let seldom = or(driving.ended(), or(write(link, &writing, &turn), link.keep_time(sleep)));
    or(beside(seldom), read(&driving, reader, &writing, &turn)).await;
}

async fn read<R: Role, W: AsyncWrite + Unpin, T: Future<Output = ()>>(
    driving: &Driving<R>,
    mut reader: impl AsyncRead + Unpin,
    writing: &Writing<W>,
    turn: &impl Fn() -> T,
) {
    let link = driving.link();
    let (mut buffer, mut mine) = (ReadBuffer::default(), Turn::default());
    while link.wants_input().await {
        let read = poll_fn(|context| {
            let read = Pin::new(&mut reader).poll_read(context, buffer.space());
            if read.is_pending() {
                // While it waits, others have their turn.
                mine = Turn::default();
            }
            read
        });
        match read.await {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => {
                driving.wide().passes(count);
                for piece in buffer.filled(count).chunks(PIECE_BYTES_MAX) {
                    link.take_input(piece);
                    link.help(|| true);
                    writing.flush(link).await;
                    if mine.is_over(piece) {
                        turn().await;
                    }
                }
            }
            // A stream that cannot be read has ended.
            Ok(_) | Err(_) => {
                link.handle_eof();
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

async fn write<R: Role, W: AsyncWrite + Unpin, T: Future<Output = ()>>(
    link: &Arc<Link<R>>,
    writing: &Writing<W>,
    turn: &impl Fn() -> T,
) {
    let mut mine = Turn::default();
    while link.has_output().await {
        let chunk = poll_fn(|context| {
            let chunk = writing.open().poll_chunk(link, context);
            if chunk.is_pending() {
                mine = Turn::default();
            }
            chunk
        });
        match chunk.await {
            Ok(sent) if mine.is_over_with(sent) => turn().await,
            Ok(_) => {}
            Err(_) => {
                // Whoever does not take bytes any more is gone.
                link.lost_reader().await;
                break;
            }
        }
    }
    poll_fn(|context| writing.open().poll_close(context)).await;
    link.written();
    pending::<()>().await;
}

/// The writing half, for whoever has just read and for the one who only writes. Both are one
/// future, and neither holds it while it waits: there is never anything to wait for.
struct Writing<W>(Mutex<Open<W>>);

struct Open<W> {
    /// `None` once nothing can be written any more.
    writer: Option<W>,
    chunk: Vec<u8>,
    /// Bytes of the chunk that were written.
    sent: usize,
    wide: Wide,
}

impl<W: AsyncWrite + Unpin> Writing<W> {
    fn open(&self) -> MutexGuard<'_, Open<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what there is, as far as it is taken at once, and leaves the rest to whoever only
    /// writes.
    async fn flush<R: Role>(&self, link: &Link<R>) {
        poll_fn(|context| {
            let mut open = self.open();
            // What has begun to wait is woken there, and a stream remembers only who asked last.
            let chunks_max = if open.chunk.is_empty() { CHUNKS_MAX } else { 0 };
            for _ in 0..chunks_max {
                match open.poll_chunk(link, context) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(()),
                    Poll::Ready(Ok(_)) => {}
                    Poll::Ready(Err(_)) => {
                        link.broke();
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

/// Chunks that whoever reads writes in between: one is all there is, unless other threads add to
/// it.
const CHUNKS_MAX: usize = 2;

impl<W: AsyncWrite + Unpin> Open<W> {
    /// Writes what is left of the chunk, or the next one; how many bytes it has, none when there is
    /// nothing to write.
    fn poll_chunk<R: Role>(
        &mut self,
        link: &Link<R>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if self.writer.is_some() && self.chunk.is_empty() && !link.take_output(&mut self.chunk) {
            return Poll::Ready(Ok(0));
        }
        self.wide.passes(self.chunk.len());
        let written = ready!(self.poll_rest(link, context));
        if written.is_err() {
            self.writer = None;
        }
        let count = self.chunk.len();
        self.chunk.clear();
        self.sent = 0;
        Poll::Ready(written.map(|()| count))
    }

    fn poll_rest<R: Role>(
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

    /// Tells the peer that nothing follows.
    fn poll_close(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(writer) = &mut self.writer {
            let _gone = ready!(Pin::new(writer).poll_close(context));
        }
        self.writer = None;
        Poll::Ready(())
    }
}
