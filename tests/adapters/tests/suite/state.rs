//! Handlers that are methods of shared state.

use std::sync::{Arc, Mutex};

use mcp_adapter::proto::catalog::Variables;
use mcp_adapter::proto::schema::{GetPrompt, ReadResource, ResourceContents};
use mcp_adapter::{Cx, HandlerError, Server, State};
use mcp_adapter_tests::{Runtime, client, pair, rows, server, success};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

rows! {
    methods_of_one_state_are_handlers,
}

/// The notes of a user, by their position.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

#[derive(Deserialize, JsonSchema)]
struct Add {
    text: String,
}

impl Notes {
    fn add(&self, add: Add) -> usize {
        let mut notes = self.0.lock().unwrap();
        notes.push(add.text);
        notes.len()
    }

    async fn add_later(self: Arc<Self>, add: Add, cx: Cx) -> Result<usize, HandlerError> {
        cx.sleep(std::time::Duration::from_millis(1)).await;
        let mut notes = self.0.lock().unwrap();
        notes.push(add.text);
        Ok(notes.len())
    }

    fn find(&self, index: &Variables) -> Result<String, HandlerError> {
        let index = index.text("index").and_then(|index| index.parse::<usize>().ok());
        let note = index.and_then(|index| self.0.lock().unwrap().get(index).cloned());
        note.ok_or_else(HandlerError::not_found)
    }

    fn read(&self, read: ReadResource, index: Variables) -> Result<ResourceContents, HandlerError> {
        Ok(ResourceContents::text(read.uri, self.find(&index)?))
    }

    async fn read_later(
        self: Arc<Self>,
        _: Cx,
        index: Variables,
        _: ReadResource,
    ) -> Result<String, HandlerError> {
        self.find(&index)
    }

    fn summary(&self) -> String {
        self.0.lock().unwrap().join(", ")
    }
}

fn notebook(notes: &Arc<Notes>) -> Server {
    server()
        .state(Arc::clone(notes))
        .tool("add", "Adds a note", Notes::add)
        .tool("add_later", "Adds a note", Notes::add_later)
        .tool("count", "Counts the notes", |notes: State<Notes>| notes.0.0.lock().unwrap().len())
        .template("note://{index}", "notes", Notes::read)
        .template("later://{index}", "later", Notes::read_later)
        .prompt("summary", "Sums the notes up", Notes::summary)
}

async fn methods_of_one_state_are_handlers<R: Runtime>() {
    let notes = Arc::new(Notes::default());
    let (connection, serving) = pair::<R>(client(), notebook(&notes)).await;
    assert_eq!(success(connection.call_tool("add", &json!({"text": "one"})).await), "1");
    assert_eq!(success(connection.call_tool("add_later", &json!({"text": "two"})).await), "2");
    assert_eq!(success(connection.call_tool("count", &json!({})).await), "2");
    for (uri, note) in [("note://0", "one"), ("later://1", "two")] {
        let read = connection.call(ReadResource::new(uri)).await.unwrap();
        assert!(format!("{:?}", read.contents).contains(note), "{read:?}");
    }
    assert!(connection.call(ReadResource::new("note://2")).await.is_err());
    let summary = connection.call(GetPrompt::new("summary")).await.unwrap();
    assert!(format!("{:?}", summary.messages).contains("one, two"), "{summary:?}");
    assert_eq!(notes.0.lock().unwrap().len(), 2);
    assert_eq!(format!("{:?}", State(notes)), "State { .. }");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
