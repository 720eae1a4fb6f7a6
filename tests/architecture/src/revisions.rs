//! Differences between revisions are data: only the room `revision` compares them or branches on them.
//!
//! Knows how a branch on `Revision::…` is spelled. Naming a revision as a value is free everywhere. It cannot
//! see a branch that compares two variables, where only their types say that they are revisions.

use crate::Breach;
use crate::lexer::Kind;
use crate::sources::{SourceFile, Token, closing, nesting, reads};
use std::collections::BTreeSet;

const COMPARISONS: &[&str] = &["<", "<=", "==", "!=", ">=", ">"];

/// Finds the branches on a revision in the core's other rooms.
#[must_use]
pub fn branches(core: &[SourceFile]) -> Vec<Breach> {
    let home = |path: &str| path.ends_with("/src/revision.rs") || path.contains("/src/revision/");
    core.iter().filter(|file| !home(&file.path)).flat_map(branches_in).collect()
}

fn branches_in(file: &SourceFile) -> Vec<Breach> {
    let tokens = &file.tokens;
    let patterns = patterns(tokens);
    let mut breaches = Vec::new();
    for at in (0..tokens.len()).filter(|at| reads(tokens, *at, &["Revision", "::"]) && !tokens[*at].in_test) {
        let complaint = if is_compared(tokens, at) {
            "is compared with"
        } else if patterns.contains(&at) {
            "is a pattern"
        } else if reads(tokens, at + 2, &["{"]) || reads(tokens, at + 2, &["*"]) {
            "hides which revision is meant"
        } else {
            continue;
        };
        let name = format!("Revision::{}", tokens.get(at + 2).map_or("", |token| token.text.as_str()));
        let what =
            format!("`{name}` {complaint}: a difference between revisions is a row in `revision`'s table");
        breaches.push(file.breach(tokens[at].line, what));
    }
    breaches
}

/// Whether the path around the `Revision::X` at `at` has a comparison on either side.
fn is_compared(tokens: &[Token], at: usize) -> bool {
    let compares = |token: Option<&Token>| token.is_some_and(|token| COMPARISONS.iter().any(|c| token.is(c)));
    let mut start = at;
    while start >= 2 && tokens[start - 1].is("::") && tokens[start - 2].kind == Kind::Ident {
        start -= 2;
    }
    let before = tokens[..start].iter().rev().find(|token| !token.is("&"));
    compares(before) || compares(tokens.get(at + 3))
}

/// Where patterns are: before `=>`, with their guards, after `let`, and inside `matches!`.
fn patterns(tokens: &[Token]) -> BTreeSet<usize> {
    let mut patterns = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.is("=>") {
            patterns.extend(arm_start(tokens, at)..at);
        } else if token.is("let") {
            patterns.extend(at..let_end(tokens, at));
        } else if reads(tokens, at, &["matches", "!", "("]) {
            patterns.extend(at..closing(tokens, at + 2));
        }
    }
    patterns
}

/// Where the arm begins whose `=>` stands at `arrow`: after the arm before it, or after the match's brace.
fn arm_start(tokens: &[Token], arrow: usize) -> usize {
    let mut depth = 0;
    let mut start = arrow;
    while start > 0 {
        let token = &tokens[start - 1];
        if depth == 0 && (nesting(token) > 0 || token.is(",") || token.is(";") || token.is("=>")) {
            return start;
        }
        // A block after `=>` is the arm before this one, not a part of its pattern.
        if depth == -1 && token.is("{") && start >= 2 && tokens[start - 2].is("=>") {
            return closing(tokens, start - 1) + 1;
        }
        depth += nesting(token);
        start -= 1;
    }
    start
}

/// Where the pattern ends that follows the `let` at `at`.
fn let_end(tokens: &[Token], at: usize) -> usize {
    let ends = |token: &Token| token.is("=") || token.is(";");
    tokens.iter().skip(at).position(ends).map_or(tokens.len(), |length| at + length)
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
