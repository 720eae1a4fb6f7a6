//! Resolves paths to the files that define the named items, through any number of re-exports.
//!
//! Paths into other crates resolve to nothing: crates cannot form a cycle.

use super::modules::Modules;
use std::collections::BTreeSet;

/// The item or module at the end of a path.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Target {
    /// An item that this file defines.
    Item(usize),
    /// A module, by its key.
    Module(String),
}

/// A resolution in progress.
#[derive(Default)]
struct Pending {
    /// The pairs of module and name being looked up, to stop at imports that lead to themselves.
    names: BTreeSet<(String, String)>,
    /// The files whose imports were followed.
    passed: BTreeSet<usize>,
}

impl Modules {
    /// Resolves a path in the module `from`.
    pub(crate) fn resolve(&self, from: &str, path: &[String]) -> BTreeSet<Target> {
        self.resolve_within(from, path, &mut Pending::default())
    }

    /// Resolves a path like `resolve`; also returns the files whose imports and re-exports the path
    /// goes through.
    pub(crate) fn resolve_through(
        &self,
        from: &str,
        path: &[String],
    ) -> (BTreeSet<Target>, BTreeSet<usize>) {
        let mut pending = Pending::default();
        let targets = self.resolve_within(from, path, &mut pending);
        (targets, pending.passed)
    }

    /// Resolves a name in a module; `None` if the module is not known to have it.
    pub(crate) fn look_up(&self, module: &str, name: &str) -> Option<BTreeSet<Target>> {
        self.look_up_within(module, name, &mut Pending::default())
    }

    fn resolve_within(
        &self,
        from: &str,
        path: &[String],
        pending: &mut Pending,
    ) -> BTreeSet<Target> {
        let mut current = BTreeSet::new();
        for (n, segment) in path.iter().enumerate() {
            current = match segment.as_str() {
                "crate" if n == 0 => BTreeSet::from([Target::Module(root(from).to_owned())]),
                "self" if n == 0 => BTreeSet::from([Target::Module(from.to_owned())]),
                "super" if n == 0 => parent(from).into_iter().collect(),
                "super" => current.iter().filter_map(parent_of).collect(),
                name if n == 0 => self.look_up_within(from, name, pending).unwrap_or_default(),
                name => self.step(&current, name, pending),
            };
        }
        current
    }

    /// Resolves one segment: into modules; variants and functions belong to their item.
    fn step(
        &self,
        targets: &BTreeSet<Target>,
        name: &str,
        pending: &mut Pending,
    ) -> BTreeSet<Target> {
        let mut next = BTreeSet::new();
        for target in targets {
            let Target::Module(key) = target else { continue };
            next.extend(match self.look_up_within(key, name, pending) {
                Some(found) => found,
                // A name that a macro defines there.
                None => self.get(key).map(|module| Target::Item(module.file)).into_iter().collect(),
            });
        }
        let has_module = targets.iter().any(|target| matches!(target, Target::Module(_)));
        if has_module { next } else { targets.clone() }
    }

    fn look_up_within(
        &self,
        key: &str,
        name: &str,
        pending: &mut Pending,
    ) -> Option<BTreeSet<Target>> {
        let module = self.get(key)?;
        let mut found = BTreeSet::new();
        let mut is_known = false;
        if module.items.iter().any(|item| item.name == name) {
            found.insert(Target::Item(module.file));
        }
        let inner = format!("{key}/{name}");
        if self.get(&inner).is_some() {
            found.insert(Target::Module(inner));
        }
        let once = (key.to_owned(), name.to_owned());
        if pending.names.insert(once.clone()) {
            for import in
                module.imports.iter().filter(|import| import.name.as_deref() == Some(name))
            {
                is_known = true;
                pending.passed.insert(module.file);
                found.extend(self.resolve_within(key, &import.path, pending));
            }
            for import in module.imports.iter().filter(|import| import.name.is_none()) {
                if is_known || !found.is_empty() {
                    break;
                }
                for target in self.resolve_within(key, &import.path, pending) {
                    let Target::Module(glob) = target else { continue };
                    let through = self.look_up_within(&glob, name, pending).unwrap_or_default();
                    if !through.is_empty() {
                        pending.passed.insert(module.file);
                    }
                    found.extend(through);
                }
            }
            pending.names.remove(&once);
        }
        (is_known || !found.is_empty()).then_some(found)
    }
}

/// Returns the root of the crate that a module belongs to.
fn root(key: &str) -> &str {
    key.find("/src/").map_or(key, |at| &key[..at + "/src".len()])
}

fn parent(key: &str) -> Option<Target> {
    let parent = key.rsplit_once('/')?.0;
    (root(key) != key).then(|| Target::Module(parent.to_owned()))
}

fn parent_of(target: &Target) -> Option<Target> {
    match target {
        Target::Module(key) => parent(key),
        Target::Item(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Target;
    use crate::imports::modules::Modules;
    use crate::sources::planted;

    /// Returns the files that a path leads to from `a/src/room/one.rs`.
    fn resolved(path: &str) -> Vec<String> {
        let texts = [
            ("a/src/lib.rs", "mod room; mod json; pub use json::Raw; use bytes::Bytes;"),
            (
                "a/src/room/mod.rs",
                "mod one; mod two; pub use two::{Two as Deux, three::*}; struct Local;",
            ),
            (
                "a/src/room/one.rs",
                "use super::two; use crate::Raw as R; use super::*; use one; mod inline { fn f() \
                 {} }",
            ),
            (
                "a/src/room/two/mod.rs",
                "pub mod three; pub struct Two; fn two() {} words! { pub enum Word {} }",
            ),
            ("a/src/room/two/three.rs", "pub struct Three; use crate::room::one::Loop;"),
            ("a/src/json.rs", "pub struct Raw; fn two() {}"),
        ];
        let files = planted(&texts);
        let path: Vec<String> = path.split("::").map(str::to_owned).collect();
        let targets = Modules::new(&files).resolve("a/src/room/one", &path);
        let show = |target| match target {
            Target::Item(file) => files[file].path["a/src/".len()..].to_owned(),
            Target::Module(key) => key,
        };
        targets.into_iter().map(show).collect()
    }

    #[test]
    fn a_path_leads_to_the_file_that_defines_its_item() {
        for (path, file) in [
            ("super::Local", "room/mod.rs"),
            ("super::Deux", "room/two/mod.rs"),
            ("super::Deux::new", "room/two/mod.rs"),
            ("super::Three", "room/two/three.rs"),
            ("crate::room::Deux", "room/two/mod.rs"),
            ("super::super::json::Raw", "json.rs"),
            ("R", "json.rs"),
            ("two::Two", "room/two/mod.rs"),
            ("two::Word", "room/two/mod.rs"),
            ("two::made_by_a_macro", "room/two/mod.rs"),
            ("Deux", "room/two/mod.rs"),
            ("self::inline::f", "room/one.rs"),
            ("self::two::three::Three", "room/two/three.rs"),
        ] {
            assert_eq!(resolved(path), [file], "{path}");
        }
    }

    #[test]
    fn modules_and_items_are_distinguished() {
        assert_eq!(resolved("super::two"), ["a/src/room/two"]);
        assert_eq!(resolved("crate"), ["a/src"]);
        assert_eq!(resolved("super::two::two"), ["room/two/mod.rs"]);
    }

    #[test]
    fn other_crates_and_loops_lead_nowhere() {
        for path in [
            "bytes::Bytes",
            "crate::Bytes",
            "unknown",
            "T::Output",
            "super::super::super::x",
            "one",
        ] {
            assert_eq!(resolved(path), [""; 0], "{path}");
        }
    }
}
