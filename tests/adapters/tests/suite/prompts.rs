//! Prompts whose arguments are a Rust type.

use mcp_adapter::proto::schema::{
    self, Complete, CompletionArgument, GetPrompt, PromptArgument, PromptMessage, PromptReference,
    Reference, Role,
};
use mcp_adapter::proto::{CallError, code};
use mcp_adapter::testing::{TestPair, pair};
use mcp_adapter::{Client, Cx, Error, HandlerError, Prompt, Server};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Style {
    Quick,
    Quiet,
    Slow,
}

#[derive(Deserialize, JsonSchema)]
struct Plan {
    /// Number of days.
    days: u8,
    style: Style,
    place: Option<String>,
    rain: Option<bool>,
}

fn plan(plan: Plan, _: Cx) -> Result<PromptMessage, HandlerError> {
    let Plan { days, style, place, rain } = plan;
    Ok(PromptMessage::new(Role::User, format!("{days} {style:?} {place:?} {rain:?}")))
}

fn server() -> Server {
    Server::new("s", "1")
        .prompt("plan", "Plans a trip", plan)
        .prompt("later", "Plans a trip", async |later: Plan, cx: Cx| plan(later, Cx::clone(&cx)))
        .prompt("hello", "Greets", || PromptMessage::new(Role::User, "hello"))
}

fn rendered(pair: &mut TestPair, prompt: &str, arguments: &[(&str, &str)]) -> String {
    let result = pair.get_prompt(prompt, arguments).unwrap();
    result.messages[0].content.as_text().unwrap().to_owned()
}

fn refusal(pair: &mut TestPair, arguments: &[(&str, &str)]) -> String {
    match pair.get_prompt("plan", arguments).unwrap_err().error() {
        Error::Call(CallError::Refused(error)) if error.code == code::INVALID_PARAMS => {
            error.message.to_string()
        }
        error => panic!("{error}"),
    }
}

#[test]
fn arguments_are_derived_and_read_from_texts() {
    let mut pair = pair(&server(), Client::new("c", "1")).unwrap();
    let client = pair.client();
    let listed = pair.run(client.list_prompts()).unwrap();
    let arguments: Vec<PromptArgument> = listed[0].arguments.iter().flatten().cloned().collect();
    let named = |name: &str| arguments.iter().find(|it| it.name == name).unwrap();
    assert_eq!(named("days").description.as_deref(), Some("Number of days."));
    let required: Vec<_> = arguments.iter().filter(|it| it.required).map(|it| &*it.name).collect();
    assert_eq!((required, arguments.len()), (vec!["days", "style"], 4));
    assert_eq!(listed[0].description.as_deref(), Some("Plans a trip"));
    assert_eq!(listed[2].arguments.iter().flatten().count(), 0);

    let given = [("days", "3"), ("style", "slow"), ("place", "7"), ("rain", "true")];
    let text = "3 Slow Some(\"7\") Some(true)";
    assert_eq!(rendered(&mut pair, "plan", &given), text);
    assert_eq!(rendered(&mut pair, "later", &given), text);
    assert_eq!(rendered(&mut pair, "plan", &given[..2]), "3 Slow None None");
    assert_eq!(rendered(&mut pair, "hello", &[]), "hello");
    assert_eq!(rendered(&mut pair, "hello", &[("more", "ignored")]), "hello");

    let given = [("days", "3.0"), ("style", "slow"), ("place", ""), ("rain", " ")];
    assert_eq!(rendered(&mut pair, "plan", &given), "3 Slow Some(\"\") None", "blank is absent");
    for days in ["1e1", "10.0", "100E-1"] {
        let given = [("days", days), ("style", "quick")];
        assert_eq!(rendered(&mut pair, "plan", &given), "10 Quick None None");
    }
}

#[test]
fn arguments_that_do_not_match_are_refused() {
    let mut pair = pair(&server(), Client::new("c", "1")).unwrap();
    for (given, why) in [
        ([("days", "many"), ("style", "slow")], "an integer from 0 to 255 at \"/days\""),
        ([("days", "300"), ("style", "slow")], "300"),
        ([("days", "1.5"), ("style", "slow")], "1.5"),
        ([("days", " "), ("style", "slow")], "/days"),
        ([("days", "3"), ("style", "loud")], "expected one of `quick`, `quiet`, `slow` at"),
    ] {
        let message = refusal(&mut pair, &given);
        assert!(message.contains("of the prompt `plan`") && message.contains(why), "{message}");
        assert!(!message.contains("column"), "{message}");
    }
    assert!(refusal(&mut pair, &[("days", "3")]).contains("style"));
}

#[test]
fn the_values_of_an_enum_are_completions() {
    let mut pair = pair(&server(), Client::new("c", "1")).unwrap();
    let plan = Reference::Prompt(PromptReference::new("plan"));
    let request = Complete::new(plan, CompletionArgument::new("style", "qui"));
    let result = pair.call(request).unwrap();
    let values: Vec<_> = result.completion.values.iter().cloned().collect();
    assert_eq!(values, ["quick", "quiet"]);
}

#[test]
fn types_that_texts_cannot_give_are_refused_at_the_start() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "read by the derived schema only")]
    struct Nested {
        inner: Vec<u8>,
    }
    let server = Server::new("s", "1")
        .prompt("nested", "Takes a list", |_: Nested| PromptMessage::new(Role::User, ""));
    let why = pair(&server, Client::new("c", "1")).unwrap_err().to_string();
    assert!(why.contains("the prompt `nested` cannot be offered"), "{why}");
    assert!(why.contains("Nested") && why.contains("field `inner`"), "{why}");
}

#[test]
fn explicit_definitions_remain_possible() {
    let who = PromptArgument::new("who").required();
    let server = Server::new("s", "1").add(Prompt::define(
        schema::Prompt::new("greet").arguments([who]),
        |get: GetPrompt| {
            let who = get.arguments.as_ref().and_then(|given| given.get("who"));
            Ok(PromptMessage::new(Role::User, who.ok_or("no name")?.as_str()))
        },
    ));
    let mut pair = pair(&server, Client::new("c", "1")).unwrap();
    assert_eq!(rendered(&mut pair, "greet", &[("who", "Ada")]), "Ada");
    assert!(pair.get_prompt("greet", &[]).is_err());
}
