//! The attribute `server` of each adapter: methods as tools, resources and prompts.

use mcp_adapter::Server;
use mcp_adapter::proto::schema::{GetPrompt, ListPrompts, ListResourceTemplates, ListResources};
use mcp_adapter::proto::schema::{PromptReference, ReadResource, ResourceContents};
use mcp_adapter::proto::schema::{ResourceReference, Tool};
use mcp_adapter_tests::{Runtime, client, failure, pair, rows, server, success};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

rows! {
    marked_methods_are_handlers,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Added {
    index: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Plan {
    /// Number of days.
    days: u8,
}

/// Defines a notebook with the attribute of an adapter.
macro_rules! notebook {
    ($adapter:ident) => {
        mod $adapter {
            use std::sync::{Arc, Mutex};

            use $adapter::proto::catalog::Variables;
            use $adapter::proto::schema::{
                Complete, GetPrompt, PromptMessage, ReadResource, ResourceContents, Role,
            };
            use $adapter::{Cx, HandlerError, Json};

            use super::{Add, Added, Plan};

            #[derive(Default)]
            pub(super) struct Notes<T>(Mutex<Vec<String>>, T);

            #[$adapter::server]
            impl<T: Send + Sync + 'static> Notes<T> {
                fn push(&self, text: String) -> usize {
                    let mut notes = self.0.lock().unwrap();
                    notes.push(text);
                    notes.len() - 1
                }

                /// Adds a note
                /// at the end.
                ///
                /// Returns its position.
                #[tool(title = "Add a note", destructive = false, idempotent = false)]
                fn add(&self, Add { text }: Add, _cx: Cx) -> Result<Json<Added>, HandlerError> {
                    Ok(Json(Added { index: self.push(text) }))
                }

                #[tool(name = "add_later", description = "Adds a note later")]
                async fn later(&self, add: Add, cx: Cx) -> Result<usize, HandlerError> {
                    cx.sleep(std::time::Duration::from_millis(1)).await;
                    Ok(self.push(add.text))
                }

                /// Counts the notes.
                #[tool(read_only, open_world = false)]
                async fn count(self: Arc<Self>) -> Result<usize, HandlerError> {
                    Ok(self.0.lock().unwrap().len())
                }

                /// Forgets a note.
                #[tool]
                fn forget(&self, cx: Cx) -> Result<(), HandlerError> {
                    assert!(!cx.is_cancelled());
                    Err("nothing is forgotten".into())
                }

                /// Returns the length of all notes.
                #[tool(blocking, read_only)]
                fn length(&self) -> usize {
                    self.0.lock().unwrap().join("").len()
                }

                /// Waits.
                #[tool]
                async fn wait(&self) {}

                /// Moves the notes.
                #[tool]
                fn r#move(&self) -> Result<(), HandlerError> {
                    Ok(())
                }

                #[cfg(all())]
                #[tool(description = "Is compiled")]
                async fn compiled(&self) -> Result<(), HandlerError> {
                    Ok(())
                }

                #[cfg(any())]
                #[tool(description = "Is not compiled")]
                fn left_out(&self, missing: Missing) -> Result<(), HandlerError> {
                    Ok(())
                }

                #[tool(description = "Is not compiled either")]
                #[cfg(all())]
                #[cfg(any())]
                async fn left_out_later(&self, missing: Missing) -> Result<(), HandlerError> {
                    Ok(())
                }

                /// All notes.
                #[resource("notes://all", mime_type = "text/plain")]
                fn all(&self) -> Result<ResourceContents, HandlerError> {
                    let notes = self.0.lock().unwrap().join(", ");
                    Ok(ResourceContents::text("notes://all", notes))
                }

                #[resource("notes://{index}", name = "note")]
                async fn one(
                    &self,
                    variables: Variables,
                    _: Cx,
                    read: ReadResource,
                ) -> Result<ResourceContents, HandlerError> {
                    let index = variables.text("index").and_then(|it| it.parse::<usize>().ok());
                    let note = index.and_then(|index| self.0.lock().unwrap().get(index).cloned());
                    let note = note.ok_or_else(HandlerError::not_found)?;
                    Ok(ResourceContents::text(read.uri, note))
                }

                /// Plans a trip.
                #[prompt(title = "Plan")]
                fn plan(&self, plan: Plan) -> PromptMessage {
                    PromptMessage::new(Role::User, format!("{} days", plan.days))
                }

                #[completion(plan_later, "days")]
                fn days(&self, _: Cx) -> Vec<String> {
                    vec!["3".into(), "7".into()]
                }

                #[completion(one, "index")]
                async fn indices(&self, typed: Complete) -> Result<Vec<String>, HandlerError> {
                    let count = self.0.lock().unwrap().len();
                    let indices = (0..count).map(|index| index.to_string());
                    Ok(indices.filter(|it| it.starts_with(&*typed.argument.value)).collect())
                }

                #[cfg(any())]
                #[completion(one, "index")]
                fn left_out_indices(&self, missing: Missing) -> Vec<String> {}

                #[prompt(description = "Plans a trip later")]
                async fn plan_later(&self, plan: Plan, _cx: Cx) -> PromptMessage {
                    self.plan(plan)
                }

                /// Sums the notes up.
                #[prompt(required("style"), optional("length", "language"))]
                fn summary(&self, get: GetPrompt) -> Result<PromptMessage, HandlerError> {
                    let style = get.argument("style").unwrap_or_default();
                    Ok(PromptMessage::new(Role::User, format!("briefly, {style}")))
                }
            }
        }
    };
}

notebook!(mcp_blocking);
notebook!(mcp_smol);
notebook!(mcp_tokio);

fn notebooks() -> [Server; 3] {
    [
        server().handlers(mcp_blocking::Notes::<()>::default()),
        server().handlers(mcp_smol::Notes::<()>::default()),
        server().handlers(mcp_tokio::Notes::<()>::default()),
    ]
}

async fn marked_methods_are_handlers<R: Runtime>() {
    for notebook in notebooks() {
        let (connection, serving) = pair::<R>(client(), notebook).await;
        let added = connection.call_tool("add", &json!({"text": "one"})).await.unwrap();
        assert_eq!(added.structured::<Value>().unwrap(), json!({"index": 0}));
        assert_eq!(success(connection.call_tool("add_later", &json!({"text": "two"})).await), "1");
        assert_eq!(success(connection.call_tool("count", &json!({})).await), "2");
        let forgotten = failure(connection.call_tool("forget", &json!({})).await);
        assert_eq!(forgotten, "nothing is forgotten");
        assert_eq!(success(connection.call_tool("length", &json!({})).await), "6");
        let waited = connection.call_tool("wait", &json!({})).await.unwrap();
        assert!(waited.content.is_empty());
        for prompt in ["plan", "plan_later"] {
            let plan = connection.get_prompt(prompt, &json!({"days": "3"})).await.unwrap();
            assert_eq!(plan.messages[0].content.as_text(), Some("3 days"));
            assert!(connection.get_prompt(prompt, &json!({"days": "many"})).await.is_err());
        }
        for (uri, note) in [("notes://all", "one, two"), ("notes://1", "two")] {
            let read = connection.call(ReadResource::new(uri)).await.unwrap();
            assert_eq!(read.contents[0].as_text(), Some(note));
            let ResourceContents::Text(contents) = &read.contents[0] else { unreachable!() };
            // A template without a media type adds none.
            let mime_type = (uri == "notes://all").then_some("text/plain");
            assert_eq!(contents.mime_type.as_deref(), mime_type);
        }
        assert!(connection.call(ReadResource::new("notes://2")).await.is_err());
        assert!(connection.call(GetPrompt::new("summary")).await.is_err(), "`style` is required");
        let days = connection.complete(PromptReference::new("plan_later"), "days", "").await;
        assert_eq!(days.unwrap().completion.values.items, ["3", "7"]);
        let index = ResourceReference::new("notes://{index}");
        let indices = connection.complete(index, "index", "1").await.unwrap();
        assert_eq!(indices.completion.values.items, ["1"]);
        check_tools(&connection.list_tools().await.unwrap());
        let resources = connection.call(ListResources::new()).await.unwrap().resources;
        assert_eq!(resources[0].name, "all");
        assert_eq!(resources[0].description.as_deref(), Some("All notes."));
        assert_eq!(resources[0].mime_type.as_deref(), Some("text/plain"));
        let templates = connection.call(ListResourceTemplates::new()).await.unwrap();
        assert_eq!(templates.resource_templates[0].name, "note");
        let prompts = connection.call(ListPrompts::new()).await.unwrap().prompts;
        let plan = &prompts[0];
        assert_eq!((plan.title.as_deref(), plan.description.as_deref()), PLAN);
        let days = &plan.arguments.as_deref().unwrap()[0];
        assert_eq!((&*days.name, days.description.as_deref()), ("days", Some("Number of days.")));
        let arguments = prompts[2].arguments.as_deref().unwrap();
        let arguments: Vec<_> = arguments.iter().map(|it| (&*it.name, it.required)).collect();
        assert_eq!(arguments, [("style", true), ("length", false), ("language", false)]);
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

const PLAN: (Option<&str>, Option<&str>) = (Some("Plan"), Some("Plans a trip."));

fn check_tools(tools: &[Tool]) {
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(
        names,
        ["add", "add_later", "count", "forget", "length", "wait", "move", "compiled"]
    );
    let add = &tools[0];
    let description = add.description.as_deref();
    assert_eq!(description, Some("Adds a note at the end.\n\nReturns its position."));
    assert_eq!(add.title.as_deref(), Some("Add a note"));
    let hints = add.annotations.as_ref().unwrap();
    assert_eq!(
        (hints.destructive, hints.idempotent, hints.read_only),
        (Some(false), Some(false), None)
    );
    assert!(add.output_schema.is_some());
    let hints = tools[2].annotations.as_ref().unwrap();
    assert_eq!((hints.read_only, hints.open_world), (Some(true), Some(false)));
    assert_eq!(tools[3].annotations, None);
}
