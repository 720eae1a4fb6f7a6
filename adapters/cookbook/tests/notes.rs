//! Tests of the server for notes, in memory, in virtual time and without threads.

use mcp_blocking::Client;
use mcp_blocking::proto::schema::{ElicitAction, ElicitResult};
use mcp_blocking::testing::{TestPair, pair};
use serde_json::{Value, json};

/// Connects a client whose user answers each question with `action`.
fn answering(action: ElicitAction) -> Result<TestPair, Box<dyn std::error::Error>> {
    let answer = move || ElicitResult::new(action.clone());
    let server = mcp_cookbook::server(rusqlite::Connection::open_in_memory()?)?;
    Ok(pair(&server, Client::new("test", "1.0.0").on_elicitation(answer))?)
}

#[test]
fn notes_are_listed_found_and_read() -> Result<(), Box<dyn std::error::Error>> {
    let mut pair = answering(ElicitAction::Accept)?;
    let note: Value = pair.call_tool_as("add", &json!({"text": "buy milk"}))?;
    let found: Value = pair.call_tool_as("search", &json!({"text": "milk"}))?;
    assert_eq!(found, json!({"notes": [note]}));
    let listed: Value = pair.call_tool_as("list", &())?;
    assert_eq!(listed, found);
    assert_eq!(pair.read_resource("note://1")?.contents[0].as_text(), Some("buy milk"));
    Ok(())
}

#[test]
fn notes_are_deleted_only_if_the_user_agrees() -> Result<(), Box<dyn std::error::Error>> {
    for (action, is_deleted) in [(ElicitAction::Accept, true), (ElicitAction::Decline, false)] {
        let mut pair = answering(action)?;
        pair.call_tool("add", &json!({"text": "buy milk"}))?;
        pair.call_tool("delete", &json!({"id": 1}))?;
        assert_eq!(pair.read_resource("note://1").is_err(), is_deleted);
    }
    Ok(())
}
