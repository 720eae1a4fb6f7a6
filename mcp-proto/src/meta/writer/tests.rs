//! Compares written messages with hand-written JSON trees.

use alloc::string::String;
use alloc::{format, vec};

use serde_json::{Value, json};

use super::*;
use crate::json::members as json_members;
use crate::revision::Capability;
use crate::schema::Capabilities;
use crate::vocabulary::ViolationPolicy;

fn writer_of(side: Side, sends_info: bool) -> MetaWriter {
    let capability = match side {
        Side::Client => Capability::Roots,
        Side::Server => Capability::Tools,
    };
    let me = Identity {
        capabilities: Capabilities::none().with(capability),
        revisions: vec![Revision::V2026_07_28],
        sends_info,
        ..Identity::new("n", "1", ViolationPolicy::Ignore)
    };
    MetaWriter::new(&me, side, Revision::V2026_07_28)
}

const INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The expected `_meta` of a request.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "n", "version": "1"},
    })
}

fn of(text: Option<&str>) -> TextWithMeta<'_> {
    TextWithMeta::of(text.map(str::as_bytes))
}

fn params(text: Option<&str>, token: Option<u64>, level: Option<Level>) -> Value {
    let mut out = b"before".to_vec();
    writer_of(Side::Client, true).write_params(&mut out, of(text), token, level);
    let text = String::from_utf8(out).unwrap();
    serde_json::from_str(text.strip_prefix("before").unwrap()).unwrap()
}

// STL-02
#[test]
fn every_request_carries_revision_capabilities_and_client_info_stl_01_stl_02() {
    for text in [None, Some("{}"), Some("{ }"), Some(r#"{"_meta":{}}"#), Some(r#"{"_meta":null}"#)]
    {
        assert_eq!(params(text, None, None), json!({"_meta": meta()}), "{text:?}");
    }
    let with = params(Some(r#"{"a":[1],"name":"x"}"#), None, None);
    assert_eq!(with, json!({"a": [1], "name": "x", "_meta": meta()}));
}

// STL-02
#[test]
fn the_client_info_can_be_withheld_stl_02() {
    let mut out = Vec::new();
    writer_of(Side::Client, false).write_params(&mut out, of(None), None, None);
    let mut wanted = meta();
    wanted.as_object_mut().unwrap().remove("io.modelcontextprotocol/clientInfo");
    assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), json!({"_meta": wanted}));
}

#[test]
fn the_meta_of_the_application_is_kept_except_reserved_members() {
    let text = r#"{"_meta":{"traceparent":"00-a","x/y":{"b":1},"progressToken":"mine",
        "io.modelcontextprotocol/protocolVersion":"1999-01-01",
        "io.modelcontextprotocol/clientCapabilities":{"sampling":{}},
        "io.modelcontextprotocol/client\u0049nfo":{"name":"z","version":"9"}}}"#
        .replace('\n', "");
    let mut wanted = meta();
    wanted["traceparent"] = json!("00-a");
    wanted["x/y"] = json!({"b": 1});
    assert_eq!(params(Some(&text), None, None), json!({"_meta": wanted}));
    wanted["progressToken"] = json!(7);
    assert_eq!(params(Some(&text), Some(7), None), json!({"_meta": wanted}));
}

#[test]
fn a_log_level_in_the_params_overrides_that_of_the_connection_log_05() {
    const KEY: &str = "io.modelcontextprotocol/logLevel";
    assert_eq!(params(None, None, None)["_meta"].get(KEY), None);
    assert_eq!(params(None, None, Some(Level::Warning))["_meta"][KEY], "warning");
    let own = r#"{"_meta":{"io.modelcontextprotocol/logLevel":"debug"}}"#;
    assert_eq!(params(Some(own), None, None)["_meta"][KEY], "debug");
    let mut out = Vec::new();
    let writer = writer_of(Side::Client, true);
    writer.write_params(&mut out, of(Some(own)), None, Some(Level::Warning));
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.matches("logLevel").count(), 1, "{text}");
    assert!(text.contains(r#""io.modelcontextprotocol/logLevel":"debug""#), "{text}");
    for (text, asks) in [(None, false), (Some("{}"), false), (Some(own), true)] {
        assert_eq!(asks_for_logs(of(text)), asks, "{text:?}");
    }
}

fn finish(writer: &MetaWriter, result: &str, method: &str) -> String {
    let mut out = format!("before{result}").into_bytes();
    let rule = MethodRule::find(method, true, Revision::V2026_07_28);
    writer.finish_result(&mut out, "before".len(), rule);
    let text = String::from_utf8(out).unwrap();
    text.strip_prefix("before").unwrap().into()
}

/// The expected result.
fn expected(result: &str, is_cacheable: bool, sends_info: bool) -> Value {
    let mut result: Value = serde_json::from_str(result).unwrap();
    let object = result.as_object_mut().unwrap();
    let kind = object.entry("resultType").or_insert(json!("complete")).clone();
    if is_cacheable && kind == "complete" {
        object.entry("ttlMs").or_insert(json!(0));
        object.entry("cacheScope").or_insert(json!("private"));
    }
    if sends_info {
        let meta = object.entry("_meta").or_insert(json!({}));
        if !meta.is_object() {
            *meta = json!({});
        }
        meta.as_object_mut().unwrap().entry(INFO).or_insert(json!({"name": "n", "version": "1"}));
    }
    result
}

// JSON-23
#[test]
fn every_result_carries_type_server_info_and_cache_members_stl_05_stl_39_stl_40_json_23() {
    let members = [
        "",
        r#""tools":[]"#,
        r#""resultType":"complete""#,
        r#""resultType":"input_required","requestState":"s""#,
        r#""result\u0054ype":"input_required""#,
        r#""ttlMs":5"#,
        r#""cacheScope":"public""#,
        r#""ttlMs":5,"cacheScope":"public","resultType":"complete""#,
        r#""_meta":{}"#,
        r#""_meta":{"x":1},"tools":[]"#,
        r#""tools":[],"_meta":null"#,
        r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mine","version":"2"}}"#,
        r#""a":{"resultType":"x","ttlMs":1,"_meta":{}}"#,
    ];
    let methods = [
        ("server/discover", true),
        ("tools/list", true),
        ("resources/list", true),
        ("resources/templates/list", true),
        ("resources/read", true),
        ("prompts/list", true),
        ("tools/call", false),
        ("prompts/get", false),
        ("completion/complete", false),
        ("subscriptions/listen", false),
        ("x/y", false),
    ];
    for sends_info in [true, false] {
        let writer = writer_of(Side::Server, sends_info);
        for members in members {
            for (method, is_cacheable) in methods {
                for result in [format!("{{{members}}}"), format!("{{ {members} }}")] {
                    let finished = finish(&writer, &result, method);
                    let tree: Value = serde_json::from_str(&finished).expect(&finished);
                    assert_eq!(
                        tree,
                        expected(&result, is_cacheable, sends_info),
                        "{method} {result}"
                    );
                    // A tree would hide duplicate members.
                    let mut names: Vec<_> = json_members(finished.as_bytes())
                        .map(|(name, _)| unescape_key(name))
                        .collect();
                    let count = names.len();
                    names.sort_unstable();
                    names.dedup();
                    assert_eq!(names.len(), count, "{finished}");
                }
            }
        }
    }
}

#[test]
fn a_result_that_is_not_an_object_is_left_unchanged() {
    let writer = writer_of(Side::Server, true);
    for text in ["", "[]", "5", "null"] {
        assert_eq!(finish(&writer, text, "tools/list"), text);
    }
}
