//! Tools whose handlers return Rust values: text, images and structured content.

use std::collections::BTreeMap;

use mcp_adapter::layers::{Incoming, Next, Response};
use mcp_adapter::proto::schema::{CallToolResult, Content, Encode, Image};
use mcp_adapter::proto::{Revision, Unencodable, code};
use mcp_adapter::{Client, Cx, HandlerError, Json, Server};
use mcp_adapter_tests::{Runtime, client, full_server, pair, refusal, rows, server, success};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

rows! {
    a_json_result_has_a_schema_and_its_text,
    older_revisions_receive_the_text_of_a_json_result,
    a_value_that_is_not_json_is_an_error_of_the_server,
    images_and_lists_of_content_are_returned,
    a_result_whose_encoding_panics_fails_its_request_only,
}

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    a: i64,
    b: i64,
}

#[derive(JsonSchema, Serialize)]
struct Sum {
    /// The sum of both numbers.
    sum: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn sum(numbers: &Numbers) -> Json<Sum> {
    Json(Sum { sum: numbers.a + numbers.b, note: None })
}

/// A map whose keys are not strings, which JSON cannot represent.
fn unserializable() -> Json<BTreeMap<Vec<u8>, u8>> {
    Json(BTreeMap::from([(vec![1], 1)]))
}

async fn add_later(numbers: Numbers, _cx: Cx) -> Result<Json<Sum>, HandlerError> {
    Ok(sum(&numbers))
}

fn calculator() -> Server {
    server()
        .tool("add", "Adds two numbers", |numbers: Numbers| sum(&numbers))
        .tool("add_later", "Adds two numbers", add_later)
        .tool("list", "Lists numbers", || Json(vec![1, 2]))
        .tool("broken", "Returns no JSON", unserializable)
        .tool("nothing", "Returns nothing", || ())
        .tool("images", "Returns two images", || {
            vec![Image::from_bytes(b"one", "image/png"), Image::from_bytes(b"two", "image/gif")]
        })
        .checked()
}

fn text(result: &CallToolResult) -> Value {
    serde_json::from_str(result.content[0].as_text().unwrap()).unwrap()
}

async fn a_json_result_has_a_schema_and_its_text<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), calculator()).await;
    let tools = connection.list_tools().await.unwrap();
    for tool in &tools[..2] {
        let schema: Value = tool.output_schema.as_ref().unwrap().parse().unwrap();
        let described = &schema["properties"]["sum"]["description"];
        assert_eq!(described, "The sum of both numbers.", "{schema}");
        assert_eq!(schema["required"], json!(["sum"]), "as it is serialized: {schema}");
        let result = connection.call_tool(&tool.name, &json!({"a": 2, "b": 3})).await.unwrap();
        let structured: Value = result.structured_content.as_ref().unwrap().parse().unwrap();
        assert_eq!((structured, text(&result)), (json!({"sum": 5}), json!({"sum": 5})));
        assert_eq!(connection.check_result(tool, &result), Ok(()));
    }
    let list = connection.call_tool("list", &json!({})).await.unwrap();
    assert!(list.structured_content.is_some());
    assert_eq!((list.structured::<[u8; 2]>(), text(&list)), (Ok([1, 2]), json!([1, 2])));
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn older_revisions_receive_the_text_of_a_json_result<R: Runtime>() {
    for (revision, has_objects) in [(Revision::V2025_03_26, false), (Revision::V2025_06_18, true)] {
        let client: Client = client().revisions(&[revision]);
        let (connection, serving) = pair::<R>(client, calculator()).await;
        let tools = connection.list_tools().await.unwrap();
        let has_schema = |name: &str| {
            tools.iter().find(|tool| tool.name == *name).unwrap().output_schema.is_some()
        };
        assert_eq!((has_schema("add"), has_schema("list")), (has_objects, false), "{revision}");
        let added = connection.call_tool("add", &json!({"a": 2, "b": 3})).await.unwrap();
        assert_eq!(added.structured_content.is_some(), has_objects, "{revision}");
        assert_eq!(text(&added), json!({"sum": 5}));
        let list = connection.call_tool("list", &json!({})).await.unwrap();
        assert_eq!((&list.structured_content, list.structured::<[u8; 2]>()), (&None, Ok([1, 2])));
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

async fn a_value_that_is_not_json_is_an_error_of_the_server<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), calculator()).await;
    let error = refusal(connection.call_tool("broken", &json!({})).await);
    assert_eq!(error.code, code::INTERNAL_ERROR);
    assert_eq!(&*error.message, "the result cannot be serialized");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn images_and_lists_of_content_are_returned<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), calculator()).await;
    let nothing = connection.call_tool("nothing", &json!({})).await.unwrap();
    assert_eq!(nothing.content.len(), 0);
    let images = connection.call_tool("images", &json!({})).await.unwrap();
    let bytes: Vec<_> = images
        .content
        .iter()
        .map(|block| match block {
            Content::Image(image) => (image.to_bytes().unwrap(), image.mime_type.clone()),
            other => panic!("not an image: {other:?}"),
        })
        .collect();
    let expected = [(b"one".to_vec(), "image/png".into()), (b"two".to_vec(), "image/gif".into())];
    assert_eq!(bytes, expected);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

struct Broken;

impl Encode for Broken {
    fn encode(&self, _: Revision, _: &mut Vec<u8>) -> Result<(), Unencodable> {
        panic!("a secret")
    }
}

/// A layer that replaces the results of `count` and `count_plain`.
pub(crate) async fn with_broken_results(request: Incoming, next: Next) -> Response {
    let is_broken = request.name().is_some_and(|name| name.starts_with("count"));
    let response = next.run(request).await;
    if is_broken { Response::result(Broken) } else { response }
}

async fn a_result_whose_encoding_panics_fails_its_request_only<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), full_server().layer(with_broken_results)).await;
    for name in ["count", "count_plain"] {
        let error = refusal(connection.call_tool(name, &json!({})).await);
        assert_eq!((error.code, &*error.message), (code::INTERNAL_ERROR, "the handler failed"));
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
