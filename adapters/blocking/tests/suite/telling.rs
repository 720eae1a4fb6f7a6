//! Notifications, log messages and reports of violations.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_blocking::proto::schema::Level;
use mcp_blocking::proto::{CallError, Misuse, ViolationKind};
use mcp_blocking::{Client, Cx, Error, Server};
use serde_json::{Value, json};

use crate::common;
use crate::common::{
    client, connect_by_hand, pair, part, raw, serve_by_hand, server, success, tool, with_timeout,
};

/// Returns a client that forwards its notifications to a channel.
fn listening() -> (Client, Receiver<(String, Value)>) {
    let (says, hears) = channel();
    let client = client().on_notification(move |method, params, _| {
        let params = params.map_or(Value::Null, |params| params.parse().unwrap());
        let _test_has_ended = says.send((method.to_owned(), params));
    });
    (client, hears)
}

fn chatty() -> Server {
    server().logging().add(tool("chat", |cx: Cx| {
        for level in Level::ALL {
            cx.log(level, &json!({"said": level.name()})).wait()?;
        }
        Ok("that is all")
    }))
}

#[test]
fn notifications_are_delivered_in_order() {
    with_timeout(|| {
        let (client, hears) = listening();
        let (client, mut hand) = connect_by_hand(client);
        let telling = std::thread::spawn(move || {
            // More than the queue of the callback holds.
            for number in 0..3000 {
                hand.notify("notifications/message", &json!({"level": "info", "data": number}));
            }
            hand
        });
        for number in 0..3000 {
            let (method, params) = hears.recv().unwrap();
            assert_eq!((&*method, &params["data"]), ("notifications/message", &json!(number)));
        }
        drop(telling.join().unwrap());
        drop(client);
    });
}

#[test]
fn log_messages_precede_the_result_of_their_call_and_respect_the_level() {
    with_timeout(|| {
        let (client, hears) = listening();
        let (client, serving) = pair(client, chatty());
        for least in [Level::Debug, Level::Warning, Level::Emergency] {
            client.set_log_level(least).wait().unwrap();
            assert_eq!(success(client.call_tool("chat", &json!({})).wait()), "that is all");
            for level in Level::ALL.into_iter().filter(|level| *level >= least) {
                let (method, params) = hears.recv().unwrap();
                assert_eq!(method, "notifications/message");
                assert_eq!(params, json!({"level": level.name(), "data": {"said": level.name()}}));
            }
        }
        part(client, serving);
        assert!(hears.recv().is_err(), "no message is left, and the callback was dropped");
    });
}

#[test]
fn a_forgotten_declaration_of_logging_fails_no_call() {
    with_timeout(|| {
        let server = server().add(tool("chat", |cx: Cx| {
            cx.log(Level::Error, "hello").wait()?;
            Ok("nothing said")
        }));
        let (client, serving) = pair(client(), server);
        assert!(matches!(
            client.set_log_level(Level::Info).wait(),
            Err(Error::Misuse(Misuse::Undeclared))
        ));
        assert_eq!(success(client.call_tool("chat", &json!({})).wait()), "nothing said");
        part(client, serving);
    });
}

#[test]
fn notifications_before_the_end_are_delivered() {
    with_timeout(|| {
        let (client, mut hand) = connect_by_hand(client());
        let text = "x".repeat(500_000);
        client.notify_raw("notifications/test", Some(&raw(json!({"text": text})))).wait().unwrap();
        client.notify_raw("notifications/end", None).wait().unwrap();
        let closing = std::thread::spawn(|| client.close().wait().unwrap());
        assert_eq!(hand.hear_notification("notifications/test")["text"], text);
        hand.hear_notification("notifications/end");
        assert_eq!(hand.hear_or_end(), None);
        closing.join().unwrap();
    });
}

#[test]
fn a_notification_without_an_object_is_not_sent() {
    with_timeout(|| {
        let (client, mut hand) = connect_by_hand(client());
        let told = client.notify_raw("notifications/initialized", None).wait();
        assert!(
            matches!(told, Err(Error::Misuse(Misuse::Unsupported))),
            "the machine says this itself"
        );
        client.notify_raw("notifications/test", None).wait().unwrap();
        hand.hear_notification("notifications/test");
        client.close().wait().unwrap();
    });
}

#[test]
fn a_slow_callback_delays_neither_timeouts_nor_the_end() {
    with_timeout(|| {
        let (wake, woken) = channel::<()>();
        let slow = client().on_notification(move |_, _, _| {
            let _test_has_ended = woken.recv();
        });
        let (client, mut hand) = connect_by_hand(slow);
        let telling = std::thread::spawn(move || {
            // Until the client stops reading, and then until it disconnects.
            let text = "x".repeat(1000);
            let line = json!({"jsonrpc": "2.0", "method": "notifications/message",
                "params": {"level": "info", "data": text}});
            while std::io::Write::write_all(&mut hand.writer, format!("{line}\n").as_bytes())
                .is_ok()
            {}
        });
        for _ in 0..3 {
            let outcome =
                client.call_tool("any", &json!({})).timeout(Duration::from_millis(50)).wait();
            assert!(matches!(outcome, Err(Error::Call(CallError::TimedOut))), "{outcome:?}");
        }
        client.close().wait().unwrap();
        drop(wake);
        telling.join().unwrap();
    });
}

#[test]
fn a_callback_that_panics_receives_the_next_notification() {
    with_timeout(|| {
        let (says, hears) = channel();
        let nervous = client().on_notification(move |method, _, _| {
            assert_ne!(method, "notifications/boo");
            let _test_has_ended = says.send(method.to_owned());
        });
        let (client, mut hand) = connect_by_hand(nervous);
        hand.notify("notifications/boo", &json!({}));
        hand.notify("notifications/fine", &json!({}));
        assert_eq!(hears.recv().unwrap(), "notifications/fine");
        client.close().wait().unwrap();
    });
}

#[test]
fn violations_are_reported_on_both_sides_and_survived() {
    with_timeout(|| {
        let (says, hears) = channel();
        let says = Mutex::new(says);
        let hear = move |violation: &mcp_blocking::proto::Violation| {
            let _test_has_ended = says.lock().unwrap().send(violation.kind);
        };
        let hear = Arc::new(hear);
        let on_client = Arc::clone(&hear);
        let (client, mut hand) =
            connect_by_hand(client().on_violation(move |violation, _| on_client(violation)));
        hand.say_line("server ready");
        assert_eq!(hears.recv().unwrap(), ViolationKind::NotJson);
        hand.say(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}));
        assert_eq!(hears.recv().unwrap(), ViolationKind::UnknownResponse);
        let pinging = std::thread::spawn(move || client.ping().wait());
        let ping = hand.hear();
        hand.answer(&ping, &json!({}));
        pinging.join().unwrap().unwrap();

        let (mut hand, serving) =
            serve_by_hand(chatty().on_violation(move |violation| hear(violation)));
        hand.greet(json!({}));
        hand.say_line("{\"jsonrpc\":\"2.0\",");
        assert_eq!(hears.recv().unwrap(), ViolationKind::NotJson);
        assert_eq!(hand.hear()["error"]["code"], -32700);
        hand.request(1, "ping", &json!({}));
        assert_eq!(hand.hear()["id"], 1);
        drop(hand);
        serving.join().unwrap().unwrap();
    });
}

#[test]
fn a_violation_callback_that_panics_does_not_stop_events() {
    with_timeout(|| {
        let (client, mut hand) =
            connect_by_hand(client().on_violation(|violation, _| panic!("{violation}")));
        hand.say_line("server ready");
        let calling = std::thread::spawn(move || {
            let outcome = success(client.call_tool("any", &json!({})).wait());
            client.close().wait().unwrap();
            outcome
        });
        let asked = hand.hear();
        hand.say_line("server still ready");
        hand.answer(&asked, &json!({"content": [{"type": "text", "text": "well"}]}));
        assert_eq!(calling.join().unwrap(), "well");

        let (mut hand, serving) =
            serve_by_hand(chatty().on_violation(|violation| panic!("{violation}")));
        hand.greet(json!({}));
        hand.say_line("hello");
        assert_eq!(hand.hear()["error"]["code"], -32700);
        hand.call_tool(1, "chat", &json!({}));
        assert_eq!(hand.hear_answer()["id"], 1);
        drop(hand);
        serving.join().unwrap().unwrap();
    });
}

#[test]
fn a_connection_can_be_closed_from_its_callbacks() {
    with_timeout(|| {
        // By its notification callback.
        let handle: Arc<Mutex<Option<mcp_blocking::Connection>>> = Arc::default();
        let (says, hears) = channel();
        let closing = Arc::clone(&handle);
        let listening = client().on_notification(move |_, _, _| {
            let client = closing.lock().unwrap().take().unwrap();
            let _test_has_ended = says.send(client.close().wait().is_ok());
        });
        let (client, mut hand) = connect_by_hand(listening);
        *handle.lock().unwrap() = Some(client);
        hand.notify("notifications/message", &json!({"level": "info", "data": 1}));
        assert!(hears.recv().unwrap());
        assert_eq!(hand.hear_or_end(), None);

        // By its elicitation handler: the answer is no longer sent.
        let handle: Arc<Mutex<Option<mcp_blocking::Connection>>> = Arc::default();
        let closing = Arc::clone(&handle);
        let answering = common::client().on_roots(move || {
            drop(closing.lock().unwrap().take());
            Vec::new()
        });
        let (client, mut hand) = connect_by_hand(answering);
        *handle.lock().unwrap() = Some(client);
        hand.request(1, "roots/list", &json!({}));
        assert_eq!(hand.hear_or_end(), None);
    });
}
