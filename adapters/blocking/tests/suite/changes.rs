//! Change notifications and subscriptions, from the side of the server, in both eras.

use std::sync::mpsc::{Receiver, channel};

use mcp_blocking::proto::{Misuse, Revision};
use mcp_blocking::{Cx, Lists, Server, SubscriptionChange, SubscriptionSettings};
use serde_json::{Value, json};

use crate::common::{server, tool, with_timeout};
use crate::eras::Visitor;

const NOTE: &str = "note://a";

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn changing() -> Server {
    server()
        .add(tool("touch", |cx: Cx| {
            cx.changes().resource_updated(NOTE)?;
            cx.changes().tools_list_changed()?;
            Ok("touched")
        }))
        .resource(NOTE, "a", || "a note")
        .prompt("hi", "Greets", || "hi")
}

impl Visitor {
    /// Subscribes to everything; returns how to unsubscribe.
    fn listen(&mut self) -> Value {
        if self.is_modern() {
            let wanted = json!({
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                "resourceSubscriptions": [NOTE],
            });
            let id = self.send("subscriptions/listen", json!({"notifications": wanted}));
            let params = self.hand.hear_notification("notifications/subscriptions/acknowledged");
            assert_eq!(params["notifications"], wanted);
            return id.into();
        }
        assert_eq!(self.ask("resources/subscribe", json!({"uri": NOTE}))["result"], json!({}));
        Value::Null
    }

    fn stop(&mut self, listening: &Value) {
        if self.is_modern() {
            self.hand.notify("notifications/cancelled", &json!({"requestId": listening}));
        } else {
            assert_eq!(
                self.ask("resources/unsubscribe", json!({"uri": NOTE}))["result"],
                json!({})
            );
        }
    }
}

#[test]
fn changes_are_sent_to_subscribers_in_both_eras() {
    with_timeout(|| {
        for revision in ERAS {
            let mut server = changing();
            let changes = server.changes();
            assert_eq!(changes.tools_list_changed(), Ok(()), "no client is connected yet");
            let mut visitor = Visitor::new(server, revision, json!({}));
            let listening = visitor.listen();

            changes.tools_list_changed().unwrap();
            visitor.hand.hear_notification("notifications/tools/list_changed");
            changes.prompts_list_changed().unwrap();
            visitor.hand.hear_notification("notifications/prompts/list_changed");
            changes.resources_list_changed().unwrap();
            visitor.hand.hear_notification("notifications/resources/list_changed");
            changes.resource_updated("note://other").unwrap();
            changes.resource_updated(NOTE).unwrap();
            let params = visitor.hand.hear_notification("notifications/resources/updated");
            assert_eq!(params["uri"], NOTE);
            if visitor.is_modern() {
                assert_eq!(params["_meta"]["io.modelcontextprotocol/subscriptionId"], listening);
            }

            // From inside a handler, before its response.
            visitor.send("tools/call", json!({"name": "touch"}));
            visitor.hand.hear_notification("notifications/resources/updated");
            visitor.hand.hear_notification("notifications/tools/list_changed");
            assert_eq!(visitor.hand.hear()["result"]["content"][0]["text"], "touched");

            visitor.stop(&listening);
            visitor.ask("tools/list", json!({}));
            changes.resource_updated(NOTE).unwrap();
            visitor.send("tools/list", json!({}));
            assert!(visitor.hand.hear()["result"]["tools"].is_array(), "nothing in between");
            visitor.leave();
            assert_eq!(changes.tools_list_changed(), Ok(()), "no client is connected any more");
        }
    });
}

#[test]
fn undeclared_changes_are_not_sent() {
    with_timeout(|| {
        for revision in ERAS {
            let mut visitor = Visitor::new(changing(), revision, json!({}));
            let result = visitor.ask("tools/call", json!({"name": "touch"}))["result"].clone();
            assert_eq!(result["isError"], true);
            assert_eq!(result["content"][0]["text"], Misuse::Undeclared.to_string());
            visitor.leave();
        }
    });
}

#[test]
fn tools_can_be_added_and_removed_while_serving() {
    with_timeout(|| {
        for revision in ERAS {
            let mut server = changing();
            let changes = server.changes();
            let mut visitor = Visitor::new(server, revision, json!({}));
            visitor.listen();
            changes.add(tool("new", || "newly made")).unwrap();
            visitor.hand.hear_notification("notifications/tools/list_changed");
            let tools = visitor.ask("tools/list", json!({}))["result"]["tools"].clone();
            assert_eq!((&tools[0]["name"], &tools[1]["name"]), (&json!("touch"), &json!("new")));
            let answer = visitor.ask("tools/call", json!({"name": "new"}));
            assert_eq!(answer["result"]["content"][0]["text"], "newly made");
            changes.edit(|edit| edit.remove_tool("new")).unwrap();
            visitor.hand.hear_notification("notifications/tools/list_changed");
            assert_eq!(visitor.ask("tools/call", json!({"name": "new"}))["error"]["code"], -32602);
            assert!(changes.edit(|edit| edit.remove_tool("new")).is_err());
            visitor.leave();
        }
    });
}

/// Reports each change of a subscription: whether it began, and its URI.
fn watched() -> (Server, Receiver<(bool, String)>) {
    let (says, hears) = channel();
    let server = changing().subscriptions(SubscriptionSettings::new().on_change(move |change| {
        let is_begun = matches!(change, SubscriptionChange::Began { .. });
        says.send((is_begun, change.uri().to_owned())).unwrap();
    }));
    (server, hears)
}

#[test]
fn the_server_observes_subscriptions() {
    with_timeout(|| {
        for revision in ERAS {
            let (server, hears) = watched();
            let mut visitor =
                Visitor::new(server.lists(Lists::new().announce_changes()), revision, json!({}));
            let listening = visitor.listen();
            assert_eq!(hears.recv().unwrap(), (true, NOTE.into()));
            visitor.stop(&listening);
            assert_eq!(hears.recv().unwrap(), (false, NOTE.into()));
            visitor.listen();
            assert_eq!(hears.recv().unwrap(), (true, NOTE.into()));
            // Disconnecting ends the subscriptions.
            visitor.leave();
            assert_eq!(hears.recv().unwrap(), (false, NOTE.into()));
            assert!(hears.recv().is_err());
        }
    });
}

impl Visitor {
    /// Subscribes to a resource; returns whether the server accepts it.
    fn subscribes(&mut self, uri: &str) -> bool {
        if !self.is_modern() {
            return self.ask("resources/subscribe", json!({"uri": uri}))["result"] == json!({});
        }
        let wanted = json!({"resourceSubscriptions": [uri]});
        self.send("subscriptions/listen", json!({"notifications": wanted}));
        let params = self.hand.hear_notification("notifications/subscriptions/acknowledged");
        params["notifications"] == wanted
    }
}

// SEC-02
#[test]
fn clients_subscribe_to_the_resources_of_the_server_only() {
    with_timeout(|| {
        for revision in ERAS {
            let server = changing().lists(Lists::new().announce_changes()).template(
                "file:///{name}",
                "file",
                || "",
            );
            let mut visitor = Visitor::new(server, revision, json!({}));
            for (uri, is_accepted) in [
                (NOTE, true),
                ("file:///a", true),
                ("note://b", false),
                ("file:///../../etc/passwd", false),
                ("../../etc/passwd", false),
                ("", false),
            ] {
                assert_eq!(visitor.subscribes(uri), is_accepted, "{uri:?} in {revision}");
            }
            visitor.leave();
        }
    });
}

#[test]
fn the_application_decides_on_subscriptions() {
    with_timeout(|| {
        for revision in ERAS {
            let (server, hears) = watched();
            let server = server.subscriptions(
                SubscriptionSettings::new().accept(|uri, _| uri.starts_with("log://")),
            );
            let mut visitor = Visitor::new(server, revision, json!({}));
            assert!(!visitor.subscribes(NOTE) && visitor.subscribes("log://today"));
            assert_eq!(hears.recv().unwrap(), (true, "log://today".into()));
            visitor.leave();
        }
    });
}

#[test]
fn a_check_of_subscriptions_that_panics_refuses_them() {
    with_timeout(|| {
        let server = changing()
            .lists(Lists::new().announce_changes())
            .subscriptions(SubscriptionSettings::new().accept(|_, _| panic!("oh")));
        let mut visitor = Visitor::new(server, Revision::V2025_11_25, json!({}));
        let answer = visitor.ask("resources/subscribe", json!({"uri": NOTE}));
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(visitor.ask("tools/list", json!({}))["result"].is_object());
        visitor.leave();
    });
}
