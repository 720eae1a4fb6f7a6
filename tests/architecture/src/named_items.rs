//! Checks that every item named in a Markdown file, as `Type::member`, exists.

use crate::Breach;
use crate::lexer::Kind;
use crate::sources::{SourceFile, reads};

/// Finds the items in backticks that do not exist.
///
/// An item is a type and the name of a method, field or variant: `Http::origin`, or
/// `http::Remote::new`. The name must occur in a file that declares the type or has an `impl` of
/// it, outside of tests. Code blocks are skipped.
#[must_use]
pub fn missing(paper: &str, text: &str, sources: &[SourceFile]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut in_block = false;
    for (n, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        // Every other part of the line is between backticks.
        let words = line.split('`').skip(1).step_by(2).filter(|_| !in_block);
        for (named, (owner, member)) in words.filter_map(|word| Some((word, item(word)?))) {
            if !sources.iter().any(|file| has(file, owner, member)) {
                let place = format!("{paper}:{}", n + 1);
                breaches.push(Breach { place, what: format!("`{named}` does not exist") });
            }
        }
    }
    breaches
}

/// Returns a type and its member, if a word names both.
fn item(word: &str) -> Option<(&str, &str)> {
    let (path, member) = word.trim_end_matches("()").rsplit_once("::")?;
    let owner = path.rsplit("::").next().unwrap_or(path);
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_type = owner.starts_with(|c: char| c.is_uppercase());
    (is_type && is_name(owner) && is_name(member) && !member.is_empty()).then_some((owner, member))
}

fn has(file: &SourceFile, owner: &str, member: &str) -> bool {
    let tokens = &file.tokens;
    let live = |at: &usize| !file.is_test && !tokens[*at].in_test;
    let declares = |at: usize| {
        ["struct", "enum", "trait", "type", "impl", "for"]
            .iter()
            .any(|word| reads(tokens, at, &[word, owner]))
            // `impl<T> Type<T>`
            || (reads(tokens, at, &[">", owner]))
    };
    (0..tokens.len()).filter(live).any(declares)
        && (0..tokens.len())
            .filter(live)
            .any(|at| tokens[at].kind == Kind::Ident && tokens[at].text == member)
}

#[cfg(test)]
mod tests {
    use super::missing;
    use crate::sources::planted;

    fn found(text: &str) -> Vec<String> {
        let sources = planted(&[
            ("a/src/b.rs", "pub struct Http { pub size: u8 }\nimpl Http { pub fn origin() {} }"),
            ("a/src/c.rs", "impl<T> Remote<T> { fn new() {} }\nenum Fault { Refused }"),
            (
                "a/src/d.rs",
                "fn elsewhere() {}\n#[cfg(test)] mod tests { impl Http { fn gone() {} } }",
            ),
        ]);
        missing("A.md", text, &sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_item_that_does_not_exist_is_reported() {
        assert_eq!(found("x\n`Http::origins` y"), ["A.md:2: `Http::origins` does not exist"]);
        for text in ["`Https::origin`", "`Http::elsewhere`", "`Http::gone`", "`a::Fault::Lost`"] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn existing_items_and_other_words_are_fine() {
        for text in [
            "`Http::origin` and `Http::size`, `http::Remote::new()`, `Fault::Refused`",
            "`std::process` `Http` `a::b` Http::gone `Vec<Http::gone>`",
            "```text\n`Http::gone`\n```\n`Http::origin`",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
