//! The floors of a crate: which rooms exist, and that imports only lead to lower floors.
//!
//! Tests are exempt, and `lib.rs` may name every room.

use crate::Breach;
use crate::imports::Edge;
use crate::lexer::Kind;
use crate::plans::Plan;
use crate::sources::{SourceFile, Token, closing, nesting, reads};
use std::collections::{BTreeMap, BTreeSet};

/// Finds upward imports, rooms without a floor, and paths that name no room.
///
/// An import is judged twice: by the room that its path names, and by the rooms of the files that
/// define and re-export its item. `edges` are those of all `files`.
#[must_use]
pub fn climbs(files: &[SourceFile], edges: &BTreeSet<Edge>, plan: &Plan) -> Vec<Breach> {
    let lib = format!("{}lib.rs", plan.sources);
    let roof = files.iter().find(|file| file.path == lib);
    let reexports = roof.map(|roof| plan.reexports(roof)).unwrap_or_default();
    let mut found = BTreeSet::new();
    let mut breaches = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let Some(path) =
            file.path.strip_prefix(plan.sources).filter(|path| *path != "lib.rs" && !file.is_test)
        else {
            continue;
        };
        let Some(room) = plan.room_of(path) else {
            breaches.push(file.breach(1, format!("`{}` is on no floor", modules(path)[0])));
            continue;
        };
        for import in imports(file, modules(path).len(), plan.name) {
            let name = import.name.as_str();
            let used = reexports.get(name).map_or(name, String::as_str);
            if plan.floor_of(used).is_some() {
                found.insert((index, room, used.to_owned(), import.line, import.path));
            } else {
                let what =
                    format!("`{}` names no room: import it from the room it lives in", import.path);
                breaches.push(file.breach(import.line, what));
            }
        }
        for edge in edges.iter().filter(|edge| edge.from == index) {
            let to = files[edge.to].path.strip_prefix(plan.sources);
            if let Some(used) = to.and_then(|to| plan.room_of(to)) {
                found.insert((index, room, used.to_owned(), edge.line, edge.path.clone()));
            }
        }
    }
    let mut reported = BTreeSet::new();
    for (index, room, used, line, path) in found {
        let what = plan.climb(room, &used, &path);
        // The two judgements of one import are one breach.
        if let Some(what) = what.filter(|_| reported.insert((index, used, line))) {
            breaches.push(files[index].breach(line, what));
        }
    }
    breaches
}

impl Plan {
    /// Returns what is wrong with a use of one room by another, if anything is.
    fn climb(&self, room: &str, used: &str, path: &str) -> Option<String> {
        let (floor, other) = (self.floor_of(room)?, self.floor_of(used)?);
        let is_down = other < floor && !self.floors[floor].closed.contains(&used);
        if is_down || used == room {
            return None;
        }
        Some(format!(
            "`{path}` climbs: `{room}` (floor {floor}) may not use `{used}` (floor {other})"
        ))
    }

    /// Returns the rooms behind the names that `lib.rs` re-exports: `crate::Raw` is a use of
    /// `json`.
    fn reexports(&self, roof: &SourceFile) -> BTreeMap<String, String> {
        let tokens = &roof.tokens;
        let mut names = BTreeMap::new();
        for at in 0..tokens.len() {
            if !tokens[at].is("use") {
                continue;
            }
            let from_root = reads(tokens, at + 2, &["::"])
                && (tokens[at + 1].is("crate") || tokens[at + 1].is("self"));
            let start = if from_root { at + 3 } else { at + 1 };
            let Some(room) = tokens.get(start).filter(|room| self.floor_of(&room.text).is_some())
            else {
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

/// Returns what a file names through `crate::`, the name of its crate or enough `super::`, outside
/// of tests.
fn imports(file: &SourceFile, depth: usize, name: &str) -> Vec<Import> {
    let tokens = &file.tokens;
    let mut imports = Vec::new();
    let mut inline = InlineModules::default();
    for at in 0..tokens.len() {
        inline.step(tokens, at);
        if tokens[at].in_test {
            continue;
        }
        let start = match tokens[at].text.as_str() {
            root if (root == "crate" || root == name) && reads(tokens, at + 1, &["::"]) => {
                Some(at + 2)
            }
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

#[cfg(test)]
mod tests {
    use super::climbs;
    use crate::imports::edges;
    use crate::plans::PLANS;
    use crate::sources::planted;

    /// Returns the breaches of one file, next to a `lib.rs` with a few re-exports.
    fn found(path: &str, text: &str) -> Vec<String> {
        let roof = "pub mod json; pub use json::Raw; \
                    pub use crate::connection::{Phase as Stage, calls::Calls};";
        let files = planted(&[("mcp-proto/src/lib.rs", roof), (path, text)]);
        climbs(&files, &edges(&files), &PLANS[0]).iter().map(ToString::to_string).collect()
    }

    /// Returns the breaches of files of the adapters, without their folder.
    fn in_adapters(texts: &[(&str, &str)]) -> Vec<String> {
        let texts: Vec<(String, &str)> = texts
            .iter()
            .map(|(path, text)| (format!("{}{path}", PLANS[1].sources), *text))
            .collect();
        let texts: Vec<(&str, &str)> =
            texts.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let files = planted(&texts);
        let breaches = climbs(&files, &edges(&files), &PLANS[1]);
        breaches.iter().map(|breach| breach.to_string().replace(PLANS[1].sources, "")).collect()
    }

    #[test]
    fn each_crate_has_floors() {
        assert_eq!(in_adapters(&[("client/mod.rs", "use crate::transport::Link;")]), [""; 0]);
        assert_eq!(
            in_adapters(&[("transport/link.rs", "\nuse crate::client::Client;")]),
            ["transport/link.rs:2: `crate::client` climbs: `transport` (floor 3) may not use \
              `client` (floor 5)"]
        );
        assert!(in_adapters(&[("misc.rs", "")])[0].contains("`misc` is on no floor"));
    }

    #[test]
    fn a_name_from_the_root_is_a_use_of_the_room_it_lives_in() {
        let root = ("lib.rs", "mod api; mod server; pub use api::*;");
        let api = ("api.rs", "pub use crate::server::context::Cx;");
        let server = ("server/mod.rs", "pub mod context;");
        let context = ("server/context.rs", "pub struct Cx;");
        let user = ("transport/mod.rs", "fn f(cx: crate::Cx) {}");
        let breaches = in_adapters(&[root, api, server, context, user]);
        assert!(breaches.iter().any(|it| it.contains("may not use `server`")), "{breaches:?}");
        assert!(breaches.iter().any(|it| it.contains("names no room")), "{breaches:?}");
    }

    #[test]
    fn a_reexport_by_a_lower_room_hides_no_climb() {
        let breaches = in_adapters(&[
            ("lib.rs", "mod http; mod server; mod transport;"),
            ("http/mod.rs", "pub struct Head;"),
            ("transport/mod.rs", "pub use crate::http::Head;"),
            ("server/mod.rs", "use crate::transport::Head;"),
        ]);
        assert_eq!(breaches.len(), 2, "{breaches:?}");
        assert!(breaches[1].starts_with("server/mod.rs:1: `crate::transport::Head` climbs"));
    }

    #[test]
    fn a_room_in_a_room_is_not_part_of_it() {
        let http = |rest| {
            in_adapters(&[
                ("lib.rs", "mod http;"),
                ("http/mod.rs", "pub mod client; pub mod server; mod limits; pub use limits::Max;"),
                ("http/limits.rs", "pub struct Max;"),
                ("http/client/mod.rs", "use crate::http::Max; pub struct Remote;"),
                rest,
            ])
            .len()
        };
        assert_eq!(http(("http/server/mod.rs", "use super::Max;")), 0);
        assert_eq!(http(("http/server/mod.rs", "use super::client::Remote;")), 1);
        assert_eq!(http(("http/limits.rs", "use crate::http::client::Remote;")), 1);
        assert_eq!(http(("auth/mod.rs", "use crate::http::client::Remote;")), 0);
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
