//! `Raw`: line breaks, `serde`, and sharing of bytes.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use serde_json::value::RawValue;

use super::*;
use crate::json::testing;

fn shares(whole: &[u8], part: &Raw) -> bool {
    whole.as_ptr_range().contains(&part.as_bytes().as_ptr())
}

/// Returns whether `text` has no white space outside of strings.
fn is_dense(text: &str) -> bool {
    let mut rest = text;
    while let Some((before, string)) = rest.split_once('"') {
        if before.contains([' ', '\t', '\n', '\r']) {
            return false;
        }
        let quoted: &RawValue = serde_json::Deserializer::from_str(&rest[before.len()..])
            .into_iter()
            .next()
            .unwrap()
            .unwrap();
        rest = &string[quoted.get().len() - 1..];
    }
    !rest.contains([' ', '\t', '\n', '\r'])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn line_breaks_are_removed_without_changing_the_value(text in testing::text()) {
        let raw = Raw::from_text(&text).unwrap();
        let has_line_breaks = text.contains(['\n', '\r']);
        prop_assert!(!raw.as_str().contains(['\n', '\r']));
        prop_assert_eq!(raw.as_str() == text, !has_line_breaks);
        prop_assert!(!has_line_breaks || is_dense(raw.as_str()));
        let parsed = serde_json::from_str::<Value>(&text).unwrap();
        prop_assert_eq!(raw.parse::<Value>().unwrap(), parsed);
        prop_assert_eq!(Raw::from_text(raw.as_str()).unwrap(), raw);
    }

    #[test]
    fn pretty_text_is_compacted_to_the_output_of_serde(value in testing::value()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let plain = Raw::new(&value).unwrap();
        prop_assert_eq!(plain.as_str(), value.to_string());
        if pretty.contains('\n') {
            prop_assert_eq!(&Raw::from_text(&pretty).unwrap(), &plain);
        }
        let carried = RawValue::from_string(pretty).unwrap();
        prop_assert_eq!(&Raw::new(&carried).unwrap(), &plain);
        let inside = Raw::new(&[&carried]).unwrap();
        prop_assert_eq!(inside.to_string(), format!("[{plain}]"));
    }

    #[test]
    fn raw_values_inside_other_values_survive_a_round_trip(
        texts in proptest::collection::btree_map(testing::string(), testing::text(), 0..4),
    ) {
        let raws: BTreeMap<String, Raw> =
            texts.iter().map(|(key, text)| (key.clone(), Raw::from_text(text).unwrap())).collect();
        let written = Raw::new(&raws).unwrap();
        prop_assert_eq!(&written.parse::<BTreeMap<String, Raw>>().unwrap(), &raws);
        let pretty = serde_json::to_string_pretty(&raws).unwrap();
        prop_assert_eq!(&serde_json::from_str::<BTreeMap<String, Raw>>(&pretty).unwrap(), &raws);
        for (key, raw) in &raws {
            let member = written.member(key);
            prop_assert_eq!(member.as_ref(), Some(raw));
            prop_assert!(shares(written.as_bytes(), &member.unwrap()));
        }
    }

    #[test]
    fn only_large_parts_share_the_message(
        before in 0_usize..9000,
        length in prop_oneof![2_usize..9000, 4095_usize..4098],
        after in 0_usize..9000,
        shared in any::<bool>(),
    ) {
        let part = format!("\"{}\"", "x".repeat(length - 2));
        let bytes = Bytes::from(format!("{}{part}{}", " ".repeat(before), " ".repeat(after)));
        let frame = if shared { Frame::Shared(&bytes) } else { Frame::Borrowed(&bytes) };
        let kept = frame.keep(&bytes[before..before + length], false);
        prop_assert_eq!(kept.as_str(), part);
        let is_big = length >= 4096 && length >= bytes.len() / 2;
        prop_assert_eq!(shares(&bytes, &kept), shared && is_big);
    }

    #[test]
    fn truncated_or_trailing_text_is_rejected(
        text in testing::object_text(), cut in any::<Index>(),
    ) {
        let end = cut.index(text.len());
        if text.is_char_boundary(end) {
            prop_assert!(Raw::from_text(&text[..end]).is_err());
            let trailing = [&text, &text[end..]].concat();
            prop_assert!(Raw::from_text(&trailing).is_err());
        }
    }
}

#[test]
fn escaped_line_breaks_in_strings_are_kept_frm_02() {
    let raw = Raw::from_text("{ \"a\\n\" :\r\n\t\"b\\r\\\\\" , \"c\\\"\" : \" d \" }").unwrap();
    assert_eq!(raw.as_str(), r#"{"a\n":"b\r\\","c\"":" d "}"#);
    assert_eq!(Raw::new("a\nb\r").unwrap().as_str(), r#""a\nb\r""#);
}

#[test]
fn a_part_with_line_breaks_is_compacted_and_not_shared() {
    let bytes = Bytes::from(format!("{{\n\"a\": \"{}\"}}", "x".repeat(8000)));
    let kept = Frame::Shared(&bytes).keep(&bytes, true);
    assert!(!shares(&bytes, &kept));
    assert!(!kept.as_bytes().contains(&b'\n'));
}

#[test]
fn equality_compares_the_text() {
    let raw = |text: &str| Raw::from_text(text).unwrap();
    assert_eq!(raw(" [1,2] "), raw("[1,2]"));
    assert_ne!(raw("1.0"), raw("1"));
    assert_ne!(raw(r#"{"a":1,"b":2}"#), raw(r#"{"b":2,"a":1}"#));
}

#[test]
fn invalid_text_and_non_string_keys_are_rejected() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(Raw::from_text(&deep(128)).is_ok());
    for text in ["", " ", "1 2", "{\"half\": ", r#""\ud80""#, "\u{feff}{}", "NaN", &deep(129)] {
        assert_eq!(Raw::from_text(text), Err(Unencodable), "{text}");
        assert!(serde_json::from_str::<Raw>(text).is_err(), "{text}");
    }
    assert_eq!(
        Raw::new(&BTreeMap::from([((), 1)])),
        Err(Unencodable),
        "a map key that is not a string"
    );
}

#[test]
fn the_deepest_value_survives_a_round_trip_without_recursion() {
    let text = format!("{}{}", "[".repeat(128), "]".repeat(128));
    let raw = Raw::from_text(&text).unwrap();
    let carried = Raw::new(&[&raw]).unwrap();
    assert_eq!(carried.parse::<Vec<Raw>>().unwrap(), core::slice::from_ref(&raw));
    assert!(raw.parse::<Value>().is_err(), "parsing it as a tree fails without a stack overflow");
}

#[test]
fn unpaired_surrogates_are_kept_as_the_replacement_character() {
    for (text, kept) in [
        (r#""\ud83d""#, r#""\ufffd""#),
        (r#"{"\uDC00a": "\ud800\u0041"}"#, r#"{"\ufffda":"\ufffd\u0041"}"#),
        (r#"["\ud83d\ud83d\ude00", "\\ud83d"]"#, r#"["\ufffd\ud83d\ude00","\\ud83d"]"#),
        (r#"["\ud83d\ude00", "\""]"#, r#"["\ud83d\ude00", "\""]"#),
    ] {
        let raw = Raw::from_text(text).unwrap();
        assert_eq!(raw.as_str(), kept);
        assert!(raw.parse::<Value>().is_ok());
        let carried = RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(serde_json::from_str::<Raw>(carried.get()).unwrap(), raw);
    }
}

#[test]
fn an_unpaired_surrogate_in_a_raw_value_does_not_panic() {
    let carried = RawValue::from_string(r#""\ud800\u0000""#.to_owned()).unwrap();
    assert!(Raw::new(&carried).unwrap().to_text().is_some());
}

#[test]
fn accessors_depend_on_the_type_of_the_value() {
    let raw = Raw::new(&json!({"text": "é\n", "list": [1, {}], "none": null})).unwrap();
    assert!(raw.is_object() && Raw::empty_object().is_object());
    assert_eq!(raw.to_text(), None);
    assert_eq!(raw.member("text").unwrap().to_text().unwrap(), "é\n");
    assert_eq!(raw.member("none").unwrap().as_str(), "null");
    assert_eq!(raw.member("nothing"), None);
    let list: Vec<String> =
        raw.member("list").unwrap().elements().map(|element| element.to_string()).collect();
    assert_eq!(list, ["1", "{}"]);
    assert_eq!(raw.elements().count(), 0);
    assert_eq!(format!("{raw:?}"), raw.to_string());
}
