//! Strings against `serde_json`.

use alloc::string::String;

use proptest::prelude::*;

use super::*;
use crate::json::testing::{self, Style};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_spelling_of_a_string_says_what_serde_reads(text in testing::string(), mut style in Style::any()) {
        let mut spelled = String::new();
        style.string(&mut spelled, &text);
        prop_assert_eq!(serde_json::from_str::<String>(&spelled).unwrap(), text.clone());
        let said = unescape(spelled.as_bytes()).unwrap();
        prop_assert_eq!(&*said, &*text);
        prop_assert_eq!(matches!(said, Cow::Borrowed(_)), !spelled.contains('\\'));
    }

    #[test]
    fn a_key_is_its_name_through_any_spelling(
        key in testing::string(), other in testing::string(), mut style in Style::any(),
    ) {
        let mut spelled = String::new();
        style.string(&mut spelled, &key);
        let inner = &spelled.as_bytes()[1..spelled.len() - 1];
        prop_assert!(key_is(inner, &key));
        prop_assert_eq!(key_is(inner, &other), key == other);
    }

    #[test]
    fn unchecked_text_never_panics(inner in "(\\\\u[dD][89abcdefAB][0-9a-f]{2}|\\\\u?|\"|[a-f0-9]|é){0,12}") {
        let _any = unescape(alloc::format!("\"{inner}\"").as_bytes());
        let _any = key_is(inner.as_bytes(), "a");
    }
}

#[test]
fn half_a_surrogate_pair_that_was_never_checked_does_no_harm() {
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
fn what_is_no_string_has_no_text() {
    for value in ["", "\"", "1", "null", "{}", "[\"a\"]"] {
        assert_eq!(unescape(value.as_bytes()), None, "{value}");
    }
    assert_eq!(unescape(b"\"\xFF\""), None);
}
