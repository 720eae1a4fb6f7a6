//! How much code the workspace has: the table that shows whether a change made it smaller.

use crate::sources::SourceFile;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The folders whose code is shipped, each with what the table calls it.
const SHIPPED: &[(&str, &str)] = &[
    ("mcp-proto/src/", "mcp-proto"),
    ("adapters/shared/src/", "mcp-adapter"),
    ("adapters/macros/src/", "mcp-macros"),
    ("adapters/blocking/src/", "mcp-blocking"),
    ("adapters/tokio/src/", "mcp-tokio"),
    ("adapters/smol/src/", "mcp-smol"),
    ("adapters/wasm/src/", "mcp-wasm"),
    ("adapters/c/src/", "mcp-c"),
];

/// What some files amount to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Lines {
    /// Files with code that is not for tests.
    pub files: usize,
    /// Lines of code that is not for tests: neither blank nor comments.
    pub code: usize,
    /// Items, fields and methods that are `pub` without a restriction, outside of tests.
    pub public: usize,
    /// Lines of code for tests.
    pub test: usize,
    /// All lines.
    pub all: usize,
}

impl Lines {
    fn of(file: &SourceFile) -> Self {
        let (mut code, mut test) = (BTreeSet::new(), BTreeSet::new());
        let mut public = 0;
        for (at, token) in file.tokens.iter().enumerate() {
            if token.in_test || file.is_test {
                test.extend(token.line..=token.last_line);
                continue;
            }
            code.extend(token.line..=token.last_line);
            let restricted = file.tokens.get(at + 1).is_some_and(|next| next.is("("));
            public += usize::from(token.is("pub") && !restricted);
        }
        Self {
            files: usize::from(!code.is_empty()),
            code: code.len(),
            public,
            test: test.len(),
            all: file.text.lines().count(),
        }
    }

    /// Counts code that is not shipped as code for tests.
    const fn unshipped(self) -> Self {
        Self { files: 0, code: 0, public: 0, test: self.test + self.code, all: self.all }
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            files: self.files + other.files,
            code: self.code + other.code,
            public: self.public + other.public,
            test: self.test + other.test,
            all: self.all + other.all,
        }
    }
}

/// Returns what each shipped package amounts to, and last, under `rest`, all other code.
#[must_use]
pub fn count(files: &[SourceFile]) -> Vec<(&'static str, Lines)> {
    let mut rows: Vec<(&str, Lines)> =
        SHIPPED.iter().map(|(_, name)| (*name, Lines::default())).collect();
    let mut rest = Lines::default();
    for file in files {
        let lines = Lines::of(file);
        match SHIPPED.iter().position(|(folder, _)| file.path.starts_with(folder)) {
            Some(row) => rows[row].1 = rows[row].1.plus(lines),
            None => rest = rest.plus(lines.unshipped()),
        }
    }
    rows.push(("rest", rest));
    rows
}

/// Formats the rows of [`count`] with their sum.
#[must_use]
pub fn table(rows: &[(&str, Lines)]) -> String {
    let all = rows.iter().fold(Lines::default(), |all, (_, lines)| all.plus(*lines));
    let mut table = format!(
        "{:<13}{:>7}{:>8}{:>8}{:>8}{:>9}\n",
        "package", "files", "code", "public", "tests", "lines"
    );
    for (name, Lines { files, code, public, test, all }) in rows.iter().chain(&[("all", all)]) {
        let _ = writeln!(table, "{name:<13}{files:>7}{code:>8}{public:>8}{test:>8}{all:>9}");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{Lines, count, table};
    use crate::sources::planted;

    #[test]
    fn code_tests_and_public_items_are_told_apart() {
        let files = planted(&[
            (
                "mcp-proto/src/lib.rs",
                "//! Doc.\n\npub fn f() {\n    g(\"a\n    b\"); // why\n}\npub(crate) fn g() \
                 {}\n#[cfg(test)]\nmod tests {\n    pub fn h() {}\n}\n",
            ),
            ("adapters/cookbook/src/lib.rs", "pub fn f() {}\n"),
        ]);
        let rows = count(&files);
        let core = Lines { files: 1, code: 5, public: 1, test: 4, all: 11 };
        assert_eq!(rows[0], ("mcp-proto", core));
        assert_eq!(rows.last(), Some(&("rest", Lines { test: 1, all: 1, ..Lines::default() })));
        assert!(
            table(&rows)
                .ends_with(&format!("{:<13}{:>7}{:>8}{:>8}{:>8}{:>9}\n", "all", 1, 5, 1, 5, 12))
        );
    }
}
