//! Servers that are killed while tasks run, with a durable store.

use std::process::Command;

/// A short version: `cargo run -p mcp-adapter-tests --bin task-kills -- 50` kills 100 times.
#[test]
fn no_task_is_lost_or_doubled_by_a_server_that_is_killed() {
    let output = Command::new(env!("CARGO_BIN_EXE_task-kills")).arg("5").output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    println!("{report}");
    assert!(output.status.success(), "{report}{}", String::from_utf8_lossy(&output.stderr));
}
