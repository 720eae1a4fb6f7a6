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

#[cfg(test)]
mod tests {
    use super::{break_ins, hidden_items};
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
