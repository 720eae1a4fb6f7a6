//! Pagination of lists.
// PAG-01, PAG-03, PAG-04

#![expect(clippy::unwrap_used, reason = "a test helper may panic")]

use mcp_proto::schema::{Decode, ListTools, ListToolsResult};
use mcp_proto::{CallOptions, MessageEndpoint, Raw, StreamId, client};

fn page(text: &str) -> Result<ListToolsResult, mcp_proto::schema::DecodeError> {
    ListToolsResult::decode(&Raw::from_text(text).unwrap())
}

#[test]
fn a_cursor_is_echoed_verbatim_pag_01() {
    for cursor in ["", "p2", "a\"b\\c\n\u{0}é😀", "\u{2028}", "null", "0"] {
        let text = serde_json::json!({"tools": [], "nextCursor": cursor}).to_string();
        let next = page(&text).unwrap().next_cursor;
        assert_eq!(next.as_deref(), Some(cursor));
        let now = mcp_proto::Instant::ZERO;
        let mut request = ListTools::new();
        request.cursor = next;
        let mut machine = client::Client::new(
            now,
            client::Config::new("c", "1").revisions(&mcp_proto::Revision::LEGACY),
        );
        machine.handle_message(now, StreamId::ONLY, &br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#[..]);
        machine.call(now, &request, CallOptions::default()).unwrap();
        let sent =
            std::iter::from_fn(|| machine.poll_outgoing().map(|outgoing| outgoing.body.to_vec()))
                .last()
                .unwrap();
        let sent: serde_json::Value = serde_json::from_slice(&sent).unwrap();
        assert_eq!(sent["params"]["cursor"], cursor);
    }
}

#[test]
fn the_last_page_has_no_cursor_or_a_null_one_pag_03() {
    assert_eq!(page(r#"{"tools":[]}"#).unwrap().next_cursor, None);
    assert_eq!(page(r#"{"tools":[],"nextCursor":null}"#).unwrap().next_cursor, None);
    let first = ListTools::default();
    assert_eq!(first.cursor, None);
}

#[test]
fn an_empty_cursor_is_not_the_end_pag_04() {
    assert_eq!(page(r#"{"tools":[],"nextCursor":""}"#).unwrap().next_cursor.as_deref(), Some(""));
}

#[test]
fn a_cursor_that_is_not_a_string_is_an_error() {
    assert!(page(r#"{"tools":[],"nextCursor":7}"#).is_err());
}
