//! Servers as child processes: start, supervision and shutdown.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod common;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use common::{client, eventually, example, success, welcome, with_timeout};
use mcp_blocking::proto::{CallError, CloseReason, Fault, Limits, Revision, ViolationKind};
use mcp_blocking::{Client, Connection, Error};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgid, getpgrp};
use serde_json::json;

/// Returns a shell that runs `script`. There, `welcome` handles `initialize` and `initialized`, and
/// `$ECHO` is a complete server.
fn sh(script: &str) -> Command {
    let welcome = json!({"jsonrpc": "2.0", "id": 1, "result": welcome()});
    let mut command = Command::new("sh");
    let functions =
        r#"say() { printf '%s\n' "$1"; }; welcome() { read -r _; say "$WELCOME"; read -r _; }"#;
    command.arg("-c").arg(format!("{functions}\n{script}"));
    command.env("WELCOME", welcome.to_string()).env("ECHO", example("echo_server").get_program());
    command
}

/// Returns a client with short timeouts for a shell's `welcome`.
fn impatient() -> Client {
    let limits = Limits {
        exit_timeout: Duration::from_millis(50),
        terminate_timeout: Duration::from_millis(50),
        ..Limits::default()
    };
    client().revisions(&Revision::LEGACY).limits(limits)
}

/// Returns a client with long timeouts for a shell's `welcome`.
fn patient() -> Client {
    let limits = Limits {
        exit_timeout: Duration::from_secs(3600),
        terminate_timeout: Duration::from_secs(3600),
        ..Limits::default()
    };
    client().revisions(&Revision::LEGACY).limits(limits)
}

/// Returns the process id on the first line of the child's stderr.
fn process_on_stderr(client: &Connection) -> Pid {
    eventually("the child has said a number", || !client.stderr().is_empty());
    Pid::from_raw(client.stderr()[0].parse().unwrap())
}

/// Returns whether a process is running. A zombie is not.
fn is_alive(process: Pid) -> bool {
    if kill(process, None) == Err(Errno::ESRCH) {
        return false;
    }
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !stat.contains(") Z ")
}

#[test]
fn a_child_serves_and_ends_when_its_input_does() {
    with_timeout(|| {
        let client =
            patient().revisions(&Revision::ALL).spawn(example("echo_server")).wait().unwrap();
        assert_eq!(&*client.peer().info.name, "echo");
        assert_eq!(success(client.call_tool("echo", &json!({"text": "hello"})).wait()), "hello");
        assert_eq!(client.list_tools().wait().unwrap().len(), 4);
        assert_eq!(client.close().wait().unwrap().unwrap().code(), Some(0));
    });
}

#[test]
fn a_child_may_write_while_it_exits() {
    with_timeout(|| {
        // Late output must be read, or the child would die of SIGPIPE.
        let script = r#"welcome; while read -r _; do :; done
            i=0; while [ $i -lt 2000 ]; do i=$((i+1)); say "late output, number $i"; done
            echo done >&2; exit 3"#;
        let client = patient().spawn(sh(script)).wait().unwrap();
        assert_eq!(client.close().wait().unwrap().unwrap().code(), Some(3));
    });
}

#[test]
fn a_child_has_a_separate_process_group() {
    with_timeout(|| {
        let client = patient().spawn(sh("echo $$ >&2; exec $ECHO")).wait().unwrap();
        let child = process_on_stderr(&client);
        assert_eq!(getpgid(Some(child)).unwrap(), child);
        assert_ne!(getpgrp(), child);
        client.close().wait().unwrap();
    });
}

#[test]
fn a_missing_program_is_an_error() {
    with_timeout(|| {
        let failed = client().spawn(Command::new("/no/such/server")).wait();
        assert!(
            matches!(&failed, Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::NotFound)
        );
    });
}

#[test]
fn the_error_of_a_child_that_fails_to_start_includes_its_stderr() {
    with_timeout(|| {
        let script = "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo \"line $i\" >&2; done; exit 7";
        let failed = client().spawn(sh(script)).wait().map(drop).unwrap_err();
        let Error::Start { why: CloseReason::Peer, status: Some(status), stderr, .. } = &failed
        else {
            panic!("{failed:?}")
        };
        assert_eq!(status.code(), Some(7));
        assert_eq!(**stderr, (69..=100).map(|line| format!("line {line}")).collect::<Vec<_>>());
        let said = failed.to_string();
        assert!(said.contains("exit status: 7") && said.contains("stderr: line 100"), "{said}");
    });
}

#[test]
fn stderr_lines_are_bounded() {
    with_timeout(|| {
        let script = concat!(
            "head -c 1000000 /dev/zero | tr '\\0' x >&2; ",
            "echo >&2; printf '\\377 the end' >&2; exit 1"
        );
        let failed = client().spawn(sh(script)).wait().map(drop).unwrap_err();
        let Error::Start { stderr, .. } = failed else { panic!("{failed:?}") };
        assert_eq!(stderr.len(), 32);
        assert!(stderr.iter().all(|line| line.len() <= 1024));
        assert_eq!(stderr[31], "\u{fffd} the end");
    });
}

#[test]
fn a_child_that_does_not_answer_is_ended() {
    with_timeout(|| {
        let limits = Limits {
            probe_timeout: Duration::from_millis(50),
            handshake_timeout: Duration::from_millis(50),
            exit_timeout: Duration::from_millis(50),
            ..Limits::default()
        };
        let failed = client()
            .limits(limits)
            .spawn(sh("echo $$ >&2; exec sleep 1000"))
            .wait()
            .map(drop)
            .unwrap_err();
        let Error::Start { why, status: Some(status), stderr, .. } = failed else {
            panic!("{failed:?}")
        };
        assert_eq!(why, CloseReason::Fault(Fault::HandshakeTimedOut));
        assert_eq!(status.signal(), Some(Signal::SIGTERM as i32));
        assert!(!is_alive(Pid::from_raw(stderr[0].parse().unwrap())));
    });
}

#[test]
fn a_child_that_ignores_the_end_of_its_input_gets_sigterm() {
    with_timeout(|| {
        let client = impatient().spawn(sh("welcome; exec sleep 1000")).wait().unwrap();
        assert_eq!(client.close().wait().unwrap().unwrap().signal(), Some(Signal::SIGTERM as i32));

        // The child may take its time and choose its exit status.
        let limits = Limits {
            terminate_timeout: Duration::from_secs(3600),
            exit_timeout: Duration::from_millis(50),
            ..Limits::default()
        };
        let client = client_with(limits)
            .spawn(sh("trap 'exit 7' TERM; welcome; while :; do sleep 1; done"))
            .wait()
            .unwrap();
        assert_eq!(client.close().wait().unwrap().unwrap().code(), Some(7));
    });
}

fn client_with(limits: Limits) -> Client {
    client().revisions(&Revision::LEGACY).limits(limits)
}

#[test]
fn a_child_that_ignores_sigterm_is_killed() {
    with_timeout(|| {
        let client = impatient()
            .spawn(sh("trap '' TERM; welcome; while :; do sleep 1; done"))
            .wait()
            .unwrap();
        assert_eq!(client.close().wait().unwrap().unwrap().signal(), Some(Signal::SIGKILL as i32));
    });
}

#[test]
fn a_child_with_a_full_pipe_is_ended() {
    with_timeout(|| {
        let client = impatient().spawn(sh("welcome; exec sleep 1000")).wait().unwrap();
        let open =
            client.call_tool("any", &json!({"text": "x".repeat(500_000)})).start().wait().unwrap();
        let status = client.close().wait().unwrap().unwrap();
        assert_eq!(status.signal(), Some(Signal::SIGTERM as i32));
        assert!(matches!(open.wait(), Err(Error::Call(CallError::Lost))));
    });
}

#[test]
fn grandchildren_do_not_survive_their_parent() {
    with_timeout(|| {
        // One ends on SIGTERM, the other has to be killed.
        for (client, script) in [
            (patient(), "sleep 1000 & echo $! >&2; exec $ECHO"),
            (impatient(), "trap '' TERM; sleep 1000 & echo $! >&2; welcome; wait"),
        ] {
            let client = client.spawn(sh(script)).wait().unwrap();
            let grandchild = process_on_stderr(&client);
            assert!(is_alive(grandchild));
            client.close().wait().unwrap();
            eventually("the grandchild is gone", || !is_alive(grandchild));
        }
    });
}

#[test]
fn dropping_the_connection_leaves_no_orphan() {
    with_timeout(|| {
        let client = impatient()
            .spawn(sh("echo $$ >&2; trap '' TERM; welcome; while :; do sleep 1; done"))
            .wait()
            .unwrap();
        let child = process_on_stderr(&client);
        assert!(is_alive(child));
        drop(client);
        assert!(!is_alive(child), "dropping waits for the child");
    });
}

#[test]
fn a_second_close_waits_as_well_and_returns_the_status() {
    with_timeout(|| {
        let client = patient().spawn(sh("welcome; read -r _; sleep 0.05; exit 3")).wait().unwrap();
        let handles: Vec<_> = (0..8).map(|_| client.clone()).collect();
        drop(client);
        let closing = handles
            .into_iter()
            .map(|handle| std::thread::spawn(move || handle.close().wait().unwrap()));
        let closing: Vec<_> = closing.collect();
        for closed in closing {
            assert_eq!(closed.join().unwrap().unwrap().code(), Some(3));
        }
    });
}

#[test]
fn a_child_that_exits_loses_the_calls_in_flight_immediately() {
    with_timeout(|| {
        let lossy = patient().recovery(mcp_blocking::Recovery::off());
        let client = lossy.spawn(sh("welcome; read -r _; exit 3")).wait().unwrap();
        let outcome = client.call_tool("any", &json!({})).wait();
        assert!(matches!(outcome, Err(Error::Call(CallError::Lost))), "{outcome:?}");
        eventually("the connection knows of its end", || {
            client.close_reason() == Some(CloseReason::Peer)
        });
        assert_eq!(client.close().wait().unwrap().unwrap().code(), Some(3));
    });
}

#[test]
fn a_child_killed_from_outside_is_detected() {
    with_timeout(|| {
        let client = patient().spawn(sh("echo $$ >&2; exec $ECHO")).wait().unwrap();
        let open = client.call_tool("sleep", &json!({"number": 3_600_000})).start().wait().unwrap();
        kill(process_on_stderr(&client), Signal::SIGKILL).unwrap();
        assert!(matches!(open.wait(), Err(Error::Call(CallError::Lost))));
        assert_eq!(client.close().wait().unwrap().unwrap().signal(), Some(Signal::SIGKILL as i32));
    });
}

#[test]
fn the_last_response_of_a_child_that_exits_arrives() {
    with_timeout(|| {
        let content = json!([{"type": "text", "text": "goodbye"}]);
        let answer = json!({"jsonrpc": "2.0", "id": 2, "result": {"content": content}});
        for _ in 0..20 {
            let mut command = sh("welcome; read -r _; say \"$ANSWER\"");
            command.env("ANSWER", answer.to_string());
            let client = patient().spawn(command).wait().unwrap();
            assert_eq!(success(client.call_tool("any", &json!({})).wait()), "goodbye");
            assert_eq!(client.close().wait().unwrap().unwrap().code(), Some(0));
        }
    });
}

#[test]
fn output_besides_the_protocol_is_tolerated() {
    with_timeout(|| {
        let (says, hears) = channel();
        let says = std::sync::Mutex::new(says);
        let script =
            "echo 'Welcome to the echo server!'; echo; welcome; echo DEBUG: got a call; exec $ECHO";
        let client = patient()
            .on_violation(move |violation, _| {
                let _test_has_ended = says.lock().unwrap().send(violation.kind);
            })
            .spawn(sh(script))
            .wait()
            .unwrap();
        client.ping().wait().unwrap();
        assert_eq!(hears.recv().unwrap(), ViolationKind::NotJson);
        assert_eq!(hears.recv().unwrap(), ViolationKind::NotJson);
        assert_eq!(client.close().wait().unwrap().unwrap().code(), Some(0));
    });
}

/// A grandchild in a separate session is outside the process group and cannot be ended.
#[test]
#[cfg(target_os = "linux")]
fn a_grandchild_that_keeps_the_pipes_open_does_not_block_closing() {
    with_timeout(|| {
        let script = "setsid sh -c 'echo $$ >&2; exec sleep 1000' & welcome; read -r _; exit 5";
        let client = patient().spawn(sh(script)).wait().unwrap();
        let grandchild = process_on_stderr(&client);
        let outcome = client.call_tool("any", &json!({})).wait();
        assert!(matches!(outcome, Err(Error::Call(CallError::Lost))), "{outcome:?}");
        assert_eq!(client.stderr()[0], grandchild.to_string());
        assert_eq!(client.close().wait().unwrap().unwrap().code(), Some(5));
        assert!(is_alive(grandchild));
        kill(grandchild, Signal::SIGKILL).unwrap();
    });
}

#[test]
fn a_child_that_floods_its_stderr_is_not_blocked() {
    with_timeout(|| {
        let script = concat!(
            "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); ",
            "echo \"a rather long line, number $i\" >&2; done; exec $ECHO"
        );
        let client = patient().spawn(sh(script)).wait().unwrap();
        client.ping().wait().unwrap();
        eventually("its last line has arrived", || {
            client.stderr().last().is_some_and(|line| line.ends_with("number 5000"))
        });
        assert_eq!(client.stderr().len(), 32);
        client.close().wait().unwrap();
    });
}
