//! Everything outside the core uses its public surface, and the core has no hidden public items.
//!
//! The compiler keeps private items private. These rules cover the two ways around it: including a
//! source file by its path, and hiding a public item from the documentation.

use crate::Breach;
use crate::lexer::Kind;
use crate::sources::{SourceFile, closing, reads};

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
pub const METHODS_MAX: &[(&str, usize)] = &[("Client", 34), ("Http", 20), ("Server", 56)];

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
            .filter(|at| reads(tokens, *at, &["impl", of, "{"]))
            .map(|at| (at..closing(tokens, at + 2)).filter(is_method).count())
            .sum::<usize>()
    };
    files.iter().map(methods_of).sum()
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
                    impl A { pub async fn e() {} } impl B { pub fn f() {} }";
        let files = planted(&[("adapters/shared/src/a.rs", text)]);
        assert_eq!((methods(&files, "A"), methods(&files, "B")), (3, 1));
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
