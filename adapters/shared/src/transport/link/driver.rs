//! The driver's side of a connection: feeding input, fetching output, and the shutdown.

use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use bytes::Buf;
use mcp_proto::Outbox;

use super::{Ending, Link, LinkRole, Phase, State};
use crate::exec::workers::Driver;
use crate::transport::stream_error::{cannot, is_disconnect};

impl<R: LinkRole> Link<R> {
    /// Waits until the connection accepts more input; returns false once it is closed.
    pub async fn wants_input(&self) -> bool {
        self.when(|state| {
            if state.connection.is_closed() {
                return Some(false);
            }
            state.wants_input().then_some(true)
        })
        .await
    }

    /// Returns whether the connection accepts more input now.
    pub fn wants_input_now(&self) -> bool {
        self.inspect(State::wants_input)
    }

    /// Handles input. Call this method on a thread that also writes the output.
    ///
    /// The caller must then call [`help_until`](Self::help_until), which runs the requests'
    /// handlers. It must also call [`take_output`](Self::take_output) until no output is left,
    /// because this method does not wake the writer for the output that the input causes.
    pub fn take_input(self: &Arc<Self>, input: &[u8]) {
        if let Some(workers) = R::workers(&self.shared) {
            workers.collect_tasks();
        }
        self.trace.input(input);
        let mut rest = input;
        while !rest.is_empty() {
            self.with(|state, now| {
                let piece_max = state.connection.limits().input_bytes_max.max(1);
                let (piece, later) = rest.split_at(piece_max.min(rest.len()));
                state.phase.reader_flushes();
                state.connection.handle_input(now, piece);
                rest = later;
            });
        }
    }

    /// Runs the handlers of the requests that [`take_input`](Self::take_input) has received, on
    /// the calling thread, which is the driver of the connection.
    ///
    /// While a handler runs, the driver does no I/O. If the handler takes too long, an adapter can
    /// therefore replace the driver by another thread. `may_continue` returns whether the calling
    /// thread is still the driver. This method calls it before each handler; once it returns false,
    /// the method passes the remaining handlers to other threads and returns.
    pub fn help_until(&self, mut may_continue: impl FnMut() -> bool) {
        self.run_handlers(Driver::Replaceable(&mut may_continue));
    }

    /// Runs the handlers of the latest requests on this thread; no other thread takes over.
    pub(crate) fn help(&self) {
        self.run_handlers(Driver::Sole);
    }

    fn run_handlers(&self, driver: Driver<'_>) {
        if let Some(workers) = R::workers(&self.shared) {
            workers.help(&self.clock, &self.trace, driver);
        }
    }

    /// Hands pending handlers and output to other threads. Call this if the input thread is stuck.
    pub fn release(&self) {
        if let Some(workers) = R::workers(&self.shared) {
            workers.release();
        }
        self.flush_elsewhere();
    }

    /// Records a failure to read, and ends the input.
    pub fn input_failed(self: &Arc<Self>, error: &io::Error) {
        self.record_failure("read messages", error);
        self.handle_eof();
    }

    /// Records a failure to write. The writer must then call [`lost_reader`](Self::lost_reader).
    pub fn output_failed(&self, error: &io::Error) {
        self.record_failure("write messages", error);
        self.broke();
    }

    fn record_failure(&self, what: &str, error: &io::Error) {
        if !is_disconnect(error) {
            self.lock().stream_error.get_or_insert_with(|| cannot(what, error));
        }
    }

    /// Returns, once, why a stream has failed.
    pub(crate) fn take_stream_error(&self) -> Option<io::Error> {
        self.lock().stream_error.take()
    }

    /// Handles the end of the input.
    pub fn handle_eof(self: &Arc<Self>) {
        self.with(|state, now| {
            if state.ending == Ending::Open {
                state.ending = Ending::Eof;
            }
            state.connection.handle_eof(now);
        });
        self.ended.notify(usize::MAX);
    }

    /// Waits until the input has ended, or this side has closed the connection.
    pub(crate) async fn input_ended(&self) {
        self.when_ending(|state| state.ending != Ending::Open).await;
    }

    /// Closes the connection promptly, even if it is still answering requests of a peer that has
    /// closed its side.
    pub(crate) fn stop(self: &Arc<Self>) {
        self.with(|state, now| {
            state.ending = Ending::Stopped;
            state.connection.close(now);
        });
        self.room.notify(usize::MAX);
    }

    /// Waits until [`stop`](Self::stop) is called.
    pub(crate) async fn stopped(&self) {
        self.when(|state| (state.ending == Ending::Stopped).then_some(())).await;
    }

    /// Returns how long a write of the last output may make no progress if the peer may still read
    /// it; `None` if the output must leave promptly.
    pub(crate) fn output_patience(&self) -> Option<Duration> {
        self.inspect(State::output_patience)
    }

    /// Gives back a buffer that [`take_output`](Self::take_output) filled, so that a later message
    /// can reuse its memory.
    pub fn reuse(&self, chunk: Vec<u8>) {
        self.lock().connection.outbox().reuse(chunk);
    }

    /// Replaces the contents of `chunk` with output to write; returns false if there is none.
    ///
    /// Takes all output, or only the first part if there is more than 2 MiB. The previous contents
    /// of `chunk` count as written.
    pub fn take_output(&self, chunk: &mut Vec<u8>) -> bool {
        let is_room_awaited;
        {
            let mut state = self.lock();
            let State { connection, role, writing_since, phase, .. } = &mut *state;
            let was_writing = writing_since.is_some();
            take_output(connection.outbox(), chunk);
            if was_writing {
                // The previous chunk has been sent, so there is room again.
                R::retry(connection, role, || self.clock.now());
                if chunk.is_empty() {
                    take_output(connection.outbox(), chunk);
                }
            }
            if chunk.is_empty() {
                *writing_since = None;
                phase.writer_flushes();
            } else {
                *writing_since = Some(self.clock.now());
            }
            is_room_awaited = was_writing && std::mem::take(&mut state.is_room_awaited);
        }
        if is_room_awaited {
            self.room.notify(usize::MAX);
        }
        self.trace.output(chunk);
        !chunk.is_empty()
    }

    /// Records that `count` more bytes from [`take_output`](Self::take_output) were written.
    ///
    /// This restarts the timeout after which the peer is considered not to be reading.
    pub fn wrote(&self, count: usize) {
        {
            let mut state = self.lock();
            state.writing_since = Some(self.clock.now());
            state.connection.outbox().mark_written(count);
        }
        self.room.notify(usize::MAX);
    }

    /// Waits until there is output to write; returns false if there will be none.
    ///
    /// Returns false once the connection is closed and all output has been written. Returns true if
    /// the output stream has failed, so that the writer can detect the failure.
    ///
    /// The thread that calls [`take_input`](Self::take_input) also writes the resulting output.
    /// While the connection is open, this method does not return for such output, unless
    /// [`flush_elsewhere`](Self::flush_elsewhere) hands the output to the writer.
    pub async fn has_output(&self) -> bool {
        loop {
            let writable;
            {
                let mut state = self.lock();
                let has_output = state.writing_since.is_some() || state.connection.has_output();
                match state.phase {
                    Phase::OutputBroken => return true,
                    Phase::ReaderFlushes => {}
                    _ if has_output => return true,
                    _ => {}
                }
                if state.connection.is_closed() {
                    return has_output;
                }
                writable = self.writable.listen();
            }
            writable.await;
        }
    }

    /// Hands the remaining output to the writer and wakes it.
    ///
    /// Call this if the input thread cannot finish writing the output that its input caused.
    pub fn flush_elsewhere(&self) {
        self.lock().phase.writer_flushes();
        self.writable.notify(usize::MAX);
    }

    /// Records that the output stream has failed.
    ///
    /// The thread or task that writes the output must then call [`lost_reader`](Self::lost_reader),
    /// because the peer cannot receive anything more.
    pub fn broke(&self) {
        self.lock().phase.output_broken();
        self.writable.notify(usize::MAX);
    }

    /// Ends the connection and discards its output, because the peer stopped reading (`EPIPE`).
    ///
    /// First waits up to [`LinkRole::LAST_INPUT`] for input that the peer sent earlier.
    pub async fn lost_reader(self: &Arc<Self>) {
        self.end_within(R::LAST_INPUT).await;
        loop {
            let writable;
            {
                let mut state = self.lock();
                state.connection.outbox().clear();
                if state.connection.is_closed() {
                    return;
                }
                writable = self.writable.listen();
            }
            writable.await;
        }
    }

    /// Records that the writer has finished and closed its stream.
    pub fn written(&self) {
        self.lock().phase.output_finished();
        self.room.notify(usize::MAX);
    }

    /// Ends the connection after the peer has exited or stopped reading.
    ///
    /// First waits up to `patience` for input that the peer sent earlier.
    pub async fn end_within(self: &Arc<Self>, patience: Duration) {
        if !self.wait_until(patience, |state| state.connection.is_closed()).await {
            self.handle_eof();
            self.stop();
        }
    }

    /// Waits until the connection is closed and its output has been sent.
    ///
    /// Stops waiting for the output if the peer no longer reads. Usually, this is the case after a
    /// pause of 60 ms, and the whole output must be sent within 2 s. If the client of a server has
    /// closed its side, as in `server < requests | slow`, the client may pause for
    /// `Limits::stall_timeout`, and the total time is not limited.
    pub async fn drained(&self) {
        self.closed().await;
        let closed_at = self.clock.now();
        let mut stopped_at = None;
        loop {
            let room;
            let stuck;
            {
                let mut state = self.lock();
                // No write in progress means that the writer has not run yet, not that the peer is
                // slow.
                let since = state.writing_since;
                stuck = match state.output_patience() {
                    Some(patience) => since.unwrap_or(closed_at) + patience,
                    None => {
                        let until = *stopped_at.get_or_insert_with(|| self.clock.now()) + FLUSH_MAX;
                        since.map_or(until, |since| until.min(since + WRITE_PATIENCE))
                    }
                };
                if matches!(state.phase, Phase::OutputFinished | Phase::Over)
                    || self.clock.until(stuck).is_zero()
                {
                    return;
                }
                room = self.listen_for_room(&mut state);
            }
            self.wait_for(room, stuck).await;
        }
    }

    /// Waits until the last events were dispatched and the last callbacks have run, which other
    /// threads may be doing.
    pub(crate) async fn dispatched(&self) {
        let are_over = |state: &State<R>| !state.is_dispatching && state.callbacks.may_end();
        self.wait_until(LAST_EVENTS, are_over).await;
    }

    /// Waits until the connection is closed.
    pub async fn closed(&self) {
        self.when_ending(|state| state.connection.is_closed()).await;
    }

    /// Waits until `has_ended` returns true, which only the end of the input or of the connection
    /// can change.
    async fn when_ending(&self, has_ended: impl Fn(&State<R>) -> bool) {
        // Waits for its own event: `room` fires with every message and would wake drivers in vain.
        loop {
            let ended = self.ended.listen();
            if self.inspect(&has_ended) {
                return;
            }
            ended.await;
        }
    }

    /// Ends the connection immediately, because its driver is gone, and fires all timers.
    pub(crate) fn abandon(self: &Arc<Self>) {
        self.with(|state, now| {
            state.connection.close(now);
            // Nothing drains without a driver, so every grace period expires now.
            while let Some(due) =
                state.connection.poll_timeout().filter(|_| !state.connection.is_closed())
            {
                state.connection.handle_timeout(due);
            }
        });
        let mut state = self.lock();
        state.phase = Phase::Over;
        state.connection.end_recording();
        let waiting = state.timers.take_all();
        let deadline_moved = state.deadline_moved.take();
        self.unlock(state);
        waiting.into_iter().for_each(Waker::wake);
        if let Some(moved) = deadline_moved {
            moved.notify(usize::MAX);
        }
        self.room.notify(usize::MAX);
        self.writable.notify(usize::MAX);
    }
}

impl<R: LinkRole> State<R> {
    fn output_patience(&self) -> Option<Duration> {
        let is_awaited = R::ANSWERS_AFTER_EOF && self.ending == Ending::Eof;
        is_awaited.then(|| self.connection.limits().stall_timeout)
    }
}

/// Takes all output without copying it, or copies the first part if there is much.
fn take_output(outbox: &mut Outbox, chunk: &mut Vec<u8>) {
    if outbox.len() <= WHOLE_BYTES_MAX {
        return outbox.take_all(chunk);
    }
    chunk.clear();
    outbox.mark_written(usize::MAX);
    while chunk.len() < WRITE_BYTES_MAX && outbox.has_remaining() {
        let count = outbox.chunk().len().min(WRITE_BYTES_MAX - chunk.len());
        chunk.extend_from_slice(outbox.chunk().get(..count).unwrap_or_default());
        outbox.advance(count);
    }
}

/// The most output taken in one go. Beyond it, output is taken in parts, so that waiting commands
/// see room return gradually.
const WHOLE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The maximum number of bytes in one blocking write.
///
/// A blocking write reports no progress until it returns, so writing in pieces keeps a slow peer
/// from looking stalled.
pub const WRITE_BYTES_MAX: usize = 64 * 1024;

/// How long one write may make no progress once this side has closed the connection, and how long
/// the whole flush may take.
const WRITE_PATIENCE: Duration = Duration::from_millis(60);
const FLUSH_MAX: Duration = Duration::from_secs(2);

/// How long dispatching the last events of a closed connection, and their callbacks, may take.
const LAST_EVENTS: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use futures_lite::future::block_on;

    use crate::exec::clock::Clock;
    use crate::exec::test_runtime::NullRuntime;
    use crate::server::settings::ServerSettings;

    #[test]
    fn draining_waits_for_a_writer_that_has_not_run_yet() {
        let server = ServerSettings::new("s", "1");
        let (_serving, driving) =
            server.open_at(Clock::new(), Arc::new(NullRuntime), None).unwrap();
        let link = Arc::clone(driving.link());
        link.take_input(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        link.flush_elsewhere();
        link.handle_eof();
        let sent = Arc::new(AtomicBool::new(false));
        let (writer, has_sent) = (Arc::clone(&link), Arc::clone(&sent));
        let late = thread::spawn(move || {
            // Longer than a write in progress may stall once the connection is closed.
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
