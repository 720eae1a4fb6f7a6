//! Records a session, prints the recording and replays it.
//!
//! Run it with `cargo run --example replay -p mcp-proto --features record`; add `-- --payloads` to
//! print the payloads too. A real program would pass a closure that writes to a file instead of a
//! `Vec`.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use bytes::Buf;
use mcp_proto::client::{self, Client};
use mcp_proto::record::{Recorded, Recording};
use mcp_proto::schema::{CallTool, CallToolResult};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{CallOptions, Capability, Endpoint, Instant, Progress, Raw, RoleEndpoint};

fn main() -> Result<(), Box<dyn Error>> {
    let payloads = std::env::args().any(|argument| argument == "--payloads");
    run(payloads, &mut io::stdout().lock())
}

// ---- The endpoints: a replay creates them with the recorded configuration. ----

fn new_client(now: Instant) -> Stdio<Client> {
    Stdio::new(Client::new(now, client::Config::new("demo", "1.0.0")))
}

fn new_server(now: Instant) -> Stdio<Server> {
    Stdio::new(Server::new(
        now,
        server::Config::new("vault", "1.0.0").capability(Capability::Tools),
    ))
}

// ---- A session, recorded on both sides. ----

fn record() -> Result<[Vec<u8>; 2], Box<dyn Error>> {
    let mut now = Instant::ZERO;
    let mut client = Recorded::new(new_client(now), now, Vec::new());
    let mut server = Recorded::new(new_server(now), now, Vec::new());
    transfer(now, &mut client, &mut server);
    transfer(now, &mut server, &mut client);
    let options = CallOptions { progress: true, ..CallOptions::default() };
    let call = CallTool::new("open").arguments(Raw::from_text(r#"{"combination":"12-34-56"}"#)?);
    client.apply(now, client::Command::call(&call, options))?;
    transfer(now, &mut client, &mut server);
    while let Some(event) = server.poll_event() {
        if let server::Event::Request { incoming, .. } = event {
            let progress = &Progress::new(1.0).with_total(2.0);
            server.apply(now, server::Command::Progress { incoming, progress })?;
            now += Duration::from_millis(250);
            let result = CallToolResult::text("a thousand crowns");
            server.apply(now, server::Command::respond(incoming, &result))?;
        }
    }
    transfer(now, &mut server, &mut client);
    while client.poll_event().is_some() {}
    client.apply(now, client::Command::Close)?;
    server.handle_eof(now);
    while client.poll_event().is_some() || server.poll_event().is_some() {}
    Ok([client.into_sink(), server.into_sink()])
}

fn transfer(now: Instant, from: &mut impl Endpoint, to: &mut impl Endpoint) {
    let outbox = from.outbox();
    while outbox.has_remaining() {
        let count = outbox.chunk().len();
        to.handle_input(now, outbox.chunk());
        outbox.advance(count);
    }
}

// ---- Printing and replaying. ----

fn run(payloads: bool, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let [client, server] = record()?;
    let recording = Recording::read(&client)?;
    writeln!(out, "client, {} bytes:\n{}", client.len(), recording.show(payloads))?;
    let replayed = recording.replay(&mut new_client(recording.created_at()))?;
    writeln!(
        out,
        "replayed: {} entries, {} events, {} bytes out\n",
        replayed.entries, replayed.events, replayed.bytes_out
    )?;

    let recording = Recording::read(&server)?;
    writeln!(out, "server, {} bytes:\n{}", server.len(), recording.show(payloads))?;
    let replayed = recording.replay(&mut new_server(recording.created_at()))?;
    writeln!(
        out,
        "replayed: {} entries, {} events, {} bytes out\n",
        replayed.entries, replayed.events, replayed.bytes_out
    )?;

    // A server with another configuration behaves differently.
    let other =
        Stdio::new(Server::new(recording.created_at(), server::Config::new("vault", "1.0.0")));
    if let Err(diverged) = recording.replay(&mut { other }) {
        writeln!(out, "another server: {diverged}")?;
    }
    Ok(())
}

#[test]
fn the_recording_is_printed_and_replays() {
    let printed = |payloads| {
        let mut out = Vec::new();
        run(payloads, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let text = printed(false);
    for line in [
        "0.000000000s client @ call tools/call (54 bytes) = call#2",
        "0.000000000s server ! request#1 tools/call",
        "0.000000000s server @ progress request#1",
        "0.250000000s server @ respond request#1 (80 bytes)",
        "0.250000000s client ! call#2 ok",
        "0.250000000s client ! closed: here",
        "another server: entry",
    ] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
    assert_eq!(text.matches("replayed: ").count(), 2);
    // Payloads are printed only on request.
    for secret in ["12-34-56", "crowns"] {
        assert!(!text.contains(secret), "{text}");
        assert!(printed(true).contains(secret));
    }
}
