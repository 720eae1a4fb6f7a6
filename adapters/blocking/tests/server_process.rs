//! A server as a process: it ends promptly and cleanly in every situation.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![allow(clippy::print_stdout, reason = "how long the ends take is worth a look")]

mod common;

use std::io::{Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use common::{Hand, example, with_timeout};
use mcp_blocking::Cx;
use mcp_test_processes::Process;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

type Pipes = Hand<ChildStdout, ChildStdin>;

fn start() -> (Process, Pipes, ChildStderr) {
    let mut command = example("echo_server");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process::start(&mut command);
    let (stdout, stdin) = process.pipes();
    let stderr = process.stderr.take().unwrap();
    (process, Hand::new(stdout, stdin), stderr)
}

fn signal(process: &Process, signal: Signal) {
    kill(Pid::from_raw(process.id().cast_signed()), signal).unwrap();
}

/// Waits for the end of the process, which must be successful.
fn ends_well(mut process: Process, mut stderr: ChildStderr) {
    let status = process.wait();
    let mut output = String::new();
    stderr.read_to_string(&mut output).unwrap();
    assert_eq!((status.code(), &*output), (Some(0), ""), "{status}");
}

/// What a server is doing when it is ended.
#[derive(Clone, Copy, Debug)]
enum Doing {
    /// Waiting for a client's first message.
    Nothing,
    /// Waiting for a client's next message.
    Idle,
    /// Running a handler that takes an hour.
    Busy,
    /// Sending to a client that does not read.
    Stuck,
}

/// What ends the server. Its stdin stays open, unless closing it is what ends the server.
#[derive(Clone, Copy, Debug)]
enum End {
    Eof,
    Int,
    Term,
}

/// Returns how long a server takes to end.
fn time_to_end(doing: Doing, end: End) -> Duration {
    let (mut process, mut hand, stderr) = start();
    match doing {
        Doing::Nothing => {
            // A response proves that the server runs.
            hand.request(1, "ping", &json!({}));
            hand.hear();
        }
        Doing::Idle => drop(hand.greet(json!({}))),
        Doing::Busy => {
            hand.greet(json!({}));
            hand.call_tool(1, "sleep", &json!({"number": 3_600_000}));
            hand.request(2, "ping", &json!({}));
            assert_eq!(hand.hear()["id"], 2);
        }
        Doing::Stuck => {
            hand.greet(json!({}));
            hand.call_tool(1, "flood", &json!({"number": 1_000_000}));
            hand.hear_notification("notifications/message");
        }
    }
    let Hand { reader: stdout, writer: stdin } = hand;
    let mut stdin = Some(stdin);
    let began = Instant::now();
    match end {
        End::Eof => drop(stdin.take()),
        End::Int => signal(&process, Signal::SIGINT),
        End::Term => signal(&process, Signal::SIGTERM),
    }
    process.wait();
    let took = began.elapsed();
    ends_well(process, stderr);
    drop((stdin, stdout));
    took
}

#[test]
fn a_server_ends_promptly_in_every_situation() {
    with_timeout(|| {
        for doing in [Doing::Nothing, Doing::Idle, Doing::Busy, Doing::Stuck] {
            for end in [End::Eof, End::Int, End::Term] {
                // At the end of the input, handlers may take seconds to respond.
                if matches!((doing, end), (Doing::Busy | Doing::Stuck, End::Eof)) {
                    continue;
                }
                let took = time_to_end(doing, end);
                println!("{doing:?}, {end:?}: {:.1} ms", took.as_secs_f64() * 1000.0);
                // It is to take 100 ms at most; the rest is for a machine that is busy with other
                // things.
                assert!(took < Duration::from_secs(1), "{doing:?}, {end:?}: {took:?}");
            }
        }
    });
}

#[test]
fn requests_followed_immediately_by_the_end_of_input_are_answered() {
    with_timeout(|| {
        let (process, mut hand, stderr) = start();
        let info = json!({"name": "n", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        hand.request(1, "initialize", &hello);
        hand.notify("notifications/initialized", &json!({}));
        hand.request(2, "tools/list", &json!({}));
        let last = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
        // The last line lacks its newline.
        hand.writer.write_all(last.as_bytes()).unwrap();
        let Hand { mut reader, writer } = hand;
        drop(writer);
        let mut all = String::new();
        reader.read_to_string(&mut all).unwrap();
        let ids: Vec<_> = all
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
            .collect();
        assert_eq!(ids, [1, 2, 3]);
        ends_well(process, stderr);
    });
}

#[test]
fn handlers_may_finish_after_the_end_of_the_input() {
    with_timeout(|| {
        let limits = mcp_blocking::proto::Limits {
            eof_drain_timeout: Duration::from_secs(60),
            ..Default::default()
        };
        let server = common::server().limits(limits).threads_max(2).add(common::tool(
            "work",
            |arguments: Value, cx: Cx| {
                assert!(!cx.sleep(Duration::from_millis(2)).wait());
                arguments["number"].to_string()
            },
        ));
        let (mut hand, serving) = common::serve_by_hand(server);
        hand.greet(json!({}));
        for id in 0..50 {
            hand.call_tool(id, "work", &json!({"number": id}));
        }
        let Hand { reader, writer } = hand;
        drop(writer);
        let mut hand = Hand::new(reader, std::io::sink());
        let mut answered: Vec<_> = (0..50).map(|_| hand.hear()["id"].as_u64().unwrap()).collect();
        answered.sort_unstable();
        assert_eq!(answered, (0..50).collect::<Vec<_>>());
        assert_eq!(hand.hear_or_end(), None, "nothing is left to wait for");
        serving.join().unwrap().unwrap();
    });
}

#[test]
fn a_response_is_not_truncated_while_the_client_reads() {
    with_timeout(|| {
        let (process, mut hand, stderr) = start();
        hand.greet(json!({}));
        let text = "x".repeat(1_600_000);
        hand.call_tool(1, "echo", &json!({"text": text}));
        // Its first bytes have arrived, so the response is being sent when the server is ended.
        let mut all = vec![0; 10];
        hand.reader.read_exact(&mut all).unwrap();
        let Hand { mut reader, writer } = hand;
        drop(writer);
        let mut piece = [0; 8192];
        loop {
            let count = reader.read(&mut piece).unwrap();
            if count == 0 {
                break;
            }
            all.extend_from_slice(&piece[..count]);
            std::thread::sleep(Duration::from_micros(200));
        }
        assert!(all.ends_with(b"\n"), "cut off after {} bytes", all.len());
        let answer: Value = serde_json::from_slice(&all).unwrap();
        assert_eq!(answer["result"]["content"][0]["text"].as_str().map(str::len), Some(text.len()));
        ends_well(process, stderr);
    });
}

#[test]
fn a_server_whose_reader_is_gone_exits_successfully() {
    with_timeout(|| {
        for doing in ["ping", "flood"] {
            let (process, mut hand, stderr) = start();
            hand.greet(json!({}));
            if doing == "flood" {
                hand.call_tool(1, "flood", &json!({"number": 1_000_000}));
                hand.hear_notification("notifications/message");
            }
            let Hand { reader, mut writer } = hand;
            drop(reader);
            // Its stdin stays open: only an answer finds out. (One may not: while another test
            // starts a process, that one has the pipe as well, for a moment.)
            let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
            while writeln!(writer, "{ping}").is_ok() {}
            ends_well(process, stderr);
            drop(writer);
        }
    });
}

#[test]
fn panic_messages_go_to_stderr_only() {
    with_timeout(|| {
        let (mut process, mut hand, mut stderr) = start();
        hand.greet(json!({}));
        hand.call_tool(1, "panic", &json!({}));
        let answer = hand.hear();
        assert_eq!(answer["error"]["code"], -32603);
        assert!(!answer.to_string().contains("as it was asked to"), "{answer}");
        drop(hand);
        let status = process.wait();
        assert_eq!(status.code(), Some(0));
        let mut output = String::new();
        stderr.read_to_string(&mut output).unwrap();
        assert!(output.contains("as it was asked to"), "{output}");
    });
}
