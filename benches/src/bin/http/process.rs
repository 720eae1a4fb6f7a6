//! A server in a process of its own, on a core of its own where `taskset` is there to see to it;
//! knows nothing of what it serves.

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
        let mut command =
            if Command::new("taskset").arg("-V").stdout(Stdio::null()).status().is_ok() {
                let mut command = Command::new("taskset");
                command.args(["-c", CORE]).arg(program());
                command
            } else {
                Command::new(program())
            };
        command.args([kind.name(), if delays { "delays" } else { "" }]);
        Self::spawn(command)
    }

    /// Under callgrind, which says what it has counted into a file once the server has ended.
    pub(crate) fn counted(kind: Kind, out: &str) -> Self {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(format!("--log-file={out}")).arg(program()).arg(kind.name());
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program is there");
        let mut port = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut port).expect("it says where it is");
        let port = port.trim().parse().expect("a port");
        Self { child, address: (Ipv4Addr::LOCALHOST, port).into() }
    }

    /// Seconds of CPU time that its threads have had. Those that have ended are not in it, and none
    /// ends while it is kept busy; what `/proc/PID/stat` says of all of them is in ticks of 10
    /// ms, which is too coarse.
    pub(crate) fn cpu(&self) -> f64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
        let spent = tasks.flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        });
        spent.sum::<u64>() as f64 / 1e9
    }

    /// Ends it, and waits until it has.
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

fn program() -> PathBuf {
    std::env::current_exe().expect("it has a path").with_file_name("http-server")
}
