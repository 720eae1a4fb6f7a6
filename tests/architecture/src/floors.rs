//! The floors of the core: which rooms exist, and that imports only lead to lower floors.
//!
//! Tests are exempt, and `lib.rs` may name every room. The order of the files inside a room is in
//! [`ORDERS`].

use crate::Breach;
use crate::imports::levels::Order;
use crate::lexer::Kind;
use crate::sources::{SourceFile, Token, closing, nesting, reads};
use std::collections::BTreeMap;

/// The folder of the core's sources.
pub(crate) const CORE: &str = "mcp-proto/src/";

/// A layer of rooms, which may use all lower floors but not each other.
struct Floor {
    rooms: &'static [&'static str],
    /// Lower rooms that this floor may not use.
    closed: &'static [&'static str],
}

/// The floors of ARCHITECTURE.md, lowest first.
const FLOORS: &[Floor] = &[
    Floor {
        rooms: &["_guide", "collections", "error", "limits", "printable", "secret", "time"],
        closed: &[],
    },
    Floor { rooms: &["json", "method", "wire"], closed: &[] },
    Floor { rooms: &["revision", "rpc"], closed: &["wire"] },
    Floor { rooms: &["schema"], closed: &["wire"] },
    Floor { rooms: &["extension"], closed: &["wire"] },
    Floor { rooms: &["vocabulary"], closed: &["wire"] },
    Floor {
        rooms: &["cache", "message_endpoint", "meta", "permissions", "queues", "tasks"],
        closed: &[],
    },
    Floor { rooms: &["connection"], closed: &[] },
    Floor { rooms: &["command"], closed: &[] },
    Floor { rooms: &["client", "endpoint", "server"], closed: &[] },
    Floor { rooms: &["catalog", "http", "seal", "stdio"], closed: &[] },
    Floor { rooms: &["auth"], closed: &[] },
    Floor { rooms: &["record", "testing"], closed: &[] },
];

/// The rooms whose files have an order of their own, lowest first.
pub const ORDERS: &[Order] = &[
    Order {
        room: "mcp-proto/src/connection/",
        levels: &[
            &["lifecycle/phase", "violations"],
            &["input_required/round", "pending_calls/call"],
            &["context"],
            &["eras/rules", "keep_alive"],
            &["inbound", "input_required", "lifecycle", "pending_calls", "subscriptions"],
            &["eras"],
            &["dispatch"],
            &["mod"],
            // The router's methods: input from the peer, commands, events of the transport.
            &["commands", "opening", "receive", "subscribing", "transport"],
        ],
    },
    Order {
        room: "mcp-proto/src/http/",
        levels: &[
            &[
                "byte_order_mark",
                "headers",
                "header",
                "redact",
                "refusal",
                "server/event_id",
                "server/settings",
                "server/usage",
                "session_table",
                "sse",
            ],
            &["legacy_sse/server_url", "policy", "request_headers"],
            &[
                "admit",
                "param_headers",
                "reply",
                "server/exchange",
                "server/replay",
                "server/scope",
            ],
            &[
                "client/action",
                "client/config",
                "client/credentials",
                "client/event_stream",
                "client/legacy_session",
                "cross_origin",
                "guard",
            ],
            &["client/event"],
            &["client/exchange"],
            &[
                "client/backoff",
                "client/exchanges",
                "client/tool_cache",
                "server/streams",
                "validate/modern",
            ],
            &["client/outbound_post", "validate"],
            &["client", "server"],
            &["legacy_sse", "unary_service"],
            &["mod"],
        ],
    },
    Order {
        room: "mcp-proto/src/tasks/",
        levels: &[
            &["account"],
            &["clock", "id", "limits", "links", "poller/inputs", "poller/limits", "poller/phase"],
            &["error", "event", "poller/event", "status"],
            &["protocol"],
            &["poller/status", "record"],
            &["entry", "poller", "requestor"],
            &["store"],
            &["table"],
            &["handlers", "requests", "restore"],
            &["mod"],
        ],
    },
];

/// Finds upward imports, rooms without a floor, and paths that name no room.
#[must_use]
pub fn climbs(files: &[SourceFile]) -> Vec<Breach> {
    let roof = files.iter().find(|file| file.path == format!("{CORE}lib.rs"));
    let reexports = roof.map(reexports).unwrap_or_default();
    let mut breaches = Vec::new();
    for file in files {
        let Some(modules) =
            file.path.strip_prefix(CORE).filter(|path| *path != "lib.rs").map(modules)
        else {
            continue;
        };
        let room = modules[0];
        let Some(floor) = floor_of(room) else {
            breaches.push(file.breach(1, format!("`{room}` is on no floor")));
            continue;
        };
        for import in imports(file, modules.len()) {
            let name = import.name.as_str();
            let used = reexports.get(name).map_or(name, String::as_str);
            let complaint = match floor_of(used) {
                _ if used == room => continue,
                None => {
                    format!("`{}` names no room: import it from the room it lives in", import.path)
                }
                Some(below) if below < floor && !FLOORS[floor].closed.contains(&used) => continue,
                Some(other) => {
                    format!(
                        "`{}` climbs: `{room}` (floor {floor}) may not use `{used}` (floor \
                         {other})",
                        import.path
                    )
                }
            };
            breaches.push(file.breach(import.line, complaint));
        }
    }
    breaches
}

fn floor_of(room: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.rooms.contains(&room))
}

/// Returns the module path of a file, starting with its room.
fn modules(path: &str) -> Vec<&str> {
    let mut modules: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    if modules.len() > 1 && modules.last() == Some(&"mod") {
        modules.pop();
    }
    modules
}

/// A mention of an item by a path from the crate's root.
struct Import {
    line: usize,
    /// The path as written, up to the name.
    path: String,
    /// The first name below the root.
    name: String,
}

/// Returns what a file names through `crate::`, `mcp_proto::` or enough `super::`, outside of
/// tests.
fn imports(file: &SourceFile, depth: usize) -> Vec<Import> {
    let tokens = &file.tokens;
    let mut imports = Vec::new();
    let mut inline = InlineModules::default();
    for at in 0..tokens.len() {
        inline.step(tokens, at);
        if tokens[at].in_test {
            continue;
        }
        let start = match tokens[at].text.as_str() {
            "crate" | "mcp_proto" if reads(tokens, at + 1, &["::"]) => Some(at + 2),
            "super" if !follows_super(tokens, at) => {
                supers_to_root(tokens, at, depth + inline.depth())
            }
            _ => None,
        };
        for head in start.map(|start| heads(tokens, start)).unwrap_or_default() {
            let base = if tokens[at].is("super") { "super" } else { "crate" };
            let name = tokens[head].text.clone();
            imports.push(Import { line: tokens[head].line, path: format!("{base}::{name}"), name });
        }
    }
    imports
}

fn follows_super(tokens: &[Token], at: usize) -> bool {
    at >= 2 && reads(tokens, at - 2, &["super", "::"])
}

/// Returns where the path continues after its `super::`s, if they lead to the crate's root.
fn supers_to_root(tokens: &[Token], at: usize, depth: usize) -> Option<usize> {
    let count = (0..depth).take_while(|n| reads(tokens, at + 2 * n, &["super", "::"])).count();
    (count == depth).then_some(at + 2 * depth)
}

/// Returns the first names of the path or the group of paths at `at`.
fn heads(tokens: &[Token], at: usize) -> Vec<usize> {
    if !reads(tokens, at, &["{"]) {
        return if at < tokens.len() { vec![at] } else { Vec::new() };
    }
    let end = closing(tokens, at);
    let mut heads = Vec::new();
    let mut depth = 0;
    for n in at..end {
        if depth == 1 && (tokens[n - 1].is("{") || tokens[n - 1].is(",")) {
            heads.push(n);
        }
        depth += nesting(&tokens[n]);
    }
    heads
}

/// The `mod name { … }` blocks around the current token.
#[derive(Default)]
struct InlineModules {
    ends: Vec<usize>,
}

impl InlineModules {
    fn step(&mut self, tokens: &[Token], at: usize) {
        self.ends.retain(|end| *end > at);
        if tokens[at].is("mod") && reads(tokens, at + 2, &["{"]) {
            self.ends.push(closing(tokens, at + 2));
        }
    }

    fn depth(&self) -> usize {
        self.ends.len()
    }
}

/// Returns the rooms behind the names that `lib.rs` re-exports: `crate::Raw` is a use of `json`.
fn reexports(roof: &SourceFile) -> BTreeMap<String, String> {
    let tokens = &roof.tokens;
    let mut names = BTreeMap::new();
    for at in 0..tokens.len() {
        if !tokens[at].is("use") {
            continue;
        }
        let from_root = reads(tokens, at + 2, &["::"])
            && (tokens[at + 1].is("crate") || tokens[at + 1].is("self"));
        let start = if from_root { at + 3 } else { at + 1 };
        let Some(room) = tokens.get(start).filter(|room| floor_of(&room.text).is_some()) else {
            continue;
        };
        for n in start..tokens.len() {
            // The last name of each path, or its new name, precedes one of these.
            let ends_path = tokens[n].is(",") || tokens[n].is("}") || tokens[n].is(";");
            if ends_path && tokens[n - 1].kind == Kind::Ident {
                names.insert(tokens[n - 1].text.clone(), room.text.clone());
            }
            if tokens[n].is(";") {
                break;
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::climbs;
    use crate::sources::planted;

    /// Returns the breaches of one file, next to a `lib.rs` with a few re-exports.
    fn found(path: &str, text: &str) -> Vec<String> {
        let roof = "pub mod json; pub use json::Raw; \
                    pub use crate::connection::{Phase as Stage, calls::Calls};";
        let files = planted(&[("mcp-proto/src/lib.rs", roof), (path, text)]);
        climbs(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn imports_that_go_down_are_fine() {
        for (path, text) in [
            ("json/mod.rs", "use crate::error::Misuse; use super::time; use core::fmt;"),
            (
                "rpc/decode.rs",
                "use crate::json::{scan, Raw}; use super::super::limits::Limits; \
                 use super::message;",
            ),
            (
                "connection/core.rs",
                "use crate::{schema::{tools, prompts}, wire, rpc::Message as M};",
            ),
            (
                "client.rs",
                "use crate::connection; fn f() -> crate::Stage { super::rpc::g() } pub(crate) \
                 struct S;",
            ),
            (
                "http/mod.rs",
                "use crate::Raw; mod deep { use super::admit; use super::super::client; }",
            ),
        ] {
            assert_eq!(found(&format!("mcp-proto/src/{path}"), text), [""; 0]);
        }
    }

    #[test]
    fn a_climb_is_reported_with_its_line_and_import() {
        let climb =
            "`crate::connection` climbs: `json` (floor 1) may not use `connection` (floor 7)";
        let breaches = found("mcp-proto/src/json/raw.rs", "\nuse crate::connection::Core;");
        assert_eq!(breaches, [format!("mcp-proto/src/json/raw.rs:2: {climb}")]);
    }

    #[test]
    fn no_spelling_hides_a_climb() {
        for text in [
            "use crate::{json::Raw, client::{Client, Event}};",
            "use super::client::Client;",
            "use super::{limits, client};",
            "use self::super::client::Client;",
            "mod m { use super::super::client; }",
            "fn f() { crate::client::f(); }",
            "fn f(x: crate::client::X) {}",
            "pub use mcp_proto::client;",
            "#[cfg(not(test))] use crate::client;",
            "macro_rules! m { () => { $crate::client::f() } }",
        ] {
            assert_eq!(found("mcp-proto/src/rpc.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn rooms_of_one_floor_do_not_use_each_other() {
        for (room, other) in [
            ("json", "wire"),
            ("wire", "json"),
            ("rpc", "revision"),
            ("client", "server"),
            ("stdio", "http"),
            ("error", "limits"),
        ] {
            let breaches =
                found(&format!("mcp-proto/src/{room}.rs"), &format!("use crate::{other}::x;"));
            assert_eq!(breaches.len(), 1, "{room} uses {other}");
        }
    }

    #[test]
    fn a_closed_room_further_down_is_a_climb() {
        for room in ["rpc", "revision", "schema"] {
            assert_eq!(
                found(&format!("mcp-proto/src/{room}/mod.rs"), "use crate::wire::Outbox;").len(),
                1
            );
        }
        assert_eq!(found("mcp-proto/src/connection/mod.rs", "use crate::wire::Outbox;"), [""; 0]);
    }

    #[test]
    fn a_reexport_is_a_use_of_its_room() {
        assert_eq!(found("mcp-proto/src/rpc.rs", "use crate::Raw;"), [""; 0]);
        for name in ["Stage", "Calls"] {
            let breaches = found("mcp-proto/src/rpc.rs", &format!("use crate::{name};"));
            assert!(breaches[0].contains("may not use `connection`"), "{breaches:?}");
        }
        assert!(
            found("mcp-proto/src/wire.rs", "use crate::Raw;")[0].contains("may not use `json`")
        );
    }

    #[test]
    fn what_names_no_room_is_reported() {
        for text in
            ["use crate::*;", "use super::*;", "use crate::{self as root};", "use crate::Unknown;"]
        {
            assert!(found("mcp-proto/src/rpc.rs", text)[0].contains("names no room"), "{text}");
        }
        assert!(found("mcp-proto/src/util.rs", "")[0].contains("`util` is on no floor"));
    }

    #[test]
    fn tests_comments_and_other_crates_may_climb() {
        for (path, text) in [
            ("mcp-proto/src/rpc.rs", "#[cfg(test)] mod tests { use crate::client::Client; }"),
            ("mcp-proto/src/rpc.rs", "/// [`crate::client`]\nfn f() { g(\"crate::client\") }"),
            ("adapters/blocking/src/client.rs", "use crate::server;"),
        ] {
            assert_eq!(found(path, text), [""; 0]);
        }
    }
}
