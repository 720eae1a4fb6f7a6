//! The cases of the adapters: calls of tools with handlers, over a connection that is driven by
//! hand, without threads, pipes or a runtime.

use std::hint::black_box;

use mcp_blocking::layers::{Incoming, Next, Response};
use mcp_blocking::proto::{Instant, Raw};
use mcp_blocking::{Cx, Json, Server, Tool};
use schemars::JsonSchema;
use serde::Serialize;

use crate::corpus::{self, FIRST_ID};
use crate::{By, Case, Work};

const NOW: Instant = Instant::ZERO;
const CALLS: u64 = 1000;

#[derive(JsonSchema, Serialize)]
struct Found {
    text: &'static str,
    line: u32,
}

const FOUND: Found = Found { text: corpus::TEXT, line: 118 };

pub(crate) fn cases() -> Vec<Case> {
    let ours = |name, prepare| Case::new(name, By::Ours, CALLS, prepare);
    vec![
        ours("tool call, text result", || calls(text_server())),
        ours("tool call, Json result", || calls(json_server())),
        ours("tool call, one layer", || calls(text_server().layer(pass_on))),
        ours("tool call, two layers", || calls(text_server().layer(pass_on).layer(pass_on))),
    ]
}

fn text_server() -> Server {
    let handler = |_: Raw, _: Cx| async { corpus::TEXT };
    Server::new("bench", "1.0.0")
        .add(Tool::new("search_code", handler).description("Searches").input_schema(schema()))
}

fn json_server() -> Server {
    let handler = |_: Raw, _: Cx| async { Json(FOUND) };
    Server::new("bench", "1.0.0")
        .add(Tool::new("search_code", handler).description("Searches").input_schema(schema()))
}

fn schema() -> Raw {
    Raw::from_text(r#"{"type":"object"}"#).expect("it is JSON")
}

async fn pass_on(request: Incoming, next: Next) -> Response {
    next.run(request).await
}

/// Calls a tool one call at a time, and discards the responses.
fn calls(server: Server) -> Work {
    let mut server = server.manual(NOW, None).expect("the tool is valid");
    for line in corpus::HANDSHAKE {
        server.handle_input(NOW, line.as_bytes());
        server.handle_input(NOW, b"\n");
    }
    let lines: Vec<String> =
        (FIRST_ID..FIRST_ID + CALLS).map(|id| corpus::call(id) + "\n").collect();
    let answered = server.output().len();
    server.advance(answered);
    Box::new(move || {
        for line in &lines {
            server.handle_input(NOW, black_box(line.as_bytes()));
            while server.run_handler(NOW) {}
            let count = server.output().len();
            assert!(count > 200, "the call is answered");
            server.advance(count);
        }
    })
}
