//! Runs the echo servers as programs, calls them over pipes, and prints the cost as Markdown: of
//! all, or of those named on the command line.
//!
//! CPU time is that of the server's threads, as the kernel counts it. Client and server share one
//! core where `taskset` is available.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool prints, and may panic"
)]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const SERVERS: [(&str, &str); 9] = [
    ("echo-bytes", "bare byte loop"),
    ("echo-lines", "bare byte loop, line by line"),
    ("echo-blocking", "ours, blocking"),
    ("echo-tokio", "ours, tokio"),
    ("echo-tokio-future", "ours, tokio, a future"),
    ("echo-smol", "ours, smol"),
    ("echo-smol-future", "ours, smol, a future"),
    ("echo-rmcp", "rmcp, `stdio_pipes`"),
    ("echo-rmcp-default", "rmcp, `stdio`"),
];

/// The reference for the ratios.
const FLOORS: [&str; 2] = ["echo-bytes", "echo-lines"];

/// How often each server is timed.
const ROUNDS: usize = 9;

/// The number of concurrent calls in the second mode.
const DEEP: u64 = 64;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let servers = || {
        SERVERS
            .into_iter()
            .filter(|(program, _)| asked.is_empty() || asked.iter().any(|name| name == program))
    };
    println!("## Servers as programs\n");
    println!(
        "One echo of 30 bytes over pipes, client and server on one core; in brackets the ratios \
         to the two byte loops: the \
         first looks for the ends of lines in what it has read, with memchr, and the second does \
         with what std has \
         (`read_until`, `write_all`, and `flush` when nothing more has been read).\n"
    );
    println!(
        "Each is built as it would be by itself: in a release build as cargo makes it, without \
         HTTP, and stripped where its \
         size is given.\n"
    );
    println!(
        "| server | CPU a call, one at a time | requests/s, 64 deep | CPU a call, 64 deep | user \
         instructions a call | system calls a call, one at a time | 64 deep \
         | threads, 64 deep, at first | after 3 s |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut floors: Vec<[f64; 4]> = Vec::new();
    let singles = rounds(servers(), |program| run(program, 20_000, 1));
    let manies = rounds(servers(), |program| run(program, 40_000, DEEP));
    for (((program, name), one), deep) in servers().zip(singles).zip(manies) {
        eprintln!("{program}");
        // The first calls are skipped: valgrind slows them down, and slow handlers run on another
        // thread for a while.
        let instructions = difference(1000, 3000, |calls| instructions(program, calls));
        let single = difference(200, 1200, |calls| system_calls(program, calls, 1, 30));
        let many = difference(640, 6400, |calls| system_calls(program, calls, DEEP, 30));
        let row = [one.cpu, deep.rate, deep.cpu, instructions];
        if FLOORS.contains(&program) {
            floors.push(row);
        }
        println!(
            "| {name} | {:.1} µs{} | {:.0} k{} | {:.2} µs{} | {:.1} k{} | {single:.2} | {many:.2} \
             | {} | {} |",
            row[0] * 1e6,
            ratios(&floors, &row, 0),
            row[1] / 1e3,
            ratios(&floors, &row, 1),
            row[2] * 1e6,
            ratios(&floors, &row, 2),
            row[3] / 1e3,
            ratios(&floors, &row, 3),
            deep.threads,
            steady_threads(program),
        );
    }
    println!(
        "\n| server | CPU an echo of 1 MB | system calls | peak memory | stripped | memory, idle \
         | of it its own | start-up |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    let mut floors: Vec<[f64; 4]> = Vec::new();
    for ((program, name), start) in servers().zip(starts(servers())) {
        eprintln!("{program}");
        let mut server = Server::start(Command::new(beside(program)));
        server.calls(50, 1, 1 << 20);
        let before = server.cpu();
        server.calls(200, 1, 1 << 20);
        let large = server.cpu().since(before).as_secs_f64() / 200.0;
        let peak = server.memory("VmHWM:");
        drop(server);
        let system_calls = difference(5, 25, |calls| system_calls(program, calls, 1, 1 << 20));
        let server = Server::start(Command::new(beside(program)));
        let (idle, own) = (server.memory("VmRSS:"), server.memory("RssAnon:"));
        let row = [large, idle, own, start.as_secs_f64()];
        if FLOORS.contains(&program) {
            floors.push(row);
        }
        println!(
            "| {name} | {:.0} µs{} | {system_calls:.0} | {peak:.1} MiB | {:.2} MB | {idle:.1} \
             MiB{} | {:.0} KiB{} | {:.1} ms{} |",
            large * 1e6,
            ratios(&floors, &row, 0),
            stripped(program) as f64 / 1e6,
            ratios(&floors, &row, 1),
            own * 1024.0,
            ratios(&floors, &row, 2),
            row[3] * 1e3,
            ratios(&floors, &row, 3),
        );
    }
    println!(
        "\nOf the memory, most is the program itself and the C library, as the system maps them \
         in from their files; its own is \
         what no other process has as well."
    );
}

/// Formats a number of a row with its ratios to the floors, as far as known.
fn ratios<const N: usize>(floors: &[[f64; N]], row: &[f64; N], column: usize) -> String {
    let ratios: Vec<String> =
        floors.iter().map(|floor| format!("{:.2}", row[column] / floor[column])).collect();
    if ratios.is_empty() { String::new() } else { format!(" ({})", ratios.join(", ")) }
}

struct Run {
    /// CPU seconds of the server per call.
    cpu: f64,
    /// Calls per second.
    rate: f64,
    /// The server's threads at the end.
    threads: u64,
}

impl Run {
    /// Returns the better of two runs: disturbances only slow a run down.
    fn best(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.min(other.cpu),
            rate: self.rate.max(other.rate),
            threads: self.threads.max(other.threads),
        }
    }
}

/// Runs a server once, after a warm-up.
fn run(program: &str, calls: u64, deep: u64) -> Run {
    let mut server = Server::start(Command::new(beside(program)));
    server.calls(calls / 10, deep, 30);
    let (before, begin) = (server.cpu(), Instant::now());
    server.calls(calls, deep, 30);
    let (cpu, wall) = (server.cpu().since(before).as_secs_f64(), begin.elapsed().as_secs_f64());
    let threads = server.status("Threads:");
    Run { cpu: cpu / calls as f64, rate: calls as f64 / wall, threads }
}

/// Returns the number of threads of a server that has been called for three seconds.
fn steady_threads(program: &str) -> u64 {
    let mut server = Server::start(Command::new(beside(program)));
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(3) {
        server.calls(10 * DEEP, DEEP, 30);
    }
    server.status("Threads:")
}

/// Returns the best run of each server. They take turns, so that a disturbance affects all of them.
fn rounds(
    servers: impl Iterator<Item = (&'static str, &'static str)>,
    run: impl Fn(&str) -> Run,
) -> Vec<Run> {
    let programs: Vec<_> = servers.map(|(program, _)| program).collect();
    let rounds =
        (0..ROUNDS).map(|_| programs.iter().map(|program| run(program)).collect::<Vec<_>>());
    rounds
        .reduce(|best, round| {
            best.into_iter().zip(round).map(|(one, other)| one.best(other)).collect()
        })
        .unwrap_or_default()
}

/// Returns the median time from start to first answer of each server. They take turns.
fn starts(servers: impl Iterator<Item = (&'static str, &'static str)>) -> Vec<Duration> {
    let mut all: Vec<_> = servers.map(|(program, _)| (program, Vec::new())).collect();
    for _ in 0..STARTS {
        for (program, times) in &mut all {
            let begin = Instant::now();
            let server = Server::start(Command::new(beside(program)));
            times.push(begin.elapsed());
            drop(server);
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times.get(STARTS / 2).copied().unwrap_or_default()
    };
    all.into_iter().map(|(_, times)| median(times)).collect()
}

const STARTS: usize = 41;

/// Returns the cost of one more call, from the counts for few and for many.
fn difference(few: u64, many: u64, count: impl Fn(u64) -> u64) -> f64 {
    (count(many) as f64 - count(few) as f64) / (many - few) as f64
}

/// Returns the smallest of three callgrind counts of a server that is called `calls` times, without
/// the kernel. On a busy machine a handler may be mistaken for a slow one and moved to another
/// thread.
fn instructions(program: &str, calls: u64) -> u64 {
    (0..3).map(|_| instructions_once(program, calls)).min().unwrap_or_default()
}

fn instructions_once(program: &str, calls: u64) -> u64 {
    let out = std::env::temp_dir().join(format!("benches-{}", std::process::id()));
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(format!("--log-file={}", out.display())).arg(beside(program));
    let mut server = Server::start(command);
    server.calls(calls, 1, 30);
    server.end();
    let said = read_and_remove(&out);
    said.lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
        .unwrap_or_default()
}

fn system_calls(program: &str, calls: u64, deep: u64, bytes: usize) -> u64 {
    let out = std::env::temp_dir().join(format!("benches-{}", std::process::id()));
    let mut command = Command::new("strace");
    command.args(["-f", "-c", "-o"]).arg(&out).arg(beside(program));
    let mut server = Server::start(command);
    server.calls(calls, deep, bytes);
    server.end();
    // `% time, seconds, usecs/call, calls, errors, syscall`: the last line is the sum.
    let said = read_and_remove(&out);
    let total = said.lines().find(|line| line.ends_with("total")).unwrap_or_default();
    total.split_whitespace().nth(3).and_then(|calls| calls.parse().ok()).unwrap_or_default()
}

fn read_and_remove(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let _ = fs::remove_file(path);
    text
}

fn stripped(program: &str) -> u64 {
    let out = std::env::temp_dir().join(format!("benches-{}", std::process::id()));
    let done = Command::new("strip").arg("-o").arg(&out).arg(beside(program)).status();
    assert!(done.is_ok_and(|status| status.success()), "`strip` is installed");
    let size = fs::metadata(&out).map_or(0, |file| file.len());
    let _ = fs::remove_file(out);
    size
}

fn beside(program: &str) -> PathBuf {
    std::env::current_exe().expect("it has a path").with_file_name(program)
}

/// The CPU time of a process.
#[derive(Clone, Copy)]
struct Cpu {
    /// Of the live threads.
    here: Duration,
    /// Of all threads ever, in ticks.
    ever: Duration,
}

impl Cpu {
    /// Returns the time spent since `before`, as precisely as possible: ended threads are counted
    /// in ticks.
    fn since(self, before: Self) -> Duration {
        let here = self.here.saturating_sub(before.here);
        let ever = self.ever.saturating_sub(before.ever);
        if ever > here + Duration::from_millis(20) { ever } else { here }
    }
}

/// A server process with an open session.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    next_id: u64,
    buffer: Vec<u8>,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program is built");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let mut server = Self { child, input, output, next_id: 1, buffer: vec![0; 64 * 1024] };
        server.write(
            b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\
            \"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\
            \"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n",
        );
        server.read(1);
        server.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        server
    }

    /// Makes `calls` calls, `deep` at a time, with `bytes` bytes of text.
    fn calls(&mut self, calls: u64, deep: u64, bytes: usize) {
        let text = "x".repeat(bytes);
        let mut lines = Vec::new();
        for _ in 0..calls / deep {
            lines.clear();
            for _ in 0..deep {
                let id = self.next_id;
                self.next_id += 1;
                let call = format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\
                     \"params\":{{\"name\":\"echo\",\"arguments\":{{\"text\":\"{text}\"}}}}}}\n"
                );
                lines.extend_from_slice(call.as_bytes());
            }
            self.write(&lines);
            self.read(deep);
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().expect("it is open").write_all(bytes).expect("the server reads");
    }

    fn read(&mut self, mut lines: u64) {
        while lines > 0 {
            let count = self.output.read(&mut self.buffer).expect("the server writes");
            assert!(count > 0, "the server exited");
            lines -= memchr::memchr_iter(b'\n', &self.buffer[..count]).count() as u64;
        }
    }

    fn cpu(&self) -> Cpu {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
        let spent = tasks.flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        });
        let here = Duration::from_nanos(spent.sum());
        let text =
            fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        // The name in parentheses may contain spaces; a tick is 10 ms.
        let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks: u64 =
            fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Cpu { here, ever: Duration::from_millis(10 * ticks) }
    }

    /// Returns a line of the process status, in MiB.
    fn memory(&self, name: &str) -> f64 {
        self.status(name) as f64 / 1024.0
    }

    /// Returns a number of `/proc/PID/status`.
    fn status(&self, name: &str) -> u64 {
        let text =
            fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_default()
    }

    /// Closes stdin and waits for the exit.
    fn end(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
