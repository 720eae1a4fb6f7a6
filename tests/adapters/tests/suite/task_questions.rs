//! The input requests of tasks of 2025-11-25, which are requests to the client.

use mcp_adapter::proto::schema::{CreateMessage, Elicit};
use mcp_adapter::proto::{CallError, ErrorObject, NeededInput, Raw, Revision};
use mcp_adapter::{Cx, Error, Tool};
use mcp_adapter_tests::{Runtime, pair, raw, rows, server};
use serde_json::json;
use smol::unblock;

use crate::served_tasks::{by_hand, policy};
use crate::task_script::quick;

rows! {
    open_questions_are_withdrawn_once_a_task_is_over,
    a_client_that_polls_a_task_again_is_asked,
    a_client_is_asked_only_in_ways_that_it_declares,
}

const STATUS: &str = "notifications/tasks/status";

// CAN-10, TSK-15
async fn open_questions_are_withdrawn_once_a_task_is_over<R: Runtime>() {
    let server = server().add(
        Tool::new("asks", |cx: Cx| {
            let question = |text: &str| NeededInput::from(Elicit::form(text, Raw::empty_object()));
            cx.ask_all([("first", question("Sure?")), ("second", question("Really?"))])?;
            Ok("answered")
        })
        .as_task(policy()),
    );
    let mut hand = by_hand::<R>(&server);
    unblock(move || {
        hand.greet(&json!({"elicitation": {}}));
        for (number, is_cancelled) in [(1, true), (2, false)] {
            hand.request(number, "tools/call", &json!({"name": "asks", "task": {}}));
            let task = hand.hear_with_id()["result"]["task"]["taskId"].clone();
            assert_eq!(hand.hear_notification(STATUS)["status"], "input_required");
            // Asked once the client waits for the result.
            hand.request(number + 20, "tasks/result", &json!({"taskId": task}));
            let (mut asked, mut withdrawn) = (Vec::new(), Vec::new());
            while asked.len() < 2 {
                let question = hand.hear();
                assert_eq!(question["method"], "elicitation/create", "{question}");
                let related = &question["params"]["_meta"]["io.modelcontextprotocol/related-task"];
                assert_eq!(related["taskId"], task, "{question}");
                asked.push(question["id"].clone());
            }
            let mut unanswered = vec![json!(number + 20)];
            if is_cancelled {
                hand.request(number + 10, "tasks/cancel", &json!({"taskId": task}));
                unanswered.push(json!(number + 10));
            } else {
                // Refused by the client, which fails the task.
                let error = json!({"code": -32603, "message": "no user"});
                hand.say(&json!({"jsonrpc": "2.0", "id": asked.remove(0), "error": error}));
            }
            // In any order: withdrawals, responses, and the last status.
            let mut has_status = false;
            while withdrawn.len() < asked.len() || !unanswered.is_empty() || !has_status {
                let message = hand.hear();
                match message["method"].as_str() {
                    Some("notifications/cancelled") => {
                        withdrawn.push(message["params"]["requestId"].clone());
                    }
                    Some(STATUS) => has_status = true,
                    _ => unanswered.retain(|id| *id != message["id"]),
                }
            }
            assert!(asked.iter().all(|id| withdrawn.contains(id)), "{asked:?} {withdrawn:?}");
        }
    })
    .await;
}

// TSK-14: clients should ask for the result instead.
async fn a_client_that_polls_a_task_again_is_asked<R: Runtime>() {
    let server = server().add(
        Tool::new("asks", |cx: Cx| Ok(format!("{}", cx.confirm("sure", "Sure?")?)))
            .as_task(policy()),
    );
    let mut hand = by_hand::<R>(&server);
    unblock(move || {
        hand.greet(&json!({"elicitation": {}}));
        hand.request(1, "tools/call", &json!({"name": "asks", "task": {}}));
        let task = hand.hear_with_id()["result"]["task"]["taskId"].clone();
        assert_eq!(hand.hear_notification(STATUS)["status"], "input_required");
        for number in [2, 3] {
            hand.request(number, "tasks/get", &json!({"taskId": task}));
            let first = hand.hear();
            if number == 2 {
                assert_eq!(first["result"]["status"], "input_required", "{first}");
                continue;
            }
            // In either order.
            let mut heard = [first, hand.hear()];
            heard.sort_by_key(|message| message["method"].is_null());
            assert_eq!(heard[0]["method"], "elicitation/create", "{heard:?}");
            assert_eq!(heard[1]["id"], 3, "{heard:?}");
        }
    })
    .await;
}

// CAP-06, SEC-08
async fn a_client_is_asked_only_in_ways_that_it_declares<R: Runtime>() {
    let url = || {
        let url = json!({
            "mode": "url", "message": "Sign in", "url": "https://example.com/",
            "elicitationId": "1",
        });
        NeededInput::raw("elicitation/create", raw(&url))
    };
    let tools = || {
        let mut request = CreateMessage::new(Vec::new(), 10);
        request.tools = Some(Vec::new().into());
        NeededInput::from(request)
    };
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        for is_url in [true, false] {
            let server = server().add(
                Tool::new("asks", move |cx: Cx| {
                    let question = if is_url { url() } else { tools() };
                    cx.ask_all([("one", question)])?;
                    Ok("answered")
                })
                .as_task(policy()),
            );
            // It answers forms, and samples without tools.
            let client = quick()
                .revisions(&[revision])
                .on_sampling(|| Err(ErrorObject::internal("not to be asked")));
            let (connection, _serving) = pair::<R>(client, server).await;
            let mut task = connection.call_tool("asks", &json!({})).task().await.unwrap();
            match task.result().await {
                Err(Error::Call(CallError::Refused(error))) => {
                    let what = if is_url { "with a URL" } else { "with tools" };
                    assert!(error.message.contains(what), "{revision:?} {error}");
                }
                other => panic!("{revision:?} {is_url} {other:?}"),
            }
        }
    }
}
