//! Golden transcripts of two machines that connect: their lines and events, from the first to the
//! last.
//!
//! ```text
//! # A comment.
//! client: 2026-07-28                 the revisions of the client
//! server: 2025-11-25 2026-07-28      and of the server
//!
//! client → {"jsonrpc":"2.0", …}      a line
//! server ! ready 2025-11-25 c 1      an event
//! ```
//!
//! The client lists the server's tools once it is ready, and closes.

use std::fs;
use std::path::Path;

use mcp_proto::{Capability, client, server};

use crate::diff::diff;
use crate::pair::Pair;
use crate::parse;
use crate::role::Role;

/// Connects the two machines of a transcript. With `MCP_HARNESS_BLESS` set, rewrites the file with
/// the actual output instead.
///
/// # Panics
///
/// If the output differs from the file, or the file cannot be read or is malformed.
pub fn assert_meeting(path: &Path) {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let is_head =
        |line: &&str| ["#", "client: ", "server: "].iter().any(|start| line.starts_with(start));
    let head: Vec<String> = text.lines().take_while(is_head).map(Into::into).collect();
    let revisions = |side: &str| {
        let named = head.iter().find_map(|line| line.strip_prefix(side));
        parse::revisions(named.unwrap_or_else(|| panic!("{}: no `{side}`", path.display())))
    };
    let client = client::Config::new("c", "1").revisions(&revisions("client: "));
    let server = server::Config::new("s", "1").revisions(&revisions("server: "));
    let shown = meet(Pair::new(client, server.capability(Capability::Tools)));
    let shown: Vec<String> = head.into_iter().chain([String::new()]).chain(shown).collect();
    let written: Vec<String> = text.lines().map(Into::into).collect();
    if std::env::var_os("MCP_HARNESS_BLESS").is_some() {
        let saved = fs::write(path, shown.join("\n") + "\n");
        saved.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    } else if shown != written {
        panic!("{} (- expected, + shown):\n{}", path.display(), diff(&written, &shown));
    }
}

fn meet(mut pair: Pair) -> Vec<String> {
    pair.drive();
    if pair.client.peer().is_some() {
        let called = pair.call("tools/list", "{}");
        let call = called.unwrap_or_else(|misuse| pair.fail(misuse));
        let (incoming, ..) = pair.next_request();
        let answered = pair.respond(incoming, r#"{"tools":[]}"#);
        answered.unwrap_or_else(|misuse| pair.fail(misuse));
        if let Err(error) = pair.outcome(call) {
            pair.fail(error);
        }
        let now = pair.now;
        pair.client.close(now);
    }
    pair.drive_until_quiet();
    let said = pair.transcript().to_string();
    // The times belong to the links and do not matter.
    said.lines()
        .map(|line| line.split_once(' ').map_or(line, |(_, words)| words).to_owned())
        .collect()
}
