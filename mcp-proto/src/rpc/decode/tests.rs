//! Compares the decoder with a slow reference implementation of its rules on `serde_json`.

mod known_meta;

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::*;
use crate::json::testing::{self, Style};

fn decode(text: &str, depth_max: u8, id_bytes_max: usize) -> Result<Message<'_>, Malformed> {
    decode_utf8(text.as_bytes(), depth_max, id_bytes_max, &[])
}

const ID_BYTES_MAX: usize = 12;

/// The classification of a message by either implementation.
#[derive(Clone, Debug, PartialEq)]
enum Class {
    BrokenResponse(String),
    Invalid { id: Option<String>, answerable: bool },
    Notification(String, ClassParams),
    Orphan(Value),
    Parse,
    Request(String, String, ClassParams),
    Response(String, Result<Value, Value>),
}

#[derive(Clone, Debug, PartialEq)]
struct ClassParams {
    object: Option<Value>,
    meta: Option<Value>,
    malformed: bool,
}

fn parse(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

fn spelling(id: &RequestId) -> String {
    let mut out = Vec::new();
    id.write(&mut out);
    String::from_utf8(out).unwrap()
}

fn error_value(error: &ErrorObject) -> Value {
    let mut out = Vec::new();
    error.write(&mut out);
    parse(&out)
}

fn classify_params(params: &Params<'_>) -> ClassParams {
    ClassParams {
        object: params.object.map(|object| parse(object.text)),
        meta: params.meta.map(parse),
        malformed: params.malformed,
    }
}

/// Returns the classification by the decoder.
fn classify(text: &str) -> Class {
    match decode(text, 100, ID_BYTES_MAX) {
        Ok(Message::Notification { method, params }) => {
            Class::Notification(method.text.into(), classify_params(&params))
        }
        Ok(Message::Request { id, method, params }) => {
            Class::Request(spelling(&id), method.text.into(), classify_params(&params))
        }
        Ok(Message::Response { id, outcome }) => {
            let outcome = match outcome {
                Ok(result) => {
                    let kept = result.keep(Frame::Borrowed(text.as_bytes()));
                    assert!(!kept.as_bytes().contains(&b'\n') && !kept.as_bytes().contains(&b'\r'));
                    assert_eq!(kept.parse::<Value>().unwrap(), parse(result.text));
                    Ok(parse(result.text))
                }
                Err(error) => Err(error_value(&error)),
            };
            Class::Response(spelling(&id), outcome)
        }
        Ok(Message::BrokenResponse { id, .. }) => Class::BrokenResponse(spelling(&id)),
        Ok(Message::OrphanError(error)) => Class::Orphan(error_value(&error)),
        Err(Malformed::Array) => Class::Parse,
        Err(Malformed::Invalid { why: Defect::Syntax(_) | Defect::NotUtf8(_), .. }) => Class::Parse,
        Err(Malformed::Invalid { id, answerable, .. }) => {
            Class::Invalid { id: id.as_ref().map(spelling), answerable }
        }
    }
}

/// The members of an object in order, including duplicates.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> serde::Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

/// Returns a valid id: a string or an integer within the limit.
// ID-07, T-05: valid ids.
fn reference_id(raw: &RawValue) -> Option<String> {
    let value = parse(raw.get().as_bytes());
    let fits = raw.get().len() <= ID_BYTES_MAX;
    let is_id = value.is_string() || reference_integer(&value);
    (fits && is_id).then(|| raw.get().to_owned())
}

/// Returns whether a value of the candidates is an integer in range: a number without a fraction.
fn reference_integer(value: &Value) -> bool {
    let is_whole = |number: f64| number.fract() == 0.0 && number.abs() < 1e9;
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_whole)
}

/// Returns the error object if it is valid.
// JSON-09: members of an error.
fn reference_error(error: &Value) -> Option<Value> {
    let mut out = Map::new();
    let code = error.get("code").filter(|code| !code.is_u64() || code.is_i64());
    let code = code.filter(|code| reference_integer(code))?;
    out.insert(
        "code".into(),
        code.as_i64().unwrap_or_else(|| code.as_f64().unwrap() as i64).into(),
    );
    out.insert(
        "message".into(),
        error.get("message").filter(|message| message.is_string())?.clone(),
    );
    if let Some(data) = error.get("data") {
        out.insert("data".into(), data.clone());
    }
    Some(Value::Object(out))
}

/// Returns the classification by the rules, in the order in which they apply.
// T-01, T-02, T-03, T-09, T-10, T-16: the rules.
fn reference(text: &str) -> Class {
    if serde_json::from_str::<Value>(text).is_err() {
        return Class::Parse;
    }
    let Ok(Members(members)) = serde_json::from_str(text) else {
        return Class::Invalid { id: None, answerable: true };
    };
    let named = |name: &str| {
        members.iter().filter(|(key, _)| key == name).map(|(_, value)| &**value).collect::<Vec<_>>()
    };
    let member = |name: &str| named(name).last().map(|raw| parse(raw.get().as_bytes()));
    let (method, params) = (member("method"), member("params"));
    let (result, error) = (member("result"), member("error"));
    let has_outcome = result.is_some() || error.is_some();
    let has_method = method.is_some();
    let invalid = |id: Option<String>| {
        let answerable = if id.is_some() { has_method } else { !has_outcome };
        Class::Invalid { id, answerable }
    };

    let envelope = ["jsonrpc", "id", "method", "params", "result", "error"];
    let repeated = envelope.iter().any(|name| named(name).len() > 1);
    let id =
        named("id").last().filter(|_| named("id").len() == 1).and_then(|raw| reference_id(raw));
    if repeated || member("jsonrpc") != Some(json!("2.0")) {
        return match id {
            Some(id) if !has_method && has_outcome => Class::BrokenResponse(id),
            id => invalid(id),
        };
    }
    if let Some(method) = method {
        let Value::String(method) = method else {
            return match id {
                Some(id) if has_outcome => Class::BrokenResponse(id),
                id => invalid(id),
            };
        };
        if result.is_some() || error.is_some() {
            return invalid(id);
        }
        let object = params.clone().filter(Value::is_object);
        let params = ClassParams {
            meta: object.as_ref().and_then(|object| object.get("_meta").cloned()),
            malformed: params.is_some_and(|params| !params.is_object() && !params.is_null()),
            object,
        };
        return match (named("id").is_empty(), id) {
            (true, _) => Class::Notification(method, params),
            (false, Some(id)) => Class::Request(id, method, params),
            (false, None) => invalid(None),
        };
    }
    match (id, result, error) {
        (None, None, Some(error)) => {
            reference_error(&error).map_or_else(|| invalid(None), Class::Orphan)
        }
        (None, ..) => invalid(None),
        (Some(id), None, None) => invalid(Some(id)),
        (Some(id), Some(result), None) if result.is_object() => Class::Response(id, Ok(result)),
        (Some(id), None, Some(error)) => match reference_error(&error) {
            Some(error) => Class::Response(id, Err(error)),
            None => Class::BrokenResponse(id),
        },
        (Some(id), ..) => Class::BrokenResponse(id),
    }
}

/// Values for each envelope member, valid ones first.
const CANDIDATES: &[(&str, &[&str])] = &[
    ("jsonrpc", &[r#""2.0""#, r#""2.0""#, r#""2.0""#, r#""\u0032.0""#, r#""1.0""#, "2.0", "null"]),
    (
        "id",
        &[
            "1",
            r#""a""#,
            "0",
            "-5",
            r#""""#,
            r#""\u0031\n""#,
            "18446744073709551615",
            "null",
            "1.0",
            "1.5",
            "1e3",
            "-0",
            "true",
            "[]",
            "{}",
            "9999999999999",
            r#""1234567890""#,
            r#""12345678901""#,
        ],
    ),
    ("method", &[r#""ping""#, r#""tools/call""#, r#""\u0070ing""#, r#""""#, "null", "1", "{}"]),
    (
        "params",
        &[
            "{}",
            r#"{"_meta":{"progressToken":1}}"#,
            r#"{"a":[1],"\u005fmeta":7,"_meta":8}"#,
            r#"{"x":{"_meta":1}}"#,
            "null",
            "[]",
            "1",
            r#""{}""#,
            "true",
        ],
    ),
    ("result", &["{}", r#"{"a":{"b":[]}}"#, "null", "[]", "1", r#""{}""#]),
    (
        "error",
        &[
            r#"{"code":-32600,"message":"no"}"#,
            r#"{"data":[null],"message":"\"no\"","code":9223372036854775807}"#,
            r#"{"code":1,"message":"","code":"1"}"#,
            r#"{"code":1.0,"message":"no"}"#,
            r#"{"code":"1","message":"no"}"#,
            r#"{"code":9223372036854775808,"message":"no"}"#,
            r#"{"code":1}"#,
            r#"{"message":"no"}"#,
            r#"{"code":1,"message":null}"#,
            r#"{"code":1,"message":"no","data":null,"more":{}}"#,
            "null",
            "{}",
            "[]",
            r#""no""#,
        ],
    ),
    ("unknown", &["1", r#"{"method":"nested"}"#, r#"[{"id":1}]"#]),
    ("ID", &["1"]),
    ("", &[r#""jsonrpc""#]),
];

/// Generates one member, usually valid.
fn member() -> impl Strategy<Value = (String, String)> {
    select(CANDIDATES).prop_flat_map(|(name, values)| {
        let good = &values[..values.len().min(3)];
        (
            Just((*name).to_owned()),
            prop_oneof![2 => select(good), 1 => select(values)].prop_map(String::from),
        )
    })
}

/// Generates the members of a message in any order, some missing and rarely one duplicated.
fn members() -> impl Strategy<Value = Vec<(String, String)>> {
    let version = prop_oneof![9 => Just(true), 1 => Just(false)];
    let members = proptest::collection::vec(member(), 0..6);
    (version, members, prop_oneof![9 => Just(false), 1 => Just(true)]).prop_flat_map(
        |(version, mut members, repeat)| {
            if !repeat {
                let mut seen = Vec::new();
                members.retain(|(name, _)| {
                    let is_new = !(seen.contains(name) || version && name == "jsonrpc");
                    seen.push(name.clone());
                    is_new
                });
            }
            if version {
                members.push(("jsonrpc".to_owned(), r#""2.0""#.to_owned()));
            }
            Just(members).prop_shuffle()
        },
    )
}

fn spell(members: &[(String, String)], style: &mut Style, space: &str) -> String {
    let spelled: Vec<String> = members
        .iter()
        .map(|(name, value)| {
            let mut key = String::new();
            style.string(&mut key, name);
            format!("{space}{key}{space}:{space}{value}{space}")
        })
        .collect();
    format!("{space}{{{}}}{space}", spelled.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn messages_are_classified_in_any_order_and_spelling_t_01(
        members in members(), mut style in Style::any(), space in select(&["", " ", "\r\n\t"][..]),
    ) {
        let text = spell(&members, &mut style, space);
        prop_assert_eq!(classify(&text), reference(&text), "{}", text);
    }
}

proptest! {
    #[test]
    fn any_json_is_classified_and_no_text_panics(
        text in testing::text(), at in any::<prop::sample::Index>(),
    ) {
        if text.trim_start().starts_with('{') || serde_json::from_str::<Value>(&text).is_ok() {
            prop_assert_eq!(classify(&text), reference(&text));
        }
        let end = at.index(text.len() + 1);
        let cut = (0..=end).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        let _any = classify(&text[..cut]);
    }

    #[test]
    fn params_and_results_are_verbatim(params in testing::object_text()) {
        let text = format!(r#"{{"params":{params},"jsonrpc":"2.0","method":"m","id":1}}"#);
        let Ok(Message::Request { params: found, .. }) = decode(&text, 100, 99) else {
            panic!("not a request: {text}")
        };
        prop_assert_eq!(found.object.unwrap().text, params.as_bytes());
        let meta = find(params.as_bytes(), "_meta");
        prop_assert_eq!(found.meta, meta);
        prop_assert_eq!(found.member("a"), find(params.as_bytes(), "a"));
        prop_assert_eq!(found.meta_member("a"), meta.and_then(|meta| find(meta, "a")));
        let text = format!(r#"{{"result":{params},"id":1,"jsonrpc":"2.0"}}"#);
        let Ok(Message::Response { outcome: Ok(result), .. }) = decode(&text, 100, 99) else {
            panic!("not a response: {text}")
        };
        prop_assert_eq!(result.text, params.as_bytes());
    }
}

/// Classifies a message with these members and a valid `jsonrpc`.
fn with(members: &str) -> Class {
    let text =
        format!(r#"{{"jsonrpc":"2.0"{}{members}}}"#, if members.is_empty() { "" } else { "," });
    let seen = classify(&text);
    assert_eq!(seen, reference(&text), "{text}");
    seen
}

const NO_PARAMS: ClassParams = ClassParams { object: None, meta: None, malformed: false };

fn invalid(id: Option<&str>, answerable: bool) -> Class {
    Class::Invalid { id: id.map(String::from), answerable }
}

#[test]
fn members_determine_the_kind_of_message_t_01() {
    assert_eq!(with(r#""id":1,"method":"m""#), Class::Request("1".into(), "m".into(), NO_PARAMS));
    assert_eq!(with(r#""method":"m""#), Class::Notification("m".into(), NO_PARAMS));
    assert_eq!(with(r#""id":"1","result":{}"#), Class::Response("\"1\"".into(), Ok(json!({}))));
    let error = json!({"code": 1, "message": "no"});
    assert_eq!(
        with(r#""id":1,"error":{"code":1,"message":"no"}"#),
        Class::Response("1".into(), Err(error))
    );
    assert_eq!(with(r#""id":1"#), invalid(Some("1"), false));
    assert_eq!(with(""), invalid(None, true));
}

#[test]
fn a_message_with_a_method_and_a_result_or_error_is_refused_t_01() {
    for outcome in [r#""result":{}"#, r#""error":{"code":1,"message":"no"}"#, r#""result":null"#] {
        assert_eq!(with(&format!(r#""id":1,"method":"m",{outcome}"#)), invalid(Some("1"), true));
        assert_eq!(with(&format!(r#""method":"m",{outcome}"#)), invalid(None, false));
    }
}

#[test]
fn an_invalid_response_keeps_its_id_json_07() {
    for members in [
        r#""result":{},"error":{"code":1,"message":"no"}"#,
        r#""result":{},"error":null"#,
        r#""result":null"#,
        r#""result":[]"#,
        r#""result":"{}""#,
    ] {
        assert_eq!(
            with(&format!(r#""id":7,{members}"#)),
            Class::BrokenResponse("7".into()),
            "{members}"
        );
    }
    for text in
        [r#"{"id":7,"result":{}}"#, r#"{"jsonrpc":"1.0","id":7,"error":{"code":1,"message":"no"}}"#]
    {
        assert_eq!(classify(text), Class::BrokenResponse("7".into()), "{text}");
    }
}

#[test]
fn without_a_version_only_responses_keep_their_id_t_13() {
    for (members, seen) in [
        (r#""result":{}"#, Class::BrokenResponse("7".into())),
        (r#""method":"m""#, invalid(Some("7"), true)),
        (r#""method":"m","result":{}"#, invalid(Some("7"), true)),
        (r#""method":"m","error":{"code":1,"message":"no"}"#, invalid(Some("7"), true)),
        (r#""other":1"#, invalid(Some("7"), false)),
    ] {
        let text = format!(r#"{{"id":7,{members}}}"#);
        assert_eq!(classify(&text), seen, "{text}");
        assert_eq!(classify(&text), reference(&text), "{text}");
    }
}

#[test]
fn an_id_of_null_is_neither_a_request_nor_a_notification_t_02() {
    assert_eq!(with(r#""id":null,"method":"m""#), invalid(None, true));
}

#[test]
fn an_error_without_a_valid_id_is_an_orphan_t_03() {
    let orphan = Class::Orphan(json!({"code": -32700, "message": "no"}));
    for id in ["", r#""id":null,"#, r#""id":1.5,"#, r#""id":[],"#] {
        assert_eq!(with(&format!(r#"{id}"error":{{"code":-32700,"message":"no"}}"#)), orphan);
        assert_eq!(with(&format!(r#"{id}"result":{{}}"#)), invalid(None, false));
        assert_eq!(with(&format!(r#"{id}"error":{{"code":-32700}}"#)), invalid(None, false));
        let both = r#""result":{},"error":{"code":-32700,"message":"no"}"#;
        assert_eq!(with(&format!("{id}{both}")), invalid(None, false));
    }
}

#[test]
fn ids_with_fractions_or_of_other_types_are_refused_id_07() {
    for id in ["1.5", "1e-3", "true", "[]", "{}", "18446744073709551616", r#""12345678901""#] {
        assert_eq!(with(&format!(r#""id":{id},"method":"m""#)), invalid(None, true), "{id}");
    }
    for id in ["0", "-1", "1.0", "1e3", "-0", "9007199254740993", r#""""#, r#""1234567890""#] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let message = decode(&text, 100, 99);
        assert!(
            matches!(message, Ok(Message::Request { id: found, .. }) if spelling(&found) == id),
            "{id}"
        );
    }
}

#[test]
fn params_are_an_object_or_absent_t_09_json_17() {
    let params = |text: &str| match with(&format!(r#""id":1,"method":"m","params":{text}"#)) {
        Class::Request(_, _, params) => params,
        other => panic!("{other:?}"),
    };
    assert_eq!(params("null"), NO_PARAMS);
    assert_eq!(params("{}"), ClassParams { object: Some(json!({})), ..NO_PARAMS });
    for text in ["[]", "[{}]", "1", "\"{}\"", "true"] {
        assert_eq!(params(text), ClassParams { malformed: true, ..NO_PARAMS }, "{text}");
    }
}

#[test]
fn line_breaks_are_detected_between_tokens_only_frm_02() {
    let line_breaks = |text: &str| match decode(text, 100, 99) {
        Ok(Message::Notification { params, .. }) => params.needs_rewrite(),
        other => panic!("{other:?}"),
    };
    for text in [
        r#"{"jsonrpc":"2.0","method":"m","params":{"a":"\n"}}"#,
        r#"{"jsonrpc":"2.0","method":"m"}"#,
    ] {
        assert!(!line_breaks(text), "{text}");
    }
    for space in ["\n", "\r", " \r\n"] {
        assert!(line_breaks(&format!(
            r#"{{"jsonrpc":"2.0","method":"m","params":{{{space}"a":1}}}}"#
        )));
        assert!(line_breaks(&format!(
            r#"{{"jsonrpc":"2.0","method":"m","params":{{"_meta":{{{space}}}}}}}"#
        )));
    }
}

#[test]
fn duplicate_envelope_members_are_refused_t_10() {
    for (repeated, seen) in [
        (r#""id":1,"id":2,"method":"m""#, invalid(None, true)),
        (r#""id":1,"\u0069d":1,"method":"m""#, invalid(None, true)),
        (r#""id":1,"id":2,"result":{}"#, invalid(None, false)),
        (r#""id":1,"method":"m","method":"n""#, invalid(Some("1"), true)),
        (r#""method":"m","params":{},"params":{}"#, invalid(None, true)),
        (r#""id":1,"result":{},"result":{}"#, Class::BrokenResponse("1".into())),
        (r#""jsonrpc":"2.0","method":"m""#, invalid(None, true)),
    ] {
        assert_eq!(with(repeated), seen, "{repeated}");
    }
    let twice = r#""method":"m","other":1,"other":2"#;
    assert_eq!(
        with(twice),
        Class::Notification("m".into(), NO_PARAMS),
        "unknown members may be duplicated"
    );
}

#[test]
fn jsonrpc_must_be_two_point_zero_json_01_t_13() {
    for version in [
        "",
        r#""jsonrpc":"1.0","#,
        r#""jsonrpc":2.0,"#,
        r#""jsonrpc":null,"#,
        r#""jsonrpc":"2.00","#,
    ] {
        assert_eq!(
            classify(&format!(r#"{{{version}"id":1,"method":"m"}}"#)),
            invalid(Some("1"), true),
            "{version}"
        );
        assert_eq!(
            classify(&format!(r#"{{{version}"method":"m"}}"#)),
            invalid(None, true),
            "{version}"
        );
    }
    let escaped = classify(r#"{"jsonrpc":"\u0032.0","method":"m"}"#);
    assert_eq!(escaped, Class::Notification("m".into(), NO_PARAMS));
}

#[test]
fn an_error_object_has_an_integer_code_and_a_message_t_16() {
    let error = |text: &str| with(&format!(r#""id":1,"error":{text}"#));
    for broken in [
        r#"{"code":1.5,"message":"no"}"#,
        r#"{"code":"1","message":"no"}"#,
        r#"{"code":9223372036854775808,"message":"no"}"#,
        r#"{"message":"no"}"#,
        r#"{"code":1}"#,
        r#"{"code":1,"message":1}"#,
        "null",
        "[]",
        "\"no\"",
    ] {
        assert_eq!(error(broken), Class::BrokenResponse("1".into()), "{broken}");
    }
    let full = json!({"code": i64::MIN, "message": "\n", "data": {"any": [null]}});
    assert_eq!(error(&full.to_string()), Class::Response("1".into(), Err(full)));
    let Class::Response(_, Err(null)) = error(r#"{"code":1,"message":"","data":null}"#) else {
        panic!()
    };
    assert_eq!(null["data"], Value::Null, "null data is data (JSON-10)");
    assert!(null.as_object().unwrap().contains_key("data"));
}

#[test]
fn json_other_than_an_object_is_not_a_message_json_14() {
    for text in ["[]", "[{}]", "1", "null", "\"{}\"", " true "] {
        assert_eq!(classify(text), invalid(None, true), "{text}");
    }
}

#[test]
fn text_other_than_json_is_a_parse_error_json_13() {
    for text in ["", " ", "{bad", "{}{}", r#"{"jsonrpc":"2.0","method":"m"}x"#, "{\"a\":\"\n\"}"] {
        assert_eq!(classify(text), Class::Parse, "{text:?}");
    }
    for (text, expected) in [("{bad", code::PARSE_ERROR), ("{}", code::INVALID_REQUEST)] {
        let Err(Malformed::Invalid { why, .. }) = decode(text, 100, 99) else { panic!() };
        assert_eq!(why.to_error().code, expected);
    }
}

// JSON-13
#[test]
fn text_other_than_json_keeps_the_id_that_can_be_read() {
    let read = |text: &[u8]| match super::decode(text, 100, 99, &[]) {
        Err(Malformed::Invalid { id, answerable, .. }) => (id.as_ref().map(spelling), answerable),
        other => panic!("{other:?}"),
    };
    let seven = || Some("7".to_string());
    assert_eq!(read(br#"{"id":7,"method":"m","params":NaN}"#), (seven(), true));
    assert_eq!(read(b"{\"method\":\"\xff\",\"id\":7}"), (seven(), true));
    assert_eq!(read(br#"{"id":7,"#), (seven(), false));
    assert_eq!(read(br#"{"result":NaN}"#), (None, false));
    assert_eq!(read(b"log: ready"), (None, true));
    let text = br#"{"result":{"a":NaN},"id":7}"#;
    let Ok(Message::BrokenResponse { id, why }) = super::decode(text, 100, 99, &[]) else {
        panic!()
    };
    assert_eq!((id.as_u64(), &*why), (Some(7), "parse error: unexpected byte at byte 15"));
}

#[test]
fn unpaired_surrogates_are_replaced_wherever_they_are() {
    let text = br#"{"jsonrpc":"2.0","id":"\ud83d","method":"\udc00m","params":{"\ud800":["\ud83d\ud83d\ude00"],"_meta":{"a":"\udfff!"}}}"#;
    let Ok(Message::Request { id, method, params }) = super::decode(text, 100, 99, &[]) else {
        panic!()
    };
    assert_eq!(spelling(&id), r#""\ud83d""#, "echoed exactly");
    assert_eq!((id.as_text(), &*method.text), (Some("\u{fffd}"), "\u{fffd}m"));
    let kept = params.object.unwrap().keep(Frame::Borrowed(text));
    let expected = json!({"\u{fffd}": ["\u{fffd}😀"], "_meta": {"a": "\u{fffd}!"}});
    assert_eq!(kept.parse::<Value>().unwrap(), expected);
}

#[test]
fn the_message_itself_is_the_first_level_of_nesting_t_12() {
    let nested = |levels: usize| format!(r#"{{"x":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    let params = |levels: usize| {
        format!(r#"{{"params":{{"a":{}{}}}}}"#, "[".repeat(levels), "]".repeat(levels))
    };
    let meta = |levels: usize| {
        format!(r#"{{"params":{}0{}}}"#, r#"{"_meta":"#.repeat(levels), "}".repeat(levels))
    };
    let fits = |text: &str, depth_max| match decode(text, depth_max, 99) {
        Err(Malformed::Invalid { why, .. }) => !matches!(why, Defect::Syntax(_)),
        _ => true,
    };
    for depth_max in [3, 50, 100, 128, 255] {
        let inner = usize::from(depth_max.min(128)) - 1;
        assert!(
            fits(&nested(inner), depth_max) && !fits(&nested(inner + 1), depth_max),
            "{depth_max}"
        );
        assert!(
            fits(&params(inner - 1), depth_max) && !fits(&params(inner), depth_max),
            "{depth_max}"
        );
        assert!(fits(&meta(inner), depth_max) && !fits(&meta(inner + 1), depth_max), "{depth_max}");
    }
    assert!(fits("{}", 1) && !fits("{}", 0));
}

#[test]
fn many_members_take_linear_time() {
    let wide = vec!["\"\\u0061\":1"; 100_000].join(",");
    assert_eq!(classify(&format!("{{{wide}}}")), invalid(None, true));
    let wide = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{{wide}}}}}"#);
    assert!(matches!(classify(&wide), Class::Notification(..)));
}
