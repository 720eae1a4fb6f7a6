//! MCP's types through JSON and back, and what a value of the wrong form is called.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use super::decode::{AnyObject, optional, required};
use super::*;
use crate::error::Unencodable;
use crate::json::{Raw, testing};
use crate::revision::{CAPABILITIES, Capability, Revision, Side};

fn encoded<T: Encode + ?Sized>(value: &T, revision: Revision) -> Raw {
    let mut out = Vec::new();
    value.encode(revision, &mut out).unwrap();
    Raw::from_text(core::str::from_utf8(&out).unwrap()).unwrap()
}

fn raw(value: &Value) -> Raw {
    Raw::new(value).unwrap()
}

fn decoded<T: Decode>(value: &Value) -> Result<T, DecodeError> {
    T::decode(&raw(value))
}

/// Every revision gives the same value back.
fn assert_round_trip<T: Encode + Decode + PartialEq + core::fmt::Debug>(value: &T) {
    for revision in Revision::ALL {
        assert_eq!(&T::decode(&encoded(value, revision)).unwrap(), value, "{revision}");
    }
}

fn object() -> impl Strategy<Value = Raw> {
    testing::object_text().prop_map(|text| Raw::from_text(&text).unwrap())
}

fn any_raw() -> impl Strategy<Value = Raw> {
    testing::text().prop_map(|text| Raw::from_text(&text).unwrap())
}

fn some<T>(strategy: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>>
where
    T: core::fmt::Debug,
{
    proptest::option::of(strategy)
}

fn content() -> impl Strategy<Value = Content> {
    let text = testing::string;
    prop_oneof![
        text().prop_map(Content::Text),
        (text(), text()).prop_map(|(data, mime_type)| Content::Image { data, mime_type }),
        (text(), object()).prop_map(|(text, annotations)| {
            Content::Other(raw(&json!({"type": "text", "text": text, "annotations": annotations})))
        }),
        object().prop_map(|link| Content::Other(raw(&json!({"type": "of an extension", "link": link})))),
    ]
}

fn tool() -> impl Strategy<Value = Tool> {
    let text = testing::string;
    (text(), some(text()), some(text()), object()).prop_map(|(name, title, description, input_schema)| Tool {
        name,
        title,
        description,
        input_schema,
    })
}

proptest! {
    #[test]
    fn tools_go_round(tools in proptest::collection::vec(tool(), 0..3), next_cursor in some(testing::string())) {
        assert_round_trip(&ListToolsResult { tools, next_cursor });
    }

    #[test]
    fn tool_calls_go_round(name in testing::string(), arguments in some(object())) {
        assert_round_trip(&CallTool { name, arguments });
    }

    #[test]
    fn tool_results_go_round_and_null_differs_from_none_t_107(
        content in proptest::collection::vec(content(), 0..3),
        structured_content in some(prop_oneof![any_raw(), Just(raw(&Value::Null))]),
        is_error in any::<bool>(),
    ) {
        assert_round_trip(&CallToolResult { content, structured_content, is_error });
    }

    #[test]
    fn forms_and_their_answers_go_round(message in testing::string(), fields in object()) {
        assert_round_trip(&Elicit::form(message, fields.clone()));
        assert_round_trip(&ElicitResult::accept(fields));
        assert_round_trip(&ElicitResult::decline());
        assert_round_trip(&ElicitResult::cancel());
    }

    #[test]
    fn implementations_go_round(name in testing::string(), version in testing::string(), title in some(testing::string())) {
        assert_round_trip(&Implementation { name, version, title });
    }

    #[test]
    fn unknown_members_are_ignored_everywhere_json_18(more in testing::object(), value in any::<prop::sample::Index>()) {
        let known: Vec<Value> = vec![
            json!({"name": "n", "version": "1", "title": "t"}),
            json!({"tools": [{"name": "n", "inputSchema": {}}], "nextCursor": ""}),
            json!({"name": "n", "arguments": {}}),
            json!({"content": [], "structuredContent": null, "isError": true}),
            json!({"message": "m", "requestedSchema": {}}),
            json!({"action": "accept", "content": {}}),
            json!({"protocolVersion": "1", "capabilities": {}, "serverInfo": {"name": "n", "version": "1"}}),
        ];
        let at = value.index(known.len());
        let mut extended = known[at].clone();
        for (key, value) in more {
            extended.as_object_mut().unwrap().entry(key).or_insert(value);
        }
        let same = |plain: String, more: String| assert_eq!(plain, more);
        macro_rules! compare {
            ($type:ty) => {
                same(
                    format!("{:?}", decoded::<$type>(&known[at]).unwrap()),
                    format!("{:?}", decoded::<$type>(&extended).unwrap()),
                )
            };
        }
        match at {
            0 => compare!(Implementation),
            1 => compare!(ListToolsResult),
            2 => compare!(CallTool),
            3 => compare!(CallToolResult),
            4 => compare!(Elicit),
            5 => compare!(ElicitResult),
            _ => compare!(InitializeResult),
        }
    }

    #[test]
    fn no_value_makes_a_decoder_panic(value in any_raw()) {
        let _any = ListToolsResult::decode(&value);
        let _any = CallTool::decode(&value);
        let _any = CallToolResult::decode(&value);
        let _any = Content::decode(&value);
        let _any = Elicit::decode(&value);
        let _any = ElicitResult::decode(&value);
        let _any = Implementation::decode(&value);
        let _any = InitializeResult::decode(&value);
        let _any = Level::decode(&value);
        for side in [Side::Client, Side::Server] {
            for revision in Revision::ALL {
                let _any = Capabilities::read(&value, side, revision);
            }
        }
    }
}

/// Where `T` finds something wrong with `value`, and whether it found anything there.
fn wrong<T: Decode + core::fmt::Debug>(value: Value) -> (String, &'static str, bool) {
    let error = decoded::<T>(&value).unwrap_err();
    assert!(error.to_string().contains(&format!("{:?}", error.pointer)), "{error}");
    (error.pointer, error.expected, error.found.is_some())
}

fn at<T: Decode + core::fmt::Debug>(value: Value) -> String {
    wrong::<T>(value).0
}

#[test]
fn an_error_names_the_place() {
    assert_eq!(wrong::<CallTool>(json!({"name": 1})), ("/name".into(), "a string", true));
    assert_eq!(wrong::<CallTool>(json!({})), ("/name".into(), "a member", false));
    assert_eq!(at::<CallTool>(json!({"name": "n", "arguments": []})), "/arguments");
    assert_eq!(at::<ListToolsResult>(json!({})), "/tools");
    assert_eq!(at::<ListToolsResult>(json!([])), "/tools");
    assert_eq!(at::<ListToolsResult>(json!({"tools": {}})), "/tools");
    assert_eq!(at::<ListToolsResult>(json!({"tools": [], "nextCursor": 1})), "/nextCursor");
    let tools = |tool: Value| json!({"tools": [{"name": "n", "inputSchema": {}}, tool]});
    assert_eq!(at::<ListToolsResult>(tools(json!(null))), "/tools/1/name");
    assert_eq!(at::<ListToolsResult>(tools(json!({"name": "n"}))), "/tools/1/inputSchema");
    assert_eq!(
        at::<ListToolsResult>(tools(json!({"name": "n", "inputSchema": true}))),
        "/tools/1/inputSchema"
    );
    assert_eq!(at::<CallToolResult>(json!({"content": "text"})), "/content");
    assert_eq!(at::<CallToolResult>(json!({"content": [null]})), "/content/0");
    assert_eq!(at::<CallToolResult>(json!({"content": [{"type": "text"}]})), "/content/0/text");
    assert_eq!(
        at::<CallToolResult>(json!({"content": [{"type": "image", "data": ""}]})),
        "/content/0/mimeType"
    );
    assert_eq!(at::<CallToolResult>(json!({"content": [{"text": ""}]})), "/content/0/type");
    assert_eq!(at::<Elicit>(json!({"message": "m", "requestedSchema": []})), "/requestedSchema");
    assert_eq!(at::<ElicitResult>(json!({"action": "agree"})), "/action");
    assert_eq!(at::<ElicitResult>(json!({"action": null})), "/action");
    assert_eq!(at::<ElicitResult>(json!({"action": "accept", "content": "yes"})), "/content");
    let result = |name: &str, value: Value| {
        let mut whole =
            json!({"protocolVersion": "1", "capabilities": {}, "serverInfo": {"name": "n", "version": "1"}});
        whole[name] = value;
        whole
    };
    assert_eq!(at::<InitializeResult>(result("protocolVersion", json!(1))), "/protocolVersion");
    assert_eq!(at::<InitializeResult>(result("capabilities", json!([]))), "/capabilities");
    assert_eq!(at::<InitializeResult>(result("serverInfo", json!({"name": "n"}))), "/serverInfo/version");
    assert_eq!(at::<InitializeResult>(result("instructions", json!(1))), "/instructions");
    assert_eq!(at::<Capabilities>(json!(1)), "");
    assert_eq!(at::<Level>(json!("warn")), "");
}

#[test]
fn the_pointer_escapes_what_rfc_6901_escapes() {
    #[derive(Debug)]
    struct Odd;
    impl Decode for Odd {
        fn decode(raw: &Raw) -> Result<Self, DecodeError> {
            required::<String>(raw, "a/b~c").map(|_| Self)
        }
    }
    assert_eq!(at::<Odd>(json!({"a/b~c": 1})), "/a~1b~0c");
    assert_eq!(at::<Vec<Odd>>(json!([{"a/b~c": ""}, {}])), "/1/a~1b~0c");
}

#[test]
fn an_optional_member_may_be_null_and_a_required_one_may_not() {
    let value = raw(&json!({"null": null, "one": {}}));
    assert!(optional::<AnyObject>(&value, "null").unwrap().is_none());
    assert!(optional::<AnyObject>(&value, "none").unwrap().is_none());
    assert!(optional::<AnyObject>(&value, "one").unwrap().is_some());
    assert!(required::<AnyObject>(&value, "null").is_err());
    let call: CallTool = decoded(&json!({"name": "n", "arguments": null})).unwrap();
    assert_eq!(call.arguments, None);
}

#[test]
fn structured_content_of_null_is_not_none_t_107() {
    let structured = |value: Value| decoded::<CallToolResult>(&value).unwrap().structured_content;
    assert_eq!(structured(json!({"content": []})), None);
    assert_eq!(structured(json!({"content": [], "structuredContent": null})), Some(raw(&Value::Null)));
    let result = CallToolResult { structured_content: Some(raw(&Value::Null)), ..CallToolResult::default() };
    assert_eq!(
        encoded(&result, Revision::V2026_07_28).as_str(),
        r#"{"content":[],"structuredContent":null}"#
    );
}

#[test]
fn an_empty_cursor_is_a_cursor_pag_04() {
    let page = |value: Value| decoded::<ListToolsResult>(&value).unwrap().next_cursor;
    assert_eq!(page(json!({"tools": [], "nextCursor": ""})), Some(String::new()));
    assert_eq!(page(json!({"tools": []})), None);
    assert_eq!(page(json!({"tools": [], "nextCursor": null})), None);
}

#[test]
fn content_of_unknown_types_and_with_annotations_is_kept_as_it_came_t_119() {
    for block in [
        json!({"type": "hologram", "data": 1}),
        json!({"type": "resource_link", "uri": "file:///a", "name": "a"}),
        json!({"type": "text", "text": "t", "annotations": {"priority": 1}}),
        json!({"type": "image", "data": "", "mimeType": "", "_meta": {"k": 1}}),
    ] {
        assert_eq!(decoded::<Content>(&block).unwrap(), Content::Other(raw(&block)));
    }
    assert_eq!(decoded::<Content>(&json!({"type": "text", "text": "t"})).unwrap().as_text(), Some("t"));
}

#[test]
fn content_newer_than_the_peer_is_not_written_t_120() {
    let audio = Content::Audio { data: String::new(), mime_type: "audio/wav".into() };
    let link = Content::Other(raw(&json!({"type": "resource_link", "uri": "file:///a", "name": "a"})));
    let written =
        |block: &Content| Revision::ALL.map(|revision| block.encode(revision, &mut Vec::new()).is_ok());
    assert_eq!(written(&audio), [false, true, true, true, true]);
    assert_eq!(written(&link), [false, false, true, true, true]);
    assert_eq!(written(&"text".into()), [true; 5]);
    let result = CallToolResult::new(vec!["text".into(), audio]);
    assert_eq!(result.encode(Revision::V2024_11_05, &mut Vec::new()), Err(Unencodable));
}

#[test]
fn what_must_be_an_object_is_not_written_as_anything_else() {
    let list = raw(&json!([]));
    let fails = |value: &dyn Encode| value.encode(Revision::V2025_11_25, &mut Vec::new()) == Err(Unencodable);
    assert!(fails(&CallTool { name: "n".into(), arguments: Some(list.clone()) }));
    assert!(fails(&Tool::new("n", "d", list.clone())));
    assert!(fails(&Elicit::form("m", list.clone())));
    assert!(fails(&ElicitResult::accept(list.clone())));
    assert!(fails(&Content::Other(list)));
}

#[test]
fn a_form_names_its_mode_where_there_are_modes() {
    let form = Elicit::form("m", Raw::empty_object());
    assert_eq!(encoded(&form, Revision::V2025_06_18).member("mode"), None);
    assert_eq!(encoded(&form, Revision::V2025_11_25).member("mode"), Some(raw(&json!("form"))));
}

#[test]
fn log_levels_are_eight_words_in_order_log_04() {
    let names = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    assert_eq!(Level::ALL.map(Level::name), names);
    assert!(Level::ALL.is_sorted());
    for (level, name) in Level::ALL.into_iter().zip(names) {
        assert_eq!((Level::from_name(name), decoded(&json!(name))), (Some(level), Ok(level)));
        assert_round_trip(&level);
        assert_eq!(encoded(&SetLevel { level }, Revision::V2025_06_18), raw(&json!({"level": name})));
    }
    for other in [json!("warn"), json!("Warning"), json!("trace"), json!(""), json!(3), json!(null)] {
        assert!(decoded::<Level>(&other).is_err(), "{other}");
    }
}

#[test]
fn initialize_says_what_lif_01_wants() {
    let capabilities = Capabilities::none().with(Capability::RootsListChanged);
    let info = Implementation::new("n", "1");
    let params =
        InitializeParams { revision: Revision::V2025_11_25, capabilities: &capabilities, info: &info };
    let wanted = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {"listChanged": true}},
        "clientInfo": {"name": "n", "version": "1"},
    });
    assert_eq!(encoded(&params, Revision::V2025_11_25).parse::<Value>().unwrap(), wanted);
}

#[test]
fn json_of_any_serde_value_stands_on_one_line() {
    let pretty = serde_json::value::RawValue::from_string("{\n \"a\": 1\r\n}".into()).unwrap();
    assert_eq!(encoded(&Json(pretty), Revision::V2025_11_25).as_str(), r#"{"a":1}"#);
}

// --- capabilities ----------------------------------------------------------------------------------------------

fn all() -> Vec<Capability> {
    let mut all: Vec<Capability> = CAPABILITIES.iter().map(|rule| rule.capability).collect();
    all.sort();
    all.dedup();
    all
}

/// What of `capabilities` a peer of `revision` can be told by `side`.
fn sayable(capabilities: &Capabilities, side: Side, revision: Revision) -> Vec<Capability> {
    let has = |capability: &Capability| {
        let row = CAPABILITIES.iter().find(|rule| rule.side == side && rule.capability == *capability);
        capabilities.has(*capability) && row.is_some_and(|row| row.since <= revision && revision <= row.until)
    };
    all().into_iter().filter(has).collect()
}

fn written(capabilities: &Capabilities, side: Side, revision: Revision) -> Raw {
    let mut out = Vec::new();
    capabilities.write(&mut out, side, revision);
    Raw::from_text(core::str::from_utf8(&out).unwrap()).unwrap()
}

/// What `declared` comes to.
fn read(declared: &Value, side: Side, revision: Revision) -> Vec<Capability> {
    let capabilities = Capabilities::read(&raw(declared), side, revision);
    all().into_iter().filter(|capability| capabilities.has(*capability)).collect()
}

/// No object of `value` has a member twice.
fn assert_no_repeats(value: &Raw) {
    let mut keys: Vec<Vec<u8>> =
        crate::json::members(value.as_bytes()).map(|(key, _)| key.to_vec()).collect();
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count, "{value}");
    for (_, inner) in crate::json::members(value.as_bytes()) {
        assert_no_repeats(&Raw::from_text(core::str::from_utf8(inner).unwrap()).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn what_is_declared_is_what_is_read_for_every_side_and_revision(
        declared in subsequence(all(), 0..=all().len()), experimental in some(object()),
        side in select(&[Side::Client, Side::Server][..]), revision in select(&Revision::ALL[..]),
    ) {
        let mut ours = declared.iter().fold(Capabilities::none(), |ours, capability| ours.with(*capability));
        if let Some(experimental) = &experimental {
            ours = ours.with_experimental(experimental.clone());
        }
        let text = written(&ours, side, revision);
        prop_assert_eq!(text.member("experimental"), experimental);
        prop_assert_eq!(read(&text.parse().unwrap(), side, revision), sayable(&ours, side, revision), "{}", text);
        assert_no_repeats(&written(&ours.with_experimental(Raw::empty_object()), side, revision));
        // What a revision does not have is not mentioned to its peers.
        for (name, _) in text.parse::<Map<String, Value>>().unwrap() {
            let known = CAPABILITIES.iter().any(|rule| {
                rule.side == side && rule.path[0] == name && rule.since <= revision && revision <= rule.until
            });
            prop_assert!(known || name == "experimental", "{} to {}", name, revision);
        }
    }

    #[test]
    fn unknown_capabilities_change_nothing_cap_18(more in testing::object(), side in select(&[Side::Client, Side::Server][..])) {
        let known = json!({"tools": {"listChanged": true, "more": 1}, "roots": {}, "elicitation": {}});
        let mut declared = known.clone();
        for (key, value) in more {
            declared.as_object_mut().unwrap().entry(key).or_insert(value);
        }
        for revision in Revision::ALL {
            let plain = read(&known, side, revision);
            prop_assert_eq!(read(&declared, side, revision), plain);
        }
        let kept = Capabilities::read(&raw(&declared), side, Revision::V2025_11_25);
        prop_assert_eq!(kept.raw(), Some(&raw(&declared)));
    }
}

#[test]
fn presence_declares_and_false_null_and_absence_do_not_t_41() {
    let tools = |value: Value| read(&json!({ "tools": value }), Side::Server, Revision::V2025_11_25);
    for declared in [json!({}), json!(true), json!({"listChanged": false}), json!({"listChanged": null})] {
        assert_eq!(tools(declared), [Capability::Tools]);
    }
    for declared in [json!({"listChanged": true}), json!({"listChanged": {}})] {
        assert_eq!(tools(declared), [Capability::Tools, Capability::ToolsListChanged]);
    }
    for absent in [json!(false), json!(null)] {
        assert_eq!(tools(absent), []);
    }
    for nothing in [json!({}), json!(null), json!([]), json!("tools"), json!({"Tools": {}})] {
        assert_eq!(read(&nothing, Side::Server, Revision::V2025_11_25), []);
    }
    assert_eq!(read(&json!({"tools": {}}), Side::Client, Revision::V2025_11_25), [], "a client has no tools");
}

#[test]
fn elicitation_without_modes_means_forms_cap_08_t_43() {
    use Capability::{ElicitationForm as Form, ElicitationUrl as Url};
    let read = |value: Value, revision| read(&json!({ "elicitation": value }), Side::Client, revision);
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        assert_eq!(read(json!({}), revision), [Form]);
        assert_eq!(read(json!(true), revision), [Form]);
        assert_eq!(read(json!({"form": {}}), revision), [Form]);
        assert_eq!(read(json!({"url": {}}), revision), [Url]);
        assert_eq!(read(json!({"form": {}, "url": {}}), revision), [Form, Url]);
        assert_eq!(read(json!({"url": null}), revision), [Form]);
        assert_eq!(read(json!(false), revision), []);
    }
    assert_eq!(read(json!({"url": {}}), Revision::V2025_06_18), [Form], "there were no modes");
    assert_eq!(read(json!({"form": {}}), Revision::V2025_03_26), [], "there were no forms");
    let both = Capabilities::none().with(Form).with(Url);
    let written = |revision| written(&both, Side::Client, revision).parse::<Value>().unwrap();
    assert_eq!(written(Revision::V2025_03_26), json!({}));
    assert_eq!(written(Revision::V2025_06_18), json!({"elicitation": {}}));
    assert_eq!(written(Revision::V2025_11_25), json!({"elicitation": {"form": {}, "url": {}}}));
}

#[test]
fn a_part_declares_the_whole() {
    for rule in CAPABILITIES {
        let with = Capabilities::none().with(rule.capability);
        for whole in
            CAPABILITIES.iter().filter(|whole| whole.side == rule.side && rule.path.starts_with(whole.path))
        {
            assert!(with.has(whole.capability), "{:?}", rule.path);
        }
    }
    let tasks =
        written(&Capabilities::none().with(Capability::TasksToolsCall), Side::Server, Revision::V2025_11_25);
    assert_eq!(tasks.as_str(), r#"{"tasks":{"requests":{"tools":{"call":{}}}}}"#);
}

#[test]
fn the_modern_revision_hears_nothing_of_tasks_cap_20() {
    let all = all().into_iter().fold(Capabilities::none(), Capabilities::with);
    for side in [Side::Client, Side::Server] {
        assert_eq!(written(&all, side, Revision::V2026_07_28).member("tasks"), None);
        assert!(written(&all, side, Revision::V2025_11_25).member("tasks").is_some());
    }
}
