//! Calls that create tasks without a handle, against scripted servers.

use std::time::Duration;

use mcp_adapter::Error;
use mcp_adapter::proto::schema::{TaskSupport, Tool, ToolExecution};
use mcp_adapter::proto::{CallError, Era};
use mcp_adapter_tests::{Hand, Runtime, call_by_hand, rows, success, tool};
use serde_json::json;
use smol::future::{or, zip};

use crate::task_script::{
    ERAS, completes, connect, creates, hears, hears_it_cancelled, quick, status,
};

rows! {
    a_plain_call_returns_the_result_of_its_task,
    a_plain_call_that_is_dropped_or_late_cancels_its_task,
    a_task_that_is_created_after_the_cancellation_is_cancelled,
}

// TSK-26
async fn a_plain_call_returns_the_result_of_its_task<R: Runtime>() {
    let (connection, hand) = connect::<R>(quick(), Era::Modern).await;
    let hand = call_by_hand(hand, |hand| {
        for _ in 0..2 {
            let call = hears(hand, "tools/call");
            creates(hand, Era::Modern, &call);
            completes(hand, Era::Modern, "done");
        }
    });
    let run = async {
        assert_eq!(success(connection.call_tool("index", &json!({})).await), "done");
        let pending = connection.call_tool("index", &json!({})).start().await.unwrap();
        assert_eq!(success(pending.await), "done");
    };
    zip(hand, run).await;
}

// TSK-34
async fn a_plain_call_that_is_dropped_or_late_cancels_its_task<R: Runtime>() {
    let (connection, hand) = connect::<R>(quick(), Era::Modern).await;
    // Late.
    let working = |hand: &mut Hand| {
        let call = hears(hand, "tools/call");
        creates(hand, Era::Modern, &call);
        let get = hears(hand, "tasks/get");
        hand.answer(&get, &status(Era::Modern, "working", &json!({"pollIntervalMs": 60_000})));
    };
    let hand = call_by_hand(hand, move |hand| {
        working(hand);
        hears_it_cancelled(hand, Era::Modern);
    });
    let call = connection.call_tool("index", &json!({})).timeout_max(Duration::from_secs(2));
    let (hand, result) = zip(hand, call.into_future()).await;
    assert!(matches!(result, Err(Error::Call(CallError::TimedOut))), "{result:?}");
    // Dropped while it polls.
    let call = async {
        let _never = connection.call_tool("index", &json!({})).await;
        panic!("the task is not over");
    };
    let hand = or(call, call_by_hand(hand, working)).await;
    let hand = call_by_hand(hand, |hand| hears_it_cancelled(hand, Era::Modern)).await;
    // Dropped before the result was taken.
    let pending = connection.call_tool("index", &json!({})).start().await.unwrap();
    let hand = call_by_hand(hand, |hand| {
        let call = hears(hand, "tools/call");
        creates(hand, Era::Modern, &call);
        // Read after the result.
        hand.notify("notifications/x", &json!({}));
    })
    .await;
    let mut pending = pending;
    assert!(pending.next_progress().await.unwrap().is_none(), "the call is over");
    drop(pending);
    call_by_hand(hand, |hand| hears_it_cancelled(hand, Era::Modern)).await;
}

// CAN-10, TSK-34
async fn a_task_that_is_created_after_the_cancellation_is_cancelled<R: Runtime>() {
    for era in ERAS {
        let (connection, hand) = connect::<R>(quick(), era).await;
        let tool = tool("index");
        let hand = {
            let call = async {
                let call = connection.call_tool("index", &json!({}));
                match era {
                    Era::Legacy => drop(call.task().tool(&as_task(&tool)).await),
                    Era::Modern => drop(call.await),
                }
                panic!("the call is not over");
            };
            let heard = call_by_hand(hand, |hand| drop(hears(hand, "tools/call")));
            or(call, heard).await
        };
        call_by_hand(hand, move |hand| {
            let call = json!({"id": 2});
            if era == Era::Modern {
                hand.hear_notification("notifications/cancelled");
            }
            creates(hand, era, &call);
            let cancel = hears(hand, "tasks/cancel");
            assert_eq!(cancel["params"]["taskId"], "t");
        })
        .await;
    }
}

/// Returns the tool with support for tasks.
fn as_task(tool: &Tool) -> Tool {
    tool.clone().execution(ToolExecution::new().task_support(TaskSupport::Required))
}
