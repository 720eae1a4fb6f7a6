//! Extracts Rust snippets from Markdown and wraps each in a module that compiles.

use std::fmt::Write;

/// One block of Rust code.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Snippet {
    /// The line of its first line of code, counted from 1.
    line: usize,
    /// Whether the README marks it as a fragment (`rust,ignore`), which relies on items and
    /// variables that it does not show: those of the module `context`.
    is_fragment: bool,
    code: String,
}

/// Returns the Rust snippets of a Markdown text.
pub(crate) fn snippets(markdown: &str) -> Vec<Snippet> {
    let mut snippets = Vec::new();
    let mut lines = markdown.lines().enumerate();
    while let Some((n, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let code: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let mut words = info.split(',').map(str::trim);
        if words.next() == Some("rust") {
            let code = code.join("\n");
            snippets.push(Snippet { line: n + 2, is_fragment: words.any(|w| w == "ignore"), code });
        }
    }
    snippets
}

/// Writes a module for each snippet.
///
/// Statements become the body of a function. For a fragment, the function is async, returns a
/// `Result` and has the variables of the context as parameters.
pub(crate) fn render(snippets: &[Snippet]) -> String {
    let mut out = String::new();
    for Snippet { line, is_fragment, code } in snippets {
        let context = if *is_fragment { "use crate::context::*;" } else { "" };
        let body = match (code.contains("fn main("), is_fragment) {
            (true, _) => code.clone(),
            (false, false) => format!("fn main() {{\n{code}\n}}"),
            (false, true) => format!(
                "async fn run(mut variables: Variables) -> Result<(), Box<dyn std::error::Error>> \
                 {{\nlet Variables {{ seed, server, .. }} = variables;\n{code}\nOk(())\n}}"
            ),
        };
        // Writing to a string never fails.
        let _ = writeln!(out, "mod readme_line_{line} {{\n{context}\n{body}\n}}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{render, snippets};

    #[test]
    fn only_rust_blocks_are_extracted() {
        let found = snippets("a\n```rust\nx\n\ny\n```\n```sh\nz\n```\n```rust,ignore\nw\n```\n");
        let found: Vec<(usize, bool, &str)> =
            found.iter().map(|s| (s.line, s.is_fragment, s.code.as_str())).collect();
        assert_eq!(found, [(3, false, "x\n\ny"), (11, true, "w")]);
    }

    #[test]
    fn statements_are_wrapped_and_programs_are_not() {
        let rendered = |text: &str| render(&snippets(text));
        let program = rendered("```rust,no_run\nfn main() {}\n```");
        assert_eq!(program, "mod readme_line_2 {\n\nfn main() {}\n}\n\n");
        assert!(rendered("```rust\nf();\n```").contains("fn main() {\nf();\n}"));
        let fragment = rendered("```rust,ignore\nf().await?;\n```");
        assert!(fragment.contains("use crate::context::*;\nasync fn run("), "{fragment}");
    }
}
