//! MCP requests over HTTP, of both eras.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::raw::{Pending, Reply, Request};

/// Builds a POST of a message.
#[must_use]
pub fn post(message: &Value) -> Request {
    Request::new("POST")
        .field("Content-Type", "application/json")
        .field("Accept", "application/json, text/event-stream")
        .body(message.to_string().as_bytes())
}

/// Builds the POST that opens a session.
#[must_use]
pub fn initialize() -> Request {
    post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "row", "version": "1"},
    }}))
}

/// Builds an `initialize` whose client has icons of about `bytes` bytes.
#[must_use]
pub fn initialize_with_icons(bytes: usize) -> Request {
    let icons = vec![json!({"src": ""}); bytes / 11];
    post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "row", "version": "1", "icons": icons},
    }}))
}

/// Builds a GET within a session.
#[must_use]
pub fn get(session: &str) -> Request {
    Request::new("GET").field("Accept", "text/event-stream").field("Mcp-Session-Id", session)
}

/// Builds a POST of a self-contained modern request, with a progress token.
#[must_use]
pub fn modern(method: &str, params: Value) -> Request {
    modern_as(&json!({}), method, params)
}

/// Like [`modern`], from a client with these capabilities.
#[must_use]
pub fn modern_as(capabilities: &Value, method: &str, mut params: Value) -> Request {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "row", "version": "1"},
        "progressToken": "p",
    });
    let request = post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        .field("MCP-Protocol-Version", "2026-07-28")
        .field("Mcp-Method", method);
    match params["name"].as_str().or_else(|| params["taskId"].as_str()) {
        Some(name) => request.field("Mcp-Name", name),
        None => request,
    }
}

/// A session as its client sees it.
#[derive(Clone, Debug)]
pub struct Session {
    /// The server's address.
    pub address: SocketAddr,
    /// The session id.
    pub id: String,
}

impl Session {
    /// Opens a session.
    #[must_use]
    pub fn open(address: SocketAddr) -> Self {
        Self::try_open(address).unwrap_or_else(|status| panic!("no session: {status}"))
    }

    /// Opens a session; returns the status if it is refused.
    pub fn try_open(address: SocketAddr) -> Result<Self, u16> {
        let mut reply = initialize().send(address);
        if reply.status != 200 {
            return Err(reply.status);
        }
        assert_eq!(reply.answer()["result"]["protocolVersion"], "2025-11-25");
        let id = reply.field("mcp-session-id").expect("an id").to_owned();
        let session = Self { address, id };
        let ready =
            session.within(post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})));
        match ready.send(address).status {
            202 => Ok(session),
            other => Err(other),
        }
    }

    /// Adds the session's headers to a request.
    #[must_use]
    pub fn within(&self, request: Request) -> Request {
        request.field("Mcp-Session-Id", &self.id).field("MCP-Protocol-Version", "2025-11-25")
    }

    /// Calls a tool, with a progress token.
    #[must_use]
    pub fn call(&self, id: u64, tool: &str, arguments: &Value) -> Pending {
        self.within(call(id, tool, arguments)).start(self.address)
    }

    /// Opens the session's GET stream, or resumes a stream after an event.
    #[must_use]
    pub fn listen(&self, last_event_id: Option<&str>) -> Reply {
        let request = self.within(get(&self.id));
        match last_event_id {
            Some(id) => request.field("Last-Event-ID", id).send(self.address),
            None => request.send(self.address),
        }
    }

    /// Pings, and returns the status.
    #[must_use]
    pub fn ping(&self) -> u16 {
        self.within(post(&json!({"jsonrpc": "2.0", "id": 99, "method": "ping"})))
            .send(self.address)
            .status
    }

    /// Ends the session, and returns the status.
    #[must_use]
    pub fn delete(&self) -> u16 {
        self.within(Request::new("DELETE")).send(self.address).status
    }
}

fn call(id: u64, tool: &str, arguments: &Value) -> Request {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
    post(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
}
