//! Request ids of clients that know nothing of each other.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use mcp_blocking::Tool;
use mcp_blocking::http::Http;
use mcp_http_tests::{PATIENCE, Runtime, Served, modern, rows, server, text, tool};
use serde_json::json;

rows! {
    equal_ids_of_two_clients_are_independent,
}

// ID-10: the scope of an id is its POST.
fn equal_ids_of_two_clients_are_independent<R: Runtime>() {
    let (begins, begun) = channel();
    let (go, goes) = channel::<()>();
    let begins = Mutex::new((begins, goes));
    let server = server()
        .add(Tool::define(tool("wait"), move || {
            let told = begins.lock().unwrap();
            told.0.send(())?;
            told.1.recv_timeout(PATIENCE)?;
            Ok("first")
        }))
        .add(Tool::define(tool("quick"), || "second"));
    let served = Served::on::<R>(server, Http::new());
    let call = |name: &str| modern("tools/call", json!({"name": name, "arguments": {}}));
    let first = call("wait").start(served.address);
    begun.recv_timeout(PATIENCE).unwrap();
    let second = call("quick").send(served.address).answer();
    assert_eq!((&second["id"], text(&second)), (&json!(1), "second"));
    go.send(()).unwrap();
    let first = first.reply().answer();
    assert_eq!((&first["id"], text(&first)), (&json!(1), "first"));
}
