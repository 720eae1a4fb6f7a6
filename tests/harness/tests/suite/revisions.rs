//! One application, five revisions: both applications see identical events in every revision,
//! except for the differences in a table, each with its reason.
//!
//! The reference is what they see in 2025-11-25, line by line, in `revisions/*.txt`; the table is
//! in `revisions/differences.rs`. Differences that are not in the table fail, and so do entries
//! that no longer differ.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper may panic"
)]

mod application;
mod differences;
mod script;
mod wire;

use std::collections::BTreeSet;

use differences::Difference;
use mcp_harness::Seed;
use mcp_proto::{Capability, Revision, client, server};
use script::Step;
use wire::{Course, Wire};

/// A script, its log in 2025-11-25, and the differences.
struct Scenario {
    steps: &'static [Step],
    reference: &'static str,
    differences: &'static [Difference],
}

const EVERYTHING: Scenario = Scenario {
    steps: script::EVERYTHING,
    reference: include_str!("revisions/everything.txt"),
    differences: differences::EVERYTHING,
};

const SERVER_CLOSES: Scenario = Scenario {
    steps: script::SERVER_CLOSES,
    reference: include_str!("revisions/server_closes.txt"),
    differences: differences::SERVER_CLOSES,
};

/// The revisions of a side: one, or all.
type Spoken = Option<Revision>;

fn client_config(spoken: Spoken) -> client::Config {
    let config = client::Config::new("demo", "1.0.0")
        .capability(Capability::Roots)
        .capability(Capability::ElicitationForm);
    match spoken {
        Some(only) => config.revisions(&[only]),
        None => config,
    }
}

fn server_config(spoken: Spoken) -> server::Config {
    let config = server::Config::new("weather", "2.0.0")
        .instructions("Ask for a city.")
        .capability(Capability::Logging)
        .capability(Capability::PromptsListChanged)
        .capability(Capability::ResourcesSubscribe)
        .capability(Capability::ToolsListChanged);
    match spoken {
        Some(only) => config.revisions(&[only]),
        None => config,
    }
}

/// Returns every way to negotiate each revision: both sides' revisions, and the outcome.
fn ways() -> impl Iterator<Item = (Spoken, Spoken, Revision)> {
    let each = Revision::ALL.into_iter();
    each.flat_map(|only| {
        [(Some(only), Some(only), only), (None, Some(only), only), (Some(only), None, only)]
    })
    .chain([(None, None, Revision::V2026_07_28)])
}

/// Runs the script; returns what both applications saw, under a heading for each step.
fn run(
    scenario: &Scenario,
    (client, server, spoken): (Spoken, Spoken, Revision),
    course: Course,
) -> Vec<String> {
    let mut wire = Wire::new(client_config(client), server_config(server), course);
    for step in scenario.steps {
        step.run(&mut wire);
    }
    assert_eq!(wire.client.peer().unwrap().revision, spoken);
    let mut lines = Vec::new();
    for step in scenario.steps {
        let sides = [("client", &wire.at_client.log), ("server", &wire.at_server.log)];
        lines.push(format!("# {}", step.0));
        for (side, log) in sides {
            let seen = log.lines.iter().filter(|(at, _)| *at == step.0);
            lines.extend(seen.map(|(_, line)| format!("{side} | {line}")));
        }
    }
    lines
}

/// Returns the expected log in `revision`. An entry that does not match the reference is out of
/// date.
fn expected(scenario: &Scenario, (client, _, revision): (Spoken, Spoken, Revision)) -> Vec<String> {
    let mut lines: Vec<String> = scenario.reference.lines().map(String::from).collect();
    let is_seen = |row: &&Difference| {
        row.revisions.contains(&revision) && (client.is_some() || !row.client_alone)
    };
    for row in scenario.differences.iter().filter(is_seen) {
        let heading = format!("# {}", row.step);
        let start = lines.iter().position(|line| *line == heading);
        let start = start.unwrap_or_else(|| panic!("no such step: {row:#?}")) + 1;
        let end = lines[start..].iter().position(|line| line.starts_with("# "));
        let end = end.map_or(lines.len(), |end| start + end);
        let found =
            lines[start..end].windows(row.lines.len()).position(|window| window == row.lines);
        let at =
            start + found.unwrap_or_else(|| panic!("the reference has no such lines: {row:#?}"));
        lines.splice(at..at + row.lines.len(), row.instead.iter().map(|line| (*line).to_owned()));
    }
    lines
}

/// Returns the steps in which two logs differ, in both versions.
fn show(seen: &[String], expected: &[String]) -> String {
    let steps = |lines: &[String]| -> Vec<Vec<String>> {
        lines.chunk_by(|_, next| !next.starts_with("# ")).map(<[String]>::to_vec).collect()
    };
    let (seen, expected) = (steps(seen), steps(expected));
    let differing = seen.iter().zip(&expected).filter(|(seen, expected)| seen != expected);
    differing.map(|(seen, expected)| format!("seen {seen:#?}\nexpected {expected:#?}\n")).collect()
}

fn check(scenario: &Scenario, way: (Spoken, Spoken, Revision), course: Course) {
    let seen = run(scenario, way, course);
    let expected = expected(scenario, way);
    assert!(seen == expected, "{way:?} {course:?}\n{}", show(&seen, &expected));
}

#[test]
fn applications_see_equal_events_in_every_pair_except_for_the_table() {
    for way in ways() {
        check(&EVERYTHING, way, Course::Plain);
    }
}

#[test]
fn applications_see_an_equal_end_when_the_server_closes_stl_36() {
    for way in ways() {
        check(&SERVER_CLOSES, way, Course::Plain);
    }
}

#[test]
fn applications_see_equal_events_for_every_split_and_poll_order() {
    for (number, way) in ways().enumerate() {
        for seed in 0..12 {
            let course = Course::Random(Seed(seed * 100 + number as u64));
            check(&EVERYTHING, way, course);
            check(&SERVER_CLOSES, way, course);
        }
    }
}

/// An entry without effect, or one undone by another, would hide that its difference is gone.
#[test]
fn every_row_of_the_table_still_differs() {
    for scenario in [EVERYTHING, SERVER_CLOSES] {
        for row in scenario.differences {
            assert!(
                !row.what.is_empty() && row.why.contains('('),
                "a row without a reason: {row:#?}"
            );
            assert!(
                !row.revisions.contains(&Revision::V2025_11_25),
                "the reference itself: {row:#?}"
            );
            assert_ne!(row.lines, row.instead, "a row without effect: {row:#?}");
            for revision in row.revisions {
                let seen =
                    run(&scenario, (Some(*revision), Some(*revision), *revision), Course::Plain);
                let heading = format!("# {}", row.step);
                let start = seen.iter().position(|line| *line == heading).unwrap() + 1;
                let step: Vec<&str> = seen[start..]
                    .iter()
                    .map(|line| &**line)
                    .take_while(|line| !line.starts_with("# "))
                    .collect();
                assert!(
                    !step.windows(row.lines.len()).any(|window| window == row.lines),
                    "{revision} no longer differs: {row:#?}"
                );
            }
        }
    }
}

/// Only steps of the reference are compared.
#[test]
fn every_step_is_in_the_reference_once_and_is_seen() {
    for scenario in [EVERYTHING, SERVER_CLOSES] {
        let steps: Vec<String> =
            scenario.steps.iter().map(|step| format!("# {}", step.0)).collect();
        let headings: Vec<&str> =
            scenario.reference.lines().filter(|line| line.starts_with("# ")).collect();
        assert_eq!(headings, steps);
        assert_eq!(steps.iter().collect::<BTreeSet<_>>().len(), steps.len());
    }
}
