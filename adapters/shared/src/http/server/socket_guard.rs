//! A socket with limits on writes, on reads in a row, and on its shutdown.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};

use super::sockets::SocketMeter;
use crate::box_future::BoxFuture;

/// A socket within the limits on one peer.
///
/// - Writes fail after a time without progress. Otherwise, a client that stops reading would keep
///   its response, and the connection, forever.
/// - After [`READS_MAX`] reads that need not wait, other connections have their turn.
/// - A shutdown lingers if the peer may still be sending, for example a body that was refused.
pub(super) struct SocketGuard<I, F> {
    socket: I,
    stall_timeout: Duration,
    /// How long a shutdown lingers for the next [`LINGER_PROGRESS`].
    linger_timeout: Duration,
    sleep: F,
    meter: SocketMeter,
    /// Runs while a write waits for the peer.
    timer: Option<BoxFuture<'static, ()>>,
    /// The latest reads that did not wait.
    ready_reads: usize,
    linger: Option<Linger>,
}

/// A shutdown that waits for the peer to close the connection.
///
/// A socket that closes with unread bytes resets the connection, and the peer may lose the response
/// that it has not read yet.
// RFC 9112, section 9.6.
#[derive(Default)]
struct Linger {
    /// Runs from the first wait for the peer after each [`LINGER_PROGRESS`].
    timer: Option<BoxFuture<'static, ()>>,
    /// Runs from the first wait for the peer to the end.
    end: Option<BoxFuture<'static, ()>>,
    bytes: usize,
}

/// The number of reads, of at most [`READ_BYTES_MAX`] each, after which other connections have
/// their turn.
const READS_MAX: usize = 4;

/// The size of the reads of a shutdown, and of the largest other ones.
const READ_BYTES_MAX: usize = 16 << 10;

/// How long the shutdown of a connection that was not refused lingers for [`LINGER_PROGRESS`].
pub(super) const LINGER_TIMEOUT: Duration = Duration::from_secs(10);

/// The bytes after which a shutdown lingers for its whole time again. Without them, a large body
/// that arrives slowly would be cut; if a single byte were enough, a peer could hold a connection
/// at no cost.
const LINGER_PROGRESS: usize = READS_MAX * READ_BYTES_MAX;

/// How long a shutdown lingers in total: a peer that sends just enough must not hold a connection.
const LINGER_TIME_MAX: Duration = Duration::from_secs(60);

/// The bytes that a shutdown reads at most.
const LINGER_BYTES_MAX: usize = 64 << 20;

impl<I, F> SocketGuard<I, F>
where
    F: Fn(Duration) -> BoxFuture<'static, ()>,
{
    pub(super) const fn new(
        socket: I,
        stall_timeout: Duration,
        linger_timeout: Duration,
        sleep: F,
        meter: SocketMeter,
    ) -> Self {
        Self {
            socket,
            stall_timeout,
            linger_timeout,
            sleep,
            meter,
            timer: None,
            ready_reads: 0,
            linger: None,
        }
    }

    /// Passes the outcome of a write on, unless the write has waited for too long.
    fn watch<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.timer.take().is_some() {
                self.meter.set_writing(false);
            }
            return written;
        }
        let timer = self.timer.get_or_insert_with(|| {
            self.meter.set_writing(true);
            (self.sleep)(self.stall_timeout)
        });
        if timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.timer = None;
        let seconds = self.stall_timeout.as_secs_f32();
        let what = format!("the peer has read nothing for {seconds} s (`Limits::stall_timeout`)");
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, what)))
    }
}

impl<I, F> SocketGuard<I, F>
where
    I: Read + Unpin,
    F: Fn(Duration) -> BoxFuture<'static, ()> + Unpin,
{
    /// Reads and drops what the peer sends, until it closes the connection or a limit is reached.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut memory = [MaybeUninit::uninit(); READ_BYTES_MAX];
        // A server that stops does not wait.
        while self.meter.has_unread() {
            let mut buffer = ReadBuf::uninit(&mut memory);
            let read = Pin::new(&mut *self).poll_read(context, buffer.unfilled());
            let linger_timeout = self.linger_timeout;
            let (linger, sleep) = (self.linger.get_or_insert_default(), &self.sleep);
            let count = buffer.filled().len();
            let progress = linger.bytes / LINGER_PROGRESS;
            linger.bytes += count;
            if linger.bytes / LINGER_PROGRESS > progress {
                linger.timer = None;
            }
            match read {
                Poll::Pending => {
                    let end = linger.end.get_or_insert_with(|| sleep(LINGER_TIME_MAX));
                    if end.as_mut().poll(context).is_ready() {
                        break;
                    }
                    let timer = linger.timer.get_or_insert_with(|| sleep(linger_timeout));
                    return timer.as_mut().poll(context);
                }
                Poll::Ready(Ok(())) if count > 0 && linger.bytes < LINGER_BYTES_MAX => {}
                Poll::Ready(_) => break,
            }
        }
        Poll::Ready(())
    }
}

impl<I: Read + Unpin, F: Unpin> Read for SocketGuard<I, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ready_reads >= READS_MAX {
            self.ready_reads = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let read = Pin::new(&mut self.socket).poll_read(context, buffer);
        if read.is_ready() {
            self.ready_reads += 1;
            self.meter.received();
        } else {
            self.ready_reads = 0;
        }
        read
    }
}

impl<I, F> Write for SocketGuard<I, F>
where
    I: Read + Write + Unpin,
    F: Fn(Duration) -> BoxFuture<'static, ()> + Unpin,
{
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.watch(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.watch(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(context);
        self.watch(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.socket).poll_shutdown(context))?;
            if !self.meter.has_unread() {
                return Poll::Ready(Ok(()));
            }
            // The connection is not idle yet.
            self.meter.set_writing(true);
            self.linger = Some(Linger::default());
        }
        self.poll_linger(context).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use std::iter;
    use std::sync::Arc;

    use futures_lite::future::{block_on, pending, poll_fn, poll_once};

    use super::*;
    use crate::http::server::sockets::{OpenSocket, SocketEnd, Sockets};

    /// A peer that sends without end, or nothing more.
    #[derive(Default)]
    struct Peer {
        is_silent: bool,
        /// The bytes before each pause.
        piece: Option<usize>,
        pauses: bool,
        is_shut_down: bool,
    }

    impl Read for Peer {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            mut buffer: ReadBufCursor<'_>,
        ) -> Poll<io::Result<()>> {
            if self.is_silent || self.pauses {
                self.pauses = false;
                return Poll::Pending;
            }
            self.pauses = self.piece.is_some();
            let bytes = vec![b'x'; self.piece.unwrap_or_else(|| buffer.remaining())];
            buffer.put_slice(&bytes);
            Poll::Ready(Ok(()))
        }
    }

    impl Write for Peer {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.is_shut_down = true;
            Poll::Ready(Ok(()))
        }
    }

    type Sleep = fn(Duration) -> BoxFuture<'static, ()>;

    fn guarded(socket: &OpenSocket, peer: Peer, sleep: Sleep) -> SocketGuard<Peer, Sleep> {
        SocketGuard::new(peer, Duration::from_secs(1), LINGER_TIMEOUT, sleep, socket.meter())
    }

    fn sockets() -> Arc<Sockets> {
        Sockets::new(Arc::default(), 9, 9)
    }

    #[test]
    fn others_have_their_turn_after_a_bounded_number_of_reads() {
        let socket = sockets().admit(None).unwrap();
        let mut guard = guarded(&socket, Peer::default(), |_| Box::pin(pending()));
        let mut memory = [0; 16];
        let mut read = || {
            let mut buffer = ReadBuf::new(&mut memory);
            let read =
                poll_fn(|context| Pin::new(&mut guard).poll_read(context, buffer.unfilled()));
            block_on(poll_once(read)).is_some()
        };
        let turn: Vec<bool> = (0..=READS_MAX).map(|_| read()).collect();
        assert_eq!(turn, [[true; READS_MAX].as_slice(), &[false]].concat());
        assert!(read());
    }

    #[test]
    fn a_shutdown_lingers_for_the_time_of_its_connection() {
        let socket = sockets().admit(None).unwrap();
        drop(socket.begin());
        socket.meter().left_body(false);
        let second = Duration::from_secs(1);
        let sleep: Sleep = |duration| match duration {
            LINGER_TIMEOUT | LINGER_TIME_MAX => Box::pin(pending()),
            _ => Box::pin(async {}),
        };
        for (linger_timeout, is_over) in [(second, true), (LINGER_TIMEOUT, false)] {
            let peer = Peer { is_silent: true, ..Peer::default() };
            let mut guard = SocketGuard::new(peer, second, linger_timeout, sleep, socket.meter());
            let ended = poll_fn(|context| Pin::new(&mut guard).poll_shutdown(context));
            assert_eq!(block_on(poll_once(ended)).is_some(), is_over, "{linger_timeout:?}");
        }
    }

    #[test]
    fn a_shutdown_lingers_while_a_peer_sends_enough() {
        let socket = sockets().admit(None).unwrap();
        drop(socket.begin());
        socket.meter().left_body(false);
        fn pauses(mut count: usize) -> BoxFuture<'static, ()> {
            Box::pin(poll_fn(move |_| {
                count -= 1;
                if count == 0 { Poll::Ready(()) } else { Poll::Pending }
            }))
        }
        let patient: Sleep = |time| pauses(if time == LINGER_TIME_MAX { 100_000 } else { 5 });
        let strict: Sleep = |time| pauses(if time == LINGER_TIME_MAX { 50 } else { 5 });
        let enough = LINGER_PROGRESS / 4;
        for (piece, sleep, lasts) in [
            (1, patient, 5),
            (enough, patient, LINGER_BYTES_MAX / READ_BYTES_MAX),
            (enough, strict, 50),
        ] {
            let mut guard = guarded(&socket, Peer { piece: Some(piece), ..Peer::default() }, sleep);
            let ended =
                || block_on(poll_once(poll_fn(|it| Pin::new(&mut guard).poll_shutdown(it))));
            let polls = iter::repeat_with(ended).take_while(Option::is_none).count();
            assert_eq!(polls + 1, lasts, "{piece} bytes at a time");
        }
    }

    #[test]
    fn a_shutdown_lingers_within_bounds_if_the_peer_may_be_sending() {
        let shut_down = |socket: &OpenSocket, peer, sleep| {
            let mut guard = guarded(socket, peer, sleep);
            let ended = poll_fn(|context| Pin::new(&mut guard).poll_shutdown(context));
            block_on(async { poll_once(ended).await.is_some() })
        };
        let silent = || Peer { is_silent: true, ..Peer::default() };
        let (never, now): (Sleep, Sleep) = (|_| Box::pin(pending()), |_| Box::pin(async {}));
        let sockets = sockets();
        let socket = sockets.admit(None).unwrap();
        assert!(shut_down(&socket, silent(), never), "nothing is unread");
        drop(socket.begin());
        socket.meter().left_body(false);
        assert!(!shut_down(&socket, silent(), never), "the peer closes first");
        assert!(shut_down(&socket, silent(), now), "the time is over");
        let mut endless = guarded(&socket, Peer::default(), never);
        block_on(poll_fn(|context| Pin::new(&mut endless).poll_shutdown(context))).unwrap();
        assert!(endless.socket.is_shut_down, "the peer learns that the response is complete");
        let mut lingering = guarded(&socket, silent(), never);
        let mut ended =
            || block_on(poll_once(poll_fn(|it| Pin::new(&mut lingering).poll_shutdown(it))));
        assert!(ended().is_none());
        sockets.end_all(SocketEnd::Graceful);
        assert!(ended().is_some(), "the server stops");
    }
}
