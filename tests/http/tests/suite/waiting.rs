//! Asynchronous handlers that wait.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use mcp_blocking::http::Http;
use mcp_blocking::{Cx, Tool};
use mcp_http_tests::{Runtime, Served, Session, modern, rows, server, text, tool};
use serde_json::{Value, json};

rows! {
    a_handler_that_waits_after_many_quick_runs_delays_no_one,
    a_client_with_many_slow_calls_leaves_threads_for_others,
}

/// A quick handler runs on the thread that drives all connections, and must not wait there.
fn a_handler_that_waits_after_many_quick_runs_delays_no_one<R: Runtime>() {
    let server = server().add(Tool::define(tool("nap"), async |how: Value, cx: Cx| {
        if how["nap"] == true {
            cx.sleep(Duration::from_millis(50)).await;
        }
        Ok("done")
    }));
    let served = Served::on::<R>(server, Http::new());
    let session = Session::open(served.address);
    for id in 0..200 {
        assert_eq!(text(&session.call(id, "nap", &json!({})).reply().answer()), "done");
    }
    let nap = session.call(200, "nap", &json!({"nap": true}));
    let echo = modern("tools/call", json!({"name": "echo", "arguments": {"text": "on"}}));
    assert_eq!(text(&echo.send(served.address).answer()), "on");
    assert_eq!(text(&nap.reply().answer()), "done");
}

/// Plain handlers of one client that occupy all threads they may have do not keep those of another
/// client from running.
fn a_client_with_many_slow_calls_leaves_threads_for_others<R: Runtime>() {
    const THREADS: usize = 8;
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let held = Arc::clone(&gate);
    let server = server()
        .threads_max(THREADS)
        .add(Tool::define(tool("hold"), move || {
            let (is_open, opened) = &*held;
            let guard = is_open.lock().unwrap();
            drop(opened.wait_while(guard, |is_open| !*is_open).unwrap());
            "held"
        }))
        .add(Tool::define(tool("plain"), || "done"));
    let served = Served::on::<R>(server, Http::new());
    let busy = Session::open(served.address);
    let calls: Vec<_> =
        (0..2 * THREADS as u64).map(|id| busy.call(id, "hold", &json!({}))).collect();
    let other = Session::open(served.address);
    for id in 0..20 {
        assert_eq!(text(&other.call(id, "plain", &json!({})).reply().answer()), "done");
    }
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    for call in calls {
        assert_eq!(text(&call.reply().answer()), "held");
    }
}
