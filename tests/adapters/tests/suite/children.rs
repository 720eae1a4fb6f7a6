//! Servers as child processes: how they are started, monitored and ended without remains.

use std::io::ErrorKind;
use std::process::Command;
use std::time::{Duration, Instant};

use mcp_adapter::proto::schema::CallToolResult;
use mcp_adapter::proto::{CallError, CloseReason, Filter, Limits, Revision};
use mcp_adapter::{Changed, Client, Error, Recovery, ServerProcess};
use mcp_adapter_tests::{
    Runtime, adapter_server, client, eventually, is_alive, rows, scratch_path, success,
};
use nix::unistd::{Pid, getpgid, getpgrp};
use serde_json::json;
use std::os::unix::process::ExitStatusExt;

use crate::SERVER;

rows! {
    a_child_serves_and_ends_when_its_input_does,
    a_child_has_a_separate_process_group,
    a_child_receives_few_variables_unless_it_inherits_all,
    a_missing_program_is_reported,
    the_stderr_of_a_failed_start_is_reported,
    what_a_program_writes_instead_of_messages_is_reported,
    a_child_that_exits_fails_its_calls_immediately_and_says_how,
    an_unresponsive_child_is_terminated_then_killed,
    a_child_that_never_stops_writing_is_ended,
    dropping_the_last_handle_ends_the_process_group,
    dropping_a_start_ends_the_child,
    a_reconnect_keeps_subscriptions,
}

/// Returns a shell that runs `script`, in which `welcome` reads `initialize` and `initialized` like
/// a server.
pub(crate) fn sh(script: &str) -> Command {
    let welcome = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "sh", "version": "1"},
    }});
    let mut command = Command::new("sh");
    let functions = r#"welcome() { read -r _; printf '%s\n' "$WELCOME"; read -r _; }"#;
    command.arg("-c").arg(format!("{functions}\n{script}")).env("WELCOME", welcome.to_string());
    command
}

/// Returns a client with short timeouts, for a shell's `welcome`.
pub(crate) fn impatient() -> Client {
    let (exit_timeout, terminate_timeout) = (Duration::from_millis(50), Duration::from_millis(50));
    let limits = Limits { exit_timeout, terminate_timeout, ..Limits::default() };
    client().revisions(&Revision::LEGACY).limits(limits)
}

async fn child_id(connection: &mcp_adapter::Connection) -> u32 {
    success(connection.call_tool("pid", &json!({})).await).parse().unwrap()
}

/// Returns `count` numbers that a child writes to stderr.
async fn numbers(connection: &mcp_adapter::Connection, count: usize) -> Vec<u32> {
    // FRM-05, FRM-06: a server that writes to stderr stays connected.
    eventually("the child has written its numbers", || connection.stderr().len() >= count).await;
    connection.stderr().iter().map(|line| line.parse().unwrap()).collect()
}

async fn a_child_serves_and_ends_when_its_input_does<R: Runtime>() {
    let connection = R::spawn(client(), adapter_server::<R>(SERVER)).await.unwrap();
    let child = child_id(&connection).await;
    assert_eq!(success(connection.call_tool("who", &json!({})).await), "Ada");
    let text = "x".repeat(500_000);
    assert!(success(connection.call_tool("echo", &json!({"text": text})).await) == text);
    assert_eq!(connection.clone().close().await.unwrap().unwrap().code(), Some(0));
    assert!(!is_alive(child), "the child is reaped");
}

async fn a_child_has_a_separate_process_group<R: Runtime>() {
    let connection = R::spawn(client(), adapter_server::<R>(SERVER)).await.unwrap();
    let child = Pid::from_raw(child_id(&connection).await.cast_signed());
    assert_eq!(getpgid(Some(child)).unwrap(), child);
    assert_ne!(getpgrp(), child);
}

async fn a_child_receives_few_variables_unless_it_inherits_all<R: Runtime>() {
    // Any other variable of this process, such as one that cargo sets; a shell sets some itself.
    let few = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "PWD", "OLDPWD", "SHLVL", "_"];
    let mut variables = std::env::vars_os().map(|(name, _)| name);
    let other = variables.find(|name| few.iter().all(|few| name != few)).unwrap_or_default();
    let all = if other.is_empty() { " own path" } else { "other own path" };
    let script = concat!(
        r#"printenv "$0" >/dev/null && other=other; "#,
        r#"echo "$other ${OWN-none} ${PATH:+path}" >&2; exec "$@""#
    );
    for (inherits, expected) in [(false, " own path"), (true, all)] {
        let server = adapter_server::<R>(SERVER);
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&other).arg(server.get_program()).args(server.get_args());
        command.env("OWN", "own");
        let mut server = ServerProcess::new(command);
        if inherits {
            server = server.inherit_environment();
        }
        let connection = R::spawn(client(), server).await.unwrap();
        eventually("the child has written its variables", || !connection.stderr().is_empty()).await;
        assert_eq!(connection.stderr()[0], expected, "{}", R::NAME);
        connection.clone().close().await.unwrap();
    }
}

async fn a_missing_program_is_reported<R: Runtime>() {
    for program in ["/no/such/server", "no-such-server"] {
        let failed = R::spawn(client(), Command::new(program)).await.map(|_| ()).unwrap_err();
        assert!(
            matches!(&failed, Error::Io(error) if error.kind() == ErrorKind::NotFound),
            "{failed:?}"
        );
        let text = failed.to_string();
        assert!(text.contains(program) && text.contains("`PATH`"), "{text}");
    }
    let failed = R::spawn(client(), Command::new("/")).await.map(|_| ()).unwrap_err();
    let text = failed.to_string();
    assert!(text.contains("\"/\"") && text.contains("executable"), "{text}");
}

async fn the_stderr_of_a_failed_start_is_reported<R: Runtime>() {
    let script = "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo \"line $i\" >&2; done; exit 7";
    let failed = R::spawn(client(), sh(script)).await.map(|_| ()).unwrap_err();
    let Error::Start { why: CloseReason::Peer, status: Some(status), stderr, .. } = &failed else {
        panic!("{failed:?}")
    };
    assert_eq!(status.code(), Some(7));
    assert!(failed.to_string().starts_with("the server `sh` did not start: "), "{failed}");
    assert_eq!(**stderr, (69..=100).map(|line| format!("line {line}")).collect::<Vec<_>>());
}

async fn what_a_program_writes_instead_of_messages_is_reported<R: Runtime>() {
    for (script, texts) in [
        ("echo 'Usage: server [--port N]'; exit 2", &["Usage: server [--port N]", "status: 2"][..]),
        (r"printf 'Content-Length: 40\r\n\r\n{}'; exit 1", &["Content-Length: 40", "status: 1"]),
        (r"printf '\377\376{\000a\000\n\000'; exit 1", &["UTF-8", "{a"]),
        // Without a line break, and with an escape sequence of terminals.
        (r"printf 'panicked \033[31mat main'; exit 3", &["\"panicked at main\"", "status: 3"]),
        ("echo Listening on port 3000; sleep 3600", &["Listening on port 3000", "timed out"]),
    ] {
        let limits = Limits {
            handshake_timeout: Duration::from_millis(500),
            exit_timeout: Duration::from_millis(50),
            terminate_timeout: Duration::from_millis(50),
            ..Limits::default()
        };
        let client = client().revisions(&Revision::LEGACY).limits(limits);
        let failed = R::spawn(client, sh(script)).await.map(|_| ()).unwrap_err();
        let text = failed.to_string();
        assert!(texts.iter().all(|wanted| text.contains(wanted)), "{script}: {text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

async fn a_child_that_exits_fails_its_calls_immediately_and_says_how<R: Runtime>() {
    let lossy = client().recovery(Recovery::off());
    let connection = R::spawn(lossy, adapter_server::<R>(SERVER)).await.unwrap();
    let child = child_id(&connection).await;
    let open =
        connection.call_tool("hang", &json!({})).timeout(Duration::MAX).start().await.unwrap();
    let lost = |outcome: Result<CallToolResult, Error>| {
        matches!(outcome, Err(Error::Call(CallError::Lost)))
    };
    assert!(lost(connection.call_tool("exit", &json!({})).await));
    assert!(lost(open.await));
    connection.wait_ended().await.unwrap();
    assert_eq!(connection.close_reason(), Some(CloseReason::Peer));
    connection.call_tool("echo", &json!({})).await.unwrap_err();
    assert_eq!(connection.clone().close().await.unwrap().unwrap().code(), Some(7));
    assert!(!is_alive(child), "the child is reaped");
}

async fn an_unresponsive_child_is_terminated_then_killed<R: Runtime>() {
    // One child reacts to SIGTERM, the other to nothing.
    for (trap, signal) in [("", 15), ("trap '' TERM;", 9)] {
        let script = format!(
            "{trap} welcome; sleep 3600 & echo $! >&2; echo $$ >&2; wait; wait; sleep 3600"
        );
        let connection = R::spawn(impatient(), sh(&script)).await.unwrap();
        let processes = numbers(&connection, 2).await;
        let began = Instant::now();
        let status = connection.clone().close().await.unwrap().unwrap();
        assert!(began.elapsed() >= Duration::from_millis(50), "its input was closed first");
        assert_eq!(status.signal(), Some(signal), "{status}");
        for process in processes {
            gone(process).await;
        }
    }
}

async fn a_child_that_never_stops_writing_is_ended<R: Runtime>() {
    let script = concat!(
        "welcome; trap '' TERM; ",
        r#"exec yes '{"jsonrpc":"2.0","method":"notifications/row/any"}'"#
    );
    let connection = R::spawn(impatient(), sh(script)).await.unwrap();
    assert_eq!(connection.clone().close().await.unwrap().unwrap().signal(), Some(9));
}

/// Waits until a process is gone: the reaper of a killed child's descendants takes its time.
async fn gone(process: u32) {
    let is_zombie = || {
        std::fs::read_to_string(format!("/proc/{process}/stat"))
            .unwrap_or_default()
            .contains(") Z ")
    };
    eventually("it is gone", || !is_alive(process) || is_zombie()).await;
}

async fn dropping_the_last_handle_ends_the_process_group<R: Runtime>() {
    let script = "welcome; trap '' TERM; sleep 3600 & echo $! >&2; echo $$ >&2; wait; sleep 3600";
    let connection = R::spawn(impatient(), sh(script)).await.unwrap();
    let processes = numbers(&connection, 2).await;
    let other = connection.clone();
    drop(connection);
    if R::IS_ASYNC {
        assert!(processes.iter().all(|process| is_alive(*process)), "there is another handle");
    }
    drop(other);
    gone(processes[0]).await;
    eventually("the child is reaped", || !is_alive(processes[1])).await;
}

/// The future that starts a child is dropped before it has started.
async fn dropping_a_start_ends_the_child<R: Runtime>() {
    if !R::IS_ASYNC {
        // A blocking start cannot be dropped.
        return;
    }
    let path = scratch_path(&format!("row-{}", R::NAME));
    let script = format!("echo $$ > '{0}.new'; mv '{0}.new' '{0}'; sleep 3600", path.display());
    let spawning = async {
        R::spawn(impatient(), sh(&script)).await.map(|_| ()).unwrap();
        unreachable!("the server sends nothing");
    };
    smol::future::or(spawning, eventually("the child runs", || path.exists())).await;
    let child: u32 = std::fs::read_to_string(&path).unwrap().trim().parse().unwrap();
    std::fs::remove_file(&path).unwrap();
    eventually("the child is reaped", || !is_alive(child)).await;
}

async fn a_reconnect_keeps_subscriptions<R: Runtime>() {
    for revisions in [&Revision::LEGACY[..], &[Revision::V2026_07_28]] {
        let connection =
            R::spawn(client().revisions(revisions), adapter_server::<R>(SERVER)).await.unwrap();
        let first = child_id(&connection).await;
        let mut listening =
            connection.subscribe(&Filter::new().resource("note://one")).await.unwrap();
        connection.call_tool("exit", &json!({})).await.unwrap_err();
        let again = connection.reconnect().await.unwrap();
        assert!(!is_alive(first), "the first is reaped");
        assert_eq!((again.era(), listening.ended()), (connection.era(), None));
        assert_eq!(success(again.call_tool("change", &json!({})).await), "changed");
        assert_eq!(listening.next().await.unwrap(), Some(Changed::Resource("note://one".into())));
        assert_eq!(again.close().await.unwrap().unwrap().code(), Some(0));
        assert_eq!(listening.next().await.unwrap(), None);
    }
}
