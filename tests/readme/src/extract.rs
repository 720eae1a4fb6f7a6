//! Extracts Rust snippets from Markdown and wraps each in a module that compiles.

use std::fmt::Write;

/// One block of Rust code.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Snippet {
    /// The line of its first line of code, counted from 1.
    line: usize,
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
        if info.split(',').next() == Some("rust") {
            snippets.push(Snippet { line: n + 2, code: code.join("\n") });
        }
    }
    snippets
}

/// Writes a module for each snippet. Statements become the body of `main`.
pub(crate) fn render(snippets: &[Snippet]) -> String {
    let mut out = String::new();
    for Snippet { line, code } in snippets {
        let is_program = code.contains("fn main(");
        let body = if is_program { code.clone() } else { format!("fn main() {{\n{code}\n}}") };
        // Writing to a string never fails.
        let _ = writeln!(out, "mod readme_line_{line} {{\n{body}\n}}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{render, snippets};

    #[test]
    fn only_rust_blocks_are_extracted() {
        let found = snippets("a\n```rust\nx\n\ny\n```\n```sh\nz\n```\n```rust,ignore\nw\n```\n");
        let found: Vec<(usize, &str)> = found.iter().map(|s| (s.line, s.code.as_str())).collect();
        assert_eq!(found, [(3, "x\n\ny"), (11, "w")]);
    }

    #[test]
    fn statements_are_wrapped_and_programs_are_not() {
        let rendered = |text: &str| render(&snippets(text));
        let program = rendered("```rust,no_run\nfn main() {}\n```");
        assert_eq!(program, "mod readme_line_2 {\nfn main() {}\n}\n\n");
        assert!(rendered("```rust\nf();\n```").contains("fn main() {\nf();\n}"));
    }
}
