//! Well-behaved scripted servers of both eras.

use serde_json::{Value, json};

use crate::{Answer, Request};

/// The session header.
pub const SESSION: &str = "mcp-session-id";

/// Builds the response to a request.
#[must_use]
pub fn result(request: &Request, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result})
}

/// Builds a tool result with a text.
#[must_use]
pub fn said(request: &Request, text: &str) -> Value {
    result(request, &json!({"content": [{"type": "text", "text": text}]}))
}

/// Scripts a legacy server that assigns session ids and echoes.
pub fn legacy(request: &Request, answer: &mut Answer<'_>) {
    match request.what() {
        "initialize" => {
            let id = format!("s-{}", request.nth);
            let welcome = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "resources": {"subscribe": true}},
                "serverInfo": {"name": "played", "version": "1"},
            });
            answer.json(&[(SESSION, &id)], &result(request, &welcome));
        }
        "tools/call" => answer.json(&[], &said(request, request.text())),
        "tools/list" => answer.json(&[], &result(request, &json!({"tools": []}))),
        "ping" | "resources/subscribe" | "resources/unsubscribe" => {
            answer.json(&[], &result(request, &json!({})));
        }
        "GET" => answer.status(405, &[], ""),
        "DELETE" => answer.status(200, &[], ""),
        "server/discover" => answer.status(400, &[("content-type", "text/plain")], "no session"),
        _ => answer.status(202, &[], ""),
    }
}

/// Scripts a modern server that echoes.
pub fn modern(request: &Request, answer: &mut Answer<'_>) {
    match request.what() {
        "server/discover" => {
            let me = json!({
                "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "played", "version": "1"},
            });
            answer.json(&[], &result(request, &me));
        }
        "tools/call" => answer.json(&[], &said(request, request.text())),
        "tools/list" => answer.json(&[], &result(request, &json!({"tools": []}))),
        _ => answer.status(404, &[], ""),
    }
}
