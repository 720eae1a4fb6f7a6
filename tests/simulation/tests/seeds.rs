//! A fixed set of worlds for every test run; the runner does longer runs.

use mcp_simulation::{AuthTally, Case, Coverage, Kind, run, run_auth, shrink};

#[test]
fn the_first_worlds_keep_all_promises() {
    let mut coverage = Coverage::default();
    for seed in 0..400 {
        if let Err(failure) = run(&Case::new(seed), &mut coverage) {
            panic!("{}", shrink(&failure));
        }
    }
    let missing = coverage.missing();
    assert!(missing.len() < 60, "what is drawn got poor: {missing:?}");
}

#[test]
fn the_first_worlds_on_http_keep_all_promises() {
    let mut coverage = Coverage::default();
    for seed in 0..150 {
        if let Err(failure) = run(&Case { kind: Kind::Http, ..Case::new(seed) }, &mut coverage) {
            panic!("{}", shrink(&failure));
        }
    }
    let missing = coverage.missing();
    assert!(missing.len() < 30, "what is drawn got poor: {missing:?}");
}

#[test]
fn the_first_authorizations_among_hostile_servers_keep_all_promises() {
    let mut tally = AuthTally::default();
    for seed in 0..250 {
        if let Err(failure) = run_auth(seed, &mut tally) {
            panic!("{failure}");
        }
    }
    for name in ["granted", "denied Blocked", "denied Redirect", "denied Token"] {
        assert!(tally.of(name) > 2, "what is drawn got poor:\n{tally}");
    }
}

/// The client gives up waiting for its subscriptions, which stay open at the server: not a leak.
#[test]
fn subscriptions_a_client_abandons_are_not_leaks() {
    if let Err(failure) = run(&Case::new(27_858), &mut Coverage::default()) {
        panic!("{}", shrink(&failure));
    }
}

/// A failure is reported as a command, which must lead to an equal world.
#[test]
fn a_case_survives_its_textual_form() {
    let words = "--seed 7 --steps 20 --without Asks,Cuts --skip 0-3,5-5";
    let mut case = Case::default();
    let all: Vec<&str> = words.split(' ').collect();
    for option in all.chunks(2) {
        case.option(option[0], option[1]).unwrap();
    }
    assert_eq!(case.to_string(), words);
    assert!(Case::default().option("--without", "Nothing").is_none());
}
