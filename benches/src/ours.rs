//! The cases of `mcp-proto`, through its public surface: bytes into a machine, events out,
//! responses back.
//!
//! Decoding is therefore more work here than for a codec: calls are matched and completed, requests
//! are kept until answered, events are queued and polled.

use std::hint::black_box;

use bytes::Buf;
use mcp_proto::client::{self, Client};
use mcp_proto::schema::{AnyObject, CallTool, CallToolResult, Decode, ListToolsResult};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallOptions, Capability, Endpoint, IncomingId, Instant, Limits, MessageEndpoint, Progress, Raw,
    Revision,
};

use crate::corpus::{self, CHUNK_BYTES, FIRST_ID, MIXED_MESSAGES};
use crate::{By, Case, Work};

const NOW: Instant = Instant::ZERO;

const SESSIONS: Revision = Revision::V2025_11_25;
const STATELESS: Revision = Revision::V2026_07_28;

const MANY: u64 = 100_000;

pub(crate) fn cases() -> Vec<Case> {
    let ours = |name, count, prepare| Case::new(name, By::Ours, count, prepare);
    vec![
        ours("decode mixed", MIXED_MESSAGES, || mixed(false)),
        ours("decode ping", 1000, || to_server(1000, corpus::ping, false)),
        ours("decode progress", 1000, || {
            let steps = (1..=1000).flat_map(|step| {
                corpus::progress(FIRST_ID, step).into_bytes().into_iter().chain([b'\n'])
            });
            client_takes(1, steps.collect(), false)
        }),
        ours("decode cancelled", 1000, || {
            let mut server = in_session(SESSIONS).server;
            feed(&mut server, &corpus::lines(1, 1000, corpus::call), |_, _| {});
            takes(server, corpus::lines(1, 1000, corpus::cancelled), |_, event| drop(event))
        }),
        ours("decode call", 1000, || to_server(1000, corpus::call, false)),
        ours("decode result", 1000, || to_client(1000, corpus::result, false)),
        ours("decode list", 100, || to_client(100, corpus::list, false)),
        ours("decode text 1 MB", 1, || to_client(1, corpus::text, false)),
        ours("decode image 10 MB", 1, || to_client(1, corpus::image, false)),
        ours("decode mixed, typed", MIXED_MESSAGES, || mixed(true)),
        ours("decode call, typed", 1000, || to_server(1000, corpus::call, true)),
        ours("decode result, typed", 1000, || to_client(1000, corpus::result, true)),
        ours("decode list, typed", 100, || to_client(100, corpus::list, true)),
        ours("decode text 1 MB, typed", 1, || to_client(1, corpus::text, true)),
        ours("decode image 10 MB, typed", 1, || to_client(1, corpus::image, true)),
        ours("decode call, params first", 1000, || {
            to_server(1000, corpus::call_params_first, false)
        }),
        ours("decode call, byte at a time", 100, || {
            let mut server = in_session(SESSIONS).server;
            let lines = corpus::lines(1, 100, corpus::call);
            Box::new(move || {
                for byte in &lines {
                    server.handle_input(NOW, &[*byte]);
                }
                while let Some(event) = server.poll_event() {
                    black_box(event);
                }
            })
        }),
        ours("encode call", 1000, encode_call),
        ours("encode progress", 1000, encode_progress),
        ours("encode result", 1000, || encode_answer(|| Box::new(result()))),
        ours("encode unchanged list", 1000, || {
            encode_answer(|| Box::new(Raw::from_text(&corpus::tools()).expect("it is JSON")))
        }),
        ours("round trip", 100, || round_trips(in_session(SESSIONS), 0)),
        ours("round trip, stateless", 100, || round_trips(in_session(STATELESS), 0)),
        ours("round trip, 10^5 calls in flight", 100, || round_trips(in_session(SESSIONS), MANY)),
        ours("progress, said and heard", 1000, progress_flood),
        ours("idle polls, 1 call in flight", 1000, || idle_polls(1)),
        ours("idle polls, 10^5 calls in flight", 1000, || idle_polls(MANY)),
    ]
}

/// A client and a server on one thread.
#[derive(Debug)]
pub struct Pair {
    /// The client.
    pub client: Stdio<Client>,
    /// The server.
    pub server: Stdio<Server>,
}

/// Creates a pair after the handshake, with limits far from being reached.
#[must_use]
pub fn in_session(revision: Revision) -> Pair {
    let limits = Limits {
        calls_max: usize::MAX,
        calls_bytes_max: usize::MAX,
        requests_max: usize::MAX,
        requests_bytes_max: usize::MAX,
        outbox_bytes_max: usize::MAX,
        replies_bytes_max: usize::MAX,
        ..Limits::default()
    };
    let client =
        client::Config::new("bench", "1.0.0").revisions(&[revision]).limits(limits.clone());
    let server =
        server::Config::new("bench", "1.0.0").capability(Capability::Tools).revisions(&[revision]);
    let mut pair = Pair {
        client: Stdio::new(Client::new(NOW, client)),
        server: Stdio::new(Server::new(NOW, server.limits(limits))),
    };
    while pair.carry() {}
    while pair.client.poll_event().is_some() {}
    while pair.server.poll_event().is_some() {}
    pair
}

impl Pair {
    /// Transfers queued bytes in both directions; returns false if there were none.
    fn carry(&mut self) -> bool {
        carry(&mut self.client, &mut self.server) | carry(&mut self.server, &mut self.client)
    }

    /// Makes a call and answers it, with both sides using types.
    pub fn round_trip(&mut self, call: &CallTool, answer: &CallToolResult) {
        let made = self.client.call(NOW, call, CallOptions::default()).expect("there is room");
        carry(&mut self.client, &mut self.server);
        while let Some(event) = self.server.poll_event() {
            let server::Event::Request { incoming, request, .. } = event else { continue };
            let call: CallTool = request.decode().expect("it is a call");
            assert!(call.arguments.is_some());
            self.server.respond(NOW, incoming, answer).expect("the request is open");
        }
        carry(&mut self.server, &mut self.client);
        while let Some(event) = self.client.poll_event() {
            let client::Event::Completed { call, outcome } = event else { continue };
            let result = CallToolResult::decode(&outcome.expect("the call succeeded"))
                .expect("the result decodes");
            assert!(call == made && !result.is_error);
        }
    }
}

fn carry(from: &mut impl Endpoint, to: &mut impl Endpoint) -> bool {
    let outbox = from.outbox();
    let any = outbox.has_remaining();
    while outbox.has_remaining() {
        let taken = outbox.chunk().len();
        to.handle_input(NOW, outbox.chunk());
        outbox.advance(taken);
    }
    any
}

/// Returns a typical call.
#[must_use]
pub fn call() -> CallTool {
    let arguments = Raw::from_text(corpus::ARGUMENTS).expect("it is JSON");
    let mut call = CallTool::new("search_code");
    call.arguments = Some(AnyObject(arguments));
    call
}

/// Returns a typical result.
#[must_use]
pub fn result() -> CallToolResult {
    CallToolResult::text(corpus::TEXT)
}

/// Feeds bytes to a machine in chunks, and passes events to `hears` after each; output is
/// discarded.
fn feed<S: MessageEndpoint>(
    machine: &mut Stdio<S>,
    bytes: &[u8],
    mut hears: impl FnMut(&mut Stdio<S>, S::Event),
) {
    for chunk in bytes.chunks(CHUNK_BYTES) {
        machine.handle_input(NOW, chunk);
        while let Some(event) = machine.poll_event() {
            hears(machine, event);
        }
        let outbox = machine.outbox();
        outbox.advance(outbox.remaining());
    }
}

fn takes<S: MessageEndpoint + 'static>(
    mut machine: Stdio<S>,
    bytes: Vec<u8>,
    hears: fn(&mut Stdio<S>, S::Event),
) -> Work {
    Box::new(move || feed(&mut machine, black_box(&bytes), hears))
}

fn to_server(count: u64, message: fn(u64) -> String, typed: bool) -> Work {
    server_takes(corpus::lines(1, count, message), typed)
}

fn server_takes(bytes: Vec<u8>, typed: bool) -> Work {
    takes(in_session(SESSIONS).server, bytes, if typed { server_reads } else { server_hears })
}

fn server_hears(_: &mut Stdio<Server>, event: server::Event) {
    assert!(!matches!(event, server::Event::Violation(_)));
    black_box(event);
}

fn server_reads(_: &mut Stdio<Server>, event: server::Event) {
    if let server::Event::Request { request, .. } = &event {
        black_box(request.decode::<CallTool>().expect("it is a call"));
    }
}

fn to_client(count: u64, message: fn(u64) -> String, typed: bool) -> Work {
    client_takes(count, corpus::lines(FIRST_ID, count, message), typed)
}

fn client_takes(calls: u64, bytes: Vec<u8>, typed: bool) -> Work {
    takes(calling(calls), bytes, if typed { client_reads } else { client_hears })
}

/// Creates a client with `calls` calls in flight.
fn calling(calls: u64) -> Stdio<Client> {
    let mut client = in_session(SESSIONS).client;
    for _ in 0..calls {
        let options = CallOptions { progress: true, ..CallOptions::default() };
        client.call(NOW, &CallTool::new("x"), options).expect("there is room");
        let outbox = client.outbox();
        outbox.advance(outbox.remaining());
    }
    client
}

fn client_hears(_: &mut Stdio<Client>, event: client::Event) {
    assert!(!matches!(event, client::Event::Violation(_)), "{event:?}");
    black_box(event);
}

fn client_reads(_: &mut Stdio<Client>, event: client::Event) {
    let client::Event::Completed { outcome: Ok(result), .. } = &event else { return };
    // An application knows the type of each of its calls.
    if result.as_bytes().starts_with(b"{\"tools\"") {
        black_box(ListToolsResult::decode(result).expect("the list decodes"));
    } else {
        black_box(CallToolResult::decode(result).expect("the result decodes"));
    }
}

fn mixed(typed: bool) -> Work {
    let mixed = corpus::mixed();
    let mut server = server_takes(mixed.to_server, typed);
    let mut client = client_takes(mixed.client_calls, mixed.to_client, typed);
    Box::new(move || {
        server();
        client();
    })
}

fn encode_call() -> Work {
    let (mut client, call) = (in_session(SESSIONS).client, call());
    Box::new(move || {
        for _ in 0..1000 {
            client.call(NOW, black_box(&call), CallOptions::default()).expect("there is room");
            let outbox = client.outbox();
            outbox.advance(outbox.remaining());
        }
    })
}

fn encode_answer(answer: fn() -> Box<dyn mcp_proto::schema::Encode>) -> Work {
    let mut server = in_session(SESSIONS).server;
    let mut open: Vec<IncomingId> = Vec::new();
    feed(&mut server, &corpus::lines(1, 1000, corpus::call), |_, event| {
        if let server::Event::Request { incoming, .. } = event {
            open.push(incoming);
        }
    });
    let answer = answer();
    Box::new(move || {
        for incoming in &open {
            server.respond(NOW, *incoming, black_box(&*answer)).expect("the request is open");
            let outbox = server.outbox();
            outbox.advance(outbox.remaining());
        }
    })
}

/// Creates a pair with one call that asked for progress, and its handle at the server.
fn telling() -> (Pair, IncomingId) {
    let mut pair = in_session(SESSIONS);
    let options = CallOptions { progress: true, ..CallOptions::default() };
    pair.client.call(NOW, &call(), options).expect("there is room");
    carry(&mut pair.client, &mut pair.server);
    let Some(server::Event::Request { incoming, .. }) = pair.server.poll_event() else {
        unreachable!("the event is a call")
    };
    (pair, incoming)
}

fn encode_progress() -> Work {
    let (mut pair, incoming) = telling();
    let mut step = 0.0;
    Box::new(move || {
        for _ in 0..1000 {
            step += 1.0;
            pair.server.progress(NOW, incoming, &Progress::new(step)).expect("the request is open");
            let outbox = pair.server.outbox();
            outbox.advance(outbox.remaining());
        }
    })
}

fn progress_flood() -> Work {
    let (mut pair, incoming) = telling();
    let mut step = 0.0;
    Box::new(move || {
        for _ in 0..1000 {
            step += 1.0;
            pair.server.progress(NOW, incoming, &Progress::new(step)).expect("the request is open");
            carry(&mut pair.server, &mut pair.client);
            let heard = pair.client.poll_event();
            assert!(matches!(heard, Some(client::Event::Progress { .. })));
        }
    })
}

fn round_trips(mut pair: Pair, in_flight: u64) -> Work {
    let (call, result) = (call(), result());
    for _ in 0..in_flight {
        pair.client.call(NOW, &CallTool::new("x"), CallOptions::default()).expect("there is room");
        carry(&mut pair.client, &mut pair.server);
        let _event = pair.server.poll_event();
    }
    // The buffers are warm.
    (0..100).for_each(|_| pair.round_trip(&call, &result));
    Box::new(move || (0..100).for_each(|_| pair.round_trip(black_box(&call), black_box(&result))))
}

fn idle_polls(calls: u64) -> Work {
    let mut client = calling(calls);
    Box::new(move || {
        for _ in 0..1000 {
            assert!(client.poll_event().is_none());
            assert!(client.poll_timeout().is_some());
            assert!(!client.outbox().has_remaining() && client.wants_input());
            black_box(&mut client);
        }
    })
}
