//! Servers that are killed while tasks run, with a durable store.

use std::io;
use std::process::{Command, Stdio};

use mcp_adapter_tests::{Process, with_timeout};

/// A short version: `cargo run -p mcp-adapter-tests --bin task-kills -- 50` kills 100 times.
#[test]
fn no_task_is_lost_or_doubled_by_a_server_that_is_killed() {
    with_timeout(|| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_task-kills"));
        command.arg("5").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = Process::start(&mut command);
        let report = io::read_to_string(process.stdout.take().unwrap()).unwrap();
        println!("{report}");
        assert!(process.wait().success(), "{report}");
    });
}
