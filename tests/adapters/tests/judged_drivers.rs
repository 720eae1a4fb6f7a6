//! The event loops of the adapters, judged by the kit for drivers.
//!
//! | test | loop | timers | checked |
//! |---|---|---|---|
//! | `shared` | that of tokio and smol | virtual | everything |
//! | `tokio` | that of tokio | tokio's, paused | everything but a deadline that is too early |
//! | `smol` | that of smol | real | everything but a deadline that is too early |
//! | `blocking` | threads | real | what holds once all threads wait |

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::Future;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant as RealInstant};

use mcp_adapter::io::{AsyncRead, AsyncWrite};
use mcp_adapter::on_runtime::{JudgedConnection, open_judged};
use mcp_adapter::proto::testing::{
    Driver, DriverFault, DriverMachine, DriverReport, DriverStream, DriverWait, WakeReason,
    check_driver,
};
use mcp_adapter::proto::{Endpoint as _, Instant, server};
use mcp_adapter::{DriverHandle, Runtime, Server, Streams};
use mcp_blocking::Threads;
use mcp_smol::Smol;
use mcp_tokio::Tokio;
use smol::future::{block_on, yield_now};
use tokio::io::ReadBuf;

/// How long a real timer or thread may take.
const PATIENCE: Duration = Duration::from_secs(20);

type Handle = DriverHandle<server::Server>;

fn open<R: Runtime>() -> (JudgedConnection, Handle) {
    let about = "a description that is long enough for a few responses to fill the outbox";
    let server = Server::new("judged", "1").tool("wait", about, || ());
    open_judged(&server, R::current().unwrap()).unwrap()
}

/// The stream of a driver, and the tasks and threads that wait for it.
#[derive(Clone, Default)]
struct Shared(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    stream: DriverStream,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Whether a byte is lost: proof that the test can fail.
    loses_input: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap()
    }

    /// Wakes what waits for this reason.
    fn wake(&self, reason: WakeReason) {
        let waiting = match reason {
            WakeReason::Input => self.lock().reader.take(),
            WakeReason::Output => self.lock().writer.take(),
            _ => None,
        };
        waiting.into_iter().for_each(Waker::wake);
        self.0.1.notify_all();
    }

    /// Returns what waits for the stream.
    fn wait(&self, deadline: Option<Instant>) -> DriverWait {
        let state = self.lock();
        DriverWait { input: state.reader.is_some(), output: state.writer.is_some(), deadline }
    }

    fn read_into(&self, context: &Context<'_>, buffer: &mut [u8]) -> Poll<usize> {
        let state = &mut *self.lock();
        state.reader = None;
        match state.stream.read(buffer) {
            Some(count) if state.loses_input && count > 100 => Poll::Ready(count - 1),
            Some(count) => Poll::Ready(count),
            None => {
                state.reader = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    fn write_from(&self, context: &Context<'_>, bytes: &[u8]) -> Poll<usize> {
        let state = &mut *self.lock();
        state.writer = None;
        match state.stream.write(bytes) {
            Some(count) => Poll::Ready(count),
            None => {
                state.writer = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl AsyncRead for Shared {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.read_into(context, buffer).map(Ok)
    }
}

impl AsyncWrite for Shared {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write_from(context, bytes).map(Ok)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl tokio::io::AsyncRead for Shared {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.read_into(context, buffer.initialize_unfilled());
        read.map(|count| {
            buffer.advance(count);
            Ok(())
        })
    }
}

impl tokio::io::AsyncWrite for Shared {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write_from(context, bytes).map(Ok)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A loop that is a future.
struct Polled {
    connection: JudgedConnection,
    stream: Shared,
    /// `None` once it has ended.
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    woken: Arc<Woken>,
}

/// Whether the future was woken.
struct Woken {
    is_woken: AtomicBool,
    thread: Thread,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

impl Polled {
    fn new<R: Runtime, F: Future<Output = ()> + 'static>(
        drive: impl FnOnce(Handle, Shared) -> F,
    ) -> Self {
        let (connection, driving) = open::<R>();
        let stream = Shared::default();
        let future = Some(Box::pin(drive(driving, stream.clone())) as _);
        let woken = Woken { is_woken: AtomicBool::new(true), thread: thread::current() };
        Self { connection, stream, future, woken: Arc::new(woken) }
    }

    /// Polls the future until it waits.
    fn run(&mut self) {
        let waker = Waker::from(Arc::clone(&self.woken));
        while self.woken.is_woken.swap(false, Ordering::SeqCst) {
            let Some(future) = &mut self.future else { return };
            if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                self.future = None;
            }
        }
    }

    fn visit<T>(&self, visit: impl FnOnce(&mut DriverMachine, &mut DriverStream) -> T) -> T {
        self.connection.visit(|machine| visit(machine, &mut self.stream.lock().stream)).unwrap()
    }

    fn is_settled(&self) -> bool {
        let wait = self.wait();
        self.visit(|machine, stream| machine.is_settled(stream, wait))
    }

    /// Returns what the loop waits for, with the machine's deadline: timers of a runtime cannot be
    /// queried.
    fn wait(&self) -> DriverWait {
        self.stream.wait(self.visit(|machine, _| machine.poll_timeout()))
    }
}

/// The shared loop with timers in virtual time.
struct WithVirtualTime {
    polled: Polled,
    timers: Timers,
}

#[derive(Clone, Default)]
struct Timers(Arc<Mutex<TimerState>>);

#[derive(Default)]
struct TimerState {
    now: Instant,
    next_id: u64,
    waiting: Vec<(u64, Instant, Waker)>,
    /// Whether the timers never fire: proof that the test can fail.
    is_stopped: bool,
}

struct Sleep {
    timers: Timers,
    id: u64,
    at: Instant,
}

impl Timers {
    fn sleep(&self, duration: Duration) -> Sleep {
        let mut state = self.0.lock().unwrap();
        state.next_id += 1;
        Sleep { timers: self.clone(), id: state.next_id, at: state.now + duration }
    }

    fn advance_to(&self, now: Instant) {
        let mut state = self.0.lock().unwrap();
        state.now = now;
        let due = state.waiting.iter().filter(|(_, at, _)| *at <= now);
        due.for_each(|(_, _, waker)| waker.wake_by_ref());
    }

    fn next(&self) -> Option<Instant> {
        self.0.lock().unwrap().waiting.iter().map(|(_, at, _)| *at).min()
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.timers.0.lock().unwrap();
        state.waiting.retain(|(id, ..)| *id != self.id);
        if state.is_stopped {
            return Poll::Pending;
        }
        if state.now >= self.at {
            return Poll::Ready(());
        }
        state.waiting.push((self.id, self.at, context.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.timers.0.lock().unwrap().waiting.retain(|(id, ..)| *id != self.id);
    }
}

impl WithVirtualTime {
    fn new() -> Self {
        let timers = Timers::default();
        let clock = timers.clone();
        let polled = Polled::new::<Smol, _>(|driving, stream| {
            let sleep = move |duration| clock.sleep(duration);
            mcp_adapter::drive(driving, stream.clone(), stream, sleep, yield_now)
        });
        Self { polled, timers }
    }
}

impl Driver for WithVirtualTime {
    fn wake(&mut self, now: Instant, reason: WakeReason) -> DriverWait {
        self.polled.connection.advance_clock(now);
        self.timers.advance_to(now);
        self.polled.stream.wake(reason);
        self.polled.run();
        self.polled.stream.wait(self.timers.next())
    }

    fn visit<T>(&mut self, visit: impl FnOnce(&mut DriverMachine, &mut DriverStream) -> T) -> T {
        self.polled.visit(visit)
    }
}

#[test]
fn the_shared_loop_passes() {
    check_driver(WithVirtualTime::new()).unwrap();
}

#[test]
fn bugs_around_the_shared_loop_are_found() {
    let fault = |driver| check_driver(driver).map_err(|DriverReport { fault, .. }| fault);
    let driver = WithVirtualTime::new();
    driver.timers.0.lock().unwrap().is_stopped = true;
    assert_eq!(fault(driver), Err(DriverFault::IgnoredDeadline));
    let driver = WithVirtualTime::new();
    driver.polled.stream.lock().loses_input = true;
    assert_eq!(fault(driver), Err(DriverFault::LostInput));
}

/// The loop of `mcp-tokio`, on a runtime whose clock is paused.
struct OnTokio {
    polled: Polled,
    runtime: tokio::runtime::Runtime,
    now: Instant,
}

impl Driver for OnTokio {
    fn wake(&mut self, now: Instant, reason: WakeReason) -> DriverWait {
        let Self { polled, runtime, now: before } = self;
        polled.connection.advance_clock(now);
        let passed = now.duration_since(std::mem::replace(before, now));
        runtime.block_on(async {
            if !passed.is_zero() {
                tokio::time::advance(passed).await;
            }
            polled.stream.wake(reason);
            // A yield of the loop ends once the runtime has polled everything else.
            for _ in 0..YIELDS {
                polled.run();
                tokio::task::yield_now().await;
            }
        });
        polled.wait()
    }

    fn visit<T>(&mut self, visit: impl FnOnce(&mut DriverMachine, &mut DriverStream) -> T) -> T {
        self.polled.visit(visit)
    }
}

/// Passes of the runtime in one wake, more than the loop needs.
const YIELDS: usize = 16;

#[test]
fn tokio_passes() {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    let entered = runtime.enter();
    let polled = Polled::new::<Tokio, _>(|driving, stream| async move {
        Tokio::drive(driving, stream.clone(), stream).await.unwrap();
    });
    drop(entered);
    check_driver(OnTokio { polled, runtime, now: Instant::ZERO }).unwrap();
}

/// The loop of `mcp-smol`. The timers of async-io are real.
struct OnSmol(Polled);

impl Driver for OnSmol {
    fn wake(&mut self, now: Instant, reason: WakeReason) -> DriverWait {
        let Self(polled) = self;
        polled.connection.advance_clock(now);
        polled.stream.wake(reason);
        polled.run();
        let began = RealInstant::now();
        while !polled.is_settled() && began.elapsed() < PATIENCE {
            thread::park_timeout(PATIENCE);
            polled.run();
        }
        polled.wait()
    }

    fn visit<T>(&mut self, visit: impl FnOnce(&mut DriverMachine, &mut DriverStream) -> T) -> T {
        self.0.visit(visit)
    }
}

#[test]
fn smol_passes() {
    let polled = Polled::new::<Smol, _>(|driving, stream| async move {
        Smol::drive(driving, stream.clone(), stream).await.unwrap();
    });
    check_driver(OnSmol(polled)).unwrap();
}

impl Shared {
    /// Blocks until `attempt` succeeds. Until then, `waiting` holds a waker.
    fn block<T>(
        &self,
        waiting: fn(&mut State) -> &mut Option<Waker>,
        mut attempt: impl FnMut(&mut DriverStream) -> Option<T>,
    ) -> T {
        let mut state = self.lock();
        loop {
            if let Some(done) = attempt(&mut state.stream) {
                *waiting(&mut state) = None;
                return done;
            }
            *waiting(&mut state) = Some(Waker::noop().clone());
            state = self.0.1.wait(state).unwrap();
        }
    }
}

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.block(|state| &mut state.reader, |stream| stream.read(buffer)))
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.block(|state| &mut state.writer, |stream| stream.write(bytes)))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The threads of `mcp-blocking`. Their timers are real.
struct OnThreads {
    connection: JudgedConnection,
    stream: Shared,
}

impl OnThreads {
    fn start() -> (Self, JoinHandle<()>) {
        let (connection, driving) = open::<Threads>();
        let stream = Shared::default();
        let (reader, writer) = (stream.clone(), stream.clone());
        let run = || block_on(Threads::drive(driving, reader, writer)).unwrap();
        (Self { connection, stream }, thread::spawn(run))
    }
}

impl Driver for OnThreads {
    fn wake(&mut self, now: Instant, _: WakeReason) -> DriverWait {
        self.connection.advance_clock(now);
        self.stream.0.1.notify_all();
        let began = RealInstant::now();
        loop {
            let settled = self.connection.visit(|machine| {
                let wait = self.stream.wait(machine.poll_timeout());
                (wait, machine.is_settled(&self.stream.lock().stream, wait))
            });
            let (wait, is_settled) = settled.unwrap();
            if is_settled || began.elapsed() > PATIENCE {
                return wait;
            }
            thread::yield_now();
        }
    }

    fn visit<T>(&mut self, visit: impl FnOnce(&mut DriverMachine, &mut DriverStream) -> T) -> T {
        self.connection.visit(|machine| visit(machine, &mut self.stream.lock().stream)).unwrap()
    }
}

#[test]
fn blocking_passes() {
    let (driver, threads) = OnThreads::start();
    check_driver(driver).unwrap();
    threads.join().unwrap();
}
