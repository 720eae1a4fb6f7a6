//! Wake-ups of the tasks that use a connection.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Weak};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use mcp_proto::Misuse;
use mcp_proto::server::Server as Machine;

use super::Link;
use crate::exec::clock::Clock;
use crate::exec::test_runtime::NullRuntime;
use crate::server::settings::ServerSettings;
use crate::transport::shutdown::DriverHandle;

fn open() -> DriverHandle<Machine> {
    ServerSettings::new("s", "1").open_at(Clock::new(), Arc::new(NullRuntime), None).unwrap().1
}

/// A waker that uses the connection, as an executor may that polls a task when it is woken.
struct Inline {
    link: Weak<Link<Machine>>,
    was_woken: AtomicBool,
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        if let Some(link) = self.link.upgrade() {
            link.inspect(|state| state.is_over());
        }
        self.was_woken.store(true, Ordering::SeqCst);
    }
}

#[test]
fn wakers_may_use_the_connection() {
    let (done, ended) = channel();
    let _joined_by_the_channel = thread::spawn(move || {
        let driving = open();
        let link = driving.link();
        let waker = || {
            let link = Arc::downgrade(link);
            Arc::new(Inline { link, was_woken: AtomicBool::new(false) })
        };
        let wakers: [Arc<Inline>; 4] = std::array::from_fn(|_| waker());
        let waits: [Pin<Box<dyn Future<Output = ()> + '_>>; 4] = [
            Box::pin(link.closed()),
            Box::pin(async { assert!(!link.has_output().await) }),
            Box::pin(link.wait_ended()),
            Box::pin(link.sleep_until(link.clock.now() + Duration::from_secs(3600))),
        ];
        let mut waits = waits;
        for (wait, waker) in waits.iter_mut().zip(&wakers) {
            let waker = Waker::from(Arc::clone(waker));
            let _pending = wait.as_mut().poll(&mut Context::from_waker(&waker));
        }
        link.handle_eof();
        drop(waits);
        assert!(wakers[0].was_woken.load(Ordering::SeqCst));
        done.send(()).unwrap();
    });
    assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(()), "a waker deadlocked");
}

/// Whether a task was woken since it was last polled.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A future and its waker; `None` once it has ended.
type Task<'t> = Option<(Pin<Box<dyn Future<Output = ()> + 't>>, Arc<Woken>)>;

/// Polls tasks until none is woken any more. Returns how many ended, and the number of polls.
fn run(tasks: &mut [Task<'_>]) -> (usize, usize) {
    let (mut ended, mut polls) = (0, 0);
    let is_woken = |task: &&mut Task<'_>| {
        task.as_ref().is_some_and(|(_, woken)| woken.0.swap(false, Ordering::SeqCst))
    };
    while let Some(task) = tasks.iter_mut().find(is_woken) {
        let Some((future, woken)) = task else { continue };
        polls += 1;
        let waker = Waker::from(Arc::clone(woken));
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            *task = None;
            ended += 1;
        }
    }
    (ended, polls)
}

#[test]
fn blocked_calls_are_woken_one_after_the_other() {
    const CALLS: usize = 200;
    let driving = open();
    let link = driving.link();
    let room = AtomicUsize::new(0);
    let start = || async {
        let take = || room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1));
        let started = link.with_room_in_turn(Duration::from_secs(3600), |_, _| {
            take().map_err(|_| Misuse::Blocked)
        });
        assert!(started.await.is_ok());
    };
    let mut tasks: Vec<Task<'_>> = (0..CALLS)
        .map(|_| Some((Box::pin(start()) as _, Arc::new(Woken(AtomicBool::new(true))))))
        .collect();
    assert_eq!(run(&mut tasks), (0, CALLS));
    // The turn of a call that is dropped goes to the next one.
    tasks[0] = None;
    let mut polls = 0;
    for _ in 1..CALLS {
        room.fetch_add(1, Ordering::SeqCst);
        link.with(|_, _| ());
        let (ended, more) = run(&mut tasks);
        assert_eq!(ended, 1);
        polls += more;
    }
    assert!(polls <= 4 * CALLS, "{polls} polls of {CALLS} calls");
}
