//! What a message is, against a second opinion: a slow and plain reading of the same rules with
//! `serde_json`.

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
    decode_utf8(text.as_bytes(), depth_max, id_bytes_max)
}

const ID_BYTES_MAX: usize = 12;

/// A message as both readers see it.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Broken(String),
    Invalid { id: Option<String>, answerable: bool },
    Notification(String, SeenParams),
    Orphan(Value),
    Parse,
    Request(String, String, SeenParams),
    Response(String, Result<Value, Value>),
}

#[derive(Clone, Debug, PartialEq)]
struct SeenParams {
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

fn see_params(params: &Params<'_>) -> SeenParams {
    SeenParams {
        object: params.object.map(|object| parse(object.text)),
        meta: params.meta.map(parse),
        malformed: params.malformed,
    }
}

/// What the decoder says.
fn see(text: &str) -> Seen {
    match decode(text, 100, ID_BYTES_MAX) {
        Ok(Message::Notification { method, params }) => {
            Seen::Notification(method.text.into(), see_params(&params))
        }
        Ok(Message::Request { id, method, params }) => {
            Seen::Request(spelling(&id), method.text.into(), see_params(&params))
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
            Seen::Response(spelling(&id), outcome)
        }
        Ok(Message::BrokenResponse { id, .. }) => Seen::Broken(spelling(&id)),
        Ok(Message::OrphanError(error)) => Seen::Orphan(error_value(&error)),
        Err(Malformed::Parse(_) | Malformed::NotUtf8(_) | Malformed::Array) => Seen::Parse,
        Err(Malformed::Invalid { id, answerable, .. }) => {
            Seen::Invalid { id: id.as_ref().map(spelling), answerable }
        }
    }
}

/// The members of an object in order, with those that are repeated.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> serde::Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
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

/// An id that may be used: a string or an integer, short enough. (ID-07, T-05)
fn reference_id(raw: &RawValue) -> Option<String> {
    let value = parse(raw.get().as_bytes());
    let fits = raw.get().len() <= ID_BYTES_MAX;
    (fits && (value.is_string() || value.is_i64() || value.is_u64())).then(|| raw.get().to_owned())
}

/// The error object, if it is one. (JSON-09)
fn reference_error(error: &Value) -> Option<Value> {
    let mut out = Map::new();
    out.insert("code".into(), error.get("code").filter(|code| code.is_i64())?.clone());
    out.insert(
        "message".into(),
        error.get("message").filter(|message| message.is_string())?.clone(),
    );
    if let Some(data) = error.get("data") {
        out.insert("data".into(), data.clone());
    }
    Some(Value::Object(out))
}

/// The rules of T-01, T-02, T-03, T-09, T-10 and T-16, in the order in which they apply.
fn reference(text: &str) -> Seen {
    if serde_json::from_str::<Value>(text).is_err() {
        return Seen::Parse;
    }
    let Ok(Members(members)) = serde_json::from_str(text) else {
        return Seen::Invalid { id: None, answerable: true };
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
        Seen::Invalid { id, answerable }
    };

    let envelope = ["jsonrpc", "id", "method", "params", "result", "error"];
    let repeated = envelope.iter().any(|name| named(name).len() > 1);
    let id =
        named("id").last().filter(|_| named("id").len() == 1).and_then(|raw| reference_id(raw));
    if repeated || member("jsonrpc") != Some(json!("2.0")) {
        return match id {
            Some(id) if !has_method && has_outcome => Seen::Broken(id),
            id => invalid(id),
        };
    }
    if let Some(method) = method {
        let Value::String(method) = method else { return invalid(id) };
        if result.is_some() || error.is_some() {
            return invalid(id);
        }
        let object = params.clone().filter(Value::is_object);
        let params = SeenParams {
            meta: object.as_ref().and_then(|object| object.get("_meta").cloned()),
            malformed: params.is_some_and(|params| !params.is_object() && !params.is_null()),
            object,
        };
        return match (named("id").is_empty(), id) {
            (true, _) => Seen::Notification(method, params),
            (false, Some(id)) => Seen::Request(id, method, params),
            (false, None) => invalid(None),
        };
    }
    match (id, result, error) {
        (None, None, Some(error)) => {
            reference_error(&error).map_or_else(|| invalid(None), Seen::Orphan)
        }
        (None, ..) => invalid(None),
        (Some(id), None, None) => invalid(Some(id)),
        (Some(id), Some(result), None) if result.is_object() => Seen::Response(id, Ok(result)),
        (Some(id), None, Some(error)) => match reference_error(&error) {
            Some(error) => Seen::Response(id, Err(error)),
            None => Seen::Broken(id),
        },
        (Some(id), ..) => Seen::Broken(id),
    }
}

/// Values that each envelope member may have, good ones first.
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

/// One member, mostly a good one.
fn member() -> impl Strategy<Value = (String, String)> {
    select(CANDIDATES).prop_flat_map(|(name, values)| {
        let good = &values[..values.len().min(3)];
        (
            Just((*name).to_owned()),
            prop_oneof![2 => select(good), 1 => select(values)].prop_map(String::from),
        )
    })
}

/// The members of a message in any order, some of them missing, rarely one twice.
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
    fn a_message_is_what_its_members_say_in_any_order_and_spelling_t_01(
        members in members(), mut style in Style::any(), space in select(&["", " ", "\r\n\t"][..]),
    ) {
        let text = spell(&members, &mut style, space);
        prop_assert_eq!(see(&text), reference(&text), "{}", text);
    }

}

proptest! {
    #[test]
    fn any_json_is_classified_and_no_text_panics(text in testing::text(), at in any::<prop::sample::Index>()) {
        if text.trim_start().starts_with('{') || serde_json::from_str::<Value>(&text).is_ok() {
            prop_assert_eq!(see(&text), reference(&text));
        }
        let cut = (0..=at.index(text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        let _any = see(&text[..cut]);
    }

    #[test]
    fn params_and_result_come_verbatim(params in testing::object_text()) {
        let text = format!(r#"{{"params":{params},"jsonrpc":"2.0","method":"m","id":1}}"#);
        let Ok(Message::Request { params: found, .. }) = decode(&text, 100, 99) else { panic!("no request: {text}") };
        prop_assert_eq!(found.object.unwrap().text, params.as_bytes());
        let meta = find(params.as_bytes(), "_meta");
        prop_assert_eq!(found.meta, meta);
        prop_assert_eq!(found.member("a"), find(params.as_bytes(), "a"));
        prop_assert_eq!(found.meta_member("a"), meta.and_then(|meta| find(meta, "a")));
        let text = format!(r#"{{"result":{params},"id":1,"jsonrpc":"2.0"}}"#);
        let Ok(Message::Response { outcome: Ok(result), .. }) = decode(&text, 100, 99) else { panic!("no response") };
        prop_assert_eq!(result.text, params.as_bytes());
    }
}

/// A message with these members and a right `jsonrpc`.
fn with(members: &str) -> Seen {
    let text =
        format!(r#"{{"jsonrpc":"2.0"{}{members}}}"#, if members.is_empty() { "" } else { "," });
    let seen = see(&text);
    assert_eq!(seen, reference(&text), "{text}");
    seen
}

const NO_PARAMS: SeenParams = SeenParams { object: None, meta: None, malformed: false };

fn invalid(id: Option<&str>, answerable: bool) -> Seen {
    Seen::Invalid { id: id.map(String::from), answerable }
}

#[test]
fn presence_of_members_tells_what_a_message_is_t_01() {
    assert_eq!(with(r#""id":1,"method":"m""#), Seen::Request("1".into(), "m".into(), NO_PARAMS));
    assert_eq!(with(r#""method":"m""#), Seen::Notification("m".into(), NO_PARAMS));
    assert_eq!(with(r#""id":"1","result":{}"#), Seen::Response("\"1\"".into(), Ok(json!({}))));
    let error = json!({"code": 1, "message": "no"});
    assert_eq!(
        with(r#""id":1,"error":{"code":1,"message":"no"}"#),
        Seen::Response("1".into(), Err(error))
    );
    assert_eq!(with(r#""id":1"#), invalid(Some("1"), false));
    assert_eq!(with(""), invalid(None, true));
}

#[test]
fn a_message_with_a_method_and_an_outcome_is_refused_t_01() {
    for outcome in [r#""result":{}"#, r#""error":{"code":1,"message":"no"}"#, r#""result":null"#] {
        assert_eq!(with(&format!(r#""id":1,"method":"m",{outcome}"#)), invalid(Some("1"), true));
        assert_eq!(with(&format!(r#""method":"m",{outcome}"#)), invalid(None, false));
    }
}

#[test]
fn a_response_that_cannot_be_understood_still_names_its_call_json_07() {
    for members in [
        r#""result":{},"error":{"code":1,"message":"no"}"#,
        r#""result":{},"error":null"#,
        r#""result":null"#,
        r#""result":[]"#,
        r#""result":"{}""#,
    ] {
        assert_eq!(with(&format!(r#""id":7,{members}"#)), Seen::Broken("7".into()), "{members}");
    }
    for text in
        [r#"{"id":7,"result":{}}"#, r#"{"jsonrpc":"1.0","id":7,"error":{"code":1,"message":"no"}}"#]
    {
        assert_eq!(see(text), Seen::Broken("7".into()), "{text}");
    }
}

#[test]
fn what_does_not_say_its_version_names_a_call_only_if_it_is_a_response_t_13() {
    for (members, seen) in [
        (r#""result":{}"#, Seen::Broken("7".into())),
        (r#""method":"m""#, invalid(Some("7"), true)),
        (r#""method":"m","result":{}"#, invalid(Some("7"), true)),
        (r#""method":"m","error":{"code":1,"message":"no"}"#, invalid(Some("7"), true)),
        (r#""other":1"#, invalid(Some("7"), false)),
    ] {
        let text = format!(r#"{{"id":7,{members}}}"#);
        assert_eq!(see(&text), seen, "{text}");
        assert_eq!(see(&text), reference(&text), "{text}");
    }
}

#[test]
fn an_id_of_null_is_neither_a_request_nor_a_notification_t_02() {
    assert_eq!(with(r#""id":null,"method":"m""#), invalid(None, true));
}

#[test]
fn an_error_without_a_usable_id_belongs_to_nobody_t_03() {
    let orphan = Seen::Orphan(json!({"code": -32700, "message": "no"}));
    for id in ["", r#""id":null,"#, r#""id":1.5,"#, r#""id":[],"#] {
        assert_eq!(with(&format!(r#"{id}"error":{{"code":-32700,"message":"no"}}"#)), orphan);
        assert_eq!(with(&format!(r#"{id}"result":{{}}"#)), invalid(None, false));
        assert_eq!(with(&format!(r#"{id}"error":{{"code":-32700}}"#)), invalid(None, false));
        let both = r#""result":{},"error":{"code":-32700,"message":"no"}"#;
        assert_eq!(with(&format!("{id}{both}")), invalid(None, false));
    }
}

#[test]
fn ids_with_fractions_exponents_or_of_other_types_are_refused_id_07() {
    for id in
        ["1.5", "1.0", "1e3", "-0", "true", "[]", "{}", "18446744073709551616", r#""12345678901""#]
    {
        assert_eq!(with(&format!(r#""id":{id},"method":"m""#)), invalid(None, true), "{id}");
    }
    for id in ["0", "-1", "9007199254740993", r#""""#, r#""1234567890""#] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let message = decode(&text, 100, 99);
        assert!(
            matches!(message, Ok(Message::Request { id: found, .. }) if spelling(&found) == id),
            "{id}"
        );
    }
}

#[test]
fn params_are_an_object_or_nothing_t_09_json_17() {
    let params = |text: &str| match with(&format!(r#""id":1,"method":"m","params":{text}"#)) {
        Seen::Request(_, _, params) => params,
        other => panic!("{other:?}"),
    };
    assert_eq!(params("null"), NO_PARAMS);
    assert_eq!(params("{}"), SeenParams { object: Some(json!({})), ..NO_PARAMS });
    for text in ["[]", "[{}]", "1", "\"{}\"", "true"] {
        assert_eq!(params(text), SeenParams { malformed: true, ..NO_PARAMS }, "{text}");
    }
}

#[test]
fn params_know_of_line_breaks_between_tokens_and_of_no_others_frm_02() {
    let line_breaks = |text: &str| match decode(text, 100, 99) {
        Ok(Message::Notification { params, .. }) => params.line_breaks(),
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
fn a_repeated_envelope_member_is_refused_t_10() {
    for (repeated, seen) in [
        (r#""id":1,"id":2,"method":"m""#, invalid(None, true)),
        (r#""id":1,"\u0069d":1,"method":"m""#, invalid(None, true)),
        (r#""id":1,"id":2,"result":{}"#, invalid(None, false)),
        (r#""id":1,"method":"m","method":"n""#, invalid(Some("1"), true)),
        (r#""method":"m","params":{},"params":{}"#, invalid(None, true)),
        (r#""id":1,"result":{},"result":{}"#, Seen::Broken("1".into())),
        (r#""jsonrpc":"2.0","method":"m""#, invalid(None, true)),
    ] {
        assert_eq!(with(repeated), seen, "{repeated}");
    }
    let twice = r#""method":"m","other":1,"other":2"#;
    assert_eq!(with(twice), Seen::Notification("m".into(), NO_PARAMS), "others may be");
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
            see(&format!(r#"{{{version}"id":1,"method":"m"}}"#)),
            invalid(Some("1"), true),
            "{version}"
        );
        assert_eq!(see(&format!(r#"{{{version}"method":"m"}}"#)), invalid(None, true), "{version}");
    }
    let escaped = see(r#"{"jsonrpc":"\u0032.0","method":"m"}"#);
    assert_eq!(escaped, Seen::Notification("m".into(), NO_PARAMS));
}

#[test]
fn an_error_object_has_an_integer_code_and_a_message_t_16() {
    let error = |text: &str| with(&format!(r#""id":1,"error":{text}"#));
    for broken in [
        r#"{"code":1.5,"message":"no"}"#,
        r#"{"code":1.0,"message":"no"}"#,
        r#"{"code":"1","message":"no"}"#,
        r#"{"code":9223372036854775808,"message":"no"}"#,
        r#"{"message":"no"}"#,
        r#"{"code":1}"#,
        r#"{"code":1,"message":1}"#,
        "null",
        "[]",
        "\"no\"",
    ] {
        assert_eq!(error(broken), Seen::Broken("1".into()), "{broken}");
    }
    let full = json!({"code": i64::MIN, "message": "\n", "data": {"any": [null]}});
    assert_eq!(error(&full.to_string()), Seen::Response("1".into(), Err(full)));
    let Seen::Response(_, Err(null)) = error(r#"{"code":1,"message":"","data":null}"#) else {
        panic!()
    };
    assert_eq!(null["data"], Value::Null, "null data is data (JSON-10)");
    assert!(null.as_object().unwrap().contains_key("data"));
}

#[test]
fn json_that_is_no_object_is_no_message_json_14() {
    for text in ["[]", "[{}]", "1", "null", "\"{}\"", " true "] {
        assert_eq!(see(text), invalid(None, true), "{text}");
    }
}

#[test]
fn what_is_not_json_is_a_parse_error_json_13() {
    for text in [
        "",
        " ",
        "{bad",
        "{}{}",
        r#"{"jsonrpc":"2.0","method":"m"}x"#,
        r#"{"a":"\ud800"}"#,
        "{\"a\":\"\n\"}",
    ] {
        assert_eq!(see(text), Seen::Parse, "{text:?}");
    }
    let Err(malformed) = decode("{bad", 100, 99) else { panic!() };
    assert_eq!(malformed.to_error().code, code::PARSE_ERROR);
    let Err(malformed) = decode("{}", 100, 99) else { panic!() };
    assert_eq!(malformed.to_error().code, code::INVALID_REQUEST);
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
    let fits =
        |text: &str, depth_max| !matches!(decode(text, depth_max, 99), Err(Malformed::Parse(_)));
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
fn many_members_cost_no_more_than_their_bytes() {
    let wide = vec!["\"\\u0061\":1"; 100_000].join(",");
    assert_eq!(see(&format!("{{{wide}}}")), invalid(None, true));
    let wide = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{{wide}}}}}"#);
    assert!(matches!(see(&wide), Seen::Notification(..)));
}
