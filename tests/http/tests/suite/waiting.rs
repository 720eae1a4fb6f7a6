//! Asynchronous handlers that wait.

use std::time::Duration;

use mcp_blocking::http::Http;
use mcp_http_tests::{Runtime, Served, Session, modern, rows, server, text, tool};
use serde_json::{Value, json};

rows! {
    a_handler_that_waits_after_many_quick_runs_delays_no_one,
}

/// A quick handler runs on the thread that drives all connections, and must not wait there.
fn a_handler_that_waits_after_many_quick_runs_delays_no_one<R: Runtime>() {
    let server = server().tool_with_async(tool("nap"), |how: Value, cx| async move {
        if how["nap"] == true {
            cx.sleep(Duration::from_millis(50)).await;
        }
        Ok("done")
    });
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
