//! Tests of the thread pool: growth, fairness, cancellation, and that no job is lost.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use super::{IDLE, PATIENT_LOOKS, PoolState, ThreadPool};

type Pool = ThreadPool<u8, u32>;

/// A job that reports its start and then waits for the returned sender, or for its end.
fn held(pool: &Pool, lane: u8, key: u32, began: &Sender<u32>) -> Sender<()> {
    let (release, released) = channel::<()>();
    let began = began.clone();
    pool.run(
        lane,
        key,
        Box::new(move || {
            began.send(key).unwrap();
            let _released = released.recv();
        }),
    );
    release
}

fn drain(began: &Receiver<u32>, count: usize) -> Vec<u32> {
    began.iter().take(count).collect()
}

#[test]
fn growth_follows_the_work_that_waits() {
    let growth = |threads, begun_since, looks, processors| {
        let state = PoolState::<u8, u32> { threads, begun: begun_since, ..PoolState::default() };
        state.growth(0, looks, processors)
    };
    assert_eq!(growth(1, 100, 1, 4), 1, "a thread for each processor");
    assert_eq!(growth(4, 100, 1, 4), 0, "jobs begin all the time");
    assert_eq!(growth(4, 100, PATIENT_LOOKS, 4), 1, "but some have waited for long");
    assert_eq!(growth(4, 0, 1, 4), 4, "no job began: twice as many");
    assert_eq!(growth(1, 0, 1, 1), 1);
    let busy = PoolState::<u8, u32> { threads: 8, idle: 2, abandoned: 3, ..PoolState::default() };
    assert_eq!(busy.growth(0, 1, 1), 3, "as many as are busy");
}

#[test]
fn threads_are_added_while_work_waits_and_end_when_there_is_none() {
    let pool = Pool::with_processors(64, 2);
    let barrier = Arc::new(Barrier::new(64));
    let (done, all_done) = channel();
    for key in 0..64 {
        let (barrier, done) = (Arc::clone(&barrier), done.clone());
        // Ends only if all run at a time.
        pool.run(
            (key % 64) as u8,
            key,
            Box::new(move || {
                barrier.wait();
                done.send(key).unwrap();
            }),
        );
    }
    let mut ran = drain(&all_done, 64);
    ran.sort_unstable();
    assert_eq!(ran, (0..64).collect::<Vec<_>>());
    while pool.shared.lock().threads > 1 {
        std::thread::sleep(IDLE / 10);
    }
}

#[test]
fn a_busy_lane_leaves_room_for_others() {
    let pool = Pool::with_processors(8, 8);
    let (began, starts) = channel();
    let _busy: Vec<_> = (0..20).map(|key| held(&pool, 0, key, &began)).collect();
    assert_eq!(drain(&starts, 7).len(), 7);
    let _other = held(&pool, 1, 100, &began);
    assert_eq!(starts.recv().unwrap(), 100, "the last thread was kept for it");
    assert_eq!(pool.shared.lock().running.len(), 8);
}

#[test]
fn the_lane_with_the_fewest_running_jobs_is_next() {
    let pool = Pool::with_processors(2, 2);
    let (began, starts) = channel();
    let first = held(&pool, 0, 0, &began);
    let second = held(&pool, 0, 1, &began);
    assert_eq!(drain(&starts, 2).len(), 2);
    let _later: Vec<_> =
        [(0, 2), (0, 3), (1, 4)].map(|(lane, key)| held(&pool, lane, key, &began)).into();
    drop(first);
    assert_eq!(starts.recv().unwrap(), 4);
    drop(second);
    assert_eq!(starts.recv().unwrap(), 2);
}

#[test]
fn a_cancelled_job_gives_its_place_to_others() {
    let pool = Pool::with_processors(1, 1);
    let (began, starts) = channel();
    let (_stuck, _waiting) = (held(&pool, 0, 0, &began), held(&pool, 0, 1, &began));
    assert_eq!(starts.recv().unwrap(), 0);
    let withdrawn = held(&pool, 0, 2, &began);
    pool.cancel(&2);
    pool.cancel(&0);
    assert_eq!(starts.recv().unwrap(), 1);
    // As many threads again as the maximum: no further one.
    pool.cancel(&1);
    let _late = held(&pool, 0, 3, &began);
    assert!(starts.recv_timeout(Duration::from_millis(50)).is_err());
    assert!(withdrawn.send(()).is_err(), "it was dropped");
}

#[test]
fn a_panic_does_not_end_a_thread() {
    let pool = Pool::with_processors(1, 1);
    pool.run(0, 0, Box::new(|| std::panic::resume_unwind(Box::new("a job panics"))));
    let (began, starts) = channel();
    drop(held(&pool, 0, 1, &began));
    assert_eq!(starts.recv().unwrap(), 1);
}

#[test]
fn jobs_queued_when_the_pool_is_dropped_still_run() {
    let pool = Pool::with_processors(1, 1);
    let (began, starts) = channel();
    let jobs: Vec<_> = (0..3).map(|key| held(&pool, 0, key, &began)).collect();
    drop(pool);
    drop(jobs);
    assert_eq!(drain(&starts, 3), [0, 1, 2]);
}

/// Submits and cancels from several threads concurrently. Every job that is not cancelled runs
/// once.
#[test]
fn no_job_is_lost_or_runs_twice() {
    for round in 0..50 {
        let pool = Arc::new(Pool::with_processors(4, 2));
        let (done, all_done) = channel();
        std::thread::scope(|scope| {
            for submitter in 0..4_u32 {
                let (pool, done) = (Arc::clone(&pool), done.clone());
                scope.spawn(move || {
                    for n in 0..100 {
                        let (key, done) = (submitter * 1000 + n, done.clone());
                        let job = move || {
                            if (key + round).is_multiple_of(17) {
                                std::thread::sleep(Duration::from_micros(300));
                            }
                            done.send(key).unwrap();
                        };
                        pool.run((key % 3) as u8, key, Box::new(job));
                    }
                });
            }
        });
        drop(done);
        let mut ran: Vec<_> = all_done.iter().collect();
        ran.sort_unstable();
        let expected: Vec<_> =
            (0..4).flat_map(|submitter| (0..100).map(move |n| submitter * 1000 + n)).collect();
        assert_eq!(ran, expected, "round {round}");
    }
}
