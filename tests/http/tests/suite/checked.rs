//! Checks of requests by the application, which may block.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use mcp_adapter::proto::Principal;
use mcp_adapter::proto::http::Refusal;
use mcp_blocking::http::{Http, HttpLimits};
use mcp_http_tests::{Request, Runtime, Served, modern, rows, server, text};
use serde_json::json;

rows! {
    a_check_that_blocks_delays_no_other_request,
    a_check_that_panics_fails_its_request_only,
    a_check_or_authentication_that_takes_too_long_is_given_up,
    an_unknown_method_needs_no_credentials,
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

fn a_check_or_authentication_that_takes_too_long_is_given_up<R: Runtime>() {
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let quick = || {
        Http::new().limits(HttpLimits {
            authentication_timeout: Duration::from_millis(50),
            ..HttpLimits::default()
        })
    };
    let blocks = quick().checking(move |_| {
        let _is_released = released.lock().unwrap().recv();
        Ok(())
    });
    let waits = quick().authenticating_async(|_| std::future::pending());
    for options in [blocks, waits] {
        let mut refused = echo("on").send(Served::on::<R>(server(), options).address);
        assert_eq!(refused.status, 503);
        let why = refused.text();
        assert!(why.contains("authentication_timeout"), "{why}");
    }
    drop(release);
}

fn an_unknown_method_needs_no_credentials<R: Runtime>() {
    let refuse = |_: &_| Err(Refusal::new(401, "no token").header("www-authenticate", "Bearer"));
    let served = Served::on::<R>(server(), Http::new().authenticating(refuse));
    for (verb, status) in [("OPTIONS", 405), ("PUT", 405), ("GET", 401), ("DELETE", 401)] {
        assert_eq!(Request::new(verb).send(served.address).status, status, "{verb}");
    }
    let elsewhere = Request::new("OPTIONS").without("host").field("Host", "evil.example");
    assert_eq!(elsewhere.send(served.address).status, 403);
    assert_eq!(echo("on").send(served.address).status, 401);
    let known = Http::new().authenticating(|_| Ok(Principal::new("ada").unwrap()));
    assert_eq!(echo("on").send(Served::on::<R>(server(), known).address).status, 200);
}
