//! A short run of the program.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

#[test]
fn a_short_run_finds_nothing() {
    let program = env!("CARGO_BIN_EXE_mcp-stress");
    let output = Command::new(program).args(["--seconds", "4"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
