//! Waiting for a call: progress, timeouts and cancellation.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_blocking::proto::{CallError, Misuse, Progress};
use mcp_blocking::{Cx, Error, HandlerError, Server};
use serde_json::{Value, json};

use crate::common;
use crate::common::{
    client, connect_by_hand, pair, part, serve_by_hand, server, success, tool, with_timeout,
};

const FOREVER: Duration = Duration::MAX;
const SOON: Duration = Duration::from_millis(50);

fn counting() -> Server {
    server().add(tool("count", |wanted: Value, cx: Cx| {
        let steps = wanted["steps"].as_u64().ok_or("how many?")? as u32;
        for step in 1..=steps {
            cx.progress(
                Progress::new(step.into())
                    .with_total(steps.into())
                    .with_message(format!("step {step}")),
            )?;
        }
        Ok("counted")
    }))
}

#[test]
fn progress_arrives_in_order_and_before_the_result() {
    with_timeout(|| {
        let (client, serving) = pair(client(), counting());
        let mut heard = Vec::new();
        let outcome = client
            .call_tool("count", &json!({"steps": 100}))
            .progress(|progress| {
                heard.push((progress.progress as u32, progress.total, progress.message));
            })
            .wait();
        assert_eq!(success(outcome), "counted");
        let all: Vec<_> = (1..=100)
            .map(|step| (step, Some(100.0), Some(format!("step {step}").into())))
            .collect();
        assert_eq!(heard, all);
        part(client, serving);
    });
}

#[test]
fn unread_progress_is_bounded() {
    with_timeout(|| {
        let (client, serving) = pair(client(), counting());
        let call = client.call_tool("count", &json!({"steps": 1000})).progress(|_| {});
        let mut open = call.start().wait().unwrap();
        let mut last = 0.0;
        while let Some(progress) = open.next_progress().wait().unwrap() {
            assert!(progress.progress > last);
            last = progress.progress;
        }
        assert_eq!(last, 1000.0, "the latest is kept");
        assert_eq!(success(open.wait()), "counted");

        // Without a progress token none is sent.
        let mut quiet = client.call_tool("count", &json!({"steps": 3})).start().wait().unwrap();
        assert!(quiet.next_progress().wait().unwrap().is_none());
        assert_eq!(success(quiet.wait()), "counted");
        part(client, serving);
    });
}

#[test]
fn progress_must_increase_and_its_request_must_be_open() {
    with_timeout(|| {
        let (left, taken) = channel();
        let left = Mutex::new(left);
        let server = server().add(tool("odd", move |cx: Cx| {
            cx.progress(Progress::new(2.0))?;
            assert_eq!(cx.progress(Progress::new(2.0)), Err(Misuse::Unencodable));
            assert_eq!(cx.progress(Progress::new(f64::NAN)), Err(Misuse::Unencodable));
            left.lock().unwrap().send(cx)?;
            Ok("odd")
        }));
        let (client, serving) = pair(client(), server);
        assert_eq!(success(client.call_tool("odd", &json!({})).progress(|_| {}).wait()), "odd");
        let cx = taken.recv().unwrap();
        assert_eq!(cx.progress(Progress::new(3.0)), Err(Misuse::Stale), "the request was answered");
        assert!(!cx.is_cancelled(), "answered is not cancelled");
        part(client, serving);
    });
}

/// Returns a server whose only tool sleeps, and reports its start and its end.
fn sleeping(says: std::sync::mpsc::Sender<&'static str>) -> Server {
    let says = Mutex::new(says);
    server().add(tool("sleep", move |cx: Cx| -> Result<String, HandlerError> {
        let says = says.lock().unwrap().clone();
        says.send("asleep")?;
        let cancelled = cx.sleep(FOREVER).wait();
        assert_eq!(cancelled, cx.is_cancelled());
        says.send(if cancelled { "cancelled" } else { "slept" })?;
        Err(HandlerError::failed("not sent"))
    }))
}

#[test]
fn dropping_a_call_cancels_its_handler() {
    with_timeout(|| {
        let (says, hears) = channel();
        let (client, serving) = pair(client(), sleeping(says));
        for cancel in [drop, |open: mcp_blocking::Pending<_>| open.cancel("changed my mind")] {
            let open = client.call_tool("sleep", &json!({})).start().wait().unwrap();
            assert_eq!(hears.recv().unwrap(), "asleep");
            cancel(open);
            assert_eq!(hears.recv().unwrap(), "cancelled");
        }
        common::is_alive(&client);
        part(client, serving);
    });
}

#[test]
fn a_cancellation_names_the_call_and_the_reason() {
    with_timeout(|| {
        let (client, mut hand) = connect_by_hand(client());
        let open = client.call_tool("any", &json!({})).start().wait().unwrap();
        let asked = hand.hear();
        open.cancel("changed my mind");
        let told = hand.hear_notification("notifications/cancelled");
        assert_eq!(
            (&told["requestId"], &told["reason"]),
            (&asked["id"], &json!("changed my mind"))
        );
        // A late response does not affect the next call.
        hand.answer(&asked, &json!({"content": [{"type": "text", "text": "late"}]}));
        let open = client.call_tool("any", &json!({})).start().wait().unwrap();
        let asked = hand.hear();
        hand.answer(&asked, &json!({"content": [{"type": "text", "text": "right"}]}));
        assert_eq!(success(open.wait()), "right");

        // Completed calls are not cancelled, whether their results were taken or not.
        let answered = client.call_tool("any", &json!({})).start().wait().unwrap();
        let asked = hand.hear();
        hand.answer(&asked, &json!({"content": []}));
        hand.request(7, "ping", &json!({}));
        assert_eq!(hand.hear()["id"], 7);
        drop(answered);
        client.notify_raw("notifications/test", None).wait().unwrap();
        hand.hear_notification("notifications/test");
        client.close().wait().unwrap();
    });
}

#[test]
fn a_call_that_times_out_is_cancelled() {
    with_timeout(|| {
        let (says, hears) = channel();
        let (client, serving) = pair(client(), sleeping(says));
        let outcome = client.call_tool("sleep", &json!({})).timeout(SOON).wait();
        assert!(matches!(outcome, Err(Error::Call(CallError::TimedOut))), "{outcome:?}");
        assert_eq!((hears.recv().unwrap(), hears.recv().unwrap()), ("asleep", "cancelled"));
        common::is_alive(&client);
        part(client, serving);
    });
}

#[test]
fn the_earliest_deadline_counts() {
    with_timeout(|| {
        let (client, hand) = connect_by_hand(client());
        let call =
            |timeout| client.call_tool("any", &json!({})).timeout(timeout).start().wait().unwrap();
        let (late, soon, later) = (call(FOREVER), call(SOON), call(FOREVER));
        assert!(matches!(soon.wait(), Err(Error::Call(CallError::TimedOut))));
        // The timer thread now sleeps without a deadline; the next one must wake it.
        assert!(matches!(call(SOON).wait(), Err(Error::Call(CallError::TimedOut))));
        client.close().wait().unwrap();
        for open in [late, later] {
            assert!(matches!(open.wait(), Err(Error::Call(CallError::Lost))));
        }
        drop(hand);
    });
}

#[test]
fn progress_extends_the_timeout_up_to_its_maximum() {
    with_timeout(|| {
        let (client, mut hand) = connect_by_hand(client());
        let open = client
            .call_tool("any", &json!({}))
            .progress(|_| {})
            .timeout(FOREVER)
            .timeout_max(SOON)
            .start()
            .wait()
            .unwrap();
        let token = hand.hear()["params"]["_meta"]["progressToken"].clone();
        hand.notify("notifications/progress", &json!({"progressToken": token, "progress": 1}));
        assert!(matches!(open.wait(), Err(Error::Call(CallError::TimedOut))));
        hand.hear_notification("notifications/cancelled");
        client.close().wait().unwrap();
    });
}

#[test]
fn a_progress_callback_that_panics_cancels_only_its_call() {
    with_timeout(|| {
        let (says, hears) = channel();
        let server = sleeping(says).add(tool("begin", |cx: Cx| {
            cx.progress(Progress::new(1.0))?;
            let cancelled = cx.sleep(FOREVER).wait();
            assert!(cancelled);
            Ok("never heard")
        }));
        let (client, serving) = pair(client(), server);
        let client = Arc::new(client);
        let caller = Arc::clone(&client);
        let panicked = std::thread::spawn(move || {
            let hear = |_| panic!("too much progress");
            caller.call_tool("begin", &json!({})).progress(hear).wait().map(drop)
        });
        assert!(panicked.join().is_err());
        let open = client.call_tool("sleep", &json!({})).start().wait().unwrap();
        assert_eq!(hears.recv().unwrap(), "asleep");
        drop(open);
        assert_eq!(hears.recv().unwrap(), "cancelled");
        part(Arc::into_inner(client).unwrap(), serving);
    });
}

#[test]
fn handlers_detect_that_the_client_is_gone() {
    with_timeout(|| {
        let (says, hears) = channel();
        let (mut hand, serving) = serve_by_hand(sleeping(says));
        hand.greet(json!({}));
        hand.call_tool(1, "sleep", &json!({}));
        assert_eq!(hears.recv().unwrap(), "asleep");
        drop(hand);
        serving.join().unwrap().unwrap();
        assert_eq!(hears.recv().unwrap(), "cancelled");
    });
}
