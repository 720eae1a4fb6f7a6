//! A client of the server whose command line is its arguments. Prints the process ids of the server
//! and of a process that the server has started. Then it closes the connection and exits when it
//! receives a line, and otherwise waits to be killed.

#![allow(clippy::print_stdout, reason = "the test reads it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use mcp_blocking::{Client, ServerProcess, find_program};
use serde_json::json;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut command = Command::new(find_program(&arguments.next().unwrap()));
    command.args(arguments);
    let server = ServerProcess::new(command).inherit_environment();
    let connection = Client::new("killed", "1.0.0").spawn(server).wait().unwrap();
    for tool in ["pid", "start"] {
        let called = connection.call_tool(tool, &json!({})).wait().unwrap();
        println!("{}", called.content[0].as_text().unwrap());
    }
    let mut line = String::new();
    if std::io::stdin().read_line(&mut line).is_ok_and(|count| count > 0) {
        connection.close().wait().unwrap();
        return;
    }
    loop {
        std::thread::park();
    }
}
