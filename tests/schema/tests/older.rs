//! Values encoded for a peer of an older revision contain only what that revision knows.

#![allow(clippy::print_stdout, reason = "the counts are the result")]

use std::collections::BTreeSet;

use mcp_schema_tests::check::{Failures, Older, closed_instances, down, held};
use mcp_schema_tests::spec;
use mcp_schema_tests::strict::strict;

/// The number of values per definition.
const COUNT: u64 = 60;

/// Definitions some values of which have no form in an older revision, by prefix: lists of blocks,
/// blocks for tools, audio, multiple choice.
const UNENCODABLE: &[&str] = &[
    "Cancelled",
    "CreateMessage",
    "ElicitRequest",
    "PrimitiveSchemaDefinition",
    "SamplingMessage",
];

/// Output that an older schema rejects: the definition, a part of the complaint, and the reason.
/// complaint, and why.
const ACCEPTED: &[(&str, &str, &str)] = &[(
    "ElicitResult",
    "is not of types",
    "the content is the application's: a list answers a question for a list",
)];

// T-120: the output conforms to the older schema and has only members that it names.
#[test]
fn output_for_an_older_peer_conforms_to_its_schema() {
    let Some(specs) = spec::all() else { return };
    let mut failures = Failures::default();
    let mut accepted = BTreeSet::new();
    for (at, older) in specs.iter().enumerate() {
        let strict = strict(older);
        for spec in &specs[at + 1..] {
            let (mut fit, mut unencodable) = (0, 0);
            for (name, cover) in held(spec) {
                for (whole, _) in closed_instances(spec, name, COUNT) {
                    let Some(part) = cover.part(&whole) else { continue };
                    match down(spec, older, &strict, name, part, &whole) {
                        Ok(Older::Fits) => fit += 1,
                        Ok(Older::Unknown) => {}
                        Ok(Older::Unencodable) => {
                            unencodable += 1;
                            if !UNENCODABLE.iter().any(|start| name.starts_with(start)) {
                                let why = format!("has no form for {}", older.revision);
                                failures.add(spec.revision, name, &why, &whole);
                            }
                        }
                        Err(error) => match acceptance(name, &error) {
                            Some(index) => _ = accepted.insert(index),
                            None => failures.add(spec.revision, name, &error, &whole),
                        },
                    }
                }
            }
            println!(
                "{} for {}: {fit} fit, {unencodable} have no form",
                spec.revision, older.revision
            );
        }
    }
    failures.finish();
    let stale: Vec<_> =
        (0..ACCEPTED.len()).filter(|at| !accepted.contains(at)).map(|at| ACCEPTED[at]).collect();
    assert!(stale.is_empty(), "accepted and no longer so: {stale:?}");
}

fn acceptance(name: &str, error: &str) -> Option<usize> {
    ACCEPTED
        .iter()
        .position(|(definition, part, _)| name.starts_with(definition) && error.contains(part))
}
