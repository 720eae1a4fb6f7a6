//! Source files as the rules see them: path, text, and tokens marked with their `cfg` conditions.

use crate::Breach;
use crate::lexer::{self, Kind};
use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

/// The top-level directories that hold Rust sources.
pub const ALL: &[&str] = &["adapters", "benches", "fuzz", "mcp-proto", "tests"];

/// A Markdown file that a program generates.
const GENERATED: &str = "benches/RESULTS.md";

/// One Rust file.
#[derive(Debug)]
pub struct SourceFile {
    /// Relative to the workspace, with `/` between its parts.
    pub path: String,
    /// The text of the file.
    pub text: String,
    /// Whether the whole file is compiled for tests only.
    pub is_test: bool,
    pub(crate) tokens: Vec<Token>,
}

/// A token, and the conditions it is compiled under.
#[derive(Debug)]
pub(crate) struct Token {
    token: lexer::Token,
    /// Only in tests.
    pub(crate) in_test: bool,
    /// Only with the feature `std`.
    pub(crate) in_std: bool,
}

impl std::ops::Deref for Token {
    type Target = lexer::Token;

    fn deref(&self) -> &lexer::Token {
        &self.token
    }
}

/// Reads every `.rs` file under these directories of the workspace, in the order of their paths.
///
/// A directory that does not exist has no files; hidden directories and `target` are not sources.
///
/// # Errors
///
/// If a directory or a file cannot be read.
pub fn read(workspace: &Path, directories: &[&str]) -> io::Result<Vec<SourceFile>> {
    let mut found = Vec::new();
    for directory in directories {
        if workspace.join(directory).is_dir() {
            walk(workspace, directory, ".rs", &mut found)?;
        }
    }
    found.sort();
    Ok(parse(found))
}

/// Reads every handwritten Markdown file of the workspace: paths and texts, in order.
///
/// # Errors
///
/// If a directory or a file cannot be read.
pub fn papers(workspace: &Path) -> io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for directory in ALL.iter().chain(&[".github"]) {
        if workspace.join(directory).is_dir() {
            walk(workspace, directory, ".md", &mut found)?;
        }
    }
    for entry in fs::read_dir(workspace)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") && entry.file_type()?.is_file() {
            found.push((name, fs::read_to_string(entry.path())?));
        }
    }
    found.retain(|(path, _)| path != GENERATED);
    found.sort();
    Ok(found)
}

fn walk(
    workspace: &Path,
    directory: &str,
    extension: &str,
    found: &mut Vec<(String, String)>,
) -> io::Result<()> {
    for entry in fs::read_dir(workspace.join(directory))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{directory}/{name}");
        let is_directory = entry.file_type()?.is_dir();
        if is_directory && !name.starts_with('.') && name != "target" && name != "node_modules" {
            walk(workspace, &path, extension, found)?;
        } else if !is_directory && name.ends_with(extension) {
            let text = fs::read_to_string(entry.path())?;
            found.push((path, text));
        }
    }
    Ok(())
}

/// Parses source files that belong together: a `#[cfg(test)] mod x;` in one of them marks another
/// as a test.
#[must_use]
pub fn parse(texts: Vec<(String, String)>) -> Vec<SourceFile> {
    let mut files: Vec<SourceFile> =
        texts.into_iter().map(|(path, text)| SourceFile::new(path, text)).collect();
    let gated: Vec<(String, Gate)> = files.iter().flat_map(gated_modules).collect();
    for file in &mut files {
        for (module, gate) in &gated {
            let inside = file.path.strip_prefix(module.as_str());
            if inside.is_some_and(|rest| rest == ".rs" || rest.starts_with('/')) {
                gate.mark(&mut file.tokens);
                file.is_test |= gate.test;
            }
        }
    }
    files
}

impl SourceFile {
    fn new(path: String, text: String) -> Self {
        let plain = |token| Token { token, in_test: false, in_std: false };
        let mut tokens: Vec<Token> = lexer::tokens(&text).into_iter().map(plain).collect();
        mark_gated(&mut tokens);
        let is_test = !tokens.is_empty() && tokens.iter().all(|token| token.in_test);
        Self { path, text, is_test, tokens }
    }

    /// Counts the lines outside of tests: none of a test file, and not those of `#[cfg(test)]`
    /// items.
    #[must_use]
    pub fn lines(&self) -> usize {
        if self.is_test {
            return 0;
        }
        let mut tests = BTreeSet::new();
        for (at, token) in self.tokens.iter().enumerate().filter(|(_, token)| token.in_test) {
            // Comments and blank lines between two tokens of an item belong to the item.
            let before =
                at.checked_sub(1).map(|at| &self.tokens[at]).filter(|before| before.in_test);
            tests.extend(before.map_or(token.line, |before| before.line)..=token.line);
        }
        self.text.lines().count() - tests.len()
    }

    pub(crate) fn breach(&self, line: usize, what: impl Into<String>) -> Breach {
        Breach { place: format!("{}:{line}", self.path), what: what.into() }
    }
}

/// Returns whether the tokens at `at` are these words and operators.
pub(crate) fn reads(tokens: &[Token], at: usize, words: &[&str]) -> bool {
    words.iter().enumerate().all(|(n, word)| tokens.get(at + n).is_some_and(|token| token.is(word)))
}

/// Returns the bracket that closes the one at `open`, or the end of the tokens.
pub(crate) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        depth += nesting(token);
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// Returns 1 for an opening bracket, -1 for a closing one.
pub(crate) fn nesting(token: &Token) -> i32 {
    match token.text.as_str() {
        "(" | "[" | "{" if token.kind == Kind::Punct => 1,
        ")" | "]" | "}" if token.kind == Kind::Punct => -1,
        _ => 0,
    }
}

/// The conditions of a `cfg` that the rules care about.
#[derive(Clone, Copy, Debug, Default)]
struct Gate {
    test: bool,
    std: bool,
}

impl Gate {
    /// Returns the gate of the attribute whose `[` is at `open`.
    fn of(tokens: &[Token], open: usize) -> Self {
        if reads(tokens, open + 1, &["test", "]"]) {
            return Self { test: true, std: false };
        }
        if reads(tokens, open + 1, &["cfg", "("]) {
            Self::of_predicate(tokens, open + 3)
        } else {
            Self::default()
        }
    }

    /// Returns what the predicate at `at` implies; mentioning `test` in `any` or `not` implies
    /// nothing.
    fn of_predicate(tokens: &[Token], at: usize) -> Self {
        if reads(tokens, at, &["test"]) {
            return Self { test: true, std: false };
        }
        if reads(tokens, at, &["feature", "="]) {
            let feature = tokens.get(at + 2).filter(|token| token.kind == Kind::Text);
            return Self { test: false, std: feature.is_some_and(|token| token.text == "std") };
        }
        let parts =
            || parts(tokens, at + 1).into_iter().map(|part| Self::of_predicate(tokens, part));
        if reads(tokens, at, &["all", "("]) {
            Self { test: parts().any(|gate| gate.test), std: parts().any(|gate| gate.std) }
        } else if reads(tokens, at, &["any", "("]) && parts().count() > 0 {
            Self { test: parts().all(|gate| gate.test), std: parts().all(|gate| gate.std) }
        } else {
            Self::default()
        }
    }

    fn is_open(self) -> bool {
        !self.test && !self.std
    }

    fn mark(self, tokens: &mut [Token]) {
        for token in tokens {
            token.in_test |= self.test;
            token.in_std |= self.std;
        }
    }
}

/// Returns where the parts of the comma-separated group at `open` begin.
fn parts(tokens: &[Token], open: usize) -> Vec<usize> {
    let end = closing(tokens, open);
    let mut parts = Vec::new();
    let mut at = open + 1;
    while at < end {
        parts.push(at);
        while at < end && !tokens[at].is(",") {
            at = if nesting(&tokens[at]) > 0 { closing(tokens, at) } else { at } + 1;
        }
        at += 1;
    }
    parts
}

/// Marks the tokens of every item behind `#[cfg(test)]`, `#[test]` or `#[cfg(feature = "std")]`.
fn mark_gated(tokens: &mut [Token]) {
    for at in 0..tokens.len() {
        let inner = reads(tokens, at, &["#", "!", "["]);
        if !inner && !reads(tokens, at, &["#", "["]) {
            continue;
        }
        let open = if inner { at + 2 } else { at + 1 };
        let gate = Gate::of(tokens, open);
        if gate.is_open() {
            continue;
        }
        let end =
            if inner { scope_end(tokens, at) } else { item_end(tokens, closing(tokens, open) + 1) };
        gate.mark(&mut tokens[at..end]);
    }
}

/// Returns the end of the block that contains `at`, or of the file.
fn scope_end(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0;
    for (n, token) in tokens.iter().enumerate().skip(at) {
        depth += nesting(token);
        if depth < 0 {
            return n;
        }
    }
    tokens.len()
}

/// Words that begin an item or a statement; anything else is a field, a variant or an arm.
const ITEMS: &[&str] = &[
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "let",
    "macro_rules",
    "mod",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
    "use",
];

/// Returns the end of the item at `at`: a semicolon, a closing brace, or for a field its comma.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    while reads(tokens, at, &["#", "["]) {
        at = closing(tokens, at + 1) + 1;
    }
    let mut first = at;
    if reads(tokens, first, &["pub"]) {
        first =
            if reads(tokens, first + 1, &["("]) { closing(tokens, first + 1) } else { first } + 1;
    }
    let is_item = tokens.get(first).is_some_and(|token| ITEMS.iter().any(|item| token.is(item)));
    while at < tokens.len() {
        let token = &tokens[at];
        if nesting(token) < 0 {
            return at;
        }
        if token.is(";") || (token.is(",") && !is_item) {
            return at + 1;
        }
        let braced = token.is("{");
        if nesting(token) > 0 {
            at = closing(tokens, at);
        }
        at += 1;
        if braced {
            return at.min(tokens.len());
        }
    }
    tokens.len()
}

/// Returns the modules a file declares behind a gate in other files: their paths without `.rs`.
fn gated_modules(file: &SourceFile) -> Vec<(String, Gate)> {
    let stem = file.path.trim_end_matches(".rs");
    let (parent, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let home = if matches!(name, "lib" | "main" | "mod") { parent } else { stem };
    let mut modules = Vec::new();
    for (at, token) in file.tokens.iter().enumerate() {
        let gate = Gate { test: token.in_test, std: token.in_std };
        if token.is("mod") && reads(&file.tokens, at + 2, &[";"]) && !gate.is_open() {
            modules.push((format!("{home}/{}", file.tokens[at + 1].text), gate));
        }
    }
    modules
}

/// Parses texts for a rule's unit tests.
#[cfg(test)]
pub(crate) fn planted(texts: &[(&str, &str)]) -> Vec<SourceFile> {
    parse(texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::{SourceFile, planted};

    /// Returns the identifiers of a file that are compiled without the gate.
    fn words(file: &SourceFile, gated: impl Fn(&super::Token) -> bool) -> Vec<&str> {
        let open = file.tokens.iter().filter(|token| !gated(token));
        open.filter(|token| token.text.starts_with("w_")).map(|token| token.text.as_str()).collect()
    }

    fn outside_tests(text: &str) -> Vec<String> {
        let files = planted(&[("a/src/b.rs", text)]);
        words(&files[0], |token| token.in_test).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_test_module_is_gated_and_what_follows_is_not() {
        assert_eq!(
            outside_tests("fn w_a() {} #[cfg(test)] mod tests { fn w_b() { w_c } } fn w_d() {}"),
            ["w_a", "w_d"]
        );
        assert_eq!(
            outside_tests(
                "#[cfg(test)] #[allow(x)] pub(crate) fn w_a(b: B, c: C) -> D { w_e } w_f"
            ),
            ["w_f"]
        );
        assert_eq!(outside_tests("#[test] fn w_a() {} #[cfg(test)] use w_b::w_c; w_d"), ["w_d"]);
    }

    #[test]
    fn the_lines_of_tests_are_not_counted() {
        for (text, lines) in [
            ("", 0),
            ("fn f() {}\n\n// Why.\n", 3),
            (
                "fn f() {}\n#[cfg(test)]\nmod tests {\n\n    // A comment.\n    fn g() {}\n}\n\
                                 fn h() {}\n",
                2,
            ),
            ("fn f() {}\n#[cfg(test)]\nmod a;\nfn g() {}\n#[cfg(test)] mod b;\n", 2),
            ("#![cfg(test)]\nfn f() {}\n", 0),
        ] {
            assert_eq!(planted(&[("a/src/b.rs", text)])[0].lines(), lines, "{text}");
        }
    }

    #[test]
    fn fields_and_arms_end_at_their_comma() {
        assert_eq!(outside_tests("struct S { #[cfg(test)] w_a: u8, w_b: u8 }"), ["w_b"]);
        assert_eq!(outside_tests("struct S { #[cfg(test)] pub w_a: u8, pub w_b: u8 }"), ["w_b"]);
        assert_eq!(outside_tests("enum E { w_a, #[cfg(test)] w_b } fn w_c() {}"), ["w_a", "w_c"]);
    }

    #[test]
    fn only_a_cfg_that_implies_test_is_a_gate() {
        assert_eq!(outside_tests("#[cfg(all(test, feature = \"x\"))] fn w_a() {}"), [""; 0]);
        assert_eq!(outside_tests("#[cfg(any(test, feature = \"x\"))] fn w_a() {}"), ["w_a"]);
        assert_eq!(outside_tests("#[cfg(not(test))] fn w_a() {}"), ["w_a"]);
        assert_eq!(outside_tests("#[cfg(feature = \"test\")] fn w_a() {}"), ["w_a"]);
    }

    #[test]
    fn the_feature_std_is_a_separate_gate() {
        let files = planted(&[("a/src/b.rs", "#[cfg(feature = \"std\")] impl w_a {} impl w_b {}")]);
        assert_eq!(words(&files[0], |token| token.in_std), ["w_b"]);
        assert_eq!(words(&files[0], |token| token.in_test), ["w_a", "w_b"]);
    }

    #[test]
    fn an_inner_attribute_gates_its_block() {
        assert_eq!(outside_tests("mod m { #![cfg(test)] w_a } w_b"), ["w_b"]);
        assert!(planted(&[("a/src/b.rs", "#![cfg(test)] fn w_a() {}")])[0].is_test);
    }

    #[test]
    fn a_module_file_inherits_the_gate_of_its_declaration() {
        let files = planted(&[
            ("a/src/lib.rs", "mod b; mod c;"),
            ("a/src/b/mod.rs", "#[cfg(test)] mod tests; mod testsuite;"),
            ("a/src/b/tests.rs", "mod deep;"),
            ("a/src/b/tests/deep.rs", "fn w_a() {}"),
            ("a/src/b/testsuite.rs", "fn w_b() {}"),
            ("a/src/c.rs", "#[cfg(test)] mod tests; fn w_c() {}"),
            ("a/src/c/tests.rs", "fn w_d() {}"),
        ]);
        let tests: Vec<&str> =
            files.iter().filter(|file| file.is_test).map(|file| file.path.as_str()).collect();
        assert_eq!(tests, ["a/src/b/tests.rs", "a/src/b/tests/deep.rs", "a/src/c/tests.rs"]);
    }
}
