//! Tests of whole connections, message by message.

mod contexts;
mod extensions;
mod input_required;
mod late_tasks;
mod limits;
mod message_meaning;
mod sizes;
mod timeouts;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::client::{self, Client};
use crate::server::{self, Server};
use crate::vocabulary::{CallId, CallOptions, IncomingId, StreamId};
use crate::{Instant, Limits, MessageEndpoint, Raw, Revision};

const NOW: Instant = Instant::ZERO;
const R5: Revision = Revision::V2026_07_28;
const R4: Revision = Revision::V2025_11_25;

/// The `_meta` of a 2026-07-28 request.
const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#,
);

/// Passes `message` from the peer to the connection.
fn receive(session: &mut impl MessageEndpoint, message: impl AsRef<[u8]>) {
    session.handle_message(NOW, StreamId::ONLY, message.as_ref());
}

/// Takes the queued messages.
fn sent(session: &mut impl MessageEndpoint) -> Vec<String> {
    let mut messages = Vec::new();
    while let Some(outgoing) = session.poll_outgoing() {
        messages.push(core::str::from_utf8(outgoing.body).unwrap().to_string());
    }
    messages
}

/// Takes the queued events.
fn events<S: MessageEndpoint>(session: &mut S) -> Vec<S::Event> {
    core::iter::from_fn(|| session.poll_event()).collect()
}

fn discovered(capabilities: &str) -> String {
    let head = r#""resultType":"complete","supportedVersions":["2026-07-28"]"#;
    let result = alloc::format!(r#"{{{head},"capabilities":{capabilities}}}"#);
    alloc::format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
}

fn welcome(version: &str, capabilities: &str) -> String {
    let info = r#"{"name":"s","version":"1"}"#;
    let result = alloc::format!(
        r#"{{"protocolVersion":"{version}","capabilities":{capabilities},"serverInfo":{info}}}"#
    );
    alloc::format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
}

fn client_config(revision: Revision, limits: Limits) -> client::Config {
    let config = client::Config::new("c", "1").revisions(&[revision]).limits(limits);
    config.capability(crate::Capability::ElicitationForm).capability(crate::Capability::Roots)
}

/// Returns a connected client whose server has all capabilities; its next request id is 2.
fn client(revision: Revision, limits: Limits) -> Client {
    let mut client = Client::new(NOW, client_config(revision, limits));
    let capabilities =
        r#"{"tools":{},"resources":{"subscribe":true,"listChanged":true},"prompts":{}}"#;
    match revision {
        R5 => receive(&mut client, discovered(capabilities)),
        _ => receive(&mut client, welcome(revision.name(), capabilities)),
    }
    sent(&mut client);
    events(&mut client);
    client
}

fn call(client: &mut Client, params: &str) -> CallId {
    let params = Raw::from_text(params).unwrap();
    client.call_raw(NOW, "tools/call", Some(&params), CallOptions::default()).unwrap()
}

/// Takes the outcomes of completed calls.
fn outcomes(client: &mut Client) -> Vec<Result<Raw, crate::CallError>> {
    let outcome = |event| match event {
        client::Event::Completed { outcome, .. } => Some(outcome),
        _ => None,
    };
    events(client).into_iter().filter_map(outcome).collect()
}

fn server_config(limits: Limits) -> server::Config {
    let config = server::Config::new("s", "1").capability(crate::Capability::Tools).limits(limits);
    config.capability(crate::Capability::ResourcesSubscribe)
}

fn open_session(server: &mut Server, revision: Revision) {
    receive(
        server,
        alloc::format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{
            "protocolVersion":"{revision}","capabilities":{{"elicitation":{{}},"roots":{{}}}},
            "clientInfo":{{"name":"c","version":"1"}}}}}}"#
        ),
    );
    receive(server, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
}

/// Returns a server with an open session, or without one for 2026-07-28.
fn server(revision: Revision, limits: Limits) -> Server {
    let mut server = Server::new(NOW, server_config(limits));
    if revision != R5 {
        open_session(&mut server, revision);
    }
    sent(&mut server);
    events(&mut server);
    server
}

/// Takes the requests delivered to a server's application.
fn requests(server: &mut Server) -> Vec<(IncomingId, crate::Request, crate::Context)> {
    let request = |event| match event {
        server::Event::Request { incoming, request, context } => Some((incoming, request, context)),
        _ => None,
    };
    events(server).into_iter().filter_map(request).collect()
}
