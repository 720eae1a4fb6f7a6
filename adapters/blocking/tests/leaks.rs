//! A connection leaks no thread, no open file and no child process. The test runs alone in its
//! process, so that it can count them.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod common;

use std::io::{PipeReader, PipeWriter};
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use common::{
    Hand, client, connect_by_hand, eventually, example, pair, part, server, success, tool,
    with_timeout,
};
use mcp_blocking::proto::schema::ElicitResult;
use mcp_blocking::{Client, Connection, ConnectionState, Recovery, Server};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// The processes that outlive the connections.
static GRANDCHILDREN: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// Ends [`GRANDCHILDREN`] with the test.
struct EndOnDrop;

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        for id in GRANDCHILDREN.lock().unwrap().drain(..) {
            kill(Pid::from_raw(id), Signal::SIGKILL).unwrap();
        }
    }
}

fn count(what: &str) -> usize {
    std::fs::read_dir(format!("/proc/self/{what}")).unwrap().count()
}

fn children() -> String {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("children")).ok())
        .collect()
}

fn busy_client() -> Client {
    client().on_notification(|_, _, _| {}).on_elicitation(ElicitResult::decline)
}

fn busy_server() -> Server {
    server().logging().add(tool("echo", |arguments: Value| arguments["text"].to_string()))
}

/// Opens and ends connections in every possible way.
fn live_and_let_go() {
    let (client, serving) = pair(busy_client(), busy_server());
    assert_eq!(success(client.call_tool("echo", &json!({"text": 1})).wait()), "1");
    part(client, serving);

    let (client, serving) = pair(busy_client(), busy_server());
    drop(client.call_tool("echo", &json!({"text": 1})).start().wait().unwrap());
    drop(client);
    serving.join().unwrap().unwrap();

    let (client, hand): (_, Hand<PipeReader, PipeWriter>) = connect_by_hand(busy_client());
    drop(hand);
    client.close().wait().unwrap();

    let client = busy_client().spawn(example("echo_server")).wait().unwrap();
    assert_eq!(success(client.call_tool("echo", &json!({"text": "hello"})).wait()), "hello");
    client.close().wait().unwrap();

    let client = busy_client().spawn(example("echo_server")).wait().unwrap();
    drop(client);

    // Its grandchild, which is outside of its process group, keeps its pipes open.
    let script = "setsid sh -c 'echo $$ >&2; exec sleep 1000' & exec $ECHO";
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("ECHO", example("echo_server").get_program());
    let client = busy_client().spawn(command).wait().unwrap();
    eventually("the grandchild has started", || !client.stderr().is_empty());
    let grandchild = client.stderr()[0].parse().unwrap();
    client.close().wait().unwrap();
    kill(Pid::from_raw(grandchild), None).expect("the grandchild is alive");
    GRANDCHILDREN.lock().unwrap().push(grandchild);

    busy_client().spawn(Command::new("true")).wait().map(drop).unwrap_err();
    busy_client().spawn(Command::new("/no/such/server")).wait().map(drop).unwrap_err();
}

/// Spawns a server, kills it, and waits until the client starts it again after `delay`.
fn lose(delay: Duration) -> Connection {
    let mut command = Command::new("sh");
    command.args(["-c", "echo $$ >&2; exec $ECHO"]);
    command.env("ECHO", example("echo_server").get_program());
    let (tell, told) = channel();
    let client = busy_client()
        .recovery(Recovery::new().delays(delay, delay).attempts(1000, delay))
        .on_connection_state(move |state, _| {
            if matches!(state, ConnectionState::Retrying { .. }) {
                let _test_is_over = tell.send(());
            }
        })
        .spawn(command)
        .wait()
        .unwrap();
    eventually("the server has started", || !client.stderr().is_empty());
    kill(Pid::from_raw(client.stderr()[0].parse().unwrap()), Signal::SIGKILL).unwrap();
    told.recv().unwrap();
    client
}

/// Recovers a connection, and drops and closes others whose recovery is due.
fn lose_and_recover() {
    let client = lose(Duration::from_millis(1));
    assert_eq!(success(client.call_tool("echo", &json!({"text": "hello"})).wait()), "hello");
    client.close().wait().unwrap();
    drop(lose(Duration::from_secs(3600)));
    lose(Duration::from_secs(3600)).close().wait().unwrap();
}

#[test]
fn connections_leave_nothing_behind() {
    with_timeout(|| {
        let _ends = EndOnDrop;
        // Starts the threads that live as long as the process.
        live_and_let_go();
        lose_and_recover();
        eventually("only this test runs", || count("task") <= 3);
        let files = count("fd");
        for _ in 0..20 {
            live_and_let_go();
            lose_and_recover();
        }
        eventually("only this test runs", || count("task") <= 3);
        assert_eq!(count("fd"), files);
        assert_eq!(children(), "");
    });
}
