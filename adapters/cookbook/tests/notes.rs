//! Tests of the server for notes, in memory, in virtual time and without threads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use mcp_blocking::proto::schema::{ElicitAction, ElicitResult};
use mcp_blocking::proto::{Filter, Principal};
use mcp_blocking::testing::{PairError, TestPair, pair, pair_as};
use mcp_blocking::{Client, Server};
use rusqlite::Connection;
use serde_json::{Value, json};

fn server() -> Server {
    mcp_cookbook::server(Connection::open_in_memory().unwrap()).unwrap()
}

/// A pair whose user answers each question with `action`.
fn answering(action: ElicitAction) -> TestPair {
    let client = Client::new("test", "1.0.0")
        .on_elicitation(move |_form, _cx| ElicitResult::new(action.clone()));
    pair(&server(), client).unwrap()
}

fn add(pair: &mut TestPair, text: &str) -> Result<i64, PairError> {
    let result = pair.call_tool("add", &json!({"text": text}))?;
    Ok(result.structured::<Value>().unwrap()["id"].as_i64().unwrap())
}

#[test]
fn notes_are_found_and_read() -> Result<(), PairError> {
    let mut pair = answering(ElicitAction::Accept);
    add(&mut pair, "buy bread")?;
    let milk = add(&mut pair, "buy milk")?;
    let found = pair.call_tool("find", &json!({"part": "milk"}))?;
    let found: Value = found.structured().unwrap();
    assert_eq!(found, json!({"notes": [{"id": milk, "text": "buy milk"}]}));
    let client = pair.client();
    let listed = pair.run(client.list_resources()).unwrap();
    assert_eq!(listed[1].uri, format!("note://{milk}"));
    let read = pair.read_resource(&format!("note://{milk}"))?;
    assert!(format!("{read:?}").contains("buy milk"));
    assert!(pair.read_resource("note://77").is_err());
    let prompt = pair.get_prompt("summarize", &[])?;
    assert!(format!("{prompt:?}").contains("buy bread\\nbuy milk"));
    Ok(())
}

#[test]
fn notes_are_deleted_only_if_the_user_agrees() -> Result<(), PairError> {
    for (action, deleted) in [(ElicitAction::Accept, true), (ElicitAction::Decline, false)] {
        let mut pair = answering(action);
        let id = add(&mut pair, "buy milk")?;
        pair.call_tool("delete", &json!({"id": id}))?;
        assert_eq!(pair.read_resource(&format!("note://{id}")).is_err(), deleted);
    }
    Ok(())
}

#[test]
fn users_see_only_their_own_notes() -> Result<(), PairError> {
    let server = server();
    let user = |name| Principal::new(name).unwrap();
    let mut ada = pair_as(&server, Client::new("test", "1.0.0"), user("ada"))?;
    let mut eve = pair_as(&server, Client::new("test", "1.0.0"), user("eve"))?;
    let note = format!("note://{}", add(&mut ada, "a secret")?);
    assert!(ada.read_resource(&note).is_ok() && eve.read_resource(&note).is_err());
    let listed = eve.client();
    assert!(eve.run(listed.list_resources()).unwrap().is_empty());
    for (pair, accepted) in [(&mut ada, 1), (&mut eve, 0)] {
        let client = pair.client();
        let changes = pair.run(client.subscribe(&Filter::new().resource(&*note))).unwrap();
        assert_eq!(changes.acknowledged().uris.len(), accepted);
    }
    Ok(())
}
