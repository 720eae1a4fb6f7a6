//! The requests of both eras as bytes, identical for every server, and the end of responses.

#![allow(dead_code, reason = "not every program uses every message")]

use memchr::memmem;

/// The era of a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Era {
    /// Legacy, with sessions: 2025-11-25.
    Sessions,
    /// Modern: 2026-07-28.
    Stateless,
}

/// The first id: all ids have equally many digits.
pub(crate) const FIRST_ID: u64 = 10_000_000;

/// The text of an echo.
pub(crate) const TEXT: &str = "thirty bytes of text, no more.";

/// A tool call whose id can be changed in place.
pub(crate) struct Call {
    pub(crate) bytes: Vec<u8>,
    id_at: usize,
}

impl Call {
    pub(crate) fn new(era: Era, tool: &str, session: Option<&str>) -> Self {
        let (meta, fields) = match era {
            Era::Sessions => (
                "\"progressToken\":1".to_owned(),
                "MCP-Protocol-Version: \
                2025-11-25\r\n"
                    .to_owned(),
            ),
            Era::Stateless => (
                "\"progressToken\":1,\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
                 \"io.modelcontextprotocol/clientCapabilities\":{},\
                 \"io.modelcontextprotocol/clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}"
                    .to_owned(),
                format!(
                    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: \
                    {tool}\r\n"
                ),
            ),
        };
        let session = session.map_or_else(String::new, |id| format!("Mcp-Session-Id: {id}\r\n"));
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{FIRST_ID},\"method\":\"tools/call\",\
             \"params\":{{\"name\":\"{tool}\",\"arguments\":{{\"text\":\"{TEXT}\"}},\
             \"_meta\":{{{meta}}}}}}}"
        );
        let bytes = post(&format!("{fields}{session}"), &body);
        let id_at = memmem::find(&bytes, FIRST_ID.to_string().as_bytes()).unwrap_or_default();
        Self { bytes, id_at }
    }

    /// Sets the id, which must have equally many digits.
    pub(crate) fn set_id(&mut self, id: u64) {
        let id = id.to_string();
        self.bytes[self.id_at..self.id_at + id.len()].copy_from_slice(id.as_bytes());
    }
}

/// Returns the request that opens a session.
pub(crate) fn initialize() -> Vec<u8> {
    post(
        "",
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
    )
}

/// Returns the notification that follows.
pub(crate) fn initialized(session: Option<&str>) -> Vec<u8> {
    let session = session.map_or_else(String::new, |id| format!("Mcp-Session-Id: {id}\r\n"));
    post(
        &format!("MCP-Protocol-Version: 2025-11-25\r\n{session}"),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    )
}

fn post(fields: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: \
         application/json, text/event-stream\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Returns the request for a session's GET stream.
pub(crate) fn get(session: &str) -> Vec<u8> {
    format!(
        "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: \
         text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n\r\n"
    )
    .into_bytes()
}

/// Returns where the head of a response ends, once complete.
pub(crate) fn head_of(response: &[u8]) -> Option<usize> {
    memmem::find(response, b"\r\n\r\n").map(|end| end + 4)
}

/// Returns whether a response is complete.
pub(crate) fn is_whole(head: &[u8], body: &[u8]) -> bool {
    if let Some(length) = field(head, b"\r\ncontent-length: ") {
        return body.len() >= length.parse::<usize>().expect("a length");
    }
    if field(head, b"\r\ntransfer-encoding: ").is_some() {
        return body.ends_with(b"\r\n0\r\n\r\n") || body == b"0\r\n\r\n";
    }
    true
}

/// Returns the value of a field, with its name spelled as `hyper` writes it.
pub(crate) fn field<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a str> {
    let rest = &head[memmem::find(head, name)? + name.len()..];
    std::str::from_utf8(&rest[..memchr::memchr(b'\r', rest)?]).ok()
}
