//! Checks of requests by the application, which may block.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use mcp_blocking::http::Http;
use mcp_http_tests::{Request, Runtime, Served, modern, rows, server, text};
use serde_json::json;

rows! {
    a_check_that_blocks_delays_no_other_request,
    a_check_that_panics_fails_its_request_only,
}

fn echo(said: &str) -> Request {
    modern("tools/call", json!({"name": "echo", "arguments": {"text": said}}))
}

fn a_check_that_blocks_delays_no_other_request<R: Runtime>() {
    let (says, begun) = channel();
    let (release, released) = channel::<()>();
    let gate = Mutex::new((says, released));
    let options = Http::new().checking(move |head| {
        if head.headers.contains_key("x-slow") {
            let (says, released) = &*gate.lock().unwrap();
            says.send(()).unwrap();
            let _is_released = released.recv();
        }
        Ok(())
    });
    let served = Served::on::<R>(server(), options);
    let slow = echo("slow").field("X-Slow", "1").start(served.address);
    begun.recv().unwrap();
    assert_eq!(text(&echo("quick").send(served.address).answer()), "quick");
    drop(release);
    assert_eq!(text(&slow.reply().answer()), "slow");
}

fn a_check_that_panics_fails_its_request_only<R: Runtime>() {
    let options = Http::new().checking(|head| {
        assert!(!head.headers.contains_key("x-panic"), "a secret");
        Ok(())
    });
    let served = Served::on::<R>(server(), options);
    let mut failed = echo("on").field("X-Panic", "1").send(served.address);
    assert_eq!(failed.status, 500);
    assert!(!failed.text().contains("secret"));
    assert_eq!(text(&echo("on").send(served.address).answer()), "on");
}
