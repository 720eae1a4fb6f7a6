//! Servers that validate arguments and results of tools, and clients that validate results again.

use std::io;

use mcp_adapter::proto::schema::{self, AnyObject, CallToolResult, OutputSchema};
use mcp_adapter::proto::{Raw, code};
use mcp_adapter::{CheckError, Server, Tool};
use mcp_adapter_tests::{
    Runtime, Serving, client, pair, raw, refusal, rows, serve, server, socket_pair,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

rows! {
    arguments_and_results_are_checked_against_the_schemas_of_their_tool,
    a_client_validates_results_the_server_does_not,
    structured_content_is_required_without_a_check_of_schemas,
    a_schema_in_an_unknown_dialect_is_refused_at_startup_json_26,
    an_error_about_arguments_names_what_is_allowed,
    a_hostile_schema_is_not_checked_for_longer_than_two_seconds_json_28,
    an_error_says_whether_the_schema_or_the_result_is_wrong,
    optional_arguments_may_be_null,
}

fn halving() -> schema::Tool {
    let input =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let output = json!({
        "type": "object", "properties": {"half": {"type": "integer"}}, "required": ["half"]
    });
    let mut tool = schema::Tool::new("halve", AnyObject(raw(&input)));
    tool.output_schema = Some(OutputSchema(raw(&output)));
    tool
}

/// Builds a server that halves a number, even to a fraction; zero has no half, and negative numbers
/// fail.
fn halve() -> Server {
    server().add(Tool::define(halving(), async |halve: Value| {
        let n = halve["n"].as_f64().unwrap();
        if n < 0.0 {
            return Ok(CallToolResult::error("not below zero"));
        }
        let mut result = CallToolResult::text("halved");
        let half = if n % 2.0 == 0.0 { json!(n as i64 / 2) } else { json!(n / 2.0) };
        result.structured_content = (n != 0.0).then(|| raw(&json!({"half": half})).into());
        Ok(result)
    }))
}

async fn arguments_and_results_are_checked_against_the_schemas_of_their_tool<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), halve().checked()).await;
    let halve = async |n: Value| connection.call_tool("halve", &json!({"n": n})).await;
    assert!(!halve(json!(4)).await.unwrap().is_error);

    let unfit = halve(json!("secret")).await.unwrap();
    let words = unfit.content[0].as_text().unwrap();
    assert!(unfit.is_error && words.contains("/n") && !words.contains("secret"), "{words}");

    for promised_more in [json!(3), json!(0)] {
        assert_eq!(refusal(halve(promised_more).await).code, code::INTERNAL_ERROR);
    }
    // A failed result need not match the schema.
    assert!(halve(json!(-1)).await.unwrap().is_error);
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

// SEC-05
async fn structured_content_is_required_without_a_check_of_schemas<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), halve()).await;
    let halve = async |n: Value| connection.call_tool("halve", &json!({"n": n})).await;
    assert_eq!(refusal(halve(json!(0)).await).code, code::INTERNAL_ERROR);
    assert!(!halve(json!(4)).await.unwrap().is_error);
    assert!(halve(json!(-1)).await.unwrap().is_error, "a failed result needs none");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn a_client_validates_results_the_server_does_not<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), halve()).await;
    let tool = connection.list_tools().await.unwrap().remove(0);
    let check = async |n: i32| {
        let result = connection.call_tool("halve", &json!({"n": n})).await.unwrap();
        connection.check_result(&tool, &result)
    };
    assert_eq!(check(4).await, Ok(()));
    let wrong = check(3).await.unwrap_err();
    assert!(matches!(&wrong, CheckError::Mismatch(why) if why.contains("/half")), "{wrong}");
    let without = connection.check_result(&tool, &CallToolResult::text("halved")).unwrap_err();
    assert!(without.to_string().contains("no structured"), "{without}");
    assert_eq!(check(-1).await, Ok(()));
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

// JSON-26
async fn a_schema_in_an_unknown_dialect_is_refused_at_startup_json_26<R: Runtime>() {
    let schema = json!({"type": "object", "$schema": "https://example.com/dialect"});
    let tool = schema::Tool::new("odd", AnyObject(raw(&schema)));
    let server = server().add(Tool::define(tool, || "never")).checked();
    let (_ours, theirs) = socket_pair();
    let serving: Serving = serve::<R>(server, theirs);
    let error = serving.ends().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("https://example.com/dialect"), "{error}");
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Order {
    meal: Meal,
    side: Option<Side>,
    count: u8,
}

#[derive(Deserialize, JsonSchema)]
enum Meal {
    /// Fish and chips
    Fish,
    Soup,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
enum Side {
    Salad { dressing: bool },
    Bread,
}

async fn an_error_about_arguments_names_what_is_allowed<R: Runtime>() {
    let order = || server().tool("order", "Takes an order", |_: Order| "thanks");
    for (server, is_checked) in [(order(), false), (order().checked(), true)] {
        let (connection, serving) = pair::<R>(client(), server).await;
        for (arguments, words) in [
            (json!({"meal": "Pie", "count": 1}), &["/meal", "Fish", "Soup"][..]),
            (json!({"meal": "Fish", "side": "Rice", "count": 1}), &["/side", "Salad", "Bread"]),
            (json!({"meal": "Fish", "count": "5"}), &["/count", "integer", "string"]),
            (json!({"meal": "Fish", "count": 1.5}), &["/count", "integer"]),
            (json!({"meal": "Fish", "count": 300}), &["/count", "255"]),
            (json!({"meal": "Fish"}), &["count"]),
        ] {
            let result = connection.call_tool("order", &arguments).await.unwrap();
            let error = result.content[0].as_text().unwrap();
            assert!(result.is_error, "{arguments}");
            let names_all = words.iter().all(|word| error.contains(word));
            assert!(names_all && !error.contains("column"), "{is_checked}, {arguments}: {error}");
        }
        for count in ["1.0", "1e0", "10e-1"] {
            let arguments = format!(
                r#"{{"meal":"Soup","count":{count},"side":{{"Salad":{{"dressing":true}}}}}}"#
            );
            let arguments = Raw::from_text(&arguments).unwrap();
            let result = connection.call_tool("order", &arguments).await.unwrap();
            assert!(!result.is_error, "{is_checked}, {count}: {result:?}");
        }
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

/// Returns a schema that is evaluated again and again at each level.
fn nested_unevaluated(levels: usize) -> Value {
    (0..levels).fold(
        json!({"properties": {"a": {"type": "integer"}}}),
        |schema, _| json!({"unevaluatedProperties": {"type": "integer"}, "allOf": [schema]}),
    )
}

// JSON-28
async fn a_hostile_schema_is_not_checked_for_longer_than_two_seconds_json_28<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), server()).await;
    let result = CallToolResult::text("").structured_content(raw(&json!({"a": 1, "b": 2})));
    for schema in [nested_unevaluated(18), nested_unevaluated(60)] {
        let mut tool = schema::Tool::new("hostile", AnyObject(raw(&json!({"type": "object"}))));
        tool.output_schema = Some(OutputSchema(raw(&schema)));
        let start = std::time::Instant::now();
        let refused = connection.check_result(&tool, &result).unwrap_err();
        assert!(!matches!(refused, CheckError::Mismatch(_)), "{refused}");
        // Far above the bound: other tests keep the machine busy.
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
    // As deep as JSON may be: the stack must not overflow.
    for part in [r#"{"not":"#, r#"{"unevaluatedProperties":"#, r#"{"allOf":[{"items":"#] {
        let levels = 120 / part.matches(['{', '[']).count();
        let end = "}".repeat(part.matches('{').count()).replacen("}}", "}]}", 1);
        let nested = format!("{}true{}", part.repeat(levels), end.repeat(levels));
        let schema = format!(r#"{{"$defs":{{"a":{nested}}},"default":{nested}}}"#);
        let mut tool = schema::Tool::new("deep", AnyObject(raw(&json!({"type": "object"}))));
        tool.output_schema = Some(OutputSchema(Raw::from_text(&schema).unwrap()));
        let checked = connection.check_result(&tool, &result);
        assert!(!matches!(checked, Err(CheckError::Mismatch(_))), "{checked:?}");
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn an_error_says_whether_the_schema_or_the_result_is_wrong<R: Runtime>() {
    let (connection, serving) = pair::<R>(client(), server()).await;
    let check = |schema: Value, value: Value| {
        let mut tool = schema::Tool::new("any", AnyObject(raw(&json!({"type": "object"}))));
        tool.output_schema = Some(OutputSchema(raw(&schema)));
        connection.check_result(&tool, &CallToolResult::text("").structured_content(raw(&value)))
    };
    // As zod writes it for an e-mail address.
    let email = concat!(
        r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@",
        r"([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
    );
    let email = json!({"properties": {"mail": {"type": "string", "pattern": email}}});
    assert_eq!(check(email.clone(), json!({"mail": "ada@example.com"})), Ok(()));
    let wrong = check(email, json!({"mail": "ada..b@example.com"}));
    assert!(matches!(wrong, Err(CheckError::Mismatch(why)) if why.contains("/mail")));
    let broken = check(json!({"type": "nothing"}), json!({}));
    assert!(matches!(broken, Err(CheckError::UnusableSchema(_))), "{broken:?}");
    let odd = json!({"properties": {"a": {"pattern": "(?<n>a"}, "b": {"type": "integer"}}});
    let partly = check(odd.clone(), json!({"a": "a", "b": 1}));
    assert_eq!(partly, Err(CheckError::PartlyChecked(vec!["(?<n>a".into()])));
    let wrong = check(odd, json!({"a": "a", "b": "1"}));
    assert!(matches!(wrong, Err(CheckError::Mismatch(why)) if why.contains("/b")));
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

#[derive(Deserialize, JsonSchema)]
struct Booking {
    note: Option<String>,
    guests: Option<Vec<Guest>>,
}

#[derive(Deserialize, JsonSchema)]
struct Guest {
    age: Option<u8>,
}

// G-10: hosts see no `null`, and models still send it.
async fn optional_arguments_may_be_null<R: Runtime>() {
    let book = |booking: Booking, _: mcp_adapter::Cx| {
        let ages = booking.guests.iter().flatten().map(|guest| guest.age);
        Ok(format!("{:?} {:?}", booking.note, ages.collect::<Vec<_>>()))
    };
    for server in [server(), server().checked()] {
        let (connection, serving) = pair::<R>(client(), server.tool("book", "Books", book)).await;
        let tools = connection.list_tools().await.unwrap();
        assert!(!tools[0].input_schema.as_str().contains("null"), "{tools:?}");
        for (arguments, expected) in [
            (json!({}), "None []"),
            (json!({"note": null}), "None []"),
            (json!({"note": null, "guests": null}), "None []"),
            (
                json!({"note": "x", "guests": [{"age": null}, {}, {"age": 5}]}),
                r#"Some("x") [None, None, Some(5)]"#,
            ),
        ] {
            let result = connection.call_tool("book", &arguments).await.unwrap();
            assert_eq!(result.content[0].as_text(), Some(expected), "{arguments}");
        }
        for arguments in [json!({"note": 1}), json!({"guests": [{"age": "5"}]})] {
            assert!(connection.call_tool("book", &arguments).await.unwrap().is_error);
        }
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
    let schema = json!({"type": "object", "properties": {"note": {"type": "string"}}});
    let strict = server().checked().add(Tool::new("book", || "booked").input_schema(raw(&schema)));
    let (connection, serving) = pair::<R>(client(), strict).await;
    let result = connection.call_tool("book", &json!({"note": null})).await.unwrap();
    assert!(result.is_error, "a handwritten schema means what it says");
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}
