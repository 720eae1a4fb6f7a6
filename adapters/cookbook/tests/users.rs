//! Tests of what each user of the server for notes sees: lists, prompts and subscriptions.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use mcp_blocking::proto::{Filter, Principal};
use mcp_blocking::testing::{PairError, pair_as};
use mcp_blocking::{Client, Server};
use serde_json::json;

fn server() -> Server {
    mcp_cookbook::server(rusqlite::Connection::open_in_memory().unwrap()).unwrap()
}

#[test]
fn a_user_lists_and_summarizes_notes() -> Result<(), PairError> {
    let ada = Principal::new("ada").unwrap();
    let mut pair = pair_as(&server(), Client::new("test", "1.0.0"), ada)?;
    pair.call_tool("add", &json!({"text": "buy bread"}))?;
    pair.call_tool("add", &json!({"text": "buy milk"}))?;
    assert_eq!(pair.list_resources()?[1].uri, "note://2");
    let prompt = pair.get_prompt("summarize", &[])?;
    let text = prompt.messages[0].content.as_text();
    assert_eq!(text, Some("Summarize these notes:\nbuy bread\nbuy milk"));
    Ok(())
}

#[test]
fn users_see_only_their_own_notes() -> Result<(), PairError> {
    let server = server();
    let user = |name| Principal::new(name).unwrap();
    let mut ada = pair_as(&server, Client::new("test", "1.0.0"), user("ada"))?;
    let mut eve = pair_as(&server, Client::new("test", "1.0.0"), user("eve"))?;
    ada.call_tool("add", &json!({"text": "a secret"}))?;
    assert!(ada.read_resource("note://1").is_ok() && eve.read_resource("note://1").is_err());
    assert!(eve.read_resource("note://77").is_err());
    assert!(eve.list_resources()?.is_empty());
    for (pair, accepted) in [(&mut ada, 1), (&mut eve, 0)] {
        let client = pair.client();
        let changes = pair.run(client.subscribe(&Filter::new().resource("note://1"))).unwrap();
        assert_eq!(changes.acknowledged().uris.len(), accepted);
    }
    Ok(())
}
