//! Servers that check what tools are called with and what they answer, and clients that check it again.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a story fails by panicking")]

mod common;

use std::io::{ErrorKind, empty, sink};

use common::{client, pair, part, raw, server, story};
use mcp_blocking::proto::schema::{AnyObject, CallToolResult, OutputSchema, Tool};
use mcp_blocking::proto::{CallError, code};
use mcp_blocking::{Error, Serve, Server};
use serde_json::json;

fn halving() -> Tool {
    let input = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let output = json!({"type": "object", "properties": {"half": {"type": "integer"}}, "required": ["half"]});
    let mut tool = Tool::new("halve", AnyObject(raw(input)));
    tool.output_schema = Some(OutputSchema(raw(output)));
    tool
}

fn halve() -> Server {
    #[derive(serde::Deserialize)]
    struct Halve {
        n: f64,
    }
    server().tool_with(halving(), |halve: Halve, _| {
        if halve.n < 0.0 {
            return Ok(CallToolResult::error("not below zero"));
        }
        let mut result = CallToolResult::text("halved");
        result.structured_content = (halve.n != 0.0).then(|| raw(json!({"half": halve.n / 2.0})).into());
        Ok(result)
    })
}

#[test]
fn arguments_and_results_are_checked_against_the_schemas_of_their_tool() {
    story(|| {
        let (client, serving) = pair(client(), halve().checked());
        let halve = |n: serde_json::Value| client.call_tool("halve", &json!({"n": n})).wait();
        assert!(!halve(json!(4)).unwrap().is_error);

        let unfit = halve(json!("secret")).unwrap();
        let words = unfit.content[0].as_text().unwrap();
        assert!(unfit.is_error && words.contains("/n") && !words.contains("secret"), "{words}");

        for promised_more in [json!(3), json!(0)] {
            let Err(Error::Call(CallError::Refused(error))) = halve(promised_more) else { panic!() };
            assert_eq!(error.code, code::INTERNAL_ERROR);
        }
        // A failure promises nothing.
        assert!(halve(json!(-1)).unwrap().is_error);
        part(client, serving);
    });
}

#[test]
fn a_client_checks_what_a_server_answers_which_does_not() {
    story(|| {
        let (client, serving) = pair(client(), halve());
        let tool = client.list_tools().unwrap().remove(0);
        let halve = |n: i32| client.call_tool("halve", &json!({"n": n})).wait().unwrap();
        assert_eq!(client.check_result(&tool, &halve(4)), Ok(()));
        assert!(client.check_result(&tool, &halve(3)).unwrap_err().contains("/half"));
        assert!(client.check_result(&tool, &halve(0)).unwrap_err().contains("no structured content"));
        assert_eq!(client.check_result(&tool, &halve(-1)), Ok(()));
        part(client, serving);
    });
}

#[test]
fn a_schema_in_an_unknown_dialect_is_refused_before_anything_is_served_json_26() {
    let schema = json!({"type": "object", "$schema": "https://example.com/dialect"});
    let tool = Tool::new("odd", AnyObject(raw(schema)));
    let server = server().tool_with(tool, |_: serde_json::Value, _| Ok("never")).checked();
    let error = server.serve(empty(), sink()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("https://example.com/dialect"), "{error}");
}
