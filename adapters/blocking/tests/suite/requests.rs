//! Requests beside tools, in their blocking form: resources, prompts, completions and lists.

use mcp_blocking::proto::Progress;
use mcp_blocking::proto::schema::{
    self, Complete, GetPrompt, PromptArgument, PromptReference, ReadResourceResult,
    ResourceContents,
};
use mcp_blocking::{Cx, Prompt, Server};
use serde_json::json;

use crate::common::{client, pair, part, server, success, tool, with_timeout};

fn library() -> Server {
    server()
        .resource("note://one", "one", || "one")
        .template("note://{name}", "any", || {
            ReadResourceResult::new([ResourceContents::text("", "any")])
        })
        .add(
            Prompt::define(
                schema::Prompt::new("greet").arguments([PromptArgument::new("name")]),
                |asked: GetPrompt| {
                    let arguments = asked.arguments.unwrap_or_default();
                    let name = arguments.get("name").cloned().unwrap_or_default();
                    format!("greet {name}")
                },
            )
            .completion("name", |asked: Complete| {
                let chosen =
                    asked.context.and_then(|context| context.arguments).unwrap_or_default();
                let title = chosen.get("title").cloned().unwrap_or_default();
                vec![format!("{title}{}", asked.argument.value)]
            }),
        )
}

#[test]
fn every_kind_of_request_blocks_until_its_result() {
    with_timeout(|| {
        let (client, serving) = pair(client(), library());
        assert_eq!(client.list_resources().wait().unwrap()[0].uri, "note://one");
        assert_eq!(
            client.list_resource_templates().wait().unwrap()[0].uri_template,
            "note://{name}"
        );
        assert_eq!(client.list_prompts().wait().unwrap()[0].name, "greet");
        let read = client.read_resource("note://two").wait().unwrap();
        assert_eq!(read.contents[0].uri(), "note://two");
        let prompt = client.get_prompt("greet", &json!({"name": "Ada"})).wait().unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("greet Ada"));
        let greet = PromptReference::new("greet");
        let plain = client.complete(greet.clone(), "name", "A").wait().unwrap();
        assert_eq!(plain.completion.values.items, ["A"]);
        let chosen = json!({"title": "Dr. "});
        let titled = client.complete_with(greet, "name", "A", &chosen).wait().unwrap();
        assert_eq!(titled.completion.values.items, ["Dr. A"]);
        part(client, serving);
    });
}

#[test]
fn the_progress_of_a_call_is_an_iterator() {
    with_timeout(|| {
        let server = server().add(tool("count", |cx: Cx| {
            (1..=3).try_for_each(|number| cx.progress(Progress::new(f64::from(number))))?;
            Ok("done")
        }));
        let (client, serving) = pair(client(), server);
        let mut counting =
            client.call_tool("count", &json!({})).progress(|_| {}).start().wait().unwrap();
        let mut last = None;
        while let Some(update) = counting.next_progress().wait().unwrap() {
            last = Some(update.progress);
        }
        assert_eq!(last, Some(3.0));
        assert_eq!(success(counting.wait()), "done");
        part(client, serving);
    });
}
