//! Tests of drivers that several runtimes share, and of their end.

use std::io;
use std::net::SocketAddr;
use std::sync::Weak;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Waker};
use std::time::Duration;

use futures_lite::future::{block_on, or};
use mcp_proto::Secret;
use mcp_proto::auth::{AuthAction, AuthLimits, RecordKey, Uri};
use mcp_proto::http::client::ExchangeId;

use super::record_use::RecordUse;
use super::state::Next;
use super::*;
use crate::auth::store::{LockedRecord, MemoryStore, Store};
use crate::box_future::BoxFuture;
use crate::exec::workers::Spawn;
use crate::http::{ByteStream, Remote};

/// A runtime that runs its tasks by hand, without IO.
#[derive(Default)]
struct ManualRuntime {
    tasks: Mutex<Vec<BoxFuture<'static, ()>>>,
    is_shut_down: bool,
}

impl ManualRuntime {
    /// Polls all tasks once.
    fn poll(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap());
        tasks.retain_mut(|task| {
            task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending()
        });
        self.tasks.lock().unwrap().append(&mut tasks);
    }

    fn end(&self) {
        let ended = std::mem::take(&mut *self.tasks.lock().unwrap());
        drop(ended);
    }
}

impl Spawn for ManualRuntime {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        if !self.is_shut_down {
            self.tasks.lock().unwrap().push(future);
        }
        Ok(())
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

impl Dial for ManualRuntime {
    fn resolve(&self, _: &str, _: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        Box::pin(async { Err(io::ErrorKind::NotFound.into()) })
    }

    fn dial(&self, _: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) })
    }
}

fn driver(store: impl Store) -> Arc<AuthDriver> {
    let auth = Auth::user("app").store(store);
    let server = Uri::parse("https://mcp.example/mcp", &AuthLimits::default()).unwrap();
    let remote = Remote::new("https://mcp.example/mcp").unwrap();
    let config = auth.config(server, None).unwrap();
    Arc::new(AuthDriver::new(auth, config, remote.network()))
}

/// Adds a member on `runtime`.
fn join(driver: &Arc<AuthDriver>, runtime: &Arc<ManualRuntime>) -> MemberId {
    let id = driver.lock().join().expect("the driver is open");
    let runtime: Arc<dyn Dial> = Arc::clone(runtime) as _;
    let remote = Remote::new("https://mcp.example/mcp").unwrap();
    let http = OAuthHttp::new(Arc::clone(&runtime), &remote, AuthLimits::default());
    let spawn = Arc::clone(&runtime) as Arc<dyn Spawn>;
    let task = DriverTask::new(Arc::clone(driver), id, DriverIo { runtime, http });
    spawn.spawn(Box::pin(task.run())).unwrap();
    id
}

/// Runs the tasks of `runtime` until `done` is ready.
fn run(runtime: &ManualRuntime, done: impl Future<Output = ()>) {
    let poll_all = async {
        loop {
            runtime.poll();
            futures_lite::future::yield_now().await;
        }
    };
    block_on(or(done, poll_all));
}

#[test]
fn a_driver_outlives_the_runtime_of_its_first_member() {
    let driver = driver(MemoryStore::new());
    let [one, two] = [(); 2].map(|()| Arc::new(ManualRuntime::default()));
    join(&driver, &one);
    join(&driver, &two);
    one.end();
    run(&two, driver.restored());
    let third = driver.lock().join();
    assert!(third.is_some(), "the driver is open");
}

#[test]
fn a_runtime_that_is_not_driven_keeps_no_other_member_waiting() {
    let driver = driver(MemoryStore::new());
    let [one, two] = [(); 2].map(|()| Arc::new(ManualRuntime::default()));
    join(&driver, &one);
    one.poll();
    join(&driver, &two);
    run(&two, driver.restored());
}

#[test]
fn a_driver_whose_task_was_never_run_is_stopped() {
    let driver = driver(MemoryStore::new());
    let runtime = Arc::new(ManualRuntime { is_shut_down: true, ..ManualRuntime::default() });
    join(&driver, &runtime);
    assert!(driver.lock().join().is_none(), "it accepts no further members");
    block_on(driver.restored());
}

#[test]
fn the_task_of_a_member_that_has_left_ends() {
    let driver = driver(MemoryStore::new());
    let [one, two] = [(); 2].map(|()| Arc::new(ManualRuntime::default()));
    let first = join(&driver, &one);
    let second = join(&driver, &two);
    run(&two, driver.restored());
    driver.leave(first);
    one.poll();
    assert!(one.tasks.lock().unwrap().is_empty());
    driver.leave(second);
    run(&two, driver.stopped());
    assert!(two.tasks.lock().unwrap().is_empty());
}

/// A store whose records use the driver when they are released.
struct Reentrant(Mutex<Weak<AuthDriver>>, Sender<()>);

struct ReentrantRecord(Weak<AuthDriver>, Sender<()>);

impl Store for Arc<Reentrant> {
    fn acquire(&self, _: &RecordKey, _: Duration) -> io::Result<Box<dyn LockedRecord>> {
        let driver = self.0.lock().unwrap().clone();
        Ok(Box::new(ReentrantRecord(driver, self.1.clone())))
    }
}

impl LockedRecord for ReentrantRecord {
    fn read(&mut self) -> io::Result<Option<Secret>> {
        Ok(None)
    }

    fn save(&mut self, _: &Secret) -> io::Result<()> {
        Ok(())
    }

    fn remove(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ReentrantRecord {
    fn drop(&mut self) {
        if let Some(driver) = self.0.upgrade() {
            driver.accepted(Generation::new(1));
        }
        let _reported = self.1.send(());
    }
}

#[test]
fn a_released_record_may_use_the_driver() {
    let (says, released) = channel();
    let store = Arc::new(Reentrant(Mutex::default(), says));
    let driver = driver(Arc::clone(&store));
    *store.0.lock().unwrap() = Arc::downgrade(&driver);
    let runtime = Arc::new(ManualRuntime::default());
    join(&driver, &runtime);
    let next = driver.lock().next();
    let Some(Next::Act(AuthAction::Acquire { id, key })) = next else { panic!() };
    let used = RecordUse::default();
    used.acquire(&*driver.auth.store, &key).unwrap();
    driver.change(|state, _| state.records.insert(id, Arc::new(used)));
    let ending = std::thread::spawn(move || runtime.end());
    assert_eq!(released.recv_timeout(Duration::from_secs(60)), Ok(()), "a record deadlocked");
    ending.join().unwrap();
}

/// A member that notes whether it was authorized.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Member for Notes {
    fn authorize(&self, credentials: &Credentials) {
        self.0.lock().unwrap().push(credentials.generation.to_string());
    }

    fn deny(&self, _: ExchangeId, reason: &str) {
        self.0.lock().unwrap().push(reason.into());
    }

    fn forget(&self, generation: Option<Generation>) {
        let generation = generation.map_or_else(|| "nothing".to_owned(), |it| it.to_string());
        self.0.lock().unwrap().push(format!("forget {generation}"));
    }
}

#[test]
fn a_driver_that_stops_delivers_what_was_decided() {
    let driver = driver(MemoryStore::new());
    let runtime = Arc::new(ManualRuntime::default());
    let id = join(&driver, &runtime);
    let member = Arc::new(Notes::default());
    driver.attach(id, Arc::clone(&member) as _);
    let credentials = Credentials::new(Generation::new(7), "Bearer a".into());
    driver.lock().queue(Next::Authorize(vec![Arc::clone(&member) as _], credentials));
    runtime.end();
    assert_eq!(*member.0.lock().unwrap(), ["generation 7"]);
}

#[test]
fn members_are_told_of_a_logout_even_without_a_valid_grant() {
    let driver = driver(MemoryStore::new());
    let id = join(&driver, &Arc::new(ManualRuntime::default()));
    let member = Arc::new(Notes::default());
    driver.attach(id, Arc::clone(&member) as _);
    let credentials = Credentials::new(Generation::new(7), "Bearer a".into());
    driver.lock().queue(Next::Authorize(vec![Arc::clone(&member) as _], credentials));
    // What was decided before is not delivered, so the member must fail its waiting requests.
    driver.forget();
    assert!(!driver.lock().next().is_some_and(|it| matches!(it, Next::Authorize(..))));
    assert_eq!(*member.0.lock().unwrap(), ["forget nothing"]);
}
