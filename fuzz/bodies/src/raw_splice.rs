//! JSON values without a tree: scanning and lookup, and params and results on their way out.

use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::{
    CallOptions, Capability, Endpoint, Era, Instant, MessageEndpoint, Misuse, Raw, Revision,
    StreamId, stdio::Stdio,
};

use crate::reference::{Reading, Tree, read};

/// A JSON value is accepted exactly if `serde_json` accepts it, has equal members, and stays intact
/// when members are added to it.
pub fn raw_splice(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (raw, tree) = match (Raw::from_text(text), read(data)) {
        (Ok(raw), Reading::Json(tree)) => (raw, tree),
        (Err(_), Reading::NotJson) | (_, Reading::Unsure) => return,
        (taken, reading) => panic!("taken as {taken:?}, and `serde_json` says {reading:?}"),
    };
    assert_eq!(parse(raw.as_bytes()), tree, "it changed on its way in");
    assert!(!raw.as_bytes().iter().any(|byte| b"\r\n".contains(byte)), "it is not on one line");
    for (name, _) in tree.members() {
        let found = raw.member(name).map(|value| parse(value.as_bytes()));
        assert_eq!(found.as_ref(), tree.member(name), "the member {name:?}");
    }
    if let Tree::Array(elements) = &tree {
        let found: Vec<Tree> = raw.elements().map(|element| parse(element.as_bytes())).collect();
        assert_eq!(&found, elements);
    }
    assert_eq!(raw.to_text().as_deref(), tree.as_text());
    // The message around it adds two levels.
    if tree.depth() < 90 {
        params_go_out(&raw, &tree);
        result_goes_out(&raw, &tree);
    }
}

fn parse(text: &[u8]) -> Tree {
    match read(text) {
        Reading::Json(tree) => tree,
        reading => panic!("{reading:?}: {}", String::from_utf8_lossy(text)),
    }
}

/// Returns the members that do not belong to the core; of repeated names, the last counts.
fn others<'a>(object: &'a Tree, ours: &[&str]) -> Vec<(&'a str, &'a Tree)> {
    let mut names: Vec<&str> = object.members().iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !ours.contains(name));
    names.into_iter().filter_map(|name| Some((name, object.member(name)?))).collect()
}

fn params_go_out(raw: &Raw, tree: &Tree) {
    let now = Instant::ZERO;
    let mut client =
        Client::new(now, client::Config::new("c", "1").revisions(&[Revision::V2026_07_28]));
    client.handle_message(
        now,
        StreamId::ONLY,
        &br#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#[..],
    );
    assert_eq!(client.peer().map(|peer| peer.revision.era()), Some(Era::Modern));
    while client.poll_outgoing().is_some() {}
    let called = client.call_raw(now, "tools/call", Some(raw), CallOptions::default());
    if !tree.is_object() {
        assert_eq!(called, Err(Misuse::Unencodable));
        return assert!(!client.has_outgoing());
    }
    assert!(called.is_ok(), "{called:?}");
    let sent = parse(client.poll_outgoing().map(|outgoing| outgoing.body).unwrap_or_default());
    let params = sent.member("params").unwrap_or(&Tree::Null);
    assert_eq!(others(params, &["_meta"]), others(tree, &["_meta"]));
    let meta = params.member("_meta").unwrap_or(&Tree::Null);
    let ours = [
        "progressToken",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
        "io.modelcontextprotocol/clientInfo",
    ];
    let theirs = tree.member("_meta").unwrap_or(&Tree::Null);
    assert_eq!(others(meta, &ours), others(theirs, &ours));
    assert_eq!(meta.member(ours[1]).and_then(Tree::as_text), Some("2026-07-28"));
}

fn result_goes_out(raw: &Raw, tree: &Tree) {
    let now = Instant::ZERO;
    let config = server::Config::new("s", "1").capability(Capability::Tools);
    let mut server = Stdio::new(Server::new(now, config));
    server.handle_input(
        now,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
"#,
    );
    let Some(server::Event::Request { incoming, .. }) = server.poll_event() else {
        panic!("no request came")
    };
    let responded = server.respond(now, incoming, raw);
    if !tree.is_object() {
        assert_eq!(responded, Err(Misuse::Unencodable));
        return assert!(server.outbox().is_empty());
    }
    if let Err(misuse) = responded {
        // A type is text, and only an extension could define this one.
        let result_type = tree.member("resultType");
        assert!(result_type.is_some(), "only a type is refused, not {misuse:?}");
        let is_text = result_type.and_then(Tree::as_text).is_some();
        let expected = if is_text { Misuse::Undeclared } else { Misuse::Unencodable };
        assert_eq!(misuse, expected, "for the type {result_type:?}");
        return assert!(server.outbox().is_empty());
    }
    let line = server.outbox().chunk().to_vec();
    let sent = parse(&line);
    let result = sent.member("result").unwrap_or(&Tree::Null);
    let added = ["_meta", "resultType", "ttlMs", "cacheScope"];
    assert_eq!(others(result, &added), others(tree, &added));
    for name in &added[1..] {
        assert!(
            tree.member(name).is_none_or(|theirs| result.member(name) == Some(theirs)),
            "{name}"
        );
    }
    assert!(result.member("resultType").is_some(), "a result has a type");
    let meta = |object: &Tree| object.member("_meta").cloned().unwrap_or(Tree::Null);
    let ours = ["io.modelcontextprotocol/serverInfo"];
    assert_eq!(others(&meta(result), &ours), others(&meta(tree), &ours));
}
