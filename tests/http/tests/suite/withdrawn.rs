//! Clients that disconnect: that cancels modern requests, but nothing in a session.

use std::future::pending;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use mcp_adapter::proto::Progress;
use mcp_adapter::{Cx, Server, SubscriptionSettings, Tool};
use mcp_blocking::http::Http;
use mcp_http_tests::{PATIENCE, Runtime, Served, Session, modern, rows, server, text, tool};
use serde_json::{Value, json};

rows! {
    a_disconnect_before_the_head_cancels,
    a_disconnect_within_the_stream_cancels,
    a_handler_that_sleeps_in_a_loop_ends_with_its_client,
    a_closed_subscription_is_dropped,
    a_disconnect_within_a_session_cancels_nothing,
}

struct Guard(Sender<&'static str>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ignored = self.0.send("over");
    }
}

/// Builds a server whose handlers report their start and their end.
fn waiting_room() -> (Server, Receiver<&'static str>) {
    let (says, heard) = channel();
    let (plain, says) = (Mutex::new(says.clone()), Mutex::new(says));
    let server = server()
        .add(Tool::define(tool("hang"), move |told: Value, cx: Cx| {
            let says = says.lock().unwrap().clone();
            async move {
                let _guard = Guard(says.clone());
                if told["tells"] == true {
                    cx.progress(Progress::new(1.0))?;
                }
                says.send("begun")?;
                pending::<()>().await;
                Ok("never")
            }
        }))
        .add(Tool::define(tool("hang_plain"), move |told: Value, cx: Cx| {
            let _guard = Guard(plain.lock().unwrap().clone());
            if told["tells"] == true {
                cx.progress(Progress::new(1.0))?;
            }
            plain.lock().unwrap().send("begun")?;
            assert!(cx.sleep(Duration::from_secs(3600)).wait() && cx.is_cancelled());
            Ok("never heard")
        }));
    (server, heard)
}

/// Builds a server with an `async` handler that never finishes: it sleeps for `nap` in a loop.
fn sleeping_in_a_loop(nap: Duration) -> (Server, Receiver<&'static str>) {
    let (says, heard) = channel();
    let says = Mutex::new(says);
    let server = server().add(Tool::define(tool("poll"), move |cx: Cx| {
        let says = says.lock().unwrap().clone();
        async move {
            let _guard = Guard(says.clone());
            says.send("begun")?;
            loop {
                cx.sleep(nap).await;
            }
            #[expect(unreachable_code, reason = "gives the result a type")]
            Ok("never")
        }
    }));
    (server, heard)
}

fn hear(heard: &Receiver<&'static str>) -> &'static str {
    heard.recv_timeout(PATIENCE).expect("in time")
}

fn a_disconnect_before_the_head_cancels<R: Runtime>() {
    let (server, heard) = waiting_room();
    let served = Served::on::<R>(server, Http::new());
    for name in ["hang", "hang_plain"] {
        let call =
            modern("tools/call", json!({"name": name, "arguments": {}})).start(served.address);
        assert_eq!(hear(&heard), "begun");
        drop(call);
        assert_eq!(hear(&heard), "over");
    }
}

fn a_disconnect_within_the_stream_cancels<R: Runtime>() {
    let (server, heard) = waiting_room();
    let served = Served::on::<R>(server, Http::new());
    for name in ["hang", "hang_plain"] {
        let call = modern("tools/call", json!({"name": name, "arguments": {"tells": true}}));
        let mut reply = call.send(served.address);
        let event = reply.event().unwrap();
        assert!(event.id.is_none() && event.data.contains("notifications/progress"));
        assert_eq!(hear(&heard), "begun");
        drop(reply);
        assert_eq!(hear(&heard), "over");
    }
}

/// The handler used to spin in one poll, which starved a runtime of one thread.
fn a_handler_that_sleeps_in_a_loop_ends_with_its_client<R: Runtime>() {
    for nap in [Duration::from_millis(1), Duration::ZERO] {
        let (server, heard) = sleeping_in_a_loop(nap);
        let served = Served::on::<R>(server, Http::new());
        let call =
            modern("tools/call", json!({"name": "poll", "arguments": {}})).start(served.address);
        assert_eq!(hear(&heard), "begun");
        drop(call);
        assert_eq!(hear(&heard), "over");
        let echo = modern("tools/call", json!({"name": "echo", "arguments": {"text": "on"}}));
        assert_eq!(text(&echo.send(served.address).answer()), "on");
    }
}

fn a_closed_subscription_is_dropped<R: Runtime>() {
    let (says, heard) = channel();
    let says = Mutex::new(says);
    let server = server().resource("note://one", "one", || "").subscriptions(
        SubscriptionSettings::new().on_change(move |watch| {
            let is_end = matches!(watch, mcp_adapter::SubscriptionChange::Ended { .. });
            let _row_is_over = says.lock().unwrap().send(if is_end { "over" } else { "begun" });
        }),
    );
    let served = Served::on::<R>(server, Http::new());
    let listen = json!({"notifications": {"resourceSubscriptions": ["note://one"]}});
    let mut listening = modern("subscriptions/listen", listen).send(served.address);
    let acknowledged = listening.message().unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(hear(&heard), "begun");
    drop(listening);
    assert_eq!(hear(&heard), "over");
}

// CAN-16
fn a_disconnect_within_a_session_cancels_nothing<R: Runtime>() {
    let (server, heard) = waiting_room();
    let served = Served::on::<R>(server, Http::new());
    let session = Session::open(served.address);
    let call = session.call(7, "hang_plain", &json!({}));
    assert_eq!(hear(&heard), "begun");
    drop(call);
    assert_eq!(session.ping(), 200);
    assert!(heard.try_recv().is_err(), "it continues");
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    let cancel = session.within(mcp_http_tests::post(&cancel)).send(served.address);
    assert_eq!(cancel.status, 202);
    assert_eq!(hear(&heard), "over");
}
