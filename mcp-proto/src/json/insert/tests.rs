//! Insertion into `_meta` compared with a model on `serde_json` trees.

use alloc::string::String;

use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value, json};

use super::*;
use crate::json::testing::{self, Style};
use crate::json::writer::write_u64;

const REPLACED: &[&str] = &["progressToken", "a", "méta"];

/// Returns the expected result: `progressToken` is added, and the other members of `_meta` stay
/// unless they are replaced.
fn model(object: &str, replaced: &[&str]) -> Value {
    let mut object: Map<String, Value> = serde_json::from_str(object).unwrap();
    let mut meta = match object.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    meta.retain(|key, _| !replaced.contains(&key.as_str()));
    meta.insert("progressToken".into(), json!(7));
    object.insert("_meta".into(), Value::Object(meta));
    Value::Object(object)
}

fn inserted(object: Option<&str>, replaced: &[&str]) -> String {
    let mut out = b"before".to_vec();
    with_meta(&mut out, TextWithMeta::of(object.map(str::as_bytes)), replaced, |meta| {
        write_u64(meta.key("progressToken"), 7);
    });
    String::from_utf8(out).unwrap().strip_prefix("before").unwrap().into()
}

/// Objects with any `_meta`, repeated `_meta` or none, in any spelling.
fn object_text() -> impl Strategy<Value = String> {
    let meta = prop_oneof![
        3 => testing::object().prop_map(|object| Some(Value::Object(object))),
        1 => testing::value().prop_map(Some),
        1 => Just(None),
    ];
    (testing::object(), meta, any::<bool>(), Style::any()).prop_map(
        |(mut object, meta, token, mut style)| {
            if let Some(mut meta) = meta {
                if let (true, Value::Object(meta)) = (token, &mut meta) {
                    meta.insert("progressToken".into(), json!("theirs"));
                }
                object.insert("_meta".into(), meta);
            }
            style.spell(&Value::Object(object))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn meta_is_merged_and_other_members_are_kept(
        object in object_text(), more in subsequence(&REPLACED[1..], 0..REPLACED.len() - 1),
    ) {
        let replaced = [&REPLACED[..1], &more[..]].concat();
        let out = inserted(Some(&object), &replaced);
        let parsed = serde_json::from_str::<Value>(&out).unwrap();
        prop_assert_eq!(parsed, model(&object, &replaced), "{}", out);
        // No member is duplicated.
        let (metas, rest): (Vec<_>, Vec<_>) =
            members(out.as_bytes()).partition(|(key, _)| key_is(key, "_meta"));
        prop_assert_eq!(metas.len(), 1);
        let tokens = members(metas[0].1).filter(|(key, _)| key_is(key, "progressToken")).count();
        prop_assert_eq!(tokens, 1);
        let others = members(object.as_bytes()).filter(|(key, _)| !key_is(key, "_meta")).count();
        prop_assert_eq!(rest.len(), others);
    }
}

#[test]
fn examples() {
    for (object, wanted) in [
        (None, r#"{"_meta":{"progressToken":7}}"#),
        (Some("{}"), r#"{"_meta":{"progressToken":7}}"#),
        (Some("{ \t}"), r#"{"_meta":{"progressToken":7}}"#),
        (Some("{} "), r#"{"_meta":{"progressToken":7}} "#),
        (Some(r#"{"a":1}"#), r#"{"_meta":{"progressToken":7},"a":1}"#),
        (Some(r#"{"_meta":null}"#), r#"{"_meta":{"progressToken":7}}"#),
        (Some(r#"{"_meta":[1],"a":1}"#), r#"{"_meta":{"progressToken":7},"a":1}"#),
        (Some(r#"{"_meta":{"k":{}}}"#), r#"{"_meta":{"progressToken":7,"k":{}}}"#),
        (Some(r#"{"_meta":{"progressToken":1}}"#), r#"{"_meta":{"progressToken":7}}"#),
        (Some(r#"{"_meta":{"progress\u0054oken":1}}"#), r#"{"_meta":{"progressToken":7}}"#),
        (Some(r#"{"a":"_meta"}"#), r#"{"_meta":{"progressToken":7},"a":"_meta"}"#),
        (
            Some(r#"{"a":{"_meta":{"k":1}}}"#),
            r#"{"_meta":{"progressToken":7},"a":{"_meta":{"k":1}}}"#,
        ),
        (Some(r#"{"\u005fmeta":{"k":1},"a":1}"#), r#"{"_meta":{"progressToken":7,"k":1},"a":1}"#),
        (Some(r#"{"_meta":{"k":1},"_meta":{"l":2}}"#), r#"{"_meta":{"progressToken":7,"l":2}}"#),
        (Some(r#"{"_meta":{"\"":1}}"#), r#"{"_meta":{"progressToken":7,"\"":1}}"#),
    ] {
        assert_eq!(inserted(object, &["progressToken"]), wanted, "{object:?}");
    }
}

#[test]
fn members_can_be_removed_without_adding_any() {
    let mut out = Vec::new();
    with_meta(&mut out, TextWithMeta::of(Some(br#"{"_meta":{"k":1}}"#)), &["k"], |_| {});
    assert_eq!(out, br#"{"_meta":{}}"#);
}
