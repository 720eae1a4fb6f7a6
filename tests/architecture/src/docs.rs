//! Documented public items, and a reproducible random sample of them.

use crate::lexer::Kind;
use crate::sources::{SourceFile, Token, closing, reads};

/// The doc comment of a public item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Documented {
    /// The file and the line of the item: `path:line`.
    pub place: String,
    /// The line the item starts on, trimmed.
    pub signature: String,
    /// The comment, without its markers.
    pub comment: String,
}

/// Returns the documented public items outside of tests, in order.
///
/// Public are items with `pub`, the variants of public enums, the items of public traits, and, in
/// macro invocations, the fields of public structs.
#[must_use]
pub fn public_items(files: &[SourceFile]) -> Vec<Documented> {
    files.iter().filter(|file| !file.is_test).flat_map(items_of).collect()
}

fn items_of(file: &SourceFile) -> Vec<Documented> {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut items = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let line = line.trim_start();
        if let Some(text) = line.strip_prefix("///").filter(|text| !text.starts_with('/')) {
            comment.push(text.strip_prefix(' ').unwrap_or(text));
            continue;
        }
        if comment.is_empty() {
            continue;
        }
        let first = file.tokens.iter().position(|token| token.line > n);
        let item = first.map(|first| item_after_attributes(&file.tokens, first));
        if let Some(at) = item.filter(|at| is_public(&file.tokens, *at)) {
            let line = file.tokens[at].line;
            items.push(Documented {
                place: format!("{}:{line}", file.path),
                signature: lines[line - 1].trim().to_owned(),
                comment: comment.join("\n"),
            });
        }
        comment.clear();
    }
    items
}

fn item_after_attributes(tokens: &[Token], mut at: usize) -> usize {
    while reads(tokens, at, &["#", "["]) {
        at = closing(tokens, at + 1) + 1;
    }
    at
}

fn is_public(tokens: &[Token], at: usize) -> bool {
    if at >= tokens.len() || tokens[at].in_test {
        return false;
    }
    if tokens[at].is("pub") {
        return !reads(tokens, at + 1, &["("]);
    }
    let Some(open) = enclosing(tokens, at) else { return false };
    let head = head(tokens, open);
    let is_public = head.windows(2).any(|pair| pair[0].is("pub") && !pair[1].is("("));
    let in_macro = enclosing(tokens, open).is_some_and(|outer| {
        outer >= 2 && tokens[outer - 1].is("!") && tokens[outer - 2].kind == Kind::Ident
    });
    let inherits = |word: &str| head.iter().any(|token| token.is(word));
    is_public && (inherits("enum") || inherits("trait") || (inherits("struct") && in_macro))
}

/// Returns the brace that the token at `at` is directly inside of.
fn enclosing(tokens: &[Token], at: usize) -> Option<usize> {
    let mut depth = 0;
    for before in (0..at).rev() {
        if tokens[before].is("}") {
            depth += 1;
        } else if tokens[before].is("{") {
            if depth == 0 {
                return Some(before);
            }
            depth -= 1;
        }
    }
    None
}

/// Returns the tokens of the item whose body starts at `open`, up to the body.
fn head(tokens: &[Token], open: usize) -> &[Token] {
    let ends = |token: &Token| ["{", "}", ";", "]"].iter().any(|end| token.is(end));
    let start = tokens[..open].iter().rposition(ends).map_or(0, |before| before + 1);
    &tokens[start..open]
}

/// Draws `count` items without repetition, in random order; a seed always draws equally.
#[must_use]
pub fn sample(mut items: Vec<Documented>, count: usize, seed: u64) -> Vec<Documented> {
    let mut state = seed;
    let count = count.min(items.len());
    for drawn in 0..count {
        let rest = items.len() - drawn;
        let chosen = usize::try_from(split_mix(&mut state) % rest as u64).unwrap_or_default();
        items.swap(drawn, drawn + chosen);
    }
    items.truncate(count);
    items
}

/// Returns the next number of the `SplitMix64` generator.
const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{public_items, sample, split_mix};
    use crate::sources::planted;

    fn signatures(text: &str) -> Vec<String> {
        let items = public_items(&planted(&[("a/src/b.rs", text)]));
        items.into_iter().map(|item| item.signature).collect()
    }

    #[test]
    fn public_items_are_found() {
        for text in [
            "/// X.\npub fn f() {}",
            "/// X.\n#[derive(A)]\n#[b(c)]\npub struct S;",
            "struct S {\n    /// X.\n    pub a: u8,\n}",
            "pub enum E {\n    /// X.\n    A,\n}",
            "pub enum E {\n    A { b: u8 },\n    /// X.\n    B,\n}",
            "pub trait T {\n    /// X.\n    fn f();\n}",
            "object! {\n    pub struct S {\n        /// X.\n        required a: u8,\n    }\n}",
        ] {
            assert_eq!(signatures(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn private_items_and_tests_are_left_out() {
        for text in [
            "/// X.\nfn f() {}",
            "/// X.\npub(crate) fn f() {}",
            "pub struct S {\n    /// X.\n    a: u8,\n}",
            "enum E {\n    /// X.\n    A,\n}",
            "pub(crate) enum E {\n    /// X.\n    A,\n}",
            "#[cfg(test)] mod tests {\n    /// X.\n    pub fn f() {}\n}",
            "// X.\npub fn f() {}",
        ] {
            assert_eq!(signatures(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn an_item_has_its_place_and_its_comment() {
        let text = "\n/// X.\n///\n///     y\n#[a]\n    pub fn f(\n    ) {}";
        let items = public_items(&planted(&[("a/src/b.rs", text)]));
        assert_eq!(items[0].place, "a/src/b.rs:6");
        assert_eq!(items[0].signature, "pub fn f(");
        assert_eq!(items[0].comment, "X.\n\n    y");
    }

    #[test]
    fn a_seed_draws_a_fixed_sample_without_repetition() {
        let text: String = (0..50).map(|n| format!("/// X.\npub fn f{n}() {{}}\n")).collect();
        let items = public_items(&planted(&[("a/src/b.rs", &text)]));
        let drawn = sample(items.clone(), 20, 7);
        assert_eq!(drawn, sample(items.clone(), 20, 7));
        assert_ne!(drawn, sample(items.clone(), 20, 8));
        let mut places: Vec<String> = drawn.into_iter().map(|item| item.place).collect();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), 20);
        assert_eq!(sample(items, 100, 7).len(), 50);
    }

    #[test]
    fn the_generator_is_split_mix() {
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
    }
}
