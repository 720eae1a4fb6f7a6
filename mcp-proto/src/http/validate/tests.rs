//! Tests of classification: bodies, sessions and batches.

mod modern;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::*;
use crate::http::testing::{List, checked, post_fields, with};
use crate::http::{Admitted, admit, status_of};

const R5: &str = "2026-07-28";

/// Returns the input schema of a tool with mirrored arguments.
fn schema(tool: &str) -> Option<Raw> {
    let schema = match tool {
        "test_custom_header" => {
            json!({"properties": {"value": {"type": "string", "x-mcp-header": "Value"},
            "count": {"type": "integer", "x-mcp-header": "Count"}}})
        }
        "invalid" => json!({"properties": {"value": {"type": "number", "x-mcp-header": "Value"}}}),
        _ => return None,
    };
    Some(Raw::new(&schema).unwrap())
}

fn read(policy: &Policy, fields: &List, body: &[u8]) -> Result<Post, Refusal> {
    match admit(policy, "POST", fields)? {
        Admitted::Post(head) => head.read(policy, fields, body, &schema),
        other => panic!("{other:?}"),
    }
}

/// Returns the status, error code and id of a rejection.
fn rejection(policy: &Policy, fields: &List, body: &str) -> (u16, i64, Option<Value>) {
    let refusal = read(policy, fields, body.as_bytes()).unwrap_err();
    let body = checked(&refusal).unwrap();
    (refusal.status, body["error"]["code"].as_i64().unwrap(), body.get("id").cloned())
}

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Creates a valid modern request, with `params` added.
fn request(method: &str, params: Value) -> Value {
    let mut request =
        json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": {"_meta": meta(R5)}});
    for (key, value) in params.as_object().unwrap() {
        request["params"][key] = value.clone();
    }
    request
}

/// Creates the matching headers.
fn head(method: &str, name: Option<&str>) -> List {
    with(
        post_fields(),
        &[("MCP-Protocol-Version", Some(R5)), ("Mcp-Method", Some(method)), ("Mcp-Name", name)],
    )
}

#[test]
fn invalid_json_is_a_parse_error_json_13() {
    let policy = Policy::default();
    for body in ["", "{", "nope", "{\"jsonrpc\":\"2.0\"", "[", "{}{}", &"[".repeat(200)] {
        let (status, code, id) = rejection(&policy, &head("tools/call", None), body);
        assert_eq!((status, code, id), (400, -32700, None), "{body}");
        assert_eq!(rejection(&policy, &post_fields(), body).1, -32700, "{body}");
    }
    let refusal = read(&policy, &post_fields(), b"{\"a\":\"\xFF\"}").unwrap_err();
    assert_eq!(checked(&refusal).unwrap()["error"]["code"], -32700);
    let old = with(post_fields(), &[("mcp-protocol-version", Some("2025-06-18"))]);
    assert_eq!(rejection(&policy, &old, "{").2, Some(Value::Null), "D-01");
}

// HTTP-06, HTTP-07
#[test]
fn other_json_is_an_invalid_request_json_14_http_06_http_07_t_94() {
    let fields = head("tools/call", None);
    for (body, id) in [
        ("{}", None),
        ("1", None),
        ("[]", None),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#, None),
        (r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#, Some(json!(1))),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, Some(json!(1))),
        // Responses: a modern server sends no requests.
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#, None),
        (r#"{"jsonrpc":"2.0","id":1,"result":1}"#, None),
        (r#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#, None),
        (r#"{"jsonrpc":"2.0","id":1}"#, None),
    ] {
        assert_eq!(rejection(&Policy::default(), &fields, body), (400, -32600, id), "{body}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let call = request("tools/call", json!({"name": "add"})).to_string();
    let marked = ["\u{feff}", &*call].concat();
    let (policy, fields) = (Policy::default(), head("tools/call", Some("add")));
    assert_eq!(
        read(&policy, &fields, marked.as_bytes()).unwrap(),
        read(&policy, &fields, call.as_bytes()).unwrap()
    );
    let legacy = with(
        post_fields(),
        &[("mcp-session-id", Some("s")), ("mcp-protocol-version", Some("2025-03-26"))],
    );
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    for body in [batch, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#] {
        let marked = ["\u{feff}", body].concat();
        assert_eq!(
            read(&policy, &legacy, marked.as_bytes()).unwrap(),
            read(&policy, &legacy, body.as_bytes()).unwrap()
        );
    }
    for broken in ["\u{feff}\u{feff}{}", " \u{feff}{}", "\u{feff}"] {
        assert_eq!(rejection(&policy, &fields, broken).1, -32700, "{broken:?}");
    }
}

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;

#[test]
fn initialize_opens_a_session_lif_20() {
    let policy = Policy::default();
    for changes in [
        &[][..],
        &[("mcp-protocol-version", Some("2025-06-18"))],
        &[("mcp-session-id", Some("gone"))],
    ] {
        let post = read(&policy, &with(post_fields(), changes), INITIALIZE.as_bytes()).unwrap();
        assert_eq!(post, Post::Initialize { id: 0.into() }, "{changes:?}");
    }
    assert_eq!(
        rejection(&policy, &head("initialize", None), INITIALIZE),
        (400, -32602, Some(json!(0)))
    );
}

// LIF-33, HTTP-43
#[test]
fn a_modern_server_answers_initialize_with_its_revisions_lif_33_http_43() {
    let policy = Policy::default().revisions(&[Revision::V2026_07_28]);
    let with_meta = request("initialize", json!({})).to_string();
    for (fields, body, code) in [
        (post_fields(), INITIALIZE, -32020),
        (head("initialize", None), INITIALIZE, -32602),
        (head("initialize", None), &with_meta, -32601),
    ] {
        let refusal = checked(&read(&policy, &fields, body.as_bytes()).unwrap_err()).unwrap();
        assert_eq!(refusal["error"]["code"], code);
        assert_eq!(refusal["error"]["data"]["supported"], json!([R5]));
    }
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(rejection(&policy, &post_fields(), note), (400, -32020, None));
}

// HTTP-32, HTTP-37, HTTP-38
#[test]
fn legacy_messages_require_a_session_http_32_http_33_http_37_http_38() {
    let policy = Policy::default();
    let list = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#;
    let fields = with(post_fields(), &[("MCP-Session-Id", Some("s"))]);
    let within = |version, message| Post::Session { session: "s".into(), version, message };
    let list_request = || PostedMessage::Request { id: 3.into(), method: "tools/list".into() };
    assert_eq!(read(&policy, &fields, list.as_bytes()).unwrap(), within(None, list_request()));
    let versioned = |version| with(fields.clone(), &[("mcp-protocol-version", Some(version))]);
    let post = read(&policy, &versioned("2025-06-18"), list.as_bytes()).unwrap();
    assert_eq!(post, within(Some(Revision::V2025_06_18), list_request()));
    for (body, message) in [
        (r#"{"jsonrpc":"2.0","method":"x"}"#, PostedMessage::Notification { method: "x".into() }),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, PostedMessage::Response),
        (r#"{"jsonrpc":"2.0","id":1,"result":1}"#, PostedMessage::Response),
    ] {
        assert_eq!(read(&policy, &fields, body.as_bytes()).unwrap(), within(None, message));
        assert_eq!(rejection(&policy, &post_fields(), body).0, 400);
    }
    assert_eq!(rejection(&policy, &post_fields(), list), (400, -32600, Some(json!(3))));
    let foreign = with(fields.clone(), &[("mcp-session-id", Some("a b"))]);
    assert_eq!(rejection(&policy, &foreign, list), (404, -32600, Some(json!(3))));
    assert_eq!(rejection(&policy, &versioned("1999-01-01"), list).0, 400);
    let some = Policy::default().revisions(&[Revision::V2025_11_25, Revision::V2026_07_28]);
    assert_eq!(rejection(&some, &versioned("2025-06-18"), list), (400, -32600, Some(json!(3))));
}

#[test]
fn a_legacy_server_rejects_modern_requests_lif_28_http_38() {
    let policy = Policy::default().revisions(&[Revision::V2025_06_18]);
    let body = request("server/discover", json!({})).to_string();
    assert_eq!(
        rejection(&policy, &head("server/discover", None), &body),
        (400, -32600, Some(json!("q")))
    );
}

#[test]
fn a_server_without_revisions_rejects_every_message() {
    let policy = Policy::default().revisions(&[]);
    let fields = with(head("initialize", None), &[("mcp-session-id", Some("s"))]);
    let bare = with(post_fields(), &[("mcp-session-id", Some("s"))]);
    assert_eq!(rejection(&policy, &bare, INITIALIZE), (400, -32020, Some(json!(0))));
    assert_eq!(
        rejection(&policy, &fields, &request("initialize", json!({})).to_string()).1,
        -32022
    );
    assert_eq!(rejection(&policy, &bare, r#"{"jsonrpc":"2.0","method":"x"}"#).0, 400);
}

// HTTP-06
#[test]
fn batches_are_accepted_only_where_the_revision_may_have_them_http_06_bat_12() {
    let array = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},
        {"jsonrpc":"2.0","id":"c","method":"c"},{"jsonrpc":"2.0","id":4}]"#;
    let policy = Policy::default();
    let fields = with(post_fields(), &[("mcp-session-id", Some("s"))]);
    let message = PostedMessage::Batch { requests: vec![1.into(), "c".into()] };
    assert!(message.needs_response());
    assert!(!PostedMessage::Batch { requests: Vec::new() }.needs_response());
    let post = Post::Session { session: "s".into(), version: None, message };
    assert_eq!(read(&policy, &fields, array.as_bytes()).unwrap(), post);
    let versioned = |version| with(fields.clone(), &[("mcp-protocol-version", Some(version))]);
    assert!(read(&policy, &versioned("2025-03-26"), array.as_bytes()).is_ok());
    for version in ["2025-06-18", "2025-11-25", R5, "v999", "a b"] {
        assert_eq!(rejection(&policy, &versioned(version), array).1, -32600, "{version}");
    }
    assert_eq!(rejection(&policy, &post_fields(), array).0, 400, "no session");
    let later = Policy::default().revisions(&[Revision::V2025_11_25]);
    assert_eq!(rejection(&later, &fields, array).0, 400);
    assert_eq!(rejection(&policy, &fields, "[1,]").1, -32700);
}

#[test]
fn a_batch_holds_requests_and_notifications_or_responses_bat_09() {
    let policy = Policy::default();
    let fields = with(post_fields(), &[("mcp-session-id", Some("s"))]);
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#;
    let notification = r#"{"jsonrpc":"2.0","method":"a"}"#;
    let result = r#"{"jsonrpc":"2.0","id":4,"result":{}}"#;
    let error = r#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":""}}"#;
    for calls in [request, notification] {
        for response in [result, error] {
            for array in [format!("[{calls},{response}]"), format!("[{response},{calls}]")] {
                let (status, code, ..) = rejection(&policy, &fields, &array);
                assert_eq!((status, code), (400, -32600), "{array}");
            }
        }
    }
    for array in [format!("[{request},{notification}]"), format!("[{result},{error}]")] {
        assert!(read(&policy, &fields, array.as_bytes()).is_ok(), "{array}");
    }
}

#[test]
fn a_body_above_the_limit_is_rejected_sec_18() {
    let policy = Policy::default().with_body_bytes_max(5);
    assert_eq!(rejection(&policy, &post_fields(), "\"1234\"").0, 413);
    assert_eq!(rejection(&policy, &post_fields(), "\"123\"").0, 400);
}

#[test]
fn the_status_of_a_response_follows_its_error_code_http_42() {
    for (code, status) in [
        (-32601, 404),
        (-32020, 400),
        (-32021, 400),
        (-32022, 400),
        (-32602, 200),
        (-32603, 200),
        (-32600, 200),
        (7, 200),
    ] {
        assert_eq!(status_of(Revision::V2026_07_28, Some(code)), status, "{code}");
        for revision in Revision::LEGACY {
            assert_eq!(status_of(revision, Some(code)), 200, "{code}");
        }
    }
    assert_eq!(status_of(Revision::V2026_07_28, None), 200);
}

fn any_body() -> impl Strategy<Value = Vec<u8>> {
    let method = select(vec![
        "tools/call",
        "tools/list",
        "initialize",
        "ping",
        "x",
        "notifications/cancelled",
    ]);
    let version = select(vec![R5, "2025-11-25", "v999"]);
    let message = (method, version, any::<[bool; 5]>(), crate::json::testing::value())
        .prop_map(|(method, version, [has_id, has_method, has_meta, has_name, has_result], odd)| {
            let mut message = json!({"jsonrpc": "2.0", "params": {"arguments": odd}});
            if has_id {
                message["id"] = json!(1);
            }
            if has_method {
                message["method"] = json!(method);
            }
            if has_meta {
                message["params"]["_meta"] = meta(version);
            }
            if has_name {
                message["params"]["name"] = json!("test_custom_header");
            }
            if has_result {
                message["result"] = json!({});
            }
            message.to_string().into_bytes()
        })
        .boxed();
    prop_oneof![
        6 => message.clone(),
        1 => message.prop_map(|message| [b"[", &message[..], b"]"].concat()),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #[test]
    fn any_body_is_classified_or_rejected_with_a_complete_response(
        body in any_body(),
        fields in proptest::collection::vec((select(vec![
            "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Value", "Mcp-Session-Id",
        ]), prop_oneof![
            4 => select(vec![
                R5, "2025-03-26", "2025-11-25", "v999", "tools/call", "tools/list",
                "test_custom_header", "s",
            ])
            .prop_map(|known| known.as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..12),
        ]), 0..6),
        supported in select(vec![
            &Revision::ALL[..], &Revision::ALL[4..], &Revision::LEGACY[..], &[],
        ]),
    ) {
        let mut head: Vec<(String, Vec<u8>)> =
            post_fields().into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
        head.extend(fields.into_iter().map(|(name, value)| (name.to_string(), value)));
        let policy = Policy::default().revisions(supported);
        let Ok(Admitted::Post(admitted)) = admit(&policy, "POST", &head) else { panic!() };
        match admitted.read(&policy, &head, &body, &schema) {
            Err(refusal) => {
                checked(&refusal);
            }
            Ok(Post::Modern { revision, message }) => {
                prop_assert!(policy.supports(revision) && revision.era() == Era::Modern);
                prop_assert_eq!(head.single("mcp-protocol-version"), Ok(Some(R5.as_bytes())));
                use PostedMessage::{Notification, Request};
                let is_expected = matches!(message, Request { .. } | Notification { .. });
                prop_assert!(is_expected);
            }
            Ok(Post::Sessionless { .. }) => panic!("the policy has sessions"),
            Ok(Post::Initialize { .. }) => prop_assert!(policy.offers_sessions()),
            Ok(Post::Session { version, .. }) => {
                prop_assert!(version.is_none_or(|version| policy.supports(version)));
                prop_assert!(head.single("mcp-session-id").is_ok_and(|id| id.is_some()));
            }
        }
    }
}
