//! The published examples, unchanged and with single defects.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "the counts are the result")]

use std::collections::BTreeMap;

use mcp_proto::Revision;
use mcp_schema_tests::check::{Failures, round_trip};
use mcp_schema_tests::codec::{Written, write};
use mcp_schema_tests::envelope::Envelope;
use mcp_schema_tests::mutate::{Kind, Mutation, Outcome, came_through, mutations, names};
use mcp_schema_tests::registry::{Cover, Part, cover};
use mcp_schema_tests::spec::{self, Example, Spec};
use serde_json::{Map, Value};

const REVISION: Revision = Revision::V2026_07_28;

/// What an error may name instead of the place: what is missing because of it.
const NAMED_INSTEAD: &[(&str, &str)] = &[
    // Resource contents are distinguished by which of the two members they have.
    ("blob", "text"),
];

/// The published examples that violate their own schema, with what a type adds to them.
const LACKING: &[(&str, &str)] = &[
    // D-17: both members about caching are missing.
    (
        "ReadResourceResultResponse/read-resource-result-response.json",
        r#"{"cacheScope":"private","ttlMs":0}"#,
    ),
];

fn read() -> Option<(Spec, Vec<Example>)> {
    let directory = spec::directory()?;
    let spec = Spec::read(&directory, REVISION);
    let mut examples = spec::examples(REVISION)?;
    for (file, lacking) in LACKING {
        let mut found = examples.iter_mut().filter(|example| example.file == *file);
        let example = found.next().expect("an example");
        // The response's own definition also allows input-required results, and so nearly anything.
        let result = example.definition.strip_suffix("Response").expect("a response");
        assert!(spec.validate(result, &example.value["result"]).is_err(), "{file} lacks nothing");
        let lacking: Map<String, Value> = serde_json::from_str(lacking).expect("an object");
        example.value["result"].as_object_mut().expect("an object").extend(lacking);
    }
    Some((spec, examples))
}

#[test]
fn every_published_example_survives_its_type() {
    let Some((spec, examples)) = read() else { return };
    let mut failures = Failures::default();
    let (mut typed, mut enveloped) = (0, 0);
    for example in &examples {
        let cover = cover(&spec, &example.definition);
        let result = if let Some(part) = cover.part(&example.value) {
            typed += 1;
            let text = part.of(&example.value).to_string();
            round_trip(&spec, &example.definition, part, &example.value, &text)
        } else if matches!(cover, Cover::Envelope) {
            enveloped += 1;
            Envelope::new(REVISION).check(&example.definition, &example.value)
        } else {
            Err(format!("is not checked: {cover:?}"))
        };
        if let Err(error) = result {
            failures.add(REVISION, &example.file, &error, &example.value);
        }
    }
    println!(
        "{} examples: {typed} through types, {enveloped} through the machines",
        examples.len()
    );
    failures.finish();
    assert!(examples.len() >= 100, "there are more examples than {}", examples.len());
}

#[test]
fn a_defect_costs_no_more_than_itself() {
    let Some((spec, examples)) = read() else { return };
    let mut failures = Failures::default();
    let mut counts: BTreeMap<(Kind, Outcome), usize> = BTreeMap::new();
    for example in &examples {
        let Some(part) = cover(&spec, &example.definition).part(&example.value) else { continue };
        for mutation in mutations(&part.of(&example.value)) {
            match outcome(part, &mutation) {
                Ok(outcome) => *counts.entry((mutation.kind, outcome)).or_default() += 1,
                Err(error) => {
                    let Mutation { kind, place, value } = &mutation;
                    failures.add(
                        REVISION,
                        &example.file,
                        &format!("{kind:?} {place:?}: {error}"),
                        value,
                    );
                }
            }
        }
    }
    for ((kind, outcome), count) in &counts {
        println!("{kind:?} -> {outcome:?}: {count}");
    }
    let all: usize = counts.values().sum();
    println!("{all} defective examples");
    failures.finish();
    assert!(all >= 2000, "{all} are too few");
}

fn is_checked_when_sent(mutation: &Mutation) -> bool {
    let is_text = matches!(mutation.kind, Kind::Unknown);
    is_text && ["/data", "/blob", "/uri"].iter().any(|end| mutation.place.ends_with(end))
}

fn outcome(part: Part, mutation: &Mutation) -> Result<Outcome, String> {
    let typed = match part.codec.read(&mutation.value.to_string()) {
        Ok(typed) => typed,
        Err(error) => {
            let instead = |(wrong, named): &(&str, &str)| {
                let parent = mutation.place.strip_suffix(wrong);
                parent.is_some_and(|parent| error.pointer.strip_suffix(named) == Some(parent))
            };
            let named = names(&error.pointer, &mutation.place) || NAMED_INSTEAD.iter().any(instead);
            return if named {
                Ok(Outcome::Refused)
            } else {
                Err(format!("is refused for another place: {error}"))
            };
        }
    };
    match write(&*typed, REVISION)? {
        Written::As(written) => came_through(mutation, &written, &format!("{typed:?}")),
        // D-05: a cancellation without an id is read and has no effect; this revision cannot
        // express it.
        Written::Not if mutation.place.ends_with("/requestId") => Ok(Outcome::Refused),
        // SEC-15, SEC-21: what is not base64, or a root that is not a file, is read but not sent.
        Written::Not if is_checked_when_sent(mutation) => Ok(Outcome::Refused),
        Written::Not => Err("is read and cannot be written".to_owned()),
    }
}
