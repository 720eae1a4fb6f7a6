//! Values that the protocol forbids are neither encoded nor accepted, unless they are raw JSON.

use super::*;

const R4: Revision = Revision::V2025_11_25;

fn is_encodable(value: &impl Encode, revision: Revision) -> bool {
    value.encode(revision, &mut Vec::new()).is_ok()
}

#[test]
fn roots_are_files_sec_15() {
    for revision in Revision::ALL {
        for (uri, is_root) in [
            ("file:///home", true),
            ("file://", true),
            ("https://example.com", false),
            ("/home", false),
            ("", false),
            ("javascript:alert(1)", false),
        ] {
            let roots = ListRootsResult::new([Root::new("file:///a"), Root::new(uri)]);
            assert_eq!(is_encodable(&roots, revision), is_root, "{uri} in {revision}");
        }
    }
    let foreign: ListRootsResult = decoded(&json!({"roots": [{"uri": "https://a"}]})).unwrap();
    assert!(!foreign.roots[0].is_file(), "a server can read what old clients send");
}

#[test]
fn binary_content_is_base64_sec_21() {
    let blob = |data: &str| ReadResourceResult::new([ResourceContents::blob("a:b", data)]);
    for (data, is_valid) in [("", true), ("aGVsbG8=", true), ("hello!", false), ("aGVsbG8", false)]
    {
        assert_eq!(is_encodable(&Image::new(data, "image/png"), R4), is_valid, "{data}");
        assert_eq!(is_encodable(&Audio::new(data, "audio/wav"), R4), is_valid, "{data}");
        assert_eq!(is_encodable(&blob(data), R4), is_valid, "{data}");
        let result = CallToolResult::from(Content::from(Image::new(data, "image/png")));
        assert_eq!(is_encodable(&result, R4), is_valid, "{data}");
    }
    let kept: Content =
        decoded(&json!({"type": "image", "data": "?", "mimeType": "image/png"})).unwrap();
    assert!(matches!(kept, Content::Image(_)), "decoding is lenient");
}

#[test]
fn urls_to_visit_are_pages_on_the_web_sec_07() {
    for (url, is_safe) in [
        ("https://example.com/a", true),
        ("HTTP://localhost:8080", true),
        ("javascript:alert(1)", false),
        ("data:text/html,x", false),
        ("file:///etc/passwd", false),
        ("vscode://open", false),
        ("/relative", false),
        ("", false),
    ] {
        let elicit = ElicitUrl::new("m", url).elicitation_id("e");
        assert_eq!(elicit.is_safe(), is_safe, "{url}");
        assert_eq!(is_encodable(&elicit, R4), is_safe, "{url}");
        let params = json!({"mode": "url", "message": "m", "url": url, "elicitationId": "e"});
        let read = decoded::<AnyElicit>(&params);
        assert_eq!(read.is_ok(), is_safe, "{url}: {read:?}");
        if let Err(error) = read {
            assert_eq!(error.pointer, "/url");
        }
    }
}

#[test]
fn unsafe_icons_are_left_out_of_lists_sec_11() {
    let tool: Tool = decoded(&json!({"name": "t", "inputSchema": {}, "icons": [
        {"src": "javascript:alert(1)"}, {"src": "https://a/b.png"}, {"src": "file:///a"},
    ]}))
    .unwrap();
    let icons = tool.icons.unwrap();
    assert_eq!(icons.iter().map(|icon| &*icon.src).collect::<Vec<_>>(), ["https://a/b.png"]);
    assert_eq!(icons.broken[0].pointer, "/0/src");
    assert!(decoded::<Icon>(&json!({"src": "ws://a"})).is_err());
}

fn block(kind: &str, id: &str) -> Value {
    match kind {
        "tool_use" => json!({"type": kind, "id": id, "name": "n", "input": {}}),
        "tool_result" => json!({"type": kind, "toolUseId": id, "content": []}),
        _ => json!({"type": "text", "text": "t"}),
    }
}

#[test]
fn each_tool_call_is_followed_by_its_result_alone_sec_12() {
    let text = || block("text", "");
    let call = |id| block("tool_use", id);
    let result = |id| block("tool_result", id);
    let cases = [
        (Vec::from([("user", json!([text()]))]), true),
        (
            Vec::from([("assistant", json!([text(), call("1")])), ("user", json!([result("1")]))]),
            true,
        ),
        (Vec::from([("assistant", json!(call("1"))), ("user", json!(result("1")))]), true),
        (
            Vec::from([
                ("assistant", json!([call("1"), call("2")])),
                ("user", json!([result("2"), result("1")])),
                ("assistant", json!(text())),
            ]),
            true,
        ),
        // A result beside text, without a call, and beside an image.
        (Vec::from([("user", json!([result("1"), text()]))]), false),
        // A call without a result, with that of another, and too late.
        (Vec::from([("assistant", json!(call("1")))]), false),
        (Vec::from([("assistant", json!(call("1"))), ("user", json!(result("2")))]), false),
        (
            Vec::from([
                ("assistant", json!(call("1"))),
                ("user", json!(text())),
                ("user", json!(result("1"))),
            ]),
            false,
        ),
        (
            Vec::from([
                ("assistant", json!([call("1"), call("2")])),
                ("user", json!([result("1")])),
            ]),
            false,
        ),
        (Vec::from([("assistant", json!(call("1"))), ("assistant", json!(result("1")))]), false),
    ];
    for (messages, is_valid) in cases {
        let messages: Vec<Value> = messages
            .into_iter()
            .map(|(role, content)| json!({"role": role, "content": content}))
            .collect();
        let params = json!({"messages": messages, "maxTokens": 1});
        let read = decoded::<CreateMessage>(&params);
        assert_eq!(read.is_ok(), is_valid, "{params}: {read:?}");
        let list: List<SamplingMessage> = decoded(&params["messages"]).unwrap();
        let built = CreateMessage::new(list, 1);
        assert_eq!(built.has_matching_tool_results(), is_valid, "{params}");
        assert_eq!(is_encodable(&built, R4), is_valid, "{params}");
    }
}

#[test]
fn matching_many_tool_results_takes_linear_time_sec_12() {
    let ids: Vec<String> = (0..50_000).map(|id| alloc::format!("{id}")).collect();
    let calls: Vec<Value> = ids.iter().map(|id| block("tool_use", id)).collect();
    let results: Vec<Value> = ids.iter().rev().map(|id| block("tool_result", id)).collect();
    let messages = json!([
        {"role": "assistant", "content": calls}, {"role": "user", "content": results},
    ]);
    let read = decoded::<CreateMessage>(&json!({"messages": messages, "maxTokens": 1}));
    assert!(read.unwrap().has_matching_tool_results());
}

#[test]
fn only_the_result_that_creates_a_task_is_of_type_task_tsk_27() {
    let modern = |task: &DetailedTask| encoded(task, Revision::V2026_07_28)["resultType"].take();
    let mut task = DetailedTask::new("t", TaskStatus::Working, "", "", None);
    assert_eq!(modern(&task), "complete");
    task.result_type = ResultType::Task;
    assert_eq!(modern(&task), "task");
    let read: DetailedTask = decoded(&json!({
        "taskId": "t", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttlMs": null,
    }))
    .unwrap();
    assert_eq!(read.result_type, ResultType::Complete, "an absent type");
}
