//! Every action of a whole flow fails in every way, alone and in pairs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::world::{Driver, World, user};
use crate::auth::*;

/// A way to fail; each applies to the actions that can fail in that way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    Unreached,
    CutHead,
    CutBody,
    Blocked,
    Status(u16),
    Html,
    WrongType,
    TooLong,
    Silent,
    Twice,
    Damaged,
    Locked,
    Unavailable,
    Closes,
    Forgets,
}

pub(super) const FAULTS: [Fault; 20] = [
    Fault::Unreached,
    Fault::CutHead,
    Fault::CutBody,
    Fault::Blocked,
    Fault::Status(200),
    Fault::Status(302),
    Fault::Status(400),
    Fault::Status(404),
    Fault::Status(429),
    Fault::Status(500),
    Fault::Html,
    Fault::WrongType,
    Fault::TooLong,
    Fault::Silent,
    Fault::Twice,
    Fault::Damaged,
    Fault::Locked,
    Fault::Unavailable,
    Fault::Closes,
    Fault::Forgets,
];

/// The ways of which pairs are tried.
const PAIRS: [Fault; 4] = [Fault::CutBody, Fault::Status(404), Fault::Silent, Fault::Forgets];

/// Lets an action fail. Returns false if this action cannot fail in this way.
pub(super) fn fail(
    driver: &mut Driver,
    world: &mut World,
    action: &AuthAction,
    fault: Fault,
) -> bool {
    let time = world.time;
    match (action, fault) {
        (_, Fault::Closes) => {
            driver.auth.close(time);
            return false;
        }
        (_, Fault::Forgets) => driver.auth.forget(time, Forget::All),
        (AuthAction::Release { .. } | AuthAction::Unlisten | AuthAction::Abort(_), _) => {
            return false;
        }
        // A store that does not answer is released by the machine.
        (_, Fault::Silent) => {}
        (AuthAction::Fetch(fetch), fault) => return fail_fetch(driver, world, fetch, fault),
        (AuthAction::Acquire { id, key }, Fault::Damaged) => {
            world.hold(driver.id, *id, key);
            driver.auth.handle_store(time, *id, Ok(Some(b"{\"version\":1,\xff")));
        }
        (AuthAction::Acquire { id, .. } | AuthAction::Save { id, .. }, fault) => {
            let failure = match fault {
                Fault::Locked => StoreFailure::Locked,
                Fault::Unavailable => StoreFailure::Unavailable,
                _ => return false,
            };
            driver.auth.handle_store(time, *id, Err(failure));
        }
        (AuthAction::Listen { .. }, Fault::Unreached) => {
            driver.auth.handle_listening(time, None);
        }
        (AuthAction::Show { url, issuer, .. }, Fault::Twice) => {
            let query = world.authorize(issuer, url.expose());
            driver.auth.handle_redirect(time, &query);
            driver.auth.handle_redirect(time, &query);
        }
        (AuthAction::Show { .. }, Fault::Html) => {
            driver.auth.handle_redirect(time, "<html>&code=%zz");
            return false;
        }
        _ => return false,
    }
    true
}

fn fail_fetch(driver: &mut Driver, world: &mut World, fetch: &Fetch, fault: Fault) -> bool {
    let (time, id) = (world.time, fetch.id);
    match fault {
        Fault::Unreached => driver.auth.handle_failure(time, id, FetchFailure::Unreached),
        Fault::Blocked => driver.auth.handle_failure(time, id, FetchFailure::Blocked),
        Fault::CutHead => driver.auth.handle_failure(time, id, FetchFailure::Cut),
        Fault::CutBody => {
            let (status, body) = world.answer(fetch);
            driver.auth.handle_head(time, id, status, &[("x", "y")]);
            driver.auth.handle_body(time, id, &body.as_bytes()[..body.len() / 2]);
            driver.auth.handle_failure(time, id, FetchFailure::Cut);
        }
        Fault::Status(status) => driver.respond(world, id, status, ""),
        Fault::Html => driver.respond(world, id, 200, "<html>PLANTED</html>"),
        Fault::WrongType => {
            let body = r#"{"issuer":1,"resource":[],"access_token":{},"client_id":0}"#;
            driver.respond(world, id, 200, body);
        }
        Fault::TooLong => driver.respond(world, id, 200, &"x".repeat(300 << 10)),
        Fault::Twice => {
            let (status, body) = world.answer(fetch);
            driver.respond(world, id, status, &body);
            driver.respond(world, id, status, &body);
        }
        _ => return false,
    }
    true
}

/// Performs the actions that are due; those with these numbers fail. `count` counts all actions.
pub(super) fn perform_all(
    world: &mut World,
    driver: &mut Driver,
    faults: &[(usize, Fault)],
    count: &mut usize,
) {
    while let Some(action) = driver.take() {
        let fault = faults.iter().find(|(at, _)| at == count);
        *count += 1;
        let releases = matches!(action, AuthAction::Release { .. } | AuthAction::Unlisten);
        let failed = fault.is_some_and(|(_, fault)| fail(driver, world, &action, *fault));
        if releases || !failed {
            driver.perform(world, action);
        } else if let AuthAction::Listen { .. } = action {
            driver.listening = fault.is_some_and(|(_, fault)| *fault != Fault::Unreached);
        }
        driver.unlock(world);
    }
}

/// Runs a flow in which the actions with these numbers fail, until nothing is left to wait for.
fn run(world: &mut World, driver: &mut Driver, faults: &[(usize, Fault)]) -> usize {
    let mut count = 0;
    for _ in 0..200 {
        perform_all(world, driver, faults, &mut count);
        driver.collect();
        let waits = driver.events.iter().all(|event| !is_end(event));
        if !waits || driver.auth.poll_timeout().is_none() {
            return count;
        }
        driver.wait_once(world);
    }
    panic!("no end: {faults:?} {:?}", driver.auth)
}

pub(super) fn is_end(event: &AuthEvent) -> bool {
    matches!(event, AuthEvent::Granted { .. } | AuthEvent::Denied(_))
}

/// Asserts what holds after every flow, whatever failed.
fn check(world: &World, driver: &mut Driver, faults: &[(usize, Fault)]) {
    let ends: Vec<_> = driver.events.iter().filter(|event| is_end(event)).collect();
    assert_eq!(ends.len(), 1, "{faults:?}: {ends:?}");
    assert!(driver.take().is_none(), "{faults:?}");
    assert!(!driver.printed.contains("PLANTED"), "{faults:?}: {}", driver.printed);
    check_records(world, faults);
}

/// Asserts that every stored record can be read.
pub(super) fn check_records(world: &World, faults: &[(usize, Fault)]) {
    let policy = UriPolicy::of_server(Reach::Public);
    for (name, record) in &world.store {
        let (bytes, limits) = (record.as_bytes(), AuthLimits::default());
        let is_readable = match name.starts_with("grant") {
            true => GrantRecord::parse(bytes, &policy, &limits).is_ok(),
            false => ClientRecord::parse(bytes, &limits).is_ok(),
        };
        assert!(is_readable, "{faults:?}: {name} {record}");
    }
}

fn flow(world: &mut World, faults: &[(usize, Fault)]) -> (Driver, usize) {
    // A process before this one has freed its locks.
    world.crash(0);
    let mut driver = Driver::new(0, world, user());
    driver.prints = faults.len() < 2;
    assert_eq!(driver.reject(world, 401, &[]), Verdict::Wait);
    let count = run(world, &mut driver, faults);
    check(world, &mut driver, faults);
    (driver, count)
}

// AUT-34, and the promise that every wait ends exactly once.
#[test]
fn each_failure_of_each_action_ends_every_wait() {
    let (_, actions) = flow(&mut World::new(), &[]);
    assert!(actions > 15, "{actions}");
    for at in 0..actions {
        for fault in FAULTS {
            let mut world = World::new();
            flow(&mut world, &[(at, fault)]);
            world.assert_innocent();
            // Nothing of it spoils the next attempt.
            world.pass(61);
            let (next, _) = flow(&mut world, &[]);
            assert!(next.auth.credentials().is_some(), "{at} {fault:?}");
        }
    }
}

#[test]
fn each_pair_of_failures_ends_every_wait() {
    let (_, actions) = flow(&mut World::new(), &[]);
    for first in 0..actions {
        for second in first + 1..actions + 4 {
            for one in PAIRS {
                for other in PAIRS {
                    flow(&mut World::new(), &[(first, one), (second, other)]);
                }
            }
        }
    }
}

// A refresh after a 401: the stored record is never worse than before.
#[test]
fn each_failure_of_a_refresh_keeps_a_usable_record() {
    let mut actions = 1;
    let mut at = 0;
    while at < actions {
        for fault in FAULTS {
            let mut world = World::new();
            let (mut driver, _) = flow(&mut world, &[]);
            driver.accept();
            driver.events.clear();
            assert_eq!(driver.reject(&world, 401, &[]), Verdict::Wait);
            let faults = [(at, fault)];
            let count = run(&mut world, &mut driver, &faults);
            if fault == Fault::Html {
                actions = actions.max(count);
            }
            check(&world, &mut driver, &faults);
            // A lost answer costs the refresh token, since the server cannot know; nothing else
            // does.
            let lost = matches!(fault, Fault::CutBody);
            let unsaved = matches!(fault, Fault::Unavailable | Fault::Locked | Fault::Silent);
            let forgets = fault == Fault::Forgets;
            let asked = world.auth_server().count("authorize");
            drop(driver);
            world.pass(4000);
            flow(&mut world, &[]);
            let asks = world.auth_server().count("authorize") - asked;
            assert!(asks == 0 || lost || unsaved || forgets, "{at} {fault:?}");
        }
        at += 1;
    }
    assert!(actions > 6);
}

#[test]
fn the_printed_output_is_not_empty() {
    let mut world = World::new();
    let (driver, _) = flow(&mut world, &[]);
    for shown in ["Fetch", "Show", "Acquire", "Granted", "Authorization", "Secret("] {
        assert!(driver.printed.contains(shown), "{shown}");
    }
    let stored: String = world.store.values().map(|record| format!("{record}\n")).collect();
    assert!(stored.contains("PLANTED"), "the secrets were there to be found");
}
