//! Allocations per message in steady state: those of the core, next to those of the application.
//!
//! The numbers are exact: a change that lowers one updates it here.

#![allow(clippy::expect_used, reason = "a test may panic")]

use bytes::Buf;
use mcp_memory_tests::{allocations, counted, restart};
use mcp_proto::client::{self, Client};
use mcp_proto::schema::{CallTool, CallToolResult, Decode};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{CallOptions, Capability, Endpoint, IncomingId, Instant, Raw, Revision};

#[global_allocator]
static COUNTING: mcp_memory_tests::Counting = mcp_memory_tests::Counting;

const NOW: Instant = Instant::ZERO;
const TIMES: usize = 100;

struct Pair {
    client: Stdio<Client>,
    server: Stdio<Server>,
}

impl Pair {
    fn new(revision: Revision) -> Self {
        let client = client::Config::new("count", "1").revisions(&[revision]);
        let server =
            server::Config::new("count", "1").revisions(&[revision]).capability(Capability::Tools);
        let mut pair = Self {
            client: Stdio::new(Client::new(NOW, client)),
            server: Stdio::new(Server::new(NOW, server)),
        };
        for _ in 0..4 {
            carry(&mut pair.client, &mut pair.server);
            carry(&mut pair.server, &mut pair.client);
        }
        while pair.client.poll_event().is_some() {}
        while pair.server.poll_event().is_some() {}
        pair
    }

    fn call(&mut self, call: &CallTool) {
        self.client.call(NOW, call, CallOptions::default()).expect("there is room");
    }

    fn take_call(&mut self, typed: bool) -> IncomingId {
        carry(&mut self.client, &mut self.server);
        let Some(server::Event::Request { incoming, request, .. }) = self.server.poll_event()
        else {
            unreachable!("a call was made")
        };
        if typed {
            request.decode::<CallTool>().expect("it is a call");
        }
        incoming
    }

    fn answer(&mut self, incoming: IncomingId, answer: &CallToolResult) {
        self.server.respond(NOW, incoming, answer).expect("the request is open");
    }

    fn take_answer(&mut self, typed: bool) {
        carry(&mut self.server, &mut self.client);
        let Some(client::Event::Completed { outcome, .. }) = self.client.poll_event() else {
            unreachable!("the call was answered")
        };
        let result = outcome.expect("the call succeeded");
        if typed {
            CallToolResult::decode(&result).expect("the result decodes");
        }
    }
}

fn carry(from: &mut impl Endpoint, to: &mut impl Endpoint) {
    let outbox = from.outbox();
    while outbox.has_remaining() {
        let taken = outbox.chunk().len();
        to.handle_input(NOW, outbox.chunk());
        outbox.advance(taken);
    }
}

/// Counts the allocations of the step `is_counted` of a round trip.
fn step(revision: Revision, is_counted: &str, typed: bool) -> usize {
    let mut pair = Pair::new(revision);
    let arguments = Raw::from_text(r#"{"city":"Oslo","days":[1,2,3]}"#).expect("it is JSON");
    let call = CallTool::new("today").arguments(arguments);
    let answer = CallToolResult::text("sunny, and not too warm");
    let mut round = || {
        step_of(is_counted, "encode call", || pair.call(&call));
        let incoming = step_of(is_counted, "decode call", || pair.take_call(typed));
        step_of(is_counted, "encode result", || pair.answer(incoming, &answer));
        step_of(is_counted, "decode result", || pair.take_answer(typed));
    };
    (0..TIMES).for_each(|_| round());
    restart();
    (0..TIMES).for_each(|_| round());
    assert_eq!(allocations() % TIMES, 0, "{is_counted}: the count varies");
    allocations() / TIMES
}

fn step_of<T>(is_counted: &str, name: &str, work: impl FnOnce() -> T) -> T {
    if is_counted == name || is_counted == "all" { counted(work) } else { work() }
}

#[test]
fn a_legacy_round_trip_allocates_only_params_and_result() {
    let count = |name| step(Revision::V2025_11_25, name, false);
    assert_eq!(count("encode call"), 0);
    // The params, which are shared: they are kept in case the request asks for input and is
    // delivered again.
    assert_eq!(count("decode call"), 1);
    assert_eq!(count("encode result"), 0);
    // The result.
    assert_eq!(count("decode result"), 1);
    assert_eq!(count("all"), 2);
}

#[test]
fn decoding_types_allocates_only_lists() {
    let count = |name| step(Revision::V2025_11_25, name, true);
    // Names, arguments and texts are slices of the params and of the result.
    assert_eq!(count("decode call"), 1);
    assert_eq!(count("decode result"), 2);
    assert_eq!(count("all"), 3);
}

#[test]
fn a_modern_round_trip_allocates_no_more_than_a_legacy_one() {
    for typed in [false, true] {
        for name in ["encode call", "decode call", "encode result", "decode result", "all"] {
            let count = |revision| step(revision, name, typed);
            let [legacy, modern] = [Revision::V2025_11_25, Revision::V2026_07_28].map(count);
            assert_eq!(modern, legacy, "{name}, typed: {typed}");
        }
    }
}

#[test]
fn a_ping_and_its_answer_allocate_nothing() {
    let mut pair = Pair::new(Revision::V2025_11_25);
    let mut ping = || {
        pair.server.handle_input(NOW, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        let outbox = pair.server.outbox();
        outbox.advance(outbox.remaining());
    };
    (0..TIMES).for_each(|_| ping());
    restart();
    counted(|| (0..TIMES).for_each(|_| ping()));
    assert_eq!(allocations(), 0);
}
