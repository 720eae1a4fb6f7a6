//! The shape of a file: it starts with a sentence on what it does, and it is not too long.

use crate::Breach;
use crate::sources::SourceFile;

/// The number of lines from which a file must be split.
const LINES_MAX: usize = 700;

/// The number of lines from which a file is worth a look.
const LINES_AIM: usize = 400;

/// Finds the files that do not start with a module doc of at least one sentence.
#[must_use]
pub fn without_first_sentence(files: &[SourceFile]) -> Vec<Breach> {
    let speechless = files.iter().filter(|file| !opens_with_sentence(&file.text));
    speechless
        .map(|file| file.breach(1, "does not start with a `//!` sentence on what it does"))
        .collect()
}

/// Finds the files that must be split; tests may be long.
#[must_use]
pub fn too_long(files: &[SourceFile]) -> Vec<Breach> {
    let lines = longer_than(files, LINES_MAX);
    lines
        .map(|(file, lines)| file.breach(lines, format!("over {LINES_MAX} lines: split it")))
        .collect()
}

/// Lists the files above the target length and below the limit, with their lines.
#[must_use]
pub fn long(files: &[SourceFile]) -> Vec<String> {
    let lines = longer_than(files, LINES_AIM).filter(|(_, lines)| *lines <= LINES_MAX);
    lines.map(|(file, lines)| format!("{}: {lines} lines", file.path)).collect()
}

fn longer_than(files: &[SourceFile], max: usize) -> impl Iterator<Item = (&SourceFile, usize)> {
    let lines = files.iter().map(|file| (file, file.lines()));
    lines.filter(move |(_, lines)| *lines > max)
}

/// Returns whether the first paragraph of the module doc, from the first line on, has a sentence.
fn opens_with_sentence(text: &str) -> bool {
    let doc = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = doc.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    paragraph.ends_with('.') || paragraph.contains(". ")
}

#[cfg(test)]
mod tests {
    use super::{long, too_long, without_first_sentence};
    use crate::sources::planted;

    #[test]
    fn a_file_without_a_first_sentence_is_reported() {
        let speechless =
            |text| without_first_sentence(&planted(&[("mcp-proto/src/time.rs", text)])).len();
        assert_eq!(speechless("//! Knows time.\nuse core::fmt;"), 0);
        assert_eq!(
            speechless("//! Knows time and what\n//! it is for. Nothing else\n//!\n//! More"),
            0
        );
        for text in [
            "",
            "use core::fmt;",
            "// Knows time.",
            "\n//! Knows time.",
            "//!\n//! Knows time.",
            "//! Time",
            "//! Time\n//!\n//! A sentence.",
        ] {
            assert_eq!(speechless(text), 1, "{text:?}");
        }
    }

    #[test]
    fn a_long_file_is_reported_unless_it_is_a_test() {
        let (short, aim, max) = ("fn f() {}\n".repeat(400), "\n".repeat(401), "\n".repeat(701));
        let test = format!("#![cfg(test)]\n{}", "fn f() {}\n".repeat(800));
        let files = planted(&[("a.rs", &short), ("b.rs", &aim), ("c.rs", &max), ("d.rs", &test)]);
        assert_eq!(long(&files), ["b.rs: 401 lines"]);
        let breaches: Vec<String> = too_long(&files).iter().map(ToString::to_string).collect();
        assert_eq!(breaches, ["c.rs:701: over 700 lines: split it"]);
    }
}
