//! Requests echoes from the HTTP servers, all with identical bytes, and prints the cost as
//! Markdown.
//!
//! Each table is measured in rounds in which every server takes a turn: a disturbance affects all
//! of them, and the best round counts.
//!
//! With arguments, measures only the tables and servers whose titles contain all of them, without
//! instructions. With `one-core`, measures the responses of JSON under their own heading: to
//! be run on the core of the servers.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool prints, and may panic"
)]

#[path = "http/load.rs"]
mod load;
#[path = "http/messages.rs"]
mod messages;
#[path = "http/process.rs"]
mod process;

use mcp_benches::http::Kind;

use load::{Asked, Clients};
use messages::Era;
use process::Server;

const CONNECTIONS: usize = 32;
/// Requests per connection and round.
const REQUESTS: usize = 300;
const ROUNDS: usize = 15;

/// The goals for tokio: at most this CPU time and p99, and at least this many requests, relative to
/// the bare server.
struct Goals {
    cpu: f64,
    rate: Option<f64>,
    p99: Option<f64>,
}

struct Table {
    title: &'static str,
    asked: Asked,
    goals: Goals,
    servers: &'static [(Kind, &'static str)],
}

const JSON: Goals = Goals { cpu: 2.0, rate: Some(0.5), p99: Some(2.2) };
const EVENTS: Goals = Goals { cpu: 2.6, rate: None, p99: None };

const fn asked(era: Era, tool: &'static str) -> Asked {
    Asked { era, tool, delays: false }
}

const TABLES: [Table; 4] = [
    Table {
        title: "An echo in a session (2025-11-25), answered with JSON",
        asked: asked(Era::Sessions, "echo"),
        goals: JSON,
        servers: &[
            (Kind::Bare, "bare hyper"),
            (Kind::Tokio, "ours, tokio"),
            (Kind::TokioFuture, "ours, tokio, a future"),
            (Kind::Smol, "ours, smol"),
            (Kind::SmolFuture, "ours, smol, a future"),
            (Kind::Blocking, "ours, blocking"),
            (Kind::RmcpJson, "rmcp, without sessions, JSON"),
            (Kind::Rmcp, "rmcp, sessions (answers with events)"),
        ],
    },
    Table {
        title: "An echo without a session (2026-07-28), answered with JSON",
        asked: asked(Era::Stateless, "echo"),
        goals: JSON,
        servers: &[
            (Kind::Bare, "bare hyper"),
            (Kind::Tokio, "ours, tokio"),
            (Kind::TokioFuture, "ours, tokio, a future"),
            (Kind::Smol, "ours, smol"),
            (Kind::SmolFuture, "ours, smol, a future"),
            (Kind::Blocking, "ours, blocking"),
            (Kind::RmcpJson, "rmcp, JSON"),
        ],
    },
    Table {
        title: "A step and an echo in a session, answered with events",
        asked: asked(Era::Sessions, "steps"),
        goals: EVENTS,
        servers: &[
            (Kind::Bare, "bare hyper"),
            (Kind::Tokio, "ours, tokio"),
            (Kind::TokioFuture, "ours, tokio, a future"),
            (Kind::Smol, "ours, smol"),
            (Kind::SmolFuture, "ours, smol, a future"),
            (Kind::Blocking, "ours, blocking"),
            (Kind::Rmcp, "rmcp, sessions"),
        ],
    },
    Table {
        title: "A step and an echo without a session, answered with events",
        asked: asked(Era::Stateless, "steps"),
        goals: EVENTS,
        servers: &[
            (Kind::Bare, "bare hyper"),
            (Kind::Tokio, "ours, tokio"),
            (Kind::TokioFuture, "ours, tokio, a future"),
            (Kind::Smol, "ours, smol"),
            (Kind::SmolFuture, "ours, smol, a future"),
            (Kind::Blocking, "ours, blocking"),
            (Kind::Rmcp, "rmcp"),
        ],
    },
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "one-core") {
        println!("## Servers over HTTP, on one core with their clients\n");
        println!(
            "The first tables again. On two cores, a server that is slower than its clients wakes \
             them with each response, which costs much on a virtual machine and little here.\n"
        );
        return TABLES.iter().for_each(|table| table.measure(&["JSON".to_owned()]));
    }
    println!("## Servers over HTTP\n");
    println!(
        "{CONNECTIONS} connections that stay, one request at a time on each; the server on one \
         core and the clients on another.\n\
         In brackets the ratio to a bare hyper server that says back what it is sent. The best of \
         {ROUNDS} rounds.\n\
         Instructions are those of the program alone, not of the system, with one connection.\n"
    );
    for table in &TABLES {
        table.measure(&words);
    }
    if words.is_empty() {
        delays();
    }
}

/// The best measurements of one server.
#[derive(Clone, Copy)]
struct Seen {
    cpu: f64,
    rate: f64,
    p50: f64,
    p99: f64,
}

impl Table {
    fn measure(&self, words: &[String]) {
        let is_meant =
            |name: &str| words.iter().all(|word| format!("{}: {name}", self.title).contains(word));
        let servers: Vec<_> = self
            .servers
            .iter()
            .filter(|(kind, name)| *kind == Kind::Bare || is_meant(name))
            .collect();
        if servers.len() < 2 {
            return;
        }
        eprintln!("{}", self.title);
        let mut seen =
            vec![Seen { cpu: f64::MAX, rate: 0.0, p50: f64::MAX, p99: f64::MAX }; servers.len()];
        for _ in 0..ROUNDS {
            for ((kind, _), seen) in servers.iter().zip(&mut seen) {
                let server = Server::start(*kind, false);
                let mut clients = Clients::connect(server.address, CONNECTIONS, self.asked);
                clients.run(REQUESTS / 10);
                let before = server.cpu();
                let run = clients.run(REQUESTS);
                let count = (CONNECTIONS * REQUESTS) as f64;
                seen.cpu = seen.cpu.min((server.cpu() - before) / count);
                seen.rate = seen.rate.max(count / run.wall.as_secs_f64());
                seen.p50 = seen.p50.min(run.within(0.5).as_secs_f64());
                seen.p99 = seen.p99.min(run.within(0.99).as_secs_f64());
            }
        }
        let counts: Vec<f64> = match words {
            [] => servers.iter().map(|(kind, _)| instructions(*kind, self.asked)).collect(),
            _ => Vec::new(),
        };
        let floor = seen[0];
        println!("### {}\n", self.title);
        let (title, rule) =
            if counts.is_empty() { ("", "") } else { (" user instructions a request |", "--:|") };
        println!(
            "| server | CPU a request | requests/s | p50 | p99 |{title} goal |\n\
             |---|--:|--:|--:|--:|{rule}---|"
        );
        for (at, ((kind, name), seen)) in servers.iter().zip(&seen).enumerate() {
            let (cpu, rate, p99) =
                (seen.cpu / floor.cpu, seen.rate / floor.rate, seen.p99 / floor.p99);
            let goal = if *kind == Kind::Tokio {
                self.goals.judged(cpu, rate, p99)
            } else {
                String::new()
            };
            let count = counts.get(at).map_or_else(String::new, |count| {
                format!(" {:.1} k ({:.2}) |", count / 1e3, count / counts[0])
            });
            println!(
                "| {name} | {:.1} µs ({cpu:.2}) | {:.1} k ({rate:.2}) | {:.2} ms | {:.2} ms \
                 ({p99:.2}) |{count} {goal} |",
                seen.cpu * 1e6,
                seen.rate / 1e3,
                seen.p50 * 1e3,
                seen.p99 * 1e3,
            );
        }
        println!();
    }
}

impl Goals {
    fn judged(&self, cpu: f64, rate: f64, p99: f64) -> String {
        let mut said = vec![format!("CPU ≤ {:.1}: {}", self.cpu, judged(cpu <= self.cpu))];
        said.extend(
            self.rate.map(|goal| format!("requests/s ≥ {goal:.1}: {}", judged(rate >= goal))),
        );
        said.extend(self.p99.map(|goal| format!("p99 ≤ {goal:.1}: {}", judged(p99 <= goal))));
        said.join(", ")
    }
}

fn judged(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

/// Measures one more request, as the difference of two callgrind runs.
fn instructions(kind: Kind, asked: Asked) -> f64 {
    const FEW: usize = 100;
    const MANY: usize = 600;
    let count = |requests| {
        let out = std::env::temp_dir().join(format!("benches-http-{}", std::process::id()));
        let mut server = Server::counted(kind, &out.display().to_string());
        Clients::connect(server.address, 1, asked).run(requests);
        server.end();
        let said = std::fs::read_to_string(&out).unwrap_or_default();
        let _gone = std::fs::remove_file(out);
        let count = said
            .lines()
            .find_map(|line| line.split_once("Collected :")?.1.trim().parse::<f64>().ok());
        count.unwrap_or_default()
    };
    (count(MANY) - count(FEW)) / (MANY - FEW) as f64
}

/// Measures responses when one of the sockets delays small packets until earlier ones are
/// acknowledged (Nagle), the default of sockets.
fn delays() {
    const CONCURRENT: usize = 200;
    println!("### p50 of a step and an echo, one connection, with and without `TCP_NODELAY`\n");
    println!(
        "| server | with it | not on the server's socket | not on the client's | goal \
         |\n|---|--:|--:|--:|---|"
    );
    let rows = [
        (Kind::Bare, Era::Sessions, "bare hyper"),
        (Kind::Service, Era::Sessions, "ours, tokio, in a session"),
        (Kind::Service, Era::Stateless, "ours, tokio, without"),
        (Kind::Rmcp, Era::Sessions, "rmcp, in a session"),
        (Kind::Rmcp, Era::Stateless, "rmcp, without"),
    ];
    for (kind, era, name) in rows {
        eprintln!("delays: {name}");
        let p50 = |server, client| {
            let server = Server::start(kind, server);
            let asked = Asked { era, tool: "steps", delays: client };
            let mut clients = Clients::connect(server.address, 1, asked);
            let of_run = |_| {
                // The kernel does not delay on a new connection, so the first requests reveal
                // nothing.
                clients.run(CONCURRENT).within(0.5).as_secs_f64()
            };
            (0..3).map(of_run).skip(1).fold(f64::MAX, f64::min)
        };
        let (both, server, client) = (p50(false, false), p50(true, false), p50(false, true));
        let goal = if kind == Kind::Service {
            format!("≤ 1.5: {}", judged(server.max(client) / both <= 1.5))
        } else {
            String::new()
        };
        println!(
            "| {name} | {:.0} µs | {:.0} µs ({:.2}) | {:.0} µs ({:.2}) | {goal} |",
            both * 1e6,
            server * 1e6,
            server / both,
            client * 1e6,
            client / both,
        );
    }
}
