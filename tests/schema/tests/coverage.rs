//! Which definitions of which revision are covered, and how.

#![allow(clippy::print_stdout, reason = "the table is the result")]
#![allow(clippy::expect_used, reason = "a test may panic")]

use mcp_schema_tests::registry::{Cover, cover, is_sent_as};
use mcp_schema_tests::spec;

#[test]
fn every_definition_of_every_revision_is_covered() {
    let Some(specs) = spec::all() else { return };
    let mut left_out = Vec::new();
    println!(
        "revision     defined  covered    type  params  result  envelope  union  base  not covered"
    );
    for spec in &specs {
        let mut counts = [0_usize; 7];
        for (name, _) in spec.definitions() {
            let cover = cover(spec, name);
            counts[column(&cover)] += 1;
            if let Cover::Not(why) = cover {
                left_out.push(format!("{} {name}: {why}", spec.revision));
            }
        }
        let all: usize = counts.iter().sum();
        let [types, params, results, envelopes, unions, bases, not] = counts;
        println!(
            "{}  {all:8} {:8} {types:7} {params:7} {results:7} {envelopes:9} {unions:6} {bases:5} \
             {not:12}",
            spec.revision,
            all - not,
        );
    }
    assert!(left_out.is_empty(), "not covered:\n{}", left_out.join("\n"));
}

#[test]
fn every_message_has_the_side_that_sends_it() {
    let Some(specs) = spec::all() else { return };
    let mut wrong = Vec::new();
    for spec in &specs {
        for kind in ["ClientRequest", "ServerRequest", "ClientNotification", "ServerNotification"] {
            let Some(union) = spec.definition(kind) else { continue };
            let members = union["anyOf"].as_array().into_iter().flatten();
            for name in members.filter_map(|member| spec.reference(member)) {
                let message = spec.definition(name).expect("a union of definitions");
                let method = message["properties"]["method"]["const"].as_str().expect("a method");
                if !is_sent_as(kind, method) {
                    wrong.push(format!("{} {kind} {method}", spec.revision));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "no type says who sends it:\n{}", wrong.join("\n"));
}

const fn column(cover: &Cover) -> usize {
    match cover {
        Cover::Type(_) => 0,
        Cover::Message(..) => 1,
        Cover::Response(_) => 2,
        Cover::Envelope => 3,
        Cover::Union(_) => 4,
        Cover::Base(_) => 5,
        Cover::Not(_) => 6,
    }
}
