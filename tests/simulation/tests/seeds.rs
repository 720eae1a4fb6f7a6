//! A fixed set of worlds in every test run; the long runs are the runner's.

use mcp_simulation::{Case, Coverage, Kind, run, shrink};

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

/// Here a client gives up waiting for its subscriptions, which the server then has: that is no leak
/// of the server's.
#[test]
fn what_a_client_leaves_with_its_server_is_the_clients_to_end() {
    if let Err(failure) = run(&Case::new(27_858), &mut Coverage::default()) {
        panic!("{}", shrink(&failure));
    }
}

/// A failure is told by a command; the command must lead to the same world.
#[test]
fn a_case_is_what_its_words_say() {
    let words = "--seed 7 --steps 20 --without Asks,Cuts --skip 0-3,5-5";
    let mut case = Case::default();
    let all: Vec<&str> = words.split(' ').collect();
    for option in all.chunks(2) {
        case.option(option[0], option[1]).unwrap();
    }
    assert_eq!(case.to_string(), words);
    assert!(Case::default().option("--without", "Nothing").is_none());
}
