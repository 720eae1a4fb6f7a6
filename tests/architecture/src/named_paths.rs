//! Checks that every path named in a Markdown file exists.

use crate::Breach;
use crate::lexer::Kind;
use crate::sources::SourceFile;
use std::collections::BTreeSet;

/// Returns every string of the core: protocol names with a slash that are not paths, such as
/// `tools/call` and `text/event-stream`.
#[must_use]
pub fn words(core: &[SourceFile]) -> BTreeSet<String> {
    let texts = core
        .iter()
        .flat_map(|file| &file.tokens)
        .filter(|token| token.kind == Kind::Text && !token.in_test);
    texts.map(|token| token.text.clone()).collect()
}

/// Finds the paths in backticks that do not exist.
///
/// A path contains a `/` or ends in `.rs`. Braces and `*` denote several: `eras/{legacy,modern}.rs`
/// is two paths, and a path with `*` is checked up to the folder before it. Code blocks and URLs
/// are skipped.
#[must_use]
pub fn missing(
    paper: &str,
    text: &str,
    words: &BTreeSet<String>,
    exists: impl Fn(&str) -> bool,
) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut in_block = false;
    for (n, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        // Every other part of the line is between backticks.
        for token in line.split('`').skip(1).step_by(2).filter(|token| !in_block && is_path(token))
        {
            let path = without_line(token);
            for path in alternatives(path).into_iter().filter(|path| !words.contains(path.as_str()))
            {
                let known = path.split_once('*').map_or(path.as_str(), |(start, _)| {
                    start.rsplit_once('/').map_or(".", |(folder, _)| folder)
                });
                if !exists(known.trim_end_matches('/')) {
                    let place = format!("{paper}:{}", n + 1);
                    breaches.push(Breach { place, what: format!("`{path}` does not exist") });
                }
            }
        }
    }
    breaches
}

fn is_path(token: &str) -> bool {
    let named = token.contains('/') || without_line(token).ends_with(".rs");
    let other =
        token.contains(char::is_whitespace) || token.contains("://") || token.starts_with('/');
    named && !other
}

/// Removes a line number or an item from a path: `connection/mod.rs:12`, `json/raw.rs::Raw`.
fn without_line(token: &str) -> &str {
    token.split_once(':').map_or(token, |(path, _)| path)
}

/// Expands the braces of a path.
fn alternatives(path: &str) -> Vec<String> {
    let braces =
        path.split_once('{').and_then(|(start, rest)| Some((start, rest.split_once('}')?)));
    let Some((start, (inside, end))) = braces else { return vec![path.to_owned()] };
    let each = inside.split(',').map(|part| format!("{start}{}{end}", part.trim()));
    each.flat_map(|path| alternatives(&path)).collect()
}

#[cfg(test)]
mod tests {
    use super::{missing, words};
    use crate::sources::planted;

    fn found(text: &str) -> Vec<String> {
        let core =
            planted(&[("mcp-proto/src/revision.rs", "method(\"tools/call\") // \"tools/list\"")]);
        let exists = |path: &str| {
            ["connection/mod.rs", "connection/eras", "time.rs", "adapters", "."].contains(&path)
        };
        missing("A.md", text, &words(&core), exists).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_path_that_does_not_exist_is_reported() {
        assert_eq!(
            found("x\n`connection/mud.rs` y"),
            ["A.md:2: `connection/mud.rs` does not exist"]
        );
        for text in [
            "`gone.rs`",
            "`gone/`",
            "| `time.rs` | `gone/x` |",
            "`connection/{mod,mud}.rs`",
            "`gone/*.rs`",
            "`gone.rs:12`",
            "`tools/list`",
        ] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
        assert_eq!(found("`{gone,going}/{a,b}.rs`").len(), 4);
    }

    #[test]
    fn existing_paths_and_other_words_are_fine() {
        for text in [
            "`connection/mod.rs` and `connection/eras/`, `time.rs:3`, `time.rs::Instant`",
            "`adapters/*/src` `*/src` `connection/{mod.rs,eras}`",
            "`Connection` `on_message` connection/gone.rs `mcp_proto::Client`",
            "a `tools/call` is `POST /mcp` to `https://x.y/z` or `/mcp`",
            "```text\n`gone.rs`\n```\n`time.rs`",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
