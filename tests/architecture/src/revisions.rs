//! Differences between revisions are data: only `revision` compares revisions or branches on them.
//!
//! Naming a revision as a value is free everywhere, and so are the ranges of fields in `schema`.

use crate::Breach;
use crate::aliases::Aliases;
use crate::branches;
use crate::sources::SourceFile;

/// Finds branches on a revision in other rooms of the core, including through aliases.
#[must_use]
pub fn branches(core: &[SourceFile]) -> Vec<Breach> {
    let aliases = Aliases::new(core, "Revision");
    let mut breaches = Vec::new();
    for file in core.iter().filter(|file| !is_home(&file.path)) {
        for branch in branches::branches(file, &aliases.within(file)) {
            let what = format!(
                "`{}` {}: a difference between revisions is a row in `revision`'s table",
                branch.name, branch.how
            );
            breaches.push(file.breach(branch.line, what));
        }
    }
    breaches
}

/// Returns whether the file belongs to the table of revisions.
pub(crate) fn is_home(path: &str) -> bool {
    path.ends_with("/src/revision.rs") || path.contains("/src/revision/")
}

#[cfg(test)]
mod tests {
    use super::branches;
    use crate::sources::planted;

    fn found(path: &str, text: &str) -> Vec<String> {
        branches(&planted(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_branch_is_reported() {
        for text in [
            "if r >= Revision::V2025_06_18 {}",
            "if r < Revision::V2025_06_18 {}",
            "if r == crate::revision::Revision::LATEST {}",
            "if &r != &Revision::V2025_06_18 {}",
            "if Revision::V2025_06_18 <= r {}",
            "match r { Revision::V2025_06_18 => 1, _ => 2 }",
            "match r { _ if x => {} Revision::V2025_06_18 if y => 1, _ => 2 }",
            "match (r, s) { (Revision::V2025_06_18, _) => 1, _ => 2 }",
            "match x { X { revision: Revision::V2025_06_18 } => 1, _ => 2 }",
            "match x { Some(_) => { 1 } Some(Revision::V2025_06_18) => 1, _ => 2 }",
            "if let Revision::V2025_06_18 = r {}",
            "let Some(Revision::V2025_06_18) = r else { return };",
            "matches!(r, Revision::V2025_06_18)",
            "use crate::revision::Revision::*;",
            "use crate::revision::Revision::{V2025_06_18};",
        ] {
            assert_eq!(found("mcp-proto/src/session/core.rs", text).len(), 1, "{text}");
        }
        for text in ["Revision::V1 | Revision::V2", "Revision::V1..=Revision::V2"] {
            let text = format!("match r {{ {text} => 1, _ => 2 }}");
            assert_eq!(found("mcp-proto/src/client.rs", &text).len(), 2, "{text}");
        }
    }

    /// Returns the branches of a file of the core, next to a table with aliases.
    fn found_beside_table(text: &str) -> Vec<String> {
        let table =
            "pub enum Revision {} pub(crate) use Revision::{V2025_11_25 as R4, V2026_07_28 as R5};";
        let files = planted(&[
            ("mcp-proto/src/revision.rs", table),
            ("mcp-proto/src/schema/notifications.rs", text),
        ]);
        branches(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_alias_hides_no_branch() {
        for text in [
            "use crate::revision::R4; fn f() { revision.is_in(&(R4..)) }",
            "use crate::revision::R4 as Last; fn f() { revision == Last }",
            "use crate::revision::*; fn f() { revision >= R4 }",
            "use crate::revision; fn f() { revision >= revision::R4 }",
            "use crate::revision::{R5, Revision as R}; \
                             fn f() { match r { R::V2024_11_05 => 1, _ => 2 } }",
            "type R = crate::revision::Revision; fn f() { matches!(r, R::V2024_11_05) }",
            "const NEW: Revision = Revision::V2026_07_28; fn f() { r < NEW }",
        ] {
            assert_eq!(found_beside_table(text).len(), 1, "{text}");
        }
        for text in [
            "use crate::revision::{R4, R5}; \
                             object! { struct A { optional b: B = \"b\" in R4..=R5, } }",
            "use crate::revision::R5; fn f() { filled.encode(R5, &mut out) }",
            "fn f<R4: Ord>(a: R4, b: R4) -> bool { a < b }",
        ] {
            assert_eq!(found_beside_table(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_breach_says_where_it_is() {
        let why = "is compared with: a difference between revisions is a row in `revision`'s table";
        let breaches = found("mcp-proto/src/client.rs", "\nif r >= Revision::V1 {}");
        assert_eq!(breaches, [format!("mcp-proto/src/client.rs:2: `Revision::V1` {why}")]);
    }

    #[test]
    fn a_revision_as_a_value_is_free() {
        for text in [
            "let r = Revision::V2025_06_18;",
            "const ALL: [Revision; 2] = [Revision::V1, Revision::V2];",
            "fn f() -> Option<Revision> { Some(Revision::LATEST) }",
            "match x { A => Revision::V1, B => { Revision::V2 } C => g(Revision::V1), D => 1 }",
            "match Revision::parse(text) { Some(r) => r.rules(), None => 2 }",
            "let x = if a { Revision::V1 } else { Revision::V2 };",
            "/// `r >= Revision::V1`\nconst X: Vec<Revision> = f(\"r >= Revision::V1\");",
            "#[cfg(test)] mod tests { fn f() { assert!(r == Revision::V1) } }",
        ] {
            assert_eq!(found("mcp-proto/src/session/core.rs", text), [""; 0]);
        }
    }

    #[test]
    fn the_room_revision_may_branch() {
        assert_eq!(found("mcp-proto/src/revision.rs", "if r >= Revision::V1 {}"), [""; 0]);
        assert_eq!(found("mcp-proto/src/revision/rules.rs", "if r >= Revision::V1 {}"), [""; 0]);
    }
}
