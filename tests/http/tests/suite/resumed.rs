//! Streams that arrive incrementally, are cut, closed early and resumed.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use mcp_adapter::proto::{Limits, Progress};
use mcp_adapter::{Cx, Server, SubscriptionSettings, Tool};
use mcp_blocking::http::Http;
use mcp_http_tests::{
    Event, PATIENCE, Pending, Runtime, Served, Session, modern, rows, server, text, tool,
};
use serde_json::{Value, json};

rows! {
    events_arrive_as_they_are_written,
    a_call_that_is_cut_off_is_resumed_and_its_result_comes_once,
    a_client_whose_stream_is_closed_fetches_the_result,
    changes_reach_open_and_resumed_streams,
    a_slow_reader_receives_every_change,
}

/// Builds a server whose tool `steps` advances three times on command, reporting progress each
/// time.
fn stairs() -> (Server, Sender<()>) {
    let (go, goes) = channel();
    let goes = Mutex::new(goes);
    let server = server().add(Tool::define(tool("steps"), move |told: Value, cx: Cx| {
        if told["hangs_up"] == true {
            cx.end_stream()?;
        }
        for number in 1..=3 {
            goes.lock().unwrap().recv_timeout(PATIENCE)?;
            cx.progress(Progress::new(number.into()))?;
        }
        Ok("up")
    }));
    (server, go)
}

fn step(message: &Value) -> u64 {
    message["params"]["progress"].as_f64().map_or(0, |step| step as u64)
}

fn events_arrive_as_they_are_written<R: Runtime>() {
    let (server, go) = stairs();
    let served = Served::on::<R>(server, Http::new());
    let session = Session::open(served.address);
    let steps = json!({"name": "steps", "arguments": {}});
    let alone = || modern("tools/call", steps.clone()).start(served.address);
    let within = || session.call(1, "steps", &json!({}));
    for call in [&alone as &dyn Fn() -> Pending, &within] {
        let call = call();
        go.send(()).unwrap();
        let mut reply = call.reply();
        assert_eq!(reply.field("x-accel-buffering"), Some("no"));
        // Each event is written only after the previous one was read.
        assert_eq!(step(&reply.message().unwrap()), 1);
        for number in 2..=3 {
            go.send(()).unwrap();
            assert_eq!(step(&reply.message().unwrap()), number);
        }
        assert_eq!(text(&reply.message().unwrap()), "up");
        assert_eq!(reply.message(), None);
    }
}

fn a_call_that_is_cut_off_is_resumed_and_its_result_comes_once<R: Runtime>() {
    let (server, go) = stairs();
    let served = Served::on::<R>(server, Http::new());
    let session = Session::open(served.address);
    let call = session.call(1, "steps", &json!({}));
    go.send(()).unwrap();
    let mut reply = call.reply();
    assert_eq!(step(&reply.message().unwrap()), 1);
    let first = reply.last_id.clone().unwrap();
    drop(reply);
    go.send(()).unwrap();
    let mut resumed = session.listen(Some(&first));
    assert_eq!(resumed.status, 200);
    assert_eq!(step(&resumed.message().unwrap()), 2);
    let second = resumed.last_id.clone().unwrap();
    drop(resumed);
    go.send(()).unwrap();
    // The call may end while no stream is open, or while one is.
    let mut resumed = session.listen(Some(&second));
    assert_eq!(step(&resumed.message().unwrap()), 3);
    assert_eq!(text(&resumed.message().unwrap()), "up");
    let last = resumed.last_id.clone().unwrap();
    assert_eq!(resumed.message(), None);
    assert_eq!(session.listen(Some(&last)).message(), None, "and only once");
    // A client that lost all of it receives all of it again, in order.
    let mut again = session.listen(Some(&first));
    let steps: Vec<u64> =
        std::iter::from_fn(|| again.message()).map(|message| step(&message)).collect();
    assert_eq!(steps, [2, 3, 0]);
    let mut standing = session.listen(None);
    assert_eq!(session.delete(), 204);
    assert_eq!(standing.message(), None, "the replay buffer is empty");
}

fn a_client_whose_stream_is_closed_fetches_the_result<R: Runtime>() {
    let (server, go) = stairs();
    let served = Served::on::<R>(server, Http::new());
    let session = Session::open(served.address);
    let mut reply = session.call(1, "steps", &json!({"hangs_up": true})).reply();
    // HTTP-16: `retry` comes before the early end, at the latest in its own event.
    let events: Vec<Event> = std::iter::from_fn(|| reply.event()).collect();
    let retries: Vec<u64> = events.iter().filter_map(|event| event.retry).collect();
    assert_eq!(retries, [1000], "{events:?}");
    let primed = &events[0];
    assert!(events.iter().all(|event| event.data.is_empty()), "{events:?}");
    (0..3).for_each(|_| go.send(()).unwrap());
    let mut fetched = session.listen(primed.id.as_deref());
    let messages: Vec<Value> = std::iter::from_fn(|| fetched.message()).collect();
    assert_eq!(messages.iter().map(step).collect::<Vec<_>>(), [1, 2, 3, 0]);
    assert_eq!(text(&messages[3]), "up");
}

fn changes_reach_open_and_resumed_streams<R: Runtime>() {
    let mut server = server();
    let changes = server.changes();
    let served = Served::on::<R>(server, Http::new());
    let session = Session::open(served.address);
    let mut standing = session.listen(None);
    let mut alone =
        modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
            .send(served.address);
    assert_eq!(alone.message().unwrap()["method"], "notifications/subscriptions/acknowledged");
    changes.tools_list_changed().unwrap();
    for listening in [&mut standing, &mut alone] {
        assert_eq!(listening.message().unwrap()["method"], "notifications/tools/list_changed");
    }
    assert!(alone.last_id.is_none());
    let last = standing.last_id.clone().unwrap();
    drop(standing);
    changes.tools_list_changed().unwrap();
    let mut back = session.listen(Some(&last));
    assert_eq!(back.message().unwrap()["method"], "notifications/tools/list_changed");
}

fn a_slow_reader_receives_every_change<R: Runtime>() {
    let limits = Limits { outbox_bytes_max: 512 * 1024, ..Limits::default() };
    let mut server = server()
        .limits(limits)
        .resource("note://one", "one", || "")
        .subscriptions(SubscriptionSettings::new().accept(|_, _| true));
    let changes = server.changes();
    let served = Served::on::<R>(server, Http::new());
    let uri = format!("note://{}", "x".repeat(8000));
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": [uri]});
    let mut listening =
        modern("subscriptions/listen", json!({"notifications": filter})).send(served.address);
    assert_eq!(listening.message().unwrap()["method"], "notifications/subscriptions/acknowledged");
    // More than the sockets in between and the queue can hold.
    for _ in 0..3000 {
        changes.resource_updated(&uri).unwrap();
    }
    changes.tools_list_changed().unwrap();
    let mut updates = 0;
    let last = loop {
        match listening.message().unwrap()["method"].as_str().unwrap() {
            "notifications/resources/updated" => updates += 1,
            other => break other.to_owned(),
        }
    };
    assert_eq!(last, "notifications/tools/list_changed");
    assert!((1..3000).contains(&updates), "{updates}: nothing was queued");
}
