//! Sessions of every legacy revision, in which both sides use every feature: each line conforms to
//! the schema.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test may panic")]

use mcp_proto::Revision;
use mcp_schema_tests::applications::Applications;
use mcp_schema_tests::spec;
use mcp_schema_tests::tape::look;

/// How often each message is sent.
const ROUNDS: usize = 30;

/// Covers initialize, lists, calls, progress, cancellation, questions, logs, errors, pings and
/// tasks.
#[test]
fn every_line_of_a_session_conforms_to_its_schema() {
    let Some(specs) = spec::all() else { return };
    let rich =
        specs.iter().find(|spec| spec.revision == Revision::V2025_11_25).expect("its schema");
    for spec in specs.iter().filter(|spec| Revision::LEGACY.contains(&spec.revision)) {
        let mut applications = Applications::new(spec, rich);
        for _ in 0..ROUNDS {
            applications.round();
        }
        let lines = &applications.pair.lines;
        let seen = look(spec, lines).unwrap_or_else(|wrong| panic!("{}: {wrong}", spec.revision));
        println!(
            "{}: {} lines, {} methods sent, {} answered, {} errors; {} values had no form there",
            spec.revision,
            lines.len(),
            seen.sent.len(),
            seen.results.len(),
            seen.errors,
            applications.refused,
        );
        let mut unsent = applications.methods();
        unsent.retain(|method| !seen.sent.contains_key(*method));
        assert!(unsent.is_empty(), "{}: never sent: {unsent:?}", spec.revision);
    }
}
