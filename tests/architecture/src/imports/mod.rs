//! The imports between the files of the libraries, item by item, and the rules about them.
//!
//! An import leads to the file that defines its item, and to each file outside of the importer's
//! own folders that re-exports it on the way. Methods need no import: a call on another file's type
//! is found only where the type is named.

pub mod circles;
pub mod levels;
pub(crate) mod modules;
mod resolve;

use crate::lexer::Kind;
use crate::sources::{SourceFile, closing, reads};
use modules::{Import, Module, Modules};
use resolve::Target;
use std::collections::BTreeSet;

/// A mention, in one file, of an item that another file of its crate defines.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Edge {
    /// The index of the file that names the item.
    pub from: usize,
    /// The index of the file that defines or re-exports it.
    pub to: usize,
    /// The line in `from`.
    pub line: usize,
    /// The path as written.
    pub path: String,
}

/// Finds every import between two files, outside of tests.
#[must_use]
pub fn edges(files: &[SourceFile]) -> BTreeSet<Edge> {
    let modules = Modules::new(files);
    let mut edges = BTreeSet::new();
    let free: Vec<BTreeSet<usize>> =
        files.iter().map(|file| modules::free_names(&file.tokens).collect()).collect();
    for (key, module) in modules.all() {
        let file = Importer { modules: &modules, files, free: &free[module.file], key, module };
        for import in &module.imports {
            file.add_import(import, &mut edges);
        }
        // Inline modules share their file, whose paths are read once, from the file's own module.
        if modules::key(&files[module.file].path).as_deref() == Some(key) {
            file.add_paths(&mut edges);
        }
    }
    edges.retain(|edge| edge.from != edge.to);
    edges
}

/// A module whose imports are being read.
struct Importer<'a> {
    modules: &'a Modules,
    files: &'a [SourceFile],
    /// The tokens of the free names in the module's file.
    free: &'a BTreeSet<usize>,
    key: &'a str,
    module: &'a Module,
}

impl Importer<'_> {
    fn add_import(&self, import: &Import, edges: &mut BTreeSet<Edge>) {
        let (targets, passed) = self.modules.resolve_through(self.key, &import.path);
        let Some(name) = &import.name else {
            for target in &targets {
                self.add_glob(import, target, edges);
            }
            return;
        };
        let is_used = self.uses(name);
        let has_item = targets.iter().any(|target| matches!(target, Target::Item(_)));
        for target in &targets {
            // The facade of a folder does not depend on items that it only re-exports.
            if import.is_reexport && !is_used && self.is_above(target) {
                continue;
            }
            match target {
                Target::Item(to) => {
                    self.add(*to, import.at, import.path.join("::"), edges);
                    self.add_passed(&passed, import.at, &import.path, edges);
                }
                // Paths through the module are edges themselves, unless only a macro uses it.
                Target::Module(key) if !is_used && !has_item => {
                    if let Some(module) = self.modules.get(key) {
                        self.add(module.file, import.at, import.path.join("::"), edges);
                    }
                }
                Target::Module(_) => {}
            }
        }
    }

    /// Adds the names that a glob import provides and this file uses, or the glob's own file if
    /// none can be determined.
    fn add_glob(&self, import: &Import, target: &Target, edges: &mut BTreeSet<Edge>) {
        let path = import.path.join("::");
        let key = match target {
            Target::Item(to) => return self.add(*to, import.at, format!("{path}::*"), edges),
            Target::Module(key) => key,
        };
        if import.is_reexport && self.is_above(target) {
            return;
        }
        let tokens = &self.files[self.module.file].tokens;
        let mut is_resolved = false;
        for at in self.free.iter().copied() {
            let name = &tokens[at].text;
            let is_own = self.module.items.iter().any(|item| item.name == *name);
            let found = if is_own { None } else { self.modules.look_up(key, name) };
            for target in found.into_iter().flatten() {
                if let Target::Item(to) = target {
                    is_resolved = true;
                    self.add(to, at, format!("{path}::{name}"), edges);
                }
            }
        }
        if let Some(module) = self.modules.get(key).filter(|_| !is_resolved) {
            self.add(module.file, import.at, format!("{path}::*"), edges);
        }
    }

    /// Adds the items named by paths outside of `use` declarations.
    fn add_paths(&self, edges: &mut BTreeSet<Edge>) {
        let tokens = &self.files[self.module.file].tokens;
        let mut inline: Vec<(usize, String)> = vec![(tokens.len(), self.key.to_owned())];
        for at in 0..tokens.len() {
            inline.retain(|(end, _)| *end > at);
            if tokens[at].is("mod") && reads(tokens, at + 2, &["{"]) {
                let key = format!("{}/{}", inline[inline.len() - 1].1, tokens[at + 1].text);
                inline.push((closing(tokens, at + 2), key));
            }
            if !self.free.contains(&at) || !reads(tokens, at + 1, &["::"]) {
                continue;
            }
            let key = &inline[inline.len() - 1].1;
            if self.is_imported_item(key, &tokens[at].text) {
                continue;
            }
            let mut path = vec![tokens[at].text.clone()];
            let mut end = at;
            while reads(tokens, end + 1, &["::"])
                && tokens.get(end + 2).is_some_and(|token| token.kind == Kind::Ident)
            {
                end += 2;
                path.push(tokens[end].text.clone());
            }
            let (targets, passed) = self.modules.resolve_through(key, &path);
            for target in targets {
                if let Target::Item(to) = target {
                    self.add(to, at, path.join("::"), edges);
                    self.add_passed(&passed, at, &path, edges);
                }
            }
        }
    }

    /// Adds the files whose re-exports a path goes through. Facades of the folders that contain
    /// this file are none: a file may name its neighbours by way of the folder.
    fn add_passed(
        &self,
        passed: &BTreeSet<usize>,
        at: usize,
        path: &[String],
        edges: &mut BTreeSet<Edge>,
    ) {
        for file in passed {
            let facade = modules::key(&self.files[*file].path).unwrap_or_default();
            let is_around =
                self.key.strip_prefix(&*facade).is_some_and(|rest| rest.starts_with('/'));
            if !is_around {
                self.add(*file, at, path.join("::"), edges);
            }
        }
    }

    /// Returns whether an import of the module binds the name to an item; if so, the import is the
    /// edge.
    fn is_imported_item(&self, module: &str, name: &str) -> bool {
        let imports = self.modules.get(module).map_or(&[][..], |module| &module.imports);
        let binds = imports.iter().any(|import| import.name.as_deref() == Some(name));
        let targets = self.modules.resolve(module, &[name.to_owned()]);
        binds && targets.iter().any(|target| matches!(target, Target::Item(_)))
    }

    /// Returns whether this file uses the name outside of `use` declarations.
    fn uses(&self, name: &str) -> bool {
        let tokens = &self.files[self.module.file].tokens;
        self.free.iter().any(|at| tokens[*at].text == name)
    }

    /// Returns whether the target is below this module.
    fn is_above(&self, target: &Target) -> bool {
        let below = match target {
            Target::Item(file) => modules::key(&self.files[*file].path),
            Target::Module(key) => Some(key.clone()),
        };
        below
            .is_some_and(|key| key.strip_prefix(self.key).is_some_and(|rest| rest.starts_with('/')))
    }

    fn add(&self, to: usize, at: usize, path: String, edges: &mut BTreeSet<Edge>) {
        let from = self.module.file;
        edges.insert(Edge { from, to, line: self.files[from].tokens[at].line, path });
    }
}

#[cfg(test)]
mod tests {
    use super::edges;
    use crate::sources::planted;

    /// Returns the imports of planted files: `from:line -> to path`, without `a/src/`.
    fn found(texts: &[(&str, &str)]) -> Vec<String> {
        let texts: Vec<(String, &str)> =
            texts.iter().map(|(path, text)| (format!("a/src/{path}"), *text)).collect();
        let texts: Vec<(&str, &str)> =
            texts.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let files = planted(&texts);
        let name = |file: usize| files[file].path.trim_start_matches("a/src/");
        let show = |edge: &super::Edge| {
            format!("{}:{} -> {} {}", name(edge.from), edge.line, name(edge.to), edge.path)
        };
        edges(&files).iter().map(show).collect()
    }

    const ROOM: (&str, &str) =
        ("room/mod.rs", "mod one; mod two; pub use one::{One, help}; pub(crate) use two::Two;");

    #[test]
    fn an_import_from_another_folder_also_leads_to_the_facade() {
        let room = [("room/mod.rs", "mod one; pub use one::One;"), ("room/one.rs", "struct One;")];
        for text in ["use crate::room::One;", "fn f(x: crate::room::One) {}"] {
            let edges = found(&[("lib.rs", ""), ("two.rs", text), room[0], room[1]]);
            assert_eq!(
                edges,
                [
                    "two.rs:1 -> room/mod.rs crate::room::One",
                    "two.rs:1 -> room/one.rs crate::room::One"
                ]
            );
        }
    }

    #[test]
    fn an_import_leads_past_the_facade() {
        let one = ("room/one.rs", "pub struct One; pub fn help() {}");
        for (text, edge) in [
            ("\nuse super::One;", "room/two.rs:2 -> room/one.rs super::One"),
            ("use crate::room::{One as Eins};", "room/two.rs:1 -> room/one.rs crate::room::One"),
            ("fn f(x: super::One) {}", "room/two.rs:1 -> room/one.rs super::One"),
            ("fn f() { crate::room::help(); }", "room/two.rs:1 -> room/one.rs crate::room::help"),
            ("use super::one; fn f() { one::help() }", "room/two.rs:1 -> room/one.rs one::help"),
            ("use super::one::{self}; object!(one);", ""),
            ("fn f() { use super::One as O; }", "room/two.rs:1 -> room/one.rs super::One"),
            ("use super::*; fn f(x: One) {}", "room/two.rs:1 -> room/one.rs super::One"),
            ("use super::*;", "room/two.rs:1 -> room/mod.rs super::*"),
            (
                "mod inner { use super::super::One; }",
                "room/two.rs:1 -> room/one.rs super::super::One",
            ),
            (
                "macro_rules! m { () => { $crate::room::help() } }",
                "room/two.rs:1 -> room/one.rs crate::room::help",
            ),
        ] {
            let edges = found(&[("lib.rs", "mod room;"), ROOM, one, ("room/two.rs", text)]);
            let expected: Vec<&str> = [edge].into_iter().filter(|edge| !edge.is_empty()).collect();
            assert_eq!(edges, expected, "{text}");
        }
    }

    #[test]
    fn a_facade_depends_only_on_what_it_uses_itself() {
        let one = ("room/one.rs", "pub struct One; pub fn help() {}");
        let facade = |rest: &str| format!("mod one; pub use one::One; {rest}");
        for (rest, edges) in [
            ("", 0),
            ("pub use one::*;", 0),
            ("fn f() -> One { One }", 1),
            ("use one::help; fn f() { help() }", 1),
            ("fn f() { one::help() }", 1),
            ("fn f(x: self::One) {}", 1),
            ("#[cfg(test)] mod tests { use super::One; fn f() -> One { One } }", 0),
        ] {
            assert_eq!(found(&[("room/mod.rs", &facade(rest)), one]).len(), edges, "{rest}");
        }
        // A re-export from a sibling or a parent is an import.
        assert_eq!(
            found(&[("lib.rs", ""), ("b.rs", "pub use crate::c::C;"), ("c.rs", "pub struct C;")])
                .len(),
            1
        );
    }

    #[test]
    fn tests_comments_visibilities_and_other_crates_are_no_imports() {
        for text in [
            "#[cfg(test)] use super::One;",
            "#[cfg(test)] mod tests { use super::super::One; }",
            "/// [`super::One`]\nfn f() { \"super::One\" }",
            "pub(in crate::room) fn f() {}",
            "use core::fmt; fn f(x: fmt::Formatter) { T::one(); x.One }",
        ] {
            let one = ("room/one.rs", "pub struct One;");
            assert_eq!(
                found(&[("lib.rs", "mod room;"), ROOM, one, ("room/two.rs", text)]),
                [""; 0],
                "{text}"
            );
        }
    }
}
