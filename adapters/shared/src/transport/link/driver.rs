//! What a driver does with a connection: it brings bytes, takes bytes, and sees it end; knows
//! nothing of where they come from and go to.

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use bytes::Buf;
use mcp_proto::Outbox;

use super::{Link, Role, State};

impl<R: Role> Link<R> {
    /// Waits until more bytes are wanted; false when none are ever again.
    pub async fn wants_input(&self) -> bool {
        self.when(|state| {
            if state.session.is_closed() {
                return Some(false);
            }
            (state.session.wants_input() && R::has_room(&state.open)).then_some(true)
        })
        .await
    }

    /// Whether more bytes are wanted, if that need not be waited for.
    pub fn wants_input_now(&self) -> bool {
        self.look(|state| state.session.wants_input() && R::has_room(&state.open))
    }

    /// Bytes that were read, by whoever writes as well: what follows is [`help`](Self::help), which
    /// begins the handlers of requests, and then [`take_output`](Self::take_output) until there
    /// is none, which nobody else is woken for.
    pub fn take_input(self: &Arc<Self>, input: &[u8]) {
        self.expect_work();
        self.trace.input(input);
        self.with(|state, now| {
            state.flushes = true;
            state.session.handle_input(now, input);
        });
    }

    fn expect_work(&self) {
        if let Some(workers) = R::workers(&self.shared) {
            workers.await_fresh(&self.clock);
        }
    }

    /// Begins the handlers of what was read, for as long as they are quick. `goes_on` is asked
    /// before each whether this thread is still the one to do so.
    pub fn help(&self, goes_on: impl FnMut() -> bool) {
        if let Some(workers) = R::workers(&self.shared) {
            workers.help(&self.clock, goes_on);
        }
    }

    /// The thread that handles input is held up: others do what it was about to do.
    pub fn release(&self) {
        if let Some(workers) = R::workers(&self.shared) {
            workers.release(&self.clock);
        }
        self.flush_elsewhere();
    }

    /// No bytes will follow: the stream has ended, or cannot be read.
    pub fn handle_eof(self: &Arc<Self>) {
        self.with(|state, now| state.session.handle_eof(now));
    }

    /// Takes back what [`take_output`](Self::take_output) gave, once it is written: room for the
    /// next large message.
    pub fn reuse(&self, chunk: Vec<u8>) {
        if let Some(outbox) = self.lock().session.outbox() {
            outbox.reuse(chunk);
        }
    }

    /// Puts bytes to write into `chunk`, if there are any: all there are, unless they are many.
    /// What it gave before is written by now, and forgotten.
    pub fn take_output(&self, chunk: &mut Vec<u8>) -> bool {
        let waits_for_room;
        {
            let mut state = self.lock();
            let State { session, open, writing_since, .. } = &mut *state;
            let was_writing = writing_since.is_some();
            take_output(session.outbox(), chunk);
            if was_writing {
                // Bytes have left.
                R::retry(session, open, || self.clock.now());
                if chunk.is_empty() {
                    take_output(session.outbox(), chunk);
                }
            }
            if chunk.is_empty() {
                *writing_since = None;
                state.flushes = false;
            } else {
                *writing_since = Some(self.clock.now());
            }
            waits_for_room = was_writing && std::mem::take(&mut state.waits_for_room);
        }
        if waits_for_room {
            self.room.notify(usize::MAX);
        }
        self.trace.output(chunk);
        !chunk.is_empty()
    }

    /// So many bytes more of what was taken are written: the peer goes on reading.
    pub fn wrote(&self, bytes: usize) {
        {
            let mut state = self.lock();
            state.writing_since = Some(self.clock.now());
            if let Some(outbox) = state.session.outbox() {
                outbox.written(bytes);
            }
        }
        self.room.notify(usize::MAX);
    }

    /// Waits until there is something to write, or left of what was taken, that nobody is about to
    /// write, or nothing can be written any more; false when nothing is left and nothing will
    /// follow.
    pub async fn has_output(&self) -> bool {
        loop {
            let writable;
            {
                let mut state = self.lock();
                let has_output = state.writing_since.is_some() || state.session.has_output();
                if state.broken || !state.flushes && has_output {
                    return true;
                }
                if state.session.is_closed() {
                    return has_output;
                }
                writable = self.writable.listen();
            }
            writable.await;
        }
    }

    /// Whoever handled input does not look for output: others have to.
    pub fn flush_elsewhere(&self) {
        self.lock().flushes = false;
        self.writable.notify(usize::MAX);
    }

    /// What is written goes nowhere any more: see [`lost_reader`](Self::lost_reader).
    pub fn broke(&self) {
        let mut state = self.lock();
        state.broken = true;
        state.flushes = false;
        drop(state);
        self.writable.notify(usize::MAX);
    }

    /// The peer takes no more bytes (EPIPE). What it said before may still arrive; what is still
    /// said to it goes nowhere. Waits until the session is closed, however that comes.
    pub async fn lost_reader(self: &Arc<Self>) {
        self.end_within(R::LAST_INPUT).await;
        loop {
            let writable;
            {
                let mut state = self.lock();
                if let Some(outbox) = state.session.outbox() {
                    outbox.advance(outbox.remaining());
                }
                if state.session.is_closed() {
                    return;
                }
                writable = self.writable.listen();
            }
            writable.await;
        }
    }

    /// The writer is done: the peer was told that nothing follows.
    pub fn written(&self) {
        self.lock().written = true;
        self.room.notify(usize::MAX);
    }

    /// The peer is gone: gives its last output `patience` to arrive, then ends the connection.
    pub async fn end_within(self: &Arc<Self>, patience: Duration) {
        if !self.wait_until(patience, |state| state.session.is_closed()).await {
            self.handle_eof();
        }
    }

    /// Waits until the session is closed, and all that it had to send is sent, for as long as the
    /// peer goes on reading.
    pub async fn drained(&self) {
        self.closed().await;
        let began = self.clock.now();
        loop {
            let room;
            let stuck;
            {
                let mut state = self.lock();
                // A writer that is not writing has not had its turn yet: it is not the peer that is
                // slow.
                let write = state.writing_since.map(|since| since + WRITE_PATIENCE);
                stuck = write.unwrap_or(began + FLUSH_MAX).min(began + FLUSH_MAX);
                if state.written || state.over || self.clock.until(stuck).is_zero() {
                    return;
                }
                room = self.listen_for_room(&mut state);
            }
            self.wait_for(room, stuck).await;
        }
    }

    /// Waits until the last events are handed out, which somebody else may be doing.
    pub(crate) async fn handed_out(&self) {
        self.wait_until(LAST_EVENTS, |state| !state.dispatching).await;
    }

    /// Waits until the session is closed.
    pub async fn closed(&self) {
        // Not for room, which there is anew with each message: that would wake a driver for
        // nothing.
        loop {
            let ended = self.ended.listen();
            if self.look(|state| state.session.is_closed()) {
                return;
            }
            ended.await;
        }
    }

    /// Nobody drives the connection any more: it ends now, if it has not, and nothing waits for
    /// time.
    pub(crate) fn over(self: &Arc<Self>) {
        self.with(|state, now| {
            state.session.close(now);
            // A driver that is gone drains nothing: what would be waited for is over at once.
            while let Some(due) =
                state.session.poll_timeout().filter(|_| !state.session.is_closed())
            {
                state.session.handle_timeout(due);
            }
        });
        let mut state = self.lock();
        state.over = true;
        #[cfg(feature = "record")]
        state.session.end_recording();
        let waiting = state.alarms.take_all();
        self.tell_unrecorded(state);
        waiting.into_iter().for_each(Waker::wake);
        self.deadline.notify(usize::MAX);
        self.room.notify(usize::MAX);
        self.writable.notify(usize::MAX);
    }

    /// Waits until nobody drives the connection any more.
    pub(crate) async fn wait_over(&self) {
        self.when(|state| state.over.then_some(())).await;
    }
}

/// Takes all there is without copying it, or the first part of it when that is much.
fn take_output(outbox: Option<&mut Outbox>, chunk: &mut Vec<u8>) {
    let Some(outbox) = outbox else { return chunk.clear() };
    if outbox.len() <= WHOLE_BYTES_MAX {
        return outbox.take_all(chunk);
    }
    chunk.clear();
    outbox.written(usize::MAX);
    while chunk.len() < WRITE_BYTES_MAX && outbox.has_remaining() {
        let count = outbox.chunk().len().min(WRITE_BYTES_MAX - chunk.len());
        chunk.extend_from_slice(outbox.chunk().get(..count).unwrap_or_default());
        outbox.advance(count);
    }
}

/// What is taken whole, at most: whoever waits for it to be sent sees that some of it is.
const WHOLE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What one write is given where writes block: whoever waits for it sees no part of it.
pub const WRITE_BYTES_MAX: usize = 64 * 1024;

/// How long one write may take once the connection is over, and all of them together.
const WRITE_PATIENCE: Duration = Duration::from_millis(60);
const FLUSH_MAX: Duration = Duration::from_secs(2);

/// How long the last events of a connection that is over may take to be handed out.
const LAST_EVENTS: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use futures_lite::future::block_on;

    use crate::exec::workers::Spawn;
    use crate::{BoxFuture, Server};

    struct Nowhere;

    impl Spawn for Nowhere {
        fn spawn(&self, _: BoxFuture<'static, ()>) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_left_to_send_waits_for_a_writer_that_has_not_had_its_turn() {
        let (_serving, driving) = Server::new("s", "1").open_on(Arc::new(Nowhere)).unwrap();
        let link = Arc::clone(driving.link());
        link.take_input(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        link.flush_elsewhere();
        link.handle_eof();
        let sent = Arc::new(AtomicBool::new(false));
        let (writer, has_sent) = (Arc::clone(&link), Arc::clone(&sent));
        let late = thread::spawn(move || {
            // Longer than a write may take once the connection is over.
            thread::sleep(super::WRITE_PATIENCE + Duration::from_millis(50));
            let mut chunk = Vec::new();
            assert!(block_on(writer.has_output()));
            assert!(writer.take_output(&mut chunk));
            assert!(chunk.ends_with(b"\n"));
            has_sent.store(true, Ordering::SeqCst);
            assert!(!writer.take_output(&mut chunk));
            assert!(!block_on(writer.has_output()));
            writer.written();
        });
        link.keep_time_during(link.drained());
        assert!(sent.load(Ordering::SeqCst));
        late.join().unwrap();
    }
}
