//! Servers as processes on Windows, on each runtime: jobs, console events, stdin, scripts and named
//! pipes. `tests/windows/run` runs these tests below wine.

#![cfg(windows)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::windows::process::CommandExt;
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use mcp_adapter::on_runtime;
use mcp_adapter_tests::{
    Hand, Process, Runtime, adapter_server, client, full_server, start_on_pipes, success,
};
use serde_json::json;
use tokio::net::windows::named_pipe::{ClientOptions, PipeMode, ServerOptions};

mcp_adapter_tests::rows!(
    nothing_stays_behind_when_a_client_is_killed,
    nothing_stays_behind_when_a_connection_is_closed,
    ctrl_c_ends_a_server_cleanly,
    the_end_of_stdin_ends_the_process,
    what_follows_the_end_of_a_server_is_left_in_stdin,
    a_script_is_found_and_started,
);

/// How soon processes must have ended.
const SOON: Duration = Duration::from_secs(2);

/// The flag that gives a process its own console, so that events reach no other test.
const CREATE_NEW_CONSOLE: u32 = 0x10;

fn server<R: Runtime>() -> Command {
    adapter_server::<R>(env!("CARGO_BIN_EXE_adapter-server"))
}

/// Starts a client of a server that starts a process; returns the client and one connection of
/// each of these two processes.
fn client_and_connections<R: Runtime>() -> (Process, [TcpStream; 2]) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let server = server::<R>();
    let mut client = Command::new(env!("CARGO_BIN_EXE_adapter-client"));
    client.arg(server.get_program()).args(server.get_args());
    client.env("ALIVE", listener.local_addr().unwrap().to_string());
    let mut client = Process::start(client.stdin(Stdio::piped()).stdout(Stdio::piped()));
    let connections = [(); 2].map(|()| listener.accept().unwrap().0);
    let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        lines.next().expect(R::NAME).unwrap();
    }
    for mut connection in &connections {
        connection.set_nonblocking(true).unwrap();
        let read = connection.read(&mut [0]).map_err(|error| error.kind());
        assert_eq!(read, Err(ErrorKind::WouldBlock), "{}: a process has ended", R::NAME);
        connection.set_nonblocking(false).unwrap();
    }
    (client, connections)
}

/// Waits until the processes at the other ends have ended.
fn all_end<R: Runtime>(connections: [TcpStream; 2], within: Duration) {
    for mut connection in connections {
        connection.set_read_timeout(Some(within)).unwrap();
        match connection.read(&mut [0]) {
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            other => panic!("{}: a process has not ended: {other:?}", R::NAME),
        }
    }
}

async fn nothing_stays_behind_when_a_client_is_killed<R: Runtime>() {
    let (mut client, connections) = client_and_connections::<R>();
    // `TerminateProcess`.
    client.kill().unwrap();
    all_end::<R>(connections, SOON);
}

async fn nothing_stays_behind_when_a_connection_is_closed<R: Runtime>() {
    let (mut client, connections) = client_and_connections::<R>();
    client.stdin.take().unwrap().write_all(b"close\n").unwrap();
    assert!(client.wait().success(), "{}", R::NAME);
    all_end::<R>(connections, SOON);
}

/// Starts a server and opens a session.
fn session(command: &mut Command) -> (Process, Hand<ChildStdout, ChildStdin>) {
    let (server, mut hand) = start_on_pipes(command);
    hand.greet(&json!({}));
    (server, hand)
}

/// Sends Ctrl-C to the console of a process.
fn send_interrupt(process: u32) {
    let helper = std::env::var("MCP_CTRL_C").expect("`tests/windows/run` sets it");
    let sent = Command::new(helper).arg(process.to_string()).status().unwrap();
    assert!(sent.success(), "{sent}");
}

async fn ctrl_c_ends_a_server_cleanly<R: Runtime>() {
    let mut command = server::<R>();
    command.creation_flags(CREATE_NEW_CONSOLE).env("FAREWELL", "\"good-bye\"\n");
    let (mut server, mut hand) = session(&mut command);
    hand.call_tool(1, "hang", &json!({}));
    hand.request(2, "ping", &json!({}));
    assert_eq!(hand.hear_with_id()["id"], 2, "{}", R::NAME);
    send_interrupt(server.id());
    // Its stdin stays open until then.
    assert_eq!(server.wait().code(), Some(0), "{}", R::NAME);
    let mut output = String::new();
    hand.reader.read_to_string(&mut output).unwrap();
    assert!(output.ends_with("\"good-bye\"\n"), "{}: {output}", R::NAME);
}

async fn the_end_of_stdin_ends_the_process<R: Runtime>() {
    let (mut server, Hand { mut reader, writer }) = session(&mut server::<R>());
    drop(writer);
    assert_eq!(server.wait().code(), Some(0), "{}", R::NAME);
    let mut output = String::new();
    reader.read_to_string(&mut output).unwrap();
    assert_eq!(output, "", "{}", R::NAME);
}

async fn what_follows_the_end_of_a_server_is_left_in_stdin<R: Runtime>() {
    let mut command = server::<R>();
    command.creation_flags(CREATE_NEW_CONSOLE).env("NEXT", "line");
    command.env("CLEANED_UP", ended_file::<R>());
    let (mut server, mut hand) = session(&mut command);
    send_interrupt(server.id());
    mcp_adapter_tests::eventually("the server has ended", || ended_file::<R>().exists()).await;
    std::fs::remove_file(ended_file::<R>()).unwrap();
    writeln!(hand.writer, "for the program").unwrap();
    let mut output = String::new();
    hand.reader.read_to_string(&mut output).unwrap();
    assert!(output.ends_with("next: for the program\n"), "{}: {output}", R::NAME);
    assert_eq!(server.wait().code(), Some(0), "{}", R::NAME);
}

fn ended_file<R: Runtime>() -> PathBuf {
    std::env::temp_dir().join(format!("mcp-ended-{}-{}", R::NAME, std::process::id()))
}

async fn a_script_is_found_and_started<R: Runtime>() {
    let directory =
        std::env::temp_dir().join(format!("mcp-cmd-{}-{}", R::NAME, std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let server = server::<R>();
    let script = format!("@\"{}\" %*\r\n", server.get_program().display());
    std::fs::write(directory.join("server.cmd"), script).unwrap();
    let mut path = directory.clone().into_os_string();
    path.push(";");
    path.push(std::env::var_os("PATH").unwrap());
    let mut client = Command::new(env!("CARGO_BIN_EXE_adapter-client"));
    client.arg("server").args(server.get_args()).env("PATH", path);
    let mut client = Process::start(client.stdin(Stdio::piped()).stdout(Stdio::piped()));
    let lines = BufReader::new(client.stdout.take().unwrap()).lines();
    let started: Vec<u32> = lines.take(2).map(|line| line.unwrap().parse().unwrap()).collect();
    client.stdin.take().unwrap().write_all(b"close\n").unwrap();
    assert!(client.wait().success(), "{}", R::NAME);
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(started.len(), 2, "{}", R::NAME);
}

/// Returns the name of a pipe of this test process.
fn pipe_name(name: &str) -> String {
    format!(r"\\.\pipe\mcp-{name}-{}", std::process::id())
}

#[test]
fn tokio_serves_and_connects_over_one_named_pipe() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let name = pipe_name("both");
        let pipe = ServerOptions::new().first_pipe_instance(true).create(&name).unwrap();
        let serving = tokio::spawn(async move {
            pipe.connect().await.unwrap();
            let (reader, writer) = tokio::io::split(pipe);
            let server: mcp_tokio::Server = on_runtime::server(full_server());
            server.serve(reader, writer).await
        });
        let pipe = ClientOptions::new().open(&name).unwrap();
        let (reader, writer) = tokio::io::split(pipe);
        let client: mcp_tokio::Client = on_runtime::client(client());
        let connection = client.connect(reader, writer).await.unwrap();
        let text = "x".repeat(500_000);
        assert!(success(connection.call_tool("echo", &json!({"text": text})).await) == text);
        connection.close().await.unwrap();
        serving.await.unwrap().unwrap();
    });
}

#[test]
fn a_blocking_client_connects_over_one_named_pipe_per_direction() {
    let (requests, responses) = (pipe_name("requests"), pipe_name("responses"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    let mut options = ServerOptions::new();
    options.pipe_mode(PipeMode::Byte).first_pipe_instance(true);
    let reader = options.access_outbound(false).create(&requests).unwrap();
    let writer = options.access_inbound(false).access_outbound(true).create(&responses).unwrap();
    let serving = runtime.spawn(async move {
        reader.connect().await.unwrap();
        writer.connect().await.unwrap();
        let server: mcp_tokio::Server = on_runtime::server(full_server());
        server.serve(reader, writer).await
    });
    let writer = File::options().write(true).open(&requests).unwrap();
    let reader = File::open(&responses).unwrap();
    let client: mcp_blocking::Client = on_runtime::client(client());
    let connection = client.connect(reader, writer).wait().unwrap();
    let text = "x".repeat(500_000);
    let echoed = connection.call_tool("echo", &json!({"text": text})).wait();
    assert!(echoed.unwrap().content[0].as_text() == Some(&text));
    connection.close().wait().unwrap();
    runtime.block_on(serving).unwrap().unwrap();
}
