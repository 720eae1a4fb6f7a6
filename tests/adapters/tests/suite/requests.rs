//! The typed requests of a client beside tools: resources, prompts, completions, and their lists.

use mcp_adapter::proto::schema::{
    self, Complete, CompleteResult, GetPrompt, PromptArgument, PromptReference, ReadResource,
    ResourceContents, ResourceReference,
};
use mcp_adapter::proto::{Limits, Misuse, Revision};
use mcp_adapter::{Client, Error, HandlerError, ListError, Lists, Prompt, Server, Template};
use mcp_adapter_tests::{Runtime, client, pair, rows, server};
use serde_json::json;

rows! {
    every_list_is_fetched_over_all_pages,
    every_list_is_bounded,
    resources_are_read,
    prompts_are_rendered,
    arguments_that_are_not_strings_are_refused,
    arguments_are_completed,
}

const TEMPLATES: [&str; 3] = ["note://a/{name}", "note://b/{name}", "note://c/{name}"];

/// Builds a server with three resources, templates and prompts, one on each page.
fn library() -> Server {
    let mut server = server();
    for name in ["one", "two", "three"] {
        let uri = format!("note://{name}");
        server =
            server.resource(&uri, name, |read: ReadResource| format!("text of {}", read.uri)).add(
                Prompt::define(
                    schema::Prompt::new(name).arguments([PromptArgument::new("language")]),
                    |asked: GetPrompt| {
                        let language = asked.argument("language").unwrap_or_default();
                        format!("{} in {language}", asked.name)
                    },
                )
                .completion("language", suggest),
            );
    }
    for template in TEMPLATES {
        let handler = || Err::<&str, _>(HandlerError::not_found());
        server = server.add(Template::new(template, template, handler).completion("name", suggest));
    }
    server.lists(Lists::new().page_max(1))
}

/// Suggests the value as typed, then the values of other arguments.
fn suggest(asked: Complete) -> CompleteResult {
    let mut values = vec![asked.argument.value];
    let chosen = asked.context.as_ref().and_then(|context| context.arguments.as_ref());
    values.extend(chosen.into_iter().flat_map(|map| map.iter().map(|(_, value)| value.clone())));
    values.into()
}

/// Returns clients of both eras.
fn both_eras() -> [Client; 2] {
    [client().revisions(&Revision::LEGACY), client().revisions(&[Revision::V2026_07_28])]
}

async fn every_list_is_fetched_over_all_pages<R: Runtime>() {
    for client in both_eras() {
        let (connection, serving) = pair::<R>(client, library()).await;
        let resources = connection.list_resources().await.unwrap();
        let names: Vec<_> = resources.iter().map(|resource| &*resource.name).collect();
        assert_eq!(names, ["one", "two", "three"]);
        let templates = connection.list_resource_templates().await.unwrap();
        let uris: Vec<_> = templates.iter().map(|template| &*template.uri_template).collect();
        assert_eq!(uris, TEMPLATES);
        let prompts = connection.list_prompts().await.unwrap();
        let names: Vec<_> = prompts.iter().map(|prompt| &*prompt.name).collect();
        assert_eq!(names, ["one", "two", "three"]);
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

// PAG-07
async fn every_list_is_bounded<R: Runtime>() {
    let limits = Limits { list_entries_max: 2, ..Limits::default() };
    let (connection, _serving) = pair::<R>(client().limits(limits), library()).await;
    let failures = [
        connection.list_resources().await.map(drop),
        connection.list_resource_templates().await.map(drop),
        connection.list_prompts().await.map(drop),
    ];
    for failure in failures {
        let Err(Error::List(why)) = failure else { panic!("{failure:?}") };
        assert_eq!(why, ListError::TooManyEntries { max: 2 });
    }
}

async fn resources_are_read<R: Runtime>() {
    for client in both_eras() {
        let (connection, _serving) = pair::<R>(client, library()).await;
        let read = connection.read_resource("note://two").await.unwrap();
        let ResourceContents::Text(contents) = &read.contents[0] else { panic!("{read:?}") };
        assert_eq!((&*contents.uri, &*contents.text), ("note://two", "text of note://two"));
        let missing = connection.read_resource("note://a/none").await;
        assert!(matches!(missing, Err(Error::Call(_))), "{missing:?}");
    }
}

async fn prompts_are_rendered<R: Runtime>() {
    for client in both_eras() {
        let (connection, _serving) = pair::<R>(client, library()).await;
        let prompt = connection.get_prompt("two", &json!({"language": "rust"})).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("two in rust"));
    }
}

async fn arguments_that_are_not_strings_are_refused<R: Runtime>() {
    let (connection, _serving) = pair::<R>(client(), library()).await;
    for arguments in [json!({"language": 3}), json!(["rust"]), json!("rust")] {
        let refused = connection.get_prompt("two", &arguments).await;
        assert!(matches!(refused, Err(Error::Misuse(Misuse::Unencodable))), "{refused:?}");
        let prompt = PromptReference::new("two");
        let refused = connection.complete_with(prompt, "language", "", &arguments).await;
        assert!(matches!(refused, Err(Error::Misuse(Misuse::Unencodable))), "{refused:?}");
    }
}

async fn arguments_are_completed<R: Runtime>() {
    for client in both_eras() {
        let (connection, _serving) = pair::<R>(client, library()).await;
        let prompt = PromptReference::new("one");
        let plain = connection.complete(prompt.clone(), "language", "ru").await.unwrap();
        assert_eq!(plain.completion.values.items, ["ru"]);
        let chosen = json!({"framework": "none"});
        let with = connection.complete_with(prompt, "language", "ru", &chosen).await.unwrap();
        assert_eq!(with.completion.values.items, ["ru", "none"]);
        let template = ResourceReference::new(TEMPLATES[1]);
        let named = connection.complete(template, "name", "x").await.unwrap();
        assert_eq!(named.completion.values.items, ["x"]);
    }
}
