//! Measures the memory that idle clients cost a server over HTTP, on each runtime: `cargo run
//! --release -p mcp-http-tests --bin http-memory`.
//!
//! It opens as many sessions and streams as a server allows, checks that one more is refused, and
//! prints the growth of the process per session or stream. Kernel memory for sockets is not
//! included. Linux only.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the program fails by panicking"
)]
#![allow(clippy::print_stdout, reason = "prints the measurements")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use mcp_blocking::http::{Http, HttpLimits};
use mcp_http_tests::{
    Blocking, PATIENCE, Pending, Request, Runtime, Served, Session, Smol, Tokio, get, initialize,
    modern, post, server,
};
use serde_json::json;

const SESSIONS: usize = 10_000;
const STREAMS: usize = 1_000;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("blocking") => measure::<Blocking>(),
        Some("smol") => measure::<Smol>(),
        Some("tokio") => measure::<Tokio>(),
        Some(other) => panic!("no runtime: {other}"),
        // Each runs in its own process, so that the size is its own.
        None => {
            for runtime in [Blocking::NAME, Smol::NAME, Tokio::NAME] {
                let status =
                    Command::new(std::env::current_exe().unwrap()).arg(runtime).status().unwrap();
                assert!(status.success(), "{runtime}: {status}");
            }
        }
    }
}

fn measure<R: Runtime>() {
    let options = Http::new().limits(HttpLimits {
        sessions_max: SESSIONS,
        sessions_per_address_max: SESSIONS + 1,
        listeners_max: STREAMS,
        listeners_per_address_max: 2 * STREAMS + 1,
        connections_per_address_max: usize::MAX,
        ..HttpLimits::default()
    });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let address = served.address;
    let listen =
        modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    // One-time allocations are not counted.
    let mut connection = initialize().start(address);
    let mut ids = vec![opened(&mut connection)];
    drop(streaming(&listen, address));

    let before = resident();
    while ids.len() < SESSIONS {
        connection.send(&initialize());
        ids.push(opened(&mut connection));
    }
    let each = (resident() - before) / (SESSIONS - 1);
    println!("{}: {SESSIONS} idle sessions, {each} bytes each", R::NAME);
    assert_eq!(initialize().send(address).status, 200, "the next makes room");
    assert_eq!((stats.sessions(), stats.sessions_evicted()), (SESSIONS, 1));
    ids.remove(0);

    let before = resident();
    let standing: Vec<TcpStream> =
        ids.iter().take(STREAMS).map(|id| streaming(&get(id), address)).collect();
    let each = (resident() - before) / STREAMS;
    println!("{}: {STREAMS} streams of sessions, {each} bytes each", R::NAME);

    let before = resident();
    let mut listening: Vec<TcpStream> = Vec::new();
    // The server may not have noticed yet that the first client is gone.
    while listening.len() < STREAMS {
        listening.extend(try_streaming(&listen, address));
    }
    let each = (resident() - before) / STREAMS;
    println!("{}: {STREAMS} subscriptions without a session, {each} bytes each", R::NAME);
    let mut refused = listen.send(address);
    assert_eq!(refused.status, 503);
    println!("{}: the next is refused: {}", R::NAME, refused.json()["error"]["message"]);
    let last = Session { address, id: ids.pop().unwrap() };
    assert_eq!(last.ping(), 200, "and all others are served");
    drop((standing, listening));
}

/// Opens a session on a connection that is reused, and returns its id.
fn opened(connection: &mut Pending) -> String {
    let id = connection.next_reply().field("mcp-session-id").expect("a session").to_owned();
    let ready = post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    connection.send(&ready.field("Mcp-Session-Id", &id));
    assert_eq!(connection.next_reply().status, 202);
    id
}

/// Opens a stream that holds nothing in this process but its socket.
fn streaming(request: &Request, address: SocketAddr) -> TcpStream {
    try_streaming(request, address).expect("a stream")
}

fn try_streaming(request: &Request, address: SocketAddr) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&request.bytes()).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    (head == *b"HTTP/1.1 200").then_some(stream)
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}
