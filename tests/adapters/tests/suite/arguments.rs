//! Arguments of tools and custom methods as Rust types, and the errors of those that do not match.

use std::collections::BTreeMap;

use mcp_adapter::proto::schema::{
    self, AnyObject, ClientRequest, Decode, DecodeError, Encode, JsonReader, Serialized,
};
use mcp_adapter::proto::{Raw, Revision, Unencodable, code};
use mcp_adapter::{MethodHandler, Server, Tool};
use mcp_adapter_tests::{Runtime, client, failure, pair, raw, refusal, rows, server, success};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

rows! {
    numbers_without_a_fraction_are_integers,
    further_members_are_ignored_or_named,
    a_custom_method_names_the_params_that_do_not_match,
}

#[derive(Deserialize, JsonSchema)]
struct Integers {
    count: u64,
    list: Vec<i32>,
    #[serde(default)]
    by_name: BTreeMap<String, u8>,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing;

fn integers() -> Server {
    let open = schema::Tool::new("open", AnyObject(raw(&json!({"type": "object"}))));
    let schema = json!({"type": "object", "additionalProperties": false});
    let closed = schema::Tool::new("closed", AnyObject(raw(&schema)));
    server()
        .tool("integers", "Adds up its numbers", |integers: Integers| {
            let by_name = integers.by_name.values().map(|number| i128::from(*number));
            let list = integers.list.iter().map(|number| i128::from(*number));
            (i128::from(integers.count) + list.chain(by_name).sum::<i128>()).to_string()
        })
        .tool("nothing", "Takes no arguments", || "done")
        .tool("unit", "Takes no arguments", |_: Nothing| async { "done" })
        .tool("option", "Takes numbers or nothing", |integers: Option<Integers>| {
            if integers.is_some() { "numbers" } else { "nothing" }
        })
        .add(Tool::define(open, |(): ()| "done"))
        .add(Tool::define(closed, || "done"))
}

async fn numbers_without_a_fraction_are_integers<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), integers()).await;
    let call = async |arguments: &str| {
        let arguments = Raw::from_text(arguments).unwrap();
        connection.call_tool("integers", &arguments).await
    };
    for (arguments, sum) in [
        (r#"{"count":1.0,"list":[]}"#, "1"),
        (r#"{"count":1e0,"list":[2.0,-3e0,4]}"#, "4"),
        (r#"{"count":1e2,"list":[-0.0],"by_name":{"a":1.0,"b":20e-1}}"#, "103"),
        (r#"{"count":1e19,"list":[]}"#, "10000000000000000000"),
        (r#"{"count":9007199254740993.0,"list":[]}"#, "9007199254740993"),
        (r#"{"count":18446744073709551615.0,"list":[]}"#, "18446744073709551615"),
    ] {
        assert_eq!(success(call(arguments).await), sum, "{arguments}");
    }
    for (arguments, place) in [
        (r#"{"count":1.5,"list":[]}"#, "/count"),
        (r#"{"count":1,"list":[1.0,2.5]}"#, "/list/1"),
        (r#"{"count":-1.0,"list":[]}"#, "/count"),
        (r#"{"count":1e20,"list":[]}"#, "/count"),
        (r#"{"count":1,"list":[3e9]}"#, "/list/0"),
        (r#"{"count":1,"list":[],"by_name":{"a/b":1e3}}"#, "/by_name/a~1b"),
    ] {
        let error = failure(call(arguments).await);
        assert!(error.contains(place) && error.contains("an integer from"), "{arguments}: {error}");
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn further_members_are_ignored_or_named<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), integers()).await;
    let call = async |name: &str, arguments: Value| connection.call_tool(name, &arguments).await;
    let more = json!({"random_string": "x", "n": 1});
    for name in ["nothing", "unit", "open", "closed"] {
        assert_eq!(success(call(name, json!({})).await), "done");
    }
    for name in ["nothing", "unit", "open"] {
        assert_eq!(success(call(name, more.clone()).await), "done", "the schema allows them");
    }
    let error = failure(call("closed", more.clone()).await);
    assert!(error.contains("`random_string`") && error.contains("`n`"), "{error}");
    assert_eq!(success(call("option", json!({})).await), "nothing");
    let error = failure(call("option", json!({"count": 1, "list": [null]})).await);
    assert!(error.contains("/list/0"), "a mismatch is not ignored: {error}");
    let sum = call("integers", json!({"count": 1, "list": [], "more": 2})).await;
    assert_eq!(success(sum), "1");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

#[derive(Debug, Deserialize, Serialize)]
struct Draw {
    lines: Vec<u8>,
}

impl ClientRequest for Draw {
    const METHOD: &'static str = "com.example/draw";
    type Result = Raw;
}

impl Decode for Draw {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        Ok(Serialized::read(reader)?.0)
    }
}

impl Encode for Draw {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        Serialized(self).encode(revision, out)
    }
}

async fn a_custom_method_names_the_params_that_do_not_match<R: Runtime>() {
    let server = server().add(
        MethodHandler::new(|draw: Draw| raw(&json!({"n": draw.lines.len()}))).without_extension(),
    );
    let (connection, serving) = pair::<R>(client(), server).await;
    let draw = async |params: &str| {
        let params = Raw::from_text(params).unwrap();
        connection.call_raw(Draw::METHOD, params).await
    };
    assert_eq!(draw(r#"{"lines":[1.0,2e0]}"#).await.unwrap().member("n").unwrap().as_str(), "2");
    for (params, words) in [
        (r#"{"lines":[1,"x"]}"#, &["/lines/1", "an integer from 0 to 255", "found \"x\""][..]),
        (r#"{"lines":7}"#, &["/lines", "a sequence", "found 7"]),
        ("{}", &["/lines", "found nothing"]),
    ] {
        let error = refusal(draw(params).await);
        assert_eq!(error.code, code::INVALID_PARAMS);
        assert!(words.iter().all(|word| error.message.contains(word)), "{}", error.message);
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
