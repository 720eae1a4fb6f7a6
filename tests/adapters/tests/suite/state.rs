//! Handlers that are methods of shared state.

use std::sync::{Arc, Mutex};

use mcp_adapter::proto::catalog::Variables;
use mcp_adapter::proto::schema::{
    GetPrompt, Prompt, PromptMessage, ReadResource, ResourceContents, ResourceTemplate, Role,
};
use mcp_adapter::{AsyncCx, Cx, Server, State, ToolError};
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
    fn add(&self, add: Add, _cx: Cx) -> Result<usize, ToolError> {
        let mut notes = self.0.lock().unwrap();
        notes.push(add.text);
        Ok(notes.len())
    }

    async fn add_later(self: Arc<Self>, add: Add, cx: AsyncCx) -> Result<usize, ToolError> {
        cx.sleep(std::time::Duration::from_millis(1)).await;
        let mut notes = self.0.lock().unwrap();
        notes.push(add.text);
        Ok(notes.len())
    }

    fn find(&self, read: &ReadResource, index: &Variables) -> Option<ResourceContents> {
        let index: usize = index.text("index")?.parse().ok()?;
        Some(ResourceContents::text(read.uri.clone(), self.0.lock().unwrap().get(index)?))
    }

    fn read(
        &self,
        read: ReadResource,
        index: Variables,
        cx: Cx,
    ) -> Result<ResourceContents, ToolError> {
        self.find(&read, &index).ok_or_else(|| cx.resource_not_found(&read.uri))
    }

    async fn read_later(
        self: Arc<Self>,
        read: ReadResource,
        index: Variables,
        cx: AsyncCx,
    ) -> Result<ResourceContents, ToolError> {
        self.find(&read, &index).ok_or_else(|| cx.resource_not_found(&read.uri))
    }

    fn summary(&self, _: GetPrompt, _cx: Cx) -> Result<PromptMessage, ToolError> {
        Ok(PromptMessage::new(Role::User, self.0.lock().unwrap().join(", ")))
    }
}

fn notebook(notes: &State<Notes>) -> Server {
    server()
        .tool("add", "Adds a note", notes.handler(Notes::add))
        .tool_async("add_later", "Adds a note", notes.handler_async(Notes::add_later))
        .tool(
            "count",
            "Counts the notes",
            notes.handler(|notes, (), _cx| Ok(notes.0.lock().unwrap().len())),
        )
        .resource_template(
            ResourceTemplate::new("note://{index}", "notes"),
            notes.template_handler(Notes::read),
        )
        .resource_template_async(
            ResourceTemplate::new("later://{index}", "later"),
            notes.template_handler_async(Notes::read_later),
        )
        .prompt_with(Prompt::new("summary"), notes.handler(Notes::summary))
}

async fn methods_of_one_state_are_handlers<R: Runtime>() {
    let notes = State::new(Notes::default());
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
    assert_eq!(format!("{notes:?}"), "State { .. }");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
