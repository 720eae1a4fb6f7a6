//! Lists that a handler continues after the registered entries.

use mcp_adapter::proto::catalog::Variables;
use mcp_adapter::proto::schema::{
    CacheScope, ListResources, ReadResource, Resource, ResourceContents, ResourceTemplate,
};
use mcp_adapter::proto::{Revision, code};
use mcp_adapter::{Connection, Cx, Page, Server, ToolError};
use mcp_adapter_tests::{Runtime, client, pair, refusal, rows, server};

rows! {
    registered_resources_precede_those_of_the_handler,
    a_handler_may_list_all_resources,
    cursors_of_the_handler_and_of_the_catalog_are_told_apart,
    the_handlers_entries_are_filtered,
}

const ERAS: [&[Revision]; 2] = [&Revision::LEGACY, &[Revision::V2026_07_28]];

/// The resources from a number on, two a page, five in total.
fn numbers(cursor: Option<&str>) -> Result<Page<Resource>, ToolError> {
    let first: usize = cursor.map_or(Ok(0), str::parse)?;
    let numbers = (first..5).take(2);
    let page = Page::new(
        numbers.map(|number| Resource::new(format!("n://{number}"), number.to_string())).collect(),
    );
    Ok(if first + 2 < 5 { page.next((first + 2).to_string()) } else { page })
}

fn read(read: ReadResource, _: Variables, cx: Cx) -> Result<ResourceContents, ToolError> {
    let number = read.uri.strip_prefix("n://").and_then(|number| number.parse::<usize>().ok());
    let number = number.filter(|number| *number < 5);
    let number = number.ok_or_else(|| cx.resource_not_found(&read.uri))?;
    Ok(ResourceContents::text(read.uri, number.to_string()))
}

fn fixed(server: Server) -> Server {
    ["a", "b", "c"].iter().fold(server.page_max(2), |server, name| {
        server.resource(Resource::new(format!("fixed://{name}"), *name), |read, _| {
            Ok(ResourceContents::text(read.uri, "fixed"))
        })
    })
}

fn counting() -> Server {
    server()
        .list_resources(|cursor, _| numbers(cursor.as_deref()))
        .resource_template(ResourceTemplate::new("{+uri}", "any"), read)
}

fn counting_later() -> Server {
    server()
        .list_resources_async(|cursor, _| async move { numbers(cursor.as_deref()) })
        .resource_template(ResourceTemplate::new("{+uri}", "any"), read)
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
    let server = server().list_resources(|cursor, _| numbers(cursor.as_deref()));
    let (connection, serving) = pair::<R>(client(), server).await;
    let page = connection.call(ListResources::default()).await.unwrap();
    assert_eq!((page.resources.len(), page.cache_scope), (2, CacheScope::Private));
    assert_eq!(all(&connection).await.len(), 5);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn cursors_of_the_handler_and_of_the_catalog_are_told_apart<R: Runtime>() {
    let server = fixed(counting()).cache_lists_publicly();
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
    let server =
        fixed(counting()).visible_to(|entry, _| !["n://1", "fixed://c"].contains(&entry.name()));
    let (connection, serving) = pair::<R>(client(), server).await;
    let listed = all(&connection).await;
    let names: Vec<&str> = listed.iter().map(|resource| &*resource.name).collect();
    assert_eq!(names, ["a", "b", "0", "2", "3", "4"]);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
