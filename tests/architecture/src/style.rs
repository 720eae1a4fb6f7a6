//! House style: no worn phrases, no requirement ids in rustdoc, no line over 100 columns, and
//! module heads that say what a module does.

use crate::Breach;
use crate::requirements::citations;
use crate::sources::SourceFile;

/// The longest line, in characters.
const COLUMNS_MAX: usize = 100;

/// Phrases that are not used, word by word. They are assembled here so that the rule does not find
/// them in its own file.
const PHRASES: &[&[&str]] = &[
    &["what", "travels", "along"],
    &[concat!("who", "ever")],
    &[concat!("some", "body")],
    &[concat!("no", "body")],
    &[concat!("an", "ew")],
    &["once", "more"],
    &["comes", "about"],
    &["is", "told"],
    &["hears", "of"],
    &[concat!("sta", "nds")],
    &["the", "same"],
    &["is", "at", "it"],
    &["is", "there"],
    &["knows", "nothing", "of"],
    &["at", "once"],
    &["goes", "on"],
    &["for", "ever"],
    &[concat!("mean", "while")],
];

/// How a sentence starts that only says what something does not do.
const DENIALS: &[&str] =
    &["Does not ", "Has no ", "Knows no", "Neither ", "Never ", "No ", "None ", "Not ", "Nothing "];

/// Finds every breach of the house style in Rust sources.
#[must_use]
pub fn in_sources(files: &[SourceFile]) -> Vec<Breach> {
    let rules = [phrases_in, references_only, ids_in_docs, wide_lines, negative_heads];
    files.iter().flat_map(|file| rules.iter().flat_map(|rule| rule(file))).collect()
}

/// Finds every breach of the house style in a Markdown file.
#[must_use]
pub fn in_markdown(path: &str, text: &str) -> Vec<Breach> {
    let breach = |line: usize, what| Breach { place: format!("{path}:{line}"), what };
    let phrases = phrases(text).into_iter().map(|(line, phrase)| breach(line, not_used(&phrase)));
    let mut breaches: Vec<Breach> = phrases.collect();
    for (n, line) in text.lines().enumerate() {
        if is_wide(line) && !line.trim_start().starts_with('|') && !is_wide_by_url(line) {
            breaches.push(breach(n + 1, too_wide(line)));
        }
    }
    breaches
}

fn not_used(phrase: &str) -> String {
    format!("`{phrase}`: find a plainer word")
}

fn too_wide(line: &str) -> String {
    format!("{} columns (at most {COLUMNS_MAX})", line.chars().count())
}

fn phrases_in(file: &SourceFile) -> Vec<Breach> {
    let phrases = phrases(&file.text).into_iter();
    phrases.map(|(line, phrase)| file.breach(line, not_used(&phrase))).collect()
}

/// Returns the phrases found in a text, each with the line of its first word.
///
/// Words are separated by white space, by underscores, or by a line break and the marks around it:
/// comment markers, and the backslash of a string that continues on the next line.
fn phrases(text: &str) -> Vec<(usize, String)> {
    let words = words(text);
    let mut found = Vec::new();
    for at in 0..words.len() {
        for phrase in PHRASES {
            let here = words.get(at..at + phrase.len()).unwrap_or_default();
            let equal = here.iter().map(|word| word.text.as_str()).eq(phrase.iter().copied());
            if equal && here.iter().skip(1).all(|word| word.follows) {
                found.push((words[at].line, phrase.join(" ")));
            }
        }
    }
    found
}

struct Word {
    /// In lower case.
    text: String,
    line: usize,
    /// Whether only separators are between this word and the one before.
    follows: bool,
}

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut line = 1;
    let mut gap = String::new();
    let mut inside = false;
    for c in text.chars() {
        if c.is_alphanumeric() {
            if !inside {
                words.push(Word { text: String::new(), line, follows: separates(&gap) });
                gap.clear();
            }
            if let Some(word) = words.last_mut() {
                word.text.extend(c.to_lowercase());
            }
        } else {
            gap.push(c);
            line += usize::from(c == '\n');
        }
        inside = c.is_alphanumeric();
    }
    words
}

fn separates(gap: &str) -> bool {
    let marks = if gap.contains('\n') { "/!*>\\" } else { "" };
    gap.chars().all(|c| c.is_whitespace() || c == '_' || marks.contains(c))
}

/// The doc comments of a file: the number of their first line, and their lines without markers.
fn docs(file: &SourceFile) -> Vec<(usize, Vec<&str>)> {
    let mut docs: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut marker_before = None;
    for (n, line) in file.text.lines().enumerate() {
        let line = line.trim_start();
        let marker = ["///", "//!"].into_iter().find(|marker| line.starts_with(marker));
        let marker = marker.filter(|_| !line.starts_with("////"));
        if let Some(marker) = marker {
            let text = line[marker.len()..].trim();
            match docs.last_mut().filter(|_| marker_before == Some(marker)) {
                Some((_, lines)) => lines.push(text),
                None => docs.push((n + 1, vec![text])),
            }
        }
        marker_before = marker;
    }
    docs
}

/// Finds doc comments that consist of a reference to another item.
fn references_only(file: &SourceFile) -> Vec<Breach> {
    let is_reference = |lines: &[&str]| {
        let rest = lines.join(" ");
        let name = rest.strip_prefix("As ").map(|name| name.trim_end_matches('.'));
        name.is_some_and(|name| {
            let is_word = !name.contains(char::is_whitespace);
            is_word && name.trim_matches(['[', ']', '`']).len() < name.len()
        })
    };
    let docs = docs(file).into_iter().filter(|(_, lines)| is_reference(lines));
    docs.map(|(line, _)| file.breach(line, "refers to another item and says nothing else"))
        .collect()
}

fn ids_in_docs(file: &SourceFile) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (first, lines) in docs(file) {
        for (n, line) in lines.iter().enumerate().filter(|(_, line)| !citations(line).is_empty()) {
            let what = format!("requirement id in a doc comment: `{line}`");
            breaches.push(file.breach(first + n, what));
        }
    }
    breaches
}

/// Finds lines that are too wide and could be broken.
///
/// Raw strings are data: lines inside of one are left alone, and so are lines that only the raw
/// strings on them make too wide.
fn wide_lines(file: &SourceFile) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (n, line) in file.text.lines().enumerate().filter(|(_, line)| is_wide(line)) {
        let raw = file.tokens.iter().filter(|token| token.is_raw);
        let mut raw = raw.filter(|token| (token.line..=token.last_line).contains(&(n + 1)));
        let is_inside = raw.clone().any(|token| token.line < token.last_line);
        let data: usize = raw.by_ref().map(|token| token.text.chars().count()).sum();
        let is_data = is_inside || (data > 0 && line.chars().count() <= COLUMNS_MAX + data);
        if !is_data && !is_wide_by_url(line) {
            breaches.push(file.breach(n + 1, too_wide(line)));
        }
    }
    breaches
}

fn is_wide(line: &str) -> bool {
    line.chars().count() > COLUMNS_MAX
}

/// Whether the line fits without the URL in it.
fn is_wide_by_url(line: &str) -> bool {
    let mut urls = line.split_whitespace().filter(|word| word.contains("://"));
    urls.any(|url| line.chars().count() - url.chars().count() <= COLUMNS_MAX)
}

/// Finds module heads in which every sentence is a denial.
fn negative_heads(file: &SourceFile) -> Vec<Breach> {
    let head = docs(file).into_iter().next().filter(|_| file.text.starts_with("//!"));
    let head = head.map(|(_, lines)| lines.join(" ")).unwrap_or_default();
    let mut sentences =
        head.split(". ").map(str::trim).filter(|sentence| !sentence.is_empty()).peekable();
    let is_denial = |sentence: &str| DENIALS.iter().any(|denial| sentence.starts_with(denial));
    if sentences.peek().is_some() && sentences.all(is_denial) {
        return vec![file.breach(1, "the module head only says what the module does not do")];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::{PHRASES, in_markdown, in_sources};
    use crate::sources::planted;

    fn found(text: &str) -> Vec<String> {
        let breaches = in_sources(&planted(&[("a.rs", text)]));
        breaches.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_phrase_is_reported_however_it_is_written() {
        for phrase in PHRASES {
            let (words, report) = (phrase.join(" "), "find a plainer word");
            for text in [
                format!("// X {words}."),
                format!("/// X {}, y.", words.to_uppercase()),
                format!("//! X {}", phrase.join("\n//! ")),
                format!("// X\n  // {}", phrase.join("\n  // ")),
                format!("/* X {} */", phrase.join("\n * ")),
                format!("const X: &str = \"{}\";", phrase.join(" \\\n    ")),
                format!("fn x_{}_y() {{}}", phrase.join("_")),
            ] {
                let found = found(&text);
                assert_eq!(found.len(), 1, "{text}: {found:?}");
                assert!(found[0].ends_with(report), "{text}: {found:?}");
            }
            assert_eq!(in_markdown("A.md", &format!("a\n> {}", phrase.join("\n> "))).len(), 1);
        }
        let text = format!("fn f() {{}}\n\n// A\n// b {}\n// c", PHRASES[5].join("\n// "));
        let phrase = PHRASES[5].join(" ");
        assert_eq!(found(&text), [format!("a.rs:4: `{phrase}`: find a plainer word")]);
    }

    #[test]
    fn parts_of_words_and_words_apart_are_free() {
        for text in [
            "// understands withstands newcomers lanew",
            "// the, same; is. There",
            "fn f(is: u8, there: u8) -> the { same }",
            "// is/there",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_doc_comment_that_only_refers_is_reported() {
        for text in ["/// As `f`.", "    /// As [`f`].", "/// As `a::f`"] {
            assert_eq!(found(&format!("{text}\nfn g() {{}}")).len(), 1, "{text}");
        }
        for text in [
            "/// As `f`, for strings.",
            "// As `f`.",
            "/// Returns x.\n/// As `f`.",
            "/// As many as fit.",
        ] {
            assert_eq!(found(&format!("{text}\nfn g() {{}}")), [""; 0], "{text}");
        }
    }

    #[test]
    fn ids_belong_in_code_comments() {
        let id = ["CAN", "03"].join("-");
        for text in ["/// x ({id})", "//! x\n//! {id}: y", "/// {id}…07"] {
            assert_eq!(found(&text.replace("{id}", &id)).len(), 1, "{text}");
        }
        for text in ["// {id}: x", "//// {id}", "f(\"{id}\");", "/// SHA-256 of x"] {
            assert_eq!(found(&text.replace("{id}", &id)), [""; 0], "{text}");
        }
    }

    #[test]
    fn wide_lines_are_reported_unless_they_cannot_be_broken() {
        let word = "é".repeat(90);
        for text in ["// {} 45678 0", "f(\"{}\", 8, 0);", "f(r\"1\", \"{}234\")"] {
            assert_eq!(found(&text.replace("{}", &word)).len(), 1, "{text}");
        }
        for text in [
            "// {} 45678",
            "// x https://example.com/{} y",
            "let text = r\"\n{} 012345678\n\";",
            "let text = r#\"{} 0123456789\"#;",
            "        f(r\"{}123\");",
        ] {
            assert_eq!(found(&text.replace("{}", &word)), [""; 0], "{text}");
        }
        let wide = "a ".repeat(51);
        assert_eq!(in_markdown("A.md", &wide).len(), 1);
        assert_eq!(in_markdown("A.md", &format!("| {wide} |")).len(), 0);
        assert_eq!(in_markdown("A.md", &format!("[x](https://e.com/{word})")).len(), 0);
    }

    #[test]
    fn a_head_of_denials_is_reported() {
        for text in ["//! Knows no socket.", "//! Does not read.\n//!\n//! Never writes.\n"] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
        for text in ["//! Reads. Does not write.", "//! Never-ending streams, no.", "fn f() {}"] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
