//! Requests echoes from the HTTP servers over HTTP/2 with `h2load`, and prints the cost as Markdown.
//!
//! Each table is measured in rounds in which every server takes a turn, and the best round counts.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool prints, and may panic"
)]

#[path = "http/messages.rs"]
mod messages;
#[path = "http/process.rs"]
mod process;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;

use mcp_benches::http::Kind;

use messages::{Call, Era};
use process::Server;

const ROUNDS: usize = 5;

struct Table {
    title: &'static str,
    era: Era,
    connections: usize,
    /// Concurrent requests on each connection.
    streams: usize,
    requests: usize,
}

const TABLES: [Table; 2] = [
    Table {
        title: "An echo in a session (2025-11-25), one request at a time",
        era: Era::Sessions,
        connections: 1,
        streams: 1,
        requests: 20_000,
    },
    Table {
        title: "An echo without a session (2026-07-28), 8 connections with 10 requests each",
        era: Era::Stateless,
        connections: 8,
        streams: 10,
        requests: 40_000,
    },
];

const SERVERS: [(Kind, &str); 4] = [
    (Kind::BareHttp2, "bare hyper"),
    (Kind::Tokio, "ours, tokio"),
    (Kind::Smol, "ours, smol"),
    (Kind::Blocking, "ours, blocking"),
];

fn main() {
    println!("## Servers over HTTP/2\n");
    println!(
        "`h2load` on one core and the server on another. In brackets the ratio to a bare hyper \
         server that says back what it is sent. The best of {ROUNDS} rounds.\n"
    );
    for table in &TABLES {
        table.measure();
    }
}

impl Table {
    fn measure(&self) {
        eprintln!("{}", self.title);
        let mut best = [(f64::MAX, 0.0_f64); SERVERS.len()];
        for _ in 0..ROUNDS {
            for ((kind, _), (cpu, rate)) in SERVERS.iter().zip(&mut best) {
                let server = Server::start(*kind, false);
                let is_bare = *kind == Kind::BareHttp2;
                let session =
                    (self.era == Era::Sessions && !is_bare).then(|| open_session(server.address));
                let call = Call::new(self.era, "echo", session.as_deref().or(Some("none")));
                self.load(server.address, &call, self.requests / 10);
                let before = server.cpu();
                let seconds = self.load(server.address, &call, self.requests);
                *cpu = cpu.min((server.cpu() - before) / self.requests as f64);
                *rate = rate.max(self.requests as f64 / seconds);
            }
        }
        println!("### {}\n", self.title);
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

    /// Sends requests, all of which must succeed; returns the time that they took.
    fn load(&self, address: SocketAddr, call: &Call, requests: usize) -> f64 {
        let head = messages::head_of(&call.bytes).expect("a head");
        let body = std::env::temp_dir().join(format!("benches-http2-{}", std::process::id()));
        std::fs::write(&body, &call.bytes[head..]).expect("the file is writable");
        let mut command = Command::new("h2load");
        command.args(["-n", &requests.to_string(), "-c", &self.connections.to_string()]);
        command.args(["-m", &self.streams.to_string(), "-d", &path(&body)]);
        let fields = String::from_utf8_lossy(&call.bytes[..head]).into_owned();
        let is_kept = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default();
            !matches!(name, "Host" | "Content-Length") && line.contains(": ")
        };
        for field in fields.lines().skip(1).filter(is_kept) {
            command.args(["-H", field]);
        }
        let output = command.arg(format!("http://{address}/mcp")).output().expect("h2load runs");
        let _gone = std::fs::remove_file(&body);
        let text = String::from_utf8_lossy(&output.stdout);
        let good = format!("status codes: {requests} 2xx, 0 3xx, 0 4xx, 0 5xx");
        assert!(text.contains(&good), "{text}");
        let finished = text.lines().find_map(|line| line.strip_prefix("finished in "));
        let time = finished.and_then(|rest| rest.split(',').next()).expect("a time");
        let number = |unit| time.strip_suffix(unit).and_then(|time| time.parse::<f64>().ok());
        number("ms").map(|time| time / 1e3).or_else(|| number("s")).expect("a time in seconds")
    }
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

/// Opens a session over HTTP/1.1, for requests over HTTP/2.
fn open_session(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let exchange = |stream: &mut TcpStream, request: &[u8]| {
        stream.write_all(request).expect("it reads");
        let mut response = Vec::new();
        loop {
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).expect("it answers");
            assert_ne!(read, 0, "a whole response");
            response.extend_from_slice(&bytes[..read]);
            if let Some(head) = messages::head_of(&response)
                && messages::is_whole(&response[..head], &response[head..])
            {
                return response[..head].to_vec();
            }
        }
    };
    let head = exchange(&mut stream, &messages::initialize());
    let id = messages::field(&head, b"\r\nmcp-session-id: ").expect("a session").to_owned();
    exchange(&mut stream, &messages::initialized(Some(&id)));
    id
}
