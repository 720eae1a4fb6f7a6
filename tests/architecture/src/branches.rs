//! Finds where code branches on an enum: comparisons, patterns, and methods that compare.
//!
//! A comparison of two variables is not found: only their types would reveal it.

use crate::aliases::Scope;
use crate::lexer::Kind;
use crate::sources::{SourceFile, Token, closing, nesting, reads};
use std::collections::BTreeSet;

const COMPARISONS: &[&str] = &["<", "<=", "==", "!=", ">=", ">"];

/// Methods that compare their receiver with their arguments.
const METHODS: &[&str] = &[
    "clamp",
    "cmp",
    "contains",
    "eq",
    "ge",
    "gt",
    "is_in",
    "le",
    "lt",
    "max",
    "min",
    "ne",
    "partial_cmp",
];

/// Wrappers that a comparison looks through: `== Some(x)`.
const WRAPPERS: &[&str] = &["Err", "Ok", "Some"];

/// One branch on a variant.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) line: usize,
    /// The variant as written, without the modules before it.
    pub(crate) name: String,
    pub(crate) how: &'static str,
}

/// Finds the branches on the enum with these aliases, outside of tests.
pub(crate) fn branches(file: &SourceFile, aliases: &Scope<'_>) -> Vec<Branch> {
    let tokens = &file.tokens;
    let patterns = patterns(tokens);
    let mut branches = Vec::new();
    for at in (0..tokens.len()).filter(|at| !tokens[*at].in_test) {
        let Some((start, end)) = aliases.mention(tokens, at) else { continue };
        let how = if is_compared(tokens, start, end) {
            "is compared with"
        } else if patterns.contains(&at) {
            "is a pattern"
        } else if is_argument_of_comparison(tokens, start) {
            "is compared with by a method"
        } else if end == at + 3 && (reads(tokens, at + 2, &["{"]) || reads(tokens, at + 2, &["*"]))
        {
            "hides which variant is meant"
        } else {
            continue;
        };
        let name =
            tokens[at..end.min(tokens.len())].iter().map(|token| token.text.as_str()).collect();
        branches.push(Branch { line: tokens[at].line, name, how });
    }
    branches
}

/// Returns whether the path is an operand of a comparison, possibly inside wrappers and brackets.
pub(crate) fn is_compared(tokens: &[Token], mut start: usize, mut end: usize) -> bool {
    let compares =
        |token: Option<&Token>| token.is_some_and(|token| COMPARISONS.iter().any(|c| token.is(c)));
    loop {
        let before = tokens[..start].iter().rev().find(|token| !token.is("&"));
        if compares(before) || compares(tokens.get(end)) {
            return true;
        }
        let Some(open) = enclosing(tokens, start) else { return false };
        let wrapper = open.checked_sub(1).map(|before| &tokens[before]);
        let is_call =
            wrapper.is_some_and(|it| matches!(it.kind, Kind::Ident) || it.is("!") || it.is(">"));
        let is_wrapped = wrapper.is_some_and(|it| WRAPPERS.iter().any(|name| it.is(name)));
        if !tokens[open].is("(") || (is_call && !is_wrapped && !follows_keyword(tokens, open)) {
            return false;
        }
        start = if is_wrapped { open - 1 } else { open };
        end = closing(tokens, open) + 1;
    }
}

/// Returns whether the path is the receiver or an argument of a comparing method, within brackets.
fn is_argument_of_comparison(tokens: &[Token], start: usize) -> bool {
    let mut at = start;
    while let Some(open) = enclosing(tokens, at) {
        let named =
            |n: usize| METHODS.iter().any(|method| open >= n && tokens[open - n].is(method));
        let is_method =
            named(1) && open >= 2 && (tokens[open - 2].is(".") || tokens[open - 2].is("::"));
        let next = closing(tokens, open) + 1;
        let is_receiver = METHODS.iter().any(|method| reads(tokens, next, &[".", method, "("]));
        let is_call =
            open >= 1 && tokens[open - 1].kind == Kind::Ident && !follows_keyword(tokens, open);
        if is_method || is_receiver && !is_call {
            return true;
        }
        // An argument of any other function is a value.
        if is_call {
            return false;
        }
        at = open;
    }
    false
}

fn follows_keyword(tokens: &[Token], open: usize) -> bool {
    let keywords = ["if", "in", "match", "return", "while"];
    open > 0 && keywords.iter().any(|word| tokens[open - 1].is(word))
}

/// Returns the round or square bracket around `at`, if one opens after the last brace.
fn enclosing(tokens: &[Token], at: usize) -> Option<usize> {
    let mut depth = 0;
    for n in (0..at).rev() {
        depth += nesting(&tokens[n]);
        if depth > 0 {
            return (!tokens[n].is("{")).then_some(n);
        }
    }
    None
}

/// Returns the tokens of patterns: before `=>` with their guards, after `let`, and inside
/// `matches!`.
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

/// Returns the start of the match arm whose `=>` is at `arrow`.
fn arm_start(tokens: &[Token], arrow: usize) -> usize {
    let mut depth = 0;
    let mut start = arrow;
    while start > 0 {
        let token = &tokens[start - 1];
        if depth == 0 && (nesting(token) > 0 || token.is(",") || token.is(";") || token.is("=>")) {
            return start;
        }
        // A block after `=>` belongs to the previous arm, not to the pattern.
        if depth == -1 && token.is("{") && start >= 2 && tokens[start - 2].is("=>") {
            return closing(tokens, start - 1) + 1;
        }
        depth += nesting(token);
        start -= 1;
    }
    start
}

/// Returns the end of the pattern after the `let` at `at`.
fn let_end(tokens: &[Token], at: usize) -> usize {
    let ends = |token: &Token| token.is("=") || token.is(";");
    tokens.iter().skip(at).position(ends).map_or(tokens.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::branches;
    use crate::aliases::Aliases;
    use crate::sources::planted;

    fn found(text: &str) -> Vec<String> {
        let files = planted(&[
            ("mcp-proto/src/revision.rs", "enum E { A, B } pub(crate) use E::{A as R1, B as R2};"),
            ("mcp-proto/src/rpc.rs", &format!("use crate::revision::{{E, R1, R2}}; {text}")),
        ]);
        let aliases = Aliases::new(&files, "E");
        let branches = branches(&files[1], &aliases.within(&files[1]));
        branches.iter().map(|branch| format!("{} {}", branch.name, branch.how)).collect()
    }

    #[test]
    fn each_comparison_is_found() {
        for text in [
            "x == E::A",
            "x != crate::revision::E::A",
            "&x >= &R1",
            "R1 < x",
            "x == Some(E::A)",
            "Some(R1) == x",
            "if (R1) == x {}",
            "(x, y) == (1, Ok(R1))",
            "x.is_in(&(R1))",
            "x.eq(&E::A)",
            "E::max(x, R1)",
            "(0..=R1).contains(&x)",
            "[E::A].contains(&x)",
            "all.contains(&E::A)",
            "if x.is_in(&(R1..)) {}",
        ] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
        assert_eq!(
            found("x.is_in(&(R1..=R2))"),
            ["R1", "R2"].map(|it| format!("{it} is compared with by a method"))
        );
    }

    #[test]
    fn each_pattern_is_found() {
        for text in [
            "match x { E::A => 1, _ => 2 }",
            "match x { R1 => 1, _ => 2 }",
            "match x { (_, Some(R1)) if y => 1, _ => 2 }",
            "if let R1 = x {}",
            "let Some(E::A) = x else { return };",
            "matches!(x, R1)",
            "matches!(x.e(), Some(E::A))",
        ] {
            let breaches = found(text);
            assert_eq!(breaches.len(), 1, "{text}");
            assert!(breaches[0].ends_with("is a pattern"), "{text}: {breaches:?}");
        }
    }

    #[test]
    fn a_value_is_no_branch() {
        for text in [
            "let x = E::A;",
            "row(R1, R2); Row { since: R1, until: R2 }",
            "optional task: Task = \"task\" in R1..=R2,",
            "newest(E::A).is_some() && f(R1) == x",
            "match x { X => R1, Y => { E::B } }",
            "let all: Vec<E> = vec![R1, R2];",
            "x.filter(|it| it.speaks(R1)).max(3)",
            "expect(E::A).max(3)",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
