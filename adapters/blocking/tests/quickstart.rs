//! The output of the quickstart example.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod common;

use std::io::read_to_string;
use std::process::Stdio;

use common::{example, with_timeout};
use mcp_test_processes::Process;

#[test]
fn the_quickstart_prints_its_steps() {
    let [said, errors] = with_timeout(|| {
        let mut command = example("quickstart");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process::start(&mut command);
        let said = read_to_string(process.stdout.take().unwrap()).unwrap();
        let errors = read_to_string(process.stderr.take().unwrap()).unwrap();
        assert!(process.wait().success(), "{said}{errors}");
        [said, errors]
    });
    assert_eq!(errors, "");
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
