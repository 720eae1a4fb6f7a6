//! Memory on small devices: with `Limits::small()`, sessions of both eras stay far below the bound
//! of 64 KiB, and idle connections free what they do not need.
//!
//! `cargo test -p mcp-memory-tests --test devices -- --nocapture` prints the table of
//! `benches/RESULTS.md`.

#![allow(clippy::expect_used, reason = "a test may panic")]

use mcp_memory_tests::{counted, live, peak, restart};
use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{CallError, CallOptions, Capability, Endpoint, Instant, Limits, Raw, Revision};

#[global_allocator]
static COUNTING: mcp_memory_tests::Counting = mcp_memory_tests::Counting;

const NOW: Instant = Instant::ZERO;

fn client(revision: Revision, limits: &Limits) -> Stdio<Client> {
    let config = client::Config::new("button", "1").revisions(&[revision]);
    Stdio::new(Client::new(NOW, config.limits(limits.clone())))
}

fn server(revision: Revision, limits: &Limits) -> Stdio<Server> {
    let config = server::Config::new("lamp", "1").revisions(&[revision]);
    let config = config.capability(Capability::Tools).limits(limits.clone());
    Stdio::new(Server::new(NOW, config))
}

/// A client and a server; the bytes of one of them are counted.
struct Session {
    client: Stdio<Client>,
    server: Stdio<Server>,
    counts_client: bool,
    /// The outcomes of the calls, in order: the length of the result, or the error.
    outcomes: Vec<Result<usize, CallError>>,
    violations: usize,
}

/// The length of the results, except that of a tool call.
const RESULT: &str = r#"{"content":[{"type":"text","text":"on"}]}"#;

impl Session {
    fn client<T>(&mut self, work: impl FnOnce(&mut Stdio<Client>) -> T) -> T {
        let client = &mut self.client;
        if self.counts_client { counted(|| work(client)) } else { work(client) }
    }

    fn server<T>(&mut self, work: impl FnOnce(&mut Stdio<Server>) -> T) -> T {
        let server = &mut self.server;
        if self.counts_client { work(server) } else { counted(|| work(server)) }
    }

    /// Carries messages in pieces of 8 bytes, and responds, until nothing is left to do.
    fn settle(&mut self) {
        loop {
            let requests = self.client(|client| {
                let mut bytes = Vec::new();
                client.outbox().take_all(&mut bytes);
                bytes
            });
            for piece in requests.chunks(8) {
                self.server(|server| server.handle_input(NOW, piece));
                self.respond();
            }
            let responses = self.server(|server| {
                let mut bytes = Vec::new();
                server.outbox().take_all(&mut bytes);
                bytes
            });
            for piece in responses.chunks(8) {
                self.client(|client| client.handle_input(NOW, piece));
                while let Some(event) = self.client(Stdio::poll_event) {
                    if let client::Event::Completed { outcome, .. } = &event {
                        self.outcomes.push(outcome.clone().map(|raw| raw.as_bytes().len()));
                    }
                    self.violations += usize::from(matches!(event, client::Event::Violation(_)));
                    self.client(|_| drop(event));
                }
            }
            let is_done = requests.is_empty() && responses.is_empty();
            self.client(|_| drop(requests));
            self.server(|_| drop(responses));
            if is_done {
                return;
            }
        }
    }

    /// Responds to requests: to the tool `long` with 2000 bytes.
    fn respond(&mut self) {
        while let Some(event) = self.server(Stdio::poll_event) {
            self.violations += usize::from(matches!(event, server::Event::Violation(_)));
            if let server::Event::Request { incoming, request, .. } = &event {
                let params = request.params.as_ref().expect("a call has params");
                let long = format!(r#"{{"content":[],"x":"{}"}}"#, "x".repeat(2000));
                let is_long = params.as_str().contains(r#""name":"long""#);
                let result = Raw::from_text(if is_long { &long } else { RESULT });
                let result = result.expect("it is JSON");
                self.server(|server| server.respond(NOW, *incoming, &result))
                    .expect("the request is open");
            }
            self.server(|_| drop(event));
        }
    }

    fn call(&mut self, params: &str) {
        let params = Raw::from_text(params).expect("it is JSON");
        let options = CallOptions::default();
        self.client(|client| client.call_raw(NOW, "tools/call", Some(&params), options))
            .expect("there is room");
        self.settle();
    }
}

/// The heap of one side: as created, at most, and while idle; and the machine itself.
struct Row {
    new: usize,
    peak: usize,
    idle: usize,
    inline: usize,
}

/// Runs a session with calls, a request that is too long and a result that is too long.
fn measure(revision: Revision, counts_client: bool) -> Row {
    let (small, usual) = (Limits::small(), Limits::default());
    // The other side has the usual limits, so that it can send what is too long.
    restart();
    let mut session = Session {
        client: if counts_client {
            counted(|| client(revision, &small))
        } else {
            client(revision, &usual)
        },
        server: if counts_client {
            server(revision, &usual)
        } else {
            counted(|| server(revision, &small))
        },
        counts_client,
        outcomes: Vec::new(),
        violations: 0,
    };
    let new = live();
    session.settle();
    session.call(r#"{"name":"toggle"}"#);
    if counts_client {
        session.call(r#"{"name":"long"}"#);
    } else {
        session.call(&format!(r#"{{"name":"{}"}}"#, "x".repeat(2000)));
    }
    session.call(r#"{"name":"toggle","arguments":{"lamp":"kitchen"}}"#);
    let [Ok(first), Err(_), Ok(last)] = &session.outcomes[..] else {
        panic!("the long message is refused, and nothing else: {:?}", session.outcomes)
    };
    assert_eq!(first, last);
    assert!(session.violations > 0, "a long message is reported");
    let inline =
        if counts_client { size_of::<Stdio<Client>>() } else { size_of::<Stdio<Server>>() };
    Row { new, peak: peak(), idle: live(), inline }
}

#[test]
fn sessions_with_small_limits_stay_far_below_64_kib_and_free_their_memory() {
    println!("{:28} {:>6} {:>6} {:>6} {:>6}", "heap", "new", "peak", "idle", "inline");
    let bound = Limits::small().memory_max();
    assert!(bound < 64 << 10, "{bound}");
    for (name, counts_client) in [("server", false), ("client", true)] {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let Row { new, peak, idle, inline } = measure(revision, counts_client);
            println!("{:28} {new:6} {peak:6} {idle:6} {inline:6}", format!("{name}, {revision}"));
            assert!(peak < bound / 4, "{name}, {revision}: {peak}");
            assert!(idle < 2048, "{name}, {revision}: {idle}");
        }
    }
}
