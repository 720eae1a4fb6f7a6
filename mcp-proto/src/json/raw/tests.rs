//! `Raw` on one line, through `serde`, and what it shares.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::*;
use crate::json::testing;

fn shares(whole: &[u8], part: &Raw) -> bool {
    whole.as_ptr_range().contains(&part.as_bytes().as_ptr())
}

/// Whether no white space stands outside the strings of `text`.
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
    fn text_is_kept_on_one_line_and_means_the_same(text in testing::text()) {
        let raw = Raw::from_text(&text).unwrap();
        let has_line_breaks = text.contains(['\n', '\r']);
        prop_assert!(!raw.as_str().contains(['\n', '\r']));
        prop_assert_eq!(raw.as_str() == text, !has_line_breaks);
        prop_assert!(!has_line_breaks || is_dense(raw.as_str()));
        prop_assert_eq!(raw.parse::<Value>().unwrap(), serde_json::from_str::<Value>(&text).unwrap());
        prop_assert_eq!(Raw::from_text(raw.as_str()).unwrap(), raw);
    }

    #[test]
    fn a_pretty_value_is_compacted_to_what_serde_writes(value in testing::value()) {
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
    fn a_raw_inside_other_values_goes_through_serde_and_back(
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
    fn what_is_kept_is_the_part_and_shares_only_what_is_big(
        before in 0_usize..9000, length in prop_oneof![2_usize..9000, 4095_usize..4098], after in 0_usize..9000,
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
    fn a_broken_text_is_no_raw(text in testing::object_text(), cut in any::<Index>()) {
        let end = cut.index(text.len());
        if text.is_char_boundary(end) {
            prop_assert!(Raw::from_text(&text[..end]).is_err());
            let trailing = [&text, &text[end..]].concat();
            prop_assert!(Raw::from_text(&trailing).is_err());
        }
    }
}

#[test]
fn escaped_line_breaks_in_strings_stay_frm_02() {
    let raw = Raw::from_text("{ \"a\\n\" :\r\n\t\"b\\r\\\\\" , \"c\\\"\" : \" d \" }").unwrap();
    assert_eq!(raw.as_str(), r#"{"a\n":"b\r\\","c\"":" d "}"#);
    assert_eq!(Raw::new("a\nb\r").unwrap().as_str(), r#""a\nb\r""#);
}

#[test]
fn line_breaks_in_a_kept_part_are_dropped_and_so_it_is_not_shared() {
    let bytes = Bytes::from(format!("{{\n\"a\": \"{}\"}}", "x".repeat(8000)));
    let kept = Frame::Shared(&bytes).keep(&bytes, true);
    assert!(!shares(&bytes, &kept));
    assert!(!kept.as_bytes().contains(&b'\n'));
}

#[test]
fn equality_is_of_text() {
    let raw = |text: &str| Raw::from_text(text).unwrap();
    assert_eq!(raw(" [1,2] "), raw("[1,2]"));
    assert_ne!(raw("1.0"), raw("1"));
    assert_ne!(raw(r#"{"a":1,"b":2}"#), raw(r#"{"b":2,"a":1}"#));
}

#[test]
fn what_is_refused() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(Raw::from_text(&deep(128)).is_ok());
    for text in ["", " ", "1 2", "{\"half\": ", r#""\ud800""#, "\u{feff}{}", "NaN", &deep(129)] {
        assert_eq!(Raw::from_text(text), Err(Unencodable), "{text}");
        assert!(serde_json::from_str::<Raw>(text).is_err(), "{text}");
    }
    assert_eq!(Raw::new(&BTreeMap::from([((), 1)])), Err(Unencodable), "a key that is no string");
}

#[test]
fn the_deepest_value_can_be_written_and_read_again_without_recursion() {
    let text = format!("{}{}", "[".repeat(128), "]".repeat(128));
    let raw = Raw::from_text(&text).unwrap();
    let carried = Raw::new(&[&raw]).unwrap();
    assert_eq!(carried.parse::<Vec<Raw>>().unwrap(), core::slice::from_ref(&raw));
    assert!(raw.parse::<Value>().is_err(), "a tree of it is refused, not overflown");
}

#[test]
fn half_a_surrogate_pair_carried_in_by_serde_does_no_harm() {
    let carried = RawValue::from_string(r#""\ud800\u0000""#.to_owned()).unwrap();
    assert!(Raw::new(&carried).unwrap().to_text().is_some());
}

#[test]
fn what_kind_of_value_it_is() {
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
