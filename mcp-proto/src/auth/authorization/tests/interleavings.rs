//! Two processes on one store: every order of their actions with up to three changes between them.
//!
//! Each process acts until it is interrupted or has nothing to do. The interruptions are tried at
//! every action, so that every order with so few changes occurs, over the whole length of the run.

use alloc::format;
use alloc::vec::Vec;

use super::world::{Driver, World, user};
use crate::auth::*;

/// The longest run, in actions of both processes.
const ACTIONS_MAX: usize = 60;

/// What a process does beside the other one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Task {
    /// Its request is rejected.
    Refresh,
    /// Its token is renewed in time; nothing waits.
    Renew,
    /// Its request needs more scopes.
    StepUp,
    /// It starts, and finds the stored grant.
    Start,
    /// It signs out.
    Forget,
}

const PAIRS: [(Task, Task, usize); 7] = [
    (Task::Refresh, Task::Refresh, 3),
    (Task::Renew, Task::Renew, 3),
    (Task::Refresh, Task::Renew, 2),
    (Task::Refresh, Task::StepUp, 2),
    (Task::StepUp, Task::StepUp, 2),
    (Task::Start, Task::Refresh, 2),
    (Task::Forget, Task::Refresh, 2),
];

/// Returns a process that has started its task.
fn begin(world: &mut World, id: usize, task: Task) -> Driver {
    let mut driver = Driver::new(id, world, user());
    driver.prints = false;
    if task != Task::Start {
        driver.sign_in(world);
        driver.accept();
        assert_eq!(driver.ends(), [Ok(())]);
    }
    driver
}

fn start(world: &World, driver: &mut Driver, task: Task) {
    let more = [("error", "insufficient_scope"), ("scope", "b")];
    match task {
        Task::Refresh | Task::Start => {
            assert_eq!(driver.reject(world, 401, &[]), Verdict::Wait);
        }
        Task::Renew => driver.auth.handle_timeout(world.time),
        Task::StepUp => assert_eq!(driver.reject(world, 403, &more), Verdict::Wait),
        Task::Forget => driver.auth.forget(world.time, Forget::Tokens),
    }
}

/// Runs both processes to their end, with changes before the actions with these numbers.
///
/// Returns the number of actions.
fn run(world: &mut World, drivers: &mut [Driver; 2], first: usize, changes: &[usize]) -> usize {
    let mut current = first;
    for count in 0..ACTIONS_MAX {
        if changes.contains(&count) {
            current = 1 - current;
        }
        let mut acts = |driver: &mut Driver| {
            driver.unlock(world);
            let action = driver.take();
            action.map(|action| driver.perform(world, action)).is_some()
        };
        if !acts(&mut drivers[current]) {
            current = 1 - current;
            if !acts(&mut drivers[current]) {
                drivers.iter_mut().for_each(Driver::collect);
                return count;
            }
        }
    }
    panic!("no end: {drivers:?}", drivers = drivers.each_ref().map(|driver| &driver.auth))
}

fn play(tasks: [Task; 2], first: usize, changes: &[usize]) -> usize {
    let case = format!("{tasks:?}, {first} first, changes at {changes:?}");
    let mut world = World::new();
    let mut drivers = [0, 1].map(|id| begin(&mut world, id, tasks[id]));
    if tasks.contains(&Task::Renew) {
        world.pass(3300);
    }
    for (driver, task) in drivers.iter_mut().zip(tasks) {
        start(&world, driver, task);
    }
    let actions = run(&mut world, &mut drivers, first, changes);
    // AUT-60: no refresh token is used twice, and no code for another client.
    world.assert_innocent();
    for (driver, task) in drivers.iter_mut().zip(tasks) {
        let ends = driver.ends();
        if task == Task::Forget {
            assert_eq!((ends.len(), driver.token()), (0, None), "{case}");
            continue;
        }
        let expected = if task == Task::Renew { ends.len().min(1) } else { 1 };
        assert!(ends.iter().all(Result::is_ok), "{case}: {ends:?}");
        assert_eq!(ends.len(), expected, "{case}");
        let token = driver.token().unwrap_or_else(|| panic!("{case}: no token"));
        assert!(world.auth_server().tokens.contains_key(&token), "{case}");
    }
    if !tasks.contains(&Task::Forget) {
        check_stored(&mut world, &case);
    }
    actions
}

/// Asserts that the stored grant can be renewed.
fn check_stored(world: &mut World, case: &str) {
    let policy = UriPolicy::of_server(Reach::Public);
    let stored: Vec<_> = world.store.iter().filter(|(key, _)| key.starts_with("grant")).collect();
    let [(_, record)] = stored[..] else { panic!("{case}: {stored:?}") };
    let record = GrantRecord::parse(record.as_bytes(), &policy, &AuthLimits::default()).unwrap();
    let refresh = record.tokens.and_then(|tokens| tokens.refresh_token);
    let refresh = refresh.unwrap_or_else(|| panic!("{case}: the refresh token is lost"));
    assert!(world.auth_server().takes(refresh.expose()), "{case}: a used token is stored");
}

/// Returns the lists of up to `max` increasing numbers from `least` and below `end`.
fn lists(least: usize, end: usize, max: usize) -> Vec<Vec<usize>> {
    let mut all = Vec::from([Vec::new()]);
    if max > 0 {
        for first in least..end {
            for mut rest in lists(first + 1, end, max - 1) {
                rest.insert(0, first);
                all.push(rest);
            }
        }
    }
    all
}

// AUT-60, A-03, A-04
#[test]
fn two_processes_lose_no_token_and_use_none_twice_in_every_order() {
    let mut cases = 0;
    for (one, other, changes_max) in PAIRS {
        let actions = play([one, other], 0, &[]);
        for changes in lists(1, actions, changes_max) {
            for first in 0..2 {
                play([one, other], first, &changes);
                cases += 1;
            }
        }
    }
    assert!(cases >= 1700, "{cases}");
}
