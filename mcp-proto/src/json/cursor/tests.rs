//! The validating cursor compared with `serde_json`, and its limits.

mod skip;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use serde_json::value::RawValue;

use super::*;
use crate::json::testing;

fn scan(text: &str, depth_max: u8) -> Checked<&str> {
    let mut cursor = Cursor::new(text, depth_max);
    let value = cursor.value()?;
    cursor.finish()?;
    Ok(core::str::from_utf8(value).unwrap())
}

fn accepts(text: &str) -> bool {
    scan(text, DEPTH_CEILING).is_ok()
}

/// Returns whether `serde_json` parses `text`, or `None` if it fails at one of its own limits.
fn serde_accepts(text: &str) -> Option<bool> {
    match serde_json::from_str::<Value>(text) {
        Ok(_) => Some(true),
        Err(error) => {
            let why = error.to_string();
            let is_limit =
                why.starts_with("number out of range") || why.starts_with("recursion limit");
            // An unpaired surrogate cannot be held by a `String`.
            let is_surrogate =
                why.contains("surrogate") || why.starts_with("unexpected end of hex escape");
            (!is_limit && !is_surrogate).then_some(false)
        }
    }
}

fn assert_agrees(text: &str) {
    if let Some(accepted) = serde_accepts(text) {
        assert_eq!(accepts(text), accepted, "{text:?}");
    }
}

/// Calls `check` with every text of up to `length` characters of `alphabet`.
fn for_each_text(alphabet: &[char], length: usize, check: impl Fn(&str)) {
    let mut texts = vec![String::new()];
    for _ in 0..length {
        texts = texts
            .iter()
            .flat_map(|text| alphabet.iter().map(move |next| format!("{text}{next}")))
            .collect();
        texts.iter().for_each(|text| check(text));
    }
}

/// Fragments of JSON, valid and invalid, to be concatenated at random.
const FRAGMENTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "d83d",
    "\\ud83d",
    "\\udE00",
    "\\u00e9",
    "00",
    "\\n",
    "\\/",
    "0",
    "1",
    "-",
    "+",
    ".",
    "e",
    "E",
    "12",
    "true",
    "tru",
    "false",
    "null",
    " ",
    "\n",
    "\r",
    "\t",
    "\u{c}",
    "\u{a0}",
    "\u{7f}",
    "\u{1f}",
    "\0",
    "é",
    "\u{1f600}",
    "\"a\"",
    "\"a\":",
    "{}",
    "[]",
    "\u{feff}",
    "//",
    "'",
    "NaN",
];

#[derive(Clone, Debug)]
enum Edit {
    Cut(Index, Index),
    Drop(Index),
    Insert(Index, &'static str),
    Repeat(Index, Index),
}

impl Edit {
    fn any() -> impl Strategy<Value = Self> {
        let at = any::<Index>;
        prop_oneof![
            (at(), at()).prop_map(|(from, to)| Self::Cut(from, to)),
            at().prop_map(Self::Drop),
            (at(), select(FRAGMENTS)).prop_map(|(at, fragment)| Self::Insert(at, fragment)),
            (at(), at()).prop_map(|(from, to)| Self::Repeat(from, to)),
        ]
    }

    fn apply(&self, text: &mut Vec<char>) {
        let place = |index: &Index| index.index(text.len() + 1);
        match self {
            Self::Cut(from, to) => {
                let (from, to) = (place(from), place(to));
                text.drain(from.min(to)..from.max(to));
            }
            Self::Drop(at) if !text.is_empty() => {
                text.remove(at.index(text.len()));
            }
            Self::Drop(_) => {}
            Self::Insert(at, fragment) => {
                let at = place(at);
                text.splice(at..at, fragment.chars());
            }
            Self::Repeat(from, to) => {
                let (from, to) = (place(from), place(to));
                let repeated = text[from.min(to)..from.max(to)].to_vec();
                text.splice(from.min(to)..from.min(to), repeated);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_spelling_of_every_value_is_accepted(text in testing::text()) {
        prop_assert!(accepts(&text));
        assert_agrees(&text);
    }

    #[test]
    fn damaged_text_is_accepted_exactly_if_serde_accepts_it(
        text in testing::text(),
        edits in proptest::collection::vec(Edit::any(), 1..4),
    ) {
        let mut characters: Vec<char> = text.chars().collect();
        edits.iter().for_each(|edit| edit.apply(&mut characters));
        assert_agrees(&characters.into_iter().collect::<String>());
    }

    #[test]
    fn random_fragments_are_accepted_exactly_if_serde_accepts_them(
        fragments in proptest::collection::vec(select(FRAGMENTS), 0..12),
    ) {
        assert_agrees(&fragments.concat());
        assert_agrees(&format!("\"{}\"", fragments.concat()));
        assert_agrees(&format!("[{}]", fragments.join(",")));
    }

    #[test]
    fn random_bytes_are_accepted_exactly_if_serde_accepts_them(
        bytes in proptest::collection::vec(any::<u8>(), 0..32),
    ) {
        assert_agrees(&String::from_utf8_lossy(&bytes));
        // Callers pass only UTF-8, but invalid bytes must not cause a panic either.
        let mut cursor = Cursor::over(&bytes, DEPTH_CEILING);
        let _any = cursor.value();
        let _any = cursor.finish();
    }

    #[test]
    fn numbers_out_of_range_are_accepted_t_12(
        number in "-?(0|[1-9][0-9]{0,400})(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,12})?",
    ) {
        prop_assert!(serde_json::from_str::<&RawValue>(&number).is_ok());
        prop_assert_eq!(scan(&number, 0), Ok(&*number));
    }

    #[test]
    fn surrounding_white_space_is_not_part_of_a_value(
        before in "[ \t\r\n]{0,9}", text in testing::text(), after in "[ \t\r\n]{0,9}",
    ) {
        let whole = format!("{before}{text}{after}");
        let mut cursor = Cursor::new(&whole, DEPTH_CEILING);
        prop_assert_eq!(cursor.value(), Ok(text.as_bytes()));
        prop_assert_eq!(cursor.finish(), Ok(()));
        // A valid string has no raw line breaks, so all of them are between tokens.
        prop_assert_eq!(cursor.needs_rewrite, whole.contains(['\n', '\r']));
    }

    #[test]
    fn object_accepts_what_value_accepts(text in testing::object_text(), depth_max in 0_u8..8) {
        let mut walker = Cursor::new(&text, depth_max);
        let walked = walker.object(|cursor, key| {
            assert!(key.len() >= 2 && key.starts_with(b"\"") && key.ends_with(b"\""));
            cursor.value().map(drop)
        });
        let scanned = Cursor::new(&text, depth_max).value();
        prop_assert_eq!(walked.is_ok(), scanned.is_ok());
        prop_assert!(walked.is_err() || walked == scanned);
        prop_assert!(walked.is_err() || walker.depth_max == depth_max);
    }

    #[test]
    fn error_positions_are_within_the_text(text in testing::text(), cut in any::<Index>()) {
        let mut ends = (0..=cut.index(text.len() + 1)).rev();
        let end = ends.find(|at| text.is_char_boundary(*at)).unwrap();
        if let Err(error) = scan(&text[..end], DEPTH_CEILING) {
            prop_assert!(error.at <= end);
            prop_assert!(error.kind != SyntaxErrorKind::End || error.at == end);
            prop_assert!(error.kind != SyntaxErrorKind::Unexpected);
        }
    }
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

#[test]
fn every_short_text_is_accepted_exactly_if_serde_accepts_it() {
    for_each_text(
        &['{', '}', '[', ']', ',', ':', '"', '\\', '1', '-', ' ', 'n', '\n'],
        4,
        assert_agrees,
    );
    for_each_text(&['{', '}', '[', ']', ','], 7, assert_agrees);
    for_each_text(&['0', '7', '-', '+', '.', 'e', 'E'], 5, assert_agrees);
    for_each_text(&['a', ':', ',', '1'], 5, |inner| assert_agrees(&format!("{{\"a\":{inner}}}")));
}

#[test]
fn brackets_must_match() {
    for text in [
        r#"{"a":1]"#,
        "[1}",
        r#"[{"a":1]}"#,
        r#"{"a":[1}]"#,
        r#"[[],{"a":{}]]"#,
        r#"{"a":{},"b":[]]"#,
    ] {
        assert!(!accepts(text), "{text}");
        assert_agrees(text);
    }
}

#[test]
fn control_bytes_in_strings_are_rejected_t_11() {
    for byte in 0..=0x7F_u8 {
        let plain = format!("\"{}\"", char::from(byte));
        assert_eq!(accepts(&plain), !is_special(byte), "{plain:?}");
        let escaped = format!("\"\\{}\"", char::from(byte));
        assert_eq!(accepts(&escaped), b"\"\\/bfnrt".contains(&byte), "{escaped:?}");
        assert!(accepts(&format!("\"\\u{byte:04x}\"")));
    }
}

#[test]
fn unpaired_surrogate_escapes_are_valid_t_11() {
    let edges =
        ["0000", "0022", "d7ff", "d800", "D9ab", "dbff", "dc00", "DDef", "dfff", "e000", "ffff"];
    for first in edges {
        assert_agrees(&format!("\"\\u{first}\""));
        for between in ["", "a", "\\n", "\\\\"] {
            for second in edges {
                assert_agrees(&format!("\"\\u{first}{between}\\u{second}\""));
                assert_agrees(&format!("{{\"\\u{first}{between}\\u{second}\":0}}"));
            }
        }
    }
    for half in
        [r#""\ud800""#, r#""\ud800\u0041""#, r#""\ud800\ud800""#, r#""\udc00""#, r#""\ud800x""#]
    {
        let mut cursor = Cursor::new(half, 0);
        assert_eq!(cursor.value(), Ok(half.as_bytes()));
        assert!(cursor.needs_rewrite, "{half}");
    }
}

#[test]
fn a_unicode_escape_has_four_hexadecimal_digits_t_11() {
    for place in 0..4 {
        for byte in 0..=0x7F_u8 {
            for (lead, digits) in [("", "00e9"), ("", "dbff"), (r"\ud83d", "de00")] {
                let mut digits = digits.as_bytes().to_vec();
                digits[place] = byte;
                let digits = String::from_utf8(digits).unwrap();
                let before = format!("\"{}{lead}\\u", "a".repeat(40));
                let text = format!("{before}{digits}\"");
                let error = (!byte.is_ascii_hexdigit()).then_some(before.len() + place);
                assert_eq!(scan(&text, 0).err().map(|error| error.at), error, "{text:?}");
            }
        }
    }
}

#[test]
fn unicode_separators_are_not_white_space_frm_13() {
    for text in ["\u{feff}1", "\u{a0}1", "1\u{2028}", "[1\u{2029}]", "\u{85}1", "1\u{c}"] {
        assert!(!accepts(text), "{text:?}");
    }
    assert!(accepts("\"\u{2028}\u{2029}\u{85}\u{feff}\""));
}

fn nested(levels: usize, open: &str, close: &str) -> String {
    format!("{}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn the_depth_limit_is_the_number_of_levels_t_12() {
    for limit in [0, 1, 2, 64, 127, 128, 255] {
        let levels = usize::from(limit.min(DEPTH_CEILING));
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let (open, close, per) = (open, close, open.matches(['[', '{']).count());
            for inner in ["1", "\"\"", "null"] {
                let text = |levels: usize| {
                    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
                };
                let fits = levels / per;
                assert!(scan(&text(fits), limit).is_ok(), "{limit} {open}");
                let error = scan(&text(fits + 1), limit).unwrap_err();
                assert_eq!(error.kind, SyntaxErrorKind::Depth, "{limit} {open}");
            }
        }
        let empty = nested(levels + 1, "[", "]");
        assert_eq!(
            scan(&empty, limit).unwrap_err().at,
            levels,
            "the error is at the first bracket beyond the limit"
        );
    }
}

#[test]
fn breadth_is_not_depth() {
    let wide = format!("[{}[]]", "[[]],{\"a\":{}},".repeat(10_000));
    assert!(scan(&wide, 3).is_ok());
    assert!(scan(&wide, 2).is_err());
}

#[test]
fn a_million_brackets_are_rejected_at_the_limit_t_12() {
    for (open, close) in [("[", "]"), ("{\"\":", "}"), ("[{\"\":", "}]")] {
        let text = nested(1_000_000, open, close);
        let error = scan(&text, u8::MAX).unwrap_err();
        assert_eq!(error.kind, SyntaxErrorKind::Depth);
        assert!(error.at <= 128 * 5, "the error is not at the limit: {}", error.at);
    }
}

#[test]
fn errors_display_reason_and_position() {
    let error = |text| scan(text, 2).unwrap_err().to_string();
    assert_eq!(error("[1,]"), "unexpected byte at byte 3");
    assert_eq!(error("[1"), "unexpected end at byte 2");
    assert_eq!(error("[[[]]]"), "nested too deeply at byte 2");
    assert_eq!(error(r#"["a\x"]"#), "unexpected byte at byte 4");
    assert_eq!(error(r#"["a\"#), "unexpected end at byte 4");
    assert_eq!(error(r#"["\ud800\u"]"#), "unexpected byte at byte 10");
}

#[test]
fn short_key_end_requires_a_plain_key_and_a_colon() {
    for (text, end) in [
        (r#""":1                   "#, Some(3)),
        (r#""abc":1                "#, Some(6)),
        (r#""fifteen letters":1    "#, Some(18)),
        (r#""abc" :1               "#, None),
        (r#""a\u0062":1            "#, None),
        (r#"{"abc":1               "#, None),
        (r#"7abc":1                "#, None),
    ] {
        assert_eq!(short_key_end(text.as_bytes(), 0), end, "{text}");
    }
}
