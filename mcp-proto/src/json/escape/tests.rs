//! Unescaping compared with `serde_json`.

use alloc::string::String;

use proptest::prelude::*;

use super::*;
use crate::json::testing::{self, Style};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn unescape_agrees_with_serde(text in testing::string(), mut style in Style::any()) {
        let mut spelled = String::new();
        style.string(&mut spelled, &text);
        prop_assert_eq!(serde_json::from_str::<String>(&spelled).unwrap(), text.clone());
        let unescaped = unescape(spelled.as_bytes()).unwrap();
        prop_assert_eq!(&*unescaped, &*text);
        prop_assert_eq!(matches!(unescaped, Cow::Borrowed(_)), !spelled.contains('\\'));
    }

    #[test]
    fn key_is_accepts_any_spelling(
        key in testing::string(), other in testing::string(), mut style in Style::any(),
    ) {
        let mut spelled = String::new();
        style.string(&mut spelled, &key);
        let inner = &spelled.as_bytes()[1..spelled.len() - 1];
        prop_assert!(key_is(inner, &key));
        prop_assert_eq!(key_is(inner, &other), key == other);
    }

    #[test]
    fn invalid_text_never_panics(
        inner in "(\\\\u[dD][89abcdefAB][0-9a-f]{2}|\\\\u?|\"|[a-f0-9]|é){0,12}",
    ) {
        let _any = unescape(alloc::format!("\"{inner}\"").as_bytes());
        let _any = key_is(inner.as_bytes(), "a");
    }
}

#[test]
fn an_unpaired_surrogate_is_a_replacement_character() {
    for (text, unescaped) in [
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""\ude00""#, "\u{fffd}"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\ud83d\u0041\ud83d\n\ud83dx""#, "\u{fffd}A\u{fffd}\n\u{fffd}x"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
    ] {
        assert_eq!(unescape(text.as_bytes()).unwrap(), unescaped);
        assert!(key_is(&text.as_bytes()[1..text.len() - 1], unescaped));
    }
}

#[test]
fn an_unpaired_surrogate_does_not_panic() {
    for text in [
        r#""\ud800""#,
        r#""\ud800\u0000""#,
        r#""\udfff\udfff""#,
        r#""\udbff"#,
        "\"\\ud800\\u",
        r#""\"#,
    ] {
        let _any = unescape(text.as_bytes());
    }
}

#[test]
fn only_strings_have_text() {
    for value in ["", "\"", "1", "null", "{}", "[\"a\"]"] {
        assert_eq!(unescape(value.as_bytes()), None, "{value}");
    }
    assert_eq!(unescape(b"\"\xFF\""), None);
}
