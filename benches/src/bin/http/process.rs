//! A server in its own process, on its own core where `taskset` is available.

#![allow(dead_code, reason = "not every program starts every kind of server")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use mcp_benches::http::Kind;

/// The core of servers; `run` keeps the clients on another.
const CORE: &str = "0";

pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn start(kind: Kind, delays: bool) -> Self {
        Self::start_program("http-server", &[kind.name(), if delays { "delays" } else { "" }])
    }

    /// Starts the server that a program beside this one serves with these arguments.
    pub(crate) fn start_program(name: &str, arguments: &[&str]) -> Self {
        let mut command =
            if Command::new("taskset").arg("-V").stdout(Stdio::null()).status().is_ok() {
                let mut command = Command::new("taskset");
                command.args(["-c", CORE]).arg(program(name));
                command
            } else {
                Command::new(program(name))
            };
        command.args(arguments);
        Self::spawn(command)
    }

    /// Starts the server under callgrind, which writes its counts to a file when the server ends.
    pub(crate) fn counted(kind: Kind, out: &str) -> Self {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(format!("--log-file={out}")).arg(program("http-server")).arg(kind.name());
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program is built");
        let mut port = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut port).expect("the server prints its port");
        let port = port.trim().parse().expect("a port");
        Self { child, address: (Ipv4Addr::LOCALHOST, port).into() }
    }

    /// Returns the CPU seconds of the live threads. Threads that ended are not included, but none
    /// ends under load; `/proc/PID/stat` includes them, in ticks of 10 ms, which is too coarse.
    pub(crate) fn cpu(&self) -> f64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
        let spent = tasks.flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        });
        spent.sum::<u64>() as f64 / 1e9
    }

    /// Ends the server and waits for its exit.
    pub(crate) fn end(&mut self) {
        drop(self.child.stdin.take());
        let _gone = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn program(name: &str) -> PathBuf {
    std::env::current_exe().expect("it has a path").with_file_name(name)
}
