//! Skipping compared with validating, and skipping of invalid bytes.

use proptest::prelude::*;

use super::super::*;
use crate::json::testing;

proptest! {
    #[test]
    fn skipping_consumes_what_validating_consumes(text in testing::text()) {
        let mut validating = Cursor::new(&text, DEPTH_CEILING);
        if let Ok(value) = validating.value() {
            let mut skipping = Cursor::trusted(text.as_bytes());
            prop_assert_eq!(skipping.skip_value(), Some(value));
            prop_assert_eq!(skipping.rest(), validating.rest());
        }
    }

    #[test]
    fn brackets_in_strings_are_ignored(
        parts in proptest::collection::vec(
            proptest::sample::select(&[
                r#""[""#, r#""}""#, r#""\\\"}""#, r#""\\""#, "[]", "{}", "1", r#""yY_\u0041y""#,
            ][..]),
            0..12,
        ),
    ) {
        let text = alloc::format!("[[{}]]", parts.join(","));
        let after = alloc::format!("{text},1]");
        let mut skipping = Cursor::trusted(after.as_bytes());
        prop_assert_eq!(skipping.skip_value(), Some(text.as_bytes()));
    }

    #[test]
    fn runs_of_escapes_and_empty_strings_are_skipped(
        before in 0_usize..9, escapes in 0_usize..20, quotes in 0_usize..20, empty in 0_usize..9,
    ) {
        let string = [r"\\".repeat(escapes), r#"\""#.repeat(quotes), "]".into()].concat();
        let text = alloc::format!("[{}\"{string}\"{}]", " ".repeat(before), ",\"\"".repeat(empty));
        let after = alloc::format!("{text},1]");
        let mut skipping = Cursor::trusted(after.as_bytes());
        prop_assert_eq!(skipping.skip_value(), Some(text.as_bytes()));
    }

    #[test]
    fn skipping_invalid_bytes_terminates(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let mut skipping = Cursor::trusted(&bytes);
        let mut taken = 0;
        while let Some(value) = skipping.skip_key().or_else(|| skipping.skip_value()) {
            taken += value.len();
        }
        prop_assert!(taken <= bytes.len());
    }
}

#[test]
fn a_short_key_is_consumed_with_its_colon() {
    for (text, key) in [
        (r#"  "abc":1                "#, None),
        (r#""":1                   "#, Some(1..1)),
        (r#""abc":1                "#, Some(1..4)),
        (r#""abc" :1               "#, None),
        (r#""a\u0062":1            "#, None),
        (r#"7abc":1                "#, None),
    ] {
        let mut skipping = Cursor::trusted(text.as_bytes());
        let taken = key.as_ref().map_or(0, |key| key.end + "\":".len());
        assert_eq!(skipping.skip_short_key(), key, "{text}");
        assert_eq!(skipping.rest(), &text.as_bytes()[taken..], "{text}");
    }
}
