//! Tests of calls that create tasks after they were cancelled or timed out.

use core::time::Duration;

use super::*;
use crate::{Extension, ExtensionMethod, Side};

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Returns a client that can use tasks, connected to a server that offers them.
fn client_of_tasks(revision: Revision) -> Client {
    let tasks = Extension::new(TASKS)
        .revisions(R5..=R5)
        .method(ExtensionMethod::request(Side::Client, "tasks/cancel").named_by("taskId"))
        .result_type("tools/call", "task");
    let config = client::Config::new("c", "1").revisions(&[revision]);
    let mut client = Client::new(NOW, config.extension(tasks).unwrap());
    let theirs = r#"{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}},
        "extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    match revision {
        R5 => receive(&mut client, discovered(theirs)),
        _ => receive(&mut client, welcome(revision.name(), theirs)),
    }
    sent(&mut client);
    events(&mut client);
    client
}

fn late_tasks(client: &mut Client) -> Vec<Raw> {
    let late = |event| match event {
        client::Event::LateTask(created) => Some(created),
        _ => None,
    };
    events(client).into_iter().filter_map(late).collect()
}

// CAN-10, TSK-34
#[test]
fn a_call_that_asks_for_a_task_is_not_cancelled_by_notification_can_10() {
    for (revision, params, is_notified) in [
        (R4, r#"{"name":"t","task":{}}"#, false),
        (R4, r#"{"name":"t","arguments":{"task":1}}"#, true),
        (R5, r#"{"name":"t","task":{}}"#, true),
    ] {
        for times_out in [false, true] {
            let mut client = client_of_tasks(revision);
            let call = call(&mut client, params);
            assert_eq!(sent(&mut client).len(), 1);
            if times_out {
                client.handle_timeout(NOW + Duration::from_secs(600));
            } else {
                client.cancel(NOW, call, "no longer wanted").unwrap();
            }
            let sent = sent(&mut client);
            let is_cancel = |message: &String| message.contains("notifications/cancelled");
            assert_eq!(sent.iter().any(is_cancel), is_notified, "{revision} {params}");
        }
    }
}

// CAN-10, TSK-34
#[test]
fn a_task_that_is_created_late_is_reported_once_can_10_tsk_34() {
    let nested = r#"{"task":{"taskId":"a"}}"#;
    let flat = r#"{"resultType":"task","taskId":"a"}"#;
    for (revision, result, is_task) in [
        (R4, nested, true),
        (R4, r#"{"content":[]}"#, false),
        (R5, flat, true),
        (R5, nested, false),
        (R5, r#"{"resultType":"sketch"}"#, false),
        (Revision::V2025_06_18, nested, false),
    ] {
        let mut client = client_of_tasks(revision);
        let call = call(&mut client, r#"{"name":"t"}"#);
        client.cancel(NOW, call, "no longer wanted").unwrap();
        events(&mut client);
        let response = alloc::format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#);
        receive(&mut client, &response);
        let late = late_tasks(&mut client);
        assert_eq!(late.len(), usize::from(is_task), "{revision} {result}");
        assert!(late.iter().all(|created| created.as_str() == result));
        receive(&mut client, &response);
        assert!(late_tasks(&mut client).is_empty(), "the second response is a violation");
    }
}
