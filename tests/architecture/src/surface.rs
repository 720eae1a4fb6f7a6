//! Everything outside the core uses its public surface, and the core has no hidden public items.
//!
//! The compiler keeps private items private. These rules cover the two ways around it: including a
//! source file by its path, and hiding a public item from the documentation.

use crate::Breach;
use crate::lexer::Kind;
use crate::sources::{SourceFile, Token, closing, reads};

/// Macros that include a file.
const INCLUDES: &[&str] = &["include", "include_bytes", "include_str"];

/// Finds the places outside the core that include one of its source files.
#[must_use]
pub fn break_ins(outside: &[SourceFile]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in outside {
        let tokens = &file.tokens;
        for at in 0..tokens.len() {
            let end = if reads(tokens, at, &["path", "="]) {
                at + 3
            } else if INCLUDES.iter().any(|include| reads(tokens, at, &[include, "!"])) {
                closing(tokens, at + 2)
            } else {
                continue;
            };
            let mut texts =
                tokens[at..end.min(tokens.len())].iter().filter(|token| token.kind == Kind::Text);
            if let Some(path) = texts.find(|token| token.text.contains("mcp-proto/src")) {
                let what = format!(
                    "`{}` of \"{}\": only the core's public surface",
                    tokens[at].text, path.text
                );
                breaches.push(file.breach(tokens[at].line, what));
            }
        }
    }
    breaches
}

/// Finds the items that the core hides from its documentation.
#[must_use]
pub fn hidden_items(core: &[SourceFile]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in core {
        let tokens = &file.tokens;
        for at in (0..tokens.len()).filter(|at| reads(tokens, *at, &["doc", "("])) {
            if tokens[at..closing(tokens, at + 1)].iter().any(|token| token.is("hidden")) {
                breaches.push(
                    file.breach(tokens[at].line, "`doc(hidden)`: what is public is documented"),
                );
            }
        }
    }
    breaches
}

/// The public methods of the builders that every program uses, at most. The numbers may only
/// shrink.
pub const METHODS_MAX: &[(&str, usize)] = &[("Client", 25), ("Http", 20), ("Server", 34)];

/// Counts the public methods of a type in its inherent implementations.
#[must_use]
pub fn methods(files: &[SourceFile], of: &str) -> usize {
    let methods_of = |file: &SourceFile| {
        let tokens = &file.tokens;
        let is_method = |at: &usize| {
            [&["pub", "fn"][..], &["pub", "const", "fn"], &["pub", "async", "fn"]]
                .into_iter()
                .any(|start| reads(tokens, *at, start))
        };
        (0..tokens.len())
            .filter(|at| reads(tokens, *at, &["impl"]))
            .filter_map(|at| body(tokens, at + 1, of))
            .map(|open| (open..closing(tokens, open)).filter(is_method).count())
            .sum::<usize>()
    };
    files.iter().map(methods_of).sum()
}

/// Returns the brace of an inherent implementation of `of`, with or without parameters, whose
/// `impl` is before `at`.
fn body(tokens: &[Token], at: usize, of: &str) -> Option<usize> {
    let at = after_parameters(tokens, at);
    let open = reads(tokens, at, &[of]).then(|| after_parameters(tokens, at + 1))?;
    reads(tokens, open, &["{"]).then_some(open)
}

/// Returns the position after the parameters in angle brackets at `at`, if there are any.
fn after_parameters(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for next in at..tokens.len() {
        if reads(tokens, next, &["<"]) {
            depth += 1;
        } else if reads(tokens, next, &[">"]) {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            return if next == at && !reads(tokens, at, &[">"]) { at } else { next + 1 };
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{break_ins, hidden_items, methods};
    use crate::sources::planted;

    #[test]
    fn including_a_core_file_is_reported() {
        for (text, breaches) in [
            ("\n#[path = \"../../mcp-proto/src/session/core.rs\"] mod core;", 1),
            ("include!(\"../../mcp-proto/src/time.rs\");", 1),
            ("include!(concat!(env!(\"X\"), \"/mcp-proto/src/time.rs\"));", 1),
            ("#[cfg_attr(test, path = \"../mcp-proto/src/x.rs\")] mod x;", 1),
            ("#[path = \"support/mod.rs\"] mod support;", 0),
            (
                "include_str!(\"golden.txt\"); f(\"mcp-proto/src\"); \
                                 // include!(\"mcp-proto/src\")",
                0,
            ),
        ] {
            assert_eq!(break_ins(&planted(&[("benches/a.rs", text)])).len(), breaches, "{text}");
        }
    }

    #[test]
    fn public_methods_are_counted() {
        let text = "impl A { pub fn a() {} pub(crate) fn b() {} fn c() {} pub const fn d() {} } \
                    impl A { pub async fn e() {} } impl B { pub fn f() {} } \
                    impl<R: X<Y>> A<R> { pub fn g() {} } impl<R> Clone for A<R> { pub fn h() {} }";
        let files = planted(&[("adapters/shared/src/a.rs", text)]);
        assert_eq!((methods(&files, "A"), methods(&files, "B")), (4, 1));
    }

    #[test]
    fn a_hidden_item_is_reported() {
        for (text, breaches) in [
            ("#[doc(hidden)] pub fn f() {}", 1),
            ("#[cfg_attr(not(fuzzing), doc(hidden))] pub mod m {}", 1),
            ("#[doc(alias = \"hidden\")] pub fn hidden() {} // #[doc(hidden)]", 0),
        ] {
            assert_eq!(
                hidden_items(&planted(&[("mcp-proto/src/lib.rs", text)])).len(),
                breaches,
                "{text}"
            );
        }
    }
}
