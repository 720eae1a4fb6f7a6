//! Random messages of every revision, passed to the machines.

#![allow(clippy::print_stdout, reason = "the counts are the result")]

use mcp_schema_tests::check::{Failures, instances};
use mcp_schema_tests::envelope::Envelope;
use mcp_schema_tests::registry::{Cover, cover};
use mcp_schema_tests::spec;

/// The number of values per definition.
const COUNT: u64 = 200;

#[test]
fn the_machines_accept_every_message() {
    let Some(specs) = spec::all() else { return };
    let mut failures = Failures::default();
    for spec in &specs {
        let mut values = 0;
        let envelopes =
            spec.definitions().filter(|(name, _)| matches!(cover(spec, name), Cover::Envelope));
        for (name, _) in envelopes {
            let mut envelope = Envelope::new(spec.revision);
            for (value, _) in instances(spec, name, COUNT) {
                values += 1;
                if let Err(error) = envelope.check(name, &value) {
                    failures.add(spec.revision, name, &error, &value);
                }
            }
        }
        println!("{}: {values} messages", spec.revision);
    }
    failures.finish();
}
