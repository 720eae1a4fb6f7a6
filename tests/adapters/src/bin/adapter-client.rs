//! A client of the server whose command line is its arguments. Prints the process ids of the server
//! and of a process that the server has started, then waits to be killed.

#![allow(clippy::print_stdout, reason = "the test reads it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use mcp_blocking::{Client, Connect};
use serde_json::json;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut command = Command::new(arguments.next().unwrap());
    command.args(arguments);
    let connection = Client::new("killed", "1.0.0").spawn(command).unwrap();
    for tool in ["pid", "start"] {
        let called = connection.call_tool(tool, &json!({})).wait().unwrap();
        println!("{}", called.content[0].as_text().unwrap());
    }
    loop {
        std::thread::park();
    }
}
