//! Lists that a handler continues after the registered entries.

use mcp_adapter::proto::schema::{
    self, CacheScope, CallTool, GetPrompt, ListPrompts, ListResources, ListTools, PromptMessage,
    ReadResource, Resource, Role,
};
use mcp_adapter::proto::{Capability, Raw, Revision, code};
use mcp_adapter::{
    Connection, HandlerError, Json, Lists, Page, Prompt, Server, Tool, Unregistered,
};
use mcp_adapter_tests::{Runtime, client, pair, refusal, rows, server};
use serde_json::json;

rows! {
    registered_resources_precede_those_of_the_handler,
    a_handler_may_list_all_resources,
    cursors_of_the_handler_and_of_the_catalog_are_told_apart,
    the_handlers_entries_are_filtered,
    tools_of_a_handler_are_listed_and_called,
    prompts_of_a_handler_are_listed_and_rendered,
    entries_of_handlers_are_declared,
    the_fallback_serves_what_the_caller_does_not_see,
    schemas_of_all_origins_are_readable,
    a_list_of_many_entries_has_one_page,
}

const ERAS: [&[Revision]; 2] = [&Revision::LEGACY, &[Revision::V2026_07_28]];

/// The resources from a number on, two a page, five in total.
fn numbers(cursor: Option<&str>) -> Result<Page<Resource>, HandlerError> {
    let first: usize = cursor.map_or(Ok(0), str::parse)?;
    let numbers = (first..5).take(2);
    let page = Page::new(
        numbers.map(|number| Resource::new(format!("n://{number}"), number.to_string())).collect(),
    );
    Ok(if first + 2 < 5 { page.next((first + 2).to_string()) } else { page })
}

fn read(read: ReadResource) -> Result<String, HandlerError> {
    let number = read.uri.strip_prefix("n://").and_then(|number| number.parse::<usize>().ok());
    let number = number.filter(|number| *number < 5);
    let number = number.ok_or_else(HandlerError::not_found)?;
    Ok(number.to_string())
}

fn fixed(server: Server) -> Server {
    ["a", "b", "c"].iter().fold(server.lists(Lists::new().page_max(2)), |server, name| {
        server.resource(&format!("fixed://{name}"), name, || "fixed")
    })
}

fn counting() -> Server {
    server()
        .add(
            Unregistered::new().list_resources(|cursor: Option<String>| numbers(cursor.as_deref())),
        )
        .template("{+uri}", "any", read)
}

fn counting_later() -> Server {
    server()
        .add(
            Unregistered::new()
                .list_resources(async |cursor: Option<String>| numbers(cursor.as_deref())),
        )
        .template("{+uri}", "any", read)
}

/// Returns the resources of all pages.
async fn all(connection: &Connection) -> Vec<Resource> {
    let (mut all, mut params) = (Vec::new(), ListResources::default());
    loop {
        let page = connection.call(params).await.unwrap();
        all.extend(page.resources.iter().cloned());
        let Some(cursor) = page.next_cursor else { return all };
        params = ListResources::new().cursor(cursor);
    }
}

async fn registered_resources_precede_those_of_the_handler<R: Runtime>() {
    for revisions in ERAS {
        for server in [fixed(counting()), fixed(counting_later())] {
            let (connection, serving) = pair::<R>(client().revisions(revisions), server).await;
            let listed = all(&connection).await;
            let names: Vec<&str> = listed.iter().map(|resource| &*resource.name).collect();
            assert_eq!(names, ["a", "b", "c", "0", "1", "2", "3", "4"]);
            for resource in &listed {
                connection.call(ReadResource::new(&*resource.uri)).await.unwrap();
            }
            let unknown = connection.call(ReadResource::new("n://9")).await;
            assert!(refusal(unknown).is_resource_not_found());
            connection.clone().close().await.unwrap();
            serving.ends_well().await;
        }
    }
}

async fn a_handler_may_list_all_resources<R: Runtime>() {
    // Without registered resources, there is no empty first page.
    let server = server().add(
        Unregistered::new().list_resources(|cursor: Option<String>| numbers(cursor.as_deref())),
    );
    let (connection, serving) = pair::<R>(client(), server).await;
    let page = connection.call(ListResources::default()).await.unwrap();
    assert_eq!((page.resources.len(), page.cache_scope), (2, CacheScope::Private));
    assert_eq!(all(&connection).await.len(), 5);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn cursors_of_the_handler_and_of_the_catalog_are_told_apart<R: Runtime>() {
    let server = fixed(counting()).lists(Lists::new().cache_publicly());
    let (connection, serving) = pair::<R>(client(), server).await;
    let page = async |cursor: &str| connection.call(ListResources::new().cursor(cursor)).await;
    let first = connection.call(ListResources::default()).await.unwrap();
    assert_eq!(first.cache_scope, CacheScope::Private);
    let last_registered = page(first.next_cursor.as_deref().unwrap()).await.unwrap();
    let handlers = last_registered.next_cursor.unwrap();
    assert_eq!(&*page(&handlers).await.unwrap().resources[0].name, "0");
    // A cursor that neither issued.
    for cursor in ["x", "hello", "h1", "h ", "", "H", "H:1"] {
        assert_eq!(refusal(page(cursor).await).code, code::INVALID_PARAMS, "{cursor}");
    }
    assert!(refusal(page("h:x").await).message.contains("invalid digit"));
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn the_handlers_entries_are_filtered<R: Runtime>() {
    let server = fixed(counting())
        .lists(Lists::new().visible_to(|entry, _| !["n://1", "fixed://c"].contains(&entry.name())));
    let (connection, serving) = pair::<R>(client(), server).await;
    let listed = all(&connection).await;
    let names: Vec<&str> = listed.iter().map(|resource| &*resource.name).collect();
    assert_eq!(names, ["a", "b", "0", "2", "3", "4"]);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

/// The names from a number on, two a page, five in total.
fn names<T>(cursor: Option<&str>, entry: impl Fn(String) -> T) -> Result<Page<T>, HandlerError> {
    let numbers = numbers(cursor)?;
    let names = numbers.entries.into_iter().map(|resource| entry(resource.name));
    Ok(Page { entries: names.collect(), next_cursor: numbers.next_cursor })
}

fn any_tool(name: impl Into<String>) -> schema::Tool {
    schema::Tool::new(name.into(), json!({"type": "object"}))
}

fn is_number(name: &str) -> bool {
    name.parse::<u32>().is_ok_and(|number| number < 5)
}

fn call(call: &CallTool) -> Result<String, HandlerError> {
    if !is_number(&call.name) {
        return Err(HandlerError::not_found());
    }
    let arguments = call.arguments.as_ref().map_or("absent", |arguments| arguments.0.as_str());
    Ok(format!("{} {arguments}", call.name))
}

fn get(get: &GetPrompt) -> Result<PromptMessage, HandlerError> {
    if !is_number(&get.name) {
        return Err(HandlerError::not_found());
    }
    let who = get.arguments.as_ref().and_then(|arguments| arguments.get("who"));
    let who = who.map_or("unnamed", |who| who);
    Ok(PromptMessage::new(Role::User, format!("{} {who}", get.name)))
}

fn plugins() -> [Server; 2] {
    let server = |server: Server| {
        server
            .lists(Lists::new().page_max(2))
            .add(Tool::define(any_tool("fixed"), || "fixed"))
            .add(Prompt::new("fixed", || "fixed"))
    };
    let sync = server(mcp_adapter_tests::server()).add(
        Unregistered::new()
            .list_tools(|cursor: Option<String>| names(cursor.as_deref(), any_tool))
            .tool_fallback(|it: CallTool| call(&it))
            .list_prompts(|cursor: Option<String>| names(cursor.as_deref(), schema::Prompt::new))
            .prompt_fallback(|it: GetPrompt| get(&it)),
    );
    let later = server(mcp_adapter_tests::server()).add(
        Unregistered::new()
            .list_tools(async |cursor: Option<String>| names(cursor.as_deref(), any_tool))
            .tool_fallback(async |it: CallTool| call(&it))
            .list_prompts(async |cursor: Option<String>| {
                names(cursor.as_deref(), schema::Prompt::new)
            })
            .prompt_fallback(async |it: GetPrompt| get(&it)),
    );
    [sync, later]
}

async fn tools_of_a_handler_are_listed_and_called<R: Runtime>() {
    for revisions in ERAS {
        for server in plugins() {
            let (connection, serving) = pair::<R>(client().revisions(revisions), server).await;
            let tools = connection.list_tools().await.unwrap();
            let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
            assert_eq!(names, ["fixed", "0", "1", "2", "3", "4"]);
            let page = connection.call(ListTools::default()).await.unwrap();
            assert_eq!((page.tools.len(), page.cache_scope), (1, CacheScope::Private));
            for (name, arguments, wanted) in [
                ("fixed", None, "fixed"),
                ("0", None, "0 {}"),
                ("4", Some(r#"{"a":1}"#), r#"4 {"a":1}"#),
            ] {
                let mut call = CallTool::new(name);
                call.arguments = arguments.map(|text| Raw::from_text(text).unwrap().into());
                let result = connection.call(call).await.unwrap();
                assert_eq!(result.content[0].as_text(), Some(wanted));
            }
            let unknown = refusal(connection.call(CallTool::new("5")).await);
            assert_eq!((unknown.code, &*unknown.message), (code::INVALID_PARAMS, "no tool `5`"));
            let malformed = Raw::from_text(r#"{"name":"0","arguments":[]}"#).unwrap();
            let malformed = connection.call_raw("tools/call", malformed).await;
            assert_eq!(refusal(malformed).code, code::INVALID_PARAMS);
            connection.clone().close().await.unwrap();
            serving.ends_well().await;
        }
    }
}

async fn prompts_of_a_handler_are_listed_and_rendered<R: Runtime>() {
    for revisions in ERAS {
        for server in plugins() {
            let (connection, serving) = pair::<R>(client().revisions(revisions), server).await;
            let prompts = connection.list_prompts().await.unwrap();
            let names: Vec<&str> = prompts.iter().map(|prompt| &*prompt.name).collect();
            assert_eq!(names, ["fixed", "0", "1", "2", "3", "4"]);
            let page = connection.call(ListPrompts::default()).await.unwrap();
            assert_eq!((page.prompts.len(), page.cache_scope), (1, CacheScope::Private));
            for (params, wanted) in [
                (r#"{"name":"fixed"}"#, "fixed"),
                (r#"{"name":"0"}"#, "0 unnamed"),
                (r#"{"name":"4","arguments":{"who":"Ada"}}"#, "4 Ada"),
            ] {
                let params = Raw::from_text(params).unwrap();
                let result = connection.call_raw("prompts/get", params).await.unwrap();
                assert!(result.as_str().contains(&format!("{wanted:?}")), "{result:?}");
            }
            let unknown = refusal(connection.call(GetPrompt::new("5")).await);
            assert_eq!((unknown.code, &*unknown.message), (code::INVALID_PARAMS, "no prompt `5`"));
            connection.clone().close().await.unwrap();
            serving.ends_well().await;
        }
    }
}

async fn entries_of_handlers_are_declared<R: Runtime>() {
    let lists = server().add(
        Unregistered::new()
            .list_tools(|| Page::new(vec![any_tool("a")]))
            .list_prompts(|| Page::new(vec![schema::Prompt::new("a")])),
    );
    let fallbacks =
        server().add(Unregistered::new().tool_fallback(|| "any").prompt_fallback(|| "any"));
    let wanted = [Capability::Tools, Capability::Prompts];
    let changed = [Capability::ToolsListChanged, Capability::PromptsListChanged];
    for (server, has_changed) in [
        (lists.clone(), false),
        (fallbacks, false),
        (lists.lists(Lists::new().announce_changes()), true),
    ] {
        let (connection, serving) = pair::<R>(client(), server).await;
        let peer = connection.peer();
        assert!(wanted.iter().all(|capability| peer.has(*capability)));
        assert!(changed.iter().all(|capability| peer.has(*capability) == has_changed));
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

async fn the_fallback_serves_what_the_caller_does_not_see<R: Runtime>() {
    let [server, _] = plugins();
    let server =
        server.lists(Lists::new().visible_to(|entry, _| !["fixed", "1"].contains(&entry.name())));
    let (connection, serving) = pair::<R>(client(), server).await;
    let tools = connection.list_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["0", "2", "3", "4"]);
    let hidden = refusal(connection.call(CallTool::new("fixed")).await);
    assert_eq!(&*hidden.message, "no tool `fixed`", "the handler refuses it");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Payload {
    payload: serde_json::Value,
    more: Option<serde_json::Value>,
}

// G-01: TypeScript 1.x clients refuse the whole list for one boolean.
async fn schemas_of_all_origins_are_readable<R: Runtime>() {
    fn schema() -> Raw {
        Raw::from_text(r#"{"type":"object","properties":{"payload":true,"more":false}}"#).unwrap()
    }
    fn handwritten(name: &str) -> schema::Tool {
        schema::Tool::new(name, schema()).output_schema(schema())
    }
    let mut server = server()
        .tool("derived", "Returns its payload", |payload: Payload| Json(payload))
        .add(Tool::define(handwritten("with"), || json!({})))
        .add(Tool::new("raw", || "done").input_schema(schema()))
        .add(Unregistered::new().list_tools(|| Page::new(vec![handwritten("listed")])));
    let changes = server.changes();
    for revisions in ERAS {
        let (connection, serving) = pair::<R>(client().revisions(revisions), server.clone()).await;
        changes
            .edit(|edit| {
                edit.add(Tool::new("later", || "done").input_schema(schema()))?;
                edit.replace(Tool::define(handwritten("with"), || json!({})))
            })
            .unwrap();
        let tools = connection.list_tools().await.unwrap();
        assert_eq!(tools.len(), 5);
        for tool in &tools {
            let output = tool.output_schema.as_ref().map(|schema| &schema.0);
            for schema in std::iter::once(&*tool.input_schema).chain(output) {
                let schema: serde_json::Value = schema.parse().unwrap();
                let properties = schema["properties"].as_object().unwrap();
                assert_eq!(properties.len(), 2, "{schema}");
                assert!(properties.values().all(serde_json::Value::is_object), "{schema}");
            }
        }
        changes.edit(|edit| edit.remove_tool("later")).unwrap();
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

// G-13: many hosts ignore the cursor of the next page.
async fn a_list_of_many_entries_has_one_page<R: Runtime>() {
    let server = (0..1500).fold(server(), |server, at| {
        let schema = Raw::from_text(r#"{"type":"object"}"#).unwrap();
        server
            .add(Tool::new(&format!("tool{at}"), || "done").input_schema(schema))
            .resource(&format!("n://{at}"), "n", || "n")
            .add(Prompt::new(&format!("prompt{at}"), || "hello"))
    });
    let (connection, serving) = pair::<R>(client(), server).await;
    let tools = connection.call(ListTools::new()).await.unwrap();
    assert_eq!((tools.tools.len(), tools.next_cursor), (1500, None));
    let resources = connection.call(ListResources::new()).await.unwrap();
    assert_eq!((resources.resources.len(), resources.next_cursor), (1500, None));
    let prompts = connection.call(ListPrompts::new()).await.unwrap();
    assert_eq!((prompts.prompts.len(), prompts.next_cursor), (1500, None));
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
