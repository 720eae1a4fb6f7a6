//! What servers of both eras say when nothing goes wrong; knows nothing of what goes wrong.

use serde_json::{Value, json};

use crate::{Answer, Request};

/// The field that names a session.
pub const SESSION: &str = "mcp-session-id";

/// The answer to a request.
#[must_use]
pub fn result(request: &Request, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result})
}

/// What a tool says.
#[must_use]
pub fn said(request: &Request, text: &str) -> Value {
    result(request, &json!({"content": [{"type": "text", "text": text}]}))
}

/// A server of the legacy era that gives ids to sessions, and says what it is told.
pub fn legacy(request: &Request, answer: &mut Answer<'_>) {
    match request.what() {
        "initialize" => {
            let id = format!("s-{}", request.nth);
            let welcome = json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {"subscribe": true}},
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

/// A server of the modern era that says what it is told.
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
