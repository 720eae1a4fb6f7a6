//! Lookup compared with the tree built by `serde_json`.

use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;
use crate::json::escape::unescape;
use crate::json::testing;

fn parse(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

/// Compares every part of `text`, recursively, with `value`.
fn assert_matches_tree(text: &[u8], value: &Value) {
    match value {
        Value::Object(object) => {
            let keys = |key: &[u8]| unescape(&[b"\"", key, b"\""].concat()).unwrap().into_owned();
            let last: Map<String, Value> =
                members(text).map(|(key, value)| (keys(key), parse(value))).collect();
            assert_eq!(&last, object);
            assert_eq!(elements(text).count(), 0);
            for (name, value) in object {
                assert_matches_tree(find(text, name).unwrap(), value);
                // `find_rare` supports only names without quotes, backslashes and control bytes.
                if name.chars().all(|char| char >= ' ' && !matches!(char, '"' | '\\')) {
                    assert_eq!(find_rare(text, name), find(text, name), "{name:?}");
                }
            }
            assert_eq!(find(text, "no such name"), None);
            assert_eq!(find_rare(text, "no such name"), None);
        }
        Value::Array(array) => {
            assert_eq!(members(text).count(), 0);
            let found: Vec<&[u8]> = elements(text).collect();
            assert_eq!(found.len(), array.len());
            found.iter().zip(array).for_each(|(text, value)| assert_matches_tree(text, value));
        }
        _ => {
            assert_eq!(members(text).count() + elements(text).count(), 0);
            assert_eq!(find(text, ""), None);
            assert_eq!(&parse(text), value);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn members_elements_and_find_agree_with_serde_t_10(text in testing::text()) {
        assert_matches_tree(text.as_bytes(), &parse(text.as_bytes()));
    }

    #[test]
    fn objects_agree_with_serde_t_10(text in testing::object_text()) {
        assert_matches_tree(text.as_bytes(), &parse(text.as_bytes()));
    }

    #[test]
    fn invalid_bytes_terminate_without_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..48),
    ) {
        for prefix in [&b""[..], b"{\"", b"["] {
            let opened = [prefix, &bytes].concat();
            assert!(members(&opened).take(100).count() < 100);
            assert!(elements(&opened).take(100).count() < 100);
            let _any = find(&opened, "a");
        }
    }
}

#[test]
fn the_last_of_repeated_members_wins_in_any_spelling_t_10() {
    let object = br#"{"a":1,"\u0061":2,"b":{"a":9},"A":7}"#;
    assert_eq!(find(object, "a"), Some(&b"2"[..]));
    assert_eq!(find(object, "A"), Some(&b"7"[..]));
    assert_eq!(find(object, r"\u0061"), None);
    assert_eq!(members(object).count(), 4);
}

#[test]
fn find_rare_accepts_any_spelling_of_the_key() {
    for object in [
        r#"{"a/task":1}"#,
        r#"{"a\/task":1}"#,
        r#"{"a/t\u0061sk":1}"#,
        r#"{"x":"","\u0061\u002ftask":1}"#,
    ] {
        assert_eq!(find_rare(object.as_bytes(), "a/task"), Some(&b"1"[..]), "{object}");
    }
    for object in [r#"{"b":{"a/task":1}}"#, r#"{"b":"a/task"}"#, r#"{"task":1}"#, "{}"] {
        assert_eq!(find_rare(object.as_bytes(), "a/task"), None, "{object}");
    }
}

#[test]
fn find_each_agrees_with_find() {
    let object = br#"{"a":1,"b":[2],"\u0061":3,"c":{"b":4}}"#;
    assert_eq!(find_each(object, ["b", "a", "x"]), ["b", "a", "x"].map(|name| find(object, name)));
    assert_eq!(find_each(b"[1]", ["a"]), [None]);
}

#[test]
fn only_an_object_has_members_and_only_an_array_elements() {
    for other in ["", "1", "null", r#""a""#, r#"["a"]"#, r#""a":1"#, "a", "{}"] {
        assert_eq!(members(other.as_bytes()).next(), None, "{other}");
    }
    for other in ["", "1", "null", r#""a""#, r#"{"a":1}"#, "1,2", "[]"] {
        assert_eq!(elements(other.as_bytes()).next(), None, "{other}");
    }
}

#[test]
fn members_of_members_and_text_in_strings_are_not_members() {
    assert_eq!(find(br#"{"x":{"a":1},"y":"\"a\":2","z":["a"]}"#, "a"), None);
}
