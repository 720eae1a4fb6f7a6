//! The output of the quickstart example.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::{example, story};

#[test]
fn the_quickstart_prints_its_steps() {
    let output = story(|| example("quickstart").output().unwrap());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<_> = said.lines().collect();
    let expected = [
        "1. a server in another process",
        "   revision       2026-07-28 of the modern era",
        "   name           \"weather\" 1.0.0",
        "2. tools",
        "   forecast       The weather of the next days, a day at a time",
        "   greet          Greets you by name",
        "3. a call with progress",
        "   progress       [#####               ] 1 of 4",
        "   progress       [##########          ] 2 of 4",
        "   progress       [###############     ] 3 of 4",
        "   progress       [####################] 4 of 4",
        "   result         \"Oslo: 4 days of sun\"",
        "4. a call that is cancelled",
        "   progress       1 of 100000, too slow",
        "   cancelled, and the server still lists its 2 tools",
        "5. a tool that asks back",
        "   server asks    \"Who are you?\"",
        "   user answers   \"Ada\"",
        "   result         \"Good morning, Ada.\"",
        "6. the tool again, for a client of the legacy era",
        "   revision       2025-11-25 of the legacy era",
        "   server asks    \"Who are you?\"",
        "   user answers   \"Ada\"",
        "   result         \"Good morning, Ada.\"",
    ];
    assert_eq!(lines[..lines.len() - 1], expected);
    let last = lines[lines.len() - 1];
    assert!(last.starts_with("7. closed; the server ended with exit status: 0, all in "), "{last}");
}
