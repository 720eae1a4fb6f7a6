//! Finds import cycles: sets of files that depend on each other.

use super::Edge;
use crate::Breach;
use crate::sources::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Finds each set of files that reach each other by imports, with the imports that form the cycle.
///
/// `edges` are those of all `files`.
#[must_use]
pub fn circles(files: &[SourceFile], edges: &BTreeSet<Edge>) -> Vec<Breach> {
    components(edges).iter().map(|component| breach(files, edges, component)).collect()
}

fn breach(files: &[SourceFile], edges: &BTreeSet<Edge>, component: &BTreeSet<usize>) -> Breach {
    let mut by_pair: BTreeMap<(usize, usize), Vec<&Edge>> = BTreeMap::new();
    let inside = |edge: &&Edge| component.contains(&edge.from) && component.contains(&edge.to);
    for edge in edges.iter().filter(inside) {
        by_pair.entry((edge.from, edge.to)).or_default().push(edge);
    }
    let mut what = format!("import circle of {} files", component.len());
    for ((from, to), edges) in &by_pair {
        let uses: Vec<String> =
            edges.iter().map(|edge| format!("`{}` line {}", edge.path, edge.line)).collect();
        // Writing to a string cannot fail.
        let _ =
            write!(what, "\n    {} -> {}: {}", files[*from].path, files[*to].path, uses.join(", "));
    }
    let (place, line) =
        by_pair.values().next().map_or((0, 1), |edges| (edges[0].from, edges[0].line));
    files[place].breach(line, what)
}

/// Returns the strongly connected components with more than one file.
fn components(edges: &BTreeSet<Edge>) -> Vec<BTreeSet<usize>> {
    let mut next: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for edge in edges {
        next.entry(edge.from).or_default().insert(edge.to);
    }
    let reached: BTreeMap<usize, BTreeSet<usize>> =
        next.keys().map(|from| (*from, reach(&next, *from))).collect();
    let mut components: Vec<BTreeSet<usize>> = Vec::new();
    for (from, to) in &reached {
        if to.contains(from) && !components.iter().any(|component| component.contains(from)) {
            let back = |file: &&usize| reached.get(file).is_some_and(|to| to.contains(from));
            components.push(to.iter().filter(back).copied().collect());
        }
    }
    components
}

/// Returns every file reachable by imports from this one.
fn reach(next: &BTreeMap<usize, BTreeSet<usize>>, from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut pending = vec![from];
    while let Some(file) = pending.pop() {
        for to in next.get(&file).into_iter().flatten() {
            if reached.insert(*to) {
                pending.push(*to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use crate::Breach;
    use crate::imports::edges;
    use crate::sources::{SourceFile, planted};

    fn circles(files: &[SourceFile]) -> Vec<Breach> {
        super::circles(files, &edges(files))
    }

    #[test]
    fn a_circle_is_reported_with_its_imports() {
        let files = planted(&[
            (
                "a/src/room/mod.rs",
                "mod one; mod two; mod three; pub use one::One; pub use two::Two;",
            ),
            ("a/src/room/one.rs", "\nuse super::Two; pub struct One;"),
            ("a/src/room/two.rs", "use super::three::Three; pub struct Two;"),
            ("a/src/room/three.rs", "\n\nuse super::One; pub struct Three;"),
        ]);
        let breaches: Vec<String> = circles(&files).iter().map(ToString::to_string).collect();
        assert_eq!(
            breaches,
            ["a/src/room/one.rs:2: import circle of 3 files\n    \
             a/src/room/one.rs -> a/src/room/two.rs: `super::Two` line 2\n    \
             a/src/room/two.rs -> a/src/room/three.rs: `super::three::Three` line 1\n    \
             a/src/room/three.rs -> a/src/room/one.rs: `super::One` line 3"]
        );
    }

    #[test]
    fn a_child_that_uses_its_parent_is_a_circle_only_if_the_parent_uses_the_child() {
        let circles = |parent| {
            let child = ("a/src/room/child.rs", "use super::Parent; pub struct Child;");
            circles(&planted(&[("a/src/room/mod.rs", parent), child])).len()
        };
        assert_eq!(circles("mod child; pub use child::Child; pub struct Parent;"), 0);
        assert_eq!(circles("mod child; use child::Child; pub struct Parent(Child);"), 1);
        assert_eq!(circles("mod child; pub struct Parent(child::Child);"), 1);
    }

    #[test]
    fn a_reexport_closes_a_circle_for_those_outside_of_its_folder() {
        let circles = |context: &str, one: &str| {
            circles(&planted(&[
                ("a/src/lib.rs", "mod context; mod part;"),
                ("a/src/context.rs", context),
                ("a/src/part/mod.rs", "mod one; pub use one::One; use crate::context::Env;"),
                ("a/src/part/one.rs", one),
            ]))
            .len()
        };
        let one = "pub struct One;";
        assert_eq!(circles("use crate::part::One; pub struct Env;", one), 1);
        assert_eq!(circles("fn f(one: crate::part::One) {} pub struct Env;", one), 1);
        assert_eq!(circles("use crate::part::one::One; pub struct Env;", one), 0);
        assert_eq!(circles("pub struct Env;", "use super::Env; pub struct One;"), 0);
    }

    #[test]
    fn each_cycle_is_reported_and_a_chain_is_none() {
        let line = [
            ("a/src/lib.rs", ""),
            ("a/src/b.rs", "use crate::c::C; use crate::d::D; pub struct B;"),
            ("a/src/c.rs", "use crate::d::D; pub struct C;"),
            ("a/src/d.rs", "pub struct D;"),
        ];
        assert_eq!(circles(&planted(&line)), []);
        let two = [
            ("a/src/lib.rs", ""),
            ("a/src/b.rs", "use crate::c::C; use crate::d::D; pub struct B;"),
            ("a/src/c.rs", "use crate::b::B; pub struct C;"),
            ("a/src/d.rs", "use crate::e::E; pub struct D;"),
            ("a/src/e.rs", "use crate::d::D; pub struct E;"),
        ];
        assert_eq!(circles(&planted(&two)).len(), 2);
    }

    #[test]
    fn crates_are_independent() {
        let files = planted(&[
            ("a/src/lib.rs", ""),
            ("a/src/b.rs", "use crate::c::C; pub struct B;"),
            ("d/src/lib.rs", ""),
            ("d/src/c.rs", "use crate::b::B; pub struct C;"),
        ]);
        assert_eq!(circles(&files), []);
    }
}
