//! Input that other implementations are known to fail on. These tests need no schemas.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use mcp_proto::schema::{
    Annotations, CallToolResult, ClientRequest, Content, Decode, EmptyResult, Encode,
    ListToolsResult, Resource, ResultType, Role, SetLevel, StopReason,
};
use mcp_proto::{Raw, Revision};

fn read<T: Decode>(text: &str) -> T {
    let raw = Raw::from_text(text).unwrap();
    T::decode(&raw).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn written(value: &impl Encode, revision: Revision) -> String {
    let mut out = Vec::new();
    value.encode(revision, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A result has the type its call asks for, whatever else it resembles.
#[test]
fn a_tool_result_with_a_list_of_tools_is_a_tool_result() {
    let text = r#"{"content":[{"type":"text","text":"ok"}],"tools":[]}"#;
    let result: CallToolResult = read(text);
    assert_eq!(result.content[0].as_text(), Some("ok"));
    assert_eq!(result.extra.get("tools").unwrap().as_str(), "[]");
    assert_eq!(written(&result, Revision::V2025_11_25), text);
}

// T-119: unknown words are kept.
#[test]
fn an_unknown_audience_is_kept() {
    let annotations: Annotations = read(r#"{"audience":["robot","user"]}"#);
    let audience = annotations.audience.as_ref().unwrap();
    assert_eq!(audience.items, [Role::Other("robot".into()), Role::User]);
    assert_eq!(written(&annotations, Revision::V2025_11_25), r#"{"audience":["robot","user"]}"#);
}

#[test]
fn a_priority_is_any_number() {
    for (text, priority) in [("0.6", 0.6), ("1", 1.0), ("0", 0.0), ("1e-3", 0.001)] {
        let annotations: Annotations = read(&format!(r#"{{"priority":{text}}}"#));
        assert_eq!(annotations.priority, Some(priority));
    }
    let resource: Resource = read(r#"{"uri":"a:b","name":"n","annotations":{"priority":0.6}}"#);
    assert_eq!(resource.annotations.unwrap().priority, Some(0.6));
}

// T-119: unknown content is kept.
#[test]
fn a_content_block_of_another_type_costs_nothing() {
    let text = r#"{"content":[{"type":"text","text":"a"},{"type":"hologram","depth":3},{"type":"image","data":"AA==","mimeType":"image/png"}]}"#;
    let result: CallToolResult = read(text);
    assert!(result.content.broken.is_empty());
    let [Content::Text(_), Content::Other(other), Content::Image(_)] = result.content.as_slice()
    else {
        panic!("{:?}", result.content);
    };
    assert_eq!(other.as_str(), r#"{"type":"hologram","depth":3}"#);
    assert_eq!(written(&result, Revision::V2025_11_25), text);
}

/// An empty result may have members.
#[test]
fn an_empty_result_may_hold_meta_and_more() {
    for text in ["{}", r#"{"_meta":{}}"#, r#"{"_meta":{"a/b":1},"more":[null]}"#] {
        let result: <SetLevel as ClientRequest>::Result = read(text);
        assert_eq!(written(&result, Revision::V2025_11_25).len(), text.len());
    }
    let result: EmptyResult = read(r#"{"_meta":{}}"#);
    assert!(result.meta.is_some());
}

// T-107: `null` is a value.
#[test]
fn structured_content_that_is_null_differs_from_none() {
    let null: CallToolResult = read(r#"{"content":[],"structuredContent":null}"#);
    let none: CallToolResult = read(r#"{"content":[]}"#);
    assert_eq!(null.structured_content.as_ref().unwrap().as_str(), "null");
    assert!(none.structured_content.is_none());
    assert_ne!(null, none);
    let modern = written(&null, Revision::V2026_07_28);
    assert!(modern.contains(r#""structuredContent":null"#), "{modern}");
    assert!(!written(&none, Revision::V2026_07_28).contains("structuredContent"));
}

/// A broken tool is set aside alone, and an empty cursor continues the list.
// PAG-04: an empty cursor is not the end.
#[test]
fn one_bad_tool_costs_that_tool() {
    let page: ListToolsResult = read(
        r#"{"tools":[{"name":"a","inputSchema":{}},{"name":7,"inputSchema":{}},null],"nextCursor":""}"#,
    );
    assert_eq!(page.tools.len(), 1);
    let places: Vec<&str> = page.tools.broken.iter().map(|error| error.pointer.as_str()).collect();
    assert_eq!(places, ["/1/name", "/2"]);
    assert_eq!(page.next_cursor.as_deref(), Some(""));
}

/// The schemas allow any string; the words are those of the prose.
// STL-15: an input-required result is recognized by its type.
#[test]
fn the_words_that_only_the_prose_names_are_known() {
    let reasons =
        [StopReason::EndTurn, StopReason::MaxTokens, StopReason::StopSequence, StopReason::ToolUse];
    assert_eq!(
        reasons.map(|it| it.name().to_owned()),
        ["endTurn", "maxTokens", "stopSequence", "toolUse"]
    );
    let types = [ResultType::Complete, ResultType::InputRequired, ResultType::Task];
    assert_eq!(types.map(|it| it.name().to_owned()), ["complete", "input_required", "task"]);
    assert_eq!(read::<StopReason>(r#""toolUse""#), StopReason::ToolUse);
}
