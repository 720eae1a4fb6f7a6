//! Counts allocations and peak memory, ours and the official SDK's, and prints one row per line.
//!
//! A row is its name, the allocations per message, and the peak in bytes; allocations of the
//! application, such as the text of a result, count where they are part of decoding or encoding
//! types.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a tool prints, and may panic")]

use bytes::Buf;
use mcp_benches::corpus;
use mcp_benches::ours::{self, Pair, in_session};
use mcp_memory_tests::{allocations, counted, peak, restart};
use mcp_proto::schema::{CallTool, CallToolResult, Decode};
use mcp_proto::{CallOptions, Endpoint, IncomingId, Instant, Revision, client, server};

#[global_allocator]
static COUNTING: mcp_memory_tests::Counting = mcp_memory_tests::Counting;

const NOW: Instant = Instant::ZERO;
const TIMES: u32 = 100;

/// Runs `once` until everything is warm, then often enough for a mean.
fn row(name: &str, mut once: impl FnMut()) {
    (0..TIMES).for_each(|_| once());
    restart();
    (0..TIMES).for_each(|_| once());
    println!("{name}\t{:.2}\t{}", allocations() as f64 / f64::from(TIMES), peak());
}

fn large(name: &str, work: impl FnOnce()) {
    restart();
    work();
    println!("{name}\t{}\t{}", allocations(), peak());
}

fn main() {
    ours();
    #[cfg(feature = "http")]
    http_requests();
    #[cfg(feature = "compare")]
    theirs::all();
}

fn ours() {
    for typed in [false, true] {
        let suffix = if typed { ", typed" } else { "" };
        let mut pair = in_session(Revision::V2025_11_25);
        let mut id = 0;
        row(&format!("ours: decode call{suffix}"), || {
            id += 1;
            let line = corpus::lines(id, 1, corpus::call);
            let incoming = counted(|| take_call(&mut pair, &line, typed));
            pair.server.respond(NOW, incoming, &ours::result()).expect("the request is open");
            drain(&mut pair.server);
        });
        let (mut pair, call) = (in_session(Revision::V2025_11_25), ours::call());
        let mut id = corpus::FIRST_ID;
        row(&format!("ours: decode result{suffix}"), || {
            pair.client.call(NOW, &call, CallOptions::default()).expect("there is room");
            drain(&mut pair.client);
            let line = corpus::lines(id, 1, corpus::result);
            id += 1;
            counted(|| take_result(&mut pair, &line, typed));
        });
    }
    let (mut pair, ping) = (in_session(Revision::V2025_11_25), corpus::lines(1, 1, corpus::ping));
    row("ours: decode ping", || {
        counted(|| {
            pair.server.handle_input(NOW, &ping);
            drain(&mut pair.server);
        });
    });
    let (mut pair, call) = (in_session(Revision::V2025_11_25), ours::call());
    let mut id = corpus::FIRST_ID;
    row("ours: encode call", || {
        counted(|| {
            pair.client.call(NOW, &call, CallOptions::default()).expect("there is room");
            drain(&mut pair.client);
        });
        take_result(&mut pair, &corpus::lines(id, 1, corpus::result), false);
        id += 1;
    });
    let (mut pair, result) = (in_session(Revision::V2025_11_25), ours::result());
    row("ours: encode result", || {
        let incoming = take_call(&mut pair, &corpus::lines(1, 1, corpus::call), false);
        counted(|| {
            pair.server.respond(NOW, incoming, &result).expect("the request is open");
            drain(&mut pair.server);
        });
    });
    for (name, revision) in
        [("round trip", Revision::V2025_11_25), ("round trip, stateless", Revision::V2026_07_28)]
    {
        let (mut pair, call, result) = (in_session(revision), ours::call(), ours::result());
        row(&format!("ours: {name}"), || counted(|| pair.round_trip(&call, &result)));
    }
    for (name, message) in
        [("text 1 MB", corpus::text as fn(u64) -> String), ("image 10 MB", corpus::image)]
    {
        for typed in [false, true] {
            let mut pair = in_session(Revision::V2025_11_25);
            pair.client.call(NOW, &ours::call(), CallOptions::default()).expect("there is room");
            let line = corpus::lines(corpus::FIRST_ID, 1, message);
            let suffix = if typed { ", typed" } else { "" };
            large(&format!("ours: decode {name}{suffix}"), || {
                counted(|| take_result(&mut pair, &line, typed))
            });
        }
    }
}

#[cfg(feature = "http")]
fn http_requests() {
    use mcp_benches::requests::{SessionClient, SessionServer};

    for (suffix, has_token) in [("", false), (", token", true)] {
        let mut client = SessionClient::new(has_token);
        let mut id = corpus::FIRST_ID;
        row(&format!("ours: HTTP request, client{suffix}"), || {
            let response = corpus::result(id);
            id += 1;
            counted(|| client.request(response.as_bytes()));
        });
        let server = SessionServer::new(has_token);
        let mut id = corpus::FIRST_ID;
        row(&format!("ours: HTTP request, server{suffix}"), || {
            let request = server.post(corpus::call(id));
            id += 1;
            let response = counted(|| server.respond(request));
            assert_eq!(response.status(), 200);
        });
    }
}

fn drain(machine: &mut impl Endpoint) {
    let outbox = machine.outbox();
    outbox.advance(outbox.remaining());
}

fn take_call(pair: &mut Pair, line: &[u8], typed: bool) -> IncomingId {
    pair.server.handle_input(NOW, line);
    let Some(server::Event::Request { incoming, request, .. }) = pair.server.poll_event() else {
        unreachable!("the line is a call")
    };
    if typed {
        request.decode::<CallTool>().expect("it is a call");
    }
    incoming
}

fn take_result(pair: &mut Pair, line: &[u8], typed: bool) {
    line.chunks(corpus::CHUNK_BYTES).for_each(|chunk| pair.client.handle_input(NOW, chunk));
    let Some(client::Event::Completed { outcome, .. }) = pair.client.poll_event() else {
        unreachable!("the line is an answer")
    };
    let result = outcome.expect("the call succeeded");
    if typed {
        CallToolResult::decode(&result).expect("the result decodes");
    }
}

#[cfg(feature = "compare")]
mod theirs {
    //! The rows of the official SDK.

    use super::{corpus, counted, large, row};
    use bytes::BytesMut;
    use mcp_benches::theirs::{Pair, call_message, decode_all, params};
    use rmcp::service::RxJsonRpcMessage;
    use rmcp::transport::async_rw::JsonRpcMessageCodec;
    use rmcp::{RoleClient, RoleServer};
    use serde::de::DeserializeOwned;
    use tokio_util::codec::{Decoder, Encoder};

    type ToServer = RxJsonRpcMessage<RoleServer>;
    type ToClient = RxJsonRpcMessage<RoleClient>;

    pub(super) fn all() {
        decodes::<ToServer>("call", corpus::call);
        decodes::<ToClient>("result", corpus::result);
        decodes::<ToServer>("ping", corpus::ping);
        let (mut codec, mut buffer) =
            (JsonRpcMessageCodec::new(), BytesMut::with_capacity(64 * 1024));
        row("rmcp: encode call", || {
            let message = call_message();
            counted(|| codec.encode(message, &mut buffer).expect("the message encodes"));
            buffer.clear();
        });
        let (mut pair, params) = (Pair::new(), params());
        row("rmcp: round trip", || counted(|| pair.round_trip(&params)));
        for (name, message) in
            [("text 1 MB", corpus::text as fn(u64) -> String), ("image 10 MB", corpus::image)]
        {
            let line = corpus::lines(1, 1, message);
            large(&format!("rmcp: decode {name}"), || counted(|| decode_all::<ToClient>(&line)));
        }
    }

    fn decodes<T: DeserializeOwned>(name: &str, message: fn(u64) -> String) {
        let line = corpus::lines(1, 1, message);
        let (mut codec, mut buffer) =
            (JsonRpcMessageCodec::<T>::new(), BytesMut::with_capacity(64 * 1024));
        row(&format!("rmcp: decode {name}"), || {
            buffer.reserve(line.len());
            buffer.extend_from_slice(&line);
            counted(|| codec.decode(&mut buffer).expect("the message decodes"));
        });
    }
}
