//! Tests of annotations, and of headers against arguments.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::*;
use crate::http::testing::{List, list};

fn raw(value: &Json) -> Raw {
    Raw::new(value).unwrap()
}

/// Creates the mirror of a schema with these properties.
fn of(properties: Json) -> Result<ParamHeaders, InvalidParamHeader> {
    ParamHeaders::from_schema(&raw(&json!({"type": "object", "properties": properties})))
}

fn mirror() -> ParamHeaders {
    of(json!({
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"x-mcp-header": "Count", "type": "integer"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry-Run"},
        "deep": {"type": "object", "properties": {
            "er": {"type": "string", "x-mcp-header": "Deeper"},
        }},
        "plain": {"type": "string"},
    }))
    .unwrap()
}

// HTTP-47, HTTP-49
#[test]
fn annotated_arguments_are_mirrored_http_47_http_49() {
    let arguments = json!({
        "region": "Hello, 世界", "count": 42.0, "dry": false, "deep": {"er": " x"}, "plain": "p",
    });
    let mut fields = mirror().headers(Some(&raw(&arguments)));
    fields.sort();
    let expected = list(&[
        ("Mcp-Param-Count", "42"),
        ("Mcp-Param-Deeper", "=?base64?IHg=?="),
        ("Mcp-Param-Dry-Run", "false"),
        ("Mcp-Param-Region", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    ]);
    assert_eq!(fields, expected);
}

// HTTP-47
#[test]
fn absent_and_null_arguments_are_not_mirrored_http_47() {
    for arguments in [
        json!({}),
        json!({"region": null, "count": null, "deep": null}),
        json!({"deep": {}}),
        json!(null),
    ] {
        assert_eq!(mirror().headers(Some(&raw(&arguments))), [], "{arguments}");
        assert!(mirror().check(Some(&raw(&arguments)), &List::new()).is_ok(), "{arguments}");
    }
    assert_eq!(mirror().headers(None), []);
    assert_eq!(
        mirror().headers(Some(&raw(&json!({"region": ""})))),
        list(&[("Mcp-Param-Region", "")]),
        "T-46"
    );
}

// HTTP-49
#[test]
fn values_that_no_header_can_represent_are_omitted_and_rejected_http_49() {
    for value in [
        json!(9_007_199_254_740_992_u64),
        json!(-9_007_199_254_740_992_i64),
        json!(1.5),
        json!([1]),
        json!({}),
    ] {
        let arguments = raw(&json!({"count": value}));
        assert_eq!(mirror().headers(Some(&arguments)), [], "{value}");
        assert!(mirror().check(Some(&arguments), &List::new()).is_err(), "{value}");
        let sent = list(&[("Mcp-Param-Count", &format!("{value}"))]);
        assert!(mirror().check(Some(&arguments), &sent).is_err(), "{value}");
    }
    for safe in ["9007199254740991", "-9007199254740991"] {
        let arguments = Raw::from_text(&format!("{{\"count\":{safe}}}")).unwrap();
        assert_eq!(mirror().headers(Some(&arguments)), list(&[("Mcp-Param-Count", safe)]));
    }
}

// HTTP-50
#[test]
fn headers_must_match_their_arguments_http_50_t_109() {
    let check = |arguments: Json, fields: &[(&str, &str)]| {
        mirror().check(Some(&raw(&arguments)), &list(fields)).map_err(|found| found.why)
    };
    let hello = || json!({"region": "Hello"});
    for sent in ["Hello", " Hello\t", "=?base64?SGVsbG8=?="] {
        assert_eq!(check(hello(), &[("MCP-PARAM-region", sent)]), Ok(()), "{sent}");
    }
    assert_eq!(check(hello(), &[]), Err("is missing"));
    for bad in ["=?base64?SGVsbG8?=", "=?base64?SGVs!G8=?=", "Hello\r\nX: y", "Héllo", "a\0"] {
        assert_eq!(check(hello(), &[("mcp-param-region", bad)]), Err("is malformed"), "{bad:?}");
    }
    // Without the exact prefix and suffix, a value is literal.
    for literal in
        ["hello", "SGVsbG8=", "=?base64?SGVsbG8=", "SGVsbG8=?=", "=?BASE64?SGVsbG8=?=", ""]
    {
        let found = check(hello(), &[("mcp-param-region", literal)]);
        assert_eq!(found, Err("does not match the argument in the body"), "{literal}");
        assert_eq!(
            check(json!({"region": literal}), &[("mcp-param-region", literal)]),
            Ok(()),
            "{literal}"
        );
    }
    for (count, sent, same) in [
        (json!(42), "42.0", true),
        (json!(42.0), "42", true),
        (json!(42), "4.2e1", true),
        (json!(42), "42.5", false),
        (json!(42), "", false),
        (json!(42), "forty-two", false),
        (json!("42"), "42", true),
        (json!("42"), "42.0", false),
    ] {
        assert_eq!(
            check(json!({"count": count}), &[("mcp-param-count", sent)]).is_ok(),
            same,
            "{count} {sent}"
        );
    }
    assert!(check(json!({"dry": true}), &[("mcp-param-dry-run", "true")]).is_ok());
    assert!(check(json!({"dry": true}), &[("mcp-param-dry-run", "True")]).is_err());
    assert!(check(json!({"dry": true}), &[("mcp-param-dry-run", "1")]).is_err());
    let absent = Err("has no argument in the body");
    assert_eq!(check(json!({"region": null}), &[("mcp-param-region", "")]), absent);
    assert_eq!(
        check(json!({"plain": "x"}), &[("mcp-param-plain", "y"), ("mcp-param-other", "z")]),
        Ok(())
    );
    assert_eq!(
        check(hello(), &[("mcp-param-region", "Hello"), ("Mcp-Param-Region", "Hello")]),
        Err("is repeated")
    );
}

// HTTP-48
#[test]
fn invalid_annotations_make_the_tool_invalid_http_48() {
    for name in [
        json!(""),
        json!("My Region"),
        json!("a:b"),
        json!("é"),
        json!("a\r\nb"),
        json!(1),
        json!(null),
        json!("x".repeat(129)),
    ] {
        assert!(of(json!({"a": {"type": "string", "x-mcp-header": name}})).is_err(), "{name}");
    }
    for kind in [
        json!("number"),
        json!("object"),
        json!("array"),
        json!("null"),
        json!(["string", "null"]),
        json!(null),
    ] {
        assert!(of(json!({"a": {"type": kind, "x-mcp-header": "A"}})).is_err(), "{kind}");
    }
    assert!(of(json!({"a": {"x-mcp-header": "A"}})).is_err(), "no type");
    let twice = json!({
        "a": {"type": "string", "x-mcp-header": "Region"},
        "b": {"type": "string", "x-mcp-header": "REGION"},
    });
    assert_eq!(
        of(twice).unwrap_err().to_string(),
        "`x-mcp-header` of property `b` duplicates another header name"
    );
    let escaped = r#"{"properties":{"a":{"type":"string","x-mcp-h\u0065ader":""}}}"#;
    assert!(ParamHeaders::from_schema(&Raw::from_text(escaped).unwrap()).is_err());
}

#[test]
fn unreachable_annotations_make_the_tool_invalid_t_108() {
    let annotated = json!({"type": "string", "x-mcp-header": "A"});
    let object = json!({"type": "object", "properties": {"b": annotated}});
    for keyword in [
        "items",
        "additionalProperties",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "additionalItems",
        "contentSchema",
    ] {
        assert!(of(json!({"a": {keyword: annotated}})).is_err(), "{keyword}");
        assert!(of(json!({"a": {keyword: object}})).is_err(), "{keyword}");
        assert!(ParamHeaders::from_schema(&raw(&json!({keyword: object}))).is_err(), "{keyword}");
    }
    for keyword in ["allOf", "anyOf", "oneOf", "prefixItems", "items"] {
        assert!(of(json!({"a": {keyword: [true, annotated]}})).is_err(), "{keyword}");
        assert!(ParamHeaders::from_schema(&raw(&json!({keyword: [object]}))).is_err(), "{keyword}");
    }
    for keyword in ["$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies"]
    {
        assert!(
            ParamHeaders::from_schema(&raw(
                &json!({keyword: {"x": annotated}, "properties": {"a": {"$ref": "#/$defs/x"}}})
            ))
            .is_err()
        );
        assert!(
            ParamHeaders::from_schema(&raw(&json!({keyword: {"x": object}}))).is_err(),
            "{keyword}"
        );
    }
    assert!(ParamHeaders::from_schema(&raw(&annotated)).is_err(), "the root schema");
}

#[test]
fn data_that_looks_like_an_annotation_is_ignored() {
    let looks = json!({"x-mcp-header": "A"});
    for properties in [
        json!({
            "a": {"const": looks},
            "b": {"enum": [looks]},
            "c": {"default": looks, "examples": [looks]},
        }),
        json!({"x-mcp-header": {"type": "string"}}),
        json!({"a": {"description": "x-mcp-header", "x-other": looks}}),
        json!({"a": true, "b": {"items": true, "oneOf": [], "properties": []}}),
    ] {
        assert!(of(properties.clone()).unwrap().is_empty(), "{properties}");
    }
    for schema in
        [json!(true), json!([looks]), json!("x-mcp-header"), json!({"properties": 1, "x": looks})]
    {
        assert!(ParamHeaders::from_schema(&raw(&schema)).unwrap().is_empty(), "{schema}");
    }
}

#[test]
fn annotations_are_limited() {
    let many = |count: usize| {
        let one = |n| (format!("p{n}"), json!({"type": "string", "x-mcp-header": format!("P{n}")}));
        of(Json::Object((0..count).map(one).collect::<Map<_, _>>()))
    };
    assert!(many(64).is_ok() && many(65).is_err());
    let deep = |levels: usize| {
        let inner = json!({"type": "string", "x-mcp-header": "A"});
        (0..levels).fold(inner, |inner, _| json!({"type": "object", "properties": {"a": inner}}))
    };
    assert!(ParamHeaders::from_schema(&raw(&deep(31))).is_ok());
    assert!(ParamHeaders::from_schema(&raw(&deep(32))).is_err());
    assert!(ParamHeaders::from_schema(&raw(&deep(60))).is_err());
}

// HTTP-44, TSK-36
#[test]
fn requests_with_a_name_have_mcp_name_http_44() {
    let params = raw(&json!({"name": "n", "uri": "file:///ü", "taskId": "t"}));
    for (method, name) in [
        ("tools/call", Some("n")),
        ("prompts/get", Some("n")),
        ("resources/read", Some("=?base64?ZmlsZTovLy/DvA==?=")),
        ("tasks/get", Some("t")),
        ("tasks/update", Some("t")),
        ("tasks/cancel", Some("t")),
        ("tools/list", None),
        ("resources/subscribe", None),
        ("completion/complete", None),
    ] {
        assert_eq!(standard_headers(method, Some(&params)), (method.into(), name.map(Into::into)));
    }
    assert_eq!(standard_headers("tools/call", Some(&raw(&json!({"name": 1})))).1, None);
    assert!(standard_headers("x\r\ny: z", None).0.starts_with("=?base64?"));
}

proptest! {
    #[test]
    fn written_headers_pass_the_check_http_49_http_50(
        region in proptest::option::of(crate::json::testing::string()),
        count in proptest::option::of(-9_007_199_254_740_991_i64..=9_007_199_254_740_991),
        dry in proptest::option::of(any::<bool>()),
        deeper in ".{0,12}",
    ) {
        let arguments =
            raw(&json!({"region": region, "count": count, "dry": dry, "deep": {"er": deeper}}));
        let mirror = mirror();
        let fields = mirror.headers(Some(&arguments));
        let bytes: Vec<(&String, &[u8])> =
            fields.iter().map(|(name, value)| (name, value.as_bytes())).collect();
        for (_, value) in &bytes {
            prop_assert!(value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~')));
        }
        prop_assert_eq!(mirror.check(Some(&arguments), &bytes), Ok(()));
        for left_out in 0..fields.len() {
            let mut fewer = fields.clone();
            fewer.remove(left_out);
            prop_assert!(mirror.check(Some(&arguments), &fewer).is_err());
        }
    }

    #[test]
    fn no_schema_panics(
        value in crate::json::testing::value(),
        keyword in proptest::sample::select(vec![
            "properties", "items", "oneOf", "$defs", "x-mcp-header", "type",
        ]),
    ) {
        let mut schema = json!({"properties": {"a": {"x-mcp-header": "A", "type": "string"}}});
        schema[keyword] = value;
        if let Ok(mirror) = ParamHeaders::from_schema(&raw(&schema)) {
            let _any = mirror.headers(Some(&raw(&schema)));
        }
    }
}
