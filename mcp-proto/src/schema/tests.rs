//! Lenient decoding, exact encoding, and the paths in decoding errors.

mod safety;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::json::{Raw, testing};
use crate::revision::Revision;

fn raw(value: &Value) -> Raw {
    Raw::new(value).unwrap()
}

fn decoded<T: Decode>(value: &Value) -> Result<T, DecodeError> {
    T::decode(&raw(value))
}

fn encoded<T: Encode + ?Sized>(value: &T, revision: Revision) -> Value {
    let mut out = Vec::new();
    value.encode(revision, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// Decodes `value`, encodes it for 2025-11-25 and compares.
fn assert_round_trip<T: Decode + Encode>(value: &Value) {
    let read: T = decoded(value).unwrap();
    assert_eq!(&encoded(&read, Revision::V2025_11_25), value);
}

#[test]
fn unknown_members_enum_values_and_content_round_trip_json_18_t_119() {
    assert_round_trip::<Tool>(&json!({
        "name": "x", "inputSchema": {"type": "object", "x-vendor": [1]}, "vendor": {"a": null},
        "annotations": {"readOnlyHint": true, "mood": "good"},
        "icons": [{"src": "data:,", "glow": 1}],
    }));
    assert_round_trip::<CallToolResult>(&json!({
        "content": [
            {
                "type": "text", "text": "a",
                "annotations": {"audience": ["robot", "user"], "priority": 0.6},
            },
            {"type": "hologram", "beams": 3},
            {"type": "image", "data": "", "mimeType": "image/png", "alt": "x"},
        ],
        "tools": [], "isError": false,
    }));
    assert_round_trip::<CreateMessageResult>(&json!({
        "role": "oracle", "content": {"type": "text", "text": "a"}, "model": "m",
        "stopReason": "boredom",
    }));
    assert_round_trip::<Task>(&json!({
        "taskId": "1", "status": "dreaming", "createdAt": "", "lastUpdatedAt": "", "ttl": null,
    }));
    assert_round_trip::<LogMessage>(&json!({"level": "shouting", "data": null}));
    assert_round_trip::<Complete>(&json!({
        "ref": {"type": "ref/tool", "name": "x"}, "argument": {"name": "a", "value": "b"},
    }));
}

#[test]
fn a_mistyped_optional_member_reads_as_absent_and_is_kept() {
    let tool: Tool =
        decoded(&json!({"name": "x", "title": 5, "inputSchema": {}, "icons": "none"})).unwrap();
    assert_eq!((tool.title.as_deref(), tool.icons.as_ref()), (None, None));
    assert_eq!(tool.extra.get("title").unwrap().as_str(), "5");
    let written = encoded(&tool, Revision::V2025_11_25);
    assert_eq!(written, json!({"name": "x", "inputSchema": {}, "title": 5, "icons": "none"}));
    // A value set later replaces the kept one.
    let written = encoded(&tool.title("X"), Revision::V2025_11_25);
    assert_eq!(written["title"], "X");
}

#[test]
fn a_malformed_element_does_not_invalidate_the_list() {
    let page: ListToolsResult = decoded(&json!({"tools": [
        {"name": "a", "inputSchema": {}}, {"name": 5, "inputSchema": {}}, "c",
        {"name": "d", "inputSchema": {}},
    ]}))
    .unwrap();
    let names: Vec<&str> = page.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["a", "d"]);
    let broken: Vec<(&str, &str)> =
        page.tools.broken.iter().map(|error| (error.pointer.as_str(), &*error.expected)).collect();
    assert_eq!(broken, [("/1/name", "a string"), ("/2", "an object")]);
    assert_eq!(page.tools.broken[1].found.as_ref().unwrap().as_str(), "\"c\"");
}

#[test]
fn an_error_names_the_place_and_the_value_found() {
    let at = |error: DecodeError| {
        (error.pointer, error.expected.into_owned(), error.found.map(|found| found.to_string()))
    };
    let found = |text: &str| Some(String::from(text));
    assert_eq!(
        at(decoded::<GetPromptResult>(&json!({"messages": 5})).unwrap_err()),
        ("/messages".into(), "an array".into(), found("5"))
    );
    assert_eq!(
        at(decoded::<Complete>(&json!({
            "ref": {"type": "ref/prompt", "name": 1},
            "argument": {"name": "", "value": ""},
        }))
        .unwrap_err()),
        ("/ref/name".into(), "a string".into(), found("1"))
    );
    assert_eq!(
        at(decoded::<Tool>(&json!({"inputSchema": {}})).unwrap_err()),
        ("/name".into(), "a value".into(), None)
    );
    assert_eq!(
        at(decoded::<ElicitUrl>(&json!({"mode": "form", "message": "", "url": ""})).unwrap_err()),
        ("/mode".into(), "\"url\"".into(), found("\"form\""))
    );
    let escaped = DecodeError::missing("x").within("a/b~c");
    assert_eq!(escaped.pointer, "/a~1b~0c/x");
}

#[test]
fn null_structured_content_is_distinct_from_absence_t_107() {
    let null: CallToolResult = decoded(&json!({"content": [], "structuredContent": null})).unwrap();
    assert_eq!(
        null.structured_content.as_ref().map(|raw| raw.as_str().to_string()),
        Some("null".into())
    );
    let none: CallToolResult = decoded(&json!({"content": []})).unwrap();
    assert!(none.structured_content.is_none());
    assert_eq!(encoded(&null, Revision::V2026_07_28)["structuredContent"], Value::Null);
    // Sent as text to peers whose revision requires an object.
    let text = json!({"content": [{"type": "text", "text": "null"}]});
    assert_eq!(encoded(&null, Revision::V2025_11_25), text);
    assert_eq!(encoded(&none, Revision::V2025_11_25), json!({"content": []}));
}

#[test]
fn an_older_peer_is_sent_nothing_newer_than_its_revision_t_120() {
    let tool = Tool::new("x", Raw::empty_object())
        .title("X")
        .output_schema(raw(&json!({"type": "object"})))
        .annotations(ToolAnnotations::new().read_only(true))
        .icons([Icon::new("data:,")])
        .execution(ToolExecution::new().task_support(TaskSupport::Optional));
    let keys = |revision| {
        let written = encoded(&tool, revision);
        written.as_object().unwrap().keys().map(|key| key.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(keys(Revision::V2024_11_05), ["inputSchema", "name"]);
    assert_eq!(keys(Revision::V2025_03_26), ["annotations", "inputSchema", "name"]);
    assert_eq!(
        keys(Revision::V2025_06_18),
        ["annotations", "inputSchema", "name", "outputSchema", "title"]
    );
    assert!(keys(Revision::V2025_11_25).contains(&"execution".into()));
    assert!(!keys(Revision::V2026_07_28).contains(&"execution".into()));

    let audio = Content::from(Audio::new("", "audio/wav"));
    assert_eq!(
        encoded(&audio, Revision::V2024_11_05),
        json!({"type": "text", "text": "[audio: audio/wav]"})
    );
    assert_eq!(encoded(&audio, Revision::V2025_03_26)["type"], "audio");
    let link = Content::from(ResourceLink::new("file:///a", "a"));
    assert_eq!(
        encoded(&link, Revision::V2025_03_26),
        json!({"type": "text", "text": "[a](file:///a)"})
    );
    assert_eq!(encoded(&link, Revision::V2025_06_18)["type"], "resource_link");
}

#[test]
fn structured_output_alone_reaches_every_revision_as_text_if_necessary() {
    let structured = |value: &Value, content: Vec<Content>| {
        CallToolResult::new(content).structured_content(raw(value))
    };
    let (object, list) = (json!({"a": 1}), json!([1, 2]));
    let text = |value: &Value| json!([{"type": "text", "text": value.to_string()}]);
    for revision in Revision::ALL {
        let has_objects = revision >= Revision::V2025_06_18;
        let has_all = revision >= Revision::V2026_07_28;
        for (value, is_sent) in [(&object, has_objects), (&list, has_all)] {
            let written = encoded(&structured(value, Vec::new()), revision);
            assert_eq!(written.get("structuredContent"), is_sent.then_some(value), "{revision}");
            let content = if is_sent { json!([]) } else { text(value) };
            assert_eq!(written["content"], content, "{revision}");
            let written = encoded(&structured(value, Vec::from(["b".into()])), revision);
            assert_eq!(written["content"][0]["text"], "b", "{revision}");
            assert_eq!(written["content"].as_array().unwrap().len(), 1);
        }
    }
}

#[test]
fn sampling_tools_cannot_be_encoded_for_revisions_without_them() {
    let plain = || CreateMessage::new(Vec::new(), 1);
    let with_tools = [
        plain().tools(Vec::from([Tool::new("t", raw(&json!({"type": "object"})))])),
        plain().tool_choice(ToolChoice::new()),
    ];
    for revision in Revision::ALL {
        let has_tools = revision >= Revision::V2025_11_25;
        for sampling in &with_tools {
            let written = sampling.encode(revision, &mut Vec::new());
            assert_eq!(written.is_ok(), has_tools, "{revision}");
        }
        plain().encode(revision, &mut Vec::new()).unwrap();
    }
}

#[test]
fn block_lists_are_sent_only_to_revisions_that_define_them_t_118() {
    let mut out = Vec::new();
    let one = SamplingContent::from(Vec::from([SamplingBlock::from("a")]));
    assert_eq!(encoded(&one, Revision::V2025_06_18), json!({"type": "text", "text": "a"}));
    assert_eq!(encoded(&one, Revision::V2025_11_25), json!([{"type": "text", "text": "a"}]));
    let two = SamplingContent::from(Vec::from([SamplingBlock::from("a"), "b".into()]));
    assert!(two.encode(Revision::V2025_06_18, &mut out).is_err());
    assert_eq!(two.to_text(), "ab");
}

#[test]
fn stamped_members_are_written_for_the_modern_revision_only() {
    let page = ListToolsResult::new(Vec::new());
    let stamped =
        json!({"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
    assert_eq!(encoded(&page, Revision::V2026_07_28), stamped);
    for revision in Revision::LEGACY {
        assert_eq!(encoded(&page, revision), json!({"tools": []}));
    }
    // JSON-21: a result without `resultType` is complete.
    let old: ListToolsResult = decoded(&json!({"tools": []})).unwrap();
    assert_eq!(old.result_type, ResultType::Complete);
}

#[test]
fn encoding_a_non_object_where_an_object_is_required_fails() {
    for text in ["[]", "null", "7"] {
        let mut out = Vec::new();
        let not_an_object = Raw::from_text(text).unwrap();
        assert!(
            Tool::new("x", not_an_object.clone()).encode(Revision::V2025_11_25, &mut out).is_err()
        );
        assert!(
            CallTool::new("x")
                .arguments(not_an_object)
                .encode(Revision::V2025_11_25, &mut out)
                .is_err()
        );
    }
}

#[test]
fn arguments_other_than_an_object_or_null_are_an_error_json_16() {
    for arguments in [json!([]), json!("x"), json!(7)] {
        let error = decoded::<CallTool>(&json!({"name": "x", "arguments": arguments})).unwrap_err();
        assert_eq!((error.pointer.as_str(), &*error.expected), ("/arguments", "an object"));
    }
    assert!(
        decoded::<CallTool>(&json!({"name": "x", "arguments": null})).unwrap().arguments.is_none()
    );
}

#[test]
fn errors_of_malformed_elements_are_bounded() {
    let page: ListToolsResult = decoded(&json!({"tools": Vec::from([1; 1000])})).unwrap();
    assert_eq!((page.tools.len(), page.tools.broken.len()), (0, 64));
}

#[test]
fn checking_a_form_takes_linear_time() {
    let field = json!({"type": "boolean", "default": true});
    let fields: serde_json::Map<String, Value> =
        (0..100_000).map(|index| (alloc::format!("f{index}"), field.clone())).collect();
    let form: Form = decoded(&json!({"type": "object", "properties": fields})).unwrap();
    let filled = form.with_defaults(&Raw::empty_object());
    assert!(form.check(&filled).is_ok());
}

#[test]
fn log_levels_are_eight_names_in_order_log_04() {
    let mut last = None;
    for level in Level::ALL {
        assert_eq!(Level::from_name(level.name()), Some(level));
        assert!(last < Some(level));
        last = Some(level);
    }
    for name in ["warn", "Warning", "trace", ""] {
        assert_eq!(Level::from_name(name), None);
        assert!(decoded::<Level>(&json!(name)).is_err());
    }
}

// SEC-11
#[test]
fn only_https_and_data_icons_are_safe_sec_11() {
    for src in ["https://a/b.png", "HTTPS://a", "data:image/png;base64,"] {
        assert!(Icon::new(src).is_safe(), "{src}");
    }
    for src in
        ["http://a", "javascript:alert(1)", "file:///a", "ftp://a", "ws://a", "https", "", "/a.png"]
    {
        assert!(!Icon::new(src).is_safe(), "{src}");
    }
}

#[test]
fn meta_keys_have_a_grammar_and_reserved_prefixes() {
    for key in ["progressToken", "a/b", "com.example/x", "a-1.b2/x_y.z-w", "x/", "1", ""] {
        assert!(Meta::is_key(key), "{key:?}");
    }
    for key in ["1a/x", "a-/x", ".a/x", "a./x", "a..b/x", "/x", "a b/x", "a/-x", "a/x-", "a/x/y"] {
        assert!(!Meta::is_key(key), "{key:?}");
    }
    for key in [
        "io.modelcontextprotocol/x",
        "dev.mcp/x",
        "com.mcp.tools/x",
        "mcp.dev/x",
        "tools.mcp.com/x",
    ] {
        assert!(Meta::is_reserved(key), "{key:?}");
    }
    for key in ["com.example.mcp.x.y/z", "com.example/mcp", "mcp/x", "x"] {
        assert!(!Meta::is_reserved(key), "{key:?}");
    }
}

#[test]
fn malformed_reserved_keys_read_as_absent() {
    let meta: Meta = decoded(&json!({
        "progressToken": "1", "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/logLevel": "warn",
        "io.modelcontextprotocol/related-task": {"taskId": "t"},
    }))
    .unwrap();
    assert_eq!(meta.progress_token(), Some("1".into()));
    assert_eq!(meta.protocol_version().as_deref(), Some("2026-07-28"));
    assert_eq!(meta.client_info().unwrap().name, "c");
    assert_eq!(meta.related_task().unwrap().task_id, "t");
    assert_eq!(meta.log_level(), None);
    assert!(meta.member(key::LOG_LEVEL).is_some());
}

#[test]
fn a_field_with_contradicting_types_is_rejected() {
    let read = |text| Field::decode(&Raw::from_text(text).unwrap());
    assert!(matches!(read(r#"{"type":"number","type":"integer"}"#), Ok(Field::Number(_))));
    for text in [
        r#"{"type":"number","type":"boolean"}"#,
        r#"{"type":"integer","type":"x"}"#,
        r#"{"type":"boolean","type":"number"}"#,
        r#"{"type":"string","type":"array"}"#,
    ] {
        read(text).unwrap_err();
    }
}

#[test]
fn a_form_checks_answers_and_fills_in_defaults() {
    let form = Form::new(Map::new())
        .field("name", TextField::new().min_length(2).max_length(5))
        .optional_field("age", NumberField::integer().minimum(0.0).maximum(150.0).default(30.0))
        .optional_field("ok", BoolField::new().default(true))
        .optional_field("colour", ChoiceField::titled([("r", "Red"), ("g", "Green")]).default("g"))
        .optional_field("days", ChoicesField::of(["mo", "tu", "we"]).min_items(1).max_items(2));
    let at = |answer: Value| form.check(&raw(&answer)).err().map(|error| error.pointer);
    assert_eq!(
        at(
            json!({"name": "Ada", "age": 36, "ok": false, "colour": "r", "days": ["mo"], "more": 1})
        ),
        None
    );
    for (answer, pointer) in [
        (json!({}), "/name"),
        (json!({"name": "A"}), "/name"),
        (json!({"name": "Augusta"}), "/name"),
        (json!({"name": "Ada", "age": 1.5}), "/age"),
        (json!({"name": "Ada", "age": 200}), "/age"),
        (json!({"name": "Ada", "ok": "yes"}), "/ok"),
        (json!({"name": "Ada", "colour": "Red"}), "/colour"),
        (json!({"name": "Ada", "days": ["su"]}), "/days"),
        (json!({"name": "Ada", "days": ["mo", "tu", "we"]}), "/days"),
        (json!([]), ""),
    ] {
        assert_eq!(at(answer.clone()).as_deref(), Some(pointer), "{answer}");
    }
    let filled = form.with_defaults(&raw(&json!({"name": "Ada", "ok": false})));
    let filled: Value = filled.parse().unwrap();
    assert_eq!(filled, json!({"name": "Ada", "ok": false, "age": 30, "colour": "g"}));
}

#[test]
fn a_choice_is_written_in_the_form_of_the_peers_revision() {
    let form =
        Form::new(Map::new()).field("c", ChoiceField::titled([("r", "Red"), ("g", "Green")]));
    let field = |revision| encoded(&form, revision)["properties"]["c"].clone();
    let options = json!([{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]);
    assert_eq!(field(Revision::V2025_11_25), json!({"type": "string", "oneOf": options}));
    let plain = json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]});
    assert_eq!(field(Revision::V2025_06_18), plain);
    let several = Form::new(Map::new()).field("c", ChoicesField::of(["a"]));
    assert!(several.encode(Revision::V2025_06_18, &mut Vec::new()).is_err());
}

#[test]
fn json_of_any_serde_value_is_one_line() {
    let pretty = serde_json::value::RawValue::from_string("{\n \"a\": 1\r\n}".into()).unwrap();
    let mut out = Vec::new();
    Serialized(pretty).encode(Revision::V2025_11_25, &mut out).unwrap();
    assert_eq!(out, br#"{"a":1}"#);
}

#[test]
fn decoding_many_unknown_members_takes_linear_time() {
    let many = |count: usize| {
        let members: Vec<String> =
            (0..count).map(|index| alloc::format!("\"u{index}\":0")).collect();
        Raw::from_text(&alloc::format!(
            "{{{},\"name\":\"x\",\"inputSchema\":{{}}}}",
            members.join(",")
        ))
        .unwrap()
    };
    let tool = Tool::decode(&many(100_000)).unwrap();
    assert_eq!(tool.extra.len(), 100_000);
}

proptest! {
    #[test]
    fn no_value_makes_a_decoder_panic(value in testing::value()) {
        let value = raw(&value);
        let _ = Tool::decode(&value);
        let _ = CallToolResult::decode(&value);
        let _ = CreateMessage::decode(&value);
        let _ = AnyElicit::decode(&value);
        let _ = Complete::decode(&value);
        let _ = DetailedTask::decode(&value);
        let _ = InputRequired::decode(&value);
        let _ = ReadResourceResult::decode(&value);
        let _ = SubscriptionFilter::decode(&value);
    }

    #[test]
    fn unknown_members_round_trip(more in testing::object()) {
        let mut value = json!({"uri": "a:b", "name": "n"});
        for (key, member) in more {
            value.as_object_mut().unwrap().entry(key).or_insert(member);
        }
        // Compare with the reparsed text, because parsing rounds numbers.
        let text = raw(&value);
        let resource = Resource::decode(&text).unwrap();
        prop_assert_eq!(encoded(&resource, Revision::V2025_11_25), text.parse::<Value>().unwrap());
    }
}

// SEC-15
#[test]
fn only_file_uris_are_roots() {
    for uri in ["file:///home/ada", "file://host/share"] {
        assert!(Root::new(uri).is_file(), "{uri}");
    }
    for uri in ["https://example.com", "file:", "/home/ada", "", "data:,x", "xfile:///"] {
        assert!(!Root::new(uri).is_file(), "{uri}");
    }
}

// SEC-08: without a mode it is a form. SEC-10: the first revision with URLs requires their ids.
#[test]
fn an_elicitation_is_a_form_unless_its_mode_is_url() {
    let form = json!({"message": "m", "requestedSchema": {"type": "object", "properties": {}}});
    assert!(matches!(decoded(&form).unwrap(), AnyElicit::Form(_)));
    let url = json!({"mode": "url", "message": "m", "url": "https://a", "elicitationId": "1"});
    assert!(matches!(decoded(&url).unwrap(), AnyElicit::Url(_)));
    let without_id = ElicitUrl::new("m", "https://a");
    let is_encoded = |revision| without_id.encode(revision, &mut Vec::new()).is_ok();
    assert_eq!(Revision::ALL.map(is_encoded), [false, false, false, false, true]);
}
