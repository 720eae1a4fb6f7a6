//! Where each requirement is enforced, and which test proves it: two columns of the list.

use crate::Breach;
use crate::requirements::{self, Id};
use crate::sources::{SourceFile, closing};
use std::collections::BTreeMap;

/// The places that cite one id, in order.
#[derive(Default)]
struct Places {
    sources: Vec<String>,
    tests: Vec<String>,
}

/// The cells of an entry: id, revisions, requirement, page, enforced in, tested by.
const CELLS: usize = 6;

/// How many places a cell names.
const NAMED: usize = 2;

/// The beginning of a cell written by hand: the reason why there is no place.
const REASON: &str = "– ";

/// Returns the list with its last two columns as the sources have them.
///
/// A cell without a citation keeps its reason, which starts with a dash.
#[must_use]
pub fn renewed(files: &[SourceFile], list: &str) -> String {
    let places = places(files);
    let mut text = String::new();
    for line in list.lines() {
        text += &renewed_line(&places, line).unwrap_or_else(|| line.to_owned());
        text.push('\n');
    }
    text
}

/// Reports each entry whose last two cells differ from the sources, and each requirement that has
/// neither a place nor a reason.
#[must_use]
pub fn outdated(files: &[SourceFile], path: &str, list: &str) -> Vec<Breach> {
    let places = places(files);
    let mut breaches = Vec::new();
    for (n, line) in list.lines().enumerate() {
        let Some(renewed) = renewed_line(&places, line) else { continue };
        let mut breach = |what: &str| {
            breaches.push(Breach { place: format!("{path}:{}", n + 1), what: what.to_owned() });
        };
        let cells = cells(&renewed);
        if line != renewed {
            breach("outdated: cargo run -p mcp-architecture --example requirements");
        }
        // A trap and a reading of a contradiction are cited where they matter, in code or a test.
        let one_is_enough = ["T-", "D-"].iter().any(|area| cells[0].starts_with(area));
        let empty = cells[CELLS - 2..].iter().filter(|cell| cell.is_empty()).count();
        if empty > usize::from(one_is_enough) {
            breach("cite the id in the code and in a test, or give the reason (– …)");
        }
    }
    breaches
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_start_matches("| ").trim_end_matches('|').split('|').map(str::trim).collect()
}

fn renewed_line(places: &BTreeMap<Id, Places>, line: &str) -> Option<String> {
    let id = requirements::entry(line)?;
    let mut cells: Vec<String> = cells(line).into_iter().map(str::to_owned).collect();
    cells.resize(CELLS, String::new());
    let none = Places::default();
    let places = places.get(&id).unwrap_or(&none);
    for (cell, places) in cells[CELLS - 2..].iter_mut().zip([&places.sources, &places.tests]) {
        if !places.is_empty() {
            *cell = named(places);
        } else if !cell.starts_with(REASON) {
            cell.clear();
        }
    }
    Some(format!("| {} |", cells.join(" | ")))
}

fn named(places: &[String]) -> String {
    let mut text = places[..places.len().min(NAMED)].join(", ");
    if places.len() > NAMED {
        text += &format!(", +{}", places.len() - NAMED);
    }
    text
}

fn places(files: &[SourceFile]) -> BTreeMap<Id, Places> {
    let mut all: BTreeMap<Id, Places> = BTreeMap::new();
    for file in files {
        let functions = functions(file);
        for (n, line) in file.text.lines().enumerate() {
            for id in requirements::citations(line).iter().flat_map(requirements::Citation::ids) {
                let places = all.entry(id).or_default();
                let (list, place) = if is_test(file, n + 1) {
                    (&mut places.tests, test_place(file, &functions, n + 1))
                } else {
                    (&mut places.sources, source_place(file))
                };
                if !list.contains(&place) {
                    list.push(place);
                }
            }
        }
    }
    all
}

fn is_test(file: &SourceFile, line: usize) -> bool {
    let next = file.tokens.iter().find(|token| token.line >= line);
    file.is_test
        || file.path.starts_with("tests/")
        || file.path.contains("/tests/")
        || next.is_some_and(|token| token.in_test)
}

fn source_place(file: &SourceFile) -> String {
    let path = file.path.strip_prefix("mcp-proto/src/").unwrap_or(&file.path);
    format!("`{path}`")
}

/// Returns the path of a test, as `cargo test` would filter it, after the name of its package.
fn test_place(file: &SourceFile, functions: &[Function<'_>], line: usize) -> String {
    let inside = functions.iter().rfind(|f| (f.first..=f.last).contains(&line));
    let function = inside.or_else(|| functions.iter().find(|f| f.leading == Some(line)));
    let stem = file.path.trim_end_matches(".rs");
    let skipped = ["tests", "src", "suite", "mod", "lib", "main"];
    let mut parts: Vec<&str> = stem.split('/').filter(|part| !skipped.contains(part)).collect();
    parts.extend(function.map(|function| function.name));
    format!("`{}`", parts.join("::"))
}

/// A function with the lines it covers.
struct Function<'a> {
    name: &'a str,
    first: usize,
    last: usize,
    /// The line of a comment right before it and its attributes.
    leading: Option<usize>,
}

fn functions(file: &SourceFile) -> Vec<Function<'_>> {
    let tokens = &file.tokens;
    let lines: Vec<&str> = file.text.lines().map(str::trim_start).collect();
    let mut functions = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.is("fn")) {
        let Some(name) = tokens.get(at + 1) else { continue };
        let Some(open) = (at..tokens.len()).find(|at| tokens[*at].is("{")) else { continue };
        let last = tokens[closing(tokens, open).min(tokens.len() - 1)].line;
        let before = lines[..token.line - 1].iter().rposition(|line| !line.starts_with("#["));
        let leading = before.filter(|n| lines[*n].starts_with("//")).map(|n| n + 1);
        functions.push(Function { name: &name.text, first: token.line, last, leading });
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::{outdated, renewed};
    use crate::sources::planted;

    /// The id is assembled here, so that this file cites none.
    fn id() -> String {
        ["CAN", "03"].join("-")
    }

    fn listed(cells: &str) -> String {
        format!("| {} | all | Rule. | [page](x) |{cells}\n", id())
    }

    fn sources() -> Vec<crate::sources::SourceFile> {
        let code = format!("fn a() {{\n    // {}: why\n    b();\n}}", id());
        let before = format!("// {}\n#[test]\nfn c() {{}}", id());
        let within = format!("fn d() {{\n    // {}\n}}\nfn e() {{}}", id());
        let files = [
            ("mcp-proto/src/connection/calls.rs", code.as_str()),
            ("mcp-proto/tests/suite/cancel.rs", before.as_str()),
            ("tests/harness/src/wire.rs", within.as_str()),
        ];
        planted(&files)
    }

    #[test]
    fn citations_fill_the_columns() {
        let places = " `connection/calls.rs` | `mcp-proto::cancel::c`, `harness::wire::d` |";
        for before in ["", " – old | – reason |", " x | y |"] {
            assert_eq!(renewed(&sources(), &listed(before)), listed(places));
        }
        assert_eq!(outdated(&sources(), "L.md", &listed(places)), []);
        assert_eq!(outdated(&sources(), "L.md", &listed("")).len(), 1);
    }

    #[test]
    fn a_requirement_without_a_citation_needs_a_reason() {
        let reason = listed(" – the application's | – the application's |");
        assert_eq!(renewed(&[], &reason), reason);
        assert_eq!(outdated(&[], "L.md", &reason), []);
        let half = listed(" – the application's |  |");
        let found = outdated(&[], "L.md", &half);
        assert!(found[0].what.starts_with("cite the id"), "{found:?}");
    }
}
