//! One run: workers that share a few connections, for a given time.

use mcp_adapter::proto::schema::Elicit;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mcp_adapter::proto::schema::ElicitResult;
use mcp_adapter::proto::{Filter, Revision, Violation, ViolationKind};
use mcp_adapter::{Client, ClientCx, Connection, Recovery, Subscription};
use mcp_adapter_tests::{raw, timer};
use serde_json::json;
use smol::future::or;

use crate::cell::{Servers, StressRuntime, Transport, serving};
use crate::operation::{Operation, has_ended};
use crate::random::Random;
use crate::server::{NOTE, running};
use crate::watchdog::Watchdog;

const WORKERS: usize = 12;
const SEATS: usize = 4;

/// The maximum number of subscriptions kept for a connection.
const KEPT_MAX: usize = 3;

/// How long servers, handlers and tasks may take to end after the last connection.
const PATIENCE: Duration = Duration::from_secs(15);

/// A connection that workers share and replace.
#[derive(Debug)]
struct Seat {
    handle: Mutex<Arc<Connection>>,
    /// Subscriptions that outlive the connection.
    kept: Mutex<Vec<Subscription>>,
    /// Held while the connection is replaced.
    replacing: smol::lock::Mutex<()>,
}

#[derive(Debug)]
struct World {
    servers: Servers,
    seats: Vec<Seat>,
    watchdog: Watchdog,
    until: Instant,
    next_number: AtomicU64,
    is_broken: AtomicBool,
    failures: Arc<Mutex<Vec<String>>>,
    working: AtomicUsize,
}

/// Runs until the time is over; returns the number of operations.
///
/// # Errors
/// Returns what went wrong.
pub(crate) async fn run<R: StressRuntime>(
    transport: Transport,
    duration: Duration,
    seed: u64,
    name: &str,
) -> Result<u64, String> {
    let tasks = R::tasks();
    let mut random = Random::new(seed);
    let failures = Arc::<Mutex<Vec<String>>>::default();
    let servers = Servers::start::<R>(transport);
    let watchdog = Watchdog::start(WORKERS + 1, name.to_owned());
    let mut seats = Vec::new();
    for _ in 0..SEATS {
        let _watch = watchdog.watch(WORKERS, "connects".into());
        let handle = servers.connect::<R>(client(&mut random, &failures)).await;
        let handle = Mutex::new(Arc::new(handle.map_err(|error| format!("{error:?}"))?));
        seats.push(Seat {
            handle,
            kept: Mutex::default(),
            replacing: smol::lock::Mutex::default(),
        });
    }
    let world = Arc::new(World {
        servers,
        seats,
        watchdog,
        until: Instant::now() + duration,
        next_number: AtomicU64::new(0),
        is_broken: AtomicBool::new(false),
        failures,
        working: AtomicUsize::new(WORKERS),
    });
    for worker in 0..WORKERS {
        let (world, random) = (Arc::clone(&world), Random::new(random.next()));
        R::run(async move {
            world.work::<R>(worker, random).await;
            world.working.fetch_sub(1, Ordering::SeqCst);
        });
    }
    // The watchdog ends the process if a worker does not return.
    while world.working.load(Ordering::SeqCst) > 0 {
        timer(Duration::from_millis(5)).await;
    }
    world.end().await;
    let count = world.next_number.load(Ordering::SeqCst);
    let failures = std::mem::take(&mut *lock(&world.failures));
    while Arc::strong_count(&world) > 1 {
        timer(Duration::from_millis(1)).await;
    }
    let Some(World { servers, seats, .. }) = Arc::into_inner(world) else {
        return Err("a worker continues".into());
    };
    drop(seats);
    if let Some(first) = failures.first() {
        return Err(format!("{} failures; the first: {first}", failures.len()));
    }
    let began = Instant::now();
    while running() + serving() > 0 || R::tasks() > tasks {
        if began.elapsed() > PATIENCE {
            let (running, serving, now) = (running(), serving(), R::tasks());
            return Err(format!(
                "left over: {running} handlers, {serving} servers, {now} tasks instead of {tasks}"
            ));
        }
        timer(Duration::from_millis(5)).await;
    }
    // On another thread: it waits for the end of its server.
    smol::unblock(move || drop(servers)).await;
    Ok(count)
}

impl Seat {
    /// Subscribes, and keeps the subscription.
    async fn keep(&self, handle: &Connection) -> Result<(), String> {
        match handle.subscribe(&Filter::new().resource(NOTE)).await {
            Ok(subscription) => {
                let mut kept = lock(&self.kept);
                kept.push(subscription);
                let forgotten = (kept.len() > KEPT_MAX).then(|| kept.remove(0));
                drop(kept);
                drop(forgotten);
                Ok(())
            }
            Err(error) if has_ended(handle, &error).await => Ok(()),
            Err(error) => Err(format!("{error:?}")),
        }
    }
}

impl World {
    async fn work<R: StressRuntime>(&self, worker: usize, mut random: Random) {
        while Instant::now() < self.until && !self.is_broken.load(Ordering::SeqCst) {
            let place = random.below(SEATS);
            let operation = Operation::draw(&mut random);
            let what = format!("{operation:?} on connection {place}");
            let watch = self.watchdog.watch(worker, what.clone());
            let outcome = self.act::<R>(operation, &self.seats[place], &mut random).await;
            drop(watch);
            if let Err(why) = outcome {
                self.is_broken.store(true, Ordering::SeqCst);
                lock(&self.failures).push(format!("{what}: {why}"));
            }
        }
    }

    async fn act<R: StressRuntime>(
        &self,
        operation: Operation,
        seat: &Seat,
        random: &mut Random,
    ) -> Result<(), String> {
        let number = self.next_number.fetch_add(1, Ordering::SeqCst);
        let handle = Arc::clone(&lock(&seat.handle));
        match operation {
            Operation::Keep => return seat.keep(&handle).await,
            Operation::Forget => {
                let forgotten = lock(&seat.kept).pop();
                drop(forgotten);
                return Ok(());
            }
            Operation::DropConnect => {
                let client = client(random, &self.failures);
                let connecting = async { self.servers.connect::<R>(client).await.map(drop) };
                let late = async {
                    timer(Duration::from_micros(number % 7 * 500)).await;
                    Ok(())
                };
                return or(connecting, late).await.map_err(|error| format!("{error:?}"));
            }
            Operation::Exit | Operation::Reconnect | Operation::Close | Operation::Abandon => {}
            _ if handle.close_reason().is_some() => {
                // The server has exited, or another worker replaces the connection.
                return self.replace::<R>(Operation::Reconnect, seat, &handle, random).await;
            }
            _ => return operation.run(&handle, number, random).await,
        }
        self.replace::<R>(operation, seat, &handle, random).await
    }

    /// Ends the connection in the way of the operation, and opens another one.
    async fn replace<R: StressRuntime>(
        &self,
        operation: Operation,
        seat: &Seat,
        handle: &Arc<Connection>,
        random: &mut Random,
    ) -> Result<(), String> {
        let _replacing = seat.replacing.lock().await;
        if !Arc::ptr_eq(&lock(&seat.handle), handle) {
            return Ok(());
        }
        let opened = match operation {
            Operation::Reconnect if self.servers.can_reconnect() => handle.reconnect().await,
            Operation::Exit if self.servers.can_exit() => {
                let _lost = handle.call_tool("exit", &json!({})).await;
                handle.reconnect().await
            }
            Operation::Exit => return Ok(()),
            _ => {
                let opened = self.servers.connect::<R>(client(random, &self.failures)).await;
                if matches!(operation, Operation::Close) {
                    let connection = Connection::clone(handle);
                    connection.close().await.map_err(|error| format!("{error:?}"))?;
                }
                opened
            }
        };
        let opened = Arc::new(opened.map_err(|error| format!("{error:?}"))?);
        let replaced = std::mem::replace(&mut *lock(&seat.handle), opened);
        drop(replaced);
        Ok(())
    }

    /// Closes half of the connections; the others are dropped.
    async fn end(&self) {
        for seat in self.seats.iter().step_by(2) {
            let _watch = self.watchdog.watch(WORKERS, "closes".into());
            let connection = Connection::clone(&lock(&seat.handle));
            let _fault = connection.close().await;
        }
    }
}

/// Builds a client of either era, whose answers belong to their questions.
fn client(random: &mut Random, failures: &Arc<Mutex<Vec<String>>>) -> Client {
    let failures = Arc::clone(failures);
    let violated = move |violation: &Violation, _: &ClientCx| {
        // A server process that exits may be writing.
        if violation.kind != ViolationKind::Truncated {
            lock(&failures).push(format!("a violation: {violation}"));
        }
    };
    // The workers replace the connections whose servers exit.
    let client = Client::new("stress", "1.0.0")
        .recovery(Recovery::off())
        .on_notification(|_, _, _| {})
        .on_violation(violated);
    let answer = |number: &str| ElicitResult::accept(raw(&json!({"number": number})));
    let client = match random.below(2) {
        0 => client.on_elicitation(move |form: Elicit| answer(&form.message)),
        _ => client.on_elicitation(move |form: Elicit| async move {
            timer(Duration::from_micros(100)).await;
            answer(&form.message)
        }),
    };
    match random.below(3) {
        0 => client.revisions(&Revision::LEGACY),
        1 => client.revisions(&[Revision::V2026_07_28]),
        _ => client,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
