//! Every member that a schema names is known to its type, and none ends up among the unknown ones.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "the counts are the result")]

use std::collections::BTreeSet;

use mcp_proto::Raw;
use mcp_proto::schema::{Decode, Meta, key};
use mcp_schema_tests::check::{Failures, closed_instances, held};
use mcp_schema_tests::spec;
use serde_json::Value;

/// The number of values per definition.
const COUNT: u64 = 60;

/// Members that are named and yet kept verbatim: absence means equally much, or they do not fit.
const KEPT: &[&str] = &[
    // A flag that is `false`.
    "(\"isError\", false)",
    "(\"required\", false)",
    // The default mode.
    "(\"mode\", \"form\")",
    // The schemas allow negative sizes.
    "(\"size\", -1)",
    "(\"size\", -9223372036854775808)",
];

#[test]
fn every_named_member_is_known() {
    let Some(specs) = spec::all() else { return };
    let mut failures = Failures::default();
    let mut values = 0;
    for spec in &specs {
        let mut words = BTreeSet::new();
        collect_words(spec.schema(), &mut words);
        for (name, cover) in held(spec) {
            for (whole, _) in closed_instances(spec, name, COUNT) {
                let Some(part) = cover.part(&whole) else { continue };
                let Ok(typed) = part.codec.read(&part.of(&whole).to_string()) else { continue };
                values += 1;
                for unknown in unknown(&format!("{typed:?}"), &words) {
                    failures.add(spec.revision, name, &format!("does not know {unknown}"), &whole);
                }
            }
        }
    }
    println!("{values} values");
    failures.finish();
}

// The reserved `_meta` keys of each revision have typed accessors.
#[test]
fn reserved_meta_keys_are_typed() {
    let Some(specs) = spec::all() else { return };
    let spec = specs.last().expect("a schema");
    let names =
        spec.definitions().map(|(name, _)| name).filter(|name| name.ends_with("MetaObject"));
    let mut read = 0;
    for name in names {
        for (value, _) in closed_instances(spec, name, COUNT) {
            let raw = Raw::from_text(&value.to_string()).expect("JSON");
            let meta = Meta::decode(&raw).expect("an object");
            for member in value.as_object().expect("an object").keys() {
                assert!(reads(&meta, member), "{name}: {member} of {value}");
                read += 1;
            }
        }
    }
    println!("{read} reserved members");
}

fn reads(meta: &Meta, member: &str) -> bool {
    match member {
        key::CLIENT_CAPABILITIES => meta.client_capabilities().is_some(),
        key::CLIENT_INFO => meta.client_info().is_some(),
        key::LOG_LEVEL => meta.log_level().is_some(),
        key::PROGRESS_TOKEN => meta.progress_token().is_some(),
        key::PROTOCOL_VERSION => meta.protocol_version().is_some(),
        key::SERVER_INFO => meta.server_info().is_some(),
        key::SUBSCRIPTION_ID => meta.subscription_id().is_some(),
        _ => false,
    }
}

/// Collects every word that some schema offers as a choice.
fn collect_words<'a>(schema: &'a Value, words: &mut BTreeSet<&'a str>) {
    match schema {
        Value::Array(elements) => elements.iter().for_each(|element| collect_words(element, words)),
        Value::Object(members) => {
            let choices = members.get("enum").and_then(Value::as_array).into_iter().flatten();
            words.extend(choices.filter_map(Value::as_str));
            members.values().for_each(|member| collect_words(member, words));
        }
        _ => {}
    }
}

/// Returns the unknown members in the debug output of a type, and the known words kept as text.
fn unknown(debug: &str, words: &BTreeSet<&str>) -> Vec<String> {
    let mut found = Vec::new();
    for (at, start) in debug.match_indices("extra: Members([") {
        let mut rest = &debug[at + start.len()..];
        while let Some(kept) = KEPT.iter().find(|kept| rest.starts_with(**kept)) {
            rest = rest[kept.len()..].trim_start_matches(", ");
        }
        if !rest.starts_with("])") {
            found.push(rest.chars().take(40).collect());
        }
    }
    for start in ["Other({", "Other(["] {
        found.extend(
            debug.match_indices(start).map(|(at, _)| debug[at..].chars().take(40).collect()),
        );
    }
    for (at, start) in debug.match_indices("Other(\"") {
        let word = debug[at + start.len()..].split('"').next().unwrap_or_default();
        found.extend(words.get(word).map(|word| format!("the word {word}")));
    }
    found
}
