//! Tests of the classification of modern messages: every error status, in the order of the checks.

use super::*;

/// A change to the head.
type Change<'a> = (&'a str, Option<&'a str>);

/// Classifies a request for `method` whose headers are changed.
fn classify(
    method: &str,
    name: Option<&str>,
    params: Value,
    changes: &[Change<'_>],
) -> Result<Post, (u16, i64)> {
    let fields = with(head(method, name), changes);
    let body = request(method, params).to_string();
    read(&Policy::default(), &fields, body.as_bytes()).map_err(|_| {
        let (status, code, id) = rejection(&Policy::default(), &fields, &body);
        assert_eq!(id, Some(json!("q")), "every error echoes the id");
        (status, code)
    })
}

fn modern(method: &str) -> Result<Post, (u16, i64)> {
    let message = PostedMessage::Request { id: "q".into(), method: method.into() };
    Ok(Post::Modern { revision: Revision::V2026_07_28, message })
}

fn call(changes: &[Change<'_>]) -> Result<Post, (u16, i64)> {
    classify("tools/call", Some("add"), json!({"name": "add"}), changes)
}

// HTTP-45
#[test]
fn an_extension_adds_methods_and_their_names_http_45() {
    use crate::{Extension, ExtensionMethod, Side};

    let board = Extension::new("com.example/board")
        .method(ExtensionMethod::request(Side::Client, "com.example/draw").named_by("board"))
        .method(ExtensionMethod::request(Side::Server, "com.example/erase"));
    let config = crate::server::Config::new("s", "1").extension(board).unwrap();
    let policy = Policy::from_config(&config);
    let status = |method: &str, name: Option<&str>| {
        let body = request(method, json!({"board": "b1"})).to_string();
        read(&policy, &head(method, name), body.as_bytes()).err().map(|refusal| refusal.status)
    };
    assert_eq!(status("com.example/draw", Some("b1")), None);
    assert_eq!(status("com.example/draw", Some("b2")), Some(400));
    assert_eq!(status("com.example/draw", None), Some(400));
    assert_eq!(status("com.example/erase", None), Some(404), "servers send it");
}

// HTTP-39
#[test]
fn a_complete_modern_request_is_accepted_http_39_http_44() {
    assert_eq!(call(&[]), modern("tools/call"));
    assert_eq!(
        call(&[("mcp-session-id", Some("s")), ("last-event-id", Some("\0"))]),
        modern("tools/call"),
        "HTTP-52"
    );
    assert_eq!(call(&[("mcp-name", Some("=?base64?YWRk?="))]), modern("tools/call"));
    for method in [
        "server/discover",
        "tools/list",
        "prompts/list",
        "subscriptions/listen",
        "completion/complete",
    ] {
        assert_eq!(classify(method, None, json!({}), &[]), modern(method));
        assert_eq!(
            classify(method, Some("x"), json!({}), &[]),
            modern(method),
            "an unneeded `Mcp-Name` is ignored"
        );
    }
    assert_eq!(
        classify("resources/read", Some("a:b"), json!({"uri": "a:b"}), &[]),
        modern("resources/read")
    );
    assert_eq!(
        classify("prompts/get", Some("p"), json!({"name": "p"}), &[]),
        modern("prompts/get")
    );
}

// HTTP-43, HTTP-45
#[test]
fn required_headers_are_checked_first_t_105_http_43_http_45() {
    // Everything else is wrong as well.
    let bare = |changes: &[Change<'_>]| {
        let body = r#"{"jsonrpc":"2.0","id":7,"method":"unknown/method","params":[]}"#;
        rejection(&Policy::default(), &with(head("other", None), changes), body)
    };
    assert_eq!(bare(&[("mcp-method", None)]), (400, -32020, Some(json!(7))));
    assert_eq!(bare(&[("mcp-method", Some("a\r\nb: c"))]).1, -32020);
    assert_eq!(bare(&[("mcp-protocol-version", Some(""))]).1, -32020);
    assert_eq!(bare(&[("mcp-protocol-version", Some("2026-07-28, 2026-07-28"))]).1, -32020);
    assert_eq!(bare(&[]), (400, -32602, Some(json!(7))), "`_meta` is checked next");
    // The body alone determines the era here.
    assert_eq!(call(&[("mcp-protocol-version", None)]), Err((400, -32020)));
    assert_eq!(call(&[("mcp-method", None)]), Err((400, -32020)));
    let mut twice = head("tools/call", Some("add"));
    twice.push(("MCP-PROTOCOL-VERSION".into(), R5.into()));
    let body = request("tools/call", json!({"name": "add"})).to_string();
    assert_eq!(rejection(&Policy::default(), &twice, &body), (400, -32020, Some(json!("q"))));
}

// STL-03
#[test]
fn a_request_with_incomplete_meta_is_rejected_stl_03() {
    for meta in [
        json!(null),
        json!({}),
        json!([]),
        json!({"io.modelcontextprotocol/protocolVersion": R5}),
        json!({"io.modelcontextprotocol/clientCapabilities": {}}),
        json!({
            "io.modelcontextprotocol/protocolVersion": 1,
            "io.modelcontextprotocol/clientCapabilities": {},
        }),
        json!({
            "io.modelcontextprotocol/protocolVersion": R5,
            "io.modelcontextprotocol/clientCapabilities": [],
        }),
    ] {
        for method in ["tools/call", "unknown/method"] {
            assert_eq!(
                classify(method, None, json!({"_meta": meta}), &[]),
                Err((400, -32602)),
                "{meta}"
            );
        }
    }
    let info = json!({"_meta": {"io.modelcontextprotocol/clientInfo": 1}});
    let mut body = request("tools/list", json!({}));
    body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = info;
    assert!(
        read(&Policy::default(), &head("tools/list", None), body.to_string().as_bytes()).is_ok()
    );
}

// HTTP-40, HTTP-45, HTTP-46
#[test]
fn head_and_body_must_agree_on_version_and_method_http_40_http_45_http_46() {
    assert_eq!(call(&[("mcp-protocol-version", Some("2025-11-25"))]), Err((400, -32020)));
    assert_eq!(call(&[("mcp-protocol-version", Some("v999.0.0"))]), Err((400, -32020)));
    let unknown = json!({"_meta": meta("v999.0.0")});
    assert_eq!(
        classify("tools/list", None, unknown, &[]),
        Err((400, -32020)),
        "a mismatch is reported before an unsupported version"
    );
    assert_eq!(call(&[("mcp-method", Some("Tools/Call"))]), Err((400, -32020)));
    assert_eq!(call(&[("mcp-method", Some("tools/list"))]), Err((400, -32020)));
    assert_eq!(call(&[("mcp-method", Some("=?base64?dG9vbHMvY2FsbA==?="))]), Err((400, -32020)));
    assert_eq!(call(&[("MCP-METHOD", Some(" tools/call\t"))]), modern("tools/call"));
}

// HTTP-41
#[test]
fn an_unsupported_version_is_rejected_with_the_supported_ones_http_41_lif_24() {
    for version in ["v999.0.0", "2025-11-25"] {
        let fields = with(head("unknown/method", None), &[("mcp-protocol-version", Some(version))]);
        let body = request("unknown/method", json!({"_meta": meta(version)})).to_string();
        let refusal = read(&Policy::default(), &fields, body.as_bytes()).unwrap_err();
        let body = checked(&refusal).unwrap();
        assert_eq!(
            (refusal.status, &body["error"]["code"], &body["id"]),
            (400, &json!(-32022), &json!("q"))
        );
        assert_eq!(body["error"]["data"]["requested"], version);
        assert!(body["error"]["data"]["supported"].as_array().unwrap().contains(&json!(R5)));
    }
}

// HTTP-41
#[test]
fn an_unsupported_version_is_reported_before_what_else_is_missing_http_41() {
    let body = json!({"jsonrpc": "2.0", "id": "q", "method": "tools/list"});
    let policy = Policy::default();
    let modern_only = Policy::default().revisions(&[Revision::V2026_07_28]);
    for (policy, version) in [
        (&policy, "foo"),
        (&policy, "2024-01-01"),
        (&policy, "9999-12-31"),
        (&modern_only, "foo"),
        (&modern_only, "2025-11-25"),
    ] {
        for params in [json!({}), json!({"_meta": {}}), json!({"_meta": meta(version)})] {
            let fields = with(post_fields(), &[("mcp-protocol-version", Some(version))]);
            let mut body = body.clone();
            body["params"] = params;
            let refusal = read(policy, &fields, body.to_string().as_bytes()).unwrap_err();
            let body = checked(&refusal).unwrap();
            assert_eq!((refusal.status, &body["error"]["code"]), (400, &json!(-32022)), "{body}");
            assert_eq!(body["error"]["data"]["requested"], version);
        }
    }
}

#[test]
fn a_subscription_needs_an_event_stream() {
    let fields = with(head("subscriptions/listen", None), &[("accept", Some("application/json"))]);
    let listen = request("subscriptions/listen", json!({"notifications": {}})).to_string();
    let refusal = read(&Policy::default(), &fields, listen.as_bytes()).unwrap_err();
    let body = checked(&refusal).unwrap();
    assert_eq!((refusal.status, &body["id"]), (406, &json!("q")));
    assert!(refusal.reason().contains("`text/event-stream`"), "{refusal}");
    let list = with(head("tools/list", None), &[("accept", Some("application/json"))]);
    let body = request("tools/list", json!({})).to_string();
    assert!(read(&Policy::default(), &list, body.as_bytes()).is_ok());
}

// HTTP-42
#[test]
fn an_unknown_method_is_not_found_http_42() {
    for method in [
        "unknown/method",
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "sampling/createMessage",
        "notifications/cancelled",
        "tasks/get",
        "",
    ] {
        assert_eq!(
            classify(method, None, json!({"name": "x"}), &[]),
            Err((404, -32601)),
            "{method}"
        );
    }
    let policy = Policy::default().serve_method("x/y");
    assert!(
        read(&policy, &head("x/y", None), request("x/y", json!({})).to_string().as_bytes()).is_ok()
    );
}

// HTTP-45
#[test]
fn head_and_body_must_agree_on_the_name_http_45_t_106() {
    for bad in [
        None,
        Some("Add"),
        Some("sub"),
        Some(""),
        Some("=?base64?YWRk"),
        Some("=?base64?YWR?="),
        Some("a\ndd"),
        Some("ä"),
    ] {
        assert_eq!(call(&[("mcp-name", bad)]), Err((400, -32020)), "{bad:?}");
    }
    let mut twice = head("tools/call", Some("add"));
    twice.push(("mcp-name".into(), "add".into()));
    assert_eq!(
        rejection(
            &Policy::default(),
            &twice,
            &request("tools/call", json!({"name": "add"})).to_string()
        )
        .1,
        -32020
    );
    // Without a name in the body, the params are invalid; the server reports that later.
    for name in [None, Some("add")] {
        assert_eq!(classify("tools/call", name, json!({}), &[]), modern("tools/call"));
        assert_eq!(classify("tools/call", name, json!({"name": 1}), &[]), modern("tools/call"));
    }
    assert_eq!(classify("tools/call", Some("a\0"), json!({}), &[]), Err((400, -32020)));
    let named = |sent| classify("resources/read", Some(sent), json!({"uri": "file:///世界"}), &[]);
    assert_eq!(named("=?base64?ZmlsZTovLy/kuJbnlYw=?="), modern("resources/read"));
    assert_eq!(named("file:///世界"), Err((400, -32020)));
}

// HTTP-50
#[test]
fn annotated_arguments_must_be_mirrored_http_50() {
    let custom = |arguments: Value, changes: &[Change<'_>]| {
        let params = json!({"name": "test_custom_header", "arguments": arguments});
        classify("tools/call", Some("test_custom_header"), params, changes)
    };
    let hello = || json!({"value": "Hello"});
    let ok = modern("tools/call");
    assert_eq!(custom(hello(), &[("Mcp-Param-Value", Some("Hello"))]), ok);
    assert_eq!(custom(hello(), &[("mcp-param-value", Some("=?base64?SGVsbG8=?="))]), ok);
    for bad in [
        None,
        Some("=?base64?SGVsbG8?="),
        Some("=?base64?SGVs!G8=?="),
        Some("SGVsbG8="),
        Some("=?base64?SGVsbG8="),
    ] {
        assert_eq!(custom(hello(), &[("mcp-param-value", bad)]), Err((400, -32020)), "{bad:?}");
    }
    let count = |sent| custom(json!({"count": 42}), &[("mcp-param-count", Some(sent))]);
    assert_eq!((count("42.0"), count("43")), (ok.clone(), Err((400, -32020))), "T-109");
    assert_eq!(custom(json!({"value": null}), &[]), ok);
    let plain = |tool| {
        classify("tools/call", Some(tool), json!({"name": tool, "arguments": {"value": 1}}), &[])
    };
    assert_eq!((plain("unknown"), plain("invalid")), (ok.clone(), ok));
}

// HTTP-08
#[test]
fn modern_notifications_are_accepted_http_08() {
    let note = |params: Value| {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
    };
    let message = PostedMessage::Notification { method: "notifications/cancelled".into() };
    let post = Post::Modern { revision: Revision::V2026_07_28, message };
    let policy = Policy::default();
    let good = head("notifications/cancelled", None);
    let try_read = |fields: &List, body: &str| read(&policy, fields, body.as_bytes());
    assert_eq!(try_read(&good, &note(json!({}))).unwrap(), post);
    assert_eq!(try_read(&good, &note(json!({"_meta": meta(R5)}))).unwrap(), post);
    let bare = with(good.clone(), &[("mcp-method", None)]);
    assert_eq!(try_read(&bare, &note(json!({}))).unwrap(), post);
    let other = with(good.clone(), &[("mcp-method", Some("x"))]);
    assert_eq!(rejection(&policy, &other, &note(json!({}))), (400, -32020, None));
    let unknown = with(good.clone(), &[("mcp-protocol-version", Some("v999"))]);
    assert_eq!(rejection(&policy, &unknown, &note(json!({}))), (400, -32022, None));
    assert_eq!(
        rejection(&policy, &good, &note(json!({"_meta": meta("v999")}))),
        (400, -32020, None)
    );
    let versionless = with(good, &[("mcp-protocol-version", None)]);
    assert_eq!(
        rejection(&policy, &versionless, &note(json!({"_meta": meta(R5)}))),
        (400, -32020, None)
    );
}
