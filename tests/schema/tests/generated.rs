//! Random values of every definition of every revision survive their types.

#![allow(clippy::print_stdout, reason = "the counts are the result")]

use mcp_proto::Revision;
use mcp_schema_tests::check::{Failures, held, instances, round_trip};
use mcp_schema_tests::spec::{self, Spec};

/// The number of values per definition.
const COUNT: u64 = 200;

macro_rules! revisions {
    ($($name:ident: $revision:ident),* $(,)?) => {$(
        // T-119: nothing is lost or added, and the schema accepts the output.
        #[test]
        fn $name() {
            go_through(Revision::$revision);
        }
    )*};
}

revisions! {
    what_a_type_reads_it_writes_again_in_2024_11_05: V2024_11_05,
    what_a_type_reads_it_writes_again_in_2025_03_26: V2025_03_26,
    what_a_type_reads_it_writes_again_in_2025_06_18: V2025_06_18,
    what_a_type_reads_it_writes_again_in_2025_11_25: V2025_11_25,
    what_a_type_reads_it_writes_again_in_2026_07_28: V2026_07_28,
}

fn go_through(revision: Revision) {
    let Some(directory) = spec::directory() else { return };
    let spec = &Spec::read(&directory, revision);
    let mut failures = Failures::default();
    let mut definitions = 0;
    let mut values = 0;
    for (name, cover) in held(spec) {
        definitions += 1;
        for (whole, mut generator) in instances(spec, name, COUNT) {
            if let Err(error) = spec.validate(name, &whole) {
                failures.add(revision, name, &format!("is generated wrong: {error}"), &whole);
                continue;
            }
            let Some(part) = cover.part(&whole) else { continue };
            let text = generator.text(&part.of(&whole));
            values += 1;
            // Missing params are encoded as an empty object.
            let whole = part.put(&whole, part.of(&whole));
            if let Err(error) = round_trip(spec, name, part, &whole, &text) {
                failures.add(revision, name, &error, &whole);
            }
        }
    }
    println!("{revision}: {values} values of {definitions} definitions");
    failures.finish();
    assert!(values >= definitions * 200, "{values} are too few");
}
