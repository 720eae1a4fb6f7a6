//! The lines that a server process writes to stderr, as they reach the application.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use mcp_adapter::ServerProcess;
use mcp_adapter_tests::{Runtime, eventually, rows};
use smol::channel::unbounded;

use crate::children::{impatient, sh};

rows! {
    lines_arrive_while_the_server_runs,
    a_callback_that_blocks_does_not_block_the_server,
}

async fn lines_arrive_while_the_server_runs<R: Runtime>() {
    let (says, heard) = unbounded();
    let client = impatient().label("sh");
    let script =
        "echo one >&2; welcome; echo two >&2; head -c 1500 /dev/zero | tr '\\0' x >&2; cat";
    let server = ServerProcess::new(sh(script)).on_stderr(move |line, cx| {
        says.try_send((line.to_owned(), cx.label().map(str::to_owned))).unwrap();
        assert_ne!(line, "one", "a callback may panic");
    });
    let connection = R::spawn(client, server).await.unwrap();
    for line in ["one", "two", &"x".repeat(1024)] {
        assert_eq!(heard.recv().await.unwrap(), (line.to_owned(), Some("sh".to_owned())));
    }
    connection.clone().close().await.unwrap();
    assert_eq!(heard.recv().await.unwrap().0, "x".repeat(476), "a long line is split");
    assert_eq!(connection.stderr().len(), 4, "the last lines are kept as well");
}

async fn a_callback_that_blocks_does_not_block_the_server<R: Runtime>() {
    let (says, heard) = unbounded();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    // More than a pipe holds, before the server even answers.
    let script = "seq 1 30000 >&2; echo last >&2; welcome; cat";
    let server = ServerProcess::new(sh(script)).on_stderr(move |line, _| {
        let _is_released = released.lock().unwrap().recv();
        says.try_send(line.to_owned()).unwrap();
    });
    let connection = R::spawn(impatient(), server).await.unwrap();
    let is_read = || connection.stderr().last().is_some_and(|line| line == "last");
    eventually("all of stderr is read", is_read).await;
    drop(release);
    let mut lines = 1;
    while heard.recv().await.unwrap() != "last" {
        lines += 1;
    }
    assert!(lines <= 1025, "one that runs, and the latest of the others: {lines}");
}
