//! Random values of every definition of every revision go through the types unharmed.

#![allow(clippy::print_stdout, reason = "the counts are the result")]

use mcp_schema_tests::check::{Failures, held, instances, round_trip};
use mcp_schema_tests::spec;

/// Values of each definition.
const COUNT: u64 = 200;

/// Nothing is lost, nothing is added, and the schema agrees. (T-119)
#[test]
fn what_a_type_reads_it_writes_again_as_the_schema_says() {
    let Some(specs) = spec::all() else { return };
    let mut failures = Failures::default();
    for spec in &specs {
        let mut definitions = 0;
        let mut values = 0;
        for (name, cover) in held(spec) {
            definitions += 1;
            for (whole, mut generator) in instances(spec, name, COUNT) {
                if let Err(error) = spec.validate(name, &whole) {
                    failures.add(spec.revision, name, &format!("is made wrong: {error}"), &whole);
                    continue;
                }
                let Some(part) = cover.part(&whole) else { continue };
                let text = generator.text(&part.of(&whole));
                values += 1;
                // Absent params are not made up by the types: they are written as an empty object.
                let whole =
                    if whole.get("params").is_none() { part.put(&whole, part.of(&whole)) } else { whole };
                if let Err(error) = round_trip(spec, name, part, &whole, &text) {
                    failures.add(spec.revision, name, &error, &whole);
                }
            }
        }
        println!("{}: {values} values of {definitions} definitions", spec.revision);
    }
    failures.finish();
}
