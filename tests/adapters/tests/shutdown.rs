//! How long a server process takes to end, for each cause, activity and kind of stdin, on each
//! runtime.
//!
//! Prints the measurements: `cargo test -p mcp-adapter-tests --test shutdown -- --nocapture`.
//!
//! Open requests may still be answered for `Limits::drain_timeout`, 50 ms, and at the end of the
//! input for `Limits::eof_drain_timeout`, here 50 ms as well, so busy servers may take that much
//! longer than idle ones.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![allow(clippy::print_stdout, reason = "prints measurements")]

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use mcp_adapter_tests::{
    Blocking, Hand, Process, Runtime, Smol, Tokio, TokioThreads, adapter_server, start_on_pipes,
    with_timeout,
};
use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// How long an end may take on a busy machine. Only a server that hangs takes longer.
const BOUND: Duration = Duration::from_secs(3);

/// The kind of stdin and stdout.
#[derive(Clone, Copy, Debug)]
enum Streams {
    Pipes,
    Socket,
    Terminal,
}

/// What a server does when it has to end.
#[derive(Clone, Copy, Debug)]
enum Doing {
    /// Waiting for the client's next message.
    Idle,
    /// Running an async handler that never ends.
    Busy,
    /// Running a plain handler that never ends.
    BusyPlain,
    /// Waiting for an answer of the user.
    Asking,
}

/// The cause of the end.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The end of stdin.
    Eof,
    /// The client stops reading; the server's stdin stays open.
    Deaf,
    Int,
    Term,
}

type Reader = Box<dyn Read + Send>;
type Writer = Box<dyn Write + Send>;

/// One direction of a socket, shut down when dropped.
struct Half(UnixStream, Shutdown);

impl Read for Half {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        let _gone = self.0.shutdown(self.1);
    }
}

fn start<R: Runtime>(streams: Streams) -> (Process, Hand<Reader, Writer>) {
    let mut command = adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"));
    command.env("EOF_DRAIN_MS", "50");
    let (process, reader, writer): (_, Reader, Writer) = match streams {
        Streams::Pipes => {
            let (process, Hand { reader, writer }) = start_on_pipes(&mut command);
            (process, Box::new(reader), Box::new(writer))
        }
        Streams::Socket => {
            let (ours, theirs) = UnixStream::pair().unwrap();
            command.stdin(OwnedFd::from(theirs.try_clone().unwrap()));
            command.stdout(OwnedFd::from(theirs));
            let reader = Half(ours.try_clone().unwrap(), Shutdown::Read);
            let writer = Half(ours, Shutdown::Write);
            (Process::start(&mut command), Box::new(reader), Box::new(writer))
        }
        Streams::Terminal => {
            // No child may inherit the master, or the terminal would never close.
            let flags = OFlag::O_RDWR | OFlag::O_NOCTTY;
            let master = posix_openpt(flags | OFlag::O_CLOEXEC).unwrap();
            grantpt(&master).unwrap();
            unlockpt(&master).unwrap();
            let mut options = File::options();
            options.read(true).write(true).custom_flags(OFlag::O_NOCTTY.bits());
            let slave = options.open(ptsname_r(&master).unwrap()).unwrap();
            let mut settings = tcgetattr(&slave).unwrap();
            cfmakeraw(&mut settings);
            tcsetattr(&slave, SetArg::TCSANOW, &settings).unwrap();
            command.stdin(slave.try_clone().unwrap()).stdout(slave);
            let master = File::from(OwnedFd::from(master));
            let reader = master.try_clone().unwrap();
            (Process::start(&mut command), Box::new(reader), Box::new(master))
        }
    };
    (process, Hand::new(reader, writer))
}

/// Sends what makes a server do this, starting with the handshake.
fn begin(doing: Doing, hand: &mut Hand<Reader, Writer>) {
    hand.greet(&json!({"elicitation": {}}));
    match doing {
        Doing::Idle => return,
        Doing::Busy => hand.call_tool(1, "hang", &json!({})),
        Doing::BusyPlain => hand.call_tool(1, "hang_plain", &json!({})),
        Doing::Asking => {
            hand.call_tool(1, "who", &json!({}));
            assert_eq!(hand.hear()["method"], "elicitation/create");
            return;
        }
    }
    // The handler runs once the server answers a later message.
    hand.request(2, "ping", &json!({}));
    assert_eq!(hand.hear()["id"], 2);
}

/// Measures how long a server takes to end, without an error.
fn time_to_end<R: Runtime>(streams: Streams, doing: Doing, end: End) -> Duration {
    let (mut process, mut hand) = start::<R>(streams);
    begin(doing, &mut hand);
    let id = Pid::from_raw(process.id().cast_signed());
    let mut hand = Some(hand);
    let began = Instant::now();
    match (end, streams) {
        // A terminal has no separate directions.
        (End::Eof, Streams::Terminal) => drop(hand.take()),
        (End::Eof, _) => {
            let Hand { reader, writer } = hand.take().unwrap();
            drop(writer);
            hand = Some(Hand { reader, writer: Box::new(io::sink()) });
        }
        (End::Deaf, _) => {
            let Hand { reader, mut writer } = hand.take().unwrap();
            drop(reader);
            // The server notices only when it writes. (The first write may succeed: a process that
            // another test starts holds the pipe for a moment.)
            let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
            while writeln!(writer, "{ping}").is_ok() {}
        }
        (End::Int, _) => kill(id, Signal::SIGINT).unwrap(),
        (End::Term, _) => kill(id, Signal::SIGTERM).unwrap(),
    }
    let status = process.wait();
    let took = began.elapsed();
    assert_eq!(status.code(), Some(0), "{} {streams:?} {doing:?} {end:?}: {status}", R::NAME);
    drop(hand);
    took
}

/// Measures on each runtime, as one line of the table.
fn measure(
    what: &str,
    on_each: [fn(Streams, Doing, End) -> Duration; 4],
    row: (Streams, Doing, End),
) {
    let took = on_each.map(|measure| with_timeout(move || measure(row.0, row.1, row.2)));
    let shown = took.map(|took| format!("{:>8.1}", took.as_secs_f64() * 1000.0)).join(" |");
    println!("{what:<28} |{shown}");
    assert!(took.iter().all(|took| *took < BOUND), "{what}: {took:?}");
}

fn table(streams: Streams, all_doing: &[Doing], ends: &[End]) {
    println!("{:<28} |blocking |    smol |   tokio | threads   (ms)", format!("{streams:?}"));
    let on_each = [
        time_to_end::<Blocking>,
        time_to_end::<Smol>,
        time_to_end::<Tokio>,
        time_to_end::<TokioThreads>,
    ];
    for doing in all_doing {
        for end in ends {
            measure(&format!("{streams:?} {doing:?} {end:?}"), on_each, (streams, *doing, *end));
        }
    }
}

const DOING: [Doing; 4] = [Doing::Idle, Doing::Busy, Doing::BusyPlain, Doing::Asking];

#[test]
fn a_server_on_pipes_ends_promptly() {
    table(Streams::Pipes, &DOING, &[End::Eof, End::Term, End::Int, End::Deaf]);
}

#[test]
fn a_server_on_a_socket_ends_promptly() {
    table(Streams::Socket, &DOING, &[End::Eof, End::Term, End::Int, End::Deaf]);
}

/// Threads that are never joined read its stdin and write its stdout.
#[test]
fn a_server_on_a_terminal_ends_promptly() {
    table(Streams::Terminal, &DOING, &[End::Eof, End::Term, End::Int]);
}

/// Serves from one file to another: all of the client's messages to all of the server's.
fn from_file_to_file<R: Runtime>() -> Duration {
    let scratch = |what: &str| {
        let name = format!("mcp-row-{}-{}-{what}", R::NAME, std::process::id());
        let path = std::env::temp_dir().join(name);
        let file =
            File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    };
    let (mut input, mut output) = (scratch("in"), scratch("out"));
    let text = "x".repeat(200_000);
    let mut hand = Hand::new(io::empty(), &input);
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "file", "version": "1"},
    });
    hand.request(0, "initialize", &hello);
    hand.notify("notifications/initialized", &json!({}));
    hand.request(1, "ping", &json!({}));
    hand.call_tool(2, "hang", &json!({}));
    hand.request(3, "tools/list", &json!({}));
    hand.request(4, "tools/call", &json!({"name": "missing", "arguments": {"text": text}}));
    input.rewind().unwrap();
    let mut command = adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"));
    command.stdin(input).stdout(output.try_clone().unwrap()).env("EOF_DRAIN_MS", "50");
    let began = Instant::now();
    let mut process = Process::start(&mut command);
    let status = process.wait();
    let took = began.elapsed();
    assert_eq!(status.code(), Some(0), "{status}");
    output.rewind().unwrap();
    let output = io::read_to_string(output).unwrap();
    let ids: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    assert!([0, 1, 3, 4].iter().all(|id| ids.contains(&json!(id))), "{}: {ids:?}", R::NAME);
    took
}

#[test]
fn a_server_on_files_answers_all_of_them_and_ends_promptly() {
    let on_each = [
        from_file_to_file::<Blocking>,
        from_file_to_file::<Smol>,
        from_file_to_file::<Tokio>,
        from_file_to_file::<TokioThreads>,
    ];
    let took = on_each.map(with_timeout);
    println!("Files, busy, from its start to its end: {took:.1?}");
    assert!(took.iter().all(|took| *took < BOUND), "{took:?}");
}
