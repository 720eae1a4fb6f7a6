//! Rounds of input requests: several together, several in sequence, the state between them, and
//! refusals.

use mcp_blocking::proto::schema::{
    CreateMessage, CreateMessageResult, Elicit, ListRootsResult, Role, SamplingMessage,
};
use mcp_blocking::proto::seal::Seal;
use mcp_blocking::proto::{NeededInput, Progress, Revision, code};
use mcp_blocking::{Cx, HandlerError, Server};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::common::{raw, server, tool, with_timeout};
use crate::eras::Visitor;

/// The revisions that define elicitation.
const WITH_FORMS: [Revision; 3] =
    [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28];

#[derive(Deserialize)]
struct Name {
    name: String,
}

fn form(message: &str) -> Elicit {
    Elicit::form(
        message,
        raw(json!({"type": "object", "properties": {"name": {"type": "string"}}})),
    )
}

fn name(cx: &Cx) -> Result<String, HandlerError> {
    let Name { name } = cx.ask("name", form("Who are you?"))?;
    Ok(name)
}

fn ada(_: &str, _: &Value) -> Value {
    json!({"action": "accept", "content": {"name": "Ada"}})
}

fn can_all() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn sealed(server: Server) -> Server {
    server.seal(Seal::new(b"a key for tests, of 32 bytes ...").unwrap())
}

fn asking() -> Server {
    server()
        .add(tool("ask", |cx: Cx| Ok(format!("hello {}", name(&cx)?))))
        .resource("note://you", "you", |cx: Cx| Ok(format!("hello {}", name(&cx)?)))
        .prompt("you", "Greets", |cx: Cx| Ok(format!("hello {}", name(&cx)?)))
}

#[test]
fn one_handler_asks_clients_of_every_revision() {
    with_timeout(|| {
        for server in [asking, || sealed(asking()), || asking().seal(None)] {
            for revision in WITH_FORMS {
                let mut visitor = Visitor::new(server(), revision, can_all());
                assert_eq!(
                    text(&visitor.talk("tools/call", json!({"name": "ask"}), ada)),
                    "hello Ada"
                );
                visitor.leave();
            }
        }
        // Older revisions have sampling but no elicitation.
        let sampling = || {
            server().add(tool("ask", |cx: Cx| {
                let question =
                    CreateMessage::new([SamplingMessage::new(Role::User, "Who am I?")], 10);
                let answer: CreateMessageResult = cx.ask_any("who", question.into())?;
                Ok(format!("hello {}", answer.content.to_text()))
            }))
        };
        for revision in Revision::ALL {
            let mut visitor = Visitor::new(sampling(), revision, can_all());
            let answer = visitor.talk("tools/call", json!({"name": "ask"}), |_, _| {
                let content = json!({"type": "text", "text": "Ada"});
                json!({"role": "assistant", "model": "m", "content": content})
            });
            assert_eq!(text(&answer), "hello Ada");
            visitor.leave();
        }
    });
}

#[test]
fn resources_and_prompts_ask_like_tools() {
    with_timeout(|| {
        for revision in WITH_FORMS {
            let mut visitor = Visitor::new(sealed(asking()), revision, can_all());
            let read = visitor.talk("resources/read", json!({"uri": "note://you"}), ada);
            assert_eq!(read["result"]["contents"][0]["text"], "hello Ada", "{read}");
            let prompt = visitor.talk("prompts/get", json!({"name": "you"}), ada);
            assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "hello Ada", "{prompt}");
            let declined = visitor.talk(
                "resources/read",
                json!({"uri": "note://you"}),
                |_, _| json!({"action": "decline"}),
            );
            assert_eq!(declined["error"]["message"], "the user declined `name`", "{declined}");
            visitor.leave();
        }
    });
}

#[test]
fn several_questions_are_asked_together() {
    with_timeout(|| {
        let server = || {
            server().add(tool("survey", |cx: Cx| {
                let who = name(&cx)?;
                cx.ask_all([
                    ("age", NeededInput::from(form("How old?"))),
                    ("roots", NeededInput::Roots),
                ])?;
                let Name { name: age } = cx.form_answer("age")?;
                let roots: ListRootsResult = cx.answer("roots")?;
                assert!(cx.answer::<ListRootsResult>("unasked").is_err());
                let keys: Vec<String> = cx.answers().into_iter().map(|(key, _)| key).collect();
                Ok(format!("{who} {age} {} {}", roots.roots.len(), keys.join(",")))
            }))
        };
        for revision in WITH_FORMS {
            let mut visitor = Visitor::new(server(), revision, can_all());
            let mut asked = Vec::new();
            let answer = visitor.talk("tools/call", json!({"name": "survey"}), |method, params| {
                asked.push(params["message"].as_str().unwrap_or(method).to_owned());
                match method {
                    "roots/list" => json!({"roots": [{"uri": "file:///a"}]}),
                    _ => ada(method, params),
                }
            });
            asked[1..].sort();
            assert_eq!(asked, ["Who are you?", "How old?", "roots/list"]);
            let said = text(&answer).strip_prefix("Ada Ada 1 name,").unwrap();
            assert!(["age,roots", "roots,age"].contains(&said), "{said}");
            visitor.leave();
        }
    });
}

/// Returns a server whose tool asks twice and counts its runs in its state.
fn counting() -> Server {
    server().add(tool("count", |cx: Cx| {
        let runs: u32 = cx.state()?.unwrap_or(0);
        cx.set_state(&(runs + 1))?;
        let Name { name: first } = cx.ask("first", form("First?"))?;
        let Name { name: second } = cx.ask("second", form("Second?"))?;
        Ok(format!("{first} {second} {runs}"))
    }))
}

#[test]
fn state_and_answers_survive_two_rounds() {
    with_timeout(|| {
        for server in [counting, || sealed(counting())] {
            for revision in WITH_FORMS {
                let mut visitor = Visitor::new(server(), revision, can_all());
                let answer = visitor.talk(
                    "tools/call",
                    json!({"name": "count"}),
                    |_, params| json!({"action": "accept", "content": {"name": params["message"]}}),
                );
                assert_eq!(text(&answer), "First? Second? 2");
                visitor.leave();
            }
        }
    });
}

#[test]
fn a_handler_runs_again_without_a_question() {
    with_timeout(|| {
        let server = || {
            server().add(tool("again", |arguments: Value, cx: Cx| {
                let runs: u32 = cx.state()?.unwrap_or(0);
                if runs < 2 {
                    if arguments.get("forgets").is_none() {
                        cx.set_state(&(runs + 1))?;
                    }
                    return Err(cx.repeat());
                }
                Ok("welcome back")
            }))
        };
        for revision in Revision::ALL {
            let mut visitor = Visitor::new(server(), revision, json!({}));
            assert_eq!(
                text(&visitor.talk("tools/call", json!({"name": "again"}), ada)),
                "welcome back"
            );
            let nothing_kept = json!({"name": "again", "arguments": {"forgets": true}});
            let error = visitor.ask("tools/call", nothing_kept)["error"].clone();
            assert_eq!(error["code"], code::INTERNAL_ERROR, "{error}");
            visitor.leave();
        }
    });
}

// STL-23
#[test]
fn tampered_state_is_refused() {
    with_timeout(|| {
        for (server, is_sealed) in [
            (counting as fn() -> Server, true),
            (|| sealed(counting()), true),
            (|| counting().seal(None), false),
        ] {
            let mut visitor = Visitor::new(server(), Revision::V2026_07_28, can_all());
            let call = json!({"name": "count"});
            let asked = visitor.ask("tools/call", call.clone())["result"].clone();
            let state = asked["requestState"].as_str().unwrap().to_owned();
            assert_eq!(state.contains("[[]"), !is_sealed, "{state}");
            let mut retry = |state: &str, more: Value| {
                let mut params = call.clone();
                params["requestState"] = state.into();
                params["inputResponses"] = json!({"first": ada("", &Value::Null)});
                if let Some(more) = more.as_object() {
                    params.as_object_mut().unwrap().extend(more.clone());
                }
                visitor.ask("tools/call", params)
            };
            for broken in
                [format!("{state}-TAMPERED"), "".into(), "null".into(), "[[],\"x\"]".into()]
            {
                let error = retry(&broken, json!({}))["error"].clone();
                assert_eq!(error["code"], code::INVALID_PARAMS, "{broken}: {error}");
            }
            // State of another request: only a seal detects this.
            let other = retry(&state, json!({"arguments": {"other": true}}));
            assert_eq!(other.get("error").is_some(), is_sealed, "{other}");
            // The original state still works.
            assert_eq!(retry(&state, json!({}))["result"]["resultType"], "input_required");
            visitor.leave();
        }
    });
}

// STL-25, STL-26
#[test]
fn a_missing_answer_is_requested_again_and_an_invalid_one_is_refused() {
    with_timeout(|| {
        let mut visitor = Visitor::new(asking(), Revision::V2026_07_28, can_all());
        let mut retry = |responses: Value| {
            let answer =
                visitor.ask("tools/call", json!({"name": "ask", "inputResponses": responses}));
            match answer.get("error") {
                Some(error) => format!("error {}", error["code"]),
                None => answer["result"]["resultType"].as_str().unwrap().to_owned(),
            }
        };
        assert_eq!(retry(json!({"nom": ada("", &Value::Null)})), "input_required");
        assert_eq!(retry(Value::Null), "input_required");
        assert_eq!(retry(json!({"name": ada("", &Value::Null), "more": {}})), "complete");
        assert_eq!(retry(json!({"name": {"content": {}}})), "error -32602");
        assert_eq!(retry(json!({"name": 12345})), "error -32602");
        visitor.leave();
    });
}

#[test]
fn clients_without_the_capability_are_refused() {
    with_timeout(|| {
        for revision in Revision::ALL {
            let mut visitor = Visitor::new(asking(), revision, json!({"roots": {}}));
            let requests = [
                ("tools/call", json!({"name": "ask"})),
                ("resources/read", json!({"uri": "note://you"})),
                ("prompts/get", json!({"name": "you"})),
            ];
            for (method, params) in requests {
                let error = visitor.ask(method, params)["error"].clone();
                let expected = if visitor.is_modern() {
                    code::MISSING_CLIENT_CAPABILITY
                } else {
                    code::INTERNAL_ERROR
                };
                assert_eq!(error["code"], expected, "{revision} {method}: {error}");
                if WITH_FORMS.contains(&revision) {
                    assert!(
                        error["data"]["requiredCapabilities"]["elicitation"].is_object(),
                        "{error}"
                    );
                }
            }
            visitor.leave();
        }
    });
}

/// The client of a legacy session receives each step once; a modern client gets a new token.
#[test]
fn a_handler_reports_progress_before_it_asks() {
    with_timeout(|| {
        for revision in Revision::ALL {
            let server = server().add(tool("steps", |cx: Cx| {
                cx.progress(Progress::new(1.0))?;
                let name = name(&cx)?;
                cx.progress(Progress::new(2.0))?;
                Ok(format!("hello {name}"))
            }));
            let mut visitor = Visitor::new(server, revision, can_all());
            let params = json!({"name": "steps", "_meta": {"progressToken": "p"}});
            assert_eq!(text(&visitor.talk("tools/call", params, ada)), "hello Ada", "{revision}");
            visitor.leave();
        }
    });
}
