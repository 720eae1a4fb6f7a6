//! Scripted servers that create tasks.

use std::thread;
use std::time::Duration;

use mcp_adapter::proto::tasks::PollLimits;
use mcp_adapter::proto::{Era, Revision};
use mcp_adapter::{Client, ClientTasks, Connection};
use mcp_adapter_tests::{Hand, Runtime, client, socket_pair};
use serde_json::{Value, json};

pub(crate) const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// A client that polls quickly.
pub(crate) fn quick() -> Client {
    let ms = Duration::from_millis(1);
    let limits = PollLimits { interval_min: ms, interval_default: ms, ..PollLimits::default() };
    client().extension(ClientTasks::new().limits(limits))
}

/// Connects a client to a scripted server that offers tasks.
pub(crate) async fn connect<R: Runtime>(client: Client, era: Era) -> (Connection, Hand) {
    let capabilities = json!({
        "tools": {}, "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    });
    connect_to::<R>(client, era, capabilities).await
}

pub(crate) async fn connect_to<R: Runtime>(
    client: Client,
    era: Era,
    capabilities: Value,
) -> (Connection, Hand) {
    let (ours, theirs) = socket_pair();
    let greeting = thread::spawn(move || {
        let mut hand = Hand::of(ours);
        let hello = hand.hear();
        let welcome = match era {
            Era::Legacy => json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities,
                "serverInfo": {"name": "hand", "version": "1"},
            }),
            Era::Modern => json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private",
            }),
        };
        hand.answer(&hello, &welcome);
        if era == Era::Legacy {
            hand.hear_notification("notifications/initialized");
        }
        hand
    });
    let revision = match era {
        Era::Legacy => Revision::V2025_11_25,
        Era::Modern => Revision::V2026_07_28,
    };
    let connection = R::connect(client.revisions(&[revision]), theirs.into()).await.unwrap();
    (connection, greeting.join().unwrap())
}

/// Returns the status of the task "t".
pub(crate) fn status(era: Era, status: &str, more: &Value) -> Value {
    let mut task = json!({"taskId": "t", "status": status, "createdAt": "", "lastUpdatedAt": ""});
    task[if era == Era::Legacy { "ttl" } else { "ttlMs" }] = json!(60_000);
    if era == Era::Modern {
        task["resultType"] = json!("complete");
    }
    let members = task.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    task
}

pub(crate) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// Receives a request of this method.
pub(crate) fn hears(hand: &mut Hand, method: &str) -> Value {
    let request = hand.hear();
    assert_eq!(request["method"], method, "{request}");
    request
}

/// Responds to a tool call with the task "t".
pub(crate) fn creates(hand: &mut Hand, era: Era, call: &Value) {
    let created = status(era, "working", &json!({}));
    let created = match era {
        Era::Legacy => json!({"task": created}),
        Era::Modern => {
            let mut created = created;
            created["resultType"] = json!("task");
            created
        }
    };
    hand.answer(call, &created);
}

/// Answers the list of tools of a legacy client, and the tool call with the task "t".
pub(crate) fn accepts(hand: &mut Hand, era: Era) -> Value {
    if era == Era::Legacy {
        lists(hand, "optional");
    }
    let call = hears(hand, "tools/call");
    assert_eq!(call["params"].get("task").is_some(), era == Era::Legacy, "{call}");
    creates(hand, era, &call);
    call
}

pub(crate) fn lists(hand: &mut Hand, support: &str) {
    let list = hears(hand, "tools/list");
    let tool = json!({
        "name": "index", "inputSchema": {"type": "object"}, "execution": {"taskSupport": support},
    });
    hand.answer(&list, &json!({"tools": [tool]}));
}

/// Answers polls until the task is over with this text.
pub(crate) fn completes(hand: &mut Hand, era: Era, result: &str) {
    let get = hears(hand, "tasks/get");
    assert_eq!(get["params"]["taskId"], "t");
    let more = match era {
        Era::Legacy => json!({}),
        Era::Modern => json!({"result": text(result)}),
    };
    hand.answer(&get, &status(era, "completed", &more));
    if era == Era::Legacy {
        let fetch = hears(hand, "tasks/result");
        hand.answer(&fetch, &text(result));
    }
}

/// Acknowledges the cancellation of the task "t".
pub(crate) fn hears_it_cancelled(hand: &mut Hand, era: Era) {
    let cancel = loop {
        // A poll may come first, and is withdrawn.
        let message = hand.hear();
        match message["method"].as_str() {
            Some("tasks/get" | "notifications/cancelled") => {}
            _ => break message,
        }
    };
    assert_eq!(cancel["method"], "tasks/cancel", "{cancel}");
    assert_eq!(cancel["params"]["taskId"], "t");
    let acknowledged = match era {
        Era::Legacy => status(era, "cancelled", &json!({})),
        Era::Modern => json!({"resultType": "complete"}),
    };
    hand.answer(&cancel, &acknowledged);
}
