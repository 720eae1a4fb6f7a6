//! Resources, templates, prompts and completions: listed in pages and served by name.

use std::io::{ErrorKind, empty, sink};

use mcp_blocking::proto::catalog::Variables;
use mcp_blocking::proto::schema::{self, Complete, GetPrompt, PromptArgument};
use mcp_blocking::proto::{Revision, code};
use mcp_blocking::{HandlerError, Lists, Prompt, Server, SubscriptionSettings, Template, Tool};
use serde_json::{Value, json};

use crate::common;
use crate::common::{raw, server, tool, with_timeout};
use crate::eras::Visitor;

const FILES: &str = "file:///{name}";

fn library() -> Server {
    let mut who = PromptArgument::new("who");
    who.required = true;
    server()
        .resource("note://a", "a", || "a note")
        .resource("note://gone", "gone", gone)
        .add(files())
        .add(
            Prompt::define(schema::Prompt::new("greet").arguments([who]), |get: GetPrompt| {
                let who = get.arguments.unwrap().get("who").unwrap().clone();
                format!("Greet {who}")
            })
            .completion("who", |complete: Complete| {
                (0..200)
                    .map(|number| format!("{}{number}", complete.argument.value))
                    .collect::<Vec<_>>()
            }),
        )
}

fn gone() -> Result<&'static str, HandlerError> {
    Err("it was here yesterday".into())
}

fn files() -> Template {
    let read = |variables: Variables| match variables.text("name") {
        Some("readme") => Ok("read me"),
        _ => Err(HandlerError::not_found()),
    };
    Template::new(FILES, "files", read).completion("name", || vec!["readme".to_owned()])
}

fn in_every_revision(server: fn() -> Server, tell: fn(&mut Visitor)) {
    with_timeout(move || {
        for revision in Revision::ALL {
            let mut visitor = Visitor::new(server(), revision, json!({}));
            tell(&mut visitor);
            visitor.leave();
        }
    });
}

#[test]
fn resources_are_read_by_uri_and_by_template() {
    in_every_revision(library, |visitor| {
        let mut read = |uri: &str| visitor.ask("resources/read", json!({"uri": uri}));
        assert_eq!(
            read("note://a")["result"]["contents"],
            json!([{"uri": "note://a", "text": "a note"}])
        );
        let contents = json!([{"uri": "file:///readme", "text": "read me"}]);
        assert_eq!(read("file:///readme")["result"]["contents"], contents);
        let error = read("note://gone")["error"].clone();
        assert_eq!(error["code"], code::INTERNAL_ERROR);
        assert_eq!(error["message"], "it was here yesterday");
    });
}

#[test]
fn missing_resources_have_the_error_code_of_the_revision() {
    in_every_revision(library, |visitor| {
        // The first URI matches nothing; the second is unknown to its handler.
        for uri in ["note://b", "file:///secret"] {
            let error = visitor.ask("resources/read", json!({"uri": uri}))["error"].clone();
            assert_eq!(error["code"], if visitor.is_modern() { -32602 } else { -32002 }, "{error}");
            assert_eq!(error["data"]["uri"], uri);
        }
        let error = visitor.ask("prompts/get", json!({"name": "scold"}))["error"].clone();
        assert_eq!(error["code"], code::INVALID_PARAMS);
    });
}

#[test]
fn prompts_are_rendered_and_need_their_required_arguments() {
    in_every_revision(library, |visitor| {
        let params = json!({"name": "greet", "arguments": {"who": "Ada"}});
        let result = visitor.ask("prompts/get", params)["result"].clone();
        let message = json!({"role": "user", "content": {"type": "text", "text": "Greet Ada"}});
        assert_eq!(result["messages"], json!([message]));
        let error = visitor.ask("prompts/get", json!({"name": "greet"}))["error"].clone();
        assert_eq!(error["code"], code::INVALID_PARAMS);
        assert!(error["message"].as_str().unwrap().contains("who"), "{error}");
    });
}

#[test]
fn completions_have_at_most_a_hundred_values() {
    in_every_revision(library, |visitor| {
        let mut complete = |reference: Value, name: &str| {
            let params = json!({"ref": reference, "argument": {"name": name, "value": "A"}});
            visitor.ask("completion/complete", params)
        };
        let greet = json!({"type": "ref/prompt", "name": "greet"});
        let completion = complete(greet, "who")["result"]["completion"].clone();
        assert_eq!(completion["values"].as_array().unwrap().len(), 100);
        assert_eq!(completion["values"][99], "A99");
        assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(200), &json!(true)));
        let files = json!({"type": "ref/resource", "uri": FILES});
        assert_eq!(
            complete(files.clone(), "name")["result"]["completion"]["values"],
            json!(["readme"])
        );
        assert_eq!(complete(files, "size")["error"]["code"], code::INVALID_PARAMS);
    });
}

// PAG-06
#[test]
fn every_list_comes_in_pages() {
    in_every_revision(
        || {
            (0..5).fold(server().lists(Lists::new().page_max(2)), |server, number| {
                let uri = format!("note://{number}");
                let pattern = format!("note{number}://{{x}}");
                server
                    .add(tool(&number.to_string(), || "done"))
                    .prompt(&number.to_string(), "Greets", || "hi")
                    .resource(&uri, &number.to_string(), unread)
                    .template(&pattern, &number.to_string(), unread)
            })
        },
        |visitor| {
            let lists = [
                ("tools", "tools"),
                ("prompts", "prompts"),
                ("resources", "resources"),
                ("resources/templates", "resourceTemplates"),
            ];
            for (list, member) in lists {
                let (mut names, mut pages, mut params) = (Vec::new(), 0, json!({}));
                loop {
                    let page = visitor.ask(&format!("{list}/list"), params)["result"].clone();
                    names.extend(
                        page[member].as_array().unwrap().iter().map(|item| item["name"].clone()),
                    );
                    pages += 1;
                    let Some(cursor) = page.get("nextCursor") else { break };
                    params = json!({"cursor": cursor});
                }
                assert_eq!(
                    (names, pages),
                    (["0", "1", "2", "3", "4"].map(Value::from).to_vec(), 3)
                );
                let error =
                    visitor.ask(&format!("{list}/list"), json!({"cursor": "x"}))["error"].clone();
                assert_eq!(error["code"], code::INVALID_PARAMS, "{list}: {error}");
            }
        },
    );
}

fn unread() -> Result<&'static str, HandlerError> {
    Err(HandlerError::not_found())
}

#[test]
fn registered_entries_are_declared() {
    with_timeout(|| {
        let declared = |server: Server| {
            let visitor = Visitor::new(server, Revision::V2026_07_28, json!({}));
            let declared = visitor.declared.clone();
            visitor.leave();
            declared
        };
        assert_eq!(declared(server()), json!({}));
        assert_eq!(declared(library()), json!({"completions": {}, "prompts": {}, "resources": {}}));
        let changing = json!({
            "completions": {}, "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true},
        });
        assert_eq!(declared(library().lists(Lists::new().announce_changes())), changing);
        // A handle may add the first tool later.
        let mut server = library();
        let _changes = server.changes();
        let mut declared_now = declared(server);
        assert_eq!(declared_now["tools"].take(), json!({"listChanged": true}));
        declared_now.as_object_mut().unwrap().remove("tools");
        assert_eq!(declared_now, changing);
        let watched = library().subscriptions(SubscriptionSettings::new().on_change(|_| {}));
        assert_eq!(declared(watched)["resources"], json!({"subscribe": true}));
        assert_eq!(
            declared(
                common::server()
                    .subscriptions(SubscriptionSettings::new().on_change(|_| {}))
                    .logging()
            ),
            json!({"logging": {}})
        );
    });
}

#[test]
fn arguments_are_checked_before_a_handler_sees_them() {
    in_every_revision(
        || {
            let checked =
                server().check_arguments(|tool, arguments| match arguments.member("seats") {
                    Some(seats) if seats.as_str() == "0" => panic!("the secret word"),
                    Some(_) => Ok(()),
                    None => Err(format!("{} needs seats", tool.name)),
                });
            checked.add(tool("book", || "booked"))
        },
        |visitor| {
            let mut book = |arguments: Value| {
                visitor.ask("tools/call", json!({"name": "book", "arguments": arguments}))
            };
            let error = book(json!({"seats": 0}))["error"].clone();
            assert_eq!(
                error,
                json!({"code": code::INTERNAL_ERROR, "message": "the handler failed"})
            );
            assert_eq!(book(json!({"seats": 2}))["result"]["content"][0]["text"], "booked");
            let refused = book(json!({}))["result"].clone();
            assert_eq!(
                (&refused["isError"], &refused["content"][0]["text"]),
                (&json!(true), &json!("book needs seats"))
            );
        },
    );
}

#[test]
fn invalid_entries_are_errors_when_the_server_starts() {
    let refusals = [
        (server().add(Tool::new("odd", || "").input_schema(raw(json!({})))), "the tool `odd`"),
        (server().resource("nowhere", "x", unread), "the resource `nowhere`"),
        (server().template("a://{", "x", unread), "the resource template `a://{`"),
        (
            server().add(Prompt::new("none", || "").completion("x", Vec::<String>::new)),
            "a completion of `x` of the prompt `none`",
        ),
        (
            server().tool("one", "", || "1").tool("one", "", || "2"),
            "the tool `one` cannot be offered: it exists already: choose another name, or replace",
        ),
        (library().prompt("greet", "Greets", || ""), "the prompt `greet`"),
        (library().resource("note://a", "b", unread), "the resource `note://a`"),
        (library().template(FILES, "again", unread), "the resource template `file:///{name}`"),
        (
            server().add(files().completion("name", Vec::<String>::new)),
            "a completion of `name` of the resource template `file:///{name}`",
        ),
        (server().tool("number", "", |_: u8| ""), "the tool `number` cannot be offered"),
    ];
    for (server, what) in refusals {
        let error: std::io::Error = server.serve(empty(), sink()).wait().unwrap_err().into();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().starts_with(what), "{error}");
    }
}
