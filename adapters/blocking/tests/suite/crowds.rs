//! Concurrency: calls from many threads, handlers on few threads, and clients that exceed limits.

use mcp_blocking::proto::schema::CreateMessage;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};

use mcp_blocking::Server;
use mcp_blocking::proto::Limits;
use mcp_blocking::proto::schema::{CreateMessageResult, Role};
use serde_json::{Value, json};

use crate::common;
use crate::common::{
    client, connect_by_hand, pair, part, serve_by_hand, server, success, tool, with_timeout,
};

/// A barrier that opens once, and counts the threads that wait for it.
#[derive(Default)]
struct Door {
    open: Mutex<bool>,
    opened: Condvar,
    waiting: AtomicUsize,
    waiting_max: AtomicUsize,
    passed: AtomicUsize,
}

impl Door {
    fn pass(&self) {
        let waiting = self.waiting.fetch_add(1, Ordering::SeqCst) + 1;
        self.waiting_max.fetch_max(waiting, Ordering::SeqCst);
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
        drop(open);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        self.passed.fetch_add(1, Ordering::SeqCst);
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }
}

/// Returns a server whose only tool waits for the barrier.
fn porter(door: &Arc<Door>) -> Server {
    let door = Arc::clone(door);
    server().add(tool("pass", move |arguments: Value| {
        door.pass();
        arguments["name"].to_string()
    }))
}

#[test]
fn a_thousand_calls_from_many_threads_share_one_connection() {
    with_timeout(|| {
        let running = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let counted = Arc::clone(&running);
        let server = server().threads_max(4).add(tool("echo", move |arguments: Value| {
            let now = counted.0.fetch_add(1, Ordering::SeqCst) + 1;
            counted.1.fetch_max(now, Ordering::SeqCst);
            std::thread::yield_now();
            counted.0.fetch_sub(1, Ordering::SeqCst);
            arguments["text"].to_string()
        }));
        let (client, serving) = pair(client(), server);
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for caller in 0..64 {
                let (client, done) = (&client, &done);
                scope.spawn(move || {
                    // Each thread sends all of its calls before it waits for the first result.
                    let texts: Vec<_> =
                        (0..16).map(|number| format!("{caller}/{number}")).collect();
                    let open: Vec<_> = texts
                        .iter()
                        .map(|text| {
                            client.call_tool("echo", &json!({"text": text})).start().wait().unwrap()
                        })
                        .collect();
                    for (text, open) in texts.iter().zip(open) {
                        assert_eq!(success(open.wait()), format!("{text:?}"));
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 1024);
        let most = running.1.load(Ordering::SeqCst);
        // Four threads of the pool, and the one that drives the connection.
        assert!((1..=5).contains(&most), "{most} handlers ran at a time");
        part(client, serving);
    });
}

#[test]
fn handlers_run_concurrently_up_to_the_bound() {
    with_timeout(|| {
        for threads_max in [1, 3, 8] {
            // An eighth is kept for other handlers.
            let running = threads_max - threads_max / 8;
            let door = Arc::new(Door::default());
            let (client, serving) = pair(client(), porter(&door).threads_max(threads_max));
            let open: Vec<_> = (0..20)
                .map(|name| {
                    client.call_tool("pass", &json!({"name": name})).start().wait().unwrap()
                })
                .collect();
            common::eventually("all threads are in use", || door.waiting() == running);
            // The connection itself stays responsive.
            common::is_alive(&client);
            assert_eq!(client.list_tools().wait().unwrap().len(), 1);
            assert_eq!(door.waiting(), running);
            door.open();
            for (name, open) in open.into_iter().enumerate() {
                assert_eq!(success(open.wait()), name.to_string());
            }
            assert_eq!(door.waiting_max.load(Ordering::SeqCst), running);
            part(client, serving);
        }
    });
}

#[test]
fn with_one_thread_handlers_run_in_order() {
    with_timeout(|| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let said = Arc::clone(&order);
        let server = server().threads_max(1).add(tool("say", move |arguments: Value| {
            said.lock().unwrap().push(arguments["number"].as_u64().unwrap());
            "said"
        }));
        let (client, serving) = pair(client(), server);
        let open: Vec<_> = (0..200)
            .map(|number| {
                client.call_tool("say", &json!({"number": number})).start().wait().unwrap()
            })
            .collect();
        for open in open {
            assert_eq!(success(open.wait()), "said");
        }
        assert_eq!(*order.lock().unwrap(), (0..200).collect::<Vec<_>>());
        part(client, serving);
    });
}

#[test]
fn cancelled_requests_are_removed_from_the_queue() {
    with_timeout(|| {
        let door = Arc::new(Door::default());
        let begun = Arc::new(AtomicUsize::new(0));
        let beginning = Arc::clone(&begun);
        let server = porter(&door).threads_max(1).add(tool("never", move || {
            beginning.fetch_add(1, Ordering::SeqCst);
            "too late"
        }));
        let server = server.add(tool("last", || "last"));
        let (mut hand, serving) = serve_by_hand(server);
        hand.greet(json!({}));
        hand.call_tool(0, "pass", &json!({"name": 0}));
        common::eventually("the one thread is in use", || door.waiting() == 1);
        // Many more than may be in flight at a time.
        for id in 1..5000 {
            hand.call_tool(id, "never", &json!({"text": "x".repeat(100)}));
            hand.notify("notifications/cancelled", &json!({"requestId": id}));
        }
        hand.call_tool(5000, "last", &json!({}));
        // Answered without a handler thread.
        hand.request(5001, "tools/list", &json!({}));
        assert_eq!(hand.hear()["id"], 5001);
        door.open();
        assert_eq!(hand.hear()["id"], 0);
        let answer = hand.hear();
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(5000), &json!("last"))
        );
        drop(hand);
        serving.join().unwrap().unwrap();
        assert_eq!(begun.load(Ordering::SeqCst), 0, "no handler was started");
        common::eventually("the server and all it held are gone", || {
            Arc::strong_count(&begun) == 1
        });
    });
}

#[test]
fn a_client_drops_cancelled_questions() {
    with_timeout(|| {
        let (says, hears) = channel();
        let says = Mutex::new(says);
        let door = Arc::new(Door::default());
        let slow = Arc::clone(&door);
        let (all_said, all_heard) = channel();
        let answering = client()
            .threads_max(4)
            .on_sampling(move |params: CreateMessage| {
                says.lock().unwrap().send(params.extra.get("number").unwrap().to_string()).unwrap();
                slow.pass();
                Ok(CreateMessageResult::new(Role::Assistant, "said", "m"))
            })
            .on_notification(move |_, _, _| all_said.send(()).unwrap());
        let (client, mut hand) = connect_by_hand(answering);
        let params = |number: u64| json!({"messages": [], "maxTokens": 1, "number": number});
        // As many as the client answers at a time, each on its own thread.
        for number in 0..4 {
            hand.request(number, "sampling/createMessage", &params(number));
        }
        common::eventually("all threads are in use", || door.waiting() == 4);
        for number in 4..3000 {
            hand.request(number, "sampling/createMessage", &params(number));
            hand.notify("notifications/cancelled", &json!({"requestId": number}));
        }
        hand.request(3000, "sampling/createMessage", &params(3000));
        hand.notify("notifications/test", &json!({}));
        all_heard.recv().unwrap();
        door.open();
        let mut answered: Vec<_> = (0..5).map(|_| hand.hear()["id"].as_u64().unwrap()).collect();
        answered.sort_unstable();
        assert_eq!(answered, (0..4).chain([3000]).collect::<Vec<_>>());
        client.close().wait().unwrap();
        assert_eq!(hears.try_iter().count(), 5, "cancelled questions never reached the handler");
    });
}

#[test]
fn more_requests_than_allowed_are_refused_and_the_rest_is_answered() {
    with_timeout(|| {
        let door = Arc::new(Door::default());
        let limits = Limits { requests_max: 8, ..Limits::default() };
        let (mut hand, serving) = serve_by_hand(porter(&door).threads_max(2).limits(limits));
        hand.greet(json!({}));
        for id in 0..20 {
            hand.call_tool(id, "pass", &json!({"name": id}));
        }
        for id in 8..20 {
            let refused = hand.hear();
            assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(id), &json!(-32603)));
        }
        door.open();
        let mut answered: Vec<_> = (0..8).map(|_| hand.hear()["id"].as_u64().unwrap()).collect();
        answered.sort_unstable();
        assert_eq!(answered, (0..8).collect::<Vec<_>>());
        drop(hand);
        serving.join().unwrap().unwrap();
    });
}

#[test]
fn more_calls_than_allowed_wait_for_room() {
    with_timeout(|| {
        let limits = Limits { calls_max: 4, ..Limits::default() };
        let server = server().add(tool("echo", |arguments: Value| arguments["text"].to_string()));
        let (client, serving) = pair(client().limits(limits), server);
        std::thread::scope(|scope| {
            for caller in 0..32 {
                let client = &client;
                scope.spawn(move || {
                    for number in 0..8 {
                        let text = caller * 8 + number;
                        let outcome = client.call_tool("echo", &json!({"text": text})).wait();
                        assert_eq!(success(outcome), text.to_string());
                    }
                });
            }
        });
        part(client, serving);
    });
}
