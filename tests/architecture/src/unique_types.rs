//! A public type name has one definition in all published crates together.
//!
//! Every `pub` item counts: the lint `unreachable_pub` rules out `pub` on unreachable items.

use crate::Breach;
use crate::imports::modules::Modules;
use crate::sources::SourceFile;
use std::collections::{BTreeMap, BTreeSet};

/// The keywords that define a type name.
const TYPES: &[&str] = &["enum", "struct", "trait", "type", "union"];

/// Names that are still defined in several files, and in how many. The list may only shrink.
pub const KNOWN: &[(&str, usize)] = &[
    // Types of `mcp_adapter` that have forms for one thread in `mcp_wasm`, which cannot depend on
    // it.
    ("Call", 2),
    ("Connection", 2),
    ("Cx", 2),
    ("Error", 2),
    ("Pending", 2),
    ("HandlerError", 2),
    // An entry of a server with its handler, and its definition in the schema.
    ("Prompt", 2),
    ("Resource", 2),
    ("Tool", 2),
    // A state machine of the core, the builders of the adapters that drive it, and the names of
    // these builders on each runtime.
    ("Client", 7),
    ("Server", 7),
    // What belongs to one role, in the module of that role.
    ("Command", 2),
    ("Config", 2),
    ("Event", 2),
    // One for Unix and one for Windows.
    ("CopyThreads", 2),
];

/// Finds public type names with several definitions, and known ones with fewer than listed.
///
/// Alternatives for different features in one file count once.
#[must_use]
pub fn duplicates(files: &[SourceFile], known: &[(&str, usize)]) -> Vec<Breach> {
    let mut homes: BTreeMap<String, BTreeSet<(usize, usize)>> = BTreeMap::new();
    for (_, module) in Modules::new(files).all() {
        let types = module
            .items
            .iter()
            .filter(|item| item.is_public && TYPES.contains(&item.word.as_str()));
        for item in types {
            let homes = homes.entry(item.name.clone()).or_default();
            if !homes.iter().any(|(file, _)| *file == module.file) {
                homes.insert((module.file, item.line));
            }
        }
    }
    let mut breaches = Vec::new();
    for (name, homes) in &homes {
        let allowed = known.iter().find(|(known, _)| known == name).map_or(1, |(_, homes)| *homes);
        if homes.len() > allowed {
            breaches.extend(homes.iter().map(|(file, line)| {
                let what =
                    format!("`{name}` is defined in {} files: rename all but one", homes.len());
                files[*file].breach(*line, what)
            }));
        }
    }
    for (name, allowed) in known {
        let found = homes.get(*name).map_or(0, BTreeSet::len);
        if found < *allowed {
            let what =
                format!("is known for {allowed} definitions and has {found}: the list must shrink");
            breaches.push(Breach { place: format!("`{name}`"), what });
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::duplicates;
    use crate::sources::planted;

    fn found(text: &str, known: &[(&str, usize)]) -> Vec<String> {
        let files = planted(&[
            ("mcp-proto/src/lib.rs", "mod json;"),
            ("mcp-proto/src/json.rs", "\npub struct Frame; struct Own;"),
            ("adapters/tokio/src/lib.rs", text),
        ]);
        duplicates(&files, known).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_second_home_is_reported_at_both() {
        for text in [
            "pub enum Frame {}",
            "pub trait Frame {}",
            "pub type Frame = u8;",
            "pub mod http { pub struct Frame; }",
            "words! { pub enum Frame {} }",
        ] {
            let what = "`Frame` is defined in 2 files: rename all but one";
            let places = [
                format!("mcp-proto/src/json.rs:2: {what}"),
                format!("adapters/tokio/src/lib.rs:1: {what}"),
            ];
            assert_eq!(found(text, &[]), places, "{text}");
        }
    }

    #[test]
    fn other_uses_of_the_name_are_free() {
        for text in [
            "pub(crate) struct Frame;",
            "struct Frame; pub struct Own;",
            "pub use mcp_proto::Frame;",
            "pub fn frame() { struct Frame; } pub const Frame: u8 = 1;",
            "impl Watch for W { type Frame = u8; }",
            "#[cfg(test)] pub struct Frame;",
            "#[cfg(a)] pub struct Other; #[cfg(not(a))] pub struct Other(u8);",
            "pub struct Frames; // pub struct Frame",
        ] {
            assert_eq!(found(text, &[]), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_list_of_known_names_only_shrinks() {
        assert_eq!(found("pub enum Frame {}", &[("Frame", 2)]), [""; 0]);
        assert_eq!(found("", &[("Frame", 2)]).len(), 1);
        assert_eq!(found("pub enum Frame {}", &[("Frame", 3)]).len(), 1);
        assert_eq!(
            found("", &[("Gone", 2)]),
            ["`Gone`: is known for 2 definitions and has 0: the list must shrink"]
        );
        assert_eq!(
            found("pub enum Frame {} pub mod m { pub struct Frame; }", &[("Frame", 2)]),
            [""; 0]
        );
    }
}
