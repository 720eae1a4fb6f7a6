//! Requests echoes over HTTP/2 with `h2load`, and prints the cost as Markdown.
//!
//! The servers are those of `http`, and this program itself: `http2 serve NAME`. Only the bare
//! server differs: it speaks HTTP/2 alone.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool prints, and may panic"
)]

#[path = "http/process.rs"]
mod process;

use std::path::PathBuf;
use std::process::Command;

use mcp_benches::http::{Kind, run_server};

use process::Server;

/// Requests per round.
const REQUESTS: usize = 20_000;
const ROUNDS: usize = 7;

/// A load: connections, and requests at a time on each.
const LOADS: [(usize, usize); 2] = [(32, 1), (4, 8)];

const SERVERS: [(Kind, &str); 4] = [
    (Kind::BareHttp2, "bare hyper"),
    (Kind::Tokio, "ours, tokio"),
    (Kind::Smol, "ours, smol"),
    (Kind::Blocking, "ours, blocking"),
];

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"thirty bytes of text, no more."},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}}}"#;

const FIELDS: [&str; 5] = [
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    "mcp-method: tools/call",
    "mcp-name: echo",
];

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("serve") {
        return run_server(&arguments.next().unwrap_or_default(), false);
    }
    println!("## Servers over HTTP/2\n");
    println!(
        "An echo without a session (2026-07-28), answered with JSON; the clients are those of \
         `h2load`, on another core than the server.\n\
         In brackets the ratio to a bare hyper server that says back what it is sent. The best of \
         {ROUNDS} rounds.\n"
    );
    let body = std::env::temp_dir().join(format!("benches-http2-{}", std::process::id()));
    std::fs::write(&body, CALL)?;
    for (connections, streams) in LOADS {
        measure(connections, streams, &body);
    }
    std::fs::remove_file(body)
}

fn measure(connections: usize, streams: usize, body: &PathBuf) {
    let mut best = [(f64::MAX, 0.0_f64); SERVERS.len()];
    for _ in 0..ROUNDS {
        for ((kind, _), best) in SERVERS.iter().zip(&mut best) {
            let server = Server::start_program("http2", &["serve", kind.name()]);
            load(&server, REQUESTS / 10, connections, streams, body);
            let before = server.cpu();
            let rate = load(&server, REQUESTS, connections, streams, body);
            let cpu = (server.cpu() - before) / REQUESTS as f64;
            *best = (best.0.min(cpu), best.1.max(rate));
        }
    }
    println!("### {connections} connections, {streams} at a time on each\n");
    println!("| server | CPU a request | requests/s |\n|---|--:|--:|");
    for ((_, name), (cpu, rate)) in SERVERS.iter().zip(&best) {
        println!(
            "| {name} | {:.1} µs ({:.2}) | {:.1} k ({:.2}) |",
            cpu * 1e6,
            cpu / best[0].0,
            rate / 1e3,
            rate / best[0].1,
        );
    }
    println!();
}

/// Sends requests and returns how many were answered per second; all must be answered with 200.
fn load(
    server: &Server,
    requests: usize,
    connections: usize,
    streams: usize,
    body: &PathBuf,
) -> f64 {
    let mut command = Command::new("h2load");
    command.args(["-n", &requests.to_string(), "-c", &connections.to_string()]);
    command.args(["-m", &streams.to_string(), "-d"]).arg(body);
    for field in FIELDS {
        command.args(["-H", field]);
    }
    command.arg(format!("http://{}/mcp", server.address));
    let output = command.output().expect("h2load is installed (Debian: nghttp2-client)");
    let said = String::from_utf8_lossy(&output.stdout);
    let all = format!("status codes: {requests} 2xx, 0 3xx, 0 4xx, 0 5xx");
    assert!(said.contains(&all), "not all requests were answered: {said}");
    let rate = said.lines().find_map(|line| {
        line.strip_prefix("finished in ")?.split_once(", ")?.1.split_once(" req/s")
    });
    let rate = rate.unwrap_or_else(|| panic!("no rate: {said}")).0.trim();
    rate.parse().expect("a number")
}
