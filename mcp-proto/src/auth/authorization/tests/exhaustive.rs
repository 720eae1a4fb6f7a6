//! Every flow of every kind of client, with every failure of every action, alone and in pairs.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::failures::{FAULTS, Fault, check_records, is_end, perform_all};
use super::scenarios::{SCENARIOS, Scenario, answer};
use super::world::{Driver, World};
use crate::auth::*;

/// The ways of which pairs are tried.
const PAIRS: [(Fault, Fault); 2] =
    [(Fault::Status(404), Fault::Silent), (Fault::Silent, Fault::Status(404))];

/// More actions than any flow needs, however often it fails.
const ACTIONS_MAX: usize = 100;

/// The most time that a flow may take: people decide within 10 minutes, twice if a registration is
/// made again.
const SECONDS_MAX: u64 = 2000;

/// What a case came to.
struct Case {
    actions: usize,
    end: Result<(), Denial>,
}

fn play(scenario: &Scenario, faults: &[(usize, Fault)]) -> Case {
    let name = scenario.name;
    let mut world = (scenario.world)();
    let mut driver = Driver::new(0, &world, (scenario.config)());
    driver.prints = false;
    (scenario.start)(&mut world, &mut driver);
    let (before, start) = (world.store.clone(), world.time.unix);
    driver.prints = faults.is_empty();
    let actions = run(&mut world, &mut driver, faults);
    assert!(actions <= ACTIONS_MAX, "{name} {faults:?}: {actions} actions");
    assert!(world.time.unix - start <= SECONDS_MAX, "{name} {faults:?}");
    let mut ends: Vec<_> = driver.events.iter().filter(|event| is_end(event)).cloned().collect();
    let end = match (ends.pop(), ends.is_empty()) {
        (Some(AuthEvent::Granted { .. }), true) => Ok(()),
        (Some(AuthEvent::Denied(denial)), true) => Err(denial),
        other => panic!("{name} {faults:?}: {other:?}"),
    };
    assert!(driver.take().is_none(), "{name} {faults:?}");
    assert!(!driver.printed.contains("PLANTED"), "{name} {faults:?}: {}", driver.printed);
    check_records(&world, faults);
    if faults.iter().all(|(_, fault)| *fault != Fault::Forgets) {
        check_no_worse(&before, &world, &format!("{name} {faults:?}"));
    }
    if let Err(denial) = &end {
        let text = denial.to_string();
        assert!(!text.is_empty() && !text.contains("PLANTED"), "{text}");
    }
    Case { actions, end }
}

/// Runs a flow in which the actions with these numbers fail, until nothing is left to wait for.
fn run(world: &mut World, driver: &mut Driver, faults: &[(usize, Fault)]) -> usize {
    let mut count = 0;
    for _ in 0..100 {
        let mut asked = driver.events.len();
        loop {
            perform_all(world, driver, faults, &mut count);
            driver.collect();
            let Some(event) = driver.events.get(asked).cloned() else { break };
            asked += 1;
            answer(world, driver, &event);
        }
        if driver.events.iter().any(is_end) {
            return count;
        }
        assert!(driver.auth.poll_timeout().is_some(), "{faults:?}: a wait without a deadline");
        driver.wait_once(world);
    }
    panic!("no end: {faults:?} {:?}", driver.auth)
}

/// Asserts that no grant is gone, older, or without the refresh token it had: unless the server has
/// refused that one.
fn check_no_worse(before: &BTreeMap<String, String>, world: &World, case: &str) {
    let policy = UriPolicy::of_server(Reach::Public);
    let parse = |text: &String| {
        GrantRecord::parse(text.as_bytes(), &policy, &AuthLimits::default()).unwrap()
    };
    for (name, record) in before.iter().filter(|(name, _)| name.starts_with("grant")) {
        let Some(after) = world.store.get(name) else { panic!("{case}: the grant is gone") };
        let (before, after) = (parse(record), parse(after));
        assert!(after.generation >= before.generation, "{case}");
        let refresh = |record: &GrantRecord| {
            record.tokens.as_ref().and_then(|tokens| tokens.refresh_token.clone())
        };
        let Some(token) = refresh(&before) else { continue };
        let is_live = world.servers.iter().any(|server| server.takes(token.expose()));
        assert!(refresh(&after).is_some() || !is_live, "{case}: the refresh token is gone");
    }
}

// AUT-41, AUT-61: the promise that every wait ends exactly once, in bounded work and time.
#[test]
fn each_failure_of_each_action_of_each_flow_ends_every_wait() {
    let mut cases = 0;
    let mut denials = BTreeSet::new();
    for scenario in &SCENARIOS {
        let whole = play(scenario, &[]);
        assert_eq!(whole.end, Ok(()), "{}", scenario.name);
        for at in 0..whole.actions {
            for fault in FAULTS {
                let case = play(scenario, &[(at, fault)]);
                let name = |denial| {
                    let text = format!("{denial:?}");
                    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_string()
                };
                denials.extend(case.end.err().map(name));
                cases += 1;
            }
        }
    }
    assert!(cases >= 3700, "{cases}");
    let expected = [
        "Blocked",
        "Cancelled",
        "Closed",
        "Metadata",
        "NoListener",
        "NoMetadata",
        "NoRandomness",
        "NoSignature",
        "Registration",
        "TimedOut",
        "Token",
        "Unreachable",
    ];
    for denial in expected {
        assert!(denials.contains(denial), "{denial} is not reached");
    }
}

#[test]
fn each_pair_of_failures_of_each_flow_ends_every_wait() {
    let mut cases = 0;
    for scenario in &SCENARIOS {
        let actions = play(scenario, &[]).actions;
        for first in 0..actions {
            for second in first + 1..actions + 4 {
                for (one, other) in PAIRS {
                    play(scenario, &[(first, one), (second, other)]);
                    cases += 1;
                }
            }
        }
    }
    assert!(cases >= 4000, "{cases}");
}
