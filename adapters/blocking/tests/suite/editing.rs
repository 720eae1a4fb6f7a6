//! Edits of the catalog while clients are connected, in both eras.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use mcp_blocking::proto::Revision;
use mcp_blocking::proto::catalog::CatalogError;
use mcp_blocking::proto::schema::{self, PromptArgument};
use mcp_blocking::{Changes, EditError, Prompt, Resource, Template, Tool};
use serde_json::json;

use crate::common::{server, tool, with_timeout};
use crate::eras::Visitor;

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn named(name: &str) -> Tool {
    tool(name, || "done")
}

fn note(uri: &str) -> Resource {
    Resource::new(uri, "note", || "a note")
}

fn files() -> Template {
    Template::new("file:///{name}", "files", || "a file")
}

fn greet() -> Prompt {
    let who = PromptArgument::new("who");
    Prompt::define(schema::Prompt::new("greet").arguments([who]), || "hi")
}

impl Visitor {
    /// Subscribes to all lists.
    fn listen_to_lists(&mut self) {
        if self.is_modern() {
            let wanted = json!({
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
            });
            self.send("subscriptions/listen", json!({"notifications": wanted}));
            let params = self.hand.hear_notification("notifications/subscriptions/acknowledged");
            assert_eq!(params["notifications"], wanted);
        }
    }

    /// Returns the names in a list.
    fn names(&mut self, list: &str, member: &str) -> Vec<String> {
        let page = self.ask(list, json!({}))["result"][member].clone();
        let names = page.as_array().unwrap().iter();
        names.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    }

    fn tools(&mut self) -> Vec<String> {
        self.names("tools/list", "tools")
    }
}

/// Connects a client to a server without entries, and subscribes to its lists.
fn empty(revision: Revision) -> (Changes, Visitor) {
    let mut server = server();
    let changes = server.changes();
    let mut visitor = Visitor::new(server, revision, json!({}));
    visitor.listen_to_lists();
    (changes, visitor)
}

// CAP-01, CAP-12
#[test]
fn a_server_with_empty_lists_is_filled_by_one_edit_cap_12() {
    with_timeout(|| {
        for revision in ERAS {
            let (changes, mut visitor) = empty(revision);
            let changing = json!({"listChanged": true});
            assert_eq!(visitor.declared["tools"], changing);
            assert_eq!(visitor.declared["prompts"], changing);
            assert_eq!(visitor.tools(), [""; 0]);
            let added = changes.edit(|edit| {
                edit.add(named("one"))?;
                edit.add(Tool::new("two", || "second"))?;
                edit.add(Tool::new("three", async || 3))?;
                edit.add(note("note://a"))?;
                edit.add(files())?;
                edit.add(greet())?;
                Ok(edit.tools().count() + edit.resources().count() + edit.templates().count())
            });
            assert_eq!(added, Ok(5));
            // One notification for each kind of list, in the order of the edit, and no more before
            // the next response.
            visitor.hand.hear_notification("notifications/tools/list_changed");
            visitor.hand.hear_notification("notifications/resources/list_changed");
            visitor.hand.hear_notification("notifications/prompts/list_changed");
            visitor.send("tools/list", json!({}));
            let tools = visitor.hand.hear()["result"]["tools"].clone();
            assert_eq!(tools[1]["inputSchema"]["type"], "object");
            assert_eq!(visitor.tools(), ["one", "two", "three"]);
            assert_eq!(visitor.names("prompts/list", "prompts"), ["greet"]);
            let three = visitor.ask("tools/call", json!({"name": "three"}));
            assert_eq!(three["result"]["content"][0]["text"], "3");
            for uri in ["note://a", "file:///b"] {
                let read = visitor.ask("resources/read", json!({"uri": uri}));
                assert_eq!(read["result"]["contents"][0]["uri"], uri, "{read}");
            }
            visitor.leave();
        }
    });
}

#[test]
fn entries_are_replaced_in_place_and_removed() {
    with_timeout(|| {
        for revision in ERAS {
            let (changes, mut visitor) = empty(revision);
            changes
                .edit(|edit| {
                    edit.add(named("one"))?;
                    edit.add(named("two"))?;
                    edit.add(note("note://a"))?;
                    edit.add(files())?;
                    edit.add(greet())
                })
                .unwrap();
            changes
                .edit(|edit| {
                    edit.replace(tool("one", || "other"))?;
                    edit.replace(note("note://a"))?;
                    edit.replace(files())?;
                    edit.replace(greet())
                })
                .unwrap();
            assert_eq!(visitor.tools(), ["one", "two"]);
            let one = visitor.ask("tools/call", json!({"name": "one"}));
            assert_eq!(one["result"]["content"][0]["text"], "other");
            changes
                .edit(|edit| {
                    edit.remove_tool("one")?;
                    edit.remove_resource("note://a")?;
                    edit.remove_template("file:///{name}")?;
                    edit.remove_prompt("greet")
                })
                .unwrap();
            assert_eq!(visitor.tools(), ["two"]);
            assert_eq!(visitor.names("prompts/list", "prompts"), [""; 0]);
            assert_eq!(visitor.names("resources/list", "resources"), [""; 0]);
            let read = visitor.ask("resources/read", json!({"uri": "file:///b"}));
            assert!(read["error"].is_object(), "{read}");
            visitor.leave();
        }
    });
}

#[test]
fn an_edit_that_fails_or_panics_changes_nothing() {
    with_timeout(|| {
        for revision in ERAS {
            let (changes, mut visitor) = empty(revision);
            changes.add(tool("one", || "done")).unwrap();
            visitor.hand.hear_notification("notifications/tools/list_changed");
            let failed = changes.edit(|edit| {
                edit.remove_tool("one")?;
                edit.add(greet())?;
                edit.add(named("two"))?;
                edit.add(named("two"))
            });
            let error = failed.unwrap_err();
            assert_eq!(error.reason(), Some(CatalogError::Duplicate));
            assert!(error.to_string().starts_with("the tool `two` cannot be offered"), "{error}");
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                changes.edit(|edit| -> Result<(), EditError> {
                    edit.remove_tool("one")?;
                    panic!("oh");
                })
            }));
            assert!(panicked.is_err());
            // Nothing was announced.
            visitor.send("tools/list", json!({}));
            assert_eq!(visitor.hand.hear()["result"]["tools"][0]["name"], "one");
            changes.edit(|edit| edit.remove_tool("one")).unwrap();
            visitor.hand.hear_notification("notifications/tools/list_changed");
            visitor.leave();
        }
    });
}

#[test]
fn a_method_of_an_edit_that_fails_changes_nothing() {
    let changes = server().changes();
    let completed = Vec::<String>::new;
    let kept = changes.edit(|edit| {
        edit.add(greet().completion("who", completed))?;
        let errors = [
            edit.add(greet().completion("when", completed)).unwrap_err(),
            edit.replace(greet().completion("when", completed)).unwrap_err(),
            edit.add(files().completion("size", completed)).unwrap_err(),
            edit.add(files().completion("name", completed).completion("name", completed))
                .unwrap_err(),
            edit.replace(files()).unwrap_err(),
            edit.remove_tool("none").unwrap_err(),
            edit.add(Tool::new("odd", |_: u8| "")).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains('`'), "{error}");
        }
        Ok((edit.prompts().count(), edit.templates().count(), edit.tools().count()))
    });
    assert_eq!(kept, Ok((1, 0, 0)));
}

#[test]
fn requests_see_the_state_before_or_after_an_edit() {
    with_timeout(|| {
        let (changes, mut visitor) = empty(Revision::V2025_11_25);
        changes.edit(|edit| edit.add(named("even"))).unwrap();
        let editing = thread::spawn(move || {
            for _ in 0..200 {
                for (old, new) in [("even", "odd"), ("odd", "even")] {
                    let swap = changes.edit(|edit| {
                        edit.remove_tool(old)?;
                        thread::yield_now();
                        edit.add(named(new))
                    });
                    swap.unwrap();
                }
            }
        });
        while !editing.is_finished() {
            assert_eq!(visitor.tools().len(), 1);
        }
        editing.join().unwrap();
        assert_eq!(visitor.tools(), ["even"]);
        visitor.leave();
    });
}

/// Edits the catalog when it is dropped.
struct EditsOnDrop(Changes, Sender<usize>);

impl Drop for EditsOnDrop {
    fn drop(&mut self) {
        let tools = self.0.edit(|edit| Ok(edit.tools().count())).unwrap();
        self.1.send(tools).unwrap();
    }
}

#[test]
fn handlers_are_dropped_without_a_lock() {
    with_timeout(|| {
        let changes = server().changes();
        let (says, hears) = channel();
        let entry = || {
            let edits = EditsOnDrop(changes.clone(), says.clone());
            tool("one", move || {
                let _kept = &edits;
                "done"
            })
        };
        changes.edit(|edit| edit.add(entry())).unwrap();
        changes.edit(|edit| edit.remove_tool("one")).unwrap();
        assert_eq!(hears.recv().unwrap(), 0);
        let failed = changes.edit(|edit| {
            edit.add(entry())?;
            Err::<(), _>(EditError::new("no"))
        });
        assert_eq!((failed.unwrap_err().to_string(), hears.recv().unwrap()), ("no".into(), 0));
    });
}
