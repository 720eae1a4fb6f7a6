//! An extension of one's own, in both roles: a whiteboard with a request, a notification, a result
//! type and a listen key.
//!
//! Run it with `cargo run --example extension -p mcp-proto`. It runs in each era with identical
//! code, and then with a server that lacks the extension.

use std::error::Error;
use std::io::{self, Write};

use bytes::Buf;
use mcp_proto::client::{self, Client};
use mcp_proto::schema::{ClientRequest, Encode, Serialized};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallOptions, Change, Endpoint, Extension, ExtensionMethod, Filter, Instant, Misuse, Raw,
    Revision, Side, Unencodable,
};
use serde_json::json;

// ---- The extension: this part would be its own crate. ----

const ID: &str = "com.example/whiteboard";
const DRAWN: &str = "notifications/com.example/drawn";

/// Returns the extension, with the number of colors that this side supports.
fn whiteboard(colors: u8) -> Extension {
    Extension::new(ID)
        .settings(json!({"colors": colors}))
        .method(ExtensionMethod::request(Side::Client, Draw::METHOD).named_by("board"))
        .method(ExtensionMethod::notification(Side::Server, DRAWN))
        .result_type(Draw::METHOD, "sketch")
        .listen_key("boards")
}

/// Draws a shape. The result has type `sketch` if the shape is not final.
struct Draw {
    board: &'static str,
    shape: &'static str,
}

impl Encode for Draw {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        Serialized(json!({"board": self.board, "shape": self.shape})).encode(revision, out)
    }
}

impl ClientRequest for Draw {
    const METHOD: &'static str = "com.example/draw";
    type Result = Raw;
}

// ---- The server. ----

fn serve(server: &mut Stdio<Server>) -> Result<(), Box<dyn Error>> {
    while let Some(event) = server.poll_event() {
        let server::Event::Request { incoming, request, .. } = event else { continue };
        // The core delivers requests only of clients that declared the extension.
        let params = request.params.unwrap_or_else(Raw::empty_object);
        let board = params.member("board").unwrap_or_else(Raw::empty_object);
        let board = board.to_text().unwrap_or_default();
        let result = Raw::from(json!({"resultType": "sketch", "shapes": 1}));
        server.respond(Instant::ZERO, incoming, &result)?;
        let params = Raw::from(json!({"board": &*board}));
        let (method, key, params) = (DRAWN, "boards", Some(&params));
        let drawn = Change::Extension { method, key, element: &board, params };
        server.notify_changed(Instant::ZERO, drawn)?;
    }
    Ok(())
}

// ---- The client. ----

fn session(revision: Revision, server: server::Config, out: &mut dyn Write) -> Outcome {
    let now = Instant::ZERO;
    let config = client::Config::new("demo", "1.0.0").revisions(&[revision]);
    let mut client = Stdio::new(Client::new(now, config.extension(whiteboard(8))?));
    let mut server = Stdio::new(Server::new(now, server));
    settle(&mut client, &mut server)?;
    let peer = client.peer().ok_or("the handshake is incomplete")?;
    writeln!(out, "{revision}: the server's settings: {:?}", peer.extension(ID))?;

    let draw = Draw { board: "b1", shape: "circle" };
    let boards = Filter::new().element("boards", draw.board);
    client.subscribe(now, &boards, CallOptions::default())?;
    match client.call(now, &draw, CallOptions::default()) {
        Err(Misuse::Undeclared) => writeln!(out, "   falls back: the server has no whiteboard")?,
        called => drop(called?),
    }
    settle(&mut client, &mut server)?;
    while let Some(event) = client.poll_event() {
        match event {
            client::Event::Completed { outcome, .. } => writeln!(out, "   {}", outcome?.as_str())?,
            client::Event::Notification { method, params, .. } => {
                let board = params.and_then(|params| params.member("board"));
                writeln!(out, "   {method} {}", board.as_ref().map_or("?", Raw::as_str))?;
            }
            _ => {}
        }
    }
    Ok(())
}

type Outcome = Result<(), Box<dyn Error>>;

/// Exchanges messages until neither side has any to send.
fn settle(client: &mut Stdio<Client>, server: &mut Stdio<Server>) -> Outcome {
    while !client.outbox().is_empty() {
        transfer(client, server);
        serve(server)?;
        transfer(server, client);
    }
    Ok(())
}

fn transfer(from: &mut impl Endpoint, to: &mut impl Endpoint) {
    let outbox = from.outbox();
    while outbox.has_remaining() {
        let count = outbox.chunk().len();
        to.handle_input(Instant::ZERO, outbox.chunk());
        outbox.advance(count);
    }
}

fn run(out: &mut dyn Write) -> Outcome {
    let config = server::Config::new("boards", "1.0.0");
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        session(revision, config.clone().extension(whiteboard(2))?, out)?;
    }
    session(Revision::V2026_07_28, config, out)
}

fn main() -> Outcome {
    run(&mut io::stdout().lock())
}

#[test]
fn the_extension_works_in_both_eras_and_can_be_absent() {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    for line in ["{\"colors\":2}", "\"sketch\"", "drawn \"b1\""] {
        assert_eq!(text.matches(line).count(), 2, "{line} in\n{text}");
    }
    assert!(text.ends_with("None\n   falls back: the server has no whiteboard\n"), "{text}");
}
